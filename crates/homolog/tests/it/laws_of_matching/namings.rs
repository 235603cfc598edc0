//! What an atlas calls proven, against all namings in its pose: 3 to 5 landmarks, specimens that are complete, lack landmarks or have extra
//! points, in 2 and 3 dimensions, every pose, with the likelihood's weights and with others.
//!
//! Enumeration adds up the scores, which are rounded to multiples of 2^-40, without rounding further.

use super::fixed;
use homolog::atlas::{Atlas, AtlasSettings, Naming, Pose, Presence, Search};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, EdgeTerm, Status, Workspace};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// What a proof may hide: the tolerance of [`Status::Optimal`], 1e-12 of a score that could matter, and what rounding to 2^-40 hides.
const TOLERANCE: f64 = 1e-9;

/// An atlas, a specimen to be named and the weights of the evidence.
struct Case {
    atlas: Atlas,
    specimen: Graph,
    weights: Vec<f64>,
}

fn case(number: u64) -> homolog::Result<Case> {
    let rng = &mut ChaCha8Rng::seed_from_u64(number ^ 0xA71A_5000);
    let (count, dimension) = (rng.random_range(3..6), rng.random_range(2..4));
    let shape = Array2::from_shape_simple_fn((count, dimension), || rng.random_range(-1.0..1.0));
    let noise = [0.02, 0.2, 0.6][rng.random_range(0..3)];
    let mut points = || shape.mapv(|x| x + noise * rng.random_range(-1.0..1.0));
    let names: Vec<String> = (0..count).map(|at| format!("p{at}")).collect();
    let learned: Vec<Graph> =
        (0..4).map(|_| Graph::from_points(points())?.with_names(names.clone())).collect::<homolog::Result<_>>()?;
    let mut rows: Vec<Vec<f64>> = points().rows().into_iter().map(|row| row.to_vec()).collect();
    let pose = [Pose::AsGiven, Pose::Tilted, Pose::Rotated, Pose::Any][rng.random_range(0..4)];
    let presence = [Presence::Auto, Presence::Complete, Presence::Partial][rng.random_range(0..3)];
    if rng.random_bool(0.3) {
        rows.remove(rng.random_range(0..count));
    }
    if rng.random_bool(0.3) {
        rows.push((0..dimension).map(|_| rng.random_range(-1.5..1.5)).collect());
    }
    let found = Array2::from_shape_fn((rows.len(), dimension), |(point, axis)| rows[point][axis]);
    let settings = AtlasSettings {
        pose: Some(pose),
        presence: Some(presence),
        prior: rng.random_bool(0.5).then_some(2.0),
        plain: true,
        ..AtlasSettings::default()
    };
    let atlas = Atlas::learn(&learned.iter().collect::<Vec<_>>(), &settings)?;
    let mut weights = atlas.start_weights();
    if rng.random_bool(0.3) {
        weights.iter_mut().for_each(|weight| *weight *= rng.random_range(0.1..3.0));
    }
    Ok(Case { atlas, specimen: Graph::from_points(found)?, weights })
}

/// The problem that a naming answers, with scores rounded so that sums are exact.
fn problem(case: &Case, naming: &Naming) -> homolog::Result<Compatibility> {
    let instance = case.atlas.instance_as(&case.specimen, &naming.frame, naming.presence)?;
    let given = instance.compatibility(&case.weights)?;
    let mut problem = Compatibility::linear(given.node.mapv(fixed::rounded));
    problem.unmatched = given.unmatched.as_ref().map(|prices: &Array1<f64>| prices.mapv(fixed::rounded));
    if naming.presence == Presence::Complete {
        problem.unmatched = None;
    }
    if let Some(edge) = &given.edge {
        let [left, right] = [edge.left_edges(), edge.right_edges()].map(|edges| Arc::new(edges.clone()));
        let all = (0..left.len()).flat_map(|e| (0..right.len()).map(move |f| (e, f)));
        let entries = all.map(|(e, f)| (e, f, fixed::rounded(edge.value(e, f)))).collect();
        problem.edge = Some(EdgeTerm::listed(left, right, entries)?);
    }
    Ok(problem)
}

/// A naming that is called proven is the best in its pose, and no naming exceeds the bound. Whether it is called so.
pub(super) fn check(number: u64, work: &mut Workspace) -> Result<bool, String> {
    let failed = |error: homolog::Error| error.to_string();
    let case = case(number).map_err(failed)?;
    let naming = case.atlas.name_with(&case.specimen, &case.weights, Search::Proof, work).map_err(failed)?;
    let problem = problem(&case, &naming).map_err(failed)?;
    let best = fixed::all(&problem).into_iter().map(|(_, total)| total).max().unwrap_or((0, 0));
    let own = fixed::total(&problem, &naming.matching);
    let behind = fixed::value(best.1 - own.1);
    let slack = TOLERANCE * (1.0 + super::terms(&problem, &naming.matching).iter().map(|term| term.abs()).sum::<f64>());
    let fail = |what: &str| Err(format!("{what}, {behind:e} behind {best:?}\n{naming:?}\n{problem:?}"));
    if own.0 != best.0 {
        return fail("not feasible");
    }
    if naming.status == Status::Optimal && behind > slack {
        return fail("called proven");
    }
    if naming.bound < fixed::value(best.1) - slack {
        return fail("the bound is false");
    }
    Ok(naming.status == Status::Optimal)
}
