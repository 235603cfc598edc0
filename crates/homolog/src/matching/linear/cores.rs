//! The cores in order: first bids; more bids, by whole rows or by an auction on short lists; searches, by whole rows or lists; and the second
//! solve where rounding could mislead.

use super::auction::{Auction, bid_from_lists};
use super::bids::{FirstBids, MoreBids};
use super::core::{Core, Scores};
use super::lists::Lists;
use super::reduction::ReduceColumns;
use super::scan::Facts;
use super::{careful, dense, lazy};

/// The two cores and the answer they share.
#[derive(Debug, Default)]
pub(super) struct Cores {
    pub(super) core: Core,
    dense: dense::Dense,
    lazy: lazy::Lazy,
    lists: Lists,
    auction: Auction,
    /// How far above the score the proven bound is; 0 where that is within the tolerance.
    pub(super) gap: f64,
    /// No quick look decides whether rounding could mislead.
    pub(super) sure: bool,
}

impl Cores {
    /// Places every row; `false` if some row has no place, or where `goes_on` says no.
    pub(super) fn solve(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        self.begin(problem, problem.columns, &mut Facts::new(problem.sign));
        self.finish(problem, goes_on)
    }

    /// The first bids; the facts are collected on the way. Columns from `width` on are forbidden to all rows.
    pub(super) fn begin(&mut self, problem: &Scores<'_>, width: usize, facts: &mut Facts) {
        self.core.clear(problem.rows, problem.columns);
        if problem.rows == width && problem.unmatched.is_none() && problem.rows >= FEWEST_REDUCED {
            pulp::Arch::new().dispatch(ReduceColumns { problem, right: &mut self.core.right[..width] });
        }
        let is_listed = is_long(problem) && is_full(problem);
        if is_listed {
            self.lists.begin(problem.rows, problem.columns);
        }
        let lists = is_listed.then_some(&mut self.lists);
        pulp::Arch::new().dispatch(FirstBids { problem, core: &mut self.core, facts, lists });
    }

    /// All that comes after the first bids.
    pub(super) fn finish(&mut self, problem: &Scores<'_>, goes_on: &dyn Fn() -> bool) -> bool {
        if !goes_on() {
            return false;
        }
        let Self { core, dense, lazy, lists, auction, .. } = self;
        // Lists do not pay where many scores are equal.
        let mut is_listed = is_long(problem) && core.ties < problem.rows / 4;
        if is_listed && is_full(problem) {
            is_listed = auction.raise_prices(problem, core, lists, goes_on);
            bid_from_lists(problem, core, lists);
        } else {
            // Few rows are left over where there are columns to spare: whole rows are read again sooner than listed.
            is_listed &= problem.columns >= FEWEST_COLUMNS_TO_SPARE;
            if is_listed {
                lists.begin(problem.rows, problem.columns);
            }
            pulp::Arch::new().dispatch(MoreBids { problem, core });
        }
        let placed = if is_listed {
            lazy.solve(problem, core, lists, dense, goes_on)
        } else {
            dense.solve(problem, core, goes_on)
        };
        let Self { core, dense, sure, .. } = self;
        let gap = placed.then(|| careful::refine(problem, core, dense, *sure, goes_on)).flatten();
        self.gap = gap.unwrap_or(0.0);
        gap.is_some()
    }
}

/// From so many columns on they are reduced, if they differ.
const FEWEST_REDUCED: usize = 24;
/// From so many columns on rows are listed, ...
const FEWEST_COLUMNS: usize = 160;
/// ... and from so many where not every column will be taken.
const FEWEST_COLUMNS_TO_SPARE: usize = 800;

/// Whether rows are long enough for short lists of columns, whose numbers have 31 bits.
fn is_long(problem: &Scores<'_>) -> bool {
    (FEWEST_COLUMNS..1 << 31).contains(&problem.columns) && problem.rows < 1 << 31
}

/// Whether every column will be taken, if every row has a place.
fn is_full(problem: &Scores<'_>) -> bool {
    problem.rows == problem.columns && problem.unmatched.is_none()
}
