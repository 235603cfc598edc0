//! The best matching known to the exact solver, scored the same way as the relaxation's bounds: shifted, scaled, summed from scratch.

use crate::matching::lp::Factors;

/// "No cell".
const NONE: usize = usize::MAX;

pub(super) struct Incumbent<'a> {
    factors: &'a Factors,
    /// The cell of (row, column), or `NONE`.
    cell_of: Vec<usize>,
    pub(super) score: f64,
    best: Vec<Option<usize>>,
    cells: Vec<usize>,
}

impl<'a> Incumbent<'a> {
    pub(super) fn new(factors: &'a Factors) -> Self {
        let columns = factors.rights.len();
        let mut cell_of = vec![NONE; factors.row_count() * columns];
        for row in 0..factors.row_count() {
            for cell in factors.cells(row).filter(|&cell| factors.right(cell).is_some()) {
                cell_of[row * columns + factors.cell_column[cell] as usize] = cell;
            }
        }
        Self { factors, cell_of, score: f64::NEG_INFINITY, best: Vec::new(), cells: Vec::new() }
    }

    /// The right node of each row in the best matching.
    pub(super) fn best(&self) -> &[Option<usize>] {
        &self.best
    }

    /// Accepts a feasible matching, given as the right node of each row, if it is better; whether it was.
    pub(super) fn offer(&mut self, rights: &[Option<usize>]) -> bool {
        self.cells.clear();
        for (row, right) in rights.iter().enumerate() {
            let cell = match *right {
                Some(right) => self.cell_of[row * self.factors.rights.len() + right],
                None => self.factors.cells(row).end - 1,
            };
            debug_assert!(cell != NONE, "a feasible matching uses open cells");
            if cell == NONE {
                return false;
            }
            self.cells.push(cell);
        }
        let score = self.score_of_cells();
        let is_better = score > self.score;
        if is_better {
            self.score = score;
            self.best = rights.to_vec();
        }
        is_better
    }

    fn score_of_cells(&self) -> f64 {
        let factors = self.factors;
        let nodes: f64 = self.cells.iter().map(|&cell| factors.cell_score[cell]).sum();
        let entry = |q: usize| {
            let place = |side: usize| {
                let row = factors.pairs[q].rows[side];
                factors.slots(q, side).start + (self.cells[row] - factors.cell_start[row])
            };
            let range = factors.entries(place(0));
            let slots = &factors.entry_slot[range.clone()];
            let found = slots.binary_search_by(|&slot| (slot as usize).cmp(&place(1)));
            found.map_or(0.0, |at| factors.entry_score[range.start + at])
        };
        factors.constant + nodes + (0..factors.pairs.len()).map(entry).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::lp::laws::{all_matchings, factors_of, random_problem};
    use rand::SeedableRng;

    #[test]
    fn a_matching_scores_what_the_problem_says() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(31);
        for _ in 0..300 {
            let problem = random_problem(&mut rng);
            let (factors, matchings) = (factors_of(&problem), all_matchings(&problem));
            // Without pairs of edges there is no scale, and no search either.
            if factors.pairs.is_empty() {
                continue;
            }
            let mut best = f64::NEG_INFINITY;
            let mut incumbent = Incumbent::new(&factors);
            for (matching, score) in &matchings {
                let is_better = incumbent.offer(matching.left_to_right());
                assert!(is_better || score * factors.scale <= best + 1e-12, "{score} is better than {best}");
                best = best.max(score * factors.scale);
                assert!((incumbent.score - best).abs() < 1e-12, "{} is not {best}", incumbent.score);
            }
        }
    }
}
