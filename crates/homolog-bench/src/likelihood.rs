//! How long learning by the likelihood takes: 45 pairs of ten noisy specimens of one shape, at one λ and over a path of six, from preparing the
//! changes of the truths to the last step. Processor time of the process.

use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::experiment::LINEAR_LAMBDAS;
use homolog::features::{
    Adjacency, Descriptor, Difference, DirectionForm, Directions, EdgeKind, FeatureMap, FeatureSet, Lengths,
    ShapeContext,
};
use homolog::graph::Graph;
use homolog::learn::{Example, LabelledPairs, Likelihood, TrainingSet};
use homolog::loss::LossKind;
use homolog::matching::Matching;
use homolog::optimize::{Minimum, Regularization};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Learning by the likelihood on 45 pairs of small graphs
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of points
    #[arg(long, value_delimiter = ',', default_values_t = [10, 30])]
    sizes: Vec<usize>,
    /// How far points move, over their mean distance
    #[arg(long, default_value_t = 0.25)]
    noise: f64,
}

const SPECIMENS: usize = 10;
const LAMBDA: f64 = 0.1;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!(
        "{:>6} {:>8} {:22} {:>12} {:>11} {:>10} {:>12} {:>11}",
        "points", "weights", "features", "one λ, ms", "evaluations", "objective", "path, ms", "evaluations"
    );
    for &count in &arguments.sizes {
        let pairs = pairs(count, arguments.noise)?;
        let graphs = || pairs.graphs();
        let maps =
            [("rings, six of edges", small(graphs())?), ("quadratic", FeatureSet::Quadratic.features(graphs())?)];
        for (name, map) in maps {
            let set = TrainingSet::new(&map, &LossKind::default(), &pairs, &LabelledPairs::new())?;
            let (one, one_time) = fit(&set.training, &set.unlearned, &[LAMBDA])?;
            let (path, path_time) = fit(&set.training, &set.unlearned, &LINEAR_LAMBDAS)?;
            let evaluations = |minima: &[Minimum]| {
                let last = |minimum: &Minimum| minimum.history.last().map_or(0, |step| step.iteration);
                minima.iter().map(last).sum::<usize>()
            };
            println!(
                "{count:6} {:8} {name:22} {:12.1} {:11} {:10.6} {:12.1} {:11}",
                set.unlearned.len(),
                1e3 * one_time,
                evaluations(&one),
                one.first().map_or(f64::NAN, |minimum| minimum.objective),
                1e3 * path_time,
                evaluations(&path)
            );
        }
    }
    Ok(())
}

/// Five soft rings and six features of edges: eleven weights.
fn small<'a>(graphs: impl IntoIterator<Item = &'a Graph>) -> Result<FeatureMap> {
    let mut map = FeatureSet::Quadratic.features(graphs)?;
    for feature in &mut map.node {
        feature.descriptor = Descriptor::ShapeContext(ShapeContext { angular_bins: 1, ..ShapeContext::default() });
    }
    let lengths = |difference| EdgeKind::Lengths(Lengths { difference, ..Lengths::default() });
    let directions = |form| EdgeKind::Directions(Directions { dimension: 2, form });
    map.edge = vec![
        EdgeKind::Adjacency(Adjacency {}),
        lengths(Difference::NegativeSquare),
        lengths(Difference::Decay { width: 0.15 }),
        lengths(Difference::NegativeAbsolute),
        directions(DirectionForm::Cosine),
        directions(DirectionForm::NegativeAngle),
    ];
    Ok(map)
}

/// All pairs of specimens of a random shape.
fn pairs(count: usize, noise: f64) -> Result<LabelledPairs> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let shape = Array2::from_shape_simple_fn((count, 2), || rng.random_range(-1.0..1.0));
    let mut specimens = Vec::new();
    for _ in 0..SPECIMENS {
        specimens.push(Arc::new(Graph::from_points(shape.mapv(|x| x + noise * rng.random_range(-1.0..1.0)))?));
    }
    let mut pairs = LabelledPairs::new();
    for (at, left) in specimens.iter().enumerate() {
        for right in &specimens[at + 1..] {
            pairs.add(left, right, Matching::identity(count))?;
        }
    }
    Ok(pairs)
}

fn fit(examples: &[Example], centre: &[f64], lambdas: &[f64]) -> Result<(Vec<Minimum>, f64)> {
    let start = ProcessTime::now();
    let near = Regularization { lambda: LAMBDA, centre, rules: &[] };
    let minima = Likelihood::default().fit_path(lambdas, examples, near, None, &Control::new())?;
    Ok((minima, start.elapsed().as_secs_f64()))
}
