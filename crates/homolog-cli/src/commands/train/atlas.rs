//! `homolog train --features atlas`: learns from every specimen that has names.

use super::{Arguments, PoseOption};
use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::atlas::{Atlas, AtlasSettings, Pose, Presence};
use homolog::data::Split;
use homolog::features::ImageDescriptor;
use homolog::graph::Graph;
use homolog::learn::Evidence;
use homolog::model::Model;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn run(arguments: &Arguments, images: Vec<ImageDescriptor>, watch: &Watch) -> Result<Ending> {
    let about_pairs = [
        ("--checkpoint", arguments.checkpoint.is_some()),
        ("--fixed", !arguments.fixed.is_empty()),
        ("--non-negative", !arguments.non_negative.is_empty()),
        ("--matcher", arguments.matcher.is_some()),
        ("--lambda", arguments.lambda.is_some() || !arguments.lambdas.is_empty()),
    ];
    if let Some((option, _)) = about_pairs.into_iter().find(|(_, is_given)| *is_given) {
        bail!("{option} is about models that match pairs; an atlas finds all that from its specimens");
    }
    let input = Input::load(&arguments.data)?.seen_by(&images)?;
    let named = |graph: &&Graph| graph.names().is_some_and(|names| names.iter().any(|name| !name.is_empty()));
    let of = |is_wanted: &dyn Fn(Option<Split>) -> bool| -> BTreeSet<usize> {
        let pairs = input.data.pairs().iter().filter(|pair| is_wanted(pair.split));
        pairs.flat_map(|pair| [pair.left, pair.right]).collect()
    };
    // What only the pairs of the split test have is for measuring.
    let (tested, others) = (of(&|split| split == Some(Split::Test)), of(&|split| split != Some(Split::Test)));
    let is_held_out = |at: &usize| tested.contains(at) && !others.contains(at);
    let learned = (0..input.data.graphs().len()).filter(|at| !is_held_out(at));
    let specimens: Vec<&Graph> = learned.map(|at| &*input.data.graphs()[at].graph).filter(named).collect();
    if specimens.is_empty() {
        bail!("{}: no specimen has names to learn from", arguments.data.display());
    }
    let settings = AtlasSettings {
        pose: pose(arguments),
        presence: arguments.unmatched.then_some(Presence::Partial),
        plain: arguments.unlearned,
        images,
        ..AtlasSettings::default()
    };
    let (model, evidence) = Model::fit_atlas(&specimens, &settings, &watch.control(""))?;
    let ended_by = watch.ended_by();
    watch.end();
    let atlas = model.atlas().context("the model has no atlas")?;
    files::write(&arguments.output, model.to_json()?.as_bytes())?;
    if arguments.json {
        files::print(json(atlas, &evidence)?.as_bytes())?;
    } else {
        let text = text(atlas, &model, &evidence, ended_by)?;
        files::print(format!("{text}Wrote {}.\n", arguments.output.display()).as_bytes())?;
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// How specimens may lie, where that was said.
fn pose(arguments: &Arguments) -> Option<Pose> {
    match (arguments.pose, arguments.mirror) {
        (_, true) => Some(Pose::Any),
        (Some(PoseOption::AsGiven), _) => Some(Pose::AsGiven),
        (Some(PoseOption::Tilted | PoseOption::Any), _) => Some(Pose::Rotated),
        (None, _) => None,
    }
}

fn text(atlas: &Atlas, model: &Model, evidence: &Evidence, ended_by: Option<&str>) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "Learned an atlas of {} landmarks and {} edges from {} specimens.",
        atlas.landmarks.len(),
        atlas.edges.len(),
        atlas.specimens
    )?;
    let lie = if atlas.pose == Pose::AsGiven {
        "They lie alike; new ones are expected to"
    } else {
        "They are turned; new ones may be"
    };
    let all = if atlas.presence == Presence::Complete {
        "every landmark is there"
    } else {
        "landmarks may be missing and points may be nobody"
    };
    // One specimen alone shows neither.
    if atlas.specimens > 1 {
        writeln!(text, "{lie}; {all}.")?;
    }
    if evidence.is_learned {
        let weights = model.weight_names().zip(&evidence.weights).map(|(name, weight)| format!("{name} {weight:.2}"));
        writeln!(
            text,
            "How much each kind of evidence counts was learned: {}.",
            weights.collect::<Vec<_>>().join(", ")
        )?;
    }
    match &atlas.calibration {
        Some(calibration) => writeln!(
            text,
            "Each left out in turn and named by the others: {} of {} names right ({:.2} %).",
            calibration.right,
            calibration.names,
            100.0 * calibration.right as f64 / calibration.names.max(1) as f64
        )?,
        None => match ended_by {
            Some(ended_by) => writeln!(
                text,
                "Names come without confidences, and no kind of evidence was weighed: {ended_by} came before that was done."
            )?,
            None => writeln!(text, "Names come without confidences: there is nothing to calibrate them by.")?,
        },
    }
    Ok(text)
}

/// In the form of every other training.
fn json(atlas: &Atlas, evidence: &Evidence) -> Result<String> {
    let share = |wrong: usize, of: usize| wrong as f64 / of.max(1) as f64;
    let error = atlas.calibration.map(|names| share(names.names - names.right, names.names));
    let row = json!({"name": "atlas", "error": error, "weights": evidence.weights, "learned": evidence.is_learned});
    let value = json!({"chosen": "atlas", "tried": [row], "skipped": []});
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}
