//! Certified learning with edges: training against the linear relaxation on the house data, with what is proven of it; and how long a
//! relaxation takes, cold and warm, at 30 nodes and more.

use crate::clock::Stopwatch;
use crate::house;
use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use homolog::experiment::{Sequence, Split};
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::{MaxMargin, Oracle, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{Exact, LpRelaxation};
use homolog::optimize::Bundle;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder with landmarks.csv.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Baselines.
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30,40,50,60,70,80,90")]
    baselines: Vec<usize>,
    /// λ to choose from.
    #[arg(long, value_delimiter = ',', default_value = "1,0.1,0.01")]
    lambdas: Vec<f64>,
    /// Train until objective and bound are within this part of the objective.
    #[arg(long, default_value_t = 0.01)]
    gap: f64,
    /// Print every step.
    #[arg(long)]
    steps: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let landmarks = house::landmarks(&arguments.data.clone().unwrap_or_else(house::default_directory))?;
    let frames =
        landmarks.into_iter().map(|points| Ok(Arc::new(Graph::from_points(points)?))).collect::<Result<Vec<_>>>()?;
    let sequence = Sequence::new(FeatureMap::paper_quadratic(), frames)?;
    for &baseline in &arguments.baselines {
        report(&sequence, baseline, arguments)?;
    }
    Ok(())
}

fn report(sequence: &Sequence, baseline: usize, arguments: &Arguments) -> Result<()> {
    let mut sets = Vec::new();
    for split in Split::ALL {
        sets.push(sequence.examples(baseline, split, &Hamming::default())?);
    }
    let [train, validation, test] = <[_; 3]>::try_from(sets).ok().context("three splits")?;
    let learner = MaxMargin {
        bundle: Bundle { gap_tolerance: arguments.gap, ..Bundle::default() },
        oracle: Oracle::Relaxation(LpRelaxation::default()),
        ..MaxMargin::default()
    };
    let matcher = Exact { max_branches: 1, ..Exact::default() };
    let (watch, cpu) = (Stopwatch::start(), ProcessTime::now());
    let mut observe = |step: &homolog::optimize::Step| {
        if arguments.steps {
            eprintln!(
                "{:3} λ {} objective {:.6} bound {:.6} gap {:.3}  {:.1} s",
                step.iteration,
                step.lambda,
                step.objective,
                step.bound,
                step.gap,
                cpu.elapsed().as_secs_f64()
            );
        }
        ControlFlow::Continue(())
    };
    let chosen = learner.fit_validated(&arguments.lambdas, &train, &validation, &matcher, &mut observe)?;
    let (wall, cpu) = (watch.stop().wall, cpu.elapsed().as_secs_f64());
    let tested = evaluate(&test, &matcher, &chosen.fit.weights)?;
    for (fit, validated) in chosen.fits.iter().zip(&chosen.validation) {
        eprintln!(
            "{baseline} λ {}: {} evaluations, validation {:.4}. {}",
            fit.lambda,
            fit.history.len(),
            validated.mean(),
            fit.note()
        );
    }
    println!(
        "{baseline:3} test {:.4} ({:.4}) λ {} risk {:.5} gap {:.4} tight {:?} proven at root {} of {}; {wall:.1} s wall, {cpu:.1} s cpu",
        tested.mean(),
        tested.standard_error(),
        chosen.fit.lambda,
        chosen.fit.risk,
        chosen.fit.gap,
        chosen.fit.relaxed,
        tested.proven,
        test.len()
    );
    Ok(())
}
