//! How long it takes: corners of a house frame, descriptors, and one match of 11 points among 200.

use super::data::Set;
use super::tables;
use super::variants::Variant;
use crate::clock::{Stopwatch, median};
use anyhow::{Context, Result};
use homolog::features::describe_points;
use homolog::geometry::Susan;
use homolog::loss::Endpoint;
use homolog::matching::{Compatibility, Linear, Matcher, Workspace};
use std::hint::black_box;

/// Prints the table; processor time of one thread, the median of rounds.
pub(super) fn run(house: &Set, rounds: usize) -> Result<()> {
    let photo = house.photos.first().context("a frame")?;
    let grey = photo.grey()?;
    let (width, height) = (grey.width(), grey.height());
    println!("\n| step | median | result |\n|---|---|---|");
    let susan = Susan::default();
    let found = susan.detect(grey)?.count();
    let time = timed(rounds, || susan.detect(grey).map(|corners| corners.count()));
    line(&format!("SUSAN, {width} × {height}, t = 20"), time, &format!("{found} corners"));
    let most = susan.at_most(200, grey)?;
    let time = timed(rounds, || susan.at_most(200, grey).map(|corners| corners.count()));
    line("SUSAN, at most 200", time, &format!("{} corners at t = {}", most.count(), most.brightness));
    let settings = Variant::Both.settings();
    let time =
        timed(rounds.min(11), || describe_points(grey, most.points.view(), &settings.image).map(|t| t.names().len()));
    line(&format!("image descriptors of {} corners", most.count()), time, "200 numbers each");
    for variant in [Variant::ShapeContext, Variant::Both] {
        let corners = tables::corners(house, 200)?;
        let scenes = tables::scenes(house, &corners, &variant.settings())?;
        let example = scenes.example(0, 50, &Endpoint::default())?;
        let weights = scenes.features().unlearned_weights();
        let (mut problem, mut work) = (example.instance().compatibility(&weights)?, Workspace::new());
        let (n, m) = problem.node.dim();
        let scores = timed(rounds, || example.instance().compatibility_into(&weights, &mut problem).is_ok());
        line(&format!("scores of {n} × {m}, {}", variant.name()), scores, "");
        let solve = timed(rounds, || Linear::default().solve_with(&problem, &mut work).map(|solution| solution.score));
        line(&format!("linear assignment {n} × {m}"), solve, "");
        let both = timed(rounds, || match_once(example.instance(), &weights, &mut problem, &mut work).is_ok());
        line(&format!("one match, {n} × {m}, after features"), both, variant.name());
    }
    Ok(())
}

fn match_once(
    instance: &homolog::features::Instance,
    weights: &[f64],
    problem: &mut Compatibility,
    work: &mut Workspace,
) -> homolog::Result<f64> {
    instance.compatibility_into(weights, problem)?;
    Ok(Linear::default().solve_with(problem, work)?.score)
}

fn timed<T>(rounds: usize, mut step: impl FnMut() -> T) -> f64 {
    let once = |step: &mut dyn FnMut() -> T| {
        let start = Stopwatch::start();
        black_box(step());
        start.stop().cpu
    };
    once(&mut step);
    let times: Vec<f64> = (0..rounds).map(|_| once(&mut step)).collect();
    median(&times).unwrap_or(0.0)
}

fn line(step: &str, seconds: f64, result: &str) {
    if seconds < 1e-3 {
        println!("| {step} | {:.1} µs | {result} |", 1e6 * seconds);
    } else {
        println!("| {step} | {:.2} ms | {result} |", 1e3 * seconds);
    }
}
