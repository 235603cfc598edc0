//! Specimens with missing and foreign points named by an atlas of complete ones, with the program's defaults: F1 beside that of naming all as
//! complete and all as partial, and how far the confidences are from the share of right names.
//!
//! Beside that (`fit`): the share of specimens that are said to fit badly, of kinds that no atlas fits and of kinds that it does.
//!
//! The expected calibration error is Σ_b (names in b / names) · |mean confidence - share right| over ten equal bins of confidence.

use super::fit::{self, Fit};
use super::sets::{Set, sets, turned};
use crate::asked::{Asked, pose};
use crate::clock::Budget;
use anyhow::Result;
use homolog::Control;
use homolog::atlas::{AtlasSettings, Presence, Search};
use homolog::experiment::{Spoiling, Tally, Truth, names_of, split};
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::model::Model;
use rayon::prelude::*;
use serde::Serialize;

/// Naming with missing and foreign points: presence decided for each specimen beside both forced, and calibration
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// How many specimens the atlas is learned from
    #[arg(long, value_delimiter = ',', default_value = "10")]
    specimens: Vec<usize>,
    /// How often specimens are drawn at random
    #[arg(long, default_value_t = 2)]
    draws: u64,
    /// The most specimens that are named in each draw
    #[arg(long, default_value_t = 20)]
    tests: usize,
}

/// One condition.
#[derive(Serialize)]
struct Cell {
    data: String,
    specimens: usize,
    missing: f64,
    foreign: f64,
    pose: &'static str,
    f1: f64,
    f1_complete: f64,
    f1_partial: f64,
    calibration_error: f64,
    names: usize,
    /// The mean confidence, the share of right names, and the share of specimens that are said to fit badly.
    confidence: f64,
    right: f64,
    fit_badly: f64,
}

impl Cell {
    fn regret(&self) -> f64 {
        self.f1_complete.max(self.f1_partial) - self.f1
    }
}

/// What came of naming one specimen.
#[derive(Default)]
struct Outcome {
    /// By default, as complete, as partial.
    tallies: [Tally; 3],
    /// Confidence, and whether the name was right.
    calls: Vec<(f64, bool)>,
    fits_badly: bool,
}

/// A condition of the test specimens.
#[derive(Clone, Copy)]
struct Condition {
    missing: f64,
    foreign: f64,
    turned: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (shares, draws, tests) = if arguments.asked.quick {
        (&[0.0, 0.2][..], 1, 6)
    } else {
        (&[0.0, 0.1, 0.2, 0.3][..], arguments.draws, arguments.tests)
    };
    let (mut cells, mut fits, budget) = (Vec::new(), Vec::new(), arguments.asked.budget());
    arguments.asked.write_with(&cells, Fits { fit: &fits })?;
    println!(
        "data           S  pose      missing foreign   F1   complete partial  calibration  names  confidence right  fit badly"
    );
    for set in sets(&arguments.asked)? {
        for &specimens in &arguments.specimens {
            if set.specimens.len() < specimens + 2 {
                eprintln!("{}: only {} complete specimens", set.name, set.specimens.len());
                continue;
            }
            for is_turned in [false, true] {
                if budget.is_spent() {
                    continue;
                }
                let conditions: Vec<Condition> = shares
                    .iter()
                    .flat_map(|&missing| {
                        shares.iter().map(move |&foreign| Condition { missing, foreign, turned: is_turned })
                    })
                    .collect();
                let sample = Sample { set: &set, specimens, draws, tests, turned: is_turned };
                let Some((own, fit)) = budget.in_time(sample.measure(&conditions, &budget))? else { continue };
                own.iter().for_each(print);
                cells.extend(own);
                fits.extend(fit);
                arguments.asked.write_with(&cells, Fits { fit: &fits })?;
            }
        }
    }
    summary(&cells);
    fit::summary(&fits);
    Ok(())
}

/// What is written beside the cells.
#[derive(Serialize)]
struct Fits<'a> {
    fit: &'a [Fit],
}

/// Specimens to learn from and others to name.
struct Sample<'a> {
    set: &'a Set,
    specimens: usize,
    draws: u64,
    tests: usize,
    turned: bool,
}

impl Sample<'_> {
    /// All conditions, and how many specimens of each kind are said to fit badly.
    fn measure(&self, conditions: &[Condition], budget: &Budget) -> Result<(Vec<Cell>, Vec<Fit>)> {
        let &Self { set, specimens, draws, tests, turned } = self;
        let mut outcomes: Vec<Vec<Outcome>> = conditions.iter().map(|_| Vec::new()).collect();
        // A quick run has no time for fits in every pose.
        let mut fits = if turned && budget.is_limited() { vec![] } else { Fit::all(&set.name, specimens, turned) };
        for draw in 0..draws {
            let (training, test) = split(set.specimens.len(), specimens, tests, draw);
            let model = learn(set, &training, turned, &budget.control())?;
            for (condition, outcomes) in conditions.iter().zip(&mut outcomes) {
                budget.stop()?;
                let named = test.par_iter().map(|&at| name(&model, &set.specimens[at], condition, at as u64));
                outcomes.extend(named.collect::<Result<Vec<_>>>()?);
            }
            for fit in &mut fits {
                budget.stop()?;
                fit.add(&model, &test.iter().map(|&at| &*set.specimens[at]).collect::<Vec<_>>())?;
            }
        }
        let cells =
            conditions.iter().zip(&outcomes).map(|(condition, outcomes)| cell(set, specimens, condition, outcomes));
        Ok((cells.collect(), fits))
    }
}

/// The model that the program learns without options.
fn learn(set: &Set, training: &[usize], is_turned: bool, control: &Control) -> Result<Model> {
    let specimens = training.iter().map(|&at| turned(&set.specimens[at], is_turned, at as u64));
    let specimens = specimens.collect::<Result<Vec<Graph>>>()?;
    let specimens: Vec<&Graph> = specimens.iter().collect();
    Ok(Model::fit_atlas(&specimens, &AtlasSettings::default(), control)?.0)
}

fn name(model: &Model, specimen: &Graph, condition: &Condition, seed: u64) -> Result<Outcome> {
    let Condition { missing, foreign, turned } = *condition;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    let seed = 10_000 + 1000 * seed + (100.0 * missing + 10.0 * foreign).round() as u64;
    let spoiled = Spoiling { missing, foreign: Some(foreign), turned, ..Spoiling::default() }.spoil(specimen, seed)?;
    let Some(atlas) = model.atlas() else { return Ok(Outcome::default()) };
    let (weights, work) = (model.weights(), &mut Workspace::new());
    let naming = atlas.name_with(&spoiled.graph, &weights, Search::Quick, work)?;
    let mut tallies = [Tally::of(&names_of(atlas, &naming), &spoiled.truth); 3];
    // With more or fewer points than landmarks all three are the same.
    if spoiled.graph.node_count() == atlas.landmarks.len() {
        for (tally, presence) in tallies[1..].iter_mut().zip([Presence::Complete, Presence::Partial]) {
            if naming.presence != presence {
                let forced = atlas.name_as(&spoiled.graph, presence, &weights, Search::Quick, work)?;
                *tally = Tally::of(&names_of(atlas, &forced), &spoiled.truth);
            }
        }
    }
    let is_right = |call: &homolog::atlas::Call| {
        spoiled.truth[call.point] == Truth::Name(atlas.landmarks[call.landmark].name.clone())
    };
    let calls = naming.calls.iter().filter_map(|call| Some((call.confidence?, is_right(call)))).collect();
    Ok(Outcome { tallies, calls, fits_badly: naming.fits_badly() })
}

fn cell(set: &Set, specimens: usize, condition: &Condition, outcomes: &[Outcome]) -> Cell {
    let f1 = |at: usize| outcomes.iter().fold(Tally::default(), |sum, one| sum.plus(one.tallies[at])).f1();
    let calls: Vec<(f64, bool)> = outcomes.iter().flat_map(|one| one.calls.iter().copied()).collect();
    let count = calls.len().max(1) as f64;
    Cell {
        data: set.name.clone(),
        specimens,
        missing: condition.missing,
        foreign: condition.foreign,
        pose: pose(condition.turned),
        f1: f1(0),
        f1_complete: f1(1),
        f1_partial: f1(2),
        calibration_error: calibration_error(&calls),
        names: calls.len(),
        confidence: calls.iter().map(|call| call.0).sum::<f64>() / count,
        right: calls.iter().filter(|call| call.1).count() as f64 / count,
        fit_badly: outcomes.iter().filter(|one| one.fits_badly).count() as f64 / outcomes.len().max(1) as f64,
    }
}

/// Over confidences and whether they were right.
pub(crate) fn calibration_error(calls: &[(f64, bool)]) -> f64 {
    let mut bins = [(0.0, 0.0); 10];
    for &(confidence, right) in calls {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of ten")]
        let bin = &mut bins[((10.0 * confidence) as usize).min(9)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(right)));
    }
    bins.iter().map(|(confidence, right)| (confidence - right).abs()).sum::<f64>() / calls.len().max(1) as f64
}

fn print(cell: &Cell) {
    println!(
        "{:13} {:>2}  {:8}  {:>5.1} {:>7.1}   {:.3}   {:.3}   {:.3}    {:.3}     {:>6}     {:.3}   {:.3}   {:.2}",
        cell.data,
        cell.specimens,
        cell.pose,
        cell.missing,
        cell.foreign,
        cell.f1,
        cell.f1_complete,
        cell.f1_partial,
        cell.calibration_error,
        cell.names,
        cell.confidence,
        cell.right,
        cell.fit_badly
    );
}

fn summary(cells: &[Cell]) {
    let count = cells.len().max(1) as f64;
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let most = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
    let regrets = || cells.iter().map(Cell::regret).collect::<Vec<_>>();
    println!(
        "F1 below the better of both: mean {:.4}, largest {:.3}, above .04 in {} of {} cells",
        regrets().iter().sum::<f64>() / count,
        most(regrets()),
        regrets().iter().filter(|regret| **regret > 0.04).count(),
        cells.len()
    );
    let is_at = |cell: &&Cell, share: f64| (cell.missing - share).abs() < 1e-9 && (cell.foreign - share).abs() < 1e-9;
    for share in [0.0, 0.2] {
        let f1 = |of: fn(&Cell) -> f64| mean(cells.iter().filter(|cell| is_at(cell, share)).map(of).collect());
        println!(
            "F1 at {share}/{share}: {:.3}; as complete {:.3}, as partial {:.3}",
            f1(|cell| cell.f1),
            f1(|cell| cell.f1_complete),
            f1(|cell| cell.f1_partial)
        );
    }
    let errors: Vec<f64> = cells.iter().filter(|cell| cell.names >= 200).map(|cell| cell.calibration_error).collect();
    println!(
        "Calibration error in cells with 200 names: mean {:.3}, largest {:.3}, above .05 in {} of {}",
        mean(errors.clone()),
        most(errors.clone()),
        errors.iter().filter(|error| **error > 0.05).count(),
        errors.len()
    );
}
