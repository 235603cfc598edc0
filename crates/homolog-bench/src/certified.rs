//! Certified learning with edges: the paper's house experiment, trained against the linear relaxation: test loss, what is proven, and the
//! time it takes.

use crate::house;
use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::experiment::{SequenceMethod, Trial};
use homolog::learn::{MaxMargin, Oracle, Trainer, TrainingSet, evaluate};
use homolog::matching::{Exact, LpRelaxation, Method};
use homolog::optimize::{Bundle, Minimum};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Arguments of `homolog-bench certified`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder with landmarks.csv.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Baselines of the house experiment.
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30,40,50,60,70,80,90")]
    baselines: Vec<usize>,
    /// λ to choose from.
    #[arg(long, value_delimiter = ',', default_value = "1,0.1,0.01")]
    lambdas: Vec<f64>,
    /// Train until objective and bound are within this part of the objective.
    #[arg(long, default_value_t = 0.01)]
    gap: f64,
    /// Print every step of training to stderr.
    #[arg(long)]
    steps: bool,
}

impl Arguments {
    /// Training against the relaxation.
    fn learner(&self) -> MaxMargin {
        MaxMargin {
            bundle: Bundle { lambda: 1.0, gap_tolerance: self.gap, ..Bundle::default() },
            oracle: Oracle::Relaxation(LpRelaxation::default()),
            ..MaxMargin::default()
        }
    }
}

/// The house frames at a baseline.
fn trial(arguments: &Arguments, baseline: usize) -> Result<Trial> {
    let frames = house::frames(arguments.data.as_deref())?;
    Ok(Trial::new(&frames, baseline, SequenceMethod::QuadraticCertified, None)?)
}

const HEAD: &str = "\
| baseline | test loss | λ | objective | proven above | gap | training loss at most | tight in training | test problems proven at the root | evaluations | wall | processor |
| -------: | --------: | -: | --------: | -----------: | --: | --------------------: | ----------------: | -------------------------------: | ----------: | ---: | --------: |";

/// Prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!("## House, trained against the relaxation on {} threads\n\n{HEAD}", rayon::current_num_threads());
    for &baseline in &arguments.baselines {
        let Trial { features, splits: [train, validation, test], .. } = trial(arguments, baseline)?;
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        // (λ, wall, processor) at the end of each λ.
        let ends: Arc<Mutex<Vec<(String, f64, f64)>>> = Arc::default();
        let (steps, seen) = (arguments.steps, Arc::clone(&ends));
        let control = Control::new().observed_by(move |step| {
            let now = (step.stage.to_string(), wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
            if let (true, Some(objective), Some(bound)) = (steps, step.value, step.bound) {
                eprintln!("{:3} {}: {bound:.6} to {objective:.6}; {:.1} s, {:.1} s", step.done, now.0, now.1, now.2);
            }
            if let Ok(mut ends) = seen.lock()
                && step.value.is_some()
            {
                ends.retain(|end| end.0 != now.0);
                ends.push(now);
            }
        });
        let MaxMargin { bundle, oracle, .. } = arguments.learner();
        let exact = Exact::default();
        let matcher = Some(Method::Exact(exact.clone()));
        let trainer = Trainer { bundle, oracle, matcher, lambdas: arguments.lambdas.clone(), ..Trainer::paper() };
        let set = TrainingSet::of_examples(features, train.clone(), validation);
        let trained = trainer.train(&set, &control)?;
        let chosen = trained.fit().context("a fit")?;
        let ends = ends.lock().map(|ends| ends.clone()).unwrap_or_default();
        let tested = evaluate(&test, &exact, &chosen.minimum.weights, &Control::new())?;
        let root = Exact { max_branches: 1, ..Exact::default() };
        let at_root = evaluate(&test, &root, &chosen.minimum.weights, &Control::new())?.proven;
        let Minimum { lambda, objective, bound, gap, risk, .. } = &chosen.minimum;
        let tight = chosen.relaxed.and_then(|proof| proof.tight).unwrap_or(0);
        let fits = trained.candidates.iter().filter_map(|candidate| candidate.fit.as_ref());
        let evaluations: usize = fits.clone().map(|fit| fit.minimum.history.len()).sum();
        let (_, wall, cpu) = ends.last().cloned().unwrap_or_default();
        println!(
            "| {baseline} | {:.3} ({:.3}) | {lambda} | {objective:.5} | {bound:.5} | {:.2} % | {risk:.5} | {tight} of {} | {at_root} of {} | {evaluations} | {wall:.1} s | {cpu:.1} s |",
            tested.mean(),
            tested.standard_error(),
            100.0 * gap,
            train.len(),
            test.len()
        );
        let mut before = (0.0, 0.0);
        let validation = trained.candidates.iter().filter_map(|candidate| candidate.validation.as_ref());
        for ((fit, losses), end) in fits.zip(validation).zip(&ends) {
            let seconds = (end.1 - before.0, end.2 - before.1);
            let (count, loss) = (fit.minimum.history.len(), losses.mean());
            eprintln!(
                "λ {}, {count} evaluations, {:.1} s ({:.1} s), validation {loss:.4}. {}",
                fit.minimum.lambda,
                seconds.0,
                seconds.1,
                fit.note()
            );
            before = (end.1, end.2);
        }
    }
    println!();
    Ok(())
}
