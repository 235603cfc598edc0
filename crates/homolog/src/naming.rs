//! Models that name: a [`Model`] with an [`Atlas`]. It names the points of a specimen, says why, and matches two specimens by naming
//! both.

use crate::atlas::{Atlas, AtlasSettings, Call, Naming, Presence, Search, naming_without};
use crate::explain::Explanation;
use crate::features::ImageDescriptor;
use crate::graph::{Graph, Pair};
use crate::learn::Evidence;
use crate::matching::{Exact, Method, Solution, Status, Workspace};
use crate::model::Model;
use crate::{Control, Error, Result};
use std::collections::BTreeMap;

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
        let atlas = Atlas::learn(specimens, settings)?;
        let evidence = Evidence::learn(&atlas, specimens, settings, &control.part(0, 2))?;
        let atlas = atlas.calibrated(specimens, settings, &evidence.weights, &control.part(1, 2))?;
        Ok((Self::of_atlas(atlas, &evidence.weights)?, evidence))
    }

    /// The atlas of a model that names.
    #[must_use]
    pub fn atlas(&self) -> Option<&Atlas> {
        self.atlas.as_ref()
    }

    /// Names the points of a specimen. A model without proofs (with a matcher other than `exact`) only searches.
    ///
    /// # Errors
    /// A model without an atlas; as [`Atlas::name`].
    pub fn name(&self, specimen: &Graph, work: &mut Workspace) -> Result<Naming> {
        let search = if matches!(self.matcher, Method::Exact(_)) { Search::Proof } else { Search::Quick };
        self.needed_atlas()?.name_with(specimen, &self.weights(), search, work)
    }

    /// Names the points of a specimen and says why: left are the landmarks of the atlas, right the points, in the pose that was found.
    /// The alternatives are those behind the margins of [`Naming::calls`]; they are not proven to be the best.
    ///
    /// # Errors
    /// As [`Self::name`].
    pub fn explain_naming(&self, specimen: &Graph, control: &Control) -> Result<Explanation> {
        let atlas = self.needed_atlas()?;
        let naming = self.name(specimen, &mut Workspace::with_control(control))?;
        let instance = atlas.instance(specimen, &naming.frame)?;
        let mut problem = instance.compatibility(&self.weights())?;
        if atlas.presence_in(specimen) == Presence::Complete {
            problem.unmatched = None;
        }
        let solution = naming.solution(&problem)?;
        let matching = solution.matching.clone();
        let without = |pair: (usize, usize), work: &mut Workspace| naming_without(&problem, &matching, pair, work);
        self.explain_solution((&instance, &problem), solution, without, control)
    }

    /// How the model describes pictures: these numbers have to be among the attributes of its graphs.
    #[must_use]
    pub fn image_descriptors(&self) -> Vec<ImageDescriptor> {
        self.atlas.as_ref().map_or_else(|| self.features.image_descriptors(), |atlas| atlas.images.clone())
    }

    fn needed_atlas(&self) -> Result<&Atlas> {
        self.atlas.as_ref().ok_or(Error::Missing { what: "atlas", needed_by: "naming" })
    }

    /// Names both specimens and joins the points with the same name: the match, whose score is that of both namings together, and each
    /// left point's part in it, from its two names. It proves nothing about the match.
    ///
    /// # Errors
    /// As [`Self::name`]; seeds or forbidden pairs, which naming cannot respect.
    pub fn join_by_name(&self, pair: &Pair, work: &mut Workspace) -> Result<(Solution, Vec<f64>)> {
        if !pair.given.is_empty() {
            return Err(Error::Unsupported { solver: "naming by an atlas", what: "seeds or forbidden pairs" });
        }
        let (left, right) = (self.name(&pair.left, work)?, self.name(&pair.right, work)?);
        let matching = left.join(&right)?;
        let part = |call: &Call| (call.point, call.share);
        let mut shares = vec![0.0; matching.left_count()];
        for (point, share) in left.calls.iter().map(part) {
            shares[point] += share;
        }
        let of_right: BTreeMap<usize, f64> = right.calls.iter().map(part).collect();
        for (point, partner) in matching.pairs() {
            shares[point] += of_right.get(&partner).copied().unwrap_or(0.0);
        }
        let score = left.score + right.score;
        let (bound, status) = (f64::INFINITY, Status::Converged);
        let solution = Solution { matching, score, bound, status, iterations: 2, certificate: None, shortage: None };
        Ok((solution, shares))
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
