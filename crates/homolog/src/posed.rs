//! A model and turned data: the best turn of a pair is found once, and everything else works on the turned pair.

use crate::features::{FAR_TURN, Pose, Turns, turn_of};
use crate::graph::Pair;
use crate::matching::{Solution, Workspace};
use crate::model::Model;
use crate::{Control, Result};

impl Model {
    /// The pair as the model matches it: its left graph turned to match best, as far as the model's [`Pose`] allows. Where the
    /// control says stop, the best of the turns tried by then.
    ///
    /// # Errors
    /// A graph without the parts that the features or the pose need.
    pub fn posed(&self, pair: &Pair, control: &Control) -> Result<Pair> {
        self.posed_as(self.features.pose, pair, control).map(|(pair, _)| pair)
    }

    /// By how many degrees the left graph has to be turned to match better than as given, if the model takes graphs as given and that is
    /// more than [`FAR_TURN`]; `None` if nothing suggests a turn.
    ///
    /// # Errors
    /// As [`Self::posed`].
    pub fn better_turn(&self, pair: &Pair, control: &Control) -> Result<Option<f64>> {
        if !self.features.pose.is_as_given() || pair.left.points().is_none() || pair.right.points().is_none() {
            return Ok(None);
        }
        let any = Pose { turns: Turns::Any, mirror: false };
        let (_, as_given) = self.posed_as(Pose::default(), pair, control)?;
        let (_, turned) = self.posed_as(any, pair, control)?;
        let better = turned.score > as_given.score;
        Ok(turn_of(pair, &turned.matching)?.filter(|&turn| better && turn > FAR_TURN))
    }

    fn posed_as(&self, pose: Pose, pair: &Pair, control: &Control) -> Result<(Pair, Solution)> {
        self.features.best_pose(pose, pair, &self.weights(), &mut Workspace::with_control(control))
    }
}
