//! [`Example`]: a pair of graphs with its true matching, ready for training.

use crate::features::Instance;
use crate::graph::Pair;
use crate::loss::{Loss, LossTerms};
use crate::matching::{Compatibility, Constraint, Matching, RightOrder};
use crate::{Error, Result};
use ndarray::Array2;

/// A problem, its true matching, and what every other matching costs.
#[derive(Debug, Clone)]
pub struct Example {
    pub(super) instance: Instance,
    pub(super) truth: Matching,
    /// Phi(truth), which no weights change.
    pub(super) truth_features: Vec<f64>,
    pub(super) loss: LossCells,
    pub(super) importance: f64,
    pub(super) order: RightOrder,
}

impl Example {
    /// Joins a problem with its truth and the loss of every other matching. The right nodes are solved in an order drawn from `seed`;
    /// use another seed for each example.
    ///
    /// # Errors
    /// The truth does not fit the pair, or the loss cannot be computed for it.
    pub fn new(instance: Instance, pair: &Pair, truth: Matching, loss: &dyn Loss, seed: u64) -> Result<Self> {
        let instance = instance.restricted(&pair.given)?;
        pair.given.check_matching(&truth)?;
        let terms = loss.terms(pair, &truth)?;
        let truth_features = instance.joint_features(&truth)?;
        let order = RightOrder::random(truth.right_count(), seed);
        Ok(Self { instance, truth, truth_features, loss: LossCells::new(&terms), importance: 1.0, order })
    }

    /// The same example, counted this many times: 2 is worth two examples, 0 is ignored.
    ///
    /// # Errors
    /// A negative or non-finite importance.
    pub fn with_importance(mut self, importance: f64) -> Result<Self> {
        if !(importance >= 0.0 && importance.is_finite()) {
            return Err(Error::BadSetting {
                name: "importance",
                value: importance,
                reason: "it must be 0 or more and finite",
            });
        }
        self.importance = importance;
        Ok(self)
    }

    /// How many times it counts.
    #[must_use]
    pub fn importance(&self) -> f64 {
        self.importance
    }

    /// The problem.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The true matching.
    #[must_use]
    pub fn truth(&self) -> &Matching {
        &self.truth
    }

    /// Whether the truth is an answer to the problem: it matches all left nodes that can be, unless they may stay unmatched.
    pub(super) fn truth_is_feasible(&self) -> bool {
        let (left, right) = (self.truth.left_count(), self.truth.right_count());
        let most = match self.instance.constraint() {
            Constraint::OneToOne => left.min(right),
            Constraint::ManyToOne if right == 0 => 0,
            Constraint::ManyToOne => left,
        };
        self.instance.may_stay_unmatched() || self.truth.matched_count() == most
    }

    /// The loss of a matching of this pair.
    #[must_use]
    pub fn loss(&self, matching: &Matching) -> f64 {
        self.loss.of(matching)
    }
}

/// loss(y) = constant + the cells that y uses, kept as a list where most cells are zero: the Hamming loss of a pair of n nodes takes n
/// numbers, not n².
#[derive(Debug, Clone)]
pub(super) struct LossCells {
    constant: f64,
    kept: Kept,
}

#[derive(Debug, Clone)]
enum Kept {
    /// Sorted by left, then right node.
    List(Vec<(u32, u32, f64)>),
    Table(Array2<f64>),
}

impl LossCells {
    fn new(terms: &LossTerms) -> Self {
        let count = terms.cells.iter().filter(|&&cell| cell != 0.0).count();
        let narrow = |index: usize| u32::try_from(index).ok();
        let list: Option<Vec<_>> = (count * 4 <= terms.cells.len())
            .then(|| {
                let cells = terms.cells.indexed_iter().filter(|&(_, &cell)| cell != 0.0);
                cells.map(|((i, k), &cell)| Some((narrow(i)?, narrow(k)?, cell))).collect()
            })
            .flatten();
        Self { constant: terms.constant, kept: list.map_or_else(|| Kept::Table(terms.cells.clone()), Kept::List) }
    }

    /// Adds the cells to the node scores: the one change that turns prediction into the search for the most violated constraint.
    pub(super) fn add_to(&self, problem: &mut Compatibility) {
        match &self.kept {
            Kept::List(cells) => {
                for &(i, k, cell) in cells {
                    problem.node[[i as usize, k as usize]] += cell;
                }
            }
            Kept::Table(cells) => problem.node += cells,
        }
    }

    /// The loss of the empty matching.
    pub(super) fn constant(&self) -> f64 {
        self.constant
    }

    /// The loss of a soft matching, which is linear in its shares.
    pub(super) fn of_soft(&self, shares: &Array2<f64>) -> f64 {
        let used = match &self.kept {
            Kept::List(cells) => cells.iter().map(|&(i, k, cell)| cell * shares[[i as usize, k as usize]]).sum(),
            Kept::Table(cells) => cells.iter().zip(shares).map(|(cell, share)| cell * share).sum::<f64>(),
        };
        self.constant + used
    }

    pub(super) fn of(&self, matching: &Matching) -> f64 {
        let cell = |(i, k): (usize, usize)| match &self.kept {
            Kept::List(cells) => {
                let found = cells.binary_search_by_key(&(i, k), |&(i, k, _)| (i as usize, k as usize));
                found.map_or(0.0, |at| cells[at].2)
            }
            Kept::Table(cells) => cells[[i, k]],
        };
        let loss = self.constant + matching.pairs().map(cell).sum::<f64>();
        if loss.abs() < ROUNDING { 0.0 } else { loss }
    }
}

/// At the truth the cells cancel the constant but for the rounding of n additions; no loss in use comes this near to zero otherwise.
const ROUNDING: f64 = 1e-12;
