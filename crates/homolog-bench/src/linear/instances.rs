//! The matrices: costs to be minimised, drawn from fixed seeds, so that every run sees the same numbers.
//!
//! * uniform: floats in [0, 1);
//! * integer: whole numbers 1..100, many ties;
//! * squared-distance: |a_i - b_k|² between random points of the unit square, the hard kind for Jonker-Volgenant codes;
//! * zero-one: 0 or 1, equally often: hardly anything but ties;
//! * iou: 1 - intersection over union of boxes, each seen again a little displaced, in another order: mostly 1;
//! * offsets: whole numbers 1..100 and one more of 0..99 for each row and each column, the hard test matrices of lapx;
//! * half-forbidden, nine-tenths-forbidden: floats in [0, 1), that share of the cells infinite, never the diagonal.

use anyhow::{Context, Error, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How costs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Floats in [0, 1).
    Uniform,
    /// Whole numbers from 1 to 100.
    Integer,
    /// Squared distances between random points of the unit square.
    SquaredDistance,
    /// Zeros and ones.
    ZeroOne,
    /// Half of the cells are forbidden.
    HalfForbidden,
    /// Nine tenths of the cells are forbidden.
    NineTenthsForbidden,
    /// 1 - intersection over union of boxes that each overlap a few others.
    Iou,
    /// Whole numbers from 1 to 100, and one for each row and each column.
    Offsets,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Uniform,
        Self::Integer,
        Self::SquaredDistance,
        Self::ZeroOne,
        Self::HalfForbidden,
        Self::NineTenthsForbidden,
        Self::Iou,
        Self::Offsets,
    ];

    pub(crate) fn has_forbidden(self) -> bool {
        matches!(self, Self::HalfForbidden | Self::NineTenthsForbidden)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Integer => "integer",
            Self::SquaredDistance => "squared-distance",
            Self::ZeroOne => "zero-one",
            Self::HalfForbidden => "half-forbidden",
            Self::NineTenthsForbidden => "nine-tenths-forb",
            Self::Iou => "iou",
            Self::Offsets => "offsets",
        }
    }

    /// The costs of one matrix, row by row. Another `index`, kind or size gives other random numbers.
    pub(crate) fn costs(self, size: Size, index: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64((size.rows as u64) << 32 | size.columns as u64);
        // Two bits were enough for the first kinds, whose numbers stay the same.
        rng.set_stream(if (self as u64) < 4 { index << 2 | self as u64 } else { 1 << 60 | index << 4 | self as u64 });
        let cells = size.rows * size.columns;
        match self {
            Self::Uniform => (0..cells).map(|_| rng.random()).collect(),
            Self::Integer => (0..cells).map(|_| f64::from(rng.random_range(1..=100_u8))).collect(),
            Self::SquaredDistance => {
                let mut points = |count| -> Vec<[f64; 2]> { (0..count).map(|_| rng.random()).collect() };
                let (left, right) = (points(size.rows), points(size.columns));
                let squared = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
                left.iter().flat_map(|&a| right.iter().map(move |&b| squared(a, b))).collect()
            }
            Self::ZeroOne => (0..cells).map(|_| f64::from(rng.random_range(0..2_u8))).collect(),
            Self::HalfForbidden | Self::NineTenthsForbidden => {
                let share = if self == Self::HalfForbidden { 0.5 } else { 0.9 };
                let mut cell = |at: usize| {
                    let cost = rng.random();
                    let forbidden = rng.random_bool(share) && at / size.columns != at % size.columns;
                    if forbidden { f64::INFINITY } else { cost }
                };
                (0..cells).map(&mut cell).collect()
            }
            Self::Iou => overlaps(size, &mut rng),
            Self::Offsets => {
                let mut whole = |most: u8| f64::from(rng.random_range(0..most));
                let [rows, columns] =
                    [size.rows, size.columns].map(|count| (0..count).map(|_| whole(100)).collect::<Vec<f64>>());
                let sums = rows.iter().flat_map(|row| columns.iter().map(move |column| row + column));
                sums.map(|sum| sum + 1.0 + whole(100)).collect()
            }
        }
    }
}

/// 1 - intersection over union of boxes and the same boxes displaced, in another order; if there are fewer rows, the last boxes are new, and if there are more, some are gone.
fn overlaps(size: Size, rng: &mut ChaCha8Rng) -> Vec<f64> {
    // So large a field that a box meets about two others.
    let count = size.rows.max(size.columns);
    let side = (2.0 * count as f64).sqrt();
    let boxes = (0..count).map(|_| {
        let [x, y, width, height]: [f64; 4] = rng.random();
        [x * side, y * side, 0.7 + 0.6 * width, 0.7 + 0.6 * height]
    });
    let boxes: Vec<[f64; 4]> = boxes.collect();
    let mut seen: Vec<[f64; 4]> = Vec::new();
    for [x, y, width, height] in boxes[..size.columns].iter().copied() {
        let [right, down, wider, higher]: [f64; 4] = rng.random();
        let moved = [x + 0.3 * (right - 0.5), y + 0.3 * (down - 0.5)];
        seen.push([moved[0], moved[1], width * (0.9 + 0.2 * wider), height * (0.9 + 0.2 * higher)]);
    }
    for last in (1..seen.len()).rev() {
        seen.swap(last, rng.random_range(0..=last));
    }
    let cost = |a: [f64; 4], b: [f64; 4]| {
        let [width, height] = [0, 1].map(|axis| {
            let end = (a[axis] + a[axis + 2]).min(b[axis] + b[axis + 2]);
            (end - a[axis].max(b[axis])).max(0.0)
        });
        let shared = width * height;
        1.0 - shared / (a[2] * a[3] + b[2] * b[3] - shared)
    };
    boxes[..size.rows].iter().flat_map(|&a| seen.iter().map(move |&b| cost(a, b))).collect()
}

/// Rows and columns of a matrix; written "30" or "30x200".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Size {
    /// The sizes of the table.
    pub(crate) const ALL: [Self; 13] = [
        Self::new(2, 2),
        Self::new(4, 4),
        Self::new(8, 8),
        Self::new(30, 30),
        Self::new(100, 100),
        Self::new(200, 200),
        Self::new(500, 500),
        Self::new(1000, 1000),
        Self::new(2000, 2000),
        Self::new(11, 200),
        Self::new(30, 200),
        Self::new(1000, 2000),
        Self::new(200, 11),
    ];

    pub(crate) const fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    pub(crate) fn is_square(self) -> bool {
        self.rows == self.columns
    }

    /// How many different matrices of this size are solved, and how many between two readings of the clock.
    ///
    /// There must be many small matrices: branch predictors and caches learn a single one, which then looks two to three times too
    /// fast. The batches keep the cost of reading the clock below about one percent.
    pub(crate) fn counts(self) -> (usize, usize) {
        let cells = self.rows * self.columns;
        let table =
            [(3_000, 200, 50), (7_000, 100, 25), (10_000, 50, 10), (40_000, 20, 5), (250_000, 8, 1), (1_000_000, 4, 1)];
        let entry = table.into_iter().find(|&(most_cells, ..)| cells <= most_cells);
        entry.map_or((2, 1), |(_, matrices, batch)| (matrices, batch))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_square() { write!(f, "{}", self.rows) } else { write!(f, "{}x{}", self.rows, self.columns) }
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (rows, columns) = text.split_once('x').unwrap_or((text, text));
        let count =
            |text: &str| text.parse::<usize>().with_context(|| format!("not a number of rows or columns: {text:?}"));
        let size = Self::new(count(rows)?, count(columns)?);
        ensure!(0 < size.rows && 0 < size.columns, "the size {text} is empty");
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_repeat_and_differ() {
        for kind in Kind::ALL {
            assert_eq!(kind.costs(Size::new(5, 3), 7).len(), 15);
            let size = Size::new(3, 5);
            let costs = kind.costs(size, 7);
            assert_eq!(costs.len(), 15);
            assert_eq!(costs, kind.costs(size, 7));
            assert_ne!(costs, kind.costs(size, 8));
            assert!(
                costs
                    .iter()
                    .all(|&cost| (0.0..=298.0).contains(&cost) || (kind.has_forbidden() && cost == f64::INFINITY))
            );
        }
    }

    #[test]
    fn sizes_read_and_write() -> Result<()> {
        for text in ["30", "11x200", "200x11"] {
            assert_eq!(text.parse::<Size>()?.to_string(), text);
        }
        for text in ["", "x", "0", "200x0", "3x", "-4"] {
            assert!(text.parse::<Size>().is_err(), "{text:?}");
        }
        Ok(())
    }
}
