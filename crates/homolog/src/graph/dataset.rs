//! [`DataSet`]: graphs with names, and pairs of them with their true matchings if these are known. This is what people label,
//! train on and evaluate on, and the one shape of labelled pairs: what is learned from are positions in it
//! ([`LabelledPairs`](crate::learn::LabelledPairs)). What it consists of is checked once, here.

use super::{Graph, Pair, PairFeatures, Split};
use crate::matching::{Constraint, Matching, Restrictions};
use crate::{Control, Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most graphs in a data set.
pub(crate) const MAX_GRAPHS: usize = 100_000;
/// The most nodes of a graph, or context points: as a table a problem with that many nodes on each side does not fit in memory, as a list of near points
/// it does.
pub(crate) const MAX_NODES: usize = 1 << 18;
/// The most nodes of all graphs together.
pub(crate) const MAX_TOTAL_NODES: usize = 1 << 24;
/// The most edges of a graph, as given.
pub(crate) const MAX_EDGES: usize = 1 << 22;
/// The most pairs in a data set.
pub(crate) const MAX_PAIRS: usize = 1_000_000;
/// The most pairs of nodes with features, in a pair of graphs.
pub(crate) const MAX_LISTED_PAIRS: usize = 1 << 24;
/// The most nodes of all labelled pairs together: 1 GB of matchings.
pub(crate) const MAX_LABELLED_NODES: usize = 1 << 26;

/// Graphs and pairs of them. Clones share both.
///
/// ```
/// use homolog::data::dataset::DataSet;
///
/// let text = r#"{
///   "format": {"kind": "homolog-data", "version": 1},
///   "graphs": [
///     {"id": "wing 1", "points": [[0, 0], [2, 0.1], [1, 2]], "names": ["base", "tip", "notch"]},
///     {"id": "wing 2", "points": [[5, 5], [6, 7]], "names": ["base", "notch"]}
///   ],
///   "pairs": [{"left": "wing 1", "right": "wing 2", "split": "train"}]
/// }"#;
/// let data = DataSet::from_json(text)?;
/// // No matches are written: nodes of the same name belong together.
/// let truth = data.pairs()[0].truth.as_ref().unwrap();
/// assert_eq!(truth.left_to_right(), [Some(0), None, Some(1)]);
/// assert_eq!(DataSet::from_json(&data.to_json()?)?, data);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSet {
    graphs: Arc<Vec<NamedGraph>>,
    pairs: Arc<Vec<LabelledPair>>,
}

/// A graph of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedGraph {
    /// Its name, by which pairs refer to it.
    pub id: String,
    /// The graph, shared by all pairs it occurs in.
    pub graph: Arc<Graph>,
    /// Path of its picture, relative to the file of the data set.
    pub image: Option<String>,
}

/// Two graphs of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledPair {
    /// Position of the left graph in the data set.
    pub left: usize,
    /// Position of the right graph.
    pub right: usize,
    /// The true matching; `None` if it is not known.
    pub truth: Option<Matching>,
    /// Left nodes whose partner no one has recorded, in increasing order: the truth leaves them unmatched, but that does not mean that
    /// they have no partner. Empty if the truth is complete.
    pub unknown: Vec<usize>,
    /// What is given before the pair is matched.
    pub given: Restrictions,
    /// Numbers of pairs of nodes, and which pairs may be matched at all; `None`: all, and there are no such numbers.
    pub features: Option<Arc<PairFeatures>>,
    /// What the pair is for; `None` if that is left open.
    pub split: Option<Split>,
}

impl LabelledPair {
    /// Two graphs, by position, and their matching; nothing else is known about them.
    #[must_use]
    pub fn new(left: usize, right: usize, truth: Option<Matching>) -> Self {
        let (unknown, given) = (Vec::new(), Restrictions::default());
        Self { left, right, truth, unknown, given, features: None, split: None }
    }

    fn check_labels(&self, left_count: usize, right_count: usize) -> Result<()> {
        let constraint = self.truth.as_ref().map(Matching::constraint).unwrap_or_default();
        self.given.check(left_count, right_count, constraint)?;
        if let Some(features) = &self.features {
            features.check_counts(left_count, right_count)?;
            self.truth.as_ref().map_or(Ok(()), |truth| features.check_matching(truth))?;
        }
        if let Some(truth) = &self.truth {
            self.given.check_matching(truth)?;
        }
        if let Some(pair) = self.unknown.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::NotIncreasing { what: "left nodes with an unknown partner", index: pair[1] });
        }
        for &index in &self.unknown {
            if index >= left_count {
                let what = "left nodes with an unknown partner";
                return Err(Error::OutOfRange { what, index, count: left_count });
            }
            if self.truth.as_ref().is_some_and(|truth| truth.left_to_right()[index].is_some()) {
                return Err(Error::KnownAndUnknown { left: index });
            }
        }
        Ok(())
    }
}

impl DataSet {
    /// Puts a data set together.
    ///
    /// # Errors
    /// An id that is empty or occurs twice; a pair of graphs that do not exist; a truth whose sizes are not those of its graphs; more of
    /// anything than a file may have.
    pub fn new(graphs: Vec<NamedGraph>, pairs: Vec<LabelledPair>) -> Result<Self> {
        Self::new_watched(graphs, pairs, &Control::new())
    }

    /// [`Self::new`], told when to stop.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::Interrupted`].
    pub(crate) fn new_watched(graphs: Vec<NamedGraph>, pairs: Vec<LabelledPair>, control: &Control) -> Result<Self> {
        let data = Self { graphs: Arc::new(graphs), pairs: Arc::new(pairs) };
        data.check_graphs()?;
        data.check_pairs(control)?;
        Ok(data)
    }

    fn check_graphs(&self) -> Result<()> {
        at_most("graphs of a data set", self.graphs.len(), MAX_GRAPHS)?;
        let mut seen = BTreeMap::new();
        let mut nodes = 0;
        for (index, named) in self.graphs.iter().enumerate() {
            let place = || format!("graphs[{index}]");
            if named.id.is_empty() {
                return Err(Error::DataSet { place: place(), reason: "the id is empty".to_string() });
            }
            if let Some(first) = seen.insert(named.id.as_str(), index) {
                let reason = format!("the id {:?} is that of graphs[{first}] already", named.id);
                return Err(Error::DataSet { place: place(), reason });
            }
            let graph = &named.graph;
            at_most("nodes of a graph", graph.node_count(), MAX_NODES)?;
            at_most("context points of a graph", graph.context().map_or(0, |points| points.nrows()), MAX_NODES)?;
            at_most("directed edges of a graph", graph.edges().len(), 2 * MAX_EDGES)?;
            nodes += graph.node_count();
        }
        at_most("nodes of all graphs", nodes, MAX_TOTAL_NODES)
    }

    fn check_pairs(&self, control: &Control) -> Result<()> {
        at_most("pairs of a data set", self.pairs.len(), MAX_PAIRS)?;
        let mut labelled = 0;
        for pair in self.pairs.iter() {
            Error::if_interrupted(control)?;
            let (left, right) = self.check_counts(pair)?;
            pair.check_labels(left, right)?;
            labelled += if pair.truth.is_some() { left + right } else { 0 };
        }
        at_most("nodes of all labelled pairs", labelled, MAX_LABELLED_NODES)
    }

    /// The numbers of nodes of a pair, which have to be those of its truth.
    fn check_counts(&self, pair: &LabelledPair) -> Result<(usize, usize)> {
        let count = self.graphs.len();
        let node_count = |index: usize| match self.graphs.get(index) {
            Some(named) => Ok(named.graph.node_count()),
            None => Err(Error::OutOfRange { what: "graphs of a pair", index, count }),
        };
        let (left, right) = (node_count(pair.left)?, node_count(pair.right)?);
        let Some(truth) = &pair.truth else { return Ok((left, right)) };
        let sides = [
            ("left nodes of a truth", left, truth.left_count()),
            ("right nodes of a truth", right, truth.right_count()),
        ];
        match sides.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(Error::Size { what, expected, found }),
            None => Ok((left, right)),
        }
    }

    /// Adds a pair of graphs, which are recognised if they are in the data set (the same `Arc`). What else is said about the pair is checked when it
    /// is used.
    ///
    /// # Errors
    /// The sizes of the truth and the graphs do not agree.
    pub(crate) fn add(&mut self, pair: &Pair, truth: Matching, unknown: &[usize]) -> Result<()> {
        let [left, right] = [&pair.left, &pair.right].map(|graph| {
            let known = self.graphs.iter().position(|named| Arc::ptr_eq(&named.graph, graph));
            known.unwrap_or_else(|| {
                let at = self.graphs.len();
                let named = NamedGraph { id: at.to_string(), graph: Arc::clone(graph), image: None };
                Arc::make_mut(&mut self.graphs).push(named);
                at
            })
        });
        let (given, features, unknown) = (pair.given.clone(), pair.features.clone(), unknown.to_vec());
        let pair = LabelledPair { unknown, given, features, ..LabelledPair::new(left, right, Some(truth)) };
        self.check_counts(&pair)?;
        Arc::make_mut(&mut self.pairs).push(pair);
        Ok(())
    }

    /// The graphs.
    #[must_use]
    pub fn graphs(&self) -> &[NamedGraph] {
        &self.graphs
    }

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &[LabelledPair] {
        &self.pairs
    }

    /// The position of the graph with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.graphs.iter().position(|named| named.id == id)
    }

    /// The two graphs of a pair, with what is given.
    ///
    /// # Errors
    /// No such pair.
    pub fn pair(&self, index: usize) -> Result<Pair> {
        let Some(pair) = self.pairs.get(index) else {
            return Err(Error::OutOfRange { what: "pairs of the data set", index, count: self.pairs.len() });
        };
        let graph = |index: usize| Arc::clone(&self.graphs[index].graph);
        let (given, features) = (pair.given.clone(), pair.features.clone());
        Ok(Pair { given, features, ..Pair::new(graph(pair.left), graph(pair.right)) })
    }
}

/// The matching of nodes that have the same name in both graphs; `None` if no name occurs in both.
///
/// ```
/// use homolog::data::dataset::match_by_name;
/// use homolog::graph::Graph;
/// let named = |names: [&str; 2]| Graph::new(2).with_names(names.map(String::from).to_vec());
/// let matching = match_by_name(&named(["nose", "chin"])?, &named(["chin", "left ear"])?).unwrap();
/// assert_eq!(matching.left_to_right(), [None, Some(0)]);
/// # Ok::<(), homolog::Error>(())
/// ```
#[must_use]
pub fn match_by_name(left: &Graph, right: &Graph) -> Option<Matching> {
    by_name(left, &positions(right), right.node_count(), Constraint::OneToOne, &[])
}

/// The position of each name in a graph; empty for a graph without names. Unnamed nodes are not included.
pub(crate) fn positions(graph: &Graph) -> BTreeMap<&str, usize> {
    let names = graph.names().unwrap_or_default().iter().enumerate();
    names.filter(|(_, name)| !name.is_empty()).map(|(node, name)| (name.as_str(), node)).collect()
}

/// [`positions`] of all graphs.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn all_positions<'a>(graphs: &'a [NamedGraph], control: &Control) -> Result<Vec<BTreeMap<&'a str, usize>>> {
    let of = |named: &'a NamedGraph| Error::if_interrupted(control).map(|()| positions(&named.graph));
    graphs.iter().map(of).collect()
}

/// Nodes with the same name, except for the left nodes whose partner is not known (in increasing order).
pub(crate) fn by_name(
    left: &Graph,
    right: &BTreeMap<&str, usize>,
    right_count: usize,
    constraint: Constraint,
    unknown: &[usize],
) -> Option<Matching> {
    let mut map: Vec<Option<usize>> = left.names()?.iter().map(|name| right.get(name.as_str()).copied()).collect();
    unknown.iter().for_each(|&node| map[node] = None);
    // Names differ within a graph, so the map is one-to-one: `new` refuses nothing here.
    map.iter().any(Option::is_some).then(|| Matching::new(map, right_count, constraint).ok()).flatten()
}

pub(crate) fn at_most(what: &'static str, found: usize, limit: usize) -> Result<()> {
    if found <= limit { Ok(()) } else { Err(Error::TooLarge { what, limit, found }) }
}
