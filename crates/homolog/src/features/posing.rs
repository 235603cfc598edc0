//! Graphs rotated to match best under given weights: [`Rotation::best`] with the scores of a feature map.

use super::{Described, FeatureMap, Instance, Rotation};
use crate::graph::{Graph, Pair};
use crate::matching::{FrankWolfe, Linear, Matcher, RightOrder, Solution, Workspace};
use crate::{Control, Result};
use std::sync::Arc;

impl FeatureMap {
    /// The pair with its left graph rotated to match best under these weights, as far as the pose allows, its instance, and a quick solution.
    /// The right graph is described already. If the caller wants it to stop, the best of the rotations tried by then.
    ///
    /// # Errors
    /// A graph without the parts that the features or the pose need; a right graph that other features described.
    pub fn best_pose(
        &self,
        pose: Rotation,
        pair: &Pair,
        right: &Arc<Described>,
        weights: &[f64],
        work: &mut Workspace,
    ) -> Result<(Pair, Instance, Solution)> {
        let order = RightOrder::random(pair.right.node_count(), 0);
        let control = work.control().clone();
        let instance = |pair: &Pair, control: &Control| -> Result<Instance> {
            let left = Arc::new(self.describe_watched(&pair.left, control)?);
            self.instance_with(&left, right, pair.features.as_ref())?.restricted(&pair.given)
        };
        let mut best: Option<(f64, Arc<Graph>, Instance)> = None;
        let (posed, solution) = pose.best(pair, &control, |pair| {
            // There is always an answer: the first rotation is tried to its end.
            let watched = if best.is_some() { control.clone() } else { Control::new() };
            let instance = instance(pair, &watched)?;
            let problem = instance.compatibility_watched(weights, &watched)?;
            let mut shuffled = problem.clone();
            order.shuffle_into(&problem, &mut shuffled)?;
            // A quick search is enough to tell rotations apart; the model's own matcher decides in the end.
            let mut solution = match &shuffled.edge {
                None => Linear::default().solve_with(&shuffled, work)?,
                Some(_) => FrankWolfe::default().solve_with(&shuffled, work)?,
            };
            order.carry_back_solution(&mut solution)?;
            if best.as_ref().is_none_or(|(score, ..)| solution.score > *score) {
                best = Some((solution.score, Arc::clone(&pair.left), instance));
            }
            Ok(solution)
        })?;
        let instance = match best {
            Some((_, left, instance)) if Arc::ptr_eq(&left, &posed.left) => instance,
            _ => instance(&posed, &Control::new())?,
        };
        Ok((posed, instance, solution))
    }
}
