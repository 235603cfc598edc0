//! The house experiment with soft shape contexts and linear assignment: test loss before and after learning, learned from all training
//! pairs and from one, and how long a match takes.

use crate::clock::Stopwatch;
use anyhow::{Context, Result};
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::learn::{Example, Trainer, TrainingSet, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{Linear, Matcher, Workspace};
use std::sync::Arc;

/// One row of numbers for a baseline.
pub(crate) fn report(frames: &[Arc<Graph>], baseline: usize) -> Result<()> {
    // The first of every three left frames is for training.
    let last = frames.len().saturating_sub(baseline);
    let training =
        (0..last).step_by(3).map(|at| Pair::new(Arc::clone(&frames[at]), Arc::clone(&frames[at + baseline])));
    let map = FeatureMap::named("linear", frames.iter().map(|frame| &**frame))?;
    let map = map.with_spread_of(&training.collect::<Vec<_>>())?;
    let sequence = Sequence::new(map.clone(), frames.to_vec())?;
    let examples = |split| sequence.examples(baseline, split, &Hamming::default());
    let [train, validation, test] = Split::ALL.map(examples);
    let (train, validation, test) = (train?, validation?, test?);
    let unlearned = map.unlearned_weights();
    let loss = |weights: &[f64]| evaluate(&test, &Linear::default(), weights, &Control::new());
    let learn = |train: Vec<Example>, validation: Vec<Example>| {
        let set = TrainingSet::of_examples(map.clone(), train, validation);
        Trainer::default().train(&set, &Control::new())
    };
    let one = train.first().context("a training pair")?.clone();
    let (from_all, from_one) = (learn(train, validation)?, learn(vec![one], Vec::new())?);
    let mut work = Workspace::new();
    let start = Stopwatch::start();
    for example in &test {
        let problem = example.instance().compatibility(from_all.weights())?;
        Linear::default().solve(&problem, &mut work)?;
    }
    let microseconds = 1e6 * start.stop().cpu / test.len().max(1) as f64;
    println!(
        "{baseline:3} linear, soft: unlearned {:.3}, learned {:.3} ({}), from one pair {:.3} ({}); {microseconds:.0} µs a match",
        loss(&unlearned)?.mean(),
        loss(from_all.weights())?.mean(),
        from_all.best().learner.name(),
        loss(from_one.weights())?.mean(),
        from_one.best().learner.name()
    );
    Ok(())
}
