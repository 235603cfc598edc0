//! Endpoint losses with and without learning, in the form of the paper's table of bikes.

use super::data::Set;
use super::variants::Variant;
use crate::clock::{Stopwatch, median};
use anyhow::{Context, Result};
use homolog::Control;
use homolog::data::Split;
use homolog::experiment::{
    Scene, ScenePairs, SceneSettings, Scenes, Splits, TargetPoints, by_appearance, learn_and_compare,
};
use homolog::features::FeatureMap;
use homolog::geometry::Susan;
use homolog::learn::{Evaluation, Example, evaluate};
use homolog::loss::Endpoint;
use homolog::matching::Linear;
use ndarray::Array2;
use rayon::prelude::*;

/// Corners of every photograph, found once.
pub(super) fn corners(set: &Set, at_most: usize) -> Result<Vec<Array2<f64>>> {
    let find = |photo: &super::data::Photo| Ok(Susan::default().at_most(at_most, photo.grey()?)?.points);
    set.photos.par_iter().map(find).collect()
}

/// All scenes of a set under some settings.
pub(super) fn scenes(set: &Set, corners: &[Array2<f64>], settings: &SceneSettings) -> Result<Scenes> {
    let make = |(photo, corners): (&super::data::Photo, &Array2<f64>)| {
        Ok(Scene::with_corners(photo.grey()?, photo.landmarks.clone(), corners.clone(), settings)?)
    };
    let scenes: Vec<Scene> = set.photos.par_iter().zip(corners).map(make).collect::<Result<_>>()?;
    Ok(Scenes::new(settings.features(), scenes)?)
}

/// A fixed template with all other photographs, for every variant of features.
pub(super) fn fixed(set: &Set, corners: &[Array2<f64>], template: usize, remark: &str) -> Result<()> {
    println!("\n### {}: template {} ({remark})\n", set.name, set.photos[template].name);
    head("features");
    for variant in Variant::ALL {
        for candidates in [TargetPoints::WithLabels, TargetPoints::CornersOnly { radius: 10.0 }] {
            let only_corners = candidates != TargetPoints::WithLabels;
            if only_corners && variant != Variant::Both {
                continue;
            }
            let settings = SceneSettings { candidates, ..variant.settings() };
            let name = format!("{}{}", variant.name(), if only_corners { ", corners only" } else { "" });
            let scenes = scenes(set, corners, &settings)?;
            row(&name, scenes.features(), &scenes.fixed_template(template, &Endpoint::default())?)?;
        }
    }
    let scenes = scenes(set, corners, &SceneSettings::default())?;
    seen("appearance", set, &scenes, &scenes.pairs_with(template))
}

/// The training photograph that finds its landmarks best in the other training photographs, before learning.
pub(super) fn best_template(set: &Set, corners: &[Array2<f64>]) -> Result<usize> {
    let scenes = scenes(set, corners, &Variant::Both.settings())?;
    let ones = scenes.features().unlearned_weights();
    let mut best = (f64::INFINITY, 0);
    for template in (0..scenes.count()).filter(|&scene| Split::of_frame(scene) == Split::Train) {
        let targets = scenes.targets_of(template, Split::Train);
        let examples: Vec<Example> =
            targets.map(|target| scenes.example(template, target, &Endpoint::default())).collect::<Result<_, _>>()?;
        let loss = evaluate(&examples, &Linear::default(), &ones, &Control::new())?.mean();
        if loss < best.0 {
            best = (loss, template);
        }
    }
    Ok(best.1)
}

/// All pairs of a sequence at each baseline.
pub(super) fn sequence(set: &Set, corners: &[Array2<f64>], baselines: &[usize]) -> Result<()> {
    for variant in [Variant::ShapeContext, Variant::Both] {
        println!("\n### {}: {}\n", set.name, variant.name());
        head("baseline");
        let scenes = scenes(set, corners, &variant.settings())?;
        for &baseline in baselines {
            let splits = scenes.at_baseline(baseline, &Endpoint::default())?;
            row(&baseline.to_string(), scenes.features(), &splits)?;
        }
    }
    println!("\n### {}: appearance\n", set.name);
    head("baseline");
    let scenes = scenes(set, corners, &SceneSettings::default())?;
    baselines.iter().try_for_each(|&baseline| seen(&baseline.to_string(), set, &scenes, &scenes.pairs_at(baseline)))
}

/// The points by what pictures look like around them: from the template alone, and from the training photographs.
fn seen(name: &str, set: &Set, scenes: &Scenes, pairs: &ScenePairs) -> Result<()> {
    let start = Stopwatch::start();
    let pictures = set.photos.iter().map(super::data::Photo::grey).collect::<Result<Vec<_>>>()?;
    let [alone, learned] = by_appearance(scenes, &pictures, pairs, &Control::new())?;
    let seconds = start.stop().wall;
    println!(
        "| {name} | - | - | {} | {} | {} | {seconds:.1} |",
        cells(&alone),
        cells(&learned),
        fall(&alone[2], &learned[2])
    );
    Ok(())
}

fn cells(three: &[Evaluation; 3]) -> String {
    three.iter().map(summary).collect::<Vec<_>>().join(" | ")
}

fn head(first: &str) {
    println!(
        "| {first} | weights | λ | train | validation | test | → train | → validation | → **test** | fall on test | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
}

fn row(name: &str, features: &FeatureMap, splits: &Splits) -> Result<()> {
    let start = Stopwatch::start();
    let outcome = learn_and_compare(features, splits, &Control::new())?;
    let seconds = start.stop().wall;
    let dim = splits[0].first().context("an example")?.instance().dim();
    println!(
        "| {name} | {dim} | {:.0e} | {} | {} | {} | {seconds:.1} |",
        outcome.trained.best().lambda().unwrap_or(f64::NAN),
        cells(&outcome.unlearned),
        cells(&outcome.learned),
        fall(&outcome.unlearned[2], &outcome.learned[2])
    );
    let validation = outcome.trained.candidates.iter().filter_map(|candidate| candidate.validation.as_ref());
    let path: Vec<String> = validation.map(|loss| format!("{:.4}", loss.mean())).collect();
    let certified = outcome.trained.fit().is_some_and(|fit| fit.certified);
    eprintln!("{name}: validation along λ {}; certified {certified}", path.join(" "));
    Ok(())
}

/// How much the test loss falls, with the error of the mean difference over pictures; an asterisk if it is more than the sum of the
/// two standard errors.
fn fall(before: &Evaluation, after: &Evaluation) -> String {
    let losses = before.losses.iter().zip(&after.losses).map(|(before, after)| before - after).collect();
    let star = if is_clear(before, after) { " *" } else { "" };
    format!("{}{star}", summary(&Evaluation::of_losses(losses)))
}

fn is_clear(before: &Evaluation, after: &Evaluation) -> bool {
    before.mean() - after.mean() > before.standard_error() + after.standard_error()
}

/// Every training photograph in turn as the template: how much the choice matters.
pub(super) fn all_templates(set: &Set, corners: &[Array2<f64>]) -> Result<()> {
    println!("\n### {}: every training photograph as the template\n", set.name);
    println!(
        "| features | templates | test loss, least, median, most | → least, median, most | falls by more than both errors |"
    );
    println!("|---|---|---|---|---|");
    for variant in [Variant::ShapeContext, Variant::WideShapeContext] {
        let scenes = scenes(set, corners, &variant.settings())?;
        let (mut before, mut after, mut clear) = (Vec::new(), Vec::new(), 0);
        for template in (0..scenes.count()).filter(|&scene| Split::of_frame(scene) == Split::Train) {
            let splits = scenes.fixed_template(template, &Endpoint::default())?;
            let outcome = learn_and_compare(scenes.features(), &splits, &Control::new())?;
            before.push(outcome.unlearned[2].mean());
            after.push(outcome.learned[2].mean());
            clear += usize::from(is_clear(&outcome.unlearned[2], &outcome.learned[2]));
        }
        let count = before.len();
        println!("| {} | {count} | {} | {} | {clear} |", variant.name(), spread(&before), spread(&after));
    }
    Ok(())
}

fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{least:.3}, {:.3}, {most:.3}", median(values).unwrap_or(0.0))
}

fn summary(evaluation: &Evaluation) -> String {
    format!("{:.3} ({:.3})", evaluation.mean(), evaluation.standard_error())
}
