//! What is known of the relaxed maximum from below: the best matching and the best soft matching that a solve has come across.

use super::narrow::spread;
use super::repair::{feasible_cells, feasible_entries};
use super::{Factors, Origin, Point, Shifts, linear_problem};
use crate::Result;
use crate::matching::{Compatibility, Linear, Matching, Workspace};

/// The best feasible points so far, in units of the scores, shifted.
pub(super) struct Lower {
    pub(super) value: f64,
    /// The best matching, with its score.
    pub(super) matching: Matching,
    pub(super) score: f64,
    /// Cells and entries of a soft matching that is better still.
    pub(super) soft: Option<(Vec<f64>, Vec<f64>)>,
}

impl Lower {
    pub(super) fn new(matching: &Matching, score: f64) -> Self {
        Self { value: score, matching: matching.clone(), score, soft: None }
    }

    /// Takes what the variables of a point are worth, rounded to a matching and made feasible.
    pub(super) fn take(
        &mut self,
        (problem, shifts): (&Compatibility, &Shifts),
        factors: &Factors,
        point: &Point,
        work: &mut Workspace,
    ) -> Result<()> {
        let rights = Linear::default().assign(&linear_problem(factors, &point.cells), work)?;
        let matching = Matching::new(rights.to_vec(), problem.right_count(), problem.constraint)?;
        let score = shifts.score(problem, &matching);
        if score > self.score {
            (self.matching, self.score) = (matching, score);
        }
        if score > self.value {
            (self.value, self.soft) = (score, None);
        }
        if let Some(cells) = feasible_cells(factors, &point.cells) {
            let entries = feasible_entries(factors, point, &cells);
            let product = |scores: &[f64], amounts: &[f64]| scores.iter().zip(amounts).map(|(s, x)| s * x).sum::<f64>();
            let value = product(&factors.cell_score, &cells) + product(&factors.entry_score, &entries);
            if value / factors.scale > self.value {
                (self.value, self.soft) = (value / factors.scale, Some((cells, entries)));
            }
        }
        Ok(())
    }

    /// After points of a narrow problem were taken, `before` being the value until then: turns what is left of them into points of the
    /// whole problem.
    pub(super) fn widen(&mut self, before: f64, factors: &Factors, origin: &Origin) {
        // A soft matching of the whole problem has the value of before: what is better came later.
        if self.value > before
            && let Some((cells, entries)) = &mut self.soft
        {
            *cells = spread(cells, &origin.cells, factors.cell_count());
            *entries = spread(entries, &origin.entries, factors.entry_count());
        }
    }
}
