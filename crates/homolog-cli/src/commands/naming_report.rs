//! `evaluate` on a model that names: names compared with those in the data, and how far confidences can be believed.

use super::name::write_picture;
use super::naming_rows::{Named, named};
use crate::counted::counted;
use crate::inputs::Input;
use crate::progress::Watch;
use anyhow::{Result, bail};
use homolog::data::Split;
use homolog::data::dataset::LabelledPair;
use homolog::experiment::Tally;
use homolog::features::FeatureMap;
use homolog::learn::{Evaluation, wilson};
use homolog::loss::LossKind;
use homolog::model::Model;
use homolog_viz::{LossChart, Measurement, Series};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Bins of the reliability diagram.
const BINS: usize = 10;

/// Which specimens are named, and the .csv or .jsonl file that they are written to.
pub(super) struct Scope<'a> {
    pub(super) input: &'a Input,
    /// Positions of specimens with names.
    pub(super) wanted: &'a [usize],
    pub(super) output: Option<&'a Path>,
    pub(super) resume: bool,
}

/// Names every specimen that has names, of a split only those that are in one of its pairs, and compares: a text and the same as JSON.
pub(super) fn evaluate(
    model: &Model,
    input: &Input,
    (loss, split): (LossKind, Option<&str>),
    (limit, worst, picture): (Option<Duration>, usize, Option<&Path>),
    (output, resume): (Option<&Path>, bool),
) -> Result<(String, Value)> {
    let is_wanted = |pair: &LabelledPair| split.is_none() || pair.split.map(Split::name) == split;
    let of_pairs = input.data.pairs().iter().filter(|pair| is_wanted(pair)).flat_map(|pair| [pair.left, pair.right]);
    let of_pairs: BTreeSet<usize> = of_pairs.collect();
    let graphs = input.data.graphs();
    let is_in = |at: &usize| (split.is_none() || of_pairs.contains(at)) && graphs[*at].graph.names().is_some();
    let wanted: Vec<usize> = (0..graphs.len()).filter(is_in).collect();
    let watch = Watch::new(limit);
    let named = named(model, &Scope { input, wanted: &wanted, output, resume }, &watch)?;
    let ended_by = watch.ended_by();
    watch.end();
    let pairs = matched(&named, input, loss, is_wanted)?;
    let mut named: Vec<Named> = named.into_iter().flatten().collect();
    let with_names = wanted.len();
    if let (Some(ended_by), true) = (ended_by, named.is_empty() && with_names > 0) {
        bail!("stopped by {ended_by} before the first specimen was named");
    }
    if let (Some(split), true) = (split, named.is_empty()) {
        bail!("no specimen of the split {split} has names to compare with");
    }
    if named.is_empty() {
        bail!("no specimen has names to compare with");
    }
    let tally = named.iter().fold(Tally::default(), |sum, one| sum.plus(one.tally));
    let proven = named.iter().filter(|one| one.proven).count();
    let mut text = format!("{} named, {proven} of them proven best in their pose\n", counted(named.len(), "specimen"));
    if let (Some(ended_by), 1..) = (ended_by, with_names - named.len()) {
        writeln!(
            text,
            "Stopped early by {ended_by}: {} of {with_names} specimens were not named; the figures below cover the others.",
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
    if !pairs.losses.is_empty() {
        writeln!(
            text,
            "Joined by name: {} loss {} on {}",
            loss.name(),
            pairs.summary(),
            counted(pairs.losses.len(), "pair")
        )?;
    }
    let bins = reliability(&named);
    if let Some(path) = picture {
        if bins.is_empty() {
            bail!("--picture: the model gives no confidences (it was learned from one specimen alone)");
        }
        write_picture(path, &reliability_picture(&bins))?;
    }
    if !bins.is_empty() {
        writeln!(text, "Confidence      names   right")?;
        for bin in &bins {
            writeln!(text, "  {:.1} to {:.1}  {:>7}  {:>6.4}", bin.from, bin.to, bin.names, bin.share())?;
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
        "reliability": bins.iter().map(Bin::value).collect::<Vec<_>>(),
        "loss": loss.name(),
        "pair_loss": (!pairs.losses.is_empty()).then(|| json!({"loss": pairs.mean(), "stderr": pairs.standard_error(), "pairs": pairs.losses.len()})),
        "specimens": named.iter().map(specimen).collect::<Vec<_>>(),
    });
    Ok((text, value))
}

/// The losses of the labelled pairs whose specimens were both named, joined by name.
fn matched(
    named: &[Option<Named>],
    input: &Input,
    loss: LossKind,
    is_wanted: impl Fn(&LabelledPair) -> bool,
) -> Result<Evaluation> {
    let (labelled, numbers) = input.data.labelled(is_wanted);
    let examples = labelled.examples(&FeatureMap::nothing(), loss.loss())?;
    let (mut losses, mut specimens) = (Vec::new(), Vec::new());
    for (example, number) in examples.iter().zip(numbers) {
        let pair = &input.data.pairs()[number];
        if let (Some(left), Some(right)) = (&named[pair.left], &named[pair.right]) {
            losses.push(example.whole_loss(&left.join(right)?));
            specimens.push(Some([pair.left, pair.right]));
        }
    }
    Ok(Evaluation { losses, specimens, ..Evaluation::default() })
}

/// The share of right names against their confidence, beside the line where the two agree.
fn reliability_picture(bins: &[Bin]) -> String {
    let point = |bin: &Bin| {
        let ([low, high], share) = (wilson(bin.right, bin.names), bin.share());
        Measurement { x: bin.confidence, y: share, error: [share - low, high - share] }
    };
    let exact = |x: f64| Measurement { x, y: x, error: [0.0; 2] };
    let names: usize = bins.iter().map(|bin| bin.names).sum();
    LossChart {
        title: "How far confidences can be believed".to_string(),
        x_label: format!("confidence ({names} names; bars are 95 % intervals)"),
        y_label: "share of names that are right".to_string(),
        series: vec![
            Series { name: "names".to_string(), points: bins.iter().map(point).collect(), dashed: false },
            Series { name: "as stated".to_string(), points: vec![exact(0.0), exact(1.0)], dashed: true },
        ],
        ..LossChart::default()
    }
    .to_svg()
}

/// Names of about the same confidence.
#[derive(Default)]
struct Bin {
    from: f64,
    to: f64,
    names: usize,
    right: usize,
    /// Their mean.
    confidence: f64,
}

impl Bin {
    /// The share that is right.
    fn share(&self) -> f64 {
        self.right as f64 / self.names as f64
    }

    fn value(&self) -> Value {
        let Self { from, to, names, confidence, .. } = self;
        json!({"from": from, "to": to, "names": names, "confidence": confidence, "right": self.share()})
    }
}

/// Every bin of confidences that has a name.
fn reliability(named: &[Named]) -> Vec<Bin> {
    let edge = |at: usize| at as f64 / BINS as f64;
    let mut bins: Vec<Bin> = (0..BINS).map(|at| Bin { from: edge(at), to: edge(at + 1), ..Bin::default() }).collect();
    for &(confidence, right) in named.iter().flat_map(|one| &one.calls) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
        let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.names += 1;
        bin.right += usize::from(right);
        bin.confidence += (confidence - bin.confidence) / bin.names as f64;
    }
    bins.retain(|bin| bin.names > 0);
    bins
}
