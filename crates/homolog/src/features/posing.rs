//! Graphs turned to match best under given weights: [`Pose::best`] with the scores of a feature map.

use super::{FeatureMap, Pose};
use crate::Result;
use crate::graph::Pair;
use crate::matching::{FrankWolfe, Linear, Matcher, RightOrder, Solution, Workspace};
use std::sync::Arc;

impl FeatureMap {
    /// The pair with its left graph turned to match best under these weights, as far as the pose allows, and a quick solution. Where
    /// the caller wants it to stop, the best of the turns tried by then.
    ///
    /// # Errors
    /// A graph without the parts that the features or the pose need.
    pub fn best_pose(
        &self,
        pose: Pose,
        pair: &Pair,
        weights: &[f64],
        work: &mut Workspace,
    ) -> Result<(Pair, Solution)> {
        let right = Arc::new(self.describe(&pair.right)?);
        let order = RightOrder::random(pair.right.node_count(), 0);
        let control = work.control().clone();
        pose.best(pair, &control, |pair| {
            let left = Arc::new(self.describe(&pair.left)?);
            let problem = self.instance(&left, &right)?.restricted(&pair.given)?.compatibility(weights)?;
            let mut shuffled = problem.clone();
            order.shuffle_into(&problem, &mut shuffled)?;
            // A quick search is enough to tell turns apart; the model's own matcher decides in the end.
            let mut solution = match &shuffled.edge {
                None => Linear::default().solve(&shuffled, work)?,
                Some(_) => FrankWolfe::default().solve(&shuffled, work)?,
            };
            order.carry_back_solution(&mut solution)?;
            Ok(solution)
        })
    }
}
