//! Text to values and back, one file per format; and a sequence that is made by code. Nothing here touches files: `&str` in, `String`
//! out (and bytes for `.npy`). Malformed text is refused with its line and the reason.

pub mod coco;
pub mod cost_matrix;
pub mod dataset;
pub mod dd;
pub mod deeplabcut;
pub mod edge_table;
pub mod graphml;
pub mod house;
pub mod landmarks;
pub mod matches;
pub mod npy;
pub mod pair_costs;
pub mod problem;
pub mod qaplib;
pub mod shards;
mod split;
mod table;
pub mod tps;
pub mod turntable;

pub use split::Split;

use crate::matching::Compatibility;
use crate::{Error, Result};

/// The most nodes on one side of a problem read from a file: with none on the other side it has no cells, but answers all the same.
const MAX_SIDE: usize = 1 << 20;

/// Refuses sizes whose scores would take the machine down, before any memory is taken.
fn check_cells(rows: usize, columns: usize) -> Result<()> {
    let side = rows.max(columns);
    if side > MAX_SIDE {
        return Err(Error::TooLarge { what: "nodes on one side", limit: MAX_SIDE, found: side });
    }
    Compatibility::check_size(rows, columns)
}

fn malformed<T>(format: &'static str, line: usize, reason: impl Into<String>) -> Result<T> {
    Err(Error::Malformed { format, line, reason: reason.into() })
}

/// A finite number.
fn number(format: &'static str, line: usize, word: &str) -> Result<f64> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => malformed(format, line, format!("\"{}\" is not a finite number", shorten(word))),
    }
}

/// A whole number that is not negative.
fn count(format: &'static str, line: usize, word: &str) -> Result<usize> {
    match word.parse() {
        Ok(value) => Ok(value),
        Err(_) => malformed(format, line, format!("\"{}\" is not a whole number", shorten(word))),
    }
}

/// Enough of a word to find it, however long it is.
fn shorten(word: &str) -> String {
    let mut short: String = word.chars().take(40).collect();
    if short.len() < word.len() {
        short.push('…');
    }
    short
}
