//! Soft assignment: the soft matching of largest entropy for given scores, by Sinkhorn's alternating normalisation.
//!
//! With left potentials f and right potentials g,  y_ik = exp(β s_ik + f_i + g_k),  rest_i = exp(f_i) (left node i unmatched, at
//! score 0) and idle_k = exp(g_k) (right node k unmatched), such that
//!
//!   Σ_k y_ik + rest_i = 1   and   Σ_i y_ik + idle_k = 1,
//!
//! where rest_i and idle_k exist only for nodes that can stay unmatched: the slacks of Gold & Rangarajan's softassign.
//! Many-to-one drops the second condition.
//!
//! **No overflow.** g is kept as a logarithm from call to call (which is also a warm start). Each row is shifted by its largest exponent
//! before exp is taken, once per call; the alternation itself then works on plain numbers in [0, 1], one pass over the table for both
//! normalisations. exp is our own polynomial: it vectorises, and gives the same bits on every machine.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::pairs::{LANES, Pairs, Values};
use crate::matching::Matching;
use ndarray::Array2;

/// Which nodes can stay unmatched, and whether right nodes can be shared.
#[derive(Debug, Clone)]
pub(super) struct Slack {
    pub(super) left: Vec<bool>,
    pub(super) right: Vec<bool>,
    pub(super) many_to_one: bool,
}

/// A soft matching: y, and how unmatched each left node is.
#[derive(Debug, Clone)]
pub(super) struct Soft<V = Array2<f64>> {
    pub(super) pair: V,
    pub(super) rest: Vec<f64>,
}

impl<V: Values> Soft<V> {
    pub(super) fn zeros(pairs: &impl Pairs<Values = V>) -> Self {
        Self { pair: pairs.zeros(), rest: vec![0.0; pairs.left_count()] }
    }

    /// How far y is from a matching: mean_i (1 - Σ_k y_ik² - rest_i²), 0 for a matching and nearly 1 for a flat y.
    pub(super) fn undecided(&self) -> f64 {
        let squares = self.pair.cells().iter().chain(&self.rest).map(|y| y * y).sum::<f64>();
        1.0 - squares / self.rest.len() as f64
    }

    /// Becomes a matching.
    pub(super) fn set_matching(&mut self, pairs: &impl Pairs<Values = V>, matching: &Matching) {
        self.pair.cells_mut().fill(0.0);
        self.rest.fill(1.0);
        for (i, at) in pairs.of_matching(matching) {
            self.pair.cells_mut()[at] = 1.0;
            self.rest[i] = 0.0;
        }
    }
}

impl Soft {
    /// Takes over a table, without the pairs that no feasible matching has; what is missing of a row stays unmatched.
    pub(super) fn set(&mut self, table: &Array2<f64>, gain: &Array2<f64>) {
        for ((pair, &value), &gain) in self.pair.iter_mut().zip(table).zip(gain) {
            *pair = if gain > f64::NEG_INFINITY { value } else { 0.0 };
        }
        for (rest, row) in self.rest.iter_mut().zip(self.pair.rows()) {
            *rest = (1.0 - row.sum()).max(0.0);
        }
    }
}

/// The alternation, its scratch memory, and the right potentials it ended with.
#[derive(Debug)]
pub(super) struct Sinkhorn {
    /// At most this many pairs of normalisations.
    pub(super) max_rounds: usize,
    /// Stop when right nodes are over- or underfull by no more than this on average.
    pub(super) tolerance: f64,
    /// g, and the factor beta it belongs to.
    potentials: Vec<f64>,
    beta: f64,
    kernel: Vec<f64>,
    /// Multipliers of rows and of columns since the kernel was built, idle_k before multiplication, column sums.
    rows: Vec<f64>,
    columns: Vec<f64>,
    idle: Vec<f64>,
    sums: Vec<f64>,
}

/// Multipliers stay within this and its inverse: finite whatever the scores, and far from all ordinary values.
pub(super) const LARGEST: f64 = 1e250;

impl Sinkhorn {
    pub(super) fn new(pairs: &impl Pairs, max_rounds: usize, tolerance: f64) -> Self {
        let (n, m) = (pairs.left_count(), pairs.right_count());
        let cells = n.checked_sub(1).map_or(0, |last| pairs.of_node(last).end);
        Self {
            max_rounds,
            tolerance,
            potentials: vec![0.0; m],
            beta: 1.0,
            kernel: vec![0.0; cells],
            rows: vec![1.0; n],
            columns: vec![1.0; m],
            idle: vec![0.0; m],
            sums: vec![0.0; m],
        }
    }

    /// Forgets the potentials of earlier calls.
    pub(super) fn reset(&mut self) {
        self.potentials.fill(0.0);
        self.beta = 1.0;
    }

    /// The soft matching for scores of ordinary size or less times `beta`; minus infinity forbids.
    pub(super) fn assign<P: Pairs>(
        &mut self,
        pairs: &P,
        score: &P::Values,
        beta: f64,
        slack: &Slack,
        soft: &mut Soft<P::Values>,
    ) {
        let (score, pair, rest) = (score.cells(), soft.pair.cells_mut(), &mut soft.rest[..]);
        pulp::Arch::new().dispatch(Assign { sinkhorn: self, pairs, score, beta, slack, pair, rest });
    }

    /// kernel_ik = exp(β s_ik + g_k - h_i) and rest_i = exp(-h_i), with h_i such that the largest in the row is 1.
    #[inline(always)]
    fn make_kernel<P: Pairs>(&mut self, pairs: &P, score: &[f64], beta: f64, slack: &Slack, rest: &mut [f64]) {
        // Potentials grow with beta, as scores do.
        let growth = beta / self.beta;
        self.beta = beta;
        for (k, potential) in self.potentials.iter_mut().enumerate() {
            *potential *= growth;
            self.idle[k] = if slack.right[k] { exp(potential.min(0.0)) } else { 0.0 };
            if slack.right[k] {
                *potential = potential.min(0.0);
            }
        }
        for (i, rest) in rest.iter_mut().enumerate() {
            let row = pairs.of_node(i);
            let to = &mut self.kernel[row.clone()];
            for ((to, &from), potential) in to.iter_mut().zip(&score[row]).zip(pairs.by_pair(i, &self.potentials)) {
                *to = beta * from + potential;
            }
            let shift = if slack.left[i] { largest(to).max(0.0) } else { largest(to) };
            for to in to.iter_mut() {
                *to = exp(*to - shift);
            }
            *rest = if slack.left[i] { exp(-shift) } else { 0.0 };
        }
    }

    /// Normalises rows, then columns; returns by how much the columns were over- or underfull in between, summed.
    #[inline(always)]
    fn normalise<P: Pairs>(&mut self, pairs: &P, slack: &Slack, rest: &[f64]) -> f64 {
        self.sums.fill(0.0);
        for (i, (multiplier, rest)) in self.rows.iter_mut().zip(rest).enumerate() {
            let row = &self.kernel[pairs.of_node(i)];
            *multiplier = (pairs.dot(i, row, &self.columns) + rest).recip().clamp(LARGEST.recip(), LARGEST);
            pairs.add_scaled(i, *multiplier, row, &mut self.sums);
        }
        if slack.many_to_one {
            return 0.0;
        }
        let mut error = 0.0;
        for ((column, &sum), &idle) in self.columns.iter_mut().zip(&self.sums).zip(&self.idle) {
            error += (*column * (sum + idle) - 1.0).abs();
            *column = (sum + idle).recip().clamp(LARGEST.recip(), LARGEST);
        }
        error
    }
}

/// [`Sinkhorn::assign`] with the widest vectors this processor has; the result is the same to the bit on any of them.
struct Assign<'a, P> {
    sinkhorn: &'a mut Sinkhorn,
    pairs: &'a P,
    score: &'a [f64],
    beta: f64,
    slack: &'a Slack,
    pair: &'a mut [f64],
    rest: &'a mut [f64],
}

impl<P: Pairs> pulp::WithSimd for Assign<'_, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Assign { sinkhorn, pairs, score, beta, slack, pair, rest } = self;
        let m = pairs.right_count();
        if m == 0 {
            return rest.fill(1.0);
        }
        sinkhorn.make_kernel(pairs, score, beta, slack, rest);
        sinkhorn.columns.fill(1.0);
        for _ in 0..sinkhorn.max_rounds.max(1) {
            let error = sinkhorn.normalise(pairs, slack, rest);
            if slack.many_to_one || error <= sinkhorn.tolerance * m as f64 {
                break;
            }
        }
        for (potential, column) in sinkhorn.potentials.iter_mut().zip(&sinkhorn.columns) {
            *potential += column.ln();
        }
        for (i, (&multiplier, rest)) in sinkhorn.rows.iter().zip(rest).enumerate() {
            let row = pairs.of_node(i);
            let cells = sinkhorn.kernel[row.clone()].iter().zip(pairs.by_pair(i, &sinkhorn.columns));
            for (to, (&from, column)) in pair[row].iter_mut().zip(cells) {
                // At most one even if a limit on the multipliers or on the rounds was hit.
                *to = (multiplier * from * column).min(1.0);
            }
            *rest = (*rest * multiplier).min(1.0);
        }
    }
}

#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder().iter().copied().fold(f64::NEG_INFINITY, larger);
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = larger(chunk[lane], lanes[lane]);
        }
    }
    lanes.into_iter().fold(rest, larger)
}

/// exp(x) for x <= 0, to 1e-11 of its value; 0 below -700.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2; exp(r) by its series up to the ninth power; 2^k by adding k to the exponent's bits. Adding and
/// subtracting 1.5·2^52 rounds to a whole number and leaves that number in the low bits.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts: the first has so few bits that its product with k is exact.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let kept = if x < -700.0 { -700.0 } else { x };
    let shifted = kept * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (kept - k * LN2_HIGH) - k * LN2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + r2 * (1.0 / 2.0 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let high = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let series = low + r4 * (middle + r4 * high);
    let value = f64::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < -700.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::super::pairs::AllPairs;
    use super::*;
    use ndarray::Axis;

    #[test]
    fn exp_is_exp() {
        for step in 0..=70_000 {
            let x = -f64::from(step) * 0.01;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e6), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }

    /// A table of scores without a pattern.
    fn scores(n: usize, m: usize, size: f64) -> Array2<f64> {
        Array2::from_shape_fn((n, m), |(i, k)| size * ((i * 37 + k * 101 + i * k * 13) % 29) as f64 / 29.0)
    }

    fn check(soft: &Soft, slack: &Slack) {
        for (row, rest) in soft.pair.rows().into_iter().zip(&soft.rest) {
            assert!((row.sum() + rest - 1.0).abs() < 1e-6, "row sums to {}", row.sum() + rest);
        }
        for (k, sum) in soft.pair.sum_axis(Axis(0)).into_iter().enumerate() {
            assert!(if slack.right[k] { sum <= 1.0 + 1e-9 } else { (sum - 1.0).abs() < 1e-6 }, "column sums to {sum}");
        }
    }

    #[test]
    fn rows_and_columns_are_normalised() {
        for (n, m, left, right) in [(5, 5, false, false), (4, 7, false, true), (7, 4, true, false), (5, 4, true, true)]
        {
            let pairs = AllPairs { left_count: n, right_count: m };
            let slack = Slack { left: vec![left; n], right: vec![right; m], many_to_one: false };
            for beta in [0.01, 1.0, 30.0] {
                let mut soft = Soft::zeros(&pairs);
                Sinkhorn::new(&pairs, 100_000, 1e-9).assign(&pairs, &scores(n, m, 1.0), beta, &slack, &mut soft);
                check(&soft, &slack);
            }
        }
    }

    #[test]
    fn stays_finite_on_forbidden_cells_and_extreme_scores() {
        let mut score = scores(6, 6, 1e6);
        for i in 0..6 {
            for k in (0..6_usize).filter(|k| k.abs_diff(i) > 1) {
                score[[i, k]] = f64::NEG_INFINITY;
            }
        }
        let slack = Slack { left: vec![false; 6], right: vec![false; 6], many_to_one: false };
        let pairs = AllPairs::of(&score);
        let mut soft = Soft::zeros(&pairs);
        let mut sinkhorn = Sinkhorn::new(&pairs, 30, 0.0);
        for beta in [1.0, 1e3, 1e6, 1e-6] {
            sinkhorn.assign(&pairs, &score, beta, &slack, &mut soft);
            assert!(soft.pair.iter().all(|y| (0.0..=1.0).contains(y)));
            assert!(soft.pair.indexed_iter().all(|((i, k), &y)| k.abs_diff(i) <= 1 || y == 0.0));
        }
    }

    #[test]
    fn cold_assignment_is_the_best_matching() {
        let score = scores(5, 5, 1.0);
        let problem = crate::matching::Compatibility::linear(score.clone());
        let best = crate::matching::Matcher::solve(&crate::matching::BruteForce::default(), &problem);
        let slack = Slack { left: vec![false; 5], right: vec![false; 5], many_to_one: false };
        let pairs = AllPairs::of(&score);
        let mut soft = Soft::zeros(&pairs);
        let mut sinkhorn = Sinkhorn::new(&pairs, 10_000, 1e-6);
        for step in 0..12 {
            sinkhorn.assign(&pairs, &score, 2.0_f64.powi(step), &slack, &mut soft);
        }
        let total = (&soft.pair * &score).sum();
        assert!((total - best.unwrap().score).abs() < 1e-2, "{total}");
    }
}
