//! [`Oracle`]: what answers the question for the most violated constraint in training.

use super::Example;
use super::relaxed_risk::RelaxedRisk;
use super::risk::{Memory, StructuredRisk};
use crate::Result;
use crate::matching::{LpRelaxation, Matcher};
use crate::optimize::{Plane, Risk};
use serde::{Deserialize, Serialize};

/// Where the planes of training come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Oracle {
    /// The matcher that training is given. What it learns is proven only where the matcher proves its answers.
    #[default]
    Search,
    /// The linear relaxation: soft matchings in place of matchings. The risk is then an upper bound on the mean slack, and objective
    /// and bound are proven of it whatever the graphs. Training then asks the matcher nothing. `gap` and `tolerance` hold for the
    /// first evaluation; later ones are as precise as the gap between objective and bound needs.
    Relaxation(LpRelaxation),
}

/// What training against the relaxation proves of the weights, besides objective and bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaxedProof {
    /// The mean loss on the training examples of predictions that score best is at most this. `None` if the truth of some example is
    /// no answer to its problem (a node without a partner where all have to be matched), as then it need not score less.
    pub loss: Option<f64>,
    /// How many training problems there are.
    pub problems: usize,
    /// How many of them the relaxation solves with proof under these weights, without branching. `None` if training was broken off.
    pub tight: Option<usize>,
}

/// The risk that an oracle stands for.
pub(super) enum OracleRisk<'a> {
    Search(StructuredRisk<'a>),
    Relaxed(RelaxedRisk<'a>),
}

impl<'a> OracleRisk<'a> {
    pub(super) fn new(oracle: &Oracle, examples: &'a [Example], matcher: &'a dyn Matcher, memory: Memory) -> Self {
        match oracle {
            Oracle::Search => Self::Search(StructuredRisk::new(examples, matcher, memory)),
            Oracle::Relaxation(solver) => Self::Relaxed(RelaxedRisk::new(examples, solver.clone(), memory)),
        }
    }

    fn risk(&self) -> &dyn Risk {
        match self {
            Self::Search(risk) => risk,
            Self::Relaxed(risk) => risk,
        }
    }

    fn risk_mut(&mut self) -> &mut dyn Risk {
        match self {
            Self::Search(risk) => risk,
            Self::Relaxed(risk) => risk,
        }
    }

    pub(super) fn memory(self) -> Memory {
        match self {
            Self::Search(risk) => risk.memory,
            Self::Relaxed(risk) => risk.memory,
        }
    }

    /// What was asked so far; with weights that training ended at, also what the relaxation makes of them.
    pub(super) fn counts(&self, weights: Option<&[f64]>) -> Result<Counts> {
        match self {
            Self::Search(StructuredRisk { memory, .. }) => {
                Ok(Counts { solves: memory.solves, proven: memory.proven, relaxed: None })
            }
            Self::Relaxed(risk) => {
                let (solves, proven) = (risk.memory.solves, risk.memory.proven);
                let tight = weights.map(|weights| risk.tight(weights)).transpose()?;
                let relaxed = RelaxedCounts { problems: risk.examples.len(), tight, feasible: risk.is_feasible() };
                Ok(Counts { solves, proven, relaxed: Some(relaxed) })
            }
        }
    }
}

/// What was asked up to some moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) solves: usize,
    pub(super) proven: usize,
    relaxed: Option<RelaxedCounts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelaxedCounts {
    problems: usize,
    tight: Option<usize>,
    /// Every truth is an answer to its problem.
    feasible: bool,
}

impl Counts {
    pub(super) fn proof(&self, risk: f64) -> Option<RelaxedProof> {
        let RelaxedCounts { problems, tight, feasible } = self.relaxed?;
        Some(RelaxedProof { loss: feasible.then_some(risk), problems, tight })
    }
}

impl Risk for OracleRisk<'_> {
    fn dim(&self) -> usize {
        self.risk().dim()
    }

    fn parts(&self) -> usize {
        self.risk().parts()
    }

    fn floor(&self) -> Option<f64> {
        self.risk().floor()
    }

    fn aim(&mut self, closeness: f64) {
        self.risk_mut().aim(closeness);
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        self.risk_mut().evaluate(weights, planes)
    }

    fn may_find_more(&self) -> bool {
        self.risk().may_find_more()
    }
}
