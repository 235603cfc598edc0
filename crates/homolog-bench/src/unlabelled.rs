//! What unlabelled specimens bring: an atlas of a few labelled specimens, the same with twenty unlabelled ones, and one of all of them labelled,
//! each naming other specimens.
//!
//! Labelled specimens are complete. If points are missing, they are missing in the unlabelled ones and in those to be named, with as many outliers
//! anywhere in the bounding box. Values are F1 of the names; if nothing is missing, that is 1 - error.

use crate::asked::{Asked, pose};
use crate::never_worse::{Data, all_data, standard_error};
use anyhow::Result;
use homolog::Control;
use homolog::atlas::{AtlasSettings, Pose, Presence, Search};
use homolog::experiment::{Spoiling, Tally, Truth, Unnamed, names_of, split};
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::model::Model;
use homolog::specimens::unlabelled::fit;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An atlas of few labelled specimens, with and without unlabelled ones
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// Numbers of labelled specimens [default: 1, 2, 3 and 5]
    #[arg(long, value_delimiter = ',')]
    labelled: Vec<usize>,
    /// Number of unlabelled specimens
    #[arg(long, default_value_t = 20)]
    unlabelled: usize,
    /// Random draws [default: 10]
    #[arg(long)]
    draws: Option<u64>,
}

#[derive(Serialize)]
struct Cell {
    data: String,
    labelled: usize,
    unlabelled: usize,
    missing: f64,
    pose: &'static str,
    draw: u64,
    before: f64,
    after: f64,
    all_labelled: f64,
    /// Whether the gate let the unlabelled teach.
    kept: bool,
}

/// Sets on which unlabelled specimens with points missing have to bring half of what labels would.
const BARRED: [&str; 2] = ["lizards", "mosquitoes"];

/// The most specimens that are named.
const TESTS: usize = 20;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut sets = arguments.asked.sets(all_data)?;
    for data in &mut sets {
        data.name = data.name.split(',').next().unwrap_or_default().to_string();
    }
    // Those of many points come last, in case a quick run does not get to them.
    sets.sort_by_key(|data| data.specimens.iter().map(|graph| graph.node_count()).max());
    let counts = if arguments.asked.quick { vec![1, 3] } else { vec![1, 2, 3, 5] };
    let counts = if arguments.labelled.is_empty() { counts } else { arguments.labelled.clone() };
    let draws = arguments.draws.unwrap_or(if arguments.asked.quick { 1 } else { 10 });
    println!(
        "{:14} {:>8} {:>7} {:9} {:>7} {:>7} {:>7} {:>12}  kept",
        "data", "labelled", "missing", "pose", "before", "after", "s.e.", "all labelled"
    );
    let (mut cells, budget): (Vec<Cell>, _) = (Vec::new(), arguments.asked.budget());
    arguments.asked.write(&cells)?;
    let mut rows: Vec<(&Data, f64, bool, usize)> = sets
        .iter()
        .flat_map(|data| [0.0, 0.2].map(|missing| (data, missing)))
        .flat_map(|(data, missing)| [false, true].map(|turned| (data, missing, turned)))
        .flat_map(|(data, missing, turned)| counts.iter().map(move |&labelled| (data, missing, turned, labelled)))
        .collect();
    if arguments.asked.quick {
        // What there is a bar for comes first.
        rows.sort_by_key(|(data, missing, ..)| !(BARRED.contains(&data.name.as_str()) && *missing > 0.0));
    }
    for (data, missing, turned, labelled) in rows {
        let at = cells.len();
        for draw in (0..draws).take_while(|_| !budget.is_spent()) {
            let given = Given { labelled, unlabelled: arguments.unlabelled, draw };
            let spoiling = Spoiling { turned, missing, ..Spoiling::default() };
            let cell = cell(&data.name, &data.specimens, spoiling, given, &budget.control());
            cells.extend(budget.in_time(cell)?.flatten());
            arguments.asked.write(&cells)?;
        }
        print(&cells[at..]);
    }
    summary(&cells);
    Ok(())
}

#[derive(Clone, Copy)]
struct Given {
    labelled: usize,
    unlabelled: usize,
    draw: u64,
}

/// `None` if no specimens would be left to name.
fn cell(
    name: &str,
    specimens: &[Arc<Graph>],
    spoiling: Spoiling,
    given: Given,
    control: &Control,
) -> Result<Option<Cell>> {
    let Given { labelled, unlabelled, draw } = given;
    // Small sets give half of what is left.
    let unlabelled = unlabelled.min(specimens.len().saturating_sub(labelled) / 2);
    let (drawn, tests) = split(specimens.len(), labelled + unlabelled, TESTS, draw);
    if unlabelled == 0 || tests.is_empty() {
        return Ok(None);
    }
    let spoil = |s: usize, missing: f64| -> Result<Unnamed> {
        Ok(Spoiling { missing, ..spoiling }.spoil(&specimens[s], 1000 * draw + s as u64)?)
    };
    let all = drawn.iter().enumerate().map(|(at, &s)| spoil(s, if at < labelled { 0.0 } else { spoiling.missing }));
    let all = all.collect::<Result<Vec<_>>>()?;
    let with_names = |one: &Unnamed| -> Result<Graph> {
        let name = |truth: &Truth| if let Truth::Name(name) = truth { name.clone() } else { String::new() };
        Ok(one.graph.clone().with_names(one.truth.iter().map(name).collect())?)
    };
    let named = all.iter().map(with_names).collect::<Result<Vec<_>>>()?;
    let named: Vec<&Graph> = named.iter().collect();
    let bare: Vec<&Graph> = all[labelled..].iter().map(|one| &one.graph).collect();
    let tests = tests.into_iter().map(|s| spoil(s, spoiling.missing)).collect::<Result<Vec<_>>>()?;
    let searched = if spoiling.turned { Pose::Rotated } else { Pose::AsGiven };
    let presence = (spoiling.missing > 0.0).then_some(Presence::Partial);
    let settings = AtlasSettings { pose: Some(searched), presence, ..AtlasSettings::default() };
    let (before, _) = Model::fit_atlas(&named[..labelled], &settings, control)?;
    let (after, _, brought) = fit(&named[..labelled], &bare, &settings, control)?;
    let (complete, _) = Model::fit_atlas(&named, &settings, control)?;
    Ok(Some(Cell {
        data: name.to_string(),
        labelled,
        unlabelled,
        missing: spoiling.missing,
        pose: pose(spoiling.turned),
        draw,
        before: f1(&before, &tests)?,
        after: f1(&after, &tests)?,
        all_labelled: f1(&complete, &tests)?,
        kept: brought.kept,
    }))
}

/// F1 of the names that a model gives.
fn f1(model: &Model, tests: &[Unnamed]) -> Result<f64> {
    let Some(atlas) = model.atlas() else { return Ok(0.0) };
    let one = |test: &Unnamed| -> Result<Tally> {
        let naming = atlas.name_with(&test.graph, &model.weights(), Search::Quick, &mut Workspace::new())?;
        Ok(Tally::of(&names_of(atlas, &naming), &test.truth))
    };
    let tallies = tests.par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(tallies.into_iter().fold(Tally::default(), Tally::plus).f1())
}

fn mean(cells: &[&Cell], value: fn(&Cell) -> f64) -> f64 {
    cells.iter().map(|cell| value(cell)).sum::<f64>() / cells.len().max(1) as f64
}

fn error(cells: &[&Cell]) -> f64 {
    standard_error(&cells.iter().map(|cell| cell.after - cell.before).collect::<Vec<_>>())
}

/// A row for the cells that differ only in their draw.
fn print(cells: &[Cell]) {
    let Some(first) = cells.first() else { return };
    let all: Vec<&Cell> = cells.iter().collect();
    println!(
        "{:14} {:8} {:7} {:9} {:7.3} {:7.3} {:7.3} {:12.3}  {} of {}",
        first.data,
        first.labelled,
        first.missing,
        first.pose,
        mean(&all, |cell| cell.before),
        mean(&all, |cell| cell.after),
        error(&all),
        mean(&all, |cell| cell.all_labelled),
        cells.iter().filter(|cell| cell.kept).count(),
        cells.len()
    );
}

fn summary(cells: &[Cell]) {
    let mut rows: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    let mut missing: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        let key = format!("{} {} {} {}", cell.data, cell.labelled, cell.missing, cell.pose);
        rows.entry(key).or_default().push(cell);
        if cell.missing > 0.0 {
            missing.entry(&cell.data).or_default().push(cell);
        }
    }
    let worse = rows.iter().filter(|(_, cells)| {
        let difference = mean(cells, |cell| cell.after - cell.before);
        difference < -1e-9 && difference < -2.0 * error(cells)
    });
    let worse: Vec<&String> = worse.map(|(key, _)| key).collect();
    let judged = rows.values().filter(|cells| cells.len() > 1).count();
    println!("{} rows, clearly worse in {} of the {judged} with more than one draw", rows.len(), worse.len());
    worse.iter().for_each(|key| println!("  clearly worse: {key}"));
    for (data, cells) in missing {
        let (gain, all) =
            (mean(&cells, |cell| cell.after - cell.before), mean(&cells, |cell| cell.all_labelled - cell.before));
        if all > 0.01 {
            println!("{data}, points missing: {:.0} % of the way to all labelled", 100.0 * gain / all);
        }
    }
}
