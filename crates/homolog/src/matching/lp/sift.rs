//! Sifting: most steps are taken on the few cells that may still matter.
//!
//! After a look at the whole problem every cell has a reach, which no matching with this cell exceeds ([`Outlook`](super::Outlook)). Kept are
//! the cells that reach nearly the bound, those in use by the point, and those of the best matching; steps are taken on these alone
//! ([`Factors::narrow`]), and their multipliers carried over to the whole problem ([`lift`](super::narrow::lift)), where the next look says what they prove there.
//! Where that is less than they prove of the narrow problem, some cells reach more than was thought: these are taken in, and so on. Only the
//! looks at the whole problem count: what a solve answers with is as true as without sifting. Where sifting gets nowhere and no
//! further cell is in sight, steps on all cells follow, more each time, so that in the end it is the method without sifting.

use super::{Factors, Lower, Outlook, Point};

/// When to sift.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sifting {
    /// Problems with fewer cells are not sifted.
    pub(super) least_cells: usize,
    /// From scratch, so many steps on all cells come first.
    pub(super) first: usize,
}

impl Default for Sifting {
    /// As measured on point sets of 30 to 100 nodes (docs/benchmarks.md).
    fn default() -> Self {
        Self { least_cells: 200, first: 100 }
    }
}

/// Cells are kept whose reach falls short of the bound by at most this part of the gap, ...
const MARGIN: f64 = 0.1;
/// ... or of which the point uses this much.
const IN_USE: f64 = 1e-3;
/// Sifting pays if it keeps no more than this part of the cells.
const FEW: f64 = 0.7;
/// Cells are dropped where the gap fell to this part of what it was, and this part of the cells is left.
const MUCH_BETTER: f64 = 0.5;
const MUCH_FEWER: f64 = 0.7;
/// Progress of less than this part of the gap is none.
const BETTER: f64 = 0.9;
/// Steps on a narrow problem before the first look at the whole, and how the number grows.
const FIRST_ROUND: usize = 100;
const GROWTH: (usize, usize) = (3, 2);
/// Steps on all cells where sifting first gets nowhere.
const FIRST_PENALTY: usize = 20;

/// What is kept, and what comes next.
pub(super) struct Sift {
    settings: Sifting,
    /// The cells that are kept; empty before the first time.
    pub(super) keep: Vec<bool>,
    /// How often it was sifted.
    pub(super) rounds: usize,
    /// How many steps the next round may take.
    steps: usize,
    /// Steps on all cells before it goes on, and how many it will be the next time.
    owed: usize,
    penalty: usize,
    last_gap: f64,
}

impl Sift {
    pub(super) fn new(settings: Sifting, is_warm: bool) -> Self {
        let owed = if is_warm { 0 } else { settings.first };
        let (steps, penalty) = (FIRST_ROUND, FIRST_PENALTY);
        Self { settings, keep: Vec::new(), rounds: 0, steps, owed, penalty, last_gap: f64::INFINITY }
    }

    /// After steps on all cells.
    pub(super) fn pay(&mut self, steps: usize) {
        self.owed = self.owed.saturating_sub(steps);
    }

    /// How many steps the round may take that begins now.
    pub(super) fn next_round(&mut self) -> usize {
        let steps = self.steps;
        self.steps = steps.saturating_mul(GROWTH.0) / GROWTH.1;
        self.rounds += 1;
        steps
    }

    /// After a look at the whole problem: chooses the cells to keep; whether to go on with these alone.
    pub(super) fn choose(&mut self, factors: &Factors, outlook: &Outlook, lower: &Lower, point: &Point) -> bool {
        if self.owed > 0 || factors.cell_count() < self.settings.least_cells || outlook.bound == f64::NEG_INFINITY {
            return false;
        }
        let gap = outlook.bound - lower.value * factors.scale;
        let mut keep = promising(factors, outlook, MARGIN * gap, lower, point);
        if self.rounds > 0 {
            let (fresh, before) = (count(&keep), count(&self.keep));
            let both: Vec<bool> = keep.iter().zip(&self.keep).map(|(new, old)| *new || *old).collect();
            if count(&both) == before && gap > BETTER * self.last_gap {
                self.owed = self.penalty;
                self.penalty = self.penalty.saturating_mul(2);
            }
            let is_well = gap <= MUCH_BETTER * self.last_gap;
            if !(is_well && fresh as f64 <= MUCH_FEWER * count(&both) as f64) {
                keep = both;
            }
        }
        self.last_gap = gap;
        let is_few = count(&keep) as f64 <= FEW * keep.len() as f64;
        if is_few {
            self.keep = keep;
        }
        is_few && self.owed == 0
    }
}

/// The cells that reach the bound to within a margin, that the point uses, or the best matching; and all without a column.
fn promising(factors: &Factors, outlook: &Outlook, margin: f64, lower: &Lower, point: &Point) -> Vec<bool> {
    let mut keep = Vec::with_capacity(factors.cell_count());
    for row in 0..factors.row_count() {
        let best = lower.matching.right_of(factors.lefts[row]);
        for cell in factors.cells(row) {
            let right = factors.right(cell);
            let is_near = outlook.bound - outlook.reach[cell] <= margin;
            keep.push(right.is_none() || right == best || is_near || point.cells[cell] > IN_USE);
        }
    }
    keep
}

fn count(keep: &[bool]) -> usize {
    keep.iter().filter(|&&keep| keep).count()
}
