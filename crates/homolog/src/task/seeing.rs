//! What a task's model learns from pictures of the specimens, after everything else.

use super::Outcome;
use crate::Control;
use crate::geometry::GreyImage;
use crate::graph::Graph;

impl Outcome {
    /// The same model, having also learned to find its named points in pictures. If that is not possible the model stays as it is, and the
    /// report's note says why.
    #[must_use]
    pub fn seeing(mut self, specimens: &[(GreyImage<'_>, &Graph)], control: &Control) -> Self {
        if specimens.is_empty() {
            return self;
        }
        match self.model.clone().seeing(specimens, control) {
            Ok(model) => self.model = model,
            Err(error) => {
                let reason = format!("The model does not find points in pictures: {error}.");
                self.report.note = Some(self.report.note.map_or(reason.clone(), |note| format!("{note} {reason}")));
            }
        }
        self
    }
}
