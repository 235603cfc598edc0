//! Whether two graphs would match better if one were rotated.

use super::{Matched, Model, Prepared};
use crate::Result;
use crate::features::{FAR_TURN, Rotation, Turns, turn_of};
use crate::graph::Pair;
use crate::matching::Workspace;
use std::sync::Arc;

impl Model {
    /// By how many degrees the left graph has to be rotated to match better than it was matched, if the model takes graphs as given and that
    /// is more than 30; `None` if nothing suggests a rotation. Solves about thirty problems.
    ///
    /// # Errors
    /// A graph without the parts that the features or the pose need.
    pub fn better_rotation(
        &self,
        [left, right]: [&Prepared; 2],
        matched: &Matched<'_>,
        work: &mut Workspace,
    ) -> Result<Option<f64>> {
        let has_points = |graph: &Prepared| graph.graph().points().is_some();
        // Features of pairs belong to the graphs as given.
        if !self.features.pair.is_empty() || matched.has_pair_features() {
            return Ok(None);
        }
        if !self.features.pose.is_as_given() || !self.features.sees_turns() || !has_points(left) || !has_points(right) {
            return Ok(None);
        }
        let Some(described) = right.described() else { return Ok(None) };
        let [from, to] = [left, right].map(|graph| Arc::clone(graph.graph()));
        let pair = Pair::new(from, to);
        let any = Rotation { turns: Turns::Any, mirror: false };
        let (_, _, rotated) = self.features.best_pose(any, &pair, described, &self.weights(), work)?;
        let is_better = rotated.score > matched.solution.score;
        Ok(turn_of(&pair, &rotated.matching)?.filter(|&turn| is_better && turn > FAR_TURN))
    }
}
