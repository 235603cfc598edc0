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
}
