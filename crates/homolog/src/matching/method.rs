//! [`Method`]: the list of all matchers, for settings files, programs and the conformance tests.

use super::soft::check_nodes;
use super::{
    Bistochastic, BruteForce, Compatibility, Exact, FrankWolfe, GraduatedAssignment, Hungarian, Linear, Matcher, Rrwm,
    Spectral, TabuSearch,
};
use crate::Result;
use serde::{Deserialize, Serialize};

/// Every matcher, by name, with its settings.
///
/// ```
/// use homolog::matching::{Linear, Method};
/// assert_eq!(serde_json::to_string(&Method::Linear(Linear::default()))?, r#"{"name":"linear","require_full":false}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Exact linear assignment.
    Linear(Linear),
    /// Exact linear assignment, simple and slow: the check on [`Method::Linear`].
    Hungarian(Hungarian),
    /// Softassign under a falling temperature, the quadratic solver of the paper.
    GraduatedAssignment(GraduatedAssignment),
    /// Bistochastic normalisation of the scores, then graduated assignment.
    Bistochastic(Bistochastic),
    /// The principal eigenvector of the affinities.
    Spectral(Spectral),
    /// Reweighted random walks.
    Rrwm(Rrwm),
    /// Frank-Wolfe ascent from several starts and local search.
    FrankWolfe(FrankWolfe),
    /// Robust tabu search with restarts: for dense graphs.
    TabuSearch(TabuSearch),
    /// Tries every matching of a small problem, edges included.
    BruteForce(BruteForce),
    /// Exact quadratic matching with bounds; can be stopped at any time.
    Exact(Exact),
}

impl Method {
    /// All matchers with their default settings.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::Linear(Linear::default()),
            Self::Hungarian(Hungarian::default()),
            Self::GraduatedAssignment(GraduatedAssignment::default()),
            Self::Bistochastic(Bistochastic::default()),
            Self::Spectral(Spectral::default()),
            Self::Rrwm(Rrwm::default()),
            Self::FrankWolfe(FrankWolfe::default()),
            Self::TabuSearch(TabuSearch::default()),
            Self::BruteForce(BruteForce::default()),
            Self::Exact(Exact::default()),
        ]
    }

    /// The name in settings files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear(_) => "linear",
            Self::Hungarian(_) => "hungarian",
            Self::GraduatedAssignment(_) => "graduated-assignment",
            Self::Bistochastic(_) => "bistochastic",
            Self::Spectral(_) => "spectral",
            Self::Rrwm(_) => "rrwm",
            Self::FrankWolfe(_) => "frank-wolfe",
            Self::TabuSearch(_) => "tabu-search",
            Self::BruteForce(_) => "brute-force",
            Self::Exact(_) => "exact",
        }
    }

    /// Whether it solves problems whose node scores are computed when they are needed without making a table of them.
    #[must_use]
    pub fn takes_rows(&self) -> bool {
        match self {
            // What does not fit the relaxation of the exact solver is searched alone.
            Self::Linear(_) | Self::Exact(_) => true,
            Self::GraduatedAssignment(solver) => solver.polish,
            Self::FrankWolfe(solver) => solver.polish,
            _ => false,
        }
    }

    /// Refuses tables that this matcher would refuse because of their number of nodes alone: worth asking before the problem is built.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) with the size and the limit.
    pub fn check_size(&self, left_count: usize, right_count: usize, has_edges: bool) -> Result<()> {
        Compatibility::check_size(left_count, right_count)?;
        match self {
            Self::Exact(_) if has_edges => check_nodes(left_count, right_count),
            Self::GraduatedAssignment(_)
            | Self::Bistochastic(_)
            | Self::Spectral(_)
            | Self::Rrwm(_)
            | Self::FrankWolfe(_)
            | Self::TabuSearch(_) => check_nodes(left_count, right_count),
            _ => Ok(()),
        }
    }

    /// The solver.
    #[must_use]
    pub fn matcher(&self) -> &dyn Matcher {
        match self {
            Self::Linear(solver) => solver,
            Self::Hungarian(solver) => solver,
            Self::GraduatedAssignment(solver) => solver,
            Self::Bistochastic(solver) => solver,
            Self::Spectral(solver) => solver,
            Self::Rrwm(solver) => solver,
            Self::FrankWolfe(solver) => solver,
            Self::TabuSearch(solver) => solver,
            Self::BruteForce(solver) => solver,
            Self::Exact(solver) => solver,
        }
    }
}
