//! The paper's house experiment: for each baseline, the test loss of matching without learning and with it, linear and with edges, λ
//! chosen by validation; how often the search with edges was proven; and how long the proofs of the test problems take.

use crate::clock::{Stopwatch, median};
use crate::{house, soft_house};
use anyhow::{Context, Result};
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::{Evaluation, Example, Trainer, TrainingSet, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{Exact, GraduatedAssignment, Linear, Matcher, Method, Status, Workspace};
use homolog::optimize::Bundle;
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
    /// λ to choose from when learning with edges.
    #[arg(long, value_delimiter = ',', default_value = "1,0.1,0.01")]
    lambdas: Vec<f64>,
    /// Learn from the first N training pairs only.
    #[arg(long)]
    train_pairs: Option<usize>,
    /// The search with edges in training, as JSON, e.g. '{"name":"exact","max_iterations":300}'.
    #[arg(long, default_value = r#"{"name":"frank-wolfe"}"#)]
    oracle: String,
    /// The search with edges in validation and test, as JSON.
    #[arg(long, default_value = r#"{"name":"exact","max_iterations":2000}"#)]
    matcher: String,
    /// Further evaluations with edges before training believes that it converged.
    #[arg(long, default_value_t = 5)]
    second_looks: usize,
    /// Leave out the methods without edges.
    #[arg(long)]
    only_edges: bool,
    /// Linear assignment with soft shape contexts and nothing else.
    #[arg(long)]
    only_soft: bool,
}

/// λ for linear assignment, as in the authors' experiments.
const LINEAR_LAMBDAS: [f64; 6] = [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let landmarks = house::landmarks(&arguments.data.clone().unwrap_or_else(house::default_directory))?;
    let frames =
        landmarks.into_iter().map(|points| Ok(Arc::new(Graph::from_points(points)?))).collect::<Result<Vec<_>>>()?;
    if arguments.only_soft {
        return arguments.baselines.iter().try_for_each(|&baseline| soft_house::report(&frames, baseline));
    }
    let linear = Sequence::new(FeatureMap::paper_linear(), frames.clone())?;
    let edges = Sequence::new(FeatureMap::paper_quadratic(), frames)?;
    for &baseline in &arguments.baselines {
        if !arguments.only_edges {
            report_linear(&linear, baseline, arguments)?;
            let graduated = GraduatedAssignment::default();
            let [.., test] = splits(&edges, baseline, None)?;
            let unlearned = evaluate(&test, &graduated, &[1.0; 61], &Control::new())?;
            println!("{baseline:3} edges, graduated assignment, unlearned: {}", summary(&unlearned));
        }
        report_edges(&edges, baseline, arguments)?;
    }
    Ok(())
}

fn report_linear(sequence: &Sequence, baseline: usize, arguments: &Arguments) -> Result<()> {
    let [train, validation, test] = splits(sequence, baseline, arguments.train_pairs)?;
    let matcher = Linear::default();
    let bundle = Bundle { gap_tolerance: 1e-4, ..Bundle::default() };
    let trainer = Trainer { bundle, lambdas: LINEAR_LAMBDAS.to_vec(), ..Trainer::paper() };
    let set = TrainingSet::of_examples(sequence.features().clone(), train, validation);
    let chosen = trainer.train(&set, &Control::new())?;
    println!("{baseline:3} linear, unlearned: {}", summary(&evaluate(&test, &matcher, &[1.0; 60], &Control::new())?));
    println!(
        "{baseline:3} linear, learned:   {}  λ {}",
        summary(&evaluate(&test, &matcher, chosen.weights(), &Control::new())?),
        chosen.best().lambda().unwrap_or(f64::NAN)
    );
    Ok(())
}

fn report_edges(sequence: &Sequence, baseline: usize, arguments: &Arguments) -> Result<()> {
    let [train, validation, test] = splits(sequence, baseline, arguments.train_pairs)?;
    let oracle: Method = serde_json::from_str(&arguments.oracle).context("--oracle")?;
    let matcher: Method = serde_json::from_str(&arguments.matcher).context("--matcher")?;
    let bundle = Bundle { max_iterations: 100, second_looks: arguments.second_looks, ..Bundle::default() };
    let trainer = Trainer {
        bundle,
        lambdas: arguments.lambdas.clone(),
        search: Some(oracle),
        matcher: Some(matcher.clone()),
        ..Trainer::paper()
    };
    let set = TrainingSet::of_examples(sequence.features().clone(), train, validation);
    let start = Stopwatch::start();
    let chosen = trainer.train(&set, &Control::new())?;
    let seconds = start.stop().wall;
    let fit = chosen.fit().context("a fit")?;
    let validated = chosen.candidates.iter().filter_map(|candidate| Some(candidate.validation.as_ref()?.mean()));
    let validated: Vec<String> = validated.map(|loss| format!("{loss:.4}")).collect();
    println!(
        "{baseline:3} edges, learned:    {}  λ {}  {} evaluations, {seconds:.1} s for all λ, {} of {} proven in training; validation {}",
        summary(&evaluate(&test, matcher.matcher(), &fit.minimum.weights, &Control::new())?),
        fit.minimum.lambda,
        fit.minimum.history.len(),
        fit.proven,
        fit.solves,
        validated.join(" ")
    );
    report_proofs(baseline, &test, &fit.minimum.weights)
}

/// The test problems under the learned weights, by the exact solver.
fn report_proofs(baseline: usize, test: &[Example], weights: &[f64]) -> Result<()> {
    let mut seconds = Vec::new();
    let mut proven = 0;
    let mut right = 0;
    for example in test {
        let problem = example.instance().compatibility(weights)?;
        let start = Stopwatch::start();
        let solution = Exact::default().solve(&problem, &mut Workspace::new())?;
        seconds.push(start.stop().cpu);
        proven += usize::from(solution.status == Status::Optimal);
        right += usize::from(solution.matching == *example.truth());
    }
    let slowest = seconds.iter().copied().fold(0.0, f64::max);
    let median = median(&seconds).unwrap_or(0.0);
    println!(
        "{baseline:3} edges, exact:      {proven} of {} proven, {right} wholly right; median {median:.3} s, slowest {slowest:.3} s",
        test.len()
    );
    Ok(())
}

fn summary(evaluation: &Evaluation) -> String {
    format!("{:.3} ({:.3})", evaluation.mean(), evaluation.standard_error())
}

fn splits(sequence: &Sequence, baseline: usize, train_pairs: Option<usize>) -> Result<[Vec<Example>; 3]> {
    let mut sets = Vec::new();
    for split in Split::ALL {
        sets.push(sequence.examples(baseline, split, &Hamming::default())?);
    }
    let [mut train, validation, test] = <[_; 3]>::try_from(sets).ok().context("three splits")?;
    train.truncate(train_pairs.unwrap_or(usize::MAX));
    Ok([train, validation, test])
}
