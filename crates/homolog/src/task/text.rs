//! A report in words: the same in every shell.

use super::{AtlasReport, TaskReport};
use crate::atlas::{Pose, Presence};
use crate::counted;
use crate::learn::{SkipReason, ValidatedBy};
use std::fmt::{Display, Formatter, Result};

impl Display for TaskReport {
    fn fmt(&self, text: &mut Formatter<'_>) -> Result {
        if self.choice.is_some() {
            self.table_of_sets(text)?;
        } else if let Some(atlas) = &self.atlas {
            write!(text, "{atlas}")?;
        } else {
            self.table_of_candidates(text)?;
        }
        for sentence in self.choice.iter().chain([&self.sentence]).chain(&self.note) {
            writeln!(text, "{sentence}")?;
        }
        if let (None, Some(expected)) = (&self.choice, self.expected()) {
            writeln!(text, "{expected}")?;
        }
        if let Some([drawn, all]) = self.drawn {
            writeln!(
                text,
                "The data set lists no pairs: {drawn} of the {all} pairs of graphs were drawn to learn from."
            )?;
        }
        for sentence in self.left_out.sentences() {
            writeln!(text, "{sentence}")?;
        }
        if !self.unused.is_empty() {
            writeln!(text, "In the data but not compared: {}.", self.unused.join(", "))?;
        }
        if self.passed_over_an_atlas() {
            writeln!(
                text,
                "All specimens share names: an atlas (features \"atlas\") would name the points of a new one."
            )?;
        }
        if !self.complete {
            writeln!(text, "Stopped early: this is the best result so far.")?;
        }
        Ok(())
    }
}

impl TaskReport {
    /// Whether an atlas was possible and something else was chosen.
    fn passed_over_an_atlas(&self) -> bool {
        let mut names =
            self.tried.iter().map(|tried| &tried.name).chain(self.skipped.iter().map(|skipped| &skipped.name));
        self.atlas.is_none() && names.any(|name| name.starts_with("atlas"))
    }

    /// What to expect of new specimens, in a sentence.
    fn expected(&self) -> Option<String> {
        let tried = self.tried.iter().find(|tried| tried.name == self.chosen)?;
        tried.interval?;
        Some(format!("Error to expect on new specimens: {}.", tried.summary_with("90 % interval ")?))
    }

    fn table_of_sets(&self, text: &mut Formatter<'_>) -> Result {
        writeln!(
            text,
            "  features                    error on held-out pairs           before learning   a match takes   proven"
        )?;
        for (number, tried) in self.tried.iter().enumerate() {
            let mark = if tried.name == self.chosen { '*' } else { ' ' };
            let error = tried.summary().unwrap_or_else(|| "not measured".to_string());
            let before = tried.unlearned_error.map_or("-".to_string(), |error| format!("{error:.3}"));
            let time = self.seconds.get(number).copied().flatten().map_or("-".to_string(), time);
            let proven = if tried.proven { "yes" } else { "no" };
            let some = tried.pairs.filter(|[done, of]| done < of);
            let some = some.map_or_else(String::new, |[_, of]| format!("   of {of}: no time for more"));
            writeln!(text, "{mark} {:26} {error:>32} {before:>17} {time:>15}   {proven}{some}", tried.name)?;
        }
        for skipped in &self.skipped {
            let reason = match skipped.reason {
                SkipReason::NothingToGain => "not tried: could not be better by more than 0.01",
                SkipReason::NoTime => "not tried: no time left",
            };
            writeln!(text, "  {:26} {reason}", skipped.name)?;
        }
        writeln!(text)
    }

    fn table_of_candidates(&self, text: &mut Formatter<'_>) -> Result {
        let (Some(best), Some(training)) = (self.candidates.iter().find(|own| own.chosen), &self.training) else {
            return Ok(());
        };
        let by = match self.by {
            Some(ValidatedBy::Pairs { pairs }) => format!("chosen by {pairs} validation pairs"),
            Some(ValidatedBy::Specimens { folds }) => format!("chosen by {folds}-fold cross-validation over specimens"),
            Some(ValidatedBy::OnePair) => "from one pair alone".to_string(),
            _ => "with nothing to choose by".to_string(),
        };
        let what = match best.lambda {
            Some(lambda) => format!("{}, λ = {}", best.learner.name(), digits(lambda)),
            None => "the weights before learning".to_string(),
        };
        let [pairs, weights] =
            [(training.examples, "pair"), (best.weights.len(), "weight")].map(|(n, what)| counted(n, what));
        writeln!(text, "{pairs}, {weights}: {what}, {by}.")?;
        if self.candidates.len() > 1 {
            writeln!(text, "\n  learner              λ   objective     gap   error on held-out pairs")?;
            for own in &self.candidates {
                let mark = if own.chosen { '*' } else { ' ' };
                let error = own.summary.as_deref().unwrap_or("-");
                let lambda = own.lambda.map_or("-".to_string(), digits);
                let objective = own.objective.map_or("-".to_string(), |objective| format!("{objective:.5}"));
                let gap = own.gap.map_or("-".to_string(), |gap| {
                    // Below that it is rounding.
                    if gap < 1e-12 { "0".to_string() } else { format!("{gap:.1e}") }
                });
                writeln!(text, "{mark} {:11} {lambda:>8} {objective:>11} {gap:>7}   {error}", own.learner.name())?;
            }
            writeln!(text)?;
        }
        Ok(())
    }
}

impl Display for AtlasReport {
    fn fmt(&self, text: &mut Formatter<'_>) -> Result {
        let Self { landmarks, edges, specimens, .. } = self;
        let [landmarks, edges, specimens] =
            [(*landmarks, "landmark"), (*edges, "edge"), (*specimens, "specimen")].map(|(n, what)| counted(n, what));
        writeln!(text, "Learned an atlas of {landmarks} and {edges} from {specimens}.")?;
        let oriented = match self.pose {
            Pose::AsGiven => "They are oriented alike, and new ones should be too",
            Pose::Tilted => "They are tilted against each other by up to 45°; new ones may be",
            _ => "They are rotated against each other; new ones may be",
        };
        let all = match self.presence {
            Presence::Auto => "whether every landmark is present is decided for each new one",
            Presence::Complete => "every landmark is present",
            Presence::Partial => "landmarks may be missing, and some points may not be landmarks",
        };
        // One specimen alone shows neither.
        if self.specimens > 1 {
            writeln!(text, "{oriented}; {all}.")?;
        }
        if self.learned {
            let weights: Vec<String> =
                self.weights.iter().map(|(name, weight)| format!("{name} {weight:.2}")).collect();
            writeln!(text, "How much each kind of evidence counts was learned: {}.", weights.join(", "))?;
        }
        Ok(())
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}

/// A number to three digits.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-4..1e6).contains(&rounded.abs()) { format!("{rounded:e}") } else { format!("{rounded}") }
}
