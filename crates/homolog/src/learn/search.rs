//! The worst violator of one example by a matcher: the prediction problem with the loss cells added to the node scores. Its plane has
//! slope Phi(violator) - Phi(truth) and offset loss(violator); the paper prints the slope with the opposite sign.
//!
//! With a matcher that proves its answers the value is exact. With a heuristic one it may be too small; then the truth itself (value 0)
//! and earlier violators of the same example stand in wherever they are worse than what the search found, and every round searches with
//! the right nodes in a different order, so that a poor search is not mistaken for convergence.

use super::Example;
use super::parts::{Found, PartMemory, Question, Scratch};
use crate::Result;
use crate::matching::{Matcher, Matching, RightOrder, Status};
use crate::optimize::Plane;

/// The worst violator that can be found: by the matcher, among the earlier ones, or the truth itself. `n` is the number of the example,
/// `at` its place in its piece.
pub(super) fn find_violation(
    example: &Example,
    matcher: &dyn Matcher,
    question: &Question<'_>,
    memory: &PartMemory,
    (n, at): (usize, usize),
    scratch: &mut Scratch,
) -> Result<Found> {
    let weights = question.weights;
    example.instance.compatibility_into(weights, &mut scratch.problem)?;
    example.loss.add_to(&mut scratch.problem);
    let (matching, status) = if memory.is_uncertain {
        let order = RightOrder::random(example.truth.right_count(), seed(question.round, n));
        solve_shuffled(&order, matcher, scratch)?
    } else {
        solve_shuffled(&example.order, matcher, scratch)?
    };
    let is_proven = status == Status::Optimal;
    let found = Plane { slope: slope(example, &matching)?, offset: example.loss(&matching) };
    let earlier = memory.kept.get(at).filter(|_| !is_proven).into_iter().flatten();
    let mut best = (found.at(weights), &found);
    for violator in earlier {
        let value = violator.at(weights);
        if value > best.0 {
            best = (value, violator);
        }
    }
    // The truth's own value is 0, and its plane is zero everywhere.
    let (value, plane) = if best.0 > 0.0 { (best.0, Some(best.1.clone())) } else { (0.0, None) };
    Ok(Found { value, plane, is_proven, warm: None })
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
    let solution = matcher.solve(&scratch.shuffled, &mut scratch.work)?;
    Ok((order.carry_back(&solution.matching)?, solution.status))
}

/// Phi(y) - Phi(truth).
pub(super) fn slope(example: &Example, matching: &Matching) -> Result<Vec<f64>> {
    let mut slope: Vec<f64> = example.truth_features.iter().map(|feature| -feature).collect();
    example.instance.add_joint_features(matching, 1.0, &mut slope)?;
    Ok(slope)
}
