//! `evaluate` on a model that names: names compared with those in the data, and how far confidences can be believed.

use crate::inputs::Input;
use crate::progress::Watch;
use anyhow::{Context, Result, bail};
use homolog::experiment::{Tally, Truth, names_of};
use homolog::graph::Graph;
use homolog::matching::{Status, Workspace};
use homolog::model::Model;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Bins of the reliability diagram.
const BINS: usize = 10;

/// What came of one specimen.
struct Named {
    id: String,
    tally: Tally,
    proven: bool,
    /// Confidence, and whether the name was right.
    calls: Vec<(f64, bool)>,
}

/// Names every specimen that has names and compares: a text and the same as JSON.
pub(super) fn evaluate(model: &Model, input: &Input, limit: Option<Duration>, worst: usize) -> Result<(String, Value)> {
    let atlas = model.atlas().context("the model has no atlas")?;
    let watch = Watch::new(limit);
    let control = watch.control("");
    let name = |named: &homolog::data::dataset::NamedGraph| -> Result<Option<Named>> {
        let Some(names) = named.graph.names().filter(|_| !watch.is_over()) else { return Ok(None) };
        let truth: Vec<Truth> = names.iter().map(|name| Truth::of(name)).collect();
        let bare = without_names(&named.graph)?;
        let naming =
            model.name(&bare, &mut Workspace::with_control(&control)).with_context(|| format!("{:?}", named.id))?;
        let calls = naming.calls.iter().filter(|call| truth[call.point] != Truth::Unknown);
        let right = |call: &homolog::atlas::Call| names[call.point] == atlas.landmarks[call.landmark].name;
        let calls = calls.filter_map(|call| Some((call.confidence?, right(call)))).collect();
        let tally = Tally::of(&names_of(atlas, &naming), &truth);
        Ok(Some(Named { id: named.id.clone(), tally, proven: naming.status == Status::Optimal, calls }))
    };
    let named = input.data.graphs().par_iter().map(name).collect::<Result<Vec<_>>>()?;
    let ended_by = watch.ended_by();
    watch.end();
    let mut named: Vec<Named> = named.into_iter().flatten().collect();
    let with_names = input.data.graphs().iter().filter(|one| one.graph.names().is_some()).count();
    if let (Some(ended_by), true) = (ended_by, named.is_empty() && with_names > 0) {
        bail!("{ended_by} ended it before the first specimen was named");
    }
    if named.is_empty() {
        bail!("no specimen has names to compare with");
    }
    let tally = named.iter().fold(Tally::default(), |sum, one| sum.plus(one.tally));
    let proven = named.iter().filter(|one| one.proven).count();
    let mut text = format!("{} specimens named, {proven} of them proven best in their pose\n", named.len());
    if let (Some(ended_by), 1..) = (ended_by, with_names - named.len()) {
        writeln!(
            text,
            "Ended early by {ended_by}: {} of {with_names} specimens were not named; everything below is about the others.",
            with_names - named.len()
        )?;
    }
    writeln!(
        text,
        "Naming error {:.4}; precision {:.4}, recall {:.4}, F1 {:.4}",
        1.0 - tally.found(),
        tally.precision(),
        tally.found(),
        tally.f1()
    )?;
    let bins = reliability(&named);
    if !bins.is_empty() {
        writeln!(text, "Confidence      names   right")?;
        for bin in &bins {
            let (from, to) = (bin["from"].as_f64().unwrap_or(0.0), bin["to"].as_f64().unwrap_or(1.0));
            writeln!(
                text,
                "  {from:.1} to {to:.1}  {:>7}  {:>6.4}",
                bin["names"].as_u64().unwrap_or(0),
                bin["right"].as_f64().unwrap_or(0.0)
            )?;
        }
    }
    named.sort_by(|a, b| a.tally.found().total_cmp(&b.tally.found()));
    let wrong: Vec<&Named> = named.iter().filter(|one| one.tally.correct < one.tally.named).take(worst).collect();
    if !wrong.is_empty() {
        writeln!(text, "Worst specimens:")?;
    }
    for one in wrong {
        writeln!(text, "  {:.4}  {}", 1.0 - one.tally.found(), one.id)?;
    }
    let specimen = |one: &Named| json!({"specimen": one.id, "error": 1.0 - one.tally.found(), "tally": one.tally, "proven": one.proven});
    let value = json!({
        "error": 1.0 - tally.found(),
        "precision": tally.precision(),
        "recall": tally.found(),
        "f1": tally.f1(),
        "proven": proven,
        "reliability": bins,
        "specimens": named.iter().map(specimen).collect::<Vec<_>>(),
    });
    Ok((text, value))
}

/// In each bin of confidences: how many names, their mean confidence, and the share that is right.
fn reliability(named: &[Named]) -> Vec<Value> {
    let mut bins = [(0_usize, 0.0, 0_usize); BINS];
    for &(confidence, right) in named.iter().flat_map(|one| &one.calls) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        bins[bin] = (bins[bin].0 + 1, bins[bin].1 + confidence, bins[bin].2 + usize::from(right));
    }
    let filled = bins.iter().enumerate().filter(|(_, bin)| bin.0 > 0);
    let value = |(at, &(names, sum, right)): (usize, &(usize, f64, usize))| {
        json!({
            "from": at as f64 / BINS as f64,
            "to": (at + 1) as f64 / BINS as f64,
            "names": names,
            "confidence": sum / names as f64,
            "right": right as f64 / names as f64,
        })
    };
    filled.map(value).collect()
}

/// The same points and attributes: who names must not see names.
fn without_names(graph: &Graph) -> Result<Graph> {
    let points = graph.points().context("there are no points")?.to_owned();
    let bare = Graph::from_points(points)?;
    Ok(match graph.node_attributes() {
        Some(attributes) => bare.with_node_attributes(attributes.clone())?,
        None => bare,
    })
}
