//! A logistic regression with few coefficients, each of which may have only one sign.
//!
//!   P(right | x) = 1 / (1 + exp(-(b_0 + Σ b_j x_j)))
//!
//! by likelihood with a slight preference for small coefficients, in damped Newton steps. A coefficient of the wrong sign is set to 0, the
//! worst first, and the others are fitted again.

use crate::linalg::eliminate;

/// Coefficients at most: the offset and four clues.
const MOST: usize = 5;
/// The preference: of a normal prior with variance 1 / RIDGE on each coefficient but the offset, which has nearly none.
const RIDGE: f64 = 0.5;
const OFFSET_RIDGE: f64 = 1e-3;
/// Newton steps; five to ten are usual.
const STEPS: usize = 50;

/// What a coefficient may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Any,
    NotNegative,
    NotPositive,
}

/// Numbers of one observation; the first is 1 for the offset. What does not count is 0.
pub(super) type Row = [f64; MOST];

/// The coefficients for rows with targets between 0 and 1.
pub(super) fn logistic(sample: &[(Row, f64)], signs: [Sign; MOST]) -> Row {
    let mut free = [true; MOST];
    loop {
        let found = newton(sample, free);
        let excess = |at: usize| match signs[at] {
            Sign::Any => 0.0,
            Sign::NotNegative => -found[at],
            Sign::NotPositive => found[at],
        };
        let worst =
            (0..MOST).filter(|&at| free[at] && excess(at) > 0.0).max_by(|&a, &b| excess(a).total_cmp(&excess(b)));
        match worst {
            Some(at) => free[at] = false,
            None => return found,
        }
    }
}

fn product(a: &Row, b: &Row) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn ridge(at: usize) -> f64 {
    if at == 0 { OFFSET_RIDGE } else { RIDGE }
}

fn loss(sample: &[(Row, f64)], at: &Row) -> f64 {
    let one = |(row, target): &(Row, f64)| {
        let z = product(row, at);
        // log(1 + e^z) - t z without overflow.
        z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z
    };
    sample.iter().map(one).sum::<f64>() + (0..MOST).map(|j| 0.5 * ridge(j) * at[j] * at[j]).sum::<f64>()
}

fn newton(sample: &[(Row, f64)], free: [bool; MOST]) -> Row {
    let mut at = Row::default();
    for _ in 0..STEPS {
        let mut gradient = Row::default();
        let mut hessian = [Row::default(); MOST];
        for j in 0..MOST {
            gradient[j] = ridge(j) * at[j];
            hessian[j][j] = ridge(j);
        }
        for (row, target) in sample {
            let p = 1.0 / (1.0 + (-product(row, &at)).exp());
            for j in 0..MOST {
                gradient[j] += (p - target) * row[j];
                (0..MOST).for_each(|k| hessian[j][k] += p * (1.0 - p) * row[j] * row[k]);
            }
        }
        for j in (0..MOST).filter(|&j| !free[j]) {
            gradient[j] = 0.0;
            (0..MOST).for_each(|k| (hessian[j][k], hessian[k][j]) = (0.0, 0.0));
            hessian[j][j] = 1.0;
        }
        let step = eliminate(hessian, gradient);
        let before = loss(sample, &at);
        let moved = |share: f64| std::array::from_fn(|j| at[j] - share * step[j]);
        let mut share = 1.0;
        while share > 1e-6 && loss(sample, &moved(share)) > before {
            share *= 0.5;
        }
        at = moved(share);
        if share <= 1e-6 || step.iter().map(|x| x.abs()).sum::<f64>() < 1e-10 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_vanishes_at_the_free_coefficients_and_signs_are_kept() {
        let signs = [Sign::Any, Sign::NotNegative, Sign::NotPositive, Sign::NotNegative, Sign::Any];
        let sample: Vec<(Row, f64)> = (0..200)
            .map(|at| {
                let x = |k: usize| (((at + 1) * k) % 17) as f64 / 17.0;
                let row = [1.0, x(3), x(5), x(7), f64::from(u8::from(at % 3 == 0))];
                // Rises with the second, and, against its sign, falls with the fourth.
                (row, if x(3) - x(5) - x(7) + 0.3 * x(11) > 0.0 { 0.98 } else { 0.02 })
            })
            .collect();
        let found = logistic(&sample, signs);
        assert!(found[1] > 0.0 && found[2] < 0.0 && found[3] == 0.0, "{found:?}");
        for j in [0, 1, 2, 4] {
            let shifted = |by: f64| std::array::from_fn(|k| found[k] + if k == j { by } else { 0.0 });
            let slope = (loss(&sample, &shifted(1e-5)) - loss(&sample, &shifted(-1e-5))) / 2e-5;
            assert!(slope.abs() < 1e-5, "{j} {slope}");
        }
    }
}
