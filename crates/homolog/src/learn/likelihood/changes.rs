//! Models with edges: the truth compared with every single change to it.
//!
//! For each left node i, the group of i is all single changes to the truth that move i: to a right node that is free; to "unmatched",
//! where that has a price; two nodes swapped, or, with a price, one taking the place of the other, which then stays unmatched; in
//! small graphs also three nodes in a cycle. A change of several nodes is in the group of each, and is looked at once.
//!
//! How much a change a scores above the truth is
//!
//!   x_a = Σ ± c_ik over the cells it gains and loses + <δ_a, w>
//!
//! where δ_a, what it gains and loses in features of edges and of staying unmatched, does not depend on the weights: one number per weight,
//! whatever the degree of the nodes. So an evaluation costs a few operations for each change, and searches for nothing.
//!
//! Nodes without a partner and without a price take no part.

mod builder;

use super::share::Shares;
use crate::Result;
use crate::features::Instance;
use crate::matching::{Matching, Relaxed};
use builder::Builder;
use ndarray::{Array1, Array2};
use std::ops::Range;

/// The changes of one truth.
pub(super) struct Changes {
    /// Gained cells as they are, lost ones as their complement (`!cell`).
    cells: Vec<i32>,
    /// Cells of change a: `cell_start[a]..cell_start[a + 1]`.
    cell_start: Vec<u32>,
    /// The weights of edges and of staying unmatched.
    columns: Range<usize>,
    /// δ of each change, row by row.
    rows: Vec<f64>,
    /// Changes of group g: `members[group_start[g]..group_start[g + 1]]`.
    members: Vec<u32>,
    group_start: Vec<u32>,
}

impl Changes {
    pub(super) fn new(instance: &Instance, truth: &Matching) -> Result<Self> {
        Builder::new(instance, truth)?.build()
    }

    pub(super) fn group_count(&self) -> usize {
        self.group_start.len() - 1
    }

    /// How many bytes this takes.
    pub(super) fn size(&self) -> usize {
        4 * (self.cells.len() + self.cell_start.len() + self.members.len() + self.group_start.len())
            + 8 * self.rows.len()
    }

    /// Adds up -log of the truth's share in each group; adds the derivative by cells to `amounts`, and by the other weights, times
    /// `factor`, to `gradient`.
    pub(super) fn add(
        &self,
        scores: &Array2<f64>,
        weights: &[f64],
        amounts: &mut Array2<f64>,
        factor: f64,
        gradient: &mut [f64],
        shares: &mut Shares,
    ) -> f64 {
        // Tables made here lie row by row, so that a cell is a position.
        let (Some(scores), Some(amounts)) = (scores.as_slice(), amounts.as_slice_mut()) else { return f64::NAN };
        let width = self.columns.len();
        let cells = |at: usize| &self.cells[self.cell_start[at] as usize..self.cell_start[at + 1] as usize];
        let row = |at: usize| &self.rows[width * at..width * (at + 1)];
        let count = self.cell_start.len() - 1;
        let weights = &weights[self.columns.clone()];
        let above = |at: usize| {
            let cell = |&cell: &i32| if cell >= 0 { scores[place(cell)] } else { -scores[place(!cell)] };
            let of_cells: f64 = cells(at).iter().map(cell).sum();
            of_cells + row(at).iter().zip(weights).map(|(x, w)| x * w).sum::<f64>()
        };
        let values: Vec<f64> = (0..count).map(above).collect();
        let mut used = vec![0.0; count];
        let mut value = 0.0;
        for group in self.group_start.windows(2) {
            let members = &self.members[group[0] as usize..group[1] as usize];
            shares.clear();
            shares.extend(members.iter().map(|&at| values[at as usize]));
            value += shares.normalize_beside();
            for (&at, &share) in members.iter().zip(shares.values()) {
                used[at as usize] += share;
            }
        }
        for (at, &used) in used.iter().enumerate() {
            for &cell in cells(at) {
                if cell >= 0 {
                    amounts[place(cell)] += used;
                } else {
                    amounts[place(!cell)] -= used;
                }
            }
            let used = factor * used;
            gradient[self.columns.clone()].iter_mut().zip(row(at)).for_each(|(sum, x)| *sum += used * x);
        }
        value
    }
}

/// A cell that is gained as an index.
#[expect(clippy::cast_sign_loss, reason = "the caller turned lost cells round")]
fn place(cell: i32) -> usize {
    cell as usize
}

/// Amounts of cells and nothing else, as a point that [`Instance::add_soft_features`] takes.
pub(super) fn soft_point(node: Array2<f64>) -> Relaxed {
    let unmatched = Array1::zeros(node.nrows());
    Relaxed::point(node, unmatched, Vec::new())
}
