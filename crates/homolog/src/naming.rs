//! Models that name: a [`Model`] with an [`Atlas`]. It names the points of a specimen, says why, and matches two specimens by naming
//! both.

use crate::atlas::{Atlas, Naming, Presence, Search};
use crate::explain::Explanation;
use crate::graph::{Graph, Pair};
use crate::matching::{Exact, Method, Solution, Status, Workspace};
use crate::model::Model;
use crate::{Control, Error, Result};

impl Model {
    /// A model that names points by an atlas. Every kind of evidence counts as its likelihood says.
    ///
    /// # Errors
    /// An atlas that is not one.
    pub fn of_atlas(atlas: Atlas) -> Result<Self> {
        atlas.check()?;
        let weights = atlas.start_weights();
        let mut model = Self::new(atlas.features(), Method::Exact(Exact::default()), &weights, None)?;
        model.atlas = Some(atlas);
        Ok(model)
    }

    /// The atlas of a model that names.
    #[must_use]
    pub fn atlas(&self) -> Option<&Atlas> {
        self.atlas.as_ref()
    }

    /// Names the points of a specimen. A model without proofs (a matcher that is not `exact`) searches only.
    ///
    /// # Errors
    /// A model without an atlas; as [`Atlas::name`].
    pub fn name(&self, specimen: &Graph, work: &mut Workspace) -> Result<Naming> {
        let search = if matches!(self.matcher, Method::Exact(_)) { Search::Proof } else { Search::Quick };
        self.needed_atlas()?.name_with(specimen, &self.weights(), search, work)
    }

    /// Names the points of a specimen and says why: left are the landmarks of the atlas, right the points, in the pose that was found.
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
        self.explain_problem(&instance, &problem, control)
    }

    fn needed_atlas(&self) -> Result<&Atlas> {
        self.atlas.as_ref().ok_or(Error::Missing { what: "atlas", needed_by: "naming" })
    }

    /// Names both specimens and joins the points of the same name. Score and bound are those of both namings together.
    pub(crate) fn join_by_name(&self, atlas: &Atlas, pair: &Pair, work: &mut Workspace) -> Result<Solution> {
        if !pair.given.is_empty() {
            return Err(Error::Unsupported { solver: "naming by an atlas", what: "seeds or forbidden pairs" });
        }
        let named = |graph: &Graph, work: &mut Workspace| atlas.name_with(graph, &self.weights(), Search::Proof, work);
        let (left, right) = (named(&pair.left, work)?, named(&pair.right, work)?);
        Ok(Solution {
            matching: left.join(&right)?,
            score: left.score + right.score,
            bound: f64::INFINITY,
            status: Status::Converged,
            iterations: 2,
            certificate: None,
            shortage: None,
        })
    }

    /// Whether the atlas is one, and the features are its own.
    pub(crate) fn check_atlas(&self) -> Result<()> {
        let Some(atlas) = &self.atlas else { return Ok(()) };
        atlas.check()?;
        if atlas.features() != self.features {
            return Err(Error::ModelFile { reason: "the features are not those of the atlas".to_string() });
        }
        Ok(())
    }
}
