//! Before the searches, rows bid for columns: the augmenting row reduction of Jonker and Volgenant, on whole rows.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::core::{Core, Scores};
use super::lists::Lists;
use super::scan::{Facts, best_offer};

/// Every row bids once, in order; a row that is displaced bids again later. The facts are collected along the way.
pub(super) struct FirstBids<'a> {
    pub(super) problem: &'a Scores<'a>,
    pub(super) core: &'a mut Core,
    pub(super) facts: &'a mut Facts,
    /// Where rows are long, a list of each is made while it is in the cache.
    pub(super) lists: Option<&'a mut Lists>,
}

impl pulp::WithSimd for FirstBids<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _: S) {
        for row in 0..self.problem.rows {
            let core = &mut *self.core;
            let (row_values, sign) = (self.problem.row(row), self.problem.sign);
            let offer = best_offer(row_values, sign, &core.right, &core.row_of, Some(&mut *self.facts));
            // Lists do not pay where many scores are equal.
            if let Some(lists) = &mut self.lists
                && core.ties * 4 < row + 8
                && offer.best > offer.second
            {
                lists.list_first(self.problem, &core.right, row, &offer);
            }
            let floor = self.problem.floor(row);
            core.top[row] = offer.top.max(floor);
            core.bid(row, &offer, floor);
        }
    }
}

/// Unplaced rows bid in turn, and a displaced row bids next, for a bounded number of bids.
pub(super) struct MoreBids<'a> {
    pub(super) problem: &'a Scores<'a>,
    pub(super) core: &'a mut Core,
}

/// One bid for so many rows before the searches take over: more bids pay off on random scores but cost time on geometric ones.
const ROWS_PER_BID: usize = 4;

impl pulp::WithSimd for MoreBids<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { problem, core } = self;
        let mut bids = problem.rows / ROWS_PER_BID;
        for first in 0..problem.rows {
            let mut bidder = Some(first).filter(|&row| !core.is_placed(row));
            while let Some(row) = bidder
                && bids > 0
            {
                let offer = best_offer(problem.row(row), problem.sign, &core.right, &core.row_of, None);
                bidder = core.bid(row, &offer, problem.floor(row));
                bids -= 1;
            }
        }
    }
}
