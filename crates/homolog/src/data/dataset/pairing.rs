//! [`Pairing`] and [`SplitBy`]: which pairs of graphs a data set without pairs gets, and what they are for. The names of the nodes say
//! what matches.

use super::{DataSet, LabelledPair, MAX_LABELLED_NODES, MAX_PAIRS, NamedGraph, all_positions, at_most, by_name};
use crate::data::Split;
use crate::matching::Constraint;
use crate::{Control, Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Which graphs become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// None of them.
    None,
    /// Each graph with every later one.
    All,
    /// Each graph with the one this many places later: a baseline of the paper's sequence experiment.
    Baseline(usize),
    /// One graph, by its position, with each of the others.
    Template(usize),
    /// This many of all pairs, drawn with this seed, in the order of their graphs.
    Random {
        /// How many.
        count: usize,
        /// The same seed draws the same pairs everywhere.
        seed: u64,
    },
}

/// What pairs are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitBy {
    /// Left open.
    #[default]
    None,
    /// Training, validation and test in turn, by the left graph, as in the paper's sequence experiment.
    LeftGraph,
    /// Every graph (except a template) is for training, validation or test, in turn, and only pairs within one of the three are made: no
    /// specimen is on two sides.
    Specimens,
}

/// The most pairs that are made unless more are asked for.
const MOST_PAIRS: usize = 2000;
/// So many are drawn if there would be more: enough to learn from, and quick.
const DRAWN_PAIRS: usize = 500;

impl Pairing {
    /// What is done unless something else is asked for: all pairs of so many graphs, or 500 that are drawn if all would be more than 2000.
    #[must_use]
    pub fn usual(count: usize) -> Self {
        if all_pairs(count) <= MOST_PAIRS { Self::All } else { Self::Random { count: DRAWN_PAIRS, seed: 0 } }
    }

    /// How many of how many pairs of so many graphs are drawn, if not all are made.
    #[must_use]
    pub fn drawn(self, count: usize) -> Option<[usize; 2]> {
        if let Self::Random { count: drawn, .. } = self { Some([drawn, all_pairs(count)]) } else { None }
    }
}

fn all_pairs(count: usize) -> usize {
    count.saturating_mul(count.saturating_sub(1)) / 2
}

impl DataSet {
    /// Graphs, with pairs of them; nodes with the same name match.
    ///
    /// # Errors
    /// As [`Self::new`]; a template that does not exist.
    ///
    /// ```
    /// use homolog::data::dataset::{DataSet, NamedGraph, Pairing, SplitBy};
    /// use homolog::graph::Graph;
    /// let names = || vec!["base".to_string(), "tip".to_string()];
    /// let graph = |id: &str| Ok(NamedGraph { id: id.into(), graph: Graph::new(2).with_names(names())?.into(), image: None });
    /// let graphs = ["a", "b", "c"].map(graph).into_iter().collect::<Result<_, homolog::Error>>()?;
    /// let data = DataSet::paired(graphs, Pairing::Baseline(1), SplitBy::None)?;
    /// assert_eq!(data.pairs().iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// assert_eq!(data.pairs()[0].truth.as_ref().unwrap().matched_count(), 2);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    pub fn paired(graphs: Vec<NamedGraph>, pairing: Pairing, split: SplitBy) -> Result<Self> {
        Self::paired_watched(graphs, pairing, split, &Control::new())
    }

    /// [`Self::paired`], told when to stop: many pairs of large graphs take seconds.
    ///
    /// # Errors
    /// As [`Self::paired`]; [`Error::Interrupted`].
    pub fn paired_watched(
        graphs: Vec<NamedGraph>,
        pairing: Pairing,
        split: SplitBy,
        control: &Control,
    ) -> Result<Self> {
        let chosen = pairing.pairs(graphs.len(), split, control)?;
        let names = all_positions(&graphs, control)?;
        let (mut pairs, mut labelled) = (Vec::with_capacity(chosen.len()), 0);
        for (left, right) in chosen {
            Error::if_interrupted(control)?;
            let [left_count, right_count] = [left, right].map(|at| graphs[at].graph.node_count());
            let truth = by_name(&graphs[left].graph, &names[right], right_count, Constraint::OneToOne, &[]);
            labelled += if truth.is_some() { left_count + right_count } else { 0 };
            at_most("nodes of all labelled pairs", labelled, MAX_LABELLED_NODES)?;
            let split = pairing.split_of(split, left, right);
            pairs.push(LabelledPair { split, ..LabelledPair::new(left, right, truth) });
        }
        drop(names);
        Self::new_watched(graphs, pairs, control)
    }
}

impl Pairing {
    /// The pairs of this many graphs.
    fn pairs(self, count: usize, split: SplitBy, control: &Control) -> Result<Vec<(usize, usize)>> {
        let all = count.saturating_mul(count.saturating_sub(1)) / 2;
        let allowed = |&(left, right): &(usize, usize)| {
            split != SplitBy::Specimens || self.split_of(split, left, right).is_some()
        };
        let later = |left: usize| (left + 1..count).map(move |right| (left, right));
        match self {
            Self::None => Ok(Vec::new()),
            Self::All => {
                at_most("pairs of a data set", all, MAX_PAIRS)?;
                Ok((0..count).flat_map(later).filter(allowed).collect())
            }
            Self::Baseline(baseline) => {
                let with = |left: usize| Some((left, left.checked_add(baseline)?));
                Ok((0..count).filter_map(with).filter(|&(_, right)| right < count).filter(allowed).collect())
            }
            Self::Template(template) if template >= count => {
                Err(Error::OutOfRange { what: "graphs of the data set", index: template, count })
            }
            Self::Template(template) => {
                Ok((0..count).filter(|&right| right != template).map(|right| (template, right)).collect())
            }
            Self::Random { count: wanted, seed } => {
                at_most("pairs of a data set", wanted, MAX_PAIRS)?;
                // This many can still be listed and shuffled.
                at_most("pairs to draw from", all, 100 * MAX_PAIRS)?;
                let mut pairs = Vec::new();
                for left in 0..count {
                    Error::if_interrupted(control)?;
                    pairs.extend(later(left).filter(allowed));
                }
                let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
                let wanted = wanted.min(pairs.len());
                let mut drawn = pairs.partial_shuffle(&mut rng, wanted).0.to_vec();
                drawn.sort_unstable();
                Ok(drawn)
            }
        }
    }

    /// What a pair is for; when splitting by specimens, `None` if its graphs are for different things.
    fn split_of(self, split: SplitBy, left: usize, right: usize) -> Option<Split> {
        let (one, other) = (Split::of_frame(left), Split::of_frame(right));
        match (split, self) {
            (SplitBy::None, _) => None,
            (SplitBy::LeftGraph | SplitBy::Specimens, Self::Template(_)) => Some(other),
            (SplitBy::LeftGraph, _) => Some(one),
            (SplitBy::Specimens, _) => (one == other).then_some(one),
        }
    }
}
