//! Cost matrices: one row per left node, one column per right node, to be minimised; or scores, to be maximised.
//!
//! As text: numbers separated by commas, semicolons, tabs or blanks, without a header. A pair is forbidden where its field is empty or has the
//! infinity that no matching would want: `inf` among costs, `-inf` among scores. NaN and the other infinity are refused with their place.

use super::table;
use super::{MAX_CELLS, malformed, shorten};
use crate::matching::Compatibility;
pub use crate::matching::Sense;
use crate::{Error, Result};
use ndarray::Array2;

const FORMAT: &str = "cost matrix";
/// What is wrong with minus infinity among costs, and with plus infinity among scores.
const AT_ANY_PRICE: &str = "would be taken at any price; are these costs or scores?";

/// Reads a matrix; forbidden pairs have [`Sense::forbidden`].
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
///
/// ```
/// use homolog::data::cost_matrix::{Sense, read_csv};
/// let costs = read_csv("1,2.5\n,-3\n", Sense::Minimize)?;
/// assert_eq!(costs, ndarray::array![[1.0, 2.5], [f64::INFINITY, -3.0]]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_csv(text: &str, sense: Sense) -> Result<Array2<f64>> {
    let mut matrix = Growing { values: Vec::new(), columns: 0, sense };
    if separated_by_blanks(text) {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (index, line) in lines {
            matrix.add(index + 1, line.split_whitespace())?;
        }
    } else {
        for row in table::rows(FORMAT, text)? {
            let row = row?;
            matrix.add(row.line, row.fields.iter())?;
        }
    }
    let Growing { values, columns, .. } = matrix;
    let rows = values.len().checked_div(columns).unwrap_or(0);
    Ok(Array2::from_shape_fn((rows, columns), |(row, column)| values[row * columns + column]))
}

/// As `numpy.savetxt` writes it unless told otherwise.
fn separated_by_blanks(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    !first.contains([',', ';', '\t']) && first.split_whitespace().count() > 1
}

/// A matrix that is being read.
struct Growing {
    values: Vec<f64>,
    columns: usize,
    sense: Sense,
}

impl Growing {
    fn add<'a>(&mut self, line: usize, fields: impl Iterator<Item = &'a str>) -> Result<()> {
        let before = self.values.len();
        for (column, field) in fields.enumerate() {
            self.values.push(cell(field, self.sense).or_else(|reason| {
                malformed(FORMAT, line, format!("column {}: \"{}\" {reason}", column + 1, shorten(field)))
            })?);
        }
        let found = self.values.len() - before;
        if before == 0 {
            self.columns = found;
        }
        if found != self.columns {
            return malformed(FORMAT, line, format!("this row has {found} fields, the first has {}", self.columns));
        }
        if self.values.len() > MAX_CELLS {
            return malformed(FORMAT, line, format!("there are more than {MAX_CELLS} cells"));
        }
        Ok(())
    }
}

fn cell(field: &str, sense: Sense) -> std::result::Result<f64, &'static str> {
    if field.is_empty() {
        return Ok(sense.forbidden());
    }
    match field.parse::<f64>() {
        Err(_) => Err("is not a number"),
        Ok(value) if value.is_nan() => Err("has no meaning; leave the field of a forbidden pair empty"),
        Ok(value) if value == -sense.forbidden() => Err(AT_ANY_PRICE),
        // A number too large for 64 bits is not a forbidden pair.
        Ok(value) if value.is_infinite() && field.bytes().any(|byte| byte.is_ascii_digit()) => Err("is out of range"),
        Ok(value) => Ok(value),
    }
}

/// The problem of a matrix: every left node is to be matched as far as that is possible.
///
/// # Errors
/// NaN, or the infinity that would be taken at any price, with its place; more cells than a problem may have.
pub fn problem(matrix: Array2<f64>, sense: Sense) -> Result<Compatibility> {
    if matrix.len() > MAX_CELLS {
        return Err(Error::TooLarge { what: "cells of a cost matrix", limit: MAX_CELLS, found: matrix.len() });
    }
    let bad = |value: f64| value.is_nan() || value == -sense.forbidden();
    if let Some(((row, column), &value)) = matrix.indexed_iter().find(|&(_, &value)| bad(value)) {
        let reason = if value.is_nan() { "has no meaning" } else { AT_ANY_PRICE };
        return Err(Error::Unreadable {
            format: FORMAT,
            reason: format!("{value} at row {row}, column {column} {reason}"),
        });
    }
    Ok(Compatibility::linear(matrix.mapv_into(|value| sense.turn(value))))
}

/// Writes a matrix; forbidden pairs have empty fields.
///
/// # Errors
/// NaN, or the infinity that would be taken at any price, with its place.
pub fn write_csv(matrix: &Array2<f64>, sense: Sense) -> Result<String> {
    problem(matrix.clone(), sense)?;
    let field = |&value: &f64| if value.is_infinite() { String::new() } else { format!("{value:?}") };
    table::write(FORMAT, matrix.rows().into_iter().map(|row| row.iter().map(field).collect::<Vec<_>>()))
}
