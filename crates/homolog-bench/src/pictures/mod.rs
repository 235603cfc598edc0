//! Landmarks in new pictures from a few labelled ones, beside dlib's shape predictor.
//!
//! For each set and number of labelled pictures, some are drawn, and the landmarks are found in the rest: no box and no start is given.
//! Counted are landmarks within 3 and 5 pixels of the label, and within 4 % of the picture's width; errors in pixels. Time is processor
//! time of one thread, per picture. `wings` is measured again with the new pictures shifted by 40 pixels, and rotated by 20°; landmarks that
//! leave the picture by that are not counted, neither before nor after, so the rows "still in view" are what the moved ones compare with.
//!
//! The error to expect, as the labelling page says it: each labelled picture searched by what the others teach, and the interval from that
//! ([`Expected`]) beside the error in the new pictures, for each draw.
//!
//! The calibration error of the confidences is Σ_b (points in b / points) · |mean confidence - share right| over ten equal bins, right being
//! what a confidence promises: within the tolerance of `appearance`, 2 % of the landmarks' diameter.

mod data;
mod dlib;

use crate::clock::{Stopwatch, median};
use crate::naming::presence::calibration_error;
use crate::{files, house};
use anyhow::{Context, Result, ensure};
use data::{Set, Specimen};
use homolog::Control;
use homolog::appearance::{Appearance, Learner};
use homolog::geometry::GreyImage;
use homolog::labelling::Expected;
use homolog_viz::GreyPicture;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Landmarks found in new pictures, from a few labelled ones
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Further files with landmarks and pictures beside them (.tps, .csv, .json); without --sets only these
    files: Vec<PathBuf>,
    /// Which of wings, faces and bikes [default: all, if no file is given]
    #[arg(long, value_delimiter = ',')]
    sets: Option<Vec<String>>,
    /// The folder with the sets
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How many pictures are labelled
    #[arg(long, value_delimiter = ',', default_value = "1,3,5,10,15")]
    labelled: Vec<usize>,
    /// How often they are drawn
    #[arg(long, default_value_t = 3)]
    draws: u64,
    /// The most pictures that are searched, per draw
    #[arg(long, default_value_t = 40)]
    tests: usize,
    /// Also dlib's shape predictor (installs the Python package dlib-bin; minutes per cell)
    #[arg(long)]
    dlib: bool,
    /// 1 and 5 labelled pictures, one draw, ten tests
    #[arg(long)]
    quick: bool,
    /// Write all numbers as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// One number of labelled pictures of one set, found in one way.
#[derive(Debug, Serialize)]
struct Cell {
    data: String,
    labelled: usize,
    method: &'static str,
    within_3: f64,
    within_5: f64,
    within_4_percent: f64,
    median: f64,
    /// Processor time per labelled and per searched picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<[f64; 2]>,
    /// Of the confidences, with their mean and the share of points that are right.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibrated>,
    /// The error to expect, for each draw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    promises: Vec<Promise>,
}

/// How confidences compare with what came.
#[derive(Debug, Clone, Copy, Serialize)]
struct Calibrated {
    error: f64,
    confidence: f64,
    right: f64,
    points: usize,
}

/// What labelled pictures promise about new ones, and what came: shares of landmarks that are off by more than the tolerance.
#[derive(Debug, Clone, Serialize)]
struct Promise {
    estimated: f64,
    interval: [f64; 2],
    measured: f64,
}

impl Promise {
    fn held(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.measured)
    }
}

#[derive(Serialize)]
struct Record<'a> {
    cells: &'a [Cell],
}

/// Which specimens are labelled and which are searched.
struct Draw {
    train: Vec<usize>,
    test: Vec<usize>,
}

/// How the pictures to search are moved: by name, degrees, pixels.
const MOVES: [(&str, f64, f64); 2] = [(" shifted", 0.0, 40.0), (" rotated", 20.0, 0.0)];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let beside = || house::default_directory().parent().map(PathBuf::from).context("a folder of data");
    let folder = arguments.data.clone().map_or_else(beside, Ok)?;
    let usual = if arguments.files.is_empty() { "wings,faces,bikes" } else { "" };
    let usual = || usual.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect();
    let names: Vec<String> = arguments.sets.clone().unwrap_or_else(usual);
    let mut sets = names.iter().map(|name| data::known(&folder, name)).collect::<Result<Vec<Set>>>()?;
    for path in &arguments.files {
        sets.push(data::file(path)?);
    }
    // On a pool of one thread, its processor time is all there is.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    println!(
        "| pictures | labelled | method | within 3 px | within 5 px | within 4 % | median px | learn s | find s | estimated error | measured | interval held | calibration error | mean confidence | right |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut cells = Vec::new();
    for set in &sets {
        ensure!(set.specimens.len() > 1, "{}: found {} pictures with landmarks", set.name, set.specimens.len());
        pool.install(|| measure(set, arguments, &mut cells))?;
    }
    if let Some(path) = &arguments.json {
        files::write_json(path, &Record { cells: &cells })?;
    }
    Ok(())
}

fn measure(set: &Set, arguments: &Arguments, cells: &mut Vec<Cell>) -> Result<()> {
    let labelled = if arguments.quick { vec![1, 5] } else { arguments.labelled.clone() };
    let (draws, tests) = if arguments.quick { (1, 10) } else { (arguments.draws, arguments.tests) };
    let mut tell = |cell: Cell| {
        let seconds =
            cell.seconds.map_or([String::new(), String::new()], |times| times.map(|time| format!("{time:.2}")));
        println!(
            "| {} | {} | {} | {:.3} | {:.3} | {:.3} | {:.2} | {} | {} | {} | {} |",
            cell.data,
            cell.labelled,
            cell.method,
            cell.within_3,
            cell.within_5,
            cell.within_4_percent,
            cell.median,
            seconds[0],
            seconds[1],
            kept(&cell.promises),
            cell.calibration.map_or(" | | ".to_string(), |own| format!(
                "{:.3} | {:.3} | {:.3}",
                own.error, own.confidence, own.right
            ))
        );
        cells.push(cell);
    };
    for count in labelled.into_iter().filter(|&count| count > 0 && count < set.specimens.len()) {
        let draws: Vec<Draw> = (0..draws).map(|seed| draw(set.specimens.len(), count, tests, seed)).collect();
        let mut places: BTreeMap<String, Tally> = BTreeMap::new();
        let (mut learning, mut promises) = (0.0, Vec::new());
        for draw in &draws {
            let watch = Stopwatch::start();
            let learner = learn(set, draw)?;
            let appearance = learner.appearance()?;
            learning += watch.stop().cpu / (count * draws.len()) as f64;
            let labelled = |at: usize| {
                let GreyPicture { width, height, pixels } = &set.specimens[draw.train[at]].picture;
                GreyImage::new(*width, *height, pixels)
            };
            // The same places, with confidences.
            let appearance = if count > 1 { learner.calibrated(&labelled, &Control::new())? } else { appearance };
            let mut wrong = Vec::new();
            for &test in &draw.test {
                let specimen = &set.specimens[test];
                let found = places.entry(set.name.clone()).or_default().add(&appearance, specimen)?;
                wrong.push(off(&found, &appearance, specimen)?);
                for (name, degrees, shift) in MOVES.iter().filter(|_| set.name == "wings") {
                    let sign = if test % 2 == 0 { 1.0 } else { -1.0 };
                    let moved = data::moved(specimen, sign * degrees, sign * shift)?;
                    places.entry(format!("{}{name}", set.name)).or_default().add(&appearance, &moved)?;
                    let names = moved.graph.names().unwrap_or_default().to_vec();
                    let graph = specimen.graph.clone().with_names(names)?;
                    let in_view = places.entry(format!("{}{name}: still in view", set.name)).or_default();
                    in_view.count(&found, &Specimen { picture: specimen.picture.clone(), graph })?;
                }
            }
            if let Some(expected) = Expected::of(&left_out(set, draw, &learner)?) {
                let measured = wrong.iter().sum::<f64>() / wrong.len().max(1) as f64;
                promises.push(Promise { estimated: expected.error, interval: expected.interval, measured });
            }
        }
        for (name, tally) in places {
            let promises = if name == set.name { promises.clone() } else { Vec::new() };
            tell(Cell { promises, ..tally.cell(name, count, "appearance", Some(learning)) });
        }
        if arguments.dlib {
            let mut tally = Tally::default();
            for (found, draw) in dlib::find(set, &draws)?.iter().zip(&draws) {
                for (found, &test) in found.iter().zip(&draw.test) {
                    tally.count(found, &set.specimens[test])?;
                }
            }
            tell(tally.cell(set.name.clone(), count, "dlib", None));
        }
    }
    Ok(())
}

fn draw(specimens: usize, labelled: usize, tests: usize, seed: u64) -> Draw {
    let mut order: Vec<usize> = (0..specimens).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let test = order[labelled..].iter().copied().take(tests).collect();
    order.truncate(labelled);
    Draw { train: order, test }
}

/// The last columns of the table.
fn kept(promises: &[Promise]) -> String {
    if promises.is_empty() {
        return " | | ".to_string();
    }
    let mean = |of: fn(&Promise) -> f64| promises.iter().map(of).sum::<f64>() / promises.len() as f64;
    let held = promises.iter().filter(|promise| promise.held()).count();
    format!("{:.3} | {:.3} | {held} of {}", mean(|one| one.estimated), mean(|one| one.measured), promises.len())
}

/// For each labelled picture the share of landmarks that the others put elsewhere; none with a single picture.
fn left_out(set: &Set, draw: &Draw, learner: &Learner) -> Result<Vec<f64>> {
    let count = draw.train.len();
    let mut shares = Vec::new();
    for out in (0..count).filter(|_| count > 1) {
        let others: Vec<usize> = (0..count).filter(|&other| other != out).collect();
        let appearance = learner.appearance_of(&others)?;
        let specimen = &set.specimens[draw.train[out]];
        shares.push(off(&Tally::default().add(&appearance, specimen)?, &appearance, specimen)?);
    }
    Ok(shares)
}

/// The share of landmarks that are off by more than the tolerance.
fn off(found: &[[f64; 2]], appearance: &Appearance, specimen: &Specimen) -> Result<f64> {
    let mut tally = Tally::default();
    tally.count(found, specimen)?;
    let near = appearance.tolerance(&labels(specimen)?)?;
    Ok(tally.errors.iter().filter(|&&error| error > near).count() as f64 / tally.errors.len().max(1) as f64)
}

/// Where the landmarks of a specimen are.
fn labels(specimen: &Specimen) -> Result<BTreeMap<String, [f64; 2]>> {
    let points = specimen.graph.points().context("a specimen has no points")?;
    let names = specimen.graph.names().unwrap_or_default().iter().cloned();
    let named = names.zip(points.rows().into_iter().map(|point| [point[0], point[1]]));
    Ok(named.filter(|(name, _)| !name.is_empty()).collect())
}

fn learn(set: &Set, draw: &Draw) -> Result<Learner> {
    let specimens = draw.train.iter().map(|&at| {
        let specimen = &set.specimens[at];
        Ok((grey(&specimen.picture)?, &specimen.graph))
    });
    let specimens = specimens.collect::<Result<Vec<_>>>()?;
    Ok(Learner::learn(&specimens, &Control::new())?)
}

fn grey(picture: &GreyPicture) -> Result<GreyImage<'_>> {
    Ok(GreyImage::new(picture.width, picture.height, &picture.pixels)?)
}

/// Errors of all landmarks, in pixels and as shares of the picture's width.
#[derive(Default)]
struct Tally {
    errors: Vec<f64>,
    shares: Vec<f64>,
    seconds: Vec<f64>,
    /// Confidences, and whether the place is right.
    calls: Vec<(f64, bool)>,
}

impl Tally {
    /// Finds the landmarks; their places.
    fn add(&mut self, appearance: &Appearance, specimen: &Specimen) -> Result<Vec<[f64; 2]>> {
        let watch = Stopwatch::start();
        let found = appearance.find(grey(&specimen.picture)?, &[], &Control::new())?;
        self.seconds.push(watch.stop().cpu);
        let place: BTreeMap<&str, [f64; 2]> = found.iter().map(|point| (point.name.as_str(), point.at)).collect();
        let names = specimen.graph.names().unwrap_or_default();
        let labels = labels(specimen)?;
        let near = appearance.tolerance(&labels)?;
        for point in &found {
            let (Some(confidence), Some(at)) = (point.confidence, labels.get(&point.name)) else { continue };
            self.calls.push((confidence, (point.at[0] - at[0]).hypot(point.at[1] - at[1]) <= near));
        }
        // A landmark that no labelled picture has is found nowhere.
        let places: Vec<[f64; 2]> =
            names.iter().map(|name| place.get(name.as_str()).copied().unwrap_or([f64::INFINITY; 2])).collect();
        self.count(&places, specimen)?;
        Ok(places)
    }

    /// Places in the order of the specimen's landmarks.
    fn count(&mut self, places: &[[f64; 2]], specimen: &Specimen) -> Result<()> {
        let points = specimen.graph.points().context("a specimen has no points")?;
        let names = specimen.graph.names().unwrap_or_default();
        for ((place, point), _) in places.iter().zip(points.rows()).zip(names).filter(|(_, name)| !name.is_empty()) {
            let error = (place[0] - point[0]).hypot(place[1] - point[1]);
            self.errors.push(error);
            self.shares.push(error / specimen.picture.width as f64);
        }
        Ok(())
    }

    fn calibrated(&self) -> Option<Calibrated> {
        let points = self.calls.len();
        let mean = |of: fn(&(f64, bool)) -> f64| self.calls.iter().map(of).sum::<f64>() / points as f64;
        (points > 0).then(|| Calibrated {
            error: calibration_error(&self.calls),
            confidence: mean(|call| call.0),
            right: mean(|call| f64::from(u8::from(call.1))),
            points,
        })
    }

    fn cell(&self, data: String, labelled: usize, method: &'static str, learning: Option<f64>) -> Cell {
        let share = |values: &[f64], most: f64| {
            values.iter().filter(|&&value| value <= most).count() as f64 / values.len().max(1) as f64
        };
        Cell {
            data,
            labelled,
            method,
            within_3: share(&self.errors, 3.0),
            within_5: share(&self.errors, 5.0),
            within_4_percent: share(&self.shares, 0.04),
            median: median(&self.errors).unwrap_or(f64::NAN),
            seconds: learning.zip(median(&self.seconds)).map(<[f64; 2]>::from),
            calibration: self.calibrated(),
            promises: Vec::new(),
        }
    }
}
