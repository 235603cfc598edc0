//! Matching with a model: from two graphs to their problem and its solution.

use super::Model;
use crate::features::{Described, Instance};
use crate::graph::{Graph, Pair};
use crate::matching::{Compatibility, Restrictions, RightOrder, Solution, Workspace};
use crate::{Control, Result};
use ndarray::Array2;
use std::sync::Arc;

impl Model {
    /// Matches two graphs. With an atlas both are named and joined by their names, which proves nothing about the match. The right nodes are
    /// solved in a shuffled order, always the same, so ties are not broken towards equal numbers. Thousands of nodes are matched without a
    /// table of all pairs where the matcher can ([`Method::is_streaming`](crate::matching::Method::is_streaming)).
    ///
    /// # Errors
    /// A graph without the parts that the features need; graphs too large for the matcher, which is seen before anything is computed.
    pub fn solve(&self, pair: &Pair, work: &mut Workspace) -> Result<Solution> {
        if self.atlas.is_some() {
            return Ok(self.join_by_name(pair, work)?.0);
        }
        self.solve_described(&self.instance(pair, work.control())?, work)
    }

    /// [`Self::solve`] for graphs that are described already.
    ///
    /// # Errors
    /// Graphs that were described by another model.
    pub fn solve_described(&self, instance: &Instance, work: &mut Workspace) -> Result<Solution> {
        Ok(self.solve_instance(instance, work)?.0)
    }

    /// The solution, and the problem where a table of it was made: large ones are solved without.
    pub(crate) fn solve_instance(
        &self,
        instance: &Instance,
        work: &mut Workspace,
    ) -> Result<(Solution, Option<Compatibility>)> {
        let weights = self.weights();
        let (n, m) = (instance.left().node_count(), instance.right().node_count());
        if self.matcher.is_streaming() && self.features.is_streamed(n, m) {
            let order = RightOrder::random(m, 0);
            return Ok((instance.solve_streamed(&self.matcher, &weights, &order, work)?, None));
        }
        let problem = instance.compatibility(&weights)?;
        let solution = self.solve_shuffled(&problem, work)?;
        Ok((solution, Some(problem)))
    }

    /// The problem of matching two graphs under this model.
    ///
    /// # Errors
    /// A graph without the parts that the features need; graphs too large for the matcher, which is seen before anything is computed.
    pub fn problem(&self, pair: &Pair) -> Result<(Instance, Compatibility)> {
        self.check_table(pair)?;
        let instance = self.instance(pair, &Control::new())?;
        let problem = instance.compatibility(&self.weights())?;
        Ok((instance, problem))
    }

    /// Refuses graphs whose table of scores would be too large for the matcher.
    fn check_table(&self, pair: &Pair) -> Result<()> {
        let has_edges = !self.features.edge.is_empty();
        self.matcher.check_size(pair.left.node_count(), pair.right.node_count(), has_edges)
    }

    /// Refuses graphs that [`Self::solve`] would refuse because of their number of nodes alone.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) with the size and the limit.
    pub fn check_size(&self, pair: &Pair) -> Result<()> {
        let (n, m) = (pair.left.node_count(), pair.right.node_count());
        // Turns are tried on tables.
        if self.features.pose.is_as_given() && self.matcher.is_streaming() && self.features.is_streamed(n, m) {
            Compatibility::check_size(n, m)
        } else {
            self.check_table(pair)
        }
    }

    /// The two graphs as the model sees them; refused before anything is computed if they are too large to be solved.
    pub(crate) fn instance(&self, pair: &Pair, control: &Control) -> Result<Instance> {
        self.check_size(pair)?;
        // As given there is no turn to try.
        let posed = if self.features.pose.is_as_given() { pair } else { &self.posed(pair, control)? };
        let (left, right) = (Arc::new(self.describe(&posed.left)?), Arc::new(self.describe(&posed.right)?));
        self.features.instance(&left, &right)?.restricted(&pair.given)
    }

    /// What the model sees of a graph: computed once, for all the problems it is in.
    ///
    /// # Errors
    /// A graph without the parts that the features need.
    pub fn describe(&self, graph: &Graph) -> Result<Described> {
        self.features.describe(graph)
    }

    /// [`Self::problem`] of graphs that are described already.
    ///
    /// # Errors
    /// Graphs that were described by another model; seeds or forbidden pairs that cannot hold.
    pub fn problem_of(
        &self,
        left: &Arc<Described>,
        right: &Arc<Described>,
        given: &Restrictions,
    ) -> Result<(Instance, Compatibility)> {
        let instance = self.features.instance(left, right)?.restricted(given)?;
        let problem = instance.compatibility(&self.weights())?;
        Ok((instance, problem))
    }

    /// Solves a problem of this model with its right nodes in a shuffled order, always the same.
    pub(crate) fn solve_shuffled(&self, problem: &Compatibility, work: &mut Workspace) -> Result<Solution> {
        let order = RightOrder::random(problem.right_count(), 0);
        let mut shuffled = Compatibility::linear(Array2::zeros((0, 0)));
        order.shuffle_into(problem, &mut shuffled)?;
        let mut solution = self.matcher.matcher().solve(&shuffled, work)?;
        order.carry_back_solution(&mut solution)?;
        Ok(solution)
    }
}
