//! [`MaxMargin`]: the paper's learner, at one λ or along a path of them that shares all cutting planes.

use super::oracle::{Counts, OracleRisk};
use super::risk::Memory;
use super::{Example, Learner, Oracle, RelaxedProof};
use crate::matching::Matcher;
use crate::optimize::{Bundle, Minimum, Observer, Path, PathState, State, Step, StopReason, WeightRule};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Settings of max-margin learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxMargin {
    /// λ, the gap to reach, and limits.
    pub bundle: Bundle,
    /// What each weight may be; empty: anything.
    pub rules: Vec<WeightRule>,
    /// Where planes come from: the matcher, or the linear relaxation.
    pub oracle: Oracle,
}

/// Learned weights, and what is known of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// One per feature.
    pub weights: Vec<f64>,
    /// The λ they belong to.
    pub lambda: f64,
    /// λ/2 |w|² + risk, at the weights.
    pub objective: f64,
    /// The mean slack: no less than the mean training loss if certified.
    pub risk: f64,
    /// No weights have a smaller objective, if certified.
    pub bound: f64,
    /// (objective - bound) / objective.
    pub gap: f64,
    /// Why training ended.
    pub stop: StopReason,
    /// Every answer of the matcher was proven optimal, so that objective, bound and gap are facts.
    pub certified: bool,
    /// How many problems were solved, up to here on the path.
    pub solves: usize,
    /// How many of the answers were proven optimal.
    pub proven: usize,
    /// What is proven besides, if the oracle was the relaxation; objective, risk and bound are then those of soft matchings.
    pub relaxed: Option<RelaxedProof>,
    /// Every step at this λ.
    pub history: Vec<Step>,
}

impl Fit {
    /// What is proven, in words.
    #[must_use]
    pub fn note(&self) -> String {
        let ending = match self.stop {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "did not converge within the limit of evaluations",
            StopReason::Interrupted => "was stopped before it converged",
            StopReason::Stalled => "came to a halt before the gap closed",
        };
        if let Some(proof) = &self.relaxed {
            self.relaxed_note(ending, proof)
        } else if self.certified {
            format!(
                "Training {ending}: the objective is {:.6} and no weights have less than {:.6} (proven).",
                self.objective, self.bound
            )
        } else {
            format!(
                "Training {ending}. The search proved {} of {} answers optimal, so the gap of {:.2e} is an estimate and no proof.",
                self.proven, self.solves, self.gap
            )
        }
    }

    fn relaxed_note(&self, ending: &str, proof: &RelaxedProof) -> String {
        let (objective, bound) = (self.objective, self.bound);
        let loss = proof
            .loss
            .map(|loss| format!(" The mean training loss of exact predictions is at most {loss:.6} (proven)."));
        let tight = proof.tight.map(|tight| {
            format!(" The relaxation alone solves and proves {tight} of {} training problems.", proof.problems)
        });
        let sentences = [
            format!(
                "Training {ending}: the relaxed objective is at most {objective:.6} and no weights have less than {bound:.6} (proven)."
            ),
            loss.unwrap_or_default(),
            tight.unwrap_or_default(),
        ];
        sentences.concat()
    }
}

/// A run of training that can be written down (by serde, floats bit for bit), read back and continued with the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    path: PathState,
    memory: Memory,
    /// Counts at the end of each λ that is done.
    counts: Vec<Counts>,
}

/// A search that proves nothing is believed only after so many tries in vain, also where there are few examples: from a single house
/// pair at baseline 90, 15 tries end at a test loss of .071 and 40 at .000.
const LEAST_SEARCHES: usize = 40;

impl Learner for MaxMargin {
    fn fit(&self, examples: &[Example], matcher: &dyn Matcher, observe: Observer<'_>) -> Result<Fit> {
        let mut fits = self.fit_path(&[self.bundle.lambda], examples, matcher, observe)?;
        fits.pop().ok_or(Error::NoExamples)
    }
}

impl MaxMargin {
    /// Learns at every λ, in the order given; each starts from all that was learned before, so that the whole path costs little more
    /// than its most expensive λ. From large to small is cheapest. If the observer breaks off, later λ are missing.
    ///
    /// # Errors
    /// As [`Learner::fit`].
    pub fn fit_path(
        &self,
        lambdas: &[f64],
        examples: &[Example],
        matcher: &dyn Matcher,
        observe: Observer<'_>,
    ) -> Result<Vec<Fit>> {
        let mut training = self.start(examples, matcher, None)?;
        self.resume(&mut training, lambdas, examples, matcher, observe)
    }

    /// A run that has not begun; from weights of another model, if given.
    ///
    /// # Errors
    /// No examples, examples of different features, or weights that do not fit them.
    pub fn start(&self, examples: &[Example], matcher: &dyn Matcher, weights: Option<&[f64]>) -> Result<Training> {
        let Some(first) = examples.first() else { return Err(Error::NoExamples) };
        for example in examples {
            let (expected, found) = (first.instance().dim(), example.instance().dim());
            if expected != found {
                return Err(Error::Size { what: "features of an example", expected, found });
            }
        }
        let risk = OracleRisk::new(&self.oracle, examples, matcher, Memory::default());
        let state = State::new(&risk, &self.rules, weights)?;
        Ok(Training { path: PathState { minima: Vec::new(), state }, memory: risk.memory(), counts: Vec::new() })
    }

    /// Continues a run: with the same examples, matcher and λ the result has the same bytes as without the break.
    ///
    /// # Errors
    /// As [`Learner::fit`]; a run that does not fit the examples.
    pub fn resume(
        &self,
        training: &mut Training,
        lambdas: &[f64],
        examples: &[Example],
        matcher: &dyn Matcher,
        observe: Observer<'_>,
    ) -> Result<Vec<Fit>> {
        let mut risk = OracleRisk::new(&self.oracle, examples, matcher, std::mem::take(&mut training.memory));
        let mut bundle = self.bundle;
        if bundle.second_looks > 0 {
            bundle.second_looks = bundle.second_looks.max(LEAST_SEARCHES.div_ceil(examples.len().max(1)));
        }
        let mut ended = Ok(());
        let mut last = None;
        let broken_off = Cell::new(false);
        let mut watch = |step: &Step| {
            let flow = observe(step);
            broken_off.set(broken_off.get() || flow.is_break());
            flow
        };
        while training.path.minima.len() < lambdas.len() && last.is_none() {
            let done = training.path.minima.len();
            let path = Path { lambdas: lambdas[..=done].to_vec(), bundle };
            match path.run(&mut training.path, &mut risk, &mut watch) {
                Ok(_) if training.path.minima.len() > done => {
                    match risk.counts(Some(&training.path.minima[done].weights)) {
                        Ok(counts) => training.counts.push(counts),
                        Err(error) => {
                            training.path.minima.pop();
                            ended = Err(error);
                        }
                    }
                }
                Ok(minima) => last = minima.last().cloned(),
                Err(error) => ended = Err(error),
            }
            if broken_off.get() || ended.is_err() {
                break;
            }
        }
        let now = risk.counts(None);
        training.memory = risk.memory();
        ended?;
        let now = now?;
        let done = training.path.minima.iter().zip(&training.counts);
        let mut fits: Vec<Fit> = done.map(|(minimum, &counts)| fit_of(minimum, counts)).collect();
        fits.extend(last.iter().map(|minimum| fit_of(minimum, now)));
        Ok(fits)
    }
}

fn fit_of(minimum: &Minimum, counts: Counts) -> Fit {
    let (Counts { solves, proven, .. }, relaxed) = (counts, counts.proof(minimum.risk));
    let Minimum { weights, lambda, objective, risk, bound, gap, stop, history } = minimum.clone();
    // Where they meet, rounding may put the bound a hair above the objective.
    let (bound, gap) = (bound.min(objective), gap.max(0.0));
    Fit {
        weights,
        lambda,
        objective,
        risk,
        bound,
        gap,
        stop,
        certified: solves == proven,
        solves,
        proven,
        relaxed,
        history,
    }
}
