//! The paper's sequence experiment: for a baseline B all pairs of frames (i, i + B), a third each to learn from, to choose λ by and to
//! test on; five methods and one more.

use crate::inputs::Input;
use crate::progress::Watch;
use anyhow::{Result, bail};
use clap::ValueEnum;
use homolog::Control;
use homolog::data::Split;
use homolog::data::dataset::NamedGraph;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::learn::{Evaluation, Example, Fit, Oracle, Trainer, TrainingSet, evaluate, predict};
use homolog::loss::Hamming;
use homolog::matching::{Bistochastic, Exact, GraduatedAssignment, Linear, LpRelaxation, Matcher, Method};
use homolog::optimize::Bundle;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// λ to choose from, as in the authors' experiments.
const LINEAR_LAMBDAS: [f64; 6] = [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4];
/// With edges; smaller ones were never chosen.
const EDGE_LAMBDAS: [f64; 3] = [1.0, 0.1, 0.01];

/// So many validation pairs tell enough where it has to be quick.
const QUICK_VALIDATION: usize = 7;

/// A way to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approach {
    /// Linear assignment, all weights one
    Linear,
    /// Linear assignment, learned
    LinearLearned,
    /// Graduated assignment with edges, all weights one
    Quadratic,
    /// With edges, learned by search, matched by the exact solver
    QuadraticLearned,
    /// With edges, learned against the relaxation: what is learned is proven
    QuadraticCertified,
    /// Bistochastic normalisation and graduated assignment, all weights one
    Bistochastic,
    /// With edges, all weights one, matched by the exact solver: quadratic-learned without learning
    QuadraticExact,
    /// Linear assignment with soft bins, before learning (not the paper's)
    Soft,
    /// Linear assignment with soft bins, learned where that helps
    SoftLearned,
}

impl Approach {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::LinearLearned => "linear-learned",
            Self::Quadratic => "quadratic",
            Self::QuadraticLearned => "quadratic-learned",
            Self::QuadraticCertified => "quadratic-certified",
            Self::Bistochastic => "bistochastic",
            Self::QuadraticExact => "quadratic-exact",
            Self::Soft => "soft",
            Self::SoftLearned => "soft-learned",
        }
    }

    /// What it does, for somebody who has not heard of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Linear => "each point is matched by what lies around it, every feature counts the same",
            Self::LinearLearned => "the same, how much each feature counts is learned",
            Self::Quadratic => "neighbours should stay neighbours too (edges), every feature counts the same",
            Self::QuadraticLearned => "the same with edges, how much each feature counts is learned",
            Self::QuadraticCertified => "the same with edges, learned with a proof of how good the weights are",
            Self::Bistochastic => "with edges, scores normalised before matching, nothing learned",
            Self::QuadraticExact => "with edges, every feature counts the same, the best match is proven",
            Self::Soft => "what lies around each point, seen less sharply, every feature counts the same",
            Self::SoftLearned => "the same, how much each feature counts is learned where that helps",
        }
    }

    pub(crate) fn is_learned(self) -> bool {
        matches!(self, Self::LinearLearned | Self::QuadraticLearned | Self::QuadraticCertified | Self::SoftLearned)
    }

    fn has_edges(self) -> bool {
        !matches!(self, Self::Linear | Self::LinearLearned) && !self.is_soft()
    }

    fn is_soft(self) -> bool {
        matches!(self, Self::Soft | Self::SoftLearned)
    }

    /// How it predicts.
    pub(crate) fn method(self) -> Method {
        match self {
            Self::Linear | Self::LinearLearned | Self::Soft | Self::SoftLearned => Method::Linear(Linear::default()),
            Self::Quadratic => Method::GraduatedAssignment(GraduatedAssignment::default()),
            Self::Bistochastic => Method::Bistochastic(Bistochastic::default()),
            Self::QuadraticLearned | Self::QuadraticCertified | Self::QuadraticExact => Method::Exact(Exact::default()),
        }
    }

    /// The same without learning: the same features, matched in the same way.
    pub(crate) fn unlearned(self) -> Self {
        match self {
            Self::LinearLearned => Self::Linear,
            Self::SoftLearned => Self::Soft,
            Self::QuadraticLearned | Self::QuadraticCertified => Self::QuadraticExact,
            unlearned => unlearned,
        }
    }
}

/// A sequence of frames, described for matching with and without edges.
pub(crate) struct Frames {
    pub(crate) linear: Sequence,
    pub(crate) edges: Sequence,
    soft: Sequence,
}

impl Frames {
    /// All graphs of an input, which must have the same landmarks, in any order.
    pub(crate) fn new(input: &Input) -> Result<Self> {
        let frames = input.data.graphs();
        let Some(first) = frames.first() else { bail!("there are no frames") };
        let graphs = frames.iter().map(|named| ordered(named, first)).collect::<Result<Vec<_>>>()?;
        // Units of the soft features: what is usual between neighbouring frames that are learned from.
        let starts = (0..graphs.len().saturating_sub(1)).filter(|&frame| Split::of_frame(frame) == Split::Train);
        let pair = |frame: usize| Pair::new(Arc::clone(&graphs[frame]), Arc::clone(&graphs[frame + 1]));
        let pairs: Vec<Pair> = starts.map(pair).collect();
        let soft = FeatureMap::named("linear", graphs.iter().map(|graph| &**graph))?.with_spread_of(&pairs)?;
        Ok(Self {
            linear: Sequence::new(FeatureMap::paper_linear(), graphs.clone())?,
            edges: Sequence::new(FeatureMap::paper_quadratic(), graphs.clone())?,
            soft: Sequence::new(soft, graphs)?,
        })
    }

    pub(crate) fn sequence(&self, approach: Approach) -> &Sequence {
        match approach {
            approach if approach.is_soft() => &self.soft,
            approach if approach.has_edges() => &self.edges,
            _ => &self.linear,
        }
    }
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
    pub(crate) fn method(&self, approach: Approach) -> Option<&MethodResult> {
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

/// Examples of the three splits.
struct Splits {
    train: Vec<Example>,
    validation: Vec<Example>,
    test: Vec<Example>,
}

impl Splits {
    fn new(sequence: &Sequence, baseline: usize, options: &Options) -> Result<Self> {
        let loss = Hamming::default();
        let mut train = sequence.examples(baseline, Split::Train, &loss)?;
        train.truncate(options.train_pairs.unwrap_or(usize::MAX));
        let mut validation = sequence.examples(baseline, Split::Validation, &loss)?;
        if options.quick {
            validation.truncate(QUICK_VALIDATION);
        }
        let test = sequence.examples(baseline, Split::Test, &loss)?;
        if train.is_empty() || validation.is_empty() || test.is_empty() {
            bail!(
                "baseline {baseline}: {} frames do not give a pair each to learn from, to choose λ by and to test on",
                sequence.frame_count()
            );
        }
        Ok(Self { train, validation, test })
    }
}

/// Runs the methods at one baseline.
pub(crate) fn run_baseline(
    frames: &Frames,
    baseline: usize,
    approaches: &[Approach],
    options: &Options,
    watch: &Watch,
) -> Result<BaselineResult> {
    let counts = Splits::new(&frames.linear, baseline, options)?;
    let mut methods = Vec::new();
    for (at, &approach) in approaches.iter().enumerate() {
        methods.push(run_method(frames, baseline, approach, options, &watch.part(at, approaches.len()))?);
        if watch.is_over() {
            bail!("stopped");
        }
    }
    let (train, validation, test) = (counts.train.len(), counts.validation.len(), counts.test.len());
    Ok(BaselineResult { baseline, train, validation, test, methods })
}

/// Runs one method at one baseline.
pub(crate) fn run_method(
    frames: &Frames,
    baseline: usize,
    approach: Approach,
    options: &Options,
    watch: &Watch,
) -> Result<MethodResult> {
    let sequence = frames.sequence(approach);
    let Splits { train, validation, test } = Splits::new(sequence, baseline, options)?;
    let method = approach.method();
    let matcher = method.matcher();
    let about = format!("{baseline} apart, {}: ", approach.name());
    watch.say(format!("{about}features"));
    let start = Instant::now();
    let (weights, fit, validation_loss) = if approach.is_learned() {
        let mut trainer = trainer(approach, options.quick);
        if !options.lambdas.is_empty() {
            trainer.lambdas.clone_from(&options.lambdas);
        }
        let set = TrainingSet::of_examples(sequence.features().clone(), train, validation);
        let trained = trainer.train(&set, &watch.control(&about))?;
        let loss = trained.after().map_or(f64::NAN, Evaluation::mean);
        (trained.weights().to_vec(), trained.fit().cloned(), loss)
    } else {
        let weights = sequence.features().unlearned_weights();
        let loss = evaluate(&validation, matcher, &weights, &watch.control(&about))?.mean();
        (weights, None, loss)
    };
    let train_seconds = if approach.is_learned() { start.elapsed().as_secs_f64() } else { 0.0 };
    watch.say(format!("{about}test"));
    let (tested, seconds) = timed_evaluation(&test, matcher, &weights, &watch.control(&about))?;
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

/// The paper's learning, for each approach.
fn trainer(approach: Approach, quick: bool) -> Trainer {
    let paper = Trainer { matcher: Some(approach.method()), ..Trainer::paper() };
    match approach {
        Approach::SoftLearned => Trainer { matcher: Some(approach.method()), ..Trainer::default() },
        // The looser default gap leaves the weights a node or two apart.
        Approach::LinearLearned => Trainer {
            bundle: Bundle { gap_tolerance: 1e-4, ..Bundle::default() },
            lambdas: LINEAR_LAMBDAS.to_vec(),
            ..paper
        },
        Approach::QuadraticCertified => Trainer {
            bundle: Bundle { gap_tolerance: 1e-2, ..Bundle::default() },
            oracle: Oracle::Relaxation(LpRelaxation::default()),
            lambdas: EDGE_LAMBDAS.to_vec(),
            ..paper
        },
        _ if quick => Trainer {
            bundle: Bundle { max_iterations: 100, second_looks: 0, ..Bundle::default() },
            lambdas: vec![1.0],
            ..paper
        },
        _ => Trainer {
            bundle: Bundle { max_iterations: 100, ..Bundle::default() },
            lambdas: EDGE_LAMBDAS.to_vec(),
            ..paper
        },
    }
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
        for learned in [Approach::LinearLearned, Approach::QuadraticLearned, Approach::SoftLearned] {
            assert_eq!(learned.method().name(), learned.unlearned().method().name());
        }
    }
}
