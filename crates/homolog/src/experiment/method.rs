//! [`SequenceMethod`]: the methods of the paper's sequence experiment and a few more; for each the matcher, the trainer and the λ to choose
//! from. Whoever runs the experiment asks here.

use crate::learn::{Oracle, Trainer};
use crate::matching::{Bistochastic, Exact, GraduatedAssignment, Linear, LpRelaxation, Method};
use crate::optimize::Bundle;
use serde::{Deserialize, Serialize};

/// λ to choose from without edges, as in the authors' experiments.
pub const LINEAR_LAMBDAS: [f64; 6] = [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4];
/// λ to choose from with edges; smaller ones were never chosen.
pub(crate) const EDGE_LAMBDAS: [f64; 3] = [1.0, 0.1, 0.01];
/// The gap without edges: the looser default leaves the weights a node or two apart.
const LINEAR_GAP: f64 = 1e-4;
/// The gap against the relaxation and in scenes: a closer one takes several times as long and changes no loss by more than .002.
pub(super) const LOOSE_GAP: f64 = 1e-2;

/// A way to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceMethod {
    /// Linear assignment, all weights one.
    Linear,
    /// Linear assignment, learned.
    LinearLearned,
    /// Graduated assignment with edges, all weights one.
    Quadratic,
    /// With edges, learned by search, matched by the exact solver.
    QuadraticLearned,
    /// With edges, learned against the relaxation: what is learned is proven.
    QuadraticCertified,
    /// Bistochastic normalisation and graduated assignment, all weights one.
    Bistochastic,
    /// With edges, all weights one, matched by the exact solver: quadratic-learned without learning.
    QuadraticExact,
    /// Linear assignment with soft bins, all weights one (not the paper's).
    Soft,
    /// Linear assignment with soft bins, learned if that helps.
    SoftLearned,
}

impl SequenceMethod {
    /// All methods.
    pub const ALL: [Self; 9] = [
        Self::Linear,
        Self::LinearLearned,
        Self::Quadratic,
        Self::QuadraticLearned,
        Self::QuadraticCertified,
        Self::Bistochastic,
        Self::QuadraticExact,
        Self::Soft,
        Self::SoftLearned,
    ];

    /// Its name in arguments and results, and a line on what it is.
    const fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Linear => ("linear", "Linear assignment, all weights one"),
            Self::LinearLearned => ("linear-learned", "Linear assignment, learned"),
            Self::Quadratic => ("quadratic", "Graduated assignment with edges, all weights one"),
            Self::QuadraticLearned => {
                ("quadratic-learned", "With edges, learned by search, matched by the exact solver")
            }
            Self::QuadraticCertified => {
                ("quadratic-certified", "With edges, learned against the relaxation: what is learned is proven")
            }
            Self::Bistochastic => {
                ("bistochastic", "Bistochastic normalisation and graduated assignment, all weights one")
            }
            Self::QuadraticExact => (
                "quadratic-exact",
                "With edges, all weights one, matched by the exact solver: quadratic-learned without learning",
            ),
            Self::Soft => ("soft", "Linear assignment with soft bins, before learning (not the paper's)"),
            Self::SoftLearned => ("soft-learned", "Linear assignment with soft bins, learned if that helps"),
        }
    }

    /// Its name in arguments and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.about().0
    }

    /// What it is, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.about().1
    }

    /// The method of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether weights are learned.
    #[must_use]
    pub fn is_learned(self) -> bool {
        matches!(self, Self::LinearLearned | Self::QuadraticLearned | Self::QuadraticCertified | Self::SoftLearned)
    }

    /// How it predicts.
    #[must_use]
    pub fn matcher(self) -> Method {
        match self {
            Self::Linear | Self::LinearLearned | Self::Soft | Self::SoftLearned => Method::Linear(Linear::default()),
            Self::Quadratic => Method::GraduatedAssignment(GraduatedAssignment::default()),
            Self::Bistochastic => Method::Bistochastic(Bistochastic::default()),
            Self::QuadraticLearned | Self::QuadraticCertified | Self::QuadraticExact => Method::Exact(Exact::default()),
        }
    }

    /// The same without learning: the same features, matched in the same way.
    #[must_use]
    pub fn unlearned(self) -> Self {
        match self {
            Self::LinearLearned => Self::Linear,
            Self::SoftLearned => Self::Soft,
            Self::QuadraticLearned | Self::QuadraticCertified => Self::QuadraticExact,
            unlearned => unlearned,
        }
    }

    /// How it learns, if it does: the paper's way, but for soft bins.
    #[must_use]
    pub fn trainer(self) -> Trainer {
        let matcher = Some(self.matcher());
        let paper = |bundle: Bundle, lambdas: &[f64]| Trainer {
            bundle,
            lambdas: lambdas.to_vec(),
            matcher: matcher.clone(),
            ..Trainer::paper()
        };
        let gap = |gap_tolerance: f64| Bundle { gap_tolerance, ..Bundle::default() };
        match self {
            Self::Soft | Self::SoftLearned => Trainer { matcher, ..Trainer::default() },
            Self::Linear | Self::LinearLearned => paper(gap(LINEAR_GAP), &LINEAR_LAMBDAS),
            Self::QuadraticCertified => {
                Trainer { oracle: Oracle::Relaxation(LpRelaxation::default()), ..paper(gap(LOOSE_GAP), &EDGE_LAMBDAS) }
            }
            _ => paper(Bundle { max_iterations: 100, ..Bundle::default() }, &EDGE_LAMBDAS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learned_method_matches_as_it_does_before_learning() {
        for method in SequenceMethod::ALL {
            assert_eq!(SequenceMethod::named(method.name()), Some(method));
            assert_eq!(method.matcher().name(), method.unlearned().matcher().name());
            assert!(!method.unlearned().is_learned());
        }
    }
}
