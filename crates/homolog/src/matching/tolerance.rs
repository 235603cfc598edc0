//! What a proof is true up to, and whether that is worth saying: [`Solution::tolerance`].
//!
//! Scores are added up in floating-point numbers, so a proof holds up to a tolerance τ ([`Status::Optimal`]). Without edge scores the dual values
//! show how large it really is: τ is how far the bound that they prove is above the score, with twice the digits. With edge scores it is what
//! the solver allowed ([`Exact`](super::Exact)).
//!
//! τ is negligible beside the difference q between matchings, and the score s, if τ <= 1e-12 q, or if τ <= 1e-3 q and τ <= 1e-9 |s|. Without
//! edge scores q is what nine of ten exchanges of partners change the score by, at least; with edge scores it is what `lp/resolution` says.
//!
//! O(n m) for the dual values, and about `MOST_EXCHANGES` exchanges of partners.

use super::lp::{exchanges, quantile};
use super::problem::{ByRow, Form, Proof};
use super::{Problem, Solution, Status};

/// Of the usual difference, or of the score and of the difference: no more than this is negligible.
const OF_DIFFERENCE: f64 = 1e-12;
const OF_SCORE: f64 = 1e-9;
const OF_DIFFERENCE_TOO: f64 = 1e-3;

/// So many exchanges tell what is usual.
const MOST_EXCHANGES: usize = 64;

impl Solution {
    /// If the solution is proven optimal, but another matching may be better by an amount that is not negligible and that rounding
    /// hides: that amount, at most. [`proof_in_words`] says it.
    ///
    /// ```
    /// use homolog::matching::{Compatibility, Linear, Matcher, proof_in_words};
    /// let problem = Compatibility::linear(ndarray::array![[5.0, 3.0], [4.0, 1.0]]);
    /// let answer = Linear::default().solve(&problem)?;
    /// assert_eq!(proof_in_words(answer.tolerance(&problem)), "proven optimal");
    /// # Ok::<(), homolog::Error>(())
    /// ```
    #[must_use]
    pub fn tolerance(&self, problem: &dyn Problem) -> Option<f64> {
        if self.status != Status::Optimal {
            return None;
        }
        match problem.form() {
            Form::Table(table) => self.tolerance_of(table),
            Form::List(list) => self.tolerance_of(list),
            Form::Rows(rows) => self.tolerance_of(rows),
        }
    }

    fn tolerance_of(&self, problem: &impl ByRow) -> Option<f64> {
        let has_edges = problem.edge().is_some_and(|edge| !edge.is_empty());
        let duals = self.certificate.as_ref().filter(|_| !has_edges);
        let shown = duals.and_then(|duals| Proof::new(problem, &self.matching, duals).ok()?.excess().ok());
        let Some(shown) = shown else { return Some(self.allowed).filter(|&allowed| allowed > 0.0) };
        let exchanges = || quantile(exchanges(problem, &self.matching, MOST_EXCHANGES), 0.1).unwrap_or(f64::INFINITY);
        (shown > 0.0 && !is_negligible(shown, exchanges(), self.score)).then_some(shown)
    }
}

/// Whether so much is not worth saying, given what matchings differ by and the score.
pub(super) fn is_negligible(tolerance: f64, difference: f64, score: f64) -> bool {
    tolerance <= OF_DIFFERENCE * difference
        || tolerance <= OF_DIFFERENCE_TOO * difference && tolerance <= OF_SCORE * score.abs()
}

/// What is proven of an optimal solution, given its [tolerance](Solution::tolerance): the one sentence that every shell prints.
///
/// ```
/// use homolog::matching::proof_in_words;
/// let words = "proven optimal but for rounding: no matching is better by more than 2.5e-5";
/// assert_eq!(proof_in_words(Some(2.5e-5)), words);
/// ```
#[must_use]
pub fn proof_in_words(tolerance: Option<f64>) -> String {
    let proven = "proven optimal".to_string();
    tolerance.map_or(proven.clone(), |tolerance| {
        format!("{proven} but for rounding: no matching is better by more than {}", rounded_up(tolerance))
    })
}

/// Two digits, never less than the number.
fn rounded_up(number: f64) -> String {
    let short = format!("{number:.1e}");
    if short.parse().is_ok_and(|short: f64| short >= number) { short } else { format!("{:.1e}", number * 1.06) }
}
