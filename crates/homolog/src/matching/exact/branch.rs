//! Branches of the exact solver: what one holds, what becomes of it, and which choice to branch on.

use crate::matching::lp::{Factors, Point};
use std::rc::Rc;

/// A branch: a problem and a point to continue from.
pub(super) struct Node {
    pub(super) factors: Factors,
    pub(super) point: Point,
    pub(super) weight: f64,
}

impl Node {
    /// Roughly how many numbers it holds: the point, and the entries with their indices.
    pub(super) fn size(&self) -> usize {
        self.point.len() + 3 * self.factors.entry_count()
    }
}

/// What became of a branch.
pub(super) enum Outcome {
    /// It holds no feasible matching, or none better than the best known.
    Pruned,
    /// It held one matching, which has been considered.
    Settled,
    /// It should be split: its current point, its bound, and what each of its cells can reach.
    Split { node: Box<Node>, bound: f64, reach: Vec<f64> },
    /// The caller or a limit ended the work on it; nothing in it reaches more than this.
    Stopped { bound: f64 },
}

/// A waiting branch: the parent, and the cell that is chosen in it.
pub(super) struct Open {
    pub(super) parent: Rc<Node>,
    pub(super) cell: usize,
    pub(super) bound: f64,
}

impl Open {
    /// The branch itself; `None` if its choice leaves some row without a place.
    pub(super) fn node(&self) -> Option<Node> {
        let Node { factors, point, weight } = &*self.parent;
        let mut keep = vec![true; factors.cell_count()];
        let row = factors.cell_start.partition_point(|&start| start <= self.cell) - 1;
        factors.cells(row).for_each(|cell| keep[cell] = cell == self.cell);
        factors.propagate(&mut keep).then(|| {
            let (small, origin) = factors.restrict(&keep);
            Node { point: point.restrict(&origin), weight: *weight, factors: small }
        })
    }
}

/// The cells of the row, or of the column that is certainly used, with the least hope left above the threshold.
pub(super) fn narrowest_choice(factors: &Factors, reach: &[f64], threshold: f64) -> Vec<usize> {
    let hope = |cells: &[usize]| cells.iter().map(|&cell| (reach[cell] - threshold).max(0.0)).sum::<f64>();
    let mut best: (f64, Vec<usize>) = (f64::INFINITY, Vec::new());
    let mut consider = |cells: Vec<usize>| {
        if hope(&cells) < best.0 {
            best = (hope(&cells), cells);
        }
    };
    (0..factors.row_count()).for_each(|row| consider(factors.cells(row).collect()));
    let everyone = (0..factors.row_count()).filter(|&row| !factors.may_rest(row)).count();
    if everyone == factors.rights.len() && !factors.many_to_one {
        for column in 0..factors.rights.len() {
            consider((0..factors.cell_count()).filter(|&cell| factors.cell_column[cell] as usize == column).collect());
        }
    }
    best.1
}
