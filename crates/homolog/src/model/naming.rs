//! Models that name: a [`Model`] with an [`Atlas`]. It names the points of a specimen, says why, and matches two specimens by naming
//! both.

use super::prepared::Problem;
use super::{Explanation, Matched, Model};
use crate::atlas::{Atlas, AtlasSettings, Naming, Presence, Search};
use crate::features::ImageDescriptor;
use crate::graph::Graph;
use crate::learn::Evidence;
use crate::matching::{Exact, Margin, Matching, Method, Restrictions, Solution, Status, Workspace, margins};
use crate::takes::TakeNaming;
use crate::{Control, Error, Result};
use std::sync::Arc;

impl Model {
    /// A model that names points by an atlas, with these weights for the kinds of evidence.
    ///
    /// # Errors
    /// An invalid atlas; too many or too few weights.
    pub fn of_atlas(atlas: Atlas, weights: &[f64]) -> Result<Self> {
        atlas.check()?;
        let mut model = Self::new(atlas.features(), Method::Exact(Exact::default()), weights, None)?;
        model.atlas = Some(atlas);
        Ok(model)
    }

    /// Learns an atlas from labelled specimens, and, by leaving out each specimen in turn, how much each kind of evidence counts and how
    /// certain names are. If interrupted, what is not done by then is missing. Also returns how the weights were learned.
    ///
    /// # Errors
    /// As [`Atlas::learn`].
    pub fn fit_atlas(specimens: &[&Graph], settings: &AtlasSettings, control: &Control) -> Result<(Self, Evidence)> {
        let atlas = Atlas::learn_watched(specimens, settings, control)?;
        let evidence = Evidence::learn(&atlas, specimens, settings, &control.part(0, 2))?;
        let atlas = atlas.calibrated(specimens, settings, &evidence.weights, &control.part(1, 2))?;
        Ok((Self::of_atlas(atlas, &evidence.weights)?, evidence))
    }

    /// The atlas of a model that names.
    #[must_use]
    pub fn atlas(&self) -> Option<&Atlas> {
        self.atlas.as_ref()
    }

    /// The same model for specimens that are complete, partial, or either.
    ///
    /// # Errors
    /// A model without an atlas.
    pub fn with_presence(mut self, presence: Presence) -> Result<Self> {
        self.needed_atlas()?;
        if let Some(atlas) = &mut self.atlas {
            atlas.presence = presence;
        }
        Ok(self)
    }

    /// Names the points of a specimen. A model without proofs (with a matcher other than `exact`) only searches.
    ///
    /// # Errors
    /// A model without an atlas; as [`Atlas::name`].
    pub fn name(&self, specimen: &Graph, work: &mut Workspace) -> Result<Naming> {
        let search = if matches!(self.matcher, Method::Exact(_)) { Search::Proof } else { Search::Quick };
        self.needed_atlas()?.name_with(specimen, &self.weights(), search, work)
    }

    /// Names the frames of a take, in order of time.
    ///
    /// # Errors
    /// A model without an atlas; as [`Atlas::name_take`].
    pub fn name_take(&self, frames: &[&Graph], control: &Control) -> Result<TakeNaming> {
        self.needed_atlas()?.name_take(frames, &self.weights(), control)
    }

    /// Names the points of a specimen and says why: left are the landmarks of the atlas, right the points, in the pose that was found.
    /// The alternatives are those behind the margins of [`Naming::calls`]; they are not proven to be the best.
    ///
    /// # Errors
    /// As [`Self::name`].
    pub fn explain_naming(&self, specimen: &Graph, control: &Control) -> Result<Explanation> {
        let atlas = self.needed_atlas()?;
        let naming = self.name(specimen, &mut Workspace::with_control(control))?;
        let instance = atlas.instance_as(specimen, &naming.frame, naming.presence)?;
        let mut problem = instance.compatibility_watched(&self.weights(), control)?;
        if naming.presence == Presence::Complete {
            problem.unmatched = None;
        }
        let solution = naming.solution(&problem)?;
        let margins = margins(&problem, &solution, None, control)?;
        self.reasons((&instance, &problem), solution, &margins)
    }

    /// How the model describes pictures: these numbers have to be among the attributes of its graphs.
    #[must_use]
    pub fn image_descriptors(&self) -> Vec<ImageDescriptor> {
        self.atlas.as_ref().map_or_else(|| self.features.image_descriptors(), |atlas| atlas.images.clone())
    }

    fn needed_atlas(&self) -> Result<&Atlas> {
        self.atlas.as_ref().ok_or(Error::Missing { what: "atlas", needed_by: "naming" })
    }

    /// Joins the points with the same name: the match, whose score is that of both namings together. It proves nothing about the match.
    pub(super) fn join_by_name(
        &self,
        left: &Arc<Naming>,
        right: &Arc<Naming>,
        given: &Restrictions,
    ) -> Result<Matched<'_>> {
        if !given.is_empty() {
            return Err(Error::Unsupported { solver: "naming by an atlas", what: "seeds or forbidden pairs" });
        }
        let (matching, score) = (left.join(right)?, left.score + right.score);
        let (bound, status) = (f64::INFINITY, Status::Converged);
        let solution =
            Solution { matching, score, bound, status, iterations: 2, certificate: None, shortage: None, allowed: 0.0 };
        Ok(Matched { solution, model: self, problem: Problem::Names(Arc::clone(left), Arc::clone(right)) })
    }

    /// Whether the atlas is valid, and the features are its own.
    pub(crate) fn check_atlas(&self) -> Result<()> {
        let Some(atlas) = &self.atlas else { return Ok(()) };
        atlas.check()?;
        if atlas.features() != self.features {
            return Err(Error::ModelFile { reason: "the features are not those of the atlas".to_string() });
        }
        Ok(())
    }
}

/// Each left point's part in the score of two namings, from its own name and its partner's.
pub(super) fn joined_shares(left: &Naming, right: &Naming, matching: &Matching) -> Vec<f64> {
    let of = |naming: &Naming, count: usize| {
        let mut shares = vec![0.0; count];
        naming.calls.iter().for_each(|call| shares[call.point] += call.share);
        shares
    };
    let (mut shares, partners) = (of(left, matching.left_count()), of(right, matching.right_count()));
    matching.pairs().for_each(|(point, partner)| shares[point] += partners[partner]);
    shares
}

/// For each matched pair the right points that include the partner of the left one this often: both true names are in lists that hold theirs
/// (1 + level)/2 of the time, so a point whose list shares a name with that of the left point is listed.
pub(super) fn joined_candidates(
    atlas: &Atlas,
    [left, right]: [&Naming; 2],
    matching: &Matching,
    level: f64,
) -> Result<Vec<Vec<usize>>> {
    let each = if (0.0..1.0).contains(&level) { f64::midpoint(1.0, level) } else { level };
    let (own, others) = (atlas.name_sets(left, each)?, atlas.name_sets(right, each)?);
    let listed = |(from, to): (usize, usize)| {
        let names = &own.sets[from].names;
        let place = |point: usize| names.iter().position(|name| others.sets[point].names.contains(name));
        let mut points: Vec<(usize, usize)> =
            (0..matching.right_count()).filter_map(|point| Some((place(point)?, point))).collect();
        // The match itself first, then those that share the likeliest name.
        points.sort_by_key(|&(place, point)| (point != to, place, point));
        let points = points.into_iter().map(|(_, point)| point);
        std::iter::once(to).chain(points.filter(|&point| point != to)).collect()
    };
    Ok(matching.pairs().map(listed).collect())
}

/// Two points lose each other if either loses its name: the smaller of the two margins, a bound as those are. The runner-up is the point
/// whose name the left one would have then.
pub(super) fn joined_margins(left: &Naming, right: &Naming, matching: &Matching) -> Vec<Margin> {
    let call = |naming: &Naming, point: usize| naming.calls.iter().find(|call| call.point == point).cloned();
    let margin = |(from, to): (usize, usize)| {
        let (own, other) = (call(left, from), call(right, to));
        let least = own.iter().chain(&other).map(|call| call.margin).fold(f64::INFINITY, f64::min);
        let runner_up = own.and_then(|own| own.runner_up).and_then(|landmark| right.matching.right_of(landmark));
        Margin::bound((from, to), least, runner_up.filter(|&other| other != to))
    };
    matching.pairs().map(margin).collect()
}
