//! The matching problem and its solvers. Nothing here knows about geometry, features or losses.
//!
//! A [`Problem`] is a table of scores ([`Compatibility`]), a list of allowed pairs ([`Sparse`]) or rows that are computed when they are needed
//! ([`Streamed`]). A [`Matcher`] solves it, a [`Solution`] is what comes back: a [`Matching`], its score, an upper bound on every matching's
//! score, and a [`Status`] that says whether the two meet. Everything is **maximised**.
//!
//! | module | what |
//! |---|---|
//! | `problem` | the problem and the answer: scores, edges, matchings, certificates and how they are verified |
//! | `linear` | exact linear assignment, and a second, simple solver that checks it |
//! | `soft` | heuristics that move through soft matchings: graduated assignment and Frank-Wolfe, also on lists; sparse networks by edges alone; spectral methods, random walks |
//! | `search` | heuristics that move from matching to matching: growth from the best edges, local search, tabu search |
//! | `lp` | the linear relaxation, with bounds from both sides |
//! | `exact` | branch and bound over the relaxation |
//!
//! [`Method`] lists all solvers, by name, for settings files, programs and the conformance tests.

mod brute_force;
mod exact;
mod exchange;
mod found_again;
mod k_best;
mod linear;
mod lp;
mod margins;
mod method;
mod problem;
mod search;
mod soft;
mod tolerance;

pub use brute_force::BruteForce;
pub use exact::{Exact, Progress};
pub use found_again::found_again;
pub use k_best::{KBest, k_best};
pub(crate) use linear::Hungarian;
pub use linear::{Linear, Sparse, Streamed};
pub(crate) use lp::{Average, Moving, Pace};
pub use lp::{EdgeShare, LpRelaxation, Relaxed, WarmStart};
pub(crate) use margins::linearised;
pub use margins::{Margin, margins};
pub use method::Method;
pub(crate) use problem::MAX_CELLS;
pub use problem::{
    Certificate, Compatibility, Constraint, EdgeList, EdgeTerm, EdgesKept, Form, Matching, Problem, Restrictions,
    RightOrder, Sense, Shortage, Solution, Status, verify,
};
pub use search::TabuSearch;
pub(crate) use search::{Kicks, polish};
pub use soft::{Bistochastic, FrankWolfe, GraduatedAssignment, Rrwm, Spectral};
pub use tolerance::proof_in_words;

use crate::{Control, Result};
use linear::LinearBuffers;

/// Something that solves matching problems. Its fields are its settings.
pub trait Matcher: Send + Sync {
    /// Finds a matching of high score. For loops, Ctrl-C and time limits there is [`Self::solve_with`].
    ///
    /// # Errors
    /// Only for bad input (NaN, sizes that disagree, a kind of problem this solver does not take, a setting out of range). Running out of
    /// iterations or being interrupted is a [`Status`].
    fn solve(&self, problem: &dyn Problem) -> Result<Solution> {
        self.solve_with(problem, &mut Workspace::new())
    }

    /// [`Self::solve`] with buffers that are reused from call to call, under the workspace's [`Control`].
    ///
    /// # Errors
    /// As [`Self::solve`].
    fn solve_with(&self, problem: &dyn Problem, work: &mut Workspace) -> Result<Solution>;
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

    /// The solvers ask `control` now and then, and stop with a valid answer once it tells them to: a time limit, Ctrl-C.
    #[must_use]
    pub fn with_control(control: &Control) -> Self {
        Self { control: control.clone(), ..Self::default() }
    }

    /// The same buffers under another control.
    pub(crate) fn set_control(&mut self, control: &Control) {
        self.control = control.clone();
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
