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
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch a column, and branches keep loops scalar"
)]

use super::LinearBuffers;
use super::careful::{HIDDEN, noise};
use crate::matching::{Compatibility, Constraint};

/// The most left nodes, and the most right nodes.
const MOST: [usize; 2] = [16, 64];
/// The bit of the places that nobody has.
const FREE: usize = MOST[0];

/// Whether another matching may be better than the answer in the buffers by less than what rounding hides.
pub(super) fn may_hide_better(problem: &Compatibility, buffers: &LinearBuffers) -> bool {
    let (n, m) = problem.node.dim();
    if n > MOST[0] || m > MOST[1] || m == 0 || problem.constraint == Constraint::ManyToOne {
        return false;
    }
    let (left, right) = (&buffers.left[..], &buffers.right[..]);
    let least = HIDDEN * noise(left, right);
    let node = problem.node.as_standard_layout();
    let slacks = Slacks { values: node.as_slice().unwrap_or_default(), left, right, least };
    let (mut near, mut is_equal) = pulp::Arch::new().dispatch(slacks);
    let is_apart = |slack: f64| slack == 0.0 || slack >= least;
    for i in 0..n {
        // A node that is left over in a crowd has the dual value 0; another one its price.
        let price = if buffers.crowd.left.binary_search(&i).is_ok() { 0.0 } else { problem.unmatched_score(i) };
        let slack = (left[i] - price).abs();
        let own = buffers.right_of[i];
        is_equal &= is_apart(slack) && own.is_none_or(|k| is_apart(right[k].abs()));
        near.own[i] = own.map_or(0, |k| 1 << k);
        near.choices[i] &= !near.own[i];
        near.leaves |= u32::from(own.is_some() && slack < least) << i;
        near.worthless |= u32::from(own.is_none_or(|k| right[k].abs() < least)) << i;
    }
    !is_equal && near.has_cycle()
}

/// Looks for the pairs of a table whose slack is less than the `least` that can be told from rounding.
struct Slacks<'a> {
    values: &'a [f64],
    left: &'a [f64],
    right: &'a [f64],
    least: f64,
}

impl pulp::WithSimd for Slacks<'_> {
    /// These pairs as choices, and whether all of them have a slack of exactly zero.
    type Output = (Near, bool);

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> (Near, bool) {
        let (mut near, mut unequal) = (Near::default(), 0);
        let rows = self.values.chunks_exact(self.right.len()).zip(self.left);
        for ((row, &left), choices) in rows.zip(&mut near.choices) {
            // Without a branch per pair, so that the compiler makes vectors of it.
            for (k, (&score, &right)) in row.iter().zip(self.right).enumerate() {
                let slack = slack(left, right, score).abs();
                let is_near = slack < self.least;
                *choices |= u64::from(is_near) << k;
                unequal |= u64::from(is_near & (slack != 0.0));
            }
        }
        (near, unequal == 0)
    }
}

/// left + right - score, to the last digit of what is left of it: a sum that is rounded to the score is not a tie. Infinite for a forbidden pair.
#[inline(always)]
fn slack(left: f64, right: f64, score: f64) -> f64 {
    let sum = left + right;
    let of_right = sum - left;
    let lost = (left - (sum - of_right)) + (right - of_right);
    (sum - score) + lost
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
    /// Whether exchanges along these pairs come back to where they began: nodes that lead to none that is left are taken away until nothing changes.
    fn has_cycle(&self) -> bool {
        let mut holder = [FREE; u64::BITS as usize];
        for (i, &own) in self.own.iter().enumerate() {
            bits(own).for_each(|k| holder[k] = i);
        }
        let mut leads_to = [0_u64; FREE + 1];
        for (i, &choices) in self.choices.iter().enumerate() {
            let leaves = u64::from(self.leaves >> i & 1) << FREE;
            leads_to[i] = bits(choices).fold(leaves, |to, k| to | 1 << holder[k]);
        }
        leads_to[FREE] = u64::from(self.worthless);
        let mut open = leads_to.iter().rev().fold(0, |open, &to| open << 1 | u64::from(to != 0));
        loop {
            let left = bits(open).fold(open, |left, i| if leads_to[i] & left == 0 { left & !(1 << i) } else { left });
            if left == open {
                return open != 0;
            }
            open = left;
        }
    }
}

/// The bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        (set != 0).then(|| set &= set - 1).map(|()| bit as usize)
    })
}
