//! The error to expect on new specimens: a 90 % interval with the specimen as the unit.
//!
//! Points of one specimen, and pairs that share one, err together; what is new about a new pair is its specimens. With m the mean error of
//! S specimens that were held out, the error on new ones is taken to be distributed as
//!
//!   Beta(0.2 + S m, 0.8 + S (1 - m))
//!
//! and the interval runs from its 5 % to its 95 % quantile; it begins at 0 if m is below 0.03 or if at most half of the specimens have
//! an error. So no error seen means "at most 0.26" from three specimens and "at most 0.05" from twenty. docs/benchmarks.md says how often it
//! held the error on specimens that nothing was learned from.

/// The prior, of the weight of one specimen.
const PRIOR: [f64; 2] = [0.2, 0.8];
/// The probability below and above the interval.
const TAIL: f64 = 0.05;
/// A mean error below this may as well be 0.
const SMALL: f64 = 0.03;

/// The interval that holds the error on new specimens nine times in ten, given the mean errors of those that were held out; `None` if there are none.
#[must_use]
pub(crate) fn expected_error(errors: &[f64]) -> Option<[f64; 2]> {
    if errors.is_empty() {
        return None;
    }
    let count = errors.len() as f64;
    // The Hamming loss of nodes is at most 1; other losses have no such interval.
    if errors.iter().any(|error| !(0.0..=1.0 + 1e-9).contains(error)) {
        return None;
    }
    let mean = (errors.iter().sum::<f64>() / count).min(1.0);
    let wrong = errors.iter().filter(|&&error| error > 0.0).count();
    let (a, b) = (PRIOR[0] + count * mean, PRIOR[1] + count * (1.0 - mean));
    let low = if mean < SMALL || 2 * wrong <= errors.len() { 0.0 } else { quantile(a, b, TAIL).min(mean) };
    Some([low, quantile(a, b, 1.0 - TAIL).max(mean)])
}

/// The x at which the distribution function of Beta(a, b) is p.
fn quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if distribution(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The distribution function of Beta(a, b) at x: the regularised incomplete beta function by its continued fraction (Lentz's method).
fn distribution(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast below the mean; above it the other tail is computed.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - distribution(b, a, 1.0 - x);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() - log_beta(a, b)).exp() / a;
    let tiny = 1e-300;
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 0..400 {
        let m = f64::from(step / 2);
        let term = match step {
            0 => 1.0,
            _ if step % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 + term * d;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = 1.0 + term / c;
        c = if c.abs() < tiny { tiny } else { c };
        fraction *= c * d;
        if (1.0 - c * d).abs() < 1e-14 && step > 0 {
            break;
        }
    }
    // The first factor of the loop is 1 + 1.
    front * (fraction - 1.0)
}

fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// ln Γ(x) for x > 0 by Stirling's series, after moving x to where that is exact to rounding.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0_f64);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_that_of_the_beta() {
        // Closed forms: Beta(a, 1) is x^a, Beta(1, b) is 1 - (1 - x)^b, Beta(2, 2) is 3x² - 2x³.
        for x in [0.01, 0.1, 0.37, 0.5, 0.8, 0.99] {
            for a in [0.2, 1.0, 3.7, 40.0] {
                assert!((distribution(a, 1.0, x) - x.powf(a)).abs() < 1e-10, "{a} {x}");
                assert!((distribution(1.0, a, x) - (1.0 - (1.0 - x).powf(a))).abs() < 1e-10, "{a} {x}");
            }
            assert!((distribution(2.0, 2.0, x) - (3.0 * x * x - 2.0 * x * x * x)).abs() < 1e-10, "{x}");
            let p = distribution(2.2, 7.8, x);
            assert!(x > 0.85 || (quantile(2.2, 7.8, p) - x).abs() < 1e-8, "{x}");
        }
    }

    #[test]
    fn no_error_seen_promises_more_the_more_specimens_there_are() {
        for (count, most) in [(3, 0.26), (5, 0.17), (10, 0.094), (20, 0.049)] {
            let [low, high] = expected_error(&vec![0.0; count]).unwrap();
            assert!(low == 0.0 && (high - most).abs() < 0.006, "{count}: {high}");
        }
        let [low, high] = expected_error(&[0.2, 0.3, 0.25, 0.2, 0.3]).unwrap();
        assert!(0.0 < low && low < 0.25 && 0.25 < high && high < 0.7, "{low} {high}");
        // One bad specimen of five does not show that the next one errs at all.
        assert_eq!(expected_error(&[0.0, 0.0, 0.0, 0.0, 0.5]).unwrap()[0], 0.0);
        assert_eq!((expected_error(&[]), expected_error(&[3.0])), (None, None));
    }
}
