//! Frames of a take named in sequence, beside frame by frame.
//!
//! A labelled take is spoiled (`spoil`) and named by an atlas of 1, 5 or 10 of its clean frames. Shares are of the points that are markers:
//! right, wrong (ghosts that got a name count too), missed. A swap is a marker whose point is another true marker than in the frame in
//! which it was seen last; it is reported if the naming says so: by a swap or a doubtful stretch of that marker at that frame. The
//! calibration error is that of the confidences in ten bins; doubted errors are wrong names inside a doubtful stretch of their marker.
//! Time is processor time of the process.

mod spoil;

use crate::files::write_json;
use anyhow::{Context, Result, bail};
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::atlas::{Atlas, AtlasSettings, Search};
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::takes::{TakeNaming, differing_frames};
use serde::Serialize;
use spoil::Frame;
use std::path::PathBuf;

/// The take that is looked for if none is given.
const WALK: &str = "mocap/walk.trc";
/// Frames named one by one, evenly spread, if there are more: each takes long.
const ONE_BY_ONE: usize = 60;
/// Frames of the long take, whose time is measured.
const LONG: usize = 10_000;

/// Frames of a take named in sequence, beside frame by frame
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Labelled takes (.trc, .c3d) [default: mocap/walk.trc of the shared data]; an atlas of the first of two takes also names the second
    takes: Vec<PathBuf>,
    /// Write the cells as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only 0 and 12 % missing with 0 and 4 ghosts, from 1 and 5 frames
    #[arg(long)]
    quick: bool,
    /// Also 10,000 frames: the take forwards and backwards again and again
    #[arg(long)]
    long: bool,
    /// How the take is spoiled
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// One row.
#[derive(Serialize)]
struct Cell {
    data: String,
    training_frames: usize,
    missing: f64,
    ghosts: usize,
    mode: &'static str,
    frames: usize,
    right: f64,
    wrong: f64,
    missed: f64,
    swaps: usize,
    unreported_swaps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubted_errors: Option<f64>,
    seconds: f64,
}

#[derive(Serialize)]
struct Report {
    cells: Vec<Cell>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = std::env::var("HOMOLOG_DATA").map_or_else(|_| PathBuf::from("../shared/data"), PathBuf::from);
    let paths = if arguments.takes.is_empty() { vec![folder.join(WALK)] } else { arguments.takes.clone() };
    let mut cells = Vec::new();
    println!(
        "data                 from  missing ghosts  mode            right   wrong  missed  swaps (unreported)  s per frame  calibration error, doubted errors"
    );
    let takes = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    for (path, take) in paths.iter().zip(&takes) {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        table(&name, take, take, arguments, &mut cells)?;
    }
    if let ([first, _], [one, other]) = (&paths[..], &takes[..]) {
        let name = first.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        table(&format!("second by {name}"), one, other, arguments, &mut cells)?;
    }
    arguments.json.as_ref().map_or(Ok(()), |path| write_json(path, &Report { cells }))
}

fn read(path: &PathBuf) -> Result<Vec<Graph>> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let data = homolog::data::read(&path.to_string_lossy(), &bytes, &|_, _| None)?.data;
    let frames: Vec<Graph> = data.graphs().iter().map(|named| (*named.graph).clone()).collect();
    if frames.iter().all(|frame| frame.names().is_none_or(|names| names.iter().all(String::is_empty))) {
        bail!("{}: no marker has a name", path.display());
    }
    Ok(frames)
}

/// All cells of a take, named by an atlas of another or the same.
fn table(name: &str, learned: &[Graph], take: &[Graph], arguments: &Arguments, cells: &mut Vec<Cell>) -> Result<()> {
    let (learned, take): (Vec<&Graph>, Vec<&Graph>) = (learned.iter().collect(), take.iter().collect());
    let training: &[usize] = if arguments.quick { &[1, 5] } else { &[1, 5, 10] };
    let spoilt: &[(f64, usize)] = if arguments.quick {
        &[(0.0, 0), (0.12, 4)]
    } else {
        &[(0.0, 0), (0.0, 4), (0.05, 0), (0.05, 2), (0.05, 4), (0.12, 0), (0.12, 2), (0.12, 4)]
    };
    for &count in training {
        let picked: Vec<&Graph> = differing_frames(&learned, count).into_iter().map(|at| learned[at]).collect();
        let atlas = Atlas::learn(&picked, &AtlasSettings::default())?;
        for &(missing, ghosts) in spoilt {
            let spoiled = spoil::spoil(&take, missing, ghosts, arguments.seed)?;
            let about = |mode| Cell {
                data: name.to_string(),
                training_frames: count,
                missing,
                ghosts,
                mode,
                frames: spoiled.len(),
                right: 0.0,
                wrong: 0.0,
                missed: 0.0,
                swaps: 0,
                unreported_swaps: 0,
                calibration_error: None,
                doubted_errors: None,
                seconds: 0.0,
            };
            for cell in [
                in_sequence(&atlas, &spoiled, about("in sequence"))?,
                one_by_one(&atlas, &spoiled, about("frame by frame"))?,
            ] {
                print(&cell);
                cells.push(cell);
            }
        }
        if arguments.long && count == 5 {
            let there_and_back: Vec<&Graph> = take.iter().chain(take.iter().rev()).copied().collect();
            let long: Vec<&Graph> = there_and_back.iter().cycle().take(LONG).copied().collect();
            let spoiled = spoil::spoil(&long, 0.12, 4, arguments.seed)?;
            let data = format!("{name}, long");
            let cell = Cell {
                data,
                training_frames: count,
                missing: 0.12,
                ghosts: 4,
                mode: "in sequence",
                frames: LONG,
                right: 0.0,
                wrong: 0.0,
                missed: 0.0,
                swaps: 0,
                unreported_swaps: 0,
                calibration_error: None,
                doubted_errors: None,
                seconds: 0.0,
            };
            let cell = in_sequence(&atlas, &spoiled, cell)?;
            print(&cell);
            cells.push(cell);
        }
    }
    Ok(())
}

fn print(cell: &Cell) {
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("  {share:.4}"));
    println!(
        "{:20} {:4}  {:6.0} % {:6}  {:14} {:.4}  {:.4}  {:.4}  {:5} ({})  {:.4}{}{}",
        cell.data,
        cell.training_frames,
        100.0 * cell.missing,
        cell.ghosts,
        cell.mode,
        cell.right,
        cell.wrong,
        cell.missed,
        cell.swaps,
        cell.unreported_swaps,
        cell.seconds / cell.frames.max(1) as f64,
        share(cell.calibration_error),
        share(cell.doubted_errors)
    );
}

fn in_sequence(atlas: &Atlas, take: &[Frame], cell: Cell) -> Result<Cell> {
    let graphs: Vec<&Graph> = take.iter().map(|frame| &frame.graph).collect();
    let clock = ProcessTime::now();
    let naming = atlas.name_take(&graphs, &atlas.start_weights(), &Control::new())?;
    let seconds = clock.elapsed().as_secs_f64();
    let names: Vec<Vec<Option<usize>>> =
        naming.frames.iter().map(|calls| calls.iter().map(|call| Some(call.as_ref()?.marker)).collect()).collect();
    let reported =
        |marker: usize, from: usize, to: usize| {
            naming.swaps.iter().any(|swap| {
                (swap.marker == marker || swap.other == Some(marker)) && from < swap.frame && swap.frame <= to
            }) || naming.doubts.iter().any(|doubt| {
                (doubt.marker == marker || doubt.or == Some(marker)) && doubt.first <= to && from <= doubt.last
            })
        };
    let (calibration_error, doubted_errors) = honesty(atlas, take, &naming);
    let cell = Cell { calibration_error, doubted_errors, seconds, ..cell };
    Ok(measured(atlas, &take.iter().collect::<Vec<_>>(), &names, reported, cell))
}

/// The calibration error of the confidences, and the share of the wrong names that lie in a doubtful stretch of their marker.
fn honesty(atlas: &Atlas, take: &[Frame], naming: &TakeNaming) -> (Option<f64>, Option<f64>) {
    let (mut bins, mut all) = ([0.0; 10], 0.0);
    let (mut errors, mut doubted) = (0.0, 0.0);
    for (at, (frame, calls)) in take.iter().zip(&naming.frames).enumerate() {
        for (truth, call) in frame.truth.iter().zip(calls) {
            let Some(call) = call else { continue };
            let right = f64::from(u8::from(atlas.landmarks[call.marker].name == *truth));
            let bin = (1..10).filter(|&tenth| 10.0 * call.confidence >= f64::from(tenth)).count();
            bins[bin] += call.confidence - right;
            all += 1.0;
            errors += 1.0 - right;
            let inside = naming.doubts.iter().any(|doubt| {
                (doubt.marker == call.marker || doubt.or == Some(call.marker)) && doubt.first <= at && at <= doubt.last
            });
            doubted += (1.0 - right) * f64::from(u8::from(inside));
        }
    }
    let error = bins.iter().map(|bin: &f64| bin.abs()).sum::<f64>();
    ((all > 0.0).then(|| error / all), (errors > 0.0).then(|| doubted / errors))
}

fn one_by_one(atlas: &Atlas, take: &[Frame], cell: Cell) -> Result<Cell> {
    let step = take.len().div_ceil(ONE_BY_ONE).max(1);
    let some: Vec<&Frame> = take.iter().step_by(step).collect();
    let clock = ProcessTime::now();
    let mut names = Vec::new();
    for frame in &some {
        let naming = atlas.name_with(&frame.graph, &atlas.start_weights(), Search::Quick, &mut Workspace::new())?;
        names.push(naming.matching.right_to_left().to_vec());
    }
    let seconds = clock.elapsed().as_secs_f64();
    Ok(Cell { seconds, frames: some.len(), ..measured(atlas, &some, &names, |_, _, _| false, cell) })
}

/// Counts what is right, and swaps; `reported` says whether a swap of a marker between two frames was.
fn measured(
    atlas: &Atlas,
    take: &[&Frame],
    names: &[Vec<Option<usize>>],
    reported: impl Fn(usize, usize, usize) -> bool,
    cell: Cell,
) -> Cell {
    let (mut right, mut wrong, mut missed, mut all) = (0.0, 0.0, 0.0, 0.0);
    let (mut swaps, mut unreported_swaps) = (0, 0);
    let mut last: Vec<Option<(usize, &str)>> = vec![None; atlas.landmarks.len()];
    for (at, (frame, names)) in take.iter().zip(names).enumerate() {
        for (truth, found) in frame.truth.iter().zip(names) {
            let is_marker = f64::from(u8::from(!truth.is_empty()));
            all += is_marker;
            let Some(marker) = *found else {
                missed += is_marker;
                continue;
            };
            let same = atlas.landmarks[marker].name == *truth;
            right += f64::from(u8::from(same));
            wrong += f64::from(u8::from(!same));
            if truth.is_empty() {
                continue;
            }
            if let Some((before, was)) = last[marker].filter(|(_, was)| *was != truth.as_str()) {
                swaps += 1;
                unreported_swaps += usize::from(!was.is_empty() && !reported(marker, before, at));
            }
            last[marker] = Some((at, truth));
        }
    }
    Cell { right: right / all, wrong: wrong / all, missed: missed / all, swaps, unreported_swaps, ..cell }
}
