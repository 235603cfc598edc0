//! The paper's sequence experiment: for a baseline B all pairs of frames (i, i + B), a third each to learn from, to choose λ by and to
//! test on; five methods and one more.

use crate::inputs::Input;
use crate::progress::Watch;
use anyhow::{Result, bail};
use clap::ValueEnum;
use homolog::Control;
use homolog::experiment::{Sequence, Split};
use homolog::features::FeatureMap;
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
        }
    }

    pub(crate) fn is_learned(self) -> bool {
        matches!(self, Self::LinearLearned | Self::QuadraticLearned | Self::QuadraticCertified)
    }

    fn has_edges(self) -> bool {
        !matches!(self, Self::Linear | Self::LinearLearned)
    }

    /// How it predicts.
    pub(crate) fn method(self) -> Method {
        match self {
            Self::Linear | Self::LinearLearned => Method::Linear(Linear::default()),
            Self::Quadratic => Method::GraduatedAssignment(GraduatedAssignment::default()),
            Self::Bistochastic => Method::Bistochastic(Bistochastic::default()),
            Self::QuadraticLearned | Self::QuadraticCertified => Method::Exact(Exact::default()),
        }
    }

    /// The same without learning.
    pub(crate) fn unlearned(self) -> Self {
        if self.has_edges() { Self::Quadratic } else { Self::Linear }
    }
}

/// A sequence of frames, described for matching with and without edges.
pub(crate) struct Frames {
    pub(crate) linear: Sequence,
    pub(crate) edges: Sequence,
}

impl Frames {
    /// All graphs of an input, which must have the same landmarks.
    pub(crate) fn new(input: &Input) -> Result<Self> {
        let graphs = input.data.graphs();
        let Some(first) = graphs.first() else { bail!("there are no frames") };
        for named in graphs {
            if named.graph.names() != first.graph.names() || named.graph.node_count() != first.graph.node_count() {
                bail!(
                    "frame {:?} does not have the same landmarks in the same order as frame {:?}, so they are not a sequence",
                    named.id,
                    first.id
                );
            }
        }
        let graphs: Vec<_> = graphs.iter().map(|named| Arc::clone(&named.graph)).collect();
        Ok(Self {
            linear: Sequence::new(FeatureMap::paper_linear(), graphs.clone())?,
            edges: Sequence::new(FeatureMap::paper_quadratic(), graphs)?,
        })
    }

    pub(crate) fn sequence(&self, approach: Approach) -> &Sequence {
        if approach.has_edges() { &self.edges } else { &self.linear }
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
