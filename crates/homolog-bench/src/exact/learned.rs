//! Weights for the house problems: the paper's model (60 shape context weights and one for adjacency), trained against the linear
//! relaxation, so that what is said about the training is proven.

use super::Problem;
use super::problems::frames;
use crate::clock::Stopwatch;
use anyhow::Result;
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::{MaxMargin, Oracle};
use homolog::loss::Hamming;
use homolog::matching::{Exact, LpRelaxation, RightOrder};
use homolog::optimize::Bundle;
use std::path::Path;
use std::sync::Arc;

/// The regularisation at which the paper's model is known to reach a test loss of 0.
const LAMBDA: f64 = 0.1;
/// Ends when the objective is within this fraction of its bound.
const GAP: f64 = 0.01;

/// The test problems under learned weights.
pub(super) struct Learned {
    pub(super) lambda: f64,
    pub(super) problems: Vec<Problem>,
    /// How the training went.
    pub(super) remark: String,
}

/// Trains on the training pairs of a baseline and builds the test problems; the known score is that of the truth.
pub(super) fn learn(data: &Path, baseline: usize) -> Result<Learned> {
    let graphs = frames(data)?.into_iter().map(|points| Ok(Arc::new(Graph::from_points(points)?)));
    let sequence = Sequence::new(FeatureMap::paper_quadratic(), graphs.collect::<Result<_>>()?)?;
    let train = sequence.examples(baseline, Split::Train, &Hamming::default())?;
    let learner = MaxMargin {
        bundle: Bundle { lambda: LAMBDA, gap_tolerance: GAP, ..Bundle::default() },
        oracle: Oracle::Relaxation(LpRelaxation::default()),
        ..MaxMargin::default()
    };
    let start = Stopwatch::start();
    let fit = learner.fit(&train, &Exact::default(), &Control::new())?;
    let remark = format!("{} evaluations, {:.1} s. {}", fit.minimum.history.len(), start.stop().wall, fit.note());
    let problem = |frame: usize| -> Result<Problem> {
        let example = sequence.example(frame, baseline, &Hamming::default())?;
        let plain = example.instance().compatibility(&fit.minimum.weights)?;
        let mut problem = plain.clone();
        RightOrder::random(plain.right_count(), frame as u64).shuffle_into(&plain, &mut problem)?;
        let name = format!("{}-{}", frame + 1, frame + 1 + baseline);
        Ok(Problem { name, problem, known: Some(plain.score(example.truth())?) })
    };
    let problems = sequence.frames_of(baseline, Split::Test).map(problem).collect::<Result<_>>()?;
    Ok(Learned { lambda: LAMBDA, problems, remark })
}
