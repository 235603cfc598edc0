//! Naming a specimen again, from the pose that its earlier names determine: a tenth of the time of a search over all poses, for
//! rounds of naming and learning; and the spread of an atlas of one specimen, of which nothing is known, made smaller.

use super::naming::{Namer, in_order, shuffled};
use super::pose::Placed;
use super::{Atlas, Naming, Search};
use crate::Result;
use crate::graph::Graph;
use crate::matching::{Constraint, Matching, Workspace};

impl Atlas {
    /// The same with all precisions of positions and edges multiplied by a factor.
    pub(crate) fn sharper(&self, factor: f64) -> Self {
        let mut atlas = self.clone();
        let positions = atlas.landmarks.iter_mut().map(|landmark| &mut landmark.position);
        let all = positions.chain(atlas.edges.iter_mut().map(|edge| &mut edge.displacement));
        all.flat_map(|gaussian| &mut gaussian.precision).for_each(|number| *number *= factor);
        atlas
    }

    /// The names that the quick search finds around the pose of the names `before`, and their score. If those are too few to tell a pose,
    /// all poses are searched.
    pub(crate) fn name_near(
        &self,
        specimen: &Graph,
        before: &Matching,
        weights: &[f64],
        work: &mut Workspace,
    ) -> Result<(Matching, f64)> {
        if before.matched_count() <= self.dimension {
            let Naming { matching, score, .. } = self.name_with(specimen, weights, Search::Quick, work)?;
            return Ok((matching, score));
        }
        let frame = self.frame_by_names(specimen, before)?;
        let order = shuffled(specimen.node_count());
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &point)| place[point] = at);
        let start = before.left_to_right().iter().map(|point| point.map(|point| place[point])).collect();
        let matching = Matching::new(start, order.len(), Constraint::OneToOne)?;
        let renumbered = specimen.renumbered(&order)?;
        let presence = self.presence_in(&renumbered);
        let namer = Namer::new(self.under(presence), &renumbered, presence, &[], weights)?;
        let best = namer.refitted(namer.solve(Placed { frame, matching, score: 0.0 }, work)?, work)?;
        Ok((in_order(&best.solution.matching, &order)?, best.solution.score))
    }
}
