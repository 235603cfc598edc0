//! Sums and differences carried in two numbers (about 106 bits), for proofs: [`Precise`].
//!
//! The sum of two floating-point numbers is their rounded sum plus an error that is itself a floating-point number (Knuth's two-sum), so
//! a difference of two scores is exact here, whatever their sizes. Sums of many terms keep a bound on the little that is lost.

use std::cmp::Ordering;

/// high + low, |low| at most half a unit in the last place of high, with at most `slack` lost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Precise {
    high: f64,
    low: f64,
    slack: f64,
}

/// What adding two such numbers loses, relative to their sizes.
const LOST: f64 = 1.0 / (1_u128 << 102) as f64;

impl Precise {
    pub(crate) fn new(value: f64) -> Self {
        Self { high: value, low: 0.0, slack: 0.0 }
    }

    /// a - b, exactly.
    pub(crate) fn difference(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, -b);
        Self { high, low, slack: 0.0 }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.high, other.high);
        if !sum.is_finite() {
            return Self::new(sum);
        }
        let mut slack = self.slack + other.slack;
        if self.low != 0.0 || other.low != 0.0 {
            slack += LOST * (self.high.abs() + other.high.abs());
        }
        let (high, low) = two_sum(sum, error + (self.low + other.low));
        Self { high, low, slack }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low, slack: other.slack })
    }

    /// The larger of the two.
    pub(crate) fn max(self, other: Self) -> Self {
        if (other.high, other.low) > (self.high, self.low) { other } else { self }
    }

    /// Which is larger, as far as the digits go.
    pub(crate) fn total_cmp(self, other: Self) -> Ordering {
        self.high.total_cmp(&other.high).then(self.low.total_cmp(&other.low))
    }

    /// The two numbers whose sum it is, as far as it is known.
    pub(crate) fn parts(self) -> [f64; 2] {
        [self.high, self.low]
    }

    /// The number that it is taken for from now on, whatever was lost.
    pub(crate) fn taken(self) -> Self {
        Self { slack: 0.0, ..self }
    }

    /// Whether it is known to be positive, or known not to be; `None` if too little is known.
    pub(crate) fn is_positive(self) -> Option<bool> {
        (self.high.abs() > 2.0 * self.slack || self.slack == 0.0).then_some(self.high > 0.0)
    }

    /// The nearest number.
    pub(crate) fn value(self) -> f64 {
        self.high
    }

    /// A number that is certainly no smaller, and hardly larger.
    pub(crate) fn rounded_up(self) -> f64 {
        if self.low + self.slack > 0.0 { (self.high + self.slack).next_up() } else { self.high }
    }
}

impl std::iter::Sum for Precise {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::default(), Self::plus)
    }
}

/// The rounded sum and its error; no error where the sum is out of range.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    if !sum.is_finite() {
        return (sum, 0.0);
    }
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Whether the sum of these numbers is positive, exactly: every error is kept and added again until none is left.
pub(crate) fn is_sum_positive(mut terms: [f64; 6]) -> bool {
    for _ in 1..terms.len() {
        for at in 1..terms.len() {
            (terms[at], terms[at - 1]) = two_sum(terms[at], terms[at - 1]);
        }
    }
    terms.iter().rev().find(|term| **term != 0.0).is_some_and(|term| *term > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_beside_a_large_number() {
        let sum: Precise = [1e20, 3.0, -1e20, 0.25].into_iter().map(Precise::new).sum();
        assert_eq!(sum.value(), 3.25);
        assert_eq!(Precise::difference(0.446, 1e300).plus(Precise::new(1e300)).value(), 0.446);
        assert!(Precise::difference(1.0, 1e-30).rounded_up() >= 1.0);
        assert_eq!(Precise::new(2.0).plus(Precise::new(3.0)).rounded_up(), 5.0);
        assert!(Precise::new(1.0).plus(Precise::new(1e-30)).rounded_up() > 1.0);
    }
    #[test]
    fn the_sign_of_a_sum_is_that_of_the_exact_one() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            // Whole multiples of 2^-60, the last of which leaves little of the sum of the others.
            let mut whole = [0_i128; 6];
            for term in &mut whole[..5] {
                *term = i128::from(rng.random_range(-(1_i64 << 52)..1 << 52)) << rng.random_range(0..60);
            }
            let rest = -whole.iter().sum::<i128>();
            // Its first 53 binary digits, so that it is a floating-point number too.
            let lost = (128 - rest.unsigned_abs().leading_zeros()).saturating_sub(53);
            whole[5] = rest / (1 << lost) * (1 << lost);
            let total: i128 = whole.iter().sum();
            let mut terms = whole.map(|term| term as f64 * 2.0_f64.powi(-60));
            terms.rotate_left(rng.random_range(0..6));
            assert_eq!(is_sum_positive(terms), total > 0, "{terms:?}");
            let [a, b, c, ..] = terms;
            assert!(!is_sum_positive([a, b, c, -c, -a, -b]));
        }
    }
}
