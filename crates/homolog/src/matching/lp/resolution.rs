//! Whether a proof up to a tolerance means anything: [`Resolution`].
//!
//! Bounds are sums of floating-point numbers, so they hold up to a fraction of the largest score that could matter. If scores are far larger
//! than what they differ by (say, whole numbers beside a constant of 1e12 on a column or on all edges), that fraction hides the differences
//! that decide. The scores themselves show it: sorted, their neighbours differ by what the scores can tell apart. Constants that cancel, or that
//! are part of few matchings, do not show there, but in what the score falls by if a left node takes another partner, who takes its old one.
//! Only what a score of this size can show counts (affinities that fall to 1e-200 hide nothing).
//!
//! If the tolerance is not well below the usual difference of scores (three in four are smaller: numbers that are equal but for rounding do not
//! count much; of nodes or of edges, whichever is smaller) and below what nearly all such exchanges cost (one in ten costs less), an agreement of
//! bound and score is no proof. In a small problem the least difference, the least exchange and the least size of a score count: there all
//! matchings can be tried instead.
//!
//! O(s log s) for s scores, of which at most 2 · `MOST_SCORES` are looked at, and at most `MOST_EXCHANGES` exchanges.

use super::Factors;
use crate::matching::problem::{ByRow, Precise, score_of};
use crate::matching::{Compatibility, Constraint, Matching};

/// Neighbours that differ by less than this part of themselves differ by rounding.
const ROUNDING: f64 = 1e-15;
/// The tolerance must be below this part of the difference, ...
const PART: f64 = 0.1;
/// ... and in a small problem below this part of the least one.
const SMALL_PART: f64 = 1e-3;
/// Scores that are looked at, of nodes and of edges; of more, evenly spread ones.
const MOST_SCORES: usize = 50_000;
/// Exchanges that are looked at; of more, evenly spread ones.
const MOST_EXCHANGES: usize = 4000;
/// Of no more differences than these, the lower quartile counts instead of the upper one.
const FEW_DIFFERENCES: usize = 64;
/// With no more nodes than these, the least difference counts: all matchings of such a problem can be tried instead.
const FEW_NODES: [usize; 2] = [7, 8];

pub(crate) struct Resolution {
    /// The difference that counts; `None` if all scores are alike.
    difference: Option<f64>,
}

impl Resolution {
    /// Of the whole problem, near the best matching known.
    pub(crate) fn of(factors: &Factors, problem: &Compatibility, best: &Matching) -> Self {
        let all = || factors.cell_score.iter().chain(&factors.entry_score).copied();
        let step = common_step(all().map(|score| score / factors.scale)) * factors.scale;
        if step > 0.0 {
            return Self { difference: Some(step) };
        }
        let is_small = factors.row_count() <= FEW_NODES[0] && factors.rights.len() <= FEW_NODES[1];
        let rounding = if is_small { 0.0 } else { ROUNDING };
        // What rounding leaves of equal scores is not a difference.
        let visible = if is_small { 0.0 } else { visible(problem, best) * factors.scale };
        let part = |of: f64| if is_small { 0.0 } else { of };
        let mut least: Option<f64> = None;
        let mut count = |other: Option<f64>| least = [least, other].into_iter().flatten().reduce(f64::min);
        for scores in [&factors.cell_score, &factors.entry_score] {
            let some = scores.iter().copied().step_by(scores.len() / MOST_SCORES + 1);
            let mut sorted: Vec<f64> = some.filter(|score| score.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let neighbours = sorted.windows(2).map(|pair| (pair[1] - pair[0], pair[0].abs().max(pair[1].abs())));
            let apart =
                neighbours.filter(|&(apart, size)| apart > visible.max(rounding * size)).map(|(apart, _)| apart);
            let apart: Vec<f64> = apart.collect();
            // A few groups of alike scores are far apart, and what decides is within them.
            let is_few = apart.len() <= FEW_DIFFERENCES;
            count(quantile(apart, part(if is_few { 0.25 } else { 0.75 })));
        }
        let mut others: Vec<f64> =
            exchanges(problem, best, MOST_EXCHANGES).into_iter().map(|cost| cost * factors.scale).collect();
        if is_small {
            let nodes = problem.node.iter().chain(problem.unmatched.iter().flatten());
            let sizes = nodes.map(|score| (score * factors.scale).abs()).chain(all().map(f64::abs));
            others.extend(sizes.filter(|size| *size > 0.0 && size.is_finite()));
        }
        count(quantile(others, part(0.1)));
        Self { difference: least.map(|least| if is_small { SMALL_PART / PART * least } else { least }) }
    }

    /// The difference that counts; infinite if all scores are alike.
    pub(crate) fn difference(&self) -> f64 {
        self.difference.unwrap_or(f64::INFINITY)
    }

    /// Whether scores that differ by no more than this are as good as equal; `rounding` is what all of them may be off by, which hides
    /// everything if they look alike.
    pub(crate) fn allows(&self, tolerance: f64, rounding: f64) -> bool {
        self.difference.map_or(rounding == 0.0, |difference| tolerance + rounding <= PART * difference)
    }
}

/// The number that this part of the others is below.
pub(crate) fn quantile(mut values: Vec<f64>, part: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a length")]
    let at = (values.len() as f64 * part) as usize;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// The least that a score of this size can show.
fn visible(problem: &impl ByRow, matching: &Matching) -> f64 {
    0.5 * f64::EPSILON * score_of(problem, matching).map_or(f64::INFINITY, f64::abs)
}

/// What the score changes by if a left node takes another partner, who takes its old one; without what a score of this size cannot show. At
/// most about so many exchanges, evenly spread over the pairs that are allowed.
pub(in crate::matching) fn exchanges(problem: &impl ByRow, matching: &Matching, most: usize) -> Vec<f64> {
    let pairs = || (0..problem.sizes().0).flat_map(|i| problem.row(i).map(move |(k, _)| (i, k)));
    let mut right_of = matching.left_to_right().to_vec();
    let mut costs = Vec::new();
    for (i, k) in pairs().step_by(pairs().count() / most + 1) {
        let old = right_of[i];
        let other = matching.left_of(k).filter(|_| matching.constraint() == Constraint::OneToOne);
        if old == Some(k) {
            continue;
        }
        let before = terms(problem, &right_of, i, other);
        right_of[i] = Some(k);
        other.inspect(|&j| right_of[j] = old);
        let after = terms(problem, &right_of, i, other);
        other.inspect(|&j| right_of[j] = Some(k));
        right_of[i] = old;
        if before.iter().chain(&after).all(|term| term.is_finite()) {
            let [before, after] = [before, after].map(|terms| terms.into_iter().map(Precise::new).sum::<Precise>());
            costs.push(before.minus(after).value().abs());
        }
    }
    let visible = visible(problem, matching);
    costs.retain(|cost| *cost > visible);
    costs
}

/// The parts of the score that one or two left nodes have a share in.
fn terms(problem: &impl ByRow, right_of: &[Option<usize>], i: usize, other: Option<usize>) -> Vec<f64> {
    let own = |i: usize| match right_of[i] {
        Some(k) => problem.pair_score(i, k).unwrap_or(f64::NEG_INFINITY),
        None => problem.unmatched_score(i),
    };
    let mut terms: Vec<f64> = [Some(i), other].into_iter().flatten().map(own).collect();
    let Some(edge) = problem.edge() else { return terms };
    let (lefts, rights) = (edge.left_edges(), edge.right_edges());
    let around = |node: usize| lefts.from_node(node).chain(lefts.into_node(node).iter().copied());
    let of_other = other.into_iter().flat_map(around).filter(|&e| !lefts.ends()[e].contains(&i));
    terms.extend(around(i).chain(of_other).filter_map(|e| {
        let [a, b] = lefts.ends()[e];
        Some(edge.value(e, rights.find(right_of[a]?, right_of[b]?)?))
    }));
    terms
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
