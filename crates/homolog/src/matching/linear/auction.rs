//! Bids from short lists of columns (`lists`), for square problems without prices for staying unmatched: an auction finds prices, then
//! augmenting row reduction places rows exactly.
//!
//! In the auction (Bertsekas) each unplaced row bids for its best column, best - second best + epsilon above its price, and displaces the
//! row that had it. With a large epsilon that ends soon, with a small one the prices are nearly optimal; the prices of one round
//! are the start of the next. Only the prices are used: every column is taken in the end, so any right values are valid, and
//! what comes after is exact from any. They never fall, which is what lists need.
//!
//! Epsilon is measured against the median lead, by which a row's best column was ahead of its second at first. On random scores half of that is
//! a good start. If neighbouring rows want the same columns (distances between points), prices have to rise far above that, in small steps:
//! a round with a small epsilon does not end, and then one with a large epsilon comes first.

use super::core::{Core, NONE, Offer, Scores};
use super::lists::{Lists, narrow};

/// Epsilon of each round, as a share of the median lead.
const ROUNDS: [f64; 2] = [0.5, 0.05];
/// The same where the first of those does not end.
const WIDE_ROUNDS: [f64; 4] = [8.0, 2.0, 0.5, 0.1];
/// Bids per row, on average, after which the first round is given up: on random scores of up to 1000 columns it takes at most 6.
const FIRST_BIDS: usize = 8;
/// The same for the other rounds.
const MOST_BIDS: usize = 12;
/// Below so many columns, where the first round does not end, searches over whole rows are faster.
const FEWEST_WIDE: usize = 400;
/// The caller is asked whether to go on after this many bids: every few milliseconds.
const BIDS_AT_ONCE: usize = 1 << 12;
/// Bids per row, on average, before the searches take over.
const BIDS_PER_ROW: usize = 3;

/// Scratch memory of an auction.
#[derive(Debug, Default)]
pub(super) struct Auction {
    waiting: Vec<u32>,
}

impl Auction {
    /// Raises the right values towards optimal ones and takes all rows out of their columns, or gives up where `goes_on` says no. Returns
    /// whether lists are of further use.
    pub(super) fn raise_prices(
        &mut self,
        problem: &Scores<'_>,
        core: &mut Core,
        lists: &mut Lists,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        let Some(lead) = lists.median_lead() else { return true };
        let mut round = |share: f64, bids_per_row: usize| {
            let most = bids_per_row * problem.rows;
            self.round(problem, core, lists, share * lead, most, goes_on)
        };
        let ends = round(ROUNDS[0], FIRST_BIDS);
        let is_of_use = ends || problem.columns >= FEWEST_WIDE;
        if is_of_use {
            for &share in if ends { &ROUNDS[1..] } else { &WIDE_ROUNDS[..] } {
                round(share, MOST_BIDS);
            }
        }
        core.row_of.fill(NONE);
        core.column_of.fill(NONE);
        is_of_use
    }

    /// Whether every row found a column within so many bids.
    fn round(
        &mut self,
        problem: &Scores<'_>,
        core: &mut Core,
        lists: &mut Lists,
        epsilon: f64,
        most: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        core.row_of.fill(NONE);
        self.waiting.clear();
        self.waiting.extend((0..narrow(problem.rows)).rev());
        for bid in 0..most {
            if bid % BIDS_AT_ONCE == BIDS_AT_ONCE - 1 && !goes_on() {
                return false;
            }
            let Some(row) = self.waiting.pop() else { break };
            let offer = offer(problem, core, lists, row as usize);
            // A row with a single column gives no measure of what the column is worth.
            if offer.column == NONE || offer.second == f64::NEG_INFINITY {
                continue;
            }
            core.right[offer.column] += offer.best - offer.second + epsilon;
            let holder = std::mem::replace(&mut core.row_of[offer.column], row as usize);
            if holder != NONE {
                self.waiting.push(narrow(holder));
            }
        }
        self.waiting.is_empty()
    }
}

/// Unplaced rows bid in turn, and a displaced row bids next, for a bounded number of bids.
pub(super) fn bid_from_lists(problem: &Scores<'_>, core: &mut Core, lists: &mut Lists) {
    let mut bids = BIDS_PER_ROW * problem.rows;
    for first in 0..problem.rows {
        let mut bidder = Some(first).filter(|&row| !core.is_placed(row));
        while let Some(row) = bidder
            && bids > 0
        {
            let offer = offer(problem, core, lists, row);
            bidder = core.bid(row, &offer, problem.floor(row));
            bids -= 1;
        }
    }
}

/// What a row may bid; its list is made anew where it has nothing as good as what it may leave out.
fn offer(problem: &Scores<'_>, core: &Core, lists: &mut Lists, row: usize) -> Offer {
    if lists.is_listed(row) {
        let offer = lists.offer(&core.right, row);
        if offer.best >= offer.second {
            return offer;
        }
    }
    lists.list_anew(problem, &core.right, row);
    lists.offer(&core.right, row)
}

#[cfg(test)]
mod tests {
    use super::super::bids::FirstBids;
    use super::super::dense::Dense;
    use super::super::lazy::Lazy;
    use super::super::scan::Facts;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The answer by lists or by whole rows; `None` where a row has no place.
    fn solved(problem: &Scores<'_>, is_listed: bool) -> Option<Core> {
        let (mut core, mut dense, mut lists) = (Core::default(), Dense::default(), Lists::default());
        core.clear(problem.rows, problem.columns);
        lists.begin(problem.rows, problem.columns);
        let first = is_listed.then_some(&mut lists);
        pulp::Arch::new().dispatch(FirstBids {
            problem,
            core: &mut core,
            facts: &mut Facts::new(problem.sign),
            lists: first,
        });
        let placed = if is_listed {
            Auction::default().raise_prices(problem, &mut core, &mut lists, &|| true);
            bid_from_lists(problem, &mut core, &mut lists);
            Lazy::default().solve(problem, &mut core, &mut lists, &mut dense, &|| true)
        } else {
            dense.solve(problem, &mut core, &|| true)
        };
        placed.then_some(core)
    }

    fn total(problem: &Scores<'_>, core: &Core) -> f64 {
        (0..problem.rows).map(|row| problem.score(row, core.column_of[row])).sum()
    }

    /// The dual values leave no cell out and are tight on what is placed.
    fn is_proven(problem: &Scores<'_>, core: &Core) -> bool {
        (0..problem.rows).all(|row| {
            let slack = |column: usize| core.left[row] + core.right[column] - problem.score(row, column);
            (0..problem.columns).all(|column| slack(column) > -1e-9) && slack(core.column_of[row]) < 1e-9
        })
    }

    #[test]
    fn an_auction_on_lists_is_as_good_as_whole_rows() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for step in 0..6000 {
            let n = if step % 50 == 0 { rng.random_range(60..140) } else { rng.random_range(1..40) };
            let points: Vec<[f64; 4]> = (0..n).map(|_| rng.random()).collect();
            let forbidden = [0.0, 0.0, 0.5, 0.9][step % 4];
            let mut values = Vec::new();
            for row in 0..n {
                for column in 0..n {
                    let [x, y, ..] = points[row];
                    let [.., u, v] = points[column];
                    let score = match step % 5 {
                        0 => -(x - u).powi(2) - (y - v).powi(2),
                        1 => f64::from(rng.random_range(0..30)),
                        2 => rng.random::<f64>() + if row % 7 == 0 { 1e3 } else { 0.0 },
                        3 => x * u,
                        _ => rng.random(),
                    };
                    let is_forbidden = rng.random_bool(forbidden) && (column != row || step % 11 == 0);
                    values.push(if is_forbidden { f64::NEG_INFINITY } else { score });
                }
            }
            let problem = Scores { rows: n, columns: n, values: &values, sign: 1.0, unmatched: None };
            match (solved(&problem, true), solved(&problem, false)) {
                (Some(a), Some(b)) => {
                    let (ours, theirs) = (total(&problem, &a), total(&problem, &b));
                    assert!((ours - theirs).abs() < 1e-9 * theirs.abs().max(1.0), "step {step}: {ours} and {theirs}");
                    assert!(is_proven(&problem, &a), "step {step}");
                }
                (a, b) => assert_eq!(a.is_some(), b.is_some(), "step {step}"),
            }
        }
    }
}
