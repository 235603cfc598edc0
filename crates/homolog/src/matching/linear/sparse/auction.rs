//! Prices of columns close to optimal, by an auction with falling increments (Bertsekas), for square sparse problems.
//!
//! Each unplaced row bids for its best column, best - second best + epsilon above the price, and displaces the row that had it. With a
//! large epsilon that ends soon, with a small one the prices are nearly optimal; the prices of one round are the start of the next. Nothing
//! here is exact or a proof: only the prices are used, and what comes after is exact from any prices. On random problems of 5000 rows
//! with 10 cells each it saves four fifths of the time (26 ms of searches become 1 ms, for 4 ms of bids).

use super::core::{NONE, Rows, reset};

/// Epsilon of each round, as a share of the mean range of scores in a row.
const ROUNDS: [f64; 3] = [0.1, 0.01, 0.001];
/// Bids per row, on average, after which a round is given up: rows that compete for too few columns bid forever.
const MOST_BIDS: usize = 12;

/// Scratch memory of an auction.
#[derive(Debug, Default)]
pub(super) struct Auction {
    row_of: Vec<u32>,
    waiting: Vec<u32>,
}

impl Auction {
    /// Writes the price of each column, 0 or more. `false` if `goes_on` says no.
    pub(super) fn find_prices(&mut self, problem: &Rows<'_>, prices: &mut [f64], goes_on: &dyn Fn() -> bool) -> bool {
        start_prices(problem, prices);
        let range = mean_range(problem);
        let is_of_use = range > 0.0 && range.is_finite();
        !is_of_use || ROUNDS.iter().all(|share| self.round(problem, prices, share * range, goes_on))
    }

    fn round(&mut self, problem: &Rows<'_>, prices: &mut [f64], epsilon: f64, goes_on: &dyn Fn() -> bool) -> bool {
        reset(&mut self.row_of, problem.column_count, NONE);
        self.waiting.clear();
        self.waiting.extend((0..u32::try_from(problem.count()).unwrap_or(0)).rev());
        let at_once = problem.bids_at_once();
        for bid in 0..MOST_BIDS * problem.count() {
            if bid.is_multiple_of(at_once) && !goes_on() {
                return false;
            }
            let Some(row) = self.waiting.pop() else { break };
            let (mut best, mut second, mut column) = (f64::NEG_INFINITY, f64::NEG_INFINITY, NONE);
            for (at, score) in problem.cells(row as usize) {
                let value = score - prices[at as usize];
                if value > best {
                    second = best;
                    (best, column) = (value, at);
                } else if value > second {
                    second = value;
                }
            }
            // A row with a single column gives no measure of what the column is worth.
            if second == f64::NEG_INFINITY {
                continue;
            }
            prices[column as usize] += best - second + epsilon;
            let holder = std::mem::replace(&mut self.row_of[column as usize], row);
            if holder != NONE {
                self.waiting.push(holder);
            }
        }
        true
    }
}

/// The best score of each column, so that a column that nobody likes is cheap from the start; the smallest of them becomes 0.
fn start_prices(problem: &Rows<'_>, prices: &mut [f64]) {
    prices.fill(f64::NEG_INFINITY);
    for (&column, &score) in problem.columns.iter().zip(problem.scores) {
        let price = &mut prices[column as usize];
        *price = price.max(score);
    }
    let finite = |price: &f64| *price > f64::NEG_INFINITY;
    let least = prices.iter().copied().filter(finite).fold(f64::INFINITY, f64::min);
    for price in prices {
        *price = if finite(price) { *price - least } else { 0.0 };
    }
}

fn mean_range(problem: &Rows<'_>) -> f64 {
    let range = |row: usize| {
        let ends = problem
            .cells(row)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, score)| (low.min(score), high.max(score)));
        (ends.1 - ends.0).max(0.0)
    };
    (0..problem.count()).map(range).sum::<f64>() / problem.count().max(1) as f64
}
