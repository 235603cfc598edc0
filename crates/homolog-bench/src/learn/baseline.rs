//! The paper's training problem at baseline 90: seven pairs of 30 landmarks and 60 features.

use super::frames::Frames;
use super::measure::{Outcome, Timing, fit, pool, time};
use crate::linear::duration;
use anyhow::Result;
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::LINEAR_LAMBDAS;
use homolog::learn::{Example, MaxMargin, evaluate};
use homolog::loss::Hamming;
use homolog::matching::Linear;
use serde::Serialize;

const BASELINE: usize = 90;
const LAMBDA: f64 = 0.01;

/// One λ on one thread.
#[derive(Debug, Serialize)]
pub(crate) struct Single {
    data: &'static str,
    pairs: usize,
    outcome: Outcome,
    training_loss: f64,
    unlearned_loss: f64,
    /// Training alone.
    fit: Timing,
    /// Describing all frames and building the examples, then training.
    with_building: Timing,
}

pub(crate) fn single(frames: &Frames, rounds: usize) -> Result<Single> {
    let examples = examples(frames)?;
    let (trained, timings) = time(&[1], rounds, || fit(&examples, LAMBDA))?;
    let (_, with_building) = time(&[1], rounds, || fit(&self::examples(frames)?, LAMBDA))?;
    let loss =
        |weights: &[f64]| evaluate(&examples, &Linear::default(), weights, &Control::new()).map(|losses| losses.mean());
    let outcome = Outcome::of(&trained)?;
    let [fit, with_building] = [timings, with_building].map(|mut timings| timings.remove(0));
    println!("### {}, baseline {BASELINE}, λ = {LAMBDA}, one thread\n", frames.name);
    println!("| | evaluations | objective | bound | gap | processor time | wall | wall, least |");
    println!("|---|---|---|---|---|---|---|---|");
    let Outcome { evaluations, objective, bound, gap, .. } = outcome;
    for (name, timing) in [("training", &fit), ("descriptors, examples, training", &with_building)] {
        println!(
            "| {name} | {evaluations} | {objective:.5} | {bound:.5} | {gap:.1e} | {} | {} | {} |",
            duration(timing.seconds.cpu),
            duration(timing.seconds.wall),
            duration(timing.least_wall)
        );
    }
    println!();
    let (training_loss, unlearned_loss) =
        (loss(&trained.minimum.weights)?, loss(&vec![1.0; trained.minimum.weights.len()])?);
    Ok(Single { data: frames.name, pairs: examples.len(), outcome, training_loss, unlearned_loss, fit, with_building })
}

fn examples(frames: &Frames) -> Result<Vec<Example>> {
    Ok(frames.sequence()?.examples(BASELINE, Split::Train, &Hamming::default())?)
}

/// A path of λ, compared with each λ from scratch.
#[derive(Debug, Serialize)]
pub(crate) struct Path {
    data: &'static str,
    /// Along the path.
    shared: Vec<Outcome>,
    /// Each by itself.
    scratch: Vec<Outcome>,
    total_evaluations: usize,
    dearest_single: usize,
    ratio: f64,
}

pub(crate) fn path(frames: &Frames) -> Result<Path> {
    let examples = examples(frames)?;
    let learner = MaxMargin::default();
    let fits =
        pool(1)?.install(|| learner.fit_path(&LINEAR_LAMBDAS, &examples, &Linear::default(), &Control::new()))?;
    let path = fits.iter().map(Outcome::of).collect::<Result<Vec<_>>>()?;
    let scratch =
        LINEAR_LAMBDAS.iter().map(|&lambda| Outcome::of(&fit(&examples, lambda)?)).collect::<Result<Vec<_>>>()?;
    println!("### {}, baseline {BASELINE}, a path of λ\n", frames.name);
    println!("| λ | evaluations on the path | from scratch | objective | bound |\n|---|---|---|---|---|");
    for (on_path, alone) in path.iter().zip(&scratch) {
        let Outcome { lambda, evaluations, objective, bound, .. } = on_path;
        println!("| {lambda} | {evaluations} | {} | {objective:.6} | {bound:.6} |", alone.evaluations);
    }
    let sum = |outcomes: &[Outcome]| outcomes.iter().map(|outcome| outcome.evaluations).sum::<usize>();
    let (total_evaluations, all) = (sum(&path), sum(&scratch));
    let dearest_single = scratch.iter().map(|outcome| outcome.evaluations).max().unwrap_or(0);
    let ratio = total_evaluations as f64 / dearest_single as f64;
    println!("| all | {total_evaluations} | {all} | | |\n");
    println!("whole path / dearest single λ: {total_evaluations} / {dearest_single} = {ratio:.2}\n");
    Ok(Path { data: frames.name, shared: path, scratch, total_evaluations, dearest_single, ratio })
}
