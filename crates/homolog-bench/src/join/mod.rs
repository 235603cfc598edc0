//! Specimens without labels joined, beside pairwise matching: every set, as given and turned, complete and with points removed and as many
//! outliers added anywhere in the bounding box.
//!
//! Both are measured on the same random pairs of specimens: F1 of the matched pairs of points against those that have the same true name.
//! If nothing is missing that is 1 - error. `naming` is the F1 of the names when each group is called by the true name it has most of. Peers
//! (`peers`) join up to eight specimens of up to 60 points by the same pairwise scores.

mod peers;

use crate::asked::{Asked, pose};
use crate::clock::Budget;
use crate::never_worse::{Data, all_data, standard_error};
use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::atlas::{AtlasSettings, Pose};
use homolog::experiment::{Spoiling, Truth, Unnamed, split};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Linear, Matcher};
use homolog::specimens::join::{join, match_pairs};
use ndarray::Array2;
use peers::{Matches, Peers};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Specimens without labels joined, beside pairwise matching
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// Numbers of specimens [default: 8, 16 and 40]
    #[arg(long, value_delimiter = ',')]
    specimens: Vec<usize>,
    /// Shares of points missing, and as many outliers [default: 0, .2 and .3]
    #[arg(long, value_delimiter = ',')]
    missing: Vec<f64>,
    /// Random draws [default: 5]
    #[arg(long)]
    draws: Option<u64>,
    /// Without the Python peers
    #[arg(long)]
    alone: bool,
    /// The Python that has the peers [default: an environment made for benchmarks]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

/// One draw of specimens.
#[derive(Serialize)]
struct Cell {
    data: String,
    specimens: usize,
    missing: f64,
    pose: &'static str,
    draw: u64,
    /// F1 of pairwise matches.
    pairwise: f64,
    /// F1 of matches by name.
    joint: f64,
    /// Of other programs, on the same pairwise scores.
    peers: BTreeMap<String, f64>,
    /// Processor time of joining.
    seconds: f64,
    /// F1 of the names.
    naming: f64,
    /// The mean confidence of the names.
    confidence: Option<f64>,
    /// The share of triangles of pairwise matches that close; of matches by name all do.
    consistency: f64,
}

/// Pairs on which both are measured.
const PAIRS: usize = 100;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut sets = arguments.asked.sets(all_data)?;
    for data in &mut sets {
        data.spoiled = false;
        data.name = data.name.split(',').next().unwrap_or_default().to_string();
    }
    // Those of many points come last, in case a quick run does not get to them.
    sets.sort_by_key(|data| data.specimens.iter().map(|graph| graph.node_count()).max());
    let (counts, shares) =
        if arguments.asked.quick { (vec![8], vec![0.0, 0.2]) } else { (vec![8, 16, 40], vec![0.0, 0.2, 0.3]) };
    let counts = if arguments.specimens.is_empty() { counts } else { arguments.specimens.clone() };
    let shares = if arguments.missing.is_empty() { shares } else { arguments.missing.clone() };
    let draws = arguments.draws.unwrap_or(if arguments.asked.quick { 1 } else { 5 });
    let mut peers = match (!arguments.alone).then(|| Peers::start(arguments.python.as_ref())) {
        Some(Err(error)) => {
            eprintln!("without peers: {error:#}");
            None
        }
        peers => peers.transpose()?,
    };
    println!(
        "{:14} {:>9} {:>7} {:9} {:>8} {:>7} {:>7} {:>7} {:>8} {:>8}  peers",
        "data", "specimens", "missing", "pose", "pairwise", "joint", "s.e.", "naming", "closed", "seconds"
    );
    let (mut cells, budget): (Vec<Cell>, _) = (Vec::new(), arguments.asked.budget());
    arguments.asked.write(&cells)?;
    for data in &sets {
        if data.specimens.len() < 2 {
            eprintln!("{}: nothing to join, {} specimens", data.name, data.specimens.len());
            continue;
        }
        let mut done = BTreeSet::new();
        for count in counts.iter().map(|&count| count.min(data.specimens.len())) {
            if !done.insert(count) {
                continue;
            }
            for &missing in &shares {
                for turned in [false, true] {
                    let at = cells.len();
                    for draw in (0..draws).take_while(|_| !budget.is_spent()) {
                        let spoiling = Spoiling { turned, missing, ..Spoiling::default() };
                        let cell = cell(data, count, (spoiling, draw), peers.as_mut(), &budget);
                        cells.extend(budget.in_time(cell)?);
                        arguments.asked.write(&cells)?;
                    }
                    print(&cells[at..]);
                }
            }
        }
    }
    summary(&cells);
    Ok(())
}

fn cell(
    data: &Data,
    count: usize,
    (spoiling, draw): (Spoiling, u64),
    peers: Option<&mut Peers>,
    budget: &Budget,
) -> Result<Cell> {
    let control = budget.control();
    let specimens = &data.specimens;
    let (drawn, _) = split(specimens.len(), count, 0, draw);
    let spoil = |(at, &s): (usize, &usize)| Ok(spoiling.spoil(&specimens[s], 1000 * draw + at as u64)?);
    let unnamed = drawn.iter().enumerate().map(spoil).collect::<Result<Vec<Unnamed>>>()?;
    let graphs: Vec<&Graph> = unnamed.iter().map(|one| &one.graph).collect();
    let searched = if spoiling.turned { Pose::Rotated } else { Pose::AsGiven };
    let settings = AtlasSettings { pose: Some(searched), ..AtlasSettings::default() };
    let start = ProcessTime::now();
    let joined = join(&graphs, &settings, None, &control)?;
    let seconds = start.elapsed().as_secs_f64();
    let labels: Vec<Vec<Option<usize>>> =
        joined.points.iter().map(|points| points.iter().map(|point| point.map(|point| point.name)).collect()).collect();
    let pairs = pairs(count, draw);
    let matched = match_pairs(&graphs, &settings, &pairs, &control)?;
    let (mut pairwise, mut joint) = (Counts::default(), Counts::default());
    let truth_of = |[i, j]: [usize; 2]| [&unnamed[i].truth[..], &unnamed[j].truth[..]];
    for (&[i, j], one) in pairs.iter().zip(&matched) {
        let truth = truth_of([i, j]);
        pairwise.add(one.matching.pairs(), truth);
        let by_name = |point: usize| {
            let name = labels[i][point]?;
            Some((point, labels[j].iter().position(|other| *other == Some(name))?))
        };
        joint.add((0..labels[i].len()).filter_map(by_name), truth);
    }
    let nodes: Vec<usize> = graphs.iter().map(|graph| graph.node_count()).collect();
    let answers = peers.map_or_else(|| Ok(BTreeMap::new()), |peers| peers.join(&nodes, &pairs, &matched, budget))?;
    let f1_of = |answer: Vec<Matches>| {
        let mut counts = Counts::default();
        pairs.iter().zip(answer).for_each(|(&pair, answer)| counts.add(answer.into_iter(), truth_of(pair)));
        counts.f1()
    };
    Ok(Cell {
        data: data.name.clone(),
        specimens: count,
        missing: spoiling.missing,
        pose: pose(spoiling.turned),
        draw,
        pairwise: pairwise.f1(),
        joint: joint.f1(),
        peers: answers.into_iter().map(|(name, answer)| (name, f1_of(answer))).collect(),
        seconds,
        naming: naming(&labels, &unnamed)?,
        confidence: joined.report.confidence,
        consistency: joined.report.pairwise_consistency,
    })
}

/// Random pairs of different specimens, each once; all if there are few.
fn pairs(count: usize, seed: u64) -> Vec<[usize; 2]> {
    let all: Vec<[usize; 2]> = (0..count).flat_map(|i| (i + 1..count).map(move |j| [i, j])).collect();
    if all.len() <= PAIRS {
        return all;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = BTreeSet::new();
    while chosen.len() < PAIRS {
        chosen.insert(random.random_range(0..all.len()));
    }
    chosen.into_iter().map(|at| all[at]).collect()
}

/// Matched pairs of points, against the truth. A point whose name is not known counts neither way.
#[derive(Default)]
struct Counts {
    true_pairs: usize,
    given: usize,
    correct: usize,
}

impl Counts {
    fn add(&mut self, matched: impl Iterator<Item = (usize, usize)>, [left, right]: [&[Truth]; 2]) {
        let is_named = |truth: &&Truth| matches!(truth, Truth::Name(_));
        self.true_pairs += left.iter().filter(is_named).filter(|truth| right.contains(truth)).count();
        for (from, to) in matched {
            let (from, to) = (&left[from], &right[to]);
            if *from != Truth::Unknown && *to != Truth::Unknown {
                self.given += 1;
                self.correct += usize::from(is_named(&from) && from == to);
            }
        }
    }

    fn f1(&self) -> f64 {
        2.0 * self.correct as f64 / (self.true_pairs + self.given).max(1) as f64
    }
}

/// F1 of names, each group called by one true name.
fn naming(labels: &[Vec<Option<usize>>], unnamed: &[Unnamed]) -> Result<f64> {
    let all = || labels.iter().zip(unnamed).flat_map(|(labels, one)| labels.iter().zip(&one.truth));
    let mut names: Vec<&str> =
        all().filter_map(|(_, truth)| if let Truth::Name(name) = truth { Some(name.as_str()) } else { None }).collect();
    let named = names.len();
    names.sort_unstable();
    names.dedup();
    let groups = all().filter_map(|(label, _)| *label).max().map_or(0, |most| most + 1);
    let mut votes = Array2::zeros((groups, names.len()));
    let mut given = 0;
    for (label, truth) in all() {
        let Some(group) = label else { continue };
        given += usize::from(*truth != Truth::Unknown);
        if let Truth::Name(name) = truth
            && let Ok(name) = names.binary_search(&name.as_str())
        {
            votes[[*group, name]] += 1.0;
        }
    }
    if groups == 0 {
        return Ok(0.0);
    }
    let right = Linear::default().solve(&Compatibility::linear(votes))?.score;
    Ok(2.0 * right / (given + named).max(1) as f64)
}

/// The mean difference to pairwise matching, and its standard error.
fn difference(cells: &[&Cell]) -> (f64, f64) {
    let differences: Vec<f64> = cells.iter().map(|cell| cell.joint - cell.pairwise).collect();
    (differences.iter().sum::<f64>() / differences.len().max(1) as f64, standard_error(&differences))
}

/// A row for the cells that differ only in their draw.
fn print(cells: &[Cell]) {
    let Some(first) = cells.first() else { return };
    let mean = |value: fn(&Cell) -> f64| cells.iter().map(value).sum::<f64>() / cells.len() as f64;
    let peers = first.peers.keys().map(|name| {
        let all = cells.iter().filter_map(|cell| cell.peers.get(name));
        format!("{name} {:.3}", all.clone().sum::<f64>() / all.count() as f64)
    });
    println!(
        "{:14} {:9} {:7} {:9} {:8.3} {:7.3} {:7.3} {:7.3} {:8.3} {:8.2}  {}",
        first.data,
        first.specimens,
        first.missing,
        first.pose,
        mean(|cell| cell.pairwise),
        mean(|cell| cell.joint),
        difference(&cells.iter().collect::<Vec<_>>()).1,
        mean(|cell| cell.naming),
        mean(|cell| cell.consistency),
        mean(|cell| cell.seconds),
        peers.collect::<Vec<_>>().join(", ")
    );
}

fn summary(cells: &[Cell]) {
    let mut rows: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        let key = format!("{} {} {} {}", cell.data, cell.specimens, cell.missing, cell.pose);
        rows.entry(key).or_default().push(cell);
    }
    let worse: Vec<&String> = rows
        .iter()
        .filter(|(_, cells)| {
            let (mean, error) = difference(cells);
            mean < -2.0 * error && mean < -1e-9
        })
        .map(|(key, _)| key)
        .collect();
    let (mean, error) = difference(&cells.iter().collect::<Vec<_>>());
    let judged = rows.values().filter(|cells| cells.len() > 1).count();
    println!(
        "{} rows: joint minus pairwise {mean:+.3} (s.e. {error:.3}); clearly worse in {} of the {judged} with more than one draw",
        rows.len(),
        worse.len()
    );
    worse.iter().for_each(|key| println!("  clearly worse: {key}"));
}
