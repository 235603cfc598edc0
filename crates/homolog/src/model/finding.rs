//! Models that find landmarks in pictures without any points: a [`Model`] with an [`Appearance`].

use super::Model;
use crate::appearance::{Appearance, FoundPoint, Learner};
use crate::geometry::GreyImage;
use crate::graph::Graph;
use crate::{Control, Error, Result};

impl Model {
    /// The same model with what the landmarks look like: it also finds them in pictures.
    ///
    /// # Errors
    /// An appearance whose parts do not fit together.
    pub fn with_appearance(self, appearance: Appearance) -> Result<Self> {
        appearance.check()?;
        Ok(Self { appearance: Some(appearance), ..self })
    }

    /// The same model, having also learned what the landmarks of these specimens look like, with confidences from leaving out some of the
    /// pictures in turn. If interrupted during that, without confidences.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    pub fn seeing(self, specimens: &[(GreyImage<'_>, &Graph)], control: &Control) -> Result<Self> {
        let learner = Learner::learn(specimens, &control.part(0, 2))?;
        let appearance = match learner.calibrated(&|number| Ok(specimens[number].0), &control.part(1, 2)) {
            Err(Error::Interrupted) => learner.appearance()?,
            other => other?,
        };
        self.with_appearance(appearance)
    }

    /// What the landmarks look like, if the model learned it.
    #[must_use]
    pub fn appearance(&self) -> Option<&Appearance> {
        self.appearance.as_ref()
    }

    /// Finds the landmarks in a picture without any points.
    ///
    /// # Errors
    /// A model that did not learn from pictures; as [`Appearance::find`].
    pub fn find(&self, picture: GreyImage<'_>, control: &Control) -> Result<Vec<FoundPoint>> {
        let appearance = self
            .appearance()
            .ok_or(Error::Missing { what: "appearance", needed_by: "finding landmarks in a picture" })?;
        appearance.find(picture, &[], control)
    }
}
