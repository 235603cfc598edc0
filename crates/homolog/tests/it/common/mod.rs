//! Random matching problems of every kind, and what the tests share.

pub mod house;

use homolog::matching::{Compatibility, Constraint, EdgeList, EdgeTerm, Method};
use ndarray::{Array1, Array2};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::sync::Arc;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The independent solver of linear problems.
pub fn hungarian() -> Method {
    Method::all().into_iter().find(|method| method.name() == "hungarian").expect("a method of that name")
}

/// How the node scores are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values {
    Uniform,
    /// Small integers: many ties.
    Ties,
    /// Magnitudes from 1e-9 to 1e9 in one problem.
    Mixed,
    AllEqual,
}

/// What a random problem may contain.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub values: Values,
    /// Share of forbidden cells.
    pub forbidden: f64,
    /// Share of left nodes with a price for staying unmatched; the others must be matched. `None`: no prices at all.
    pub priced: Option<f64>,
    pub constraint: Constraint,
    pub edges: bool,
}

pub fn random_kind(rng: &mut impl Rng) -> Kind {
    let values = [Values::Uniform, Values::Ties, Values::Mixed, Values::AllEqual][rng.random_range(0..4)];
    let forbidden = [0.0, 0.0, 0.3, 0.7, 1.0][rng.random_range(0..5)];
    let priced = [None, None, Some(1.0), Some(0.5)][rng.random_range(0..4)];
    Kind { values, forbidden, priced, constraint: Constraint::OneToOne, edges: false }
}

fn value(rng: &mut impl Rng, values: Values) -> f64 {
    match values {
        Values::Uniform => rng.random_range(-1.0..1.0),
        Values::Ties => f64::from(rng.random_range(-2..3)),
        Values::Mixed => rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-9..10)),
        Values::AllEqual => 0.25,
    }
}

pub fn random_problem(rng: &mut impl Rng, n: usize, m: usize, kind: Kind) -> Compatibility {
    let mut cell = || {
        if rng.random_bool(kind.forbidden) { f64::NEG_INFINITY } else { value(rng, kind.values) }
    };
    let node = Array2::from_shape_simple_fn((n, m), &mut cell);
    let unmatched = kind.priced.map(|share| {
        Array1::from_shape_simple_fn(n, || {
            if rng.random_bool(share) { value(rng, kind.values) } else { f64::NEG_INFINITY }
        })
    });
    let mut problem = Compatibility::linear(node).with_constraint(kind.constraint);
    problem.unmatched = unmatched;
    problem.edge = kind.edges.then(|| random_edges(rng, n, m, kind.values));
    problem
}

/// A factored and a listed part over random directed edges.
pub fn random_edges(rng: &mut impl Rng, n: usize, m: usize, values: Values) -> EdgeTerm {
    let list = |rng: &mut ChaCha8Rng, count: usize| {
        let mut ends = Vec::new();
        for i in 0..count {
            for j in 0..count {
                if i != j && rng.random_bool(0.5) {
                    ends.push([i, j]);
                }
            }
        }
        Arc::new(EdgeList::new(count, ends).unwrap())
    };
    let mut own = ChaCha8Rng::seed_from_u64(rng.random());
    let (left, right) = (list(&mut own, n), list(&mut own, m));
    let factors = own.random_range(0..3);
    let a = Array2::from_shape_simple_fn((left.len(), factors), || value(&mut own, values));
    let b = Array2::from_shape_simple_fn((right.len(), factors), || own.random_range(-1.0..1.0));
    let mut entries = Vec::new();
    for e in 0..left.len() {
        for f in 0..right.len() {
            if own.random_bool(0.3) {
                entries.push((e, f, value(&mut own, values)));
            }
        }
    }
    EdgeTerm::factored(left, right, a, b).unwrap().with_listed(entries).unwrap()
}

/// The sum of the largest magnitudes that a matching could add up, against which rounding is measured.
pub fn magnitude(problem: &Compatibility) -> f64 {
    let mut total = 0.0;
    for i in 0..problem.left_count() {
        let row = problem.node.row(i);
        let scores = row.iter().copied().chain(problem.unmatched.iter().map(|scores| scores[i]));
        total += scores.filter(|score| score.is_finite()).fold(0.0, |top: f64, score| top.max(score.abs()));
    }
    if let Some(edge) = &problem.edge {
        for e in 0..edge.left_edges().len() {
            for f in 0..edge.right_edges().len() {
                total += edge.value(e, f).abs();
            }
        }
    }
    total
}

/// Equal up to the rounding of a few dozen additions.
pub fn close(a: f64, b: f64, magnitude: f64) -> bool {
    a == b || (a - b).abs() <= 64.0 * f64::EPSILON * magnitude
}

/// How many of the left nodes that must be matched are matched.
pub fn placed(problem: &Compatibility, matching: &homolog::matching::Matching) -> usize {
    let forced = |i: usize| problem.unmatched_score(i) == f64::NEG_INFINITY;
    matching.pairs().filter(|&(i, _)| forced(i)).count()
}

/// The folder of real data, if it is present; prints a line if it is not.
pub fn data_folder(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("HOMOLOG_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let folder = root.join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no data at {}", folder.display());
    None
}
