//! Problems of 24 to 200 nodes, where the quick ways of the linear solver begin (lists, column prices, one common value), against successive
//! shortest paths in whole numbers.
//!
//! Scores are whole multiples of 2^-80, so sums are exact.

use super::forms::{as_list, on_rows};
use homolog::matching::{Compatibility, Linear, Matcher, Solution, Status, Workspace, verify};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const UNIT: f64 = (1_u128 << 80) as f64;

/// A score as so many times 2^-80, exactly.
fn fixed(value: f64) -> i128 {
    let scaled = value * UNIT;
    debug_assert!(scaled.fract() == 0.0 && scaled.abs() < 1e35, "{value} is not such a number");
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^117")]
    let whole = scaled as i128;
    whole
}

/// The nearest number that [`fixed`] takes.
fn rounded(value: f64) -> f64 {
    (value * UNIT).round() / UNIT
}

/// Approximately normal.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// What trackers, landmarks and test matrices look like.
fn problem(number: u64) -> Compatibility {
    let rng = &mut ChaCha8Rng::seed_from_u64(number ^ 0x1D_D1E0);
    let most = if rng.random_bool(0.2) { 201 } else { 70 };
    let (n, m) = (rng.random_range(24..most), rng.random_range(24..most));
    let (n, m) = if rng.random_bool(0.5) { (n, n) } else { (n, m) };
    let kind = number % 9;
    let mut decimals = |count: usize| (0..count).map(|_| f64::from(rng.random_range(0..1000_u16)) / 100.0).collect();
    let (rows, columns): (Vec<f64>, Vec<f64>) = (decimals(n), decimals(m));
    let spread = [1.0, 3.0][rng.random_range(0..2)];
    let share = [0.02, 0.1, 0.5][rng.random_range(0..3)];
    let cell = |(i, k): (usize, usize)| match kind {
        0 => f64::from(rng.random_range(0..3_u8)),
        1 => f64::from(rng.random_range(0..8_u8)) / 10.0,
        2 if rng.random_bool(share) => -rng.random::<f64>(),
        2 => -1.0,
        3 => rng.random::<f64>() - 100.0 * (rows[i] + columns[k]),
        4 => f64::from(rng.random_range(0..100_u8)) + (100.0 * (rows[i] + columns[k])).round(),
        5 => rows[i] + columns[k],
        6 => -(spread * normal(rng)).exp(),
        7 if i == n / 2 || k == m / 3 => 1e6 + rng.random::<f64>(),
        _ => rng.random(),
    };
    let node = Array2::from_shape_fn((n, m), cell).mapv(rounded);
    let mut problem = Compatibility::linear(node);
    if rng.random_bool(0.3) {
        let price = rounded(problem.node.mean().unwrap_or(0.0));
        problem.unmatched = Some(Array1::from_shape_simple_fn(n, || rounded(price + 0.1 * rng.random::<f64>())));
    }
    problem
}

/// The best total of as many rows as there are columns, by successive shortest paths: rows are placed one by one.
fn best(problem: &Compatibility) -> i128 {
    let (n, m) = problem.node.dim();
    let is_tall = n > m && problem.unmatched.is_none();
    let (rows, pairs) = if is_tall { (m, n) } else { (n, m) };
    // Staying unmatched is a column of one's own.
    let columns = if problem.unmatched.is_some() { pairs + rows } else { pairs };
    let costs = Array2::from_shape_fn((rows, columns), |(i, k)| match problem.unmatched.as_ref() {
        Some(prices) if k >= pairs => (k - pairs == i).then(|| -fixed(prices[i])),
        _ => Some(-fixed(problem.node[if is_tall { [k, i] } else { [i, k] }])),
    });
    let (mut row_price, mut column_price) = (vec![0_i128; rows], vec![0_i128; columns]);
    let mut row_of: Vec<Option<usize>> = vec![None; columns];
    let mut total = 0;
    for new in 0..rows {
        let (mut reached, mut from) = (vec![i128::MAX; columns], vec![None; columns]);
        let mut settled: Vec<(usize, i128)> = Vec::new();
        let mut is_open = vec![true; columns];
        let (mut row, mut length, mut last) = (new, 0, None);
        let end = loop {
            let mut nearest = (i128::MAX, 0);
            for (column, cost) in costs.row(row).iter().enumerate().filter(|&(column, _)| is_open[column]) {
                if let Some(cost) = cost {
                    let through = length + cost - row_price[row] - column_price[column];
                    if through < reached[column] {
                        (reached[column], from[column]) = (through, last);
                    }
                }
                nearest = nearest.min((reached[column], column));
            }
            let column = nearest.1;
            (length, is_open[column]) = (nearest.0, false);
            let Some(next) = row_of[column] else { break column };
            settled.push((column, length));
            (row, last) = (next, Some(column));
        };
        row_price[new] += length;
        for (column, at) in settled {
            column_price[column] -= length - at;
            row_price[row_of[column].expect("settled ones are taken")] += length - at;
        }
        let mut column = end;
        while let Some(before) = from[column] {
            row_of[column] = row_of[before];
            column = before;
        }
        row_of[column] = Some(new);
    }
    for (column, row) in row_of.into_iter().enumerate() {
        total -= row.map_or(0, |row| costs[[row, column]].expect("a row takes a column that it may have"));
    }
    total
}

fn total(problem: &Compatibility, answer: &Solution) -> i128 {
    let stays = |i: usize| problem.unmatched.as_ref().map_or(0, |prices| fixed(prices[i]));
    let own = |(i, right): (usize, &Option<usize>)| right.map_or_else(|| stays(i), |k| fixed(problem.node[[i, k]]));
    answer.matching.left_to_right().iter().enumerate().map(own).sum()
}

/// Answers are the best up to the rounding of their scores, and ordinary problems are proven; the certificate proves nearly as much. In tables of
/// sums only rounding tells choices apart, so that a proof may be kept back.
pub(super) fn check(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let problem = problem(number);
    let best = best(&problem);
    let failed = |error: homolog::Error| format!("{error} at {:?}", problem.node.dim());
    let look = |who: &str, answer: &Solution| {
        let behind = (best - total(&problem, answer)) as f64 / UNIT;
        let terms = super::terms(&problem, &answer.matching).iter().map(|term| term.abs()).sum::<f64>();
        let fail = |what: &str| Err(format!("{who}: {what}, {behind:e} behind of {terms} at {:?}", problem.node.dim()));
        let is_feasible = problem.unmatched.is_some()
            || answer.matching.matched_count() == problem.left_count().min(problem.right_count());
        if !is_feasible || behind < 0.0 {
            return fail("not feasible");
        }
        if behind > 1e-14 * terms {
            return fail("not the best");
        }
        if answer.status != Status::Optimal {
            return if number % 9 == 5 { Ok(false) } else { fail("not proven") };
        }
        let Some(certificate) = &answer.certificate else { return fail("no certificate") };
        let bound = verify(&problem, &answer.matching, certificate).map_err(failed)?;
        let excess = bound - best as f64 / UNIT;
        if excess < -f64::EPSILON * terms || excess > 1e-10 * terms {
            return fail(&format!("the certificate proves {excess:e} too much or too little"));
        }
        Ok(true)
    };
    let mut is_proven = look("linear", &Linear::default().solve_with(&problem, work).map_err(failed)?)?;
    if number % 4 == 1
        && let Some(list) = as_list(&problem)
    {
        is_proven &= look("list", &Linear::default().solve_with(&list, work).map_err(failed)?)?;
        let answer = on_rows(&problem, [4, 48, 1 << 20], |rows| Linear::default().solve_with(rows, work));
        is_proven &= look("streamed", &answer.map_err(failed)?)?;
    }
    Ok(is_proven)
}
