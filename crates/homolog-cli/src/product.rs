//! What `homolog train` makes of the pairs of the sequence experiment, with its own defaults, and what `homolog match` does without a model.

use crate::inputs::Input;
use crate::progress::Watch;
use crate::study::MethodResult;
use anyhow::Result;
use homolog::Control;
use homolog::data::Split;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::experiment::Frames;
use homolog::features::{Common, FeatureMap, FeatureSet};
use homolog::graph::Pair;
use homolog::learn::{Evaluation, default_matcher};
use homolog::loss::LossKind;
use homolog::matching::{Matching, Workspace};
use homolog::model::Model;
use homolog::task::{Settings, Task};
use std::sync::Arc;
use std::time::Instant;

/// What the model of `homolog train` is called in tables and charts, and what is without one.
pub(crate) const TRAINED: &str = "homolog train";
pub(crate) const UNTRAINED: &str = "no model";

/// Before and after learning.
pub(crate) struct Product {
    pub(crate) before: MethodResult,
    pub(crate) after: MethodResult,
    pub(crate) model: Model,
    pub(crate) untrained: Model,
    /// What was chosen, in a sentence.
    pub(crate) sentence: String,
}

/// Learns from the first labelled pairs at a baseline, and counts on the test pairs.
pub(crate) fn run(input: &Input, frames: &Frames, baseline: usize, labelled: usize, watch: &Watch) -> Result<Product> {
    let graphs = input.data.graphs();
    let pairs = |split: Split| frames.linear.frames_of(baseline, split).map(move |frame| (frame, frame + baseline));
    let training = data_of(graphs, pairs(Split::Train).take(labelled))?;
    let test = data_of(graphs, pairs(Split::Test))?;
    let about = format!("homolog train, {labelled} pairs: ");
    watch.say(about.clone());
    let control = watch.control(&about);
    let start = Instant::now();
    let outcome = Task { data: training, settings: Settings::default() }.run(&control, None)?;
    let train_seconds = start.elapsed().as_secs_f64();
    let features = FeatureSet::Linear.features_for(&Common::of(test.graphs().iter().map(|one| &*one.graph))?)?;
    let matcher = default_matcher(&features);
    let untrained = Model::unlearned(features, matcher)?;
    let after = MethodResult { train_seconds, ..tested(TRAINED, &outcome.model, &test, &control)? };
    let before = tested(UNTRAINED, &untrained, &test, &control)?;
    let sentence = outcome.report.sentence.clone();
    Ok(Product { before, after, model: outcome.model, untrained, sentence })
}

/// Pairs of frames, whose points are in the same order, as a data set of these frames alone.
fn data_of(graphs: &[NamedGraph], pairs: impl Iterator<Item = (usize, usize)>) -> Result<DataSet> {
    let mut used: Vec<usize> = Vec::new();
    let mut number = |frame: usize| {
        used.iter().position(|&other| other == frame).unwrap_or_else(|| {
            used.push(frame);
            used.len() - 1
        })
    };
    let count = graphs.first().map_or(0, |one| one.graph.node_count());
    let pair =
        |(left, right): (usize, usize)| LabelledPair::new(number(left), number(right), Some(Matching::identity(count)));
    let pairs = pairs.map(pair).collect();
    Ok(DataSet::new(used.into_iter().map(|frame| graphs[frame].clone()).collect(), pairs)?)
}

fn tested(name: &'static str, model: &Model, test: &DataSet, control: &Control) -> Result<MethodResult> {
    let (pairs, _) = test.labelled(|_| true);
    let examples = pairs.examples(&FeatureMap::nothing(), LossKind::default().loss())?;
    let (mut answers, mut seconds) = (Vec::new(), Vec::new());
    for pair in test.pairs() {
        let [left, right] = [pair.left, pair.right].map(|at| Arc::clone(&test.graphs()[at].graph));
        let start = Instant::now();
        let solution = model.solve_with(&Pair::new(left, right), &mut Workspace::with_control(control))?;
        seconds.push(start.elapsed().as_secs_f64());
        answers.push(Some((solution.matching, solution.status)));
    }
    let tested = Evaluation::of(&examples, &answers, |_| true);
    let match_seconds = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    Ok(MethodResult {
        name,
        lambda: None,
        test_loss: tested.mean(),
        test_stderr: tested.standard_error(),
        test_interval: tested.interval(),
        wrong: tested.matches.missed(),
        of: tested.matches.there_are,
        validation_loss: f64::NAN,
        train_seconds: 0.0,
        match_seconds,
        match_seconds_spread: 0.0,
        certified: None,
        gap: None,
        proven: tested.proven,
        training_loss_bound: None,
        fit: None,
    })
}
