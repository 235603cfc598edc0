//! Log distances and directions of many offsets at once, right to 1e-11: no branches, so that the compiler makes vectors of them.
//!
//!   ln x = e ln 2 + 2 artanh z,   x = 2^e m, 1/√2 <= m < √2, z = (m - 1) / (m + 1)
//!   artanh z = z + z³/3 + z⁵/5 + ...,   arctan t = t - t³/3 + t⁵/5 - ...,   |z|, t² <= 0.172
//!
//! An angle in the first half quadrant is arctan of the smaller side over the larger, or that of π/4 less, and the others follow by mirroring.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use std::array::from_fn;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI, SQRT_2};

/// How many offsets are taken at a time.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = [f64; LANES];

/// 1 + s/3 + s²/5 + ... with so many terms; of s in [-0.172, 0.172] 14 leave out 5e-12, of s below 0.03 8 do.
#[inline(always)]
fn series<const TERMS: usize>(s: f64) -> f64 {
    (0..TERMS).rev().fold(0.0, |sum, term| sum * s + 1.0 / (2 * term + 1) as f64)
}

/// The natural logarithms of positive numbers; below -708 or above 709 for those that are too small or too large to have all their digits, and
/// for 0.
#[inline(always)]
pub(super) fn ln(numbers: &Lanes) -> Lanes {
    const BIAS: u64 = 1023;
    const BITS: u32 = 52;
    // A whole number below 2^52 in the last bits of this is that much more.
    const WHOLE: f64 = (1_u64 << BITS) as f64;
    // Divided by √2 the exponent is rounded down, so that m is at least 1/√2.
    let shift = SQRT_2.to_bits() & ((1 << BITS) - 1);
    from_fn(|lane| {
        let bits = numbers[lane].to_bits();
        let exponent = (bits + ((1 << BITS) - shift)) >> BITS;
        let e = f64::from_bits(WHOLE.to_bits() | exponent) - (WHOLE + BIAS as f64);
        let m = f64::from_bits(bits + (BIAS << BITS) - (exponent << BITS));
        let z = (m - 1.0) / (m + 1.0);
        e * LN_2 + 2.0 * z * series::<8>(z * z)
    })
}

/// The angles of offsets from the positive x axis, from -π to π.
#[inline(always)]
pub(super) fn angle(dx: &Lanes, dy: &Lanes) -> Lanes {
    const TAN_PI_8: f64 = SQRT_2 - 1.0;
    from_fn(|lane| {
        let (x, y) = (dx[lane].abs(), dy[lane].abs());
        let is_steep = y > x;
        let (small, large) = if is_steep { (x, y) } else { (y, x) };
        let is_near_diagonal = small > TAN_PI_8 * large;
        let over = if is_near_diagonal { small - large } else { small };
        let under = if is_near_diagonal { small + large } else { large };
        let t = over / under;
        let near = t * series::<14>(-(t * t)) + if is_near_diagonal { FRAC_PI_4 } else { 0.0 };
        let quadrant = if is_steep { FRAC_PI_2 - near } else { near };
        let half = if dx[lane] < 0.0 { PI - quadrant } else { quadrant };
        half.copysign(dy[lane])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_angles_are_those_of_the_standard_library() {
        for step in 0..200_000 {
            let number = 10.0_f64.powf(f64::from(step) / 400.0 - 250.0);
            let own = ln(&[number; LANES])[3];
            assert!((own - number.ln()).abs() < 1e-11 * (1.0 + number.ln().abs()), "{number}: {own}");
            let angle = PI * (f64::from(step) / 100_000.0 - 1.0);
            let (y, x) = angle.sin_cos();
            let (x, y) = (3.0 * x, 3.0 * y);
            let own = super::angle(&[x; LANES], &[y; LANES])[5];
            assert!((own - y.atan2(x)).abs() < 2e-11, "{angle}: {own}");
        }
        assert!(
            ln(&[0.0; LANES])[0] < -708.0 && ln(&[1e-310; LANES])[0] < -708.0 && ln(&[f64::INFINITY; LANES])[0] > 709.0
        );
        for (x, y) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 1.0), (-1.0, -0.0), (-1.0, 1.0)] {
            assert!((angle(&[x; LANES], &[y; LANES])[0] - f64::atan2(y, x)).abs() < 2e-11, "{x} {y}");
        }
    }
}
