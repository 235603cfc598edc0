//! [`Example`]: a pair of graphs with its true matching, ready for training.
//!
//! A pair gives rise to two problems. The one that is **predicted** has all its nodes. The one that is **trained on** lacks the left nodes
//! whose partner is not known, and those that have none if the model cannot leave a node unmatched: they have to go somewhere in
//! every matching but have no place in the true one, so their scores would appear on only one side of what learning compares.
//! Descriptors were computed with all points, and stay as they are.

use crate::features::{FeatureMap, Instance};
use crate::graph::Pair;
use crate::loss::{Loss, LossTerms};
use crate::matching::{Compatibility, Constraint, Matching, RightOrder, Workspace};
use crate::{Error, Result};
use ndarray::Array2;
use std::sync::Arc;

/// A problem, its true matching, and what every other matching costs. Clones share all that is large.
#[derive(Debug, Clone)]
pub struct Example {
    pub(super) instance: Instance,
    pub(super) truth: Arc<Matching>,
    /// Phi(truth), which does not depend on the weights.
    pub(super) truth_features: Arc<[f64]>,
    pub(super) loss: Arc<LossCells>,
    pub(super) importance: f64,
    pub(super) order: Arc<RightOrder>,
    specimens: Option<[usize; 2]>,
    /// The problem that is predicted, if it is a different one.
    whole: Option<Arc<Whole>>,
    /// The pair before the truth turned it, if a prediction has to find the turn by itself.
    as_given: Option<Arc<AsGiven>>,
}

/// A pair as given.
#[derive(Debug)]
struct AsGiven {
    features: FeatureMap,
    pair: Pair,
}

/// A pair with all its nodes.
#[derive(Debug)]
struct Whole {
    instance: Instance,
    truth: Matching,
    loss: LossCells,
    /// The left nodes that are trained on.
    kept: Vec<usize>,
    /// The left nodes whose partner is not known.
    unknown: Vec<usize>,
}

impl Example {
    /// Combines a problem with its truth and the loss of every other matching. The right nodes are solved in an order drawn from `seed`;
    /// use a different seed for each example.
    ///
    /// # Errors
    /// The truth does not fit the pair, or the loss cannot be computed for it.
    pub fn new(instance: Instance, pair: &Pair, truth: Matching, loss: &dyn Loss, seed: u64) -> Result<Self> {
        Self::labelled(instance, pair, truth, &[], loss, seed)
    }

    /// [`Self::new`] if the partners of some left nodes are unknown. These nodes cost nothing and are not learned from.
    ///
    /// # Errors
    /// As [`Self::new`]; a node that does not exist, occurs twice, or has a partner in the truth.
    pub fn labelled(
        instance: Instance,
        pair: &Pair,
        truth: Matching,
        unknown: &[usize],
        loss: &dyn Loss,
        seed: u64,
    ) -> Result<Self> {
        let instance = instance.restricted(&pair.given)?;
        pair.check_matching(&truth)?;
        let mut is_known = vec![true; truth.left_count()];
        for &index in unknown {
            match is_known.get_mut(index) {
                None => {
                    let count = truth.left_count();
                    return Err(Error::OutOfRange { what: "left nodes not known", index, count });
                }
                Some(slot @ true) if truth.right_of(index).is_none() => *slot = false,
                Some(_) => return Err(Error::NotAPermutation { what: "left nodes not known", index }),
            }
        }
        let has_place = |&i: &usize| is_known[i] && (instance.may_stay_unmatched() || truth.right_of(i).is_some());
        let known: Vec<usize> = (0..truth.left_count()).filter(|&i| is_known[i]).collect();
        let kept: Vec<usize> = (0..truth.left_count()).filter(has_place).collect();
        let order = Arc::new(RightOrder::random(truth.right_count(), seed));
        let example = |instance: Instance, truth: Matching, loss, whole| -> Result<Self> {
            let truth_features = instance.joint_features(&truth)?.into();
            let (importance, specimens) = (1.0, None);
            let (truth, loss, order) = (Arc::new(truth), Arc::new(loss), Arc::clone(&order));
            Ok(Self { instance, truth, truth_features, loss, importance, order, specimens, whole, as_given: None })
        };
        if kept.len() == truth.left_count() {
            let terms = loss.terms(pair, &truth)?;
            return example(instance, truth, LossCells::new(&terms), None);
        }
        let terms = terms_of(&known, pair, &truth, loss)?;
        let mut cells = Array2::zeros((truth.left_count(), truth.right_count()));
        for (&i, row) in known.iter().zip(terms.cells.rows()) {
            cells.row_mut(i).assign(&row);
        }
        let whole_loss = LossCells::new(&LossTerms { constant: terms.constant, cells });
        let terms = terms_of(&kept, pair, &truth, loss)?;
        let part = part_of(&truth, &kept)?;
        let restricted = instance.with_left_nodes(&kept)?;
        let whole = Whole { instance, truth, loss: whole_loss, kept, unknown: unknown.to_vec() };
        example(restricted, part, LossCells::new(&terms), Some(Arc::new(whole)))
    }

    /// The same example, from a pair that the truth has turned and that was given like this: learning uses the turned pair; a
    /// prediction has to find the turn.
    pub(super) fn turned_from(mut self, features: &FeatureMap, pair: Pair) -> Self {
        self.as_given = Some(Arc::new(AsGiven { features: features.clone(), pair }));
        self
    }

    /// Writes the problem that is predicted under these weights.
    pub(super) fn predicted_problem(
        &self,
        weights: &[f64],
        problem: &mut Compatibility,
        work: &mut Workspace,
    ) -> Result<()> {
        let Some(given) = &self.as_given else {
            return self.whole_instance().write_problem(weights, problem, work.control());
        };
        let AsGiven { features, pair } = &**given;
        let right = Arc::new(features.describe(&pair.right)?);
        let (_, instance, _) = features.best_pose(features.pose, pair, &right, weights, work)?;
        instance.write_problem(weights, problem, work.control())
    }

    /// The same example with the numbers of its two specimens. In cross-validation no specimen is both learned from and
    /// validated on.
    #[must_use]
    pub fn with_specimens(mut self, left: usize, right: usize) -> Self {
        self.specimens = Some([left, right]);
        self
    }

    /// The numbers of its two specimens, if they were given.
    #[must_use]
    pub fn specimens(&self) -> Option<[usize; 2]> {
        self.specimens
    }

    /// The same example, counted this many times: 2 is worth two examples, 0 is ignored.
    ///
    /// # Errors
    /// A negative or non-finite importance.
    pub fn with_importance(mut self, importance: f64) -> Result<Self> {
        Error::unless_at_least_0("importance", importance)?;
        self.importance = importance;
        Ok(self)
    }

    /// How many times it counts.
    #[must_use]
    pub fn importance(&self) -> f64 {
        self.importance
    }

    /// The problem that is trained on.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Its true matching.
    #[must_use]
    pub fn truth(&self) -> &Matching {
        &self.truth
    }

    /// The loss of a matching of the problem that is trained on.
    #[must_use]
    pub fn loss(&self, matching: &Matching) -> f64 {
        self.loss.of(matching)
    }

    /// The problem that is predicted: the whole pair.
    #[must_use]
    pub fn whole_instance(&self) -> &Instance {
        self.whole.as_ref().map_or(&self.instance, |whole| &whole.instance)
    }

    /// Its true matching.
    #[must_use]
    pub fn whole_truth(&self) -> &Matching {
        self.whole.as_ref().map_or(&*self.truth, |whole| &whole.truth)
    }

    /// The loss of a matching of the whole pair.
    #[must_use]
    pub fn whole_loss(&self, matching: &Matching) -> f64 {
        self.whole.as_ref().map_or(&*self.loss, |whole| &whole.loss).of(matching)
    }

    /// The mean loss on the whole pair when every left node goes to a random right node: what a model with no opinion has, except in
    /// rare coincidences.
    pub(super) fn loss_by_chance(&self) -> f64 {
        let loss = self.whole.as_ref().map_or(&*self.loss, |whole| &whole.loss);
        loss.by_chance(self.truth.right_count())
    }

    /// The left nodes of the whole pair whose partner is not known.
    #[must_use]
    pub fn unknown(&self) -> &[usize] {
        self.whole.as_ref().map_or(&[], |whole| &whole.unknown)
    }

    /// How many left nodes of the pair are not trained on.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.whole_truth().left_count() - self.truth.left_count()
    }

    /// The left node of the whole pair that is node `position` of the problem that is trained on.
    pub(super) fn whole_node(&self, position: usize) -> usize {
        self.whole.as_ref().map_or(position, |whole| whole.kept[position])
    }

    /// Whether the paper's lemma applies, so that the mean slack is an upper bound on the mean loss of exact predictions: the truth is
    /// an answer to the problem that is predicted. It matches all left nodes that can be matched, unless they may stay unmatched, and uses no
    /// right node more often than the model may.
    pub(super) fn lemma_applies(&self) -> bool {
        let (left, right) = (self.truth.left_count(), self.truth.right_count());
        let one_to_one = || right - self.truth.unmatched_right().count() == self.truth.matched_count();
        let (most, is_allowed) = match self.instance.constraint() {
            Constraint::OneToOne => (left.min(right), one_to_one()),
            Constraint::ManyToOne if right == 0 => (0, true),
            Constraint::ManyToOne => (left, true),
        };
        let is_full = self.instance.may_stay_unmatched() || self.truth.matched_count() == most;
        self.whole.is_none() && is_allowed && is_full
    }
}

/// The loss terms of some left nodes of a pair.
fn terms_of(nodes: &[usize], pair: &Pair, truth: &Matching, loss: &dyn Loss) -> Result<LossTerms> {
    let part = Pair::new(Arc::new(pair.left.subgraph(nodes)?), Arc::clone(&pair.right));
    loss.terms(&part, &part_of(truth, nodes)?)
}

/// A matching of some of its left nodes.
fn part_of(matching: &Matching, nodes: &[usize]) -> Result<Matching> {
    let partners = nodes.iter().map(|&i| matching.right_of(i)).collect();
    Matching::new(partners, matching.right_count(), matching.constraint())
}

/// loss(y) = constant + the cells that y uses, stored as a list where most cells are zero: the Hamming loss of a pair of n nodes takes
/// n numbers, not n².
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

    fn cell(&self, i: usize, k: usize) -> f64 {
        match &self.kept {
            Kept::List(cells) => {
                let found = cells.binary_search_by_key(&(i, k), |&(i, k, _)| (i as usize, k as usize));
                found.map_or(0.0, |at| cells[at].2)
            }
            Kept::Table(cells) => cells[[i, k]],
        }
    }

    /// Adds the cells to the node scores: the only change that turns prediction into the search for the most violated constraint.
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

    /// The mean loss if every left node goes to a random one of this many right nodes.
    fn by_chance(&self, right_count: usize) -> f64 {
        let all: f64 = match &self.kept {
            Kept::List(cells) => cells.iter().map(|&(.., cell)| cell).sum(),
            Kept::Table(cells) => cells.sum(),
        };
        self.constant + all / right_count.max(1) as f64
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
        let loss = self.constant + matching.pairs().map(|(i, k)| self.cell(i, k)).sum::<f64>();
        if loss.abs() < ROUNDING { 0.0 } else { loss }
    }
}

/// At the truth the cells cancel the constant up to the rounding of n additions; no loss in use comes this close to zero otherwise.
const ROUNDING: f64 = 1e-12;
