//! The cores in order: first bids, more bids, searches over whole rows or short lists, and the second solve where rounding could mislead.

use super::bids::{FirstBids, MoreBids};
use super::core::{Core, Scores};
use super::scan::Facts;
use super::{careful, dense, lazy};

/// The two cores and the answer they share.
#[derive(Debug, Default)]
pub(super) struct Cores {
    pub(super) core: Core,
    dense: dense::Dense,
    lazy: lazy::Lazy,
    /// How far above the score the proven bound is; 0 where that is within the tolerance.
    pub(super) gap: f64,
}

impl Cores {
    /// Places every row; `false` if some row has no place, or where `goes_on` says no.
    pub(super) fn solve(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        self.begin(problem, None);
        self.finish(problem, goes_on)
    }

    /// The first bids; the facts are collected on the way, if asked for.
    pub(super) fn begin(&mut self, problem: &Scores<'_>, facts: Option<&mut Facts>) {
        self.core.clear(problem.rows, problem.columns);
        pulp::Arch::new().dispatch(FirstBids { problem, core: &mut self.core, facts });
    }

    /// All that comes after the first bids.
    pub(super) fn finish(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        if !goes_on() {
            return false;
        }
        // Short lists pay where rows are long, but not where many scores are equal. Their column numbers have 31 bits.
        let is_lazy = (lazy::FEWEST_COLUMNS..1 << 31).contains(&problem.columns)
            && problem.rows < 1 << 31
            && self.core.ties < problem.rows / 4;
        pulp::Arch::new().dispatch(MoreBids { problem, core: &mut self.core });
        let placed = if is_lazy {
            self.lazy.solve(problem, &mut self.core, &mut self.dense, goes_on)
        } else {
            self.dense.solve(problem, &mut self.core, goes_on)
        };
        let gap = placed.then(|| careful::refine(problem, &mut self.core, &mut self.dense, goes_on)).flatten();
        self.gap = gap.unwrap_or(0.0);
        gap.is_some()
    }
}
