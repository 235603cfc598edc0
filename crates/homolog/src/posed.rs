//! A model and turned data: the best turn of a pair is found once, and everything else is about the turned pair.

use crate::Result;
use crate::features::{FAR_TURN, Pose, Turns, turn_of};
use crate::graph::Pair;
use crate::matching::{FrankWolfe, Linear, Matcher, RightOrder, Solution, Workspace};
use crate::model::Model;
use std::sync::Arc;

impl Model {
    /// The pair as the model matches it: its left graph turned as the model's [`Pose`] allows and as matches it best.
    ///
    /// # Errors
    /// A graph without the parts that the features or the pose need.
    pub fn posed(&self, pair: &Pair) -> Result<Pair> {
        self.posed_as(self.features.pose, pair).map(|(pair, _)| pair)
    }

    /// By how many degrees the left graph has to be turned to match better than as given, where the model takes graphs as given and that is
    /// more than [`FAR_TURN`]; `None` where nothing speaks for a turn.
    ///
    /// # Errors
    /// As [`Self::posed`].
    pub fn better_turn(&self, pair: &Pair) -> Result<Option<f64>> {
        if !self.features.pose.is_as_given() || pair.left.points().is_none() || pair.right.points().is_none() {
            return Ok(None);
        }
        let any = Pose { turns: Turns::Any, mirror: false };
        let (_, as_given) = self.posed_as(Pose::default(), pair)?;
        let (_, turned) = self.posed_as(any, pair)?;
        let better = turned.score > as_given.score;
        Ok(turn_of(pair, &turned.matching)?.filter(|&turn| better && turn > FAR_TURN))
    }

    fn posed_as(&self, pose: Pose, pair: &Pair) -> Result<(Pair, Solution)> {
        let weights = self.weights();
        let right = Arc::new(self.features.describe(&pair.right)?);
        let order = RightOrder::random(pair.right.node_count(), 0);
        let mut work = Workspace::new();
        pose.best(pair, |pair| {
            let left = Arc::new(self.features.describe(&pair.left)?);
            let problem = self.features.instance(&left, &right)?.restricted(&pair.given)?.compatibility(&weights)?;
            let mut shuffled = problem.clone();
            order.shuffle_into(&problem, &mut shuffled)?;
            // A quick search is enough to tell turns apart; the model's own matcher has the last word.
            let mut solution = match &shuffled.edge {
                None => Linear::default().solve(&shuffled, &mut work)?,
                Some(_) => FrankWolfe::default().solve(&shuffled, &mut work)?,
            };
            order.carry_back_solution(&mut solution)?;
            Ok(solution)
        })
    }
}
