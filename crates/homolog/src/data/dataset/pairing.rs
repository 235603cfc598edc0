//! [`Pairing`]: which pairs of graphs a data set gets that has none yet. The names of the nodes say what matches.

use super::{DataSet, LabelledPair, MAX_PAIRS, NamedGraph, at_most, by_name, positions};
use crate::Result;
use crate::experiment::Split;
use crate::matching::Constraint;
use std::collections::BTreeMap;

/// Which graphs become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// None of them.
    None,
    /// Each graph with every later one.
    All,
    /// Each graph with the one so many places later: a baseline of the paper's sequence experiment.
    Baseline(usize),
}

impl DataSet {
    /// Graphs, with pairs of them; nodes of the same name match. With `split`, the first, second and third of every three left graphs are
    /// for training, validation and test, as in the paper's sequence experiment.
    ///
    /// # Errors
    /// As [`Self::new`].
    ///
    /// ```
    /// use homolog::data::dataset::{DataSet, NamedGraph, Pairing};
    /// use homolog::graph::Graph;
    /// let names = || vec!["base".to_string(), "tip".to_string()];
    /// let graph = |id: &str| Ok(NamedGraph { id: id.into(), graph: Graph::new(2).with_names(names())?.into(), image: None });
    /// let graphs = ["a", "b", "c"].map(graph).into_iter().collect::<Result<_, homolog::Error>>()?;
    /// let data = DataSet::paired(graphs, Pairing::Baseline(1), false)?;
    /// assert_eq!(data.pairs().iter().map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// assert_eq!(data.pairs()[0].truth.as_ref().unwrap().matched_count(), 2);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    pub fn paired(graphs: Vec<NamedGraph>, pairing: Pairing, split: bool) -> Result<Self> {
        let count = graphs.len();
        let rights = |left: usize| match pairing {
            Pairing::None => count..count,
            Pairing::All => left + 1..count,
            Pairing::Baseline(baseline) => {
                let right = left.saturating_add(baseline).min(count);
                right..(right + 1).min(count)
            }
        };
        at_most("pairs of a data set", (0..count).map(|left| rights(left).len()).sum(), MAX_PAIRS)?;
        let names: Vec<BTreeMap<&str, usize>> = graphs.iter().map(|named| positions(&named.graph)).collect();
        let mut pairs = Vec::new();
        for left in 0..count {
            for right in rights(left) {
                let right_count = graphs[right].graph.node_count();
                let truth = by_name(&graphs[left].graph, &names[right], right_count, Constraint::OneToOne, &[]);
                let split = split.then(|| Split::of_frame(left));
                pairs.push(LabelledPair { split, ..LabelledPair::new(left, right, truth) });
            }
        }
        drop(names);
        Self::new(graphs, pairs)
    }
}
