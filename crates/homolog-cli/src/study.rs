//! The paper's sequence experiment as the program runs it: the library's trials, timed, with progress and Ctrl-C.

use crate::inputs::Input;
use crate::progress::Watch;
use anyhow::{Result, bail};
use homolog::data::dataset::NamedGraph;
use homolog::experiment::{Frames, SequenceMethod, Trial, Weights};
use homolog::graph::Graph;
use homolog::learn::{Evaluation, Example, Fit, predict};
use homolog::matching::Matcher;
use homolog::{Control, Error};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// All graphs of an input, which must have the same landmarks, in any order.
pub(crate) fn frames(input: &Input) -> Result<Frames> {
    let frames = input.data.graphs();
    let Some(first) = frames.first() else { bail!("the data have no frames") };
    Ok(Frames::new(frames.iter().map(|named| ordered(named, first)).collect::<Result<Vec<_>>>()?)?)
}

/// A frame with its landmarks in the order of another.
fn ordered(frame: &NamedGraph, like: &NamedGraph) -> Result<Arc<Graph>> {
    let (graph, first) = (&frame.graph, &like.graph);
    if graph.names() == first.names() && graph.node_count() == first.node_count() {
        return Ok(Arc::clone(graph));
    }
    let places = |names: &[String]| names.iter().map(|name| graph.find_node(name)).collect::<Option<Vec<usize>>>();
    match first.names().and_then(places) {
        Some(order) if graph.names().is_some() && order.len() == graph.node_count() => {
            Ok(Arc::new(graph.renumbered(&order)?))
        }
        _ => bail!(
            "frame {:?} does not have the same landmarks as frame {:?}, so they are not a sequence",
            frame.id,
            like.id
        ),
    }
}

/// What a method does at a baseline.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MethodResult {
    pub(crate) name: &'static str,
    pub(crate) lambda: Option<f64>,
    pub(crate) test_loss: f64,
    pub(crate) test_stderr: f64,
    /// The 95 % interval where all test pairs came out alike: see [`Evaluation::interval`].
    pub(crate) test_interval: Option<[f64; 2]>,
    /// Landmarks that were matched wrongly in the test pairs.
    pub(crate) wrong: usize,
    /// Landmarks in the test pairs.
    pub(crate) of: usize,
    pub(crate) validation_loss: f64,
    pub(crate) train_seconds: f64,
    /// For one pair, features computed.
    pub(crate) match_seconds: f64,
    /// The standard deviation of that.
    pub(crate) match_seconds_spread: f64,
    pub(crate) certified: Option<bool>,
    pub(crate) gap: Option<f64>,
    /// How many of the test answers were proven optimal.
    pub(crate) proven: usize,
    /// No more than this is the training loss, if that is proven.
    pub(crate) training_loss_bound: Option<f64>,
    #[serde(skip)]
    pub(crate) fit: Option<Fit>,
}

/// What all methods do at a baseline.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct BaselineResult {
    pub(crate) baseline: usize,
    pub(crate) train: usize,
    pub(crate) validation: usize,
    pub(crate) test: usize,
    pub(crate) methods: Vec<MethodResult>,
}

impl BaselineResult {
    /// What a method did, if it was run.
    pub(crate) fn method(&self, approach: SequenceMethod) -> Option<&MethodResult> {
        self.methods.iter().find(|method| method.name == approach.name())
    }
}

/// Which pairs to learn from and what to try.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// Learn from the first so many training pairs only.
    pub(crate) train_pairs: Option<usize>,
    /// λ in place of the default ones.
    pub(crate) lambdas: Vec<f64>,
    /// Learn with edges in a fraction of the time, at one λ, with the first of what the search finds.
    pub(crate) quick: bool,
}

impl Options {
    fn trial(&self, frames: &Frames, baseline: usize, method: SequenceMethod) -> Result<Trial> {
        let trial = match Trial::new(frames, baseline, method, self.train_pairs) {
            Err(Error::NoExamples) => bail!(
                "baseline {baseline}: {} frames are too few: training, the choice of λ and the test need a pair each",
                frames.linear.frame_count()
            ),
            trial => trial?,
        };
        let mut trial = if self.quick { trial.quick() } else { trial };
        if !self.lambdas.is_empty() {
            trial.trainer.lambdas.clone_from(&self.lambdas);
        }
        Ok(trial)
    }
}

/// Runs the methods at one baseline.
pub(crate) fn run_baseline(
    frames: &Frames,
    baseline: usize,
    approaches: &[SequenceMethod],
    options: &Options,
    watch: &Watch,
) -> Result<BaselineResult> {
    let [train, validation, test] =
        options.trial(frames, baseline, SequenceMethod::Linear)?.splits.map(|split| split.len());
    let mut methods = Vec::new();
    for (at, &approach) in approaches.iter().enumerate() {
        methods.push(run_method(frames, baseline, approach, options, &watch.part(at, approaches.len()))?);
        if watch.is_over() {
            bail!("stopped");
        }
    }
    Ok(BaselineResult { baseline, train, validation, test, methods })
}

/// Runs one method at one baseline.
pub(crate) fn run_method(
    frames: &Frames,
    baseline: usize,
    approach: SequenceMethod,
    options: &Options,
    watch: &Watch,
) -> Result<MethodResult> {
    let trial = options.trial(frames, baseline, approach)?;
    let about = format!("{baseline} apart, {}: ", approach.name());
    watch.say(format!("{about}features"));
    let start = Instant::now();
    let Weights { weights, fit, validation_loss } = trial.weights(&watch.control(&about))?;
    let train_seconds = if approach.is_learned() { start.elapsed().as_secs_f64() } else { 0.0 };
    watch.say(format!("{about}test"));
    let matcher = approach.matcher();
    let (tested, seconds) = timed_evaluation(&trial.splits[2], matcher.matcher(), &weights, &watch.control(&about))?;
    let proof = fit.as_ref().and_then(|fit| fit.relaxed.as_ref());
    Ok(MethodResult {
        name: approach.name(),
        lambda: fit.as_ref().map(|fit| fit.minimum.lambda),
        test_loss: tested.mean(),
        test_stderr: tested.standard_error(),
        test_interval: tested.interval(),
        wrong: tested.matches.missed(),
        of: tested.matches.there_are,
        validation_loss,
        train_seconds,
        match_seconds: seconds.mean(),
        // The standard error of a mean of n, times √n.
        match_seconds_spread: seconds.standard_error() * (seconds.losses.len() as f64).sqrt(),
        certified: fit.as_ref().map(|fit| fit.certified),
        gap: fit.as_ref().map(|fit| fit.minimum.gap),
        proven: tested.proven,
        training_loss_bound: proof.and_then(|proof| proof.loss),
        fit,
    })
}

/// Losses and times of one pair after the other.
fn timed_evaluation(
    examples: &[Example],
    matcher: &dyn Matcher,
    weights: &[f64],
    control: &Control,
) -> Result<(Evaluation, Evaluation)> {
    let (mut answers, mut seconds) = (Vec::new(), Evaluation::default());
    for (at, example) in examples.iter().enumerate() {
        let start = Instant::now();
        answers.extend(predict(std::slice::from_ref(example), matcher, weights, &control.part(at, examples.len()))?);
        seconds.losses.push(start.elapsed().as_secs_f64());
    }
    Ok((Evaluation::of(examples, &answers, |_| true), seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_may_come_in_any_order_but_must_be_the_same() {
        let graph = |names: [&str; 2], points: [[f64; 2]; 2]| {
            let graph = Graph::from_points(ndarray::arr2(&points)).unwrap();
            let graph = graph.with_names(names.map(String::from).to_vec()).unwrap();
            NamedGraph { id: names[0].to_string(), graph: Arc::new(graph), image: None }
        };
        let first = graph(["a", "b"], [[0.0, 1.0], [2.0, 3.0]]);
        let swapped = ordered(&graph(["b", "a"], [[5.0, 6.0], [7.0, 8.0]]), &first).unwrap();
        assert_eq!(swapped.names(), first.graph.names());
        assert_eq!(swapped.points().unwrap(), ndarray::arr2(&[[7.0, 8.0], [5.0, 6.0]]));
        assert!(ordered(&graph(["b", "c"], [[5.0, 6.0], [7.0, 8.0]]), &first).is_err());
    }
}
