//! Training without a named set of features: what was tried, and what was taken, as a table and as JSON.

use crate::progress::{Watch, stop_is_wanted};
use anyhow::Result;
use homolog::features::{ImageDescriptor, Pose};
use homolog::learn::{AutoTrainer, Evaluation, LabelledPairs, Selected, SkipReason, Trained, Trainer, Tried};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was said about the sets that are tried.
pub(crate) struct Freedom {
    pub(crate) unmatched: Option<bool>,
    pub(crate) pose: Option<Pose>,
    pub(crate) images: Vec<ImageDescriptor>,
}

/// Tries the sets that fit within the time.
pub(crate) fn select(
    trainer: Trainer,
    freedom: Freedom,
    limit: Duration,
    training: &LabelledPairs,
    validation: &LabelledPairs,
    watch: &Watch,
) -> Result<Selected> {
    let start = Instant::now();
    let clock = Arc::new(move || start.elapsed().as_secs_f64());
    let time_limit = Some(limit.as_secs_f64());
    let Freedom { unmatched, pose, images } = freedom;
    let auto = AutoTrainer { trainer, unmatched, pose, atlas: true, images, time_limit, clock };
    Ok(auto.train(training, validation, &watch.control(""))?)
}

/// The table, and what it means.
pub(crate) fn text(selected: &Selected) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "  features                    error on held-out pairs   before learning   a match takes   proven")?;
    for (number, tried) in selected.tried.iter().enumerate() {
        let mark = if number == selected.chosen { '*' } else { ' ' };
        let error = tried.summary().unwrap_or_else(|| "not measured".to_string());
        let before = tried.unlearned_error.map_or("-".to_string(), |error| format!("{error:.4}"));
        let time = tried.match_seconds.map_or("-".to_string(), time);
        let proven = if tried.proven { "yes" } else { "no" };
        let some = tried.pairs.map_or_else(String::new, |[done, of]| format!("   on {done} of {of} pairs"));
        writeln!(text, "{mark} {:26} {error:>24} {before:>17} {time:>15}   {proven}{some}", tried.name)?;
    }
    for skipped in &selected.skipped {
        let reason = match skipped.reason {
            SkipReason::NothingToGain => "not tried: nothing left to gain",
            _ => "not tried: no time left",
        };
        writeln!(text, "  {:26} {reason}", skipped.name)?;
    }
    writeln!(text, "\n{}\n{}", selected.sentence(), selected.learning())?;
    if selected.passed_over_an_atlas() {
        writeln!(
            text,
            "All specimens share names: --features atlas makes a model that names the points of a new one."
        )?;
    }
    if !selected.is_complete() {
        let (who, hint) =
            if stop_is_wanted() { ("Ctrl-C", "") } else { ("The time limit", "; --time-limit gives it longer") };
        writeln!(text, "{who} ended its training before everything was tried{hint}.")?;
    }
    Ok(text)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}

/// The same as JSON.
pub(crate) fn json(selected: &Selected) -> Result<String> {
    let value = json!({
        "chosen": selected.tried[selected.chosen].name,
        "tried": selected.tried.iter().map(row).collect::<Vec<_>>(),
        "skipped": selected.skipped,
        "sentence": selected.learning(),
        "complete": selected.is_complete(),
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// For features that were given.
pub(crate) fn json_of_one(name: &str, trained: &Trained) -> Result<String> {
    let (before, after) = (trained.before(), trained.after());
    let row = json!({
        "name": name,
        "error": after.map(Evaluation::mean),
        "standard_error": after.map(Evaluation::standard_error),
        "unlearned_error": before.map(Evaluation::mean),
    });
    let value = json!({
        "chosen": name, "tried": [row], "skipped": [], "sentence": trained.sentence(), "complete": trained.complete,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn row(tried: &Tried) -> serde_json::Value {
    json!({
        "name": tried.name,
        "error": tried.error,
        "standard_error": tried.standard_error,
        "interval": tried.interval,
        "pairs": tried.pairs,
        "unlearned_error": tried.unlearned_error,
        "match_seconds": tried.match_seconds,
        "proven": tried.proven,
    })
}
