//! Whether a proof up to a tolerance means anything: [`Resolution`].
//!
//! Bounds are sums of floating-point numbers, so they hold up to a fraction of the largest score that could matter. If scores are far larger
//! than what they differ by (say, whole numbers beside a constant of 1e12 on a column or on all edges), that fraction hides the differences
//! that decide. The scores themselves show it: sorted, their neighbours differ by what the scores can tell apart; and before rows are shifted,
//! the small ones among them show what constants hide that cancel. If the tolerance is not well below the usual difference (three in four
//! are smaller: numbers that are equal but for rounding do not count much; of nodes or of edges, whichever is smaller) and the usual size (one
//! in four is smaller), or in a small problem the least ones, an agreement of bound and score is no proof.
//!
//! O(s log s) for s scores, of which at most 3 · `MOST_SCORES` are looked at.

use super::Factors;
use crate::matching::Compatibility;

/// Neighbours that differ by less than this part of themselves differ by rounding.
const ROUNDING: f64 = 1e-15;
/// The tolerance must be below this part of the difference, ...
const PART: f64 = 0.1;
/// ... and in a small problem below this part of the least one.
const SMALL_PART: f64 = 1e-3;
/// Scores that are looked at, of nodes and of edges; of more, evenly spread ones.
const MOST_SCORES: usize = 50_000;
/// Of no more differences than these, the lower quartile counts instead of the upper one.
const FEW_DIFFERENCES: usize = 64;
/// With no more nodes than these, the least difference counts: all matchings of such a problem can be tried instead.
const FEW_NODES: [usize; 2] = [7, 8];

pub(crate) struct Resolution {
    /// The difference that counts; `None` if all scores are alike.
    difference: Option<f64>,
}

impl Resolution {
    pub(crate) fn of(factors: &Factors, problem: &Compatibility) -> Self {
        let all = || factors.cell_score.iter().chain(&factors.entry_score).copied();
        let step = common_step(all().map(|score| score / factors.scale)) * factors.scale;
        if step > 0.0 {
            return Self { difference: Some(step) };
        }
        let is_small = factors.row_count() <= FEW_NODES[0] && factors.rights.len() <= FEW_NODES[1];
        let rounding = if is_small { 0.0 } else { ROUNDING };
        let rank = |mut values: Vec<f64>, quarters: usize| {
            let at = if is_small { 0 } else { values.len() * quarters / 4 };
            (!values.is_empty()).then(|| *values.select_nth_unstable_by(at, f64::total_cmp).1)
        };
        let mut difference = f64::INFINITY;
        let nodes = problem.node.iter().chain(problem.unmatched.iter().flatten()).map(|score| score * factors.scale);
        let all: Vec<f64> = nodes.chain(factors.entry_score.iter().copied()).collect();
        let sizes = all.iter().step_by(all.len() / MOST_SCORES + 1).map(|score| score.abs());
        let size = rank(sizes.filter(|size| *size > 0.0 && size.is_finite()).collect(), 1);
        for scores in [&factors.cell_score, &factors.entry_score] {
            let some = scores.iter().copied().step_by(scores.len() / MOST_SCORES + 1);
            let mut sorted: Vec<f64> = some.filter(|score| score.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let neighbours = sorted.windows(2).map(|pair| (pair[1] - pair[0], pair[0].abs().max(pair[1].abs())));
            let apart = neighbours.filter(|&(apart, size)| apart > rounding * size).map(|(apart, _)| apart);
            let apart: Vec<f64> = apart.collect();
            // A few groups of alike scores are far apart, and what decides is within them.
            let quarters = if apart.len() <= FEW_DIFFERENCES { 1 } else { 3 };
            difference = difference.min(rank(apart, quarters).unwrap_or(f64::INFINITY));
        }
        let difference = Some(difference).filter(|apart| apart.is_finite());
        let difference = difference.map(|apart| size.map_or(apart, |size| apart.min(size)));
        let part = if is_small { SMALL_PART / PART } else { 1.0 };
        Self { difference: difference.map(|apart| part * apart) }
    }

    /// Whether scores that differ by no more than this are as good as equal; `rounding` is what all of them may be off by, which hides
    /// everything if they look alike.
    pub(crate) fn allows(&self, tolerance: f64, rounding: f64) -> bool {
        self.difference.map_or(rounding == 0.0, |difference| tolerance + rounding <= PART * difference)
    }
}

/// The largest number of which all scores are multiples, if they are whole numbers; otherwise 0.
pub(crate) fn common_step(scores: impl Iterator<Item = f64>) -> f64 {
    let mut step = 0_u64;
    for score in scores {
        // Beyond 2^53 every float is a whole number and the differences between scores are lost.
        if score.fract() != 0.0 || score.abs() >= 2.0_f64.powi(53) {
            return 0.0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2^53")]
        let (mut a, mut b) = (step, score.abs() as u64);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        step = a;
    }
    step as f64
}
