//! [`LabelledPairs`]: pairs of a data set to learn from and measure on, before any features are chosen.

use super::Example;
use crate::features::{Common, Described, FeatureMap};
use crate::graph::dataset::{DataSet, LabelledPair};
use crate::graph::{Graph, Pair};
use crate::loss::Loss;
use crate::matching::Matching;
use crate::{Control, Error, Result};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Some pairs of a [`DataSet`](crate::data::dataset::DataSet) whose matches are known. A graph that occurs in many pairs exists once and is described once.
#[derive(Debug, Clone, Default)]
pub struct LabelledPairs {
    data: DataSet,
    /// Positions in the data set, each with the seed that the right nodes are shuffled by.
    picked: Vec<(usize, u64)>,
    /// When to stop describing the graphs and making examples.
    control: Control,
}

impl LabelledPairs {
    /// No pairs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of these positions and seeds whose matches are known.
    pub(crate) fn of(data: &DataSet, picked: impl Iterator<Item = (usize, u64)>) -> Self {
        let is_known = |(at, _): &(usize, u64)| data.pairs()[*at].truth.is_some();
        Self { data: data.clone(), picked: picked.filter(is_known).collect(), control: Control::new() }
    }

    /// The same pairs; whatever is made of them asks this control, and ends with [`Error::Interrupted`] if told to stop.
    #[must_use]
    pub fn watched_by(self, control: &Control) -> Self {
        Self { control: control.clone(), ..self }
    }

    /// [`Error::Interrupted`] if told to stop.
    pub(super) fn listen(&self) -> Result<()> {
        Error::if_interrupted(&self.control)
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
        let at = self.data.pairs().len();
        self.data.add(pair, truth, unknown)?;
        self.picked.push((at, at as u64));
        Ok(())
    }

    /// How many pairs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.picked.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.picked.is_empty()
    }

    /// All graphs of the data set.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.data.graphs().iter().map(|named| &*named.graph)
    }

    /// What all graphs, and these pairs, have in common.
    ///
    /// # Errors
    /// Points of different dimensions.
    pub fn common(&self) -> Result<Common> {
        let features = (0..self.len()).map(|number| self.labelled(number).features.as_deref());
        Ok(Common::of(self.graphs())?.with_pairs(features))
    }

    fn labelled(&self, number: usize) -> &LabelledPair {
        &self.data.pairs()[self.picked[number].0]
    }

    /// The positions of the two graphs of a pair.
    pub(super) fn ends(&self, number: usize) -> [usize; 2] {
        let LabelledPair { left, right, .. } = *self.labelled(number);
        [left, right]
    }

    pub(super) fn graph(&self, position: usize) -> &Graph {
        &self.data.graphs()[position].graph
    }

    /// The two graphs of each pair, with its truth and the left nodes about which nothing is known.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, &Matching, &[usize])> {
        (0..self.len()).map(|number| {
            let (_, truth, unknown) = self.labels(number);
            (self.pair(number), truth, unknown)
        })
    }

    /// All pairs except those at these positions.
    pub(super) fn without(&self, left_out: &[usize]) -> Self {
        let kept = (0..self.len()).filter(|number| !left_out.contains(number));
        Self { picked: kept.map(|number| self.picked[number]).collect(), ..self.clone() }
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
        let described = self.describe(features)?;
        (0..self.len()).map(|number| self.example(number, &self.pair(number), &described, features, loss)).collect()
    }

    fn describe(&self, features: &FeatureMap) -> Result<Seen> {
        let all = (0..self.len()).flat_map(|number| self.ends(number));
        describe(features, all.map(|at| (&self.data.graphs()[at].graph, self.name(at))), &self.control)
    }

    /// The example of a pair, whose left graph may be turned.
    fn example(
        &self,
        number: usize,
        pair: &Pair,
        described: &Seen,
        features: &FeatureMap,
        loss: &dyn Loss,
    ) -> Result<Example> {
        self.listen()?;
        let (_, truth, unknown) = self.labels(number);
        let (Some(left), Some(right)) = (described.get(&address(&pair.left)), described.get(&address(&pair.right)))
        else {
            return Err(Error::Missing { what: "descriptions of nodes", needed_by: "an example" });
        };
        let [one, other] = self.specimens(number);
        let example = features
            .instance_with(left, right, pair.features.as_ref())
            .and_then(|instance| Example::labelled(instance, pair, truth.clone(), unknown, loss, self.picked[number].1))
            .map_err(|error| self.at(number, error))?;
        Ok(example.with_specimens(one, other))
    }

    /// Numbers that tell the two specimens of a pair from others in whichever file they are, the whole or a part: the beginnings of the digests of
    /// their names.
    #[must_use]
    pub fn specimens(&self, number: usize) -> [usize; 2] {
        self.ends(number).map(|at| {
            let digest = Sha256::digest(self.data.graphs()[at].id.as_bytes());
            digest.iter().take(size_of::<usize>()).fold(0, |number, &byte| number << 8 | usize::from(byte))
        })
    }

    /// The two graphs of a pair, its truth, and the left nodes about which nothing is known.
    #[must_use]
    pub fn labels(&self, number: usize) -> ([&Graph; 2], &Matching, &[usize]) {
        let labelled = self.labelled(number);
        let Some(truth) = &labelled.truth else { unreachable!("only pairs with matches are picked") };
        (self.ends(number).map(|at| self.graph(at)), truth, &labelled.unknown)
    }

    fn pair(&self, number: usize) -> Pair {
        let [left, right] = self.ends(number).map(|at| Arc::clone(&self.data.graphs()[at].graph));
        let LabelledPair { given, features, .. } = self.labelled(number).clone();
        Pair { left, right, given, features }
    }

    /// What errors call a graph.
    fn name(&self, position: usize) -> String {
        format!("graph {:?}", self.data.graphs()[position].id)
    }

    /// An error with the pair it is about.
    fn at(&self, number: usize, error: Error) -> Error {
        let [left, right] = self.ends(number).map(|at| self.name(at));
        Error::At { place: format!("pair {left}, {right}"), error: Box::new(error) }
    }
}

/// Graphs as some features see them, by where they are in memory.
type Seen = BTreeMap<usize, Arc<Described>>;

fn address(graph: &Arc<Graph>) -> usize {
    Arc::as_ptr(graph).addr()
}

/// Describes each graph once; errors have the names.
fn describe<'a>(
    features: &FeatureMap,
    graphs: impl Iterator<Item = (&'a Arc<Graph>, String)>,
    control: &Control,
) -> Result<Seen> {
    let different: BTreeMap<usize, (&Arc<Graph>, String)> =
        graphs.map(|(graph, name)| (address(graph), (graph, name))).collect();
    let describe = |(at, (graph, name)): (usize, (&Arc<Graph>, String))| {
        Error::if_interrupted(control)?;
        match features.describe_watched(graph, control) {
            Ok(described) => Ok((at, Arc::new(described))),
            Err(error) => Err(Error::At { place: name, error: Box::new(error) }),
        }
    };
    different.into_par_iter().map(describe).collect()
}

/// Examples made when they are asked for. See [`LabelledPairs::lazy_examples`].
pub struct LazyExamples<'a> {
    pairs: &'a LabelledPairs,
    features: &'a FeatureMap,
    loss: &'a dyn Loss,
    /// The graphs as they are, unless the features may turn them.
    described: Option<Seen>,
}

impl LazyExamples<'_> {
    /// Those of these pairs.
    ///
    /// # Errors
    /// A graph without the parts that the loss needs, or a pair that cannot be turned, with its name.
    pub fn of(&self, range: Range<usize>) -> Result<Vec<Example>> {
        let Self { pairs, features, loss, described } = self;
        if let Some(described) = described {
            let example = |number: usize| pairs.example(number, &pairs.pair(number), described, features, *loss);
            return range.map(example).collect();
        }
        let turned = |number: usize| {
            pairs.listen()?;
            let turned = features.pose.known(&pairs.pair(number), pairs.labels(number).1);
            turned.map_err(|error| pairs.at(number, error))
        };
        let turned: Vec<Pair> = range.clone().map(turned).collect::<Result<_>>()?;
        let ends = range.clone().zip(&turned).flat_map(|(number, pair)| {
            let [left, right] = pairs.ends(number).map(|at| pairs.name(at));
            [(&pair.left, left), (&pair.right, right)]
        });
        let described = describe(features, ends, &pairs.control)?;
        let example = |(number, pair): (usize, &Pair)| {
            let example = pairs.example(number, pair, &described, features, *loss)?;
            Ok(example.turned_from(features, pairs.pair(number)))
        };
        range.zip(&turned).map(example).collect()
    }
}
