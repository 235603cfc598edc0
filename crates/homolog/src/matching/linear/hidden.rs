//! Whether rounding could hide a better matching of a small problem.
//!
//! Another matching is as good, up to rounding, only if it exchanges partners along pairs whose slack left_i + right_k - node_ik is hidden by
//! rounding: around a cycle of left nodes, or from a right node that is free (or a left node that is unmatched) to a place that costs nothing to
//! leave. In most problems there is no such cycle, and the answer is the best by far more than rounding. If there is one of pairs that are
//! not exactly equal, the dual values do not tell which matching is better. O(n m), and for each node that is on no cycle O(n).
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::LinearBuffers;
use super::careful::{HIDDEN, noise};
use crate::matching::{Compatibility, Constraint};

/// The most left nodes, and the most right nodes.
const MOST: [usize; 2] = [16, 64];
/// Numbers that differ by no more than this part of themselves are equal but for rounding.
const EQUAL: f64 = 4.0 * f64::EPSILON;
/// The bit of the places that nobody has.
const FREE: usize = MOST[0];

/// Whether another matching may be better than the answer in the buffers by less than what rounding hides.
pub(super) fn may_hide_better(problem: &Compatibility, buffers: &LinearBuffers) -> bool {
    let (n, m) = problem.node.dim();
    if n > MOST[0] || m > MOST[1] || problem.constraint == Constraint::ManyToOne {
        return false;
    }
    let least = HIDDEN * noise(&buffers.left, &buffers.right);
    if !is_fine(problem, least) {
        return false;
    }
    let mut near = Near::default();
    let mut is_equal = true;
    for (i, row) in problem.node.rows().into_iter().enumerate() {
        let left = buffers.left[i];
        let mut choices = 0_u64;
        for (k, (&score, &right)) in row.iter().zip(&buffers.right).enumerate() {
            let slack = slack(left, right, score).abs();
            choices |= u64::from(slack < least) << k;
            is_equal &= slack == 0.0 || slack >= least;
        }
        // A node that is left over in a crowd has the dual value 0; another one its price.
        let price = if buffers.crowd.left.binary_search(&i).is_ok() { 0.0 } else { problem.unmatched_score(i) };
        let slack = (left - price).abs();
        is_equal &= slack == 0.0 || slack >= least;
        let own = buffers.right_of[i];
        near.own[i] = own.map_or(0, |k| 1 << k);
        near.choices[i] = choices & !near.own[i];
        near.leaves |= u32::from(own.is_some() && slack < least) << i;
        near.worthless |= u32::from(own.is_none_or(|k| buffers.right[k].abs() < least)) << i;
        is_equal &= own.is_none_or(|k| buffers.right[k] == 0.0 || buffers.right[k].abs() >= least);
    }
    !is_equal && near.has_cycle()
}

/// Whether some score, or the difference of some neighbours, is smaller than this: only then there is something to hide. Numbers that are
/// equal but for rounding do not count, so that they are ties for [`Linear::assign`](super::Linear::assign) and for proofs alike.
fn is_fine(problem: &Compatibility, least: f64) -> bool {
    let node = problem.node.as_standard_layout();
    let prices = problem.unmatched.iter().flatten().any(|&price| is_small(price, 0.0, least));
    let fine = Fine { values: node.as_slice().unwrap_or_default(), width: node.ncols(), least };
    prices || pulp::Arch::new().dispatch(fine)
}

#[inline(always)]
fn is_small(a: f64, b: f64, least: f64) -> bool {
    let apart = (a - b).abs();
    let largest = if a.abs() > b.abs() { a.abs() } else { b.abs() };
    (apart < least) & (apart > EQUAL * largest)
}

/// Looks at the scores of a table, row by row; the end of a row and the beginning of the next pass for neighbours.
struct Fine<'a> {
    values: &'a [f64],
    width: usize,
    least: f64,
}

impl pulp::WithSimd for Fine<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> bool {
        let Self { values, width, least } = self;
        // Without a branch per pair, so that the compiler makes vectors of it.
        let beside = |by: usize| {
            let pairs = values.iter().zip(values.get(by..).unwrap_or_default());
            pairs.fold(0, |count, (&a, &b)| count + u64::from(is_small(a, b, least))) > 0
        };
        values.iter().fold(0, |count, &score| count + u64::from(is_small(score, 0.0, least))) > 0
            || beside(1)
            || beside(width)
    }
}

/// left + right - score, to the last digit of what is left of it: a sum that is rounded to the score is not a tie.
fn slack(left: f64, right: f64, score: f64) -> f64 {
    let sum = left + right;
    let of_right = sum - left;
    let lost = (left - (sum - of_right)) + (right - of_right);
    if score.is_finite() && lost.is_finite() { (sum - score) + lost } else { f64::INFINITY }
}

/// The pairs that rounding hides.
#[derive(Default)]
struct Near {
    /// Right nodes that a left node could take for its own, as bits.
    choices: [u64; MOST[0]],
    /// The right node that it has.
    own: [u64; MOST[0]],
    /// Left nodes that could stay unmatched as well.
    leaves: u32,
    /// Left nodes whose place nobody has to take if they leave it.
    worthless: u32,
}

impl Near {
    /// Whether there may be a cycle: what leads nowhere, or is led to from nowhere, is taken away until nothing changes.
    fn has_cycle(&self) -> bool {
        let taken = self.own.iter().fold(0, |taken, own| taken | own);
        let mut open = (1_u32 << (FREE + 1)) - 1;
        loop {
            let is_free_open = open >> FREE & 1 == 1;
            let nodes = (0..FREE).filter(|i| open >> i & 1 == 1);
            let mut offered = if is_free_open { !taken } else { 0 };
            let (mut wanted, mut to_free, mut left) = (0_u64, false, 0_u32);
            for i in nodes.clone() {
                offered |= self.own[i];
                wanted |= self.choices[i];
                to_free |= self.choices[i] & !taken != 0 || self.leaves >> i & 1 == 1;
            }
            for i in nodes {
                let leads = self.choices[i] & offered != 0 || is_free_open && self.leaves >> i & 1 == 1;
                let is_led_to = self.own[i] & wanted != 0 || is_free_open && self.worthless >> i & 1 == 1;
                left |= u32::from(leads && is_led_to) << i;
            }
            left |= u32::from(is_free_open && to_free && open & self.worthless != 0) << FREE;
            if left == open {
                return open != 0;
            }
            open = left;
        }
    }
}
