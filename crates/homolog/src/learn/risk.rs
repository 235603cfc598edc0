//! The risk of all examples, R(w) = mean_n max_y [loss(y) + <w, Phi(y) - Phi(truth_n)>], as the bundle method asks for it: all parts of
//! [`PartRisk`], added up in order.

use super::Example;
use super::Oracle;
use super::parts::{PartMemory, PartRisk, Parts, Question};
use super::shards::Asked;
use crate::matching::{Matcher, WarmStart};
use crate::optimize::{Plane, Risk};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// What a training run remembers besides the optimiser's state.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    /// How many rounds there have been.
    pub(super) round: usize,
    /// How many problems were solved.
    pub(super) solves: usize,
    /// How many of the answers were proven.
    pub(super) proven: usize,
    /// What examples at hand remember.
    #[serde(default)]
    parts: Vec<PartMemory>,
    /// What was asked of shards in the rounds that they remember.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) asked: Vec<Asked>,
}

impl Memory {
    /// Where each example's last relaxation ended, in order; examples that have none are missing.
    pub(super) fn warm(&self) -> impl Iterator<Item = &WarmStart> {
        self.parts.iter().flat_map(|part| &part.warm)
    }

    /// Starts the next relaxation of each of these examples elsewhere.
    pub(super) fn start_from(&mut self, examples: &[Example], warm: Vec<WarmStart>) {
        let (parts, mut warm) = (Parts::of(examples), warm.into_iter());
        for (number, part) in self.parts.iter_mut().enumerate() {
            part.warm = warm.by_ref().take(parts.examples_of(number).len()).collect();
        }
    }
}

/// The risk of a set of examples.
pub(super) struct ExampleRisk<'a> {
    risk: PartRisk<'a>,
    examples: &'a [Example],
    memory: &'a mut Memory,
    closeness: Option<f64>,
    sketch: bool,
}

impl<'a> ExampleRisk<'a> {
    /// # Errors
    /// A memory that belongs to other examples.
    pub(super) fn new(
        oracle: &'a Oracle,
        examples: &'a [Example],
        matcher: &'a dyn Matcher,
        memory: &'a mut Memory,
        control: &'a Control,
    ) -> Result<Self> {
        let parts = Parts::of(examples);
        if memory.parts.is_empty() {
            memory.parts = vec![PartMemory::default(); parts.count()];
        }
        if memory.parts.len() != parts.count() || memory.proven > memory.solves {
            let (expected, found) = (parts.count(), memory.parts.len());
            return Err(Error::Size { what: "parts in the memory of a run", expected, found });
        }
        Ok(Self {
            risk: PartRisk { oracle, matcher, parts, control },
            examples,
            memory,
            closeness: None,
            sketch: false,
        })
    }

    /// For quick estimates: only the planes are wanted ([`Question::sketch`]).
    pub(super) fn sketched(self) -> Self {
        Self { sketch: true, ..self }
    }
}

impl Risk for ExampleRisk<'_> {
    fn dim(&self) -> usize {
        self.examples.first().map_or(0, |example| example.instance.dim())
    }

    fn parts(&self) -> usize {
        self.risk.parts.count()
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn aim(&mut self, closeness: f64) {
        self.closeness = Some(closeness);
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        let (round, closeness, sketch) = (self.memory.round, self.closeness, self.sketch);
        let question = Question { weights, round, closeness, sketch };
        let all = self.risk.parts.pieces(0..self.examples.len());
        let answers = self.risk.evaluate(&all, self.examples, &question, &mut self.memory.parts)?;
        let mut value = 0.0;
        for (answer, plane) in answers.into_iter().zip(planes) {
            value += answer.value;
            // A sketch is not an answer.
            if !self.sketch {
                self.memory.solves += answer.solves;
                self.memory.proven += answer.proven;
            }
            *plane = answer.plane;
        }
        self.memory.round += 1;
        Ok(value)
    }

    fn may_find_more(&self) -> bool {
        self.memory.proven < self.memory.solves
    }
}
