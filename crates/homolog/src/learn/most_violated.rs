//! The most violated constraint of one example: the loss-augmented argmax, max_y [loss(y) + <w, Phi(y) - Phi(truth)>]. It is the prediction
//! problem with the loss cells added to the node scores. Its plane has slope Phi(y) - Phi(truth) and offset loss(y); the paper prints
//! the slope with the opposite sign.
//!
//! With a matcher that proves its answers the value is exact. With a heuristic one it may be too small; then the truth itself (value 0)
//! and earlier violators of the same example stand in wherever they are worse than what the search found, and every round searches with
//! the right nodes in a different order. A search that finds nothing beyond those is not believed: when the bundle method asks again at the
//! same weights, which it does before it ends, the exact solver looks too, once at each weights.

use super::Example;
use super::parts::{Found, PartMemory, Question, Scratch};
use crate::Result;
use crate::matching::{Exact, Matcher, Matching, RightOrder, Status};
use crate::optimize::Plane;

/// How much of the loss the exact solver adds to the scores, one try after the other until one finds a violator.
const LOSS_SHARES: [f64; 3] = [0.0, 0.5, 1.0];
/// Steps of the relaxation in each of its tries. On house pairs at baseline 90, 100 steps take about as long as one Frank–Wolfe search and 300
/// three times as long; both end at no test loss.
const EXACT_STEPS: usize = 100;
/// Left edges times right edges, beyond which the exact solver is not asked: about 150 points with Delaunay edges.
const EXACT_ENTRIES: usize = 1_000_000;

/// The worst violator that can be found: by the matcher, among the earlier ones, by the exact solver, or the truth itself. `n` is the
/// number of the example, `at` its place in its piece.
pub(super) fn most_violated(
    example: &Example,
    matcher: &dyn Matcher,
    question: &Question<'_>,
    memory: &PartMemory,
    (n, at): (usize, usize),
    scratch: &mut Scratch,
) -> Result<Found> {
    let weights = question.weights;
    let order = if memory.is_uncertain {
        &RightOrder::random(example.truth.right_count(), seed(question.round, n))
    } else {
        &example.order
    };
    augment(example, weights, 1.0, scratch)?;
    let (matching, status) = solve_shuffled(order, matcher, scratch)?;
    let mut is_proven = status == Status::Optimal;
    let found = plane(example, &matching)?;
    // The truth's own value is 0, and its plane is zero everywhere.
    let mut known: (f64, Option<Plane>) = (0.0, None);
    for violator in memory.kept.get(at).filter(|_| !is_proven).into_iter().flatten() {
        let value = violator.at(weights);
        if value > known.0 {
            known = (value, Some(violator.clone()));
        }
    }
    let value = found.at(weights);
    let mut best = if value > known.0 { (value, Some(found)) } else { known.clone() };
    let is_examined = memory.examined.get(at).is_some_and(|&examined| examined);
    let examined = !is_proven && value <= known.0 && memory.last == weights && !is_examined;
    if examined && let Some((violator, proven)) = examine(example, weights, best.0, order, scratch)? {
        is_proven = proven;
        best = violator.map_or(best, |violator| (violator.at(weights), Some(violator)));
    }
    Ok(Found { value: best.0, plane: best.1, is_proven, examined, warm: None })
}

/// The exact solver's look, within a limit of work: a violator that is worse than `known`, if it meets one, and whether nothing can be
/// worse than the worst of both. `None` if the graphs are too large for it.
///
/// The relaxation of the loss-augmented problem is loose, that of the prediction usually tight. So the prediction comes first: if it is
/// wrong, it is a violator of at least its loss (the paper's lemma). Half of the loss lies between the two.
fn examine(
    example: &Example,
    weights: &[f64],
    known: f64,
    order: &RightOrder,
    scratch: &mut Scratch,
) -> Result<Option<(Option<Plane>, bool)>> {
    let exact = Exact { max_iterations: EXACT_STEPS, max_entries: EXACT_ENTRIES, ..Exact::default() };
    let mut is_proven = false;
    for share in LOSS_SHARES {
        augment(example, weights, share, scratch)?;
        if !exact.fits(&scratch.problem) {
            return Ok(None);
        }
        let (matching, status) = solve_shuffled(order, &exact, scratch)?;
        let violator = plane(example, &matching)?;
        is_proven = share == 1.0 && status == Status::Optimal;
        if violator.at(weights) > known {
            return Ok(Some((Some(violator), is_proven)));
        }
    }
    Ok(Some((None, is_proven)))
}

/// Makes the problem of maximising share · loss + score: the same matchings as with the whole loss and the weights over the share.
fn augment(example: &Example, weights: &[f64], share: f64, scratch: &mut Scratch) -> Result<()> {
    if share == 0.0 {
        return example.instance.write_problem(weights, &mut scratch.problem, scratch.work.control());
    }
    let weights: Vec<f64> = weights.iter().map(|weight| weight / share).collect();
    example.instance.write_problem(&weights, &mut scratch.problem, scratch.work.control())?;
    example.loss.add_to(&mut scratch.problem);
    Ok(())
}

/// For the order of the right nodes of example `n` in a round. In a different order a search that proves nothing takes other paths;
/// that costs nothing, and what it misses in one round it may find in the next.
fn seed(round: usize, n: usize) -> u64 {
    let mixed = (round as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9).wrapping_add(n as u64);
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

pub(super) fn solve_shuffled(
    order: &RightOrder,
    matcher: &dyn Matcher,
    scratch: &mut Scratch,
) -> Result<(Matching, Status)> {
    order.shuffle_into(&scratch.problem, &mut scratch.shuffled)?;
    let solution = matcher.solve_with(&scratch.shuffled, &mut scratch.work)?;
    Ok((order.carry_back(&solution.matching)?, solution.status))
}

/// The plane of a matching: slope Phi(y) - Phi(truth), offset loss(y).
fn plane(example: &Example, matching: &Matching) -> Result<Plane> {
    Ok(Plane { slope: slope(example, matching)?, offset: example.loss(matching) })
}

/// Phi(y) - Phi(truth).
pub(super) fn slope(example: &Example, matching: &Matching) -> Result<Vec<f64>> {
    let mut slope: Vec<f64> = example.truth_features.iter().map(|feature| -feature).collect();
    example.instance.add_joint_features(matching, 1.0, &mut slope)?;
    Ok(slope)
}
