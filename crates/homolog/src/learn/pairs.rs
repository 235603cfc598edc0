//! [`LabelledPairs`]: data to learn from and measure on, as graphs and true matchings, before any features are chosen.

use super::Example;
use crate::features::{Common, Described, FeatureMap};
use crate::graph::{Graph, Pair, PairFeatures};
use crate::loss::Loss;
use crate::matching::{Matching, Restrictions};
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Pairs of graphs with what is known about their true matchings. A graph that occurs in many pairs exists once and is described once.
#[derive(Debug, Clone, Default)]
pub struct LabelledPairs {
    graphs: Vec<Specimen>,
    pairs: Vec<Labelled>,
}

#[derive(Debug, Clone)]
struct Specimen {
    graph: Arc<Graph>,
    /// What errors call it.
    name: String,
    /// Tells it from others in cross-validation.
    number: usize,
}

#[derive(Debug, Clone)]
struct Labelled {
    left: usize,
    right: usize,
    truth: Matching,
    unknown: Vec<usize>,
    given: Restrictions,
    features: Option<Arc<PairFeatures>>,
    seed: u64,
}

impl LabelledPairs {
    /// No pairs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pair. Pairs with the same graph (the same `Arc`) are about the same specimen.
    ///
    /// # Errors
    /// The sizes of the truth and the graphs do not agree.
    pub fn add(&mut self, left: &Arc<Graph>, right: &Arc<Graph>, truth: Matching) -> Result<()> {
        self.add_partly(&Pair::new(Arc::clone(left), Arc::clone(right)), truth, &[])
    }

    /// Adds a pair where for some left nodes it is not known whether they have a partner, or which.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_partly(&mut self, pair: &Pair, truth: Matching, unknown: &[usize]) -> Result<()> {
        let [left, right] = [&pair.left, &pair.right].map(|graph| {
            let known = self.graphs.iter().position(|specimen| Arc::ptr_eq(&specimen.graph, graph));
            known.unwrap_or_else(|| {
                let number = self.graphs.len();
                self.add_graph(graph, format!("graph {number}"), number)
            })
        });
        let between = (&pair.given, pair.features.as_ref());
        self.add_numbered([left, right], truth, unknown, between, self.pairs.len() as u64)
    }

    /// Adds a graph; returns its position.
    pub(crate) fn add_graph(&mut self, graph: &Arc<Graph>, name: String, number: usize) -> usize {
        self.graphs.push(Specimen { graph: Arc::clone(graph), name, number });
        self.graphs.len() - 1
    }

    /// Adds a pair of graphs at these positions; right nodes are solved in an order drawn from the seed.
    pub(crate) fn add_numbered(
        &mut self,
        [left, right]: [usize; 2],
        truth: Matching,
        unknown: &[usize],
        (given, features): (&Restrictions, Option<&Arc<PairFeatures>>),
        seed: u64,
    ) -> Result<()> {
        let sizes = [
            ("left nodes of a truth", self.graphs[left].graph.node_count(), truth.left_count()),
            ("right nodes of a truth", self.graphs[right].graph.node_count(), truth.right_count()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        let (unknown, given, features) = (unknown.to_vec(), given.clone(), features.cloned());
        self.pairs.push(Labelled { left, right, truth, unknown, given, features, seed });
        Ok(())
    }

    /// How many pairs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// All graphs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.graphs.iter().map(|specimen| &*specimen.graph)
    }

    /// What all graphs, and all pairs, have in common.
    ///
    /// # Errors
    /// Points of different dimensions.
    pub fn common(&self) -> Result<Common> {
        Ok(Common::of(self.graphs())?.with_pairs(self.pairs.iter().map(|labelled| labelled.features.as_deref())))
    }

    /// The positions of the two graphs of a pair.
    pub(super) fn ends(&self, number: usize) -> [usize; 2] {
        [self.pairs[number].left, self.pairs[number].right]
    }

    pub(super) fn graph(&self, position: usize) -> &Graph {
        &self.graphs[position].graph
    }

    /// The two graphs of each pair, with its truth and the left nodes about which nothing is known.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, &Matching, &[usize])> {
        self.pairs.iter().map(|labelled| (self.pair(labelled), &labelled.truth, labelled.unknown.as_slice()))
    }

    /// All pairs except those at these positions.
    pub(super) fn without(&self, left_out: &[usize]) -> Self {
        let kept = (0..self.pairs.len()).filter(|number| !left_out.contains(number));
        Self { graphs: self.graphs.clone(), pairs: kept.map(|number| self.pairs[number].clone()).collect() }
    }

    /// The same pairs with their left graphs turned, as `turn` says for each pair and its truth; they still belong to the same specimens.
    ///
    /// # Errors
    /// What `turn` refuses, with the names of the graphs.
    fn turned(&self, turn: impl Fn(&Pair, &Matching) -> Result<Pair>) -> Result<Self> {
        let mut turned = Self { graphs: self.graphs.clone(), pairs: Vec::with_capacity(self.pairs.len()) };
        for labelled in &self.pairs {
            let (left, right) = (&self.graphs[labelled.left], &self.graphs[labelled.right]);
            let at = |error| Error::At { place: format!("pair {}, {}", left.name, right.name), error: Box::new(error) };
            let pair = turn(&self.pair(labelled), &labelled.truth).map_err(at)?;
            let unchanged = Arc::ptr_eq(&pair.left, &left.graph);
            let left =
                if unchanged { labelled.left } else { turned.add_graph(&pair.left, left.name.clone(), left.number) };
            turned.pairs.push(Labelled { left, ..labelled.clone() });
        }
        Ok(turned)
    }

    /// The examples these pairs become under features that may turn graphs ([`FeatureMap::pose`]). What is learned from is turned as the
    /// truth says; a prediction has to find the turn by itself.
    ///
    /// # Errors
    /// As [`Self::examples`].
    pub fn posed_examples(&self, features: &FeatureMap, loss: &dyn Loss) -> Result<Vec<Example>> {
        self.lazy_examples(features, loss)?.of(0..self.len())
    }

    /// [`Self::posed_examples`], made when they are asked for: of a million pairs only a few are in memory at a time.
    ///
    /// # Errors
    /// A graph without the parts that the features need, with its name.
    pub fn lazy_examples<'a>(&'a self, features: &'a FeatureMap, loss: &'a dyn Loss) -> Result<LazyExamples<'a>> {
        let described = if features.pose.is_as_given() { Some(self.describe(features)?) } else { None };
        Ok(LazyExamples { pairs: self, features, loss, described })
    }

    /// The examples these pairs become under given features and a loss, the graphs as given. Every graph is described once.
    ///
    /// # Errors
    /// A graph without the parts that the features or the loss need, with its name.
    pub fn examples(&self, features: &FeatureMap, loss: &dyn Loss) -> Result<Vec<Example>> {
        self.examples_of(0..self.len(), &self.describe(features)?, features, loss)
    }

    /// The graphs that are in a pair, each described once.
    fn describe(&self, features: &FeatureMap) -> Result<Vec<Option<Arc<Described>>>> {
        let mut is_used = vec![false; self.graphs.len()];
        for labelled in &self.pairs {
            is_used[labelled.left] = true;
            is_used[labelled.right] = true;
        }
        let describe = |(specimen, is_used): (&Specimen, bool)| -> Result<Option<Arc<Described>>> {
            if !is_used {
                return Ok(None);
            }
            let described = features.describe(&specimen.graph).map_err(at(specimen.name.clone()))?;
            Ok(Some(Arc::new(described)))
        };
        self.graphs.par_iter().zip(is_used).map(describe).collect()
    }

    fn examples_of(
        &self,
        range: Range<usize>,
        described: &[Option<Arc<Described>>],
        features: &FeatureMap,
        loss: &dyn Loss,
    ) -> Result<Vec<Example>> {
        let mut examples = Vec::with_capacity(range.len());
        for labelled in &self.pairs[range] {
            let Labelled { left, right, truth, unknown, seed, .. } = labelled;
            let (Some(a), Some(b)) = (&described[*left], &described[*right]) else { continue };
            let (left, right) = (&self.graphs[*left], &self.graphs[*right]);
            let pair = self.pair(labelled);
            let example = features
                .instance_with(a, b, pair.features.as_ref())
                .and_then(|instance| Example::labelled(instance, &pair, truth.clone(), unknown, loss, *seed))
                .map_err(at(format!("pair {}, {}", left.name, right.name)))?;
            examples.push(example.with_specimens(left.number, right.number));
        }
        Ok(examples)
    }

    /// The numbers that tell the two specimens of a pair from others.
    #[must_use]
    pub fn specimens(&self, number: usize) -> [usize; 2] {
        self.ends(number).map(|position| self.graphs[position].number)
    }

    /// The two graphs of a pair, its truth, and the left nodes about which nothing is known.
    #[must_use]
    pub fn labels(&self, number: usize) -> ([&Graph; 2], &Matching, &[usize]) {
        let Labelled { left, right, truth, unknown, .. } = &self.pairs[number];
        ([self.graph(*left), self.graph(*right)], truth, unknown)
    }

    fn pair(&self, labelled: &Labelled) -> Pair {
        let graph = |at: usize| Arc::clone(&self.graphs[at].graph);
        let (given, features) = (labelled.given.clone(), labelled.features.clone());
        Pair { left: graph(labelled.left), right: graph(labelled.right), given, features }
    }
}

/// Errors with the place they are about.
fn at(place: String) -> impl FnOnce(Error) -> Error {
    move |error| Error::At { place, error: Box::new(error) }
}

/// Examples made when they are asked for. See [`LabelledPairs::lazy_examples`].
pub struct LazyExamples<'a> {
    pairs: &'a LabelledPairs,
    features: &'a FeatureMap,
    loss: &'a dyn Loss,
    /// The graphs as they are, unless the features may turn them.
    described: Option<Vec<Option<Arc<Described>>>>,
}

impl LazyExamples<'_> {
    /// Those of these pairs.
    ///
    /// # Errors
    /// A graph without the parts that the loss needs, or a pair that cannot be turned, with its name.
    pub fn of(&self, range: Range<usize>) -> Result<Vec<Example>> {
        if let Some(described) = &self.described {
            return self.pairs.examples_of(range, described, self.features, self.loss);
        }
        let (pose, features) = (self.features.pose, self.features);
        let part = LabelledPairs { graphs: self.pairs.graphs.clone(), pairs: self.pairs.pairs[range].to_vec() };
        let examples = part.turned(|pair, truth| pose.known(pair, truth))?.examples(features, self.loss)?;
        let given = part.iter().map(|(pair, ..)| pair);
        Ok(examples.into_iter().zip(given).map(|(example, pair)| example.turned_from(features, pair)).collect())
    }
}
