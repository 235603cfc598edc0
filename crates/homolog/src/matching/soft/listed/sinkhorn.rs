//! Soft assignment on candidate pairs: `soft/sinkhorn.rs`, with its formulas, on rows that list their columns.

use super::super::sinkhorn::{LARGEST, Slack, exp};
use super::cells::Cells;

/// A soft matching of candidates: y, and how unmatched each left node is.
#[derive(Debug, Clone)]
pub(super) struct Soft {
    pub(super) pair: Vec<f64>,
    pub(super) rest: Vec<f64>,
}

impl Soft {
    pub(super) fn zeros(cells: &Cells) -> Self {
        Self { pair: vec![0.0; cells.len()], rest: vec![0.0; cells.left_count()] }
    }
}

/// The alternation, its scratch, and the right potentials it ended with.
pub(super) struct Sinkhorn {
    /// At most this many pairs of normalisations.
    max_rounds: usize,
    /// Stop when right nodes are over- or underfull by no more than this on average.
    tolerance: f64,
    /// g, and the factor beta it belongs to.
    potentials: Vec<f64>,
    beta: f64,
    kernel: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    idle: Vec<f64>,
    sums: Vec<f64>,
}

impl Sinkhorn {
    pub(super) fn new(cells: &Cells, max_rounds: usize, tolerance: f64) -> Self {
        let m = cells.right_count;
        Self {
            max_rounds,
            tolerance,
            potentials: vec![0.0; m],
            beta: 1.0,
            kernel: vec![0.0; cells.len()],
            rows: vec![1.0; cells.left_count()],
            columns: vec![1.0; m],
            idle: vec![0.0; m],
            sums: vec![0.0; m],
        }
    }

    /// Forgets the potentials of earlier calls.
    pub(super) fn reset(&mut self) {
        self.potentials.fill(0.0);
        self.beta = 1.0;
    }

    /// The soft matching for scores of ordinary size or less times `beta`.
    pub(super) fn assign(&mut self, cells: &Cells, score: &[f64], beta: f64, slack: &Slack, soft: &mut Soft) {
        self.make_kernel(cells, score, beta, slack, soft);
        self.columns.fill(1.0);
        for _ in 0..self.max_rounds.max(1) {
            if self.normalise(cells, soft) <= self.tolerance * cells.right_count as f64 {
                break;
            }
        }
        for (potential, column) in self.potentials.iter_mut().zip(&self.columns) {
            *potential += column.ln();
        }
        for i in 0..cells.left_count() {
            let row = cells.of_node(i);
            let cells = self.kernel[row.clone()].iter().zip(&cells.columns[row.clone()]);
            for (to, (&from, &k)) in soft.pair[row].iter_mut().zip(cells) {
                *to = (self.rows[i] * from * self.columns[k as usize]).min(1.0);
            }
            soft.rest[i] = (soft.rest[i] * self.rows[i]).min(1.0);
        }
    }

    fn make_kernel(&mut self, cells: &Cells, score: &[f64], beta: f64, slack: &Slack, soft: &mut Soft) {
        let growth = beta / self.beta;
        self.beta = beta;
        for (k, potential) in self.potentials.iter_mut().enumerate() {
            *potential *= growth;
            if slack.right[k] {
                *potential = potential.min(0.0);
            }
            self.idle[k] = if slack.right[k] { exp(*potential) } else { 0.0 };
        }
        for i in 0..cells.left_count() {
            let row = cells.of_node(i);
            let kernel = &mut self.kernel[row.clone()];
            let mut shift = if slack.left[i] { 0.0 } else { f64::NEG_INFINITY };
            for (to, (score, &k)) in kernel.iter_mut().zip(score[row.clone()].iter().zip(&cells.columns[row])) {
                *to = beta * score + self.potentials[k as usize];
                shift = shift.max(*to);
            }
            kernel.iter_mut().for_each(|to| *to = exp(*to - shift));
            soft.rest[i] = if slack.left[i] { exp(-shift) } else { 0.0 };
        }
    }

    /// Normalises rows, then columns; returns by how much the columns were over- or underfull in between, summed.
    fn normalise(&mut self, cells: &Cells, soft: &Soft) -> f64 {
        self.sums.fill(0.0);
        for i in 0..cells.left_count() {
            let row = cells.of_node(i);
            let (kernel, columns) = (&self.kernel[row.clone()], &cells.columns[row]);
            let full: f64 = kernel.iter().zip(columns).map(|(value, &k)| value * self.columns[k as usize]).sum();
            let multiplier = (full + soft.rest[i]).recip().clamp(LARGEST.recip(), LARGEST);
            self.rows[i] = multiplier;
            kernel.iter().zip(columns).for_each(|(value, &k)| self.sums[k as usize] += multiplier * value);
        }
        let mut error = 0.0;
        for ((column, &sum), &idle) in self.columns.iter_mut().zip(&self.sums).zip(&self.idle) {
            error += (*column * (sum + idle) - 1.0).abs();
            *column = (sum + idle).recip().clamp(LARGEST.recip(), LARGEST);
        }
        error
    }
}
