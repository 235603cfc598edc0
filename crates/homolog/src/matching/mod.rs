//! The matching problem and its solvers. Nothing here knows of geometry, features or losses.
//!
//! A [`Compatibility`] is a problem, a [`Matcher`] solves it, a [`Solution`] is what comes back: a [`Matching`], its score, an upper
//! bound on every matching's score, and a [`Status`] that says whether the two meet. Everything is **maximised**. One file per
//! solver; [`Method`] lists them all, by name, for settings files, programs and the conformance tests.

mod affinity;
mod bistochastic;
mod bound;
mod brute_force;
mod compatibility;
mod edge_gradient;
mod edge_list;
mod edge_term;
mod exact;
mod frank_wolfe;
mod graduated_assignment;
mod hungarian;
mod linear;
mod local_search;
mod lp_relaxation;
mod mapping;
mod polish;
mod relaxation;
mod reorder;
mod restrictions;
mod rrwm;
mod sense;
mod sinkhorn;
mod spectral;
mod verify;

pub use bistochastic::Bistochastic;
pub use brute_force::BruteForce;
pub use compatibility::Compatibility;
pub use edge_gradient::GradientBuffers;
pub use edge_list::EdgeList;
pub use edge_term::EdgeTerm;
pub use exact::{Exact, Progress};
pub use frank_wolfe::FrankWolfe;
pub use graduated_assignment::GraduatedAssignment;
pub use hungarian::Hungarian;
pub use linear::{Linear, LinearBuffers};
pub use lp_relaxation::{EdgeShare, LpRelaxation, Relaxed, WarmStart};
pub use mapping::{Constraint, Matching};
pub use reorder::RightOrder;
pub use restrictions::Restrictions;
pub use rrwm::Rrwm;
pub use sense::Sense;
pub use spectral::Spectral;
pub use verify::verify;

use crate::{Control, Result};
use serde::{Deserialize, Serialize};

/// Something that solves matching problems. Its fields are its settings.
pub trait Matcher: Send + Sync {
    /// Finds a matching of high score.
    ///
    /// # Errors
    /// Bad input only (NaN, sizes that disagree, a kind of problem this solver does not take, a setting out of range). Running out of
    /// iterations or being interrupted is a [`Status`].
    fn solve(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution>;
}

/// What a solver found and what it proved.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The matching.
    pub matching: Matching,
    /// Its total score.
    pub score: f64,
    /// No feasible matching scores more than this; plus infinity where the solver proves nothing.
    pub bound: f64,
    /// Whether that is a proof.
    pub status: Status,
    /// How many steps it took; what a step is depends on the solver.
    pub iterations: usize,
    /// Dual values that prove a linear answer optimal (see [`verify`]); `None` from other solvers.
    pub certificate: Option<Certificate>,
    /// Why fewer left nodes are matched than there could be without forbidden pairs; `None` where that is not so.
    pub shortage: Option<Shortage>,
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Proven: no feasible matching scores more; bound and score agree.
    Optimal,
    /// Ran to its end, which for this solver is no proof.
    Converged,
    /// Stopped by a limit or by the caller; matching and bound are valid all the same.
    Limit,
}

/// Dual values of a linear problem: left_i + right_k >= node_ik wherever the pair counts, with equality on matched pairs.
/// [`verify`] has the exact conditions and why they prove the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Certificate {
    /// One value per left node.
    pub left: Vec<f64>,
    /// One value per right node.
    pub right: Vec<f64>,
    /// Where not every left node can be matched: the left nodes that compete, and all the right nodes they may go to.
    pub crowd: Option<Shortage>,
}

/// Left nodes that together may go to fewer right nodes than they are (Hall's condition fails).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shortage {
    /// The left nodes, in order.
    pub left: Vec<usize>,
    /// Every right node that any of them may go to, in order.
    pub right: Vec<usize>,
}

/// Buffers that solvers reuse from call to call, and the caller's [`Control`]. One per thread.
#[derive(Default)]
pub struct Workspace {
    pub(crate) linear: LinearBuffers,
    control: Control,
}

impl Workspace {
    /// Empty buffers, no interrupt.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The solvers ask `control` now and then and stop, with a valid answer, once it says so: a time limit, Ctrl-C.
    #[must_use]
    pub fn with_control(control: &Control) -> Self {
        Self { control: control.clone(), ..Self::default() }
    }

    /// The caller's control.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Whether the caller wants the solver to stop.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.control.interrupted()
    }
}

/// Every matcher there is, by name, with its settings.
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
    /// Tries every matching of a small problem, edges included.
    BruteForce(BruteForce),
    /// Exact quadratic matching with bounds, to be stopped at any time.
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
            Self::BruteForce(_) => "brute-force",
            Self::Exact(_) => "exact",
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
            Self::BruteForce(solver) => solver,
            Self::Exact(solver) => solver,
        }
    }
}
