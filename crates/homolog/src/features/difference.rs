//! [`Difference`]: how two numbers of two edges become a feature. All but the product are largest where the two agree.

use super::Bilinear;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A comparison of two numbers a and b. In settings files: `"negative-square"`, or `{"decay": {"width": 50}}`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Difference {
    /// -(a - b)²: factors into products, so it costs about as much as adjacency.
    #[default]
    NegativeSquare,
    /// -|a - b|: tolerant of outliers; a number is stored for every pair of edges.
    NegativeAbsolute,
    /// exp(-((a - b) / width)²): in (0, 1], so a pair of edges that agree is a gain; a number is stored for every pair of edges.
    Decay {
        /// The difference at which the feature has fallen to 1/e.
        width: f64,
    },
    /// a b: for edge weights that say how strong an edge is, as in Koopmans and Beckmann's problem; factors.
    Product,
}

impl Difference {
    /// How many numbers of an edge the comparison needs: a, and for squares also -a², so that the square factors.
    pub(super) fn columns(self) -> usize {
        if self == Self::NegativeSquare { 2 } else { 1 }
    }

    /// Writes those numbers of one edge into a row of the table, starting at a column.
    pub(super) fn measure(self, a: f64, table: &mut Array2<f64>, row: usize, column: usize) {
        table[[row, column]] = a;
        if self == Self::NegativeSquare {
            table[[row, column + 1]] = -a * a;
        }
    }

    /// The feature, from the numbers of both edges.
    pub(super) fn compare(self, left: &[f64], right: &[f64]) -> f64 {
        let (a, b) = (left[0], right[0]);
        match self {
            Self::NegativeSquare => -(a - b).powi(2),
            Self::NegativeAbsolute => -(a - b).abs(),
            Self::Decay { width } => (-((a - b) / width).powi(2)).exp(),
            Self::Product => a * b,
        }
    }

    /// The comparison as products, if it factors; its first column is `at`.
    pub(super) fn bilinear(self, at: usize) -> Option<Bilinear> {
        match self {
            Self::NegativeSquare => Some(Bilinear { constant: 0.0, alone: vec![at + 1], products: vec![(at, 2.0)] }),
            Self::Product => Some(Bilinear { constant: 0.0, alone: Vec::new(), products: vec![(at, 1.0)] }),
            Self::NegativeAbsolute | Self::Decay { .. } => None,
        }
    }

    /// Whether the settings make sense.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Decay { width } => Error::unless_positive("width", width),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_its_formula() {
        let compare = |difference: Difference| {
            let mut table = Array2::zeros((2, difference.columns()));
            difference.measure(5.0, &mut table, 0, 0);
            difference.measure(2.0, &mut table, 1, 0);
            difference.compare(&table.row(0).to_vec(), &table.row(1).to_vec())
        };
        assert_eq!(compare(Difference::NegativeSquare), -9.0);
        assert_eq!(compare(Difference::NegativeAbsolute), -3.0);
        assert_eq!(compare(Difference::Decay { width: 1.5 }), (-4.0_f64).exp());
        assert_eq!(compare(Difference::Product), 10.0);
    }
}
