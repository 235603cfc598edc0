//! Trackers' association of detections in consecutive frames: what is learned from labelled pairs of frames beside scikit-learn's logistic regression with
//! scipy's assignment on the same features, and beside the best hand-tuned cost of a grid.
//!
//! A link joins detections of the same person in two frames. Right and missed ones add up to the true links; wrong ones join others. All methods learn
//! from, or are tuned on, the same pairs and are measured on the same others. "hand-tuned" is what trackers tune: IoU, cosine and a gate; "with distance"
//! the same with the distance of the centres over their height.

mod crowd;
mod hand;

use crate::clock::Stopwatch;
use crate::files::write_json;
use crate::linear::python;
use anyhow::{Context, Result, bail, ensure};
use crowd::Crowd;
use hand::Hand;
use homolog::Control;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::data::tracks::read_mot;
use homolog::graph::Pair;
use homolog::matching::{Constraint, Matching, Workspace};
use homolog::task::{Settings, Task};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

const SCRIPT: &str = include_str!("../../python/tracking_peer.py");

/// Association of detections, learned and tuned, on simulated crowds and real sequences
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Sequences as NAME.gt.txt with NAME.det.txt beside it: learned from their first half, tested on the second [default: shared/data/tracks]
    sequences: Vec<PathBuf>,
    /// Pairs of frames to learn from, of each crowd
    #[arg(long, default_value_t = 119)]
    train: usize,
    /// Pairs of frames to test on, of each crowd
    #[arg(long, default_value_t = 238)]
    test: usize,
    /// Leave out the simulated crowds
    #[arg(long)]
    no_crowd: bool,
    /// Also write the table to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Two frames and who is who.
pub(crate) struct Frames {
    pub(crate) pair: Pair,
    pub(crate) truth: Matching,
}

/// Links counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Links {
    pub(crate) links: usize,
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    pub(crate) missed: usize,
}

#[derive(Serialize)]
struct Cell {
    data: String,
    method: &'static str,
    links: usize,
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Links {
    pub(crate) fn add(&mut self, truth: &Matching, found: &Matching) {
        let right = truth.pairs().filter(|&(i, k)| found.right_of(i) == Some(k)).count();
        self.links += truth.matched_count();
        self.right += right;
        self.wrong += found.matched_count() - right;
        self.missed += truth.matched_count() - right;
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut cells = Vec::new();
    println!(
        "{:<54} {:<24} {:>6} {:>7} {:>6} {:>7} {:>8}",
        "data", "method", "links", "right", "wrong", "missed", "seconds"
    );
    if !arguments.no_crowd {
        let settings = [(10, 0.1), (19, 0.1), (19, 0.3), (40, 0.1), (40, 0.3)];
        for (number, (people, missed)) in settings.into_iter().enumerate() {
            for noise in [0, 5] {
                let crowd = Crowd { people, missed, noise, seed: number as u64 };
                let train = crowd.pairs(arguments.train)?;
                let test = Crowd { seed: 1000 + number as u64, ..crowd }.pairs(arguments.test)?;
                measure(&crowd.name(), &train, &test, &mut cells)?;
            }
        }
    }
    let shared = std::env::var_os("HOMOLOG_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let usual = shared.join("tracks/TUD-Stadtmitte.gt.txt");
    let sequences = match &arguments.sequences[..] {
        [] if usual.exists() => vec![usual],
        [] => {
            eprintln!("no sequence: {} is not there", usual.display());
            Vec::new()
        }
        given => given.to_vec(),
    };
    for path in sequences {
        let (name, mut train) = sequence(&path)?;
        let test = train.split_off(train.len() / 2);
        measure(&name, &train, &test, &mut cells)?;
    }
    match &arguments.json {
        Some(path) => write_json(path, &json!({ "cells": cells })),
        None => Ok(()),
    }
}

/// Pairs of consecutive frames of a sequence.
fn sequence(path: &Path) -> Result<(String, Vec<Frames>)> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(name) = file.strip_suffix(".gt.txt") else { bail!("{}: expected NAME.gt.txt", path.display()) };
    let read = |path: &Path| -> Result<_> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        read_mot(&text).with_context(|| path.display().to_string())
    };
    let (truth, found) = (read(path)?, read(&path.with_file_name(format!("{name}.det.txt")))?);
    let data = found.joined(&truth)?.pairs(1)?;
    let frames = |number: usize| -> Result<Frames> {
        let truth = data.pairs()[number].truth.clone().context("a pair without a truth")?;
        Ok(Frames { pair: data.pair(number)?, truth })
    };
    Ok((name.to_string(), (0..data.pairs().len()).map(frames).collect::<Result<_>>()?))
}

fn measure(data: &str, train: &[Frames], test: &[Frames], cells: &mut Vec<Cell>) -> Result<()> {
    let mut add = |method: &'static str, seconds: f64, found: &[Matching]| {
        let mut counted = Links::default();
        test.iter().zip(found).for_each(|(frames, found)| counted.add(&frames.truth, found));
        let Links { links, right, wrong, missed } = counted;
        let share = right as f64 / links.max(1) as f64;
        println!("{data:<54} {method:<24} {links:>6} {share:>7.4} {wrong:>6} {missed:>7} {seconds:>8.2}");
        cells.push(Cell { data: data.to_string(), method, links, right, wrong, missed });
    };
    let watch = Stopwatch::start();
    let found = learned(train, test)?;
    add("homolog", watch.stop().wall, &found);
    let watch = Stopwatch::start();
    match logistic(train, test) {
        Ok(found) => add("logistic + scipy", watch.stop().wall, &found),
        Err(error) => eprintln!("without logistic regression: {error:#}"),
    }
    let costs: [(&'static str, &[&str]); 3] = [
        ("hand-tuned", &["1-iou", "1-cosine"]),
        ("hand-tuned with distance", &["1-iou", "distance", "1-cosine"]),
        ("iou alone", &["1-iou"]),
    ];
    for (method, names) in costs {
        let watch = Stopwatch::start();
        let hand = Hand::tuned(train, names)?;
        let found = test.iter().map(|frames| hand.solve(frames)).collect::<Result<Vec<_>>>()?;
        add(method, watch.stop().wall, &found);
    }
    Ok(())
}

/// What the library learns without being told anything.
fn learned(train: &[Frames], test: &[Frames]) -> Result<Vec<Matching>> {
    let (mut graphs, mut pairs) = (Vec::new(), Vec::new());
    for (number, Frames { pair, truth }) in train.iter().enumerate() {
        for (side, graph) in [("left", &pair.left), ("right", &pair.right)] {
            graphs.push(NamedGraph { id: format!("{number} {side}"), graph: Arc::clone(graph), image: None });
        }
        let features = pair.features.clone();
        pairs.push(LabelledPair { features, ..LabelledPair::new(2 * number, 2 * number + 1, Some(truth.clone())) });
    }
    let task = Task { data: DataSet::new(graphs, pairs)?, settings: Settings::default() };
    let outcome = task.run(&Control::new(), None)?;
    eprintln!("{}", outcome.report.to_string().trim_end());
    let weights = outcome.model.weights();
    let named: Vec<String> =
        outcome.model.weight_names().zip(&weights).map(|(name, weight)| format!("{name} {weight:.3}")).collect();
    eprintln!("{}", named.join(", "));
    let mut work = Workspace::new();
    test.iter().map(|frames| Ok(outcome.model.solve_with(&frames.pair, &mut work)?.matching)).collect()
}

/// scikit-learn and scipy on the same features.
fn logistic(train: &[Frames], test: &[Frames]) -> Result<Vec<Matching>> {
    let record = |frames: &Frames| {
        let features = frames.pair.features.as_ref();
        let pairs: Vec<[usize; 2]> = features.map(|features| features.pairs().collect()).unwrap_or_default();
        let values: Vec<Vec<f64>> = features
            .map(|features| features.values().rows().into_iter().map(|row| row.to_vec()).collect())
            .unwrap_or_default();
        let truth: Vec<Option<usize>> = frames.truth.left_to_right().to_vec();
        json!({"right": frames.truth.right_count(), "pairs": pairs, "values": values, "truth": truth})
    };
    let all = |frames: &[Frames]| frames.iter().map(record).collect::<Vec<_>>();
    let request = json!({"train": all(train), "test": all(test)}).to_string();
    let mut child = Command::new(python::environment()?)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("no pipe to Python")?.write_all(request.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the Python process failed");
    let found: Vec<Vec<Option<usize>>> = serde_json::from_slice(&output.stdout)?;
    ensure!(found.len() == test.len(), "the Python process answered {} of {} pairs", found.len(), test.len());
    let matching = |(map, frames): (Vec<Option<usize>>, &Frames)| {
        Ok(Matching::new(map, frames.truth.right_count(), Constraint::OneToOne)?)
    };
    found.into_iter().zip(test).map(matching).collect()
}
