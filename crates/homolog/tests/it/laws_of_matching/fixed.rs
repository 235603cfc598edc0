//! Scores as whole multiples of 2^-40, added up without rounding, and the best matching by them: what laws compare with.
//!
//! Without edges the best is found over sets of right nodes, O(n · m · 2^m); with edges by trying all matchings.

use homolog::matching::{Compatibility, Constraint, Matching};

/// How many of the left nodes that must be matched are, and the score: the larger pair is the better matching.
pub type Total = (usize, i128);

/// The nearest number that [`fixed`] takes; all of them up to 1e17 are numbers of this kind if they are rounded so.
pub fn rounded(value: f64) -> f64 {
    if value.is_finite() { (value * UNIT).round() / UNIT } else { value }
}

const UNIT: f64 = (1_u64 << 40) as f64;

/// A score as so many times 2^-40, exactly.
pub fn fixed(value: f64) -> i128 {
    let scaled = value * UNIT;
    debug_assert!(scaled.fract() == 0.0 && scaled.abs() < 1e36, "{value} was rounded before");
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^120")]
    let whole = scaled as i128;
    whole
}

/// So many times 2^-40 as the nearest number.
pub fn value(total: i128) -> f64 {
    total as f64 / UNIT
}

fn is_forced(problem: &Compatibility, left: usize) -> bool {
    problem.unmatched_score(left) == f64::NEG_INFINITY
}

/// What a matching scores.
pub fn total(problem: &Compatibility, matching: &Matching) -> Total {
    let placed = matching.pairs().filter(|&(i, _)| is_forced(problem, i)).count();
    (placed, super::terms(problem, matching).into_iter().map(fixed).sum())
}

/// What the best matching of a problem without edges scores.
pub fn best_linear(problem: &Compatibility) -> Total {
    let (n, m) = problem.node.dim();
    let price = |k: usize| problem.right_unmatched.as_ref().map_or(0, |prices| fixed(prices[k]));
    let one = |i: usize, k: usize| {
        let score = problem.node[[i, k]];
        (score > f64::NEG_INFINITY).then(|| (usize::from(is_forced(problem, i)), fixed(score) - price(k)))
    };
    let stays = |i: usize| (0, if is_forced(problem, i) { 0 } else { fixed(problem.unmatched_score(i)) });
    let plus = |a: Total, b: Total| (a.0 + b.0, a.1 + b.1);
    let prices = (0, (0..m).map(price).sum());
    if problem.constraint == Constraint::ManyToOne {
        let best = |i: usize| (0..m).filter_map(|k| one(i, k)).fold(stays(i), Total::max);
        return (0..n).map(best).fold((0, 0), plus);
    }
    let mut best: Vec<Option<Total>> = vec![None; 1 << m];
    best[0] = Some(prices);
    for i in 0..n {
        for used in (0..best.len()).rev() {
            let with = |k: usize| Some(plus(best[used ^ (1 << k)]?, one(i, k)?));
            let choices = (0..m).filter(|k| used >> k & 1 == 1).filter_map(with);
            let choice = choices.chain(best[used].map(|so_far| plus(so_far, stays(i)))).max();
            best[used] = choice;
        }
    }
    best.into_iter().flatten().max().unwrap_or(prices)
}

/// Every matching that has no forbidden pair, with its score.
pub fn all(problem: &Compatibility) -> Vec<(Matching, Total)> {
    let (n, m) = problem.node.dim();
    let mut maps: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for i in 0..n {
        let choices = |map: &Vec<Option<usize>>| {
            let is_taken = |k: usize| problem.constraint == Constraint::OneToOne && map.contains(&Some(k));
            let open = (0..m).filter(|&k| problem.node[[i, k]] > f64::NEG_INFINITY && !is_taken(k)).map(Some);
            open.chain([None]).map(|k| [map.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        maps = maps.iter().flat_map(choices).collect();
    }
    let matching = |map| Matching::new(map, m, problem.constraint).expect("right nodes in range, each once");
    maps.into_iter().map(matching).map(|y| (y.clone(), total(problem, &y))).collect()
}
