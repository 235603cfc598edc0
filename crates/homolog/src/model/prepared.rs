//! [`Prepared`]: a graph as a model sees it, computed once for all the pairs it is in; [`Matched`]: two of them, and the one problem that the
//! match, its margins and its reasons share.

use super::{Model, PairOf};
use crate::atlas::Naming;
use crate::features::{Described, Instance};
use crate::graph::{Graph, Pair, PairFeatures};
use crate::matching::{self, Compatibility, EdgesKept, Margin, Restrictions, RightOrder, Solution, Workspace};
use crate::{Control, Error, Report, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A graph as a model sees it: described, or named if the model has an atlas. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Prepared {
    graph: Arc<Graph>,
    seen: Seen,
}

#[derive(Debug, Clone)]
enum Seen {
    Described(Arc<Described>),
    Named(Arc<Naming>),
}

/// Two graphs, matched.
#[derive(Debug, Clone)]
pub struct Matched<'m> {
    /// The match.
    pub solution: Solution,
    pub(super) model: &'m Model,
    pub(super) problem: Problem,
}

/// What a match was found from.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one of a match, and a box would be allocated for each of a million")]
pub(super) enum Problem {
    /// The graphs as matched, and the table of scores unless they are too large for one.
    Graphs(Instance, Option<Compatibility>),
    /// Two namings, joined.
    Names(Arc<Naming>, Arc<Naming>),
}

/// What is known about the nodes of two graphs together.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// Seeds and forbidden pairs.
    pub given: &'a Restrictions,
    /// Features of pairs, and which pairs may be matched.
    pub features: Option<&'a Arc<PairFeatures>>,
}

impl<'a> From<&'a Restrictions> for Between<'a> {
    fn from(given: &'a Restrictions) -> Self {
        Self { given, features: None }
    }
}

impl<'a> From<&'a Pair> for Between<'a> {
    fn from(pair: &'a Pair) -> Self {
        Self { given: &pair.given, features: pair.features.as_ref() }
    }
}

impl<'a> From<&'a PairOf> for Between<'a> {
    fn from(pair: &'a PairOf) -> Self {
        Self { given: &pair.given, features: pair.features.as_ref() }
    }
}

impl Prepared {
    /// The graph itself.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(super) fn described(&self) -> Option<&Arc<Described>> {
        match &self.seen {
            Seen::Described(described) => Some(described),
            Seen::Named(_) => None,
        }
    }

    /// Its names, if the model names points.
    #[must_use]
    pub fn naming(&self) -> Option<&Naming> {
        match &self.seen {
            Seen::Named(naming) => Some(naming),
            Seen::Described(_) => None,
        }
    }
}

impl Model {
    /// Prepares graphs, on all cores: each is described, or named, once, and everything else works on that.
    ///
    /// ```
    /// use homolog::features::FeatureMap;
    /// use homolog::graph::Graph;
    /// use homolog::matching::{Linear, Method, Restrictions, Workspace};
    /// use homolog::{Control, model::Model};
    /// use std::sync::Arc;
    ///
    /// let kite = Arc::new(Graph::from_points(ndarray::array![[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.5]])?);
    /// let model = Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default()))?;
    /// let kites = model.prepare(&[kite.clone(), kite], &Control::new())?;
    /// let matched = model.match_prepared(&kites[0], &kites[1], &Restrictions::default(), &mut Workspace::new())?;
    /// assert_eq!(matched.solution.score, 0.0);
    /// assert_eq!(matched.margins(&Control::new())?.len(), 4);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// A graph without the parts that the features need, with its position; [`Error::Interrupted`].
    pub fn prepare(&self, graphs: &[Arc<Graph>], control: &Control) -> Result<Vec<Prepared>> {
        let done = AtomicUsize::new(0);
        let prepare = |(at, graph): (usize, &Arc<Graph>)| {
            if control.interrupted() && graphs.len() > 2 {
                return Err(Error::Interrupted);
            }
            let place = |error| Error::At { place: format!("graph {at}"), error: Box::new(error) };
            let prepared = self.prepare_one(graph, control).map_err(place)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            control.report(&Report::new("describing graphs", done, Some(graphs.len())));
            Ok(prepared)
        };
        graphs.par_iter().enumerate().map(prepare).collect()
    }

    /// [`Self::prepare`] for one graph.
    ///
    /// # Errors
    /// A graph without the parts that the features need; [`Error::Interrupted`] if it has many points.
    pub fn prepare_one(&self, graph: &Arc<Graph>, control: &Control) -> Result<Prepared> {
        let seen = if self.atlas.is_some() {
            Seen::Named(Arc::new(self.name(graph, &mut Workspace::with_control(control))?))
        } else {
            Seen::Described(Arc::new(self.features.describe_watched(graph, control)?))
        };
        Ok(Prepared { graph: Arc::clone(graph), seen })
    }

    /// Both graphs of a pair, refused first if they are too large.
    pub(crate) fn prepare_pair(&self, pair: &Pair, control: &Control) -> Result<[Prepared; 2]> {
        self.check_size(pair)?;
        Ok([self.prepare_one(&pair.left, control)?, self.prepare_one(&pair.right, control)?])
    }

    /// Matches two prepared graphs. With an atlas the points with the same name are joined, which proves nothing about the match.
    /// The right nodes are solved in a shuffled order, always the same, so ties are not broken towards equal numbers. Thousands of nodes are
    /// matched without a table of all pairs if the matcher can.
    ///
    /// # Errors
    /// Graphs that another model prepared; seeds or forbidden pairs that cannot hold, or any with an atlas; graphs too large for the matcher.
    pub fn match_prepared<'a>(
        &self,
        left: &Prepared,
        right: &Prepared,
        between: impl Into<Between<'a>>,
        work: &mut Workspace,
    ) -> Result<Matched<'_>> {
        let between = between.into();
        if let (Seen::Named(left), Seen::Named(right)) = (&left.seen, &right.seen) {
            return self.join_by_name(left, right, between.given);
        }
        let instance = self.instance(left, right, between, work)?;
        let weights = self.weights();
        let (n, m) = (instance.left().node_count(), instance.right().node_count());
        let is_streamed = self.matcher.takes_rows() && self.features.is_streamed(n, m);
        let (solution, problem) = if is_streamed && instance.pair_features().is_none() {
            let order = RightOrder::random(m, 0);
            (instance.solve_rows(&self.matcher, &weights, &order, work)?, None)
        } else {
            let problem = instance.compatibility_watched(&weights, work.control())?;
            (self.solve_shuffled(&problem, work)?, Some(problem))
        };
        Ok(Matched { solution, model: self, problem: Problem::Graphs(instance, problem) })
    }

    /// [`Self::match_prepared`] for two graphs that are prepared now.
    ///
    /// # Errors
    /// A graph without the parts that the features need; graphs too large for the matcher, which is seen before anything is computed.
    pub fn match_pair(&self, pair: &Pair, work: &mut Workspace) -> Result<Matched<'_>> {
        let [left, right] = self.prepare_pair(pair, work.control())?;
        self.match_prepared(&left, &right, pair, work)
    }

    /// The solution of [`Self::match_pair`]. For loops, Ctrl-C and time limits there is [`Self::solve_with`].
    ///
    /// # Errors
    /// As [`Self::match_pair`].
    pub fn solve(&self, pair: &Pair) -> Result<Solution> {
        self.solve_with(pair, &mut Workspace::new())
    }

    /// [`Self::solve`] with buffers that are reused from call to call, under the workspace's [`Control`].
    ///
    /// # Errors
    /// As [`Self::match_pair`].
    pub fn solve_with(&self, pair: &Pair, work: &mut Workspace) -> Result<Solution> {
        Ok(self.match_pair(pair, work)?.solution)
    }

    /// The problem of matching two prepared graphs under this model. If told to stop, of the best rotation tried by then.
    ///
    /// # Errors
    /// As [`Self::match_prepared`]; a model that names has no such problem.
    pub fn problem_of<'a>(
        &self,
        left: &Prepared,
        right: &Prepared,
        between: impl Into<Between<'a>>,
        work: &mut Workspace,
    ) -> Result<Compatibility> {
        self.check_table(left.graph.node_count(), right.graph.node_count())?;
        self.instance(left, right, between.into(), work)?.compatibility_watched(&self.weights(), work.control())
    }

    /// [`Self::problem_of`] for two graphs that are prepared now.
    ///
    /// # Errors
    /// As [`Self::match_pair`].
    pub fn problem(&self, pair: &Pair, work: &mut Workspace) -> Result<Compatibility> {
        self.check_table(pair.left.node_count(), pair.right.node_count())?;
        let [left, right] = self.prepare_pair(pair, work.control())?;
        self.problem_of(&left, &right, pair, work)
    }

    /// Refuses graphs whose table of scores would be too large for the matcher.
    fn check_table(&self, left_count: usize, right_count: usize) -> Result<()> {
        self.matcher.check_size(left_count, right_count, !self.features.edge.is_empty())
    }

    /// Refuses graphs that [`Self::solve`] would refuse because of their number of nodes alone.
    ///
    /// # Errors
    /// [`Error::TooLarge`] with the size and the limit.
    pub fn check_size(&self, pair: &Pair) -> Result<()> {
        let (n, m) = (pair.left.node_count(), pair.right.node_count());
        if self.atlas.is_some() {
            return Ok(());
        }
        // Rotations are tried on tables.
        let is_plain = self.features.pose.is_as_given() && pair.features.is_none();
        if is_plain && self.matcher.takes_rows() && self.features.is_streamed(n, m) {
            Compatibility::check_size(n, m)
        } else {
            self.check_table(n, m)
        }
    }

    /// The two graphs as they are matched: the left one rotated as far as the model's pose allows.
    fn instance(
        &self,
        left: &Prepared,
        right: &Prepared,
        between: Between<'_>,
        work: &mut Workspace,
    ) -> Result<Instance> {
        let (given, features) = (between.given.clone(), between.features.cloned());
        let pair = Pair { given, features, ..Pair::new(Arc::clone(&left.graph), Arc::clone(&right.graph)) };
        self.check_size(&pair)?;
        let (Some(described), Some(other)) = (left.described(), right.described()) else {
            return Err(Error::Missing { what: "descriptions of nodes", needed_by: "matching without an atlas" });
        };
        if self.features.pose.is_as_given() {
            let instance = self.features.instance_with(described, other, between.features)?;
            return instance.restricted(between.given);
        }
        let (_, instance, _) = self.features.best_pose(self.features.pose, &pair, other, &self.weights(), work)?;
        Ok(instance)
    }

    /// How certain each pair of a solution is: [`margins`](matching::margins), with edges by the model's matcher.
    pub(crate) fn margins(
        &self,
        problem: &Compatibility,
        solution: &Solution,
        control: &Control,
    ) -> Result<Vec<Margin>> {
        matching::margins(problem, solution, Some(self.matcher.matcher()), control)
    }

    /// Solves a problem of this model with its right nodes in a shuffled order, always the same.
    pub(crate) fn solve_shuffled(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        let order = RightOrder::random(problem.right_count(), 0);
        let mut shuffled = Compatibility::linear(Array2::zeros((0, 0)));
        order.shuffle_into(problem, &mut shuffled)?;
        let mut solution = self.matcher.matcher().solve_with(&shuffled, work)?;
        order.carry_back_solution(&mut solution)?;
        Ok(solution)
    }
}

impl Matched<'_> {
    /// The model that found the match.
    #[must_use]
    pub fn model(&self) -> &Model {
        self.model
    }

    /// What the proof of the match is true up to, if that is not negligible: [`Solution::tolerance`].
    #[must_use]
    pub fn tolerance(&self) -> Option<f64> {
        match &self.problem {
            Problem::Graphs(_, Some(problem)) => self.solution.tolerance(problem),
            _ => None,
        }
    }

    /// How many edges the match keeps, if the edges that are compared are the graphs' own.
    #[must_use]
    pub fn edges_kept(&self) -> Option<EdgesKept> {
        let features = &self.model.features;
        match &self.problem {
            Problem::Graphs(instance, _) if features.edge_rule.is_none() && !features.edge.is_empty() => {
                let (left, right) = (instance.left().edges(), instance.right().edges());
                Some(EdgesKept::by(&self.solution.matching, left, right))
            }
            _ => None,
        }
    }

    /// What each left node adds to the score: with the score of its pair, half of each edge score that it takes part in.
    ///
    /// # Errors
    /// None in practice.
    pub fn shares(&self) -> Result<Vec<f64>> {
        match &self.problem {
            Problem::Graphs(_, Some(problem)) => problem.shares(&self.solution.matching),
            Problem::Graphs(instance, None) => instance.shares(&self.model.weights(), &self.solution.matching),
            Problem::Names(left, right) => Ok(super::naming::joined_shares(left, right, &self.solution.matching)),
        }
    }

    /// How certain each matched pair is, in order of left node: [`margins`](matching::margins), with edges by the model's matcher.
    ///
    /// # Errors
    /// As the matcher; graphs too large for a table of scores.
    pub fn margins(&self, control: &Control) -> Result<Vec<Margin>> {
        match &self.problem {
            Problem::Graphs(..) => self.model.margins(&*self.table(control)?, &self.solution, control),
            Problem::Names(left, right) => Ok(super::naming::joined_margins(left, right, &self.solution.matching)),
        }
    }

    /// For each matched pair, in order of left node, the right nodes that include the true partner this often (between 0 and 1), the match
    /// first. Only a model with an atlas knows them, from the specimens it was learned from ([`Atlas::name_sets`](crate::atlas::Atlas::name_sets)).
    ///
    /// # Errors
    /// A model without an atlas; as [`Atlas::name_sets`](crate::atlas::Atlas::name_sets).
    pub fn candidates(&self, level: f64) -> Result<Vec<Vec<usize>>> {
        match (&self.problem, &self.model.atlas) {
            (Problem::Names(left, right), Some(atlas)) => {
                super::naming::joined_candidates(atlas, [left, right], &self.solution.matching, level)
            }
            _ => Err(Error::Missing { what: "atlas", needed_by: "candidates for each match" }),
        }
    }

    /// For each matched pair, in order of left node, how often it is found again without a tenth of the edges:
    /// [`found_again`](matching::found_again).
    ///
    /// # Errors
    /// A number of times that is 0; graphs too large for a table of scores; a match by names.
    pub fn found_again(&self, times: usize, control: &Control) -> Result<Vec<f64>> {
        matching::found_again(&*self.table(control)?, &self.solution, times, control)
    }

    /// Whether the match was found with features of pairs, or a list of the pairs that may be matched.
    pub(super) fn has_pair_features(&self) -> bool {
        matches!(&self.problem, Problem::Graphs(instance, _) if instance.pair_features().is_some())
    }

    /// The instance and its table of scores, which is built now if the match was found without.
    pub(super) fn table(&self, control: &Control) -> Result<Cow<'_, Compatibility>> {
        match &self.problem {
            Problem::Graphs(_, Some(problem)) => Ok(Cow::Borrowed(problem)),
            Problem::Graphs(instance, None) => {
                self.model.check_table(instance.left().node_count(), instance.right().node_count())?;
                Ok(Cow::Owned(instance.compatibility_watched(&self.model.weights(), control)?))
            }
            Problem::Names(..) => {
                Err(Error::Missing { what: "scores of pairs", needed_by: "reasons for a match by names" })
            }
        }
    }
}
