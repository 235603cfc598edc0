//! What naming a specimen whose names are known tells about an atlas.

use crate::atlas::{Atlas, Search, Truth, Unnamed};
use crate::graph::Graph;
use crate::matching::{Constraint, Matching, Workspace};
use crate::{Control, Error, Result};

/// The margin of a name, and whether it is right.
pub(super) type Margin = (f64, bool);

/// What naming a specimen whose names are known tells.
pub(super) struct Told {
    /// Whether each point of which the truth is known is right: has its name or, if it is an extra one, none.
    pub(super) right: Vec<bool>,
    /// Of each name.
    pub(super) margins: Vec<Margin>,
}

/// The true names of a labelled specimen as a matching.
fn truth(atlas: &Atlas, specimen: &Graph) -> Result<Matching> {
    let names = specimen.names().ok_or(Error::Missing { what: "names", needed_by: "atlas" })?;
    let place = |landmark: &crate::atlas::Landmark| names.iter().position(|name| *name == landmark.name);
    Matching::new(atlas.landmarks.iter().map(place).collect(), names.len(), Constraint::OneToOne)
}

/// The log-likelihood of the true names of a specimen.
pub(super) fn likelihood(atlas: &Atlas, specimen: &Graph) -> Result<f64> {
    let truth = truth(atlas, specimen)?;
    let frame = atlas.frame_by_names(specimen, &truth)?;
    let problem = atlas.instance(specimen, &frame)?.compatibility(&atlas.start_weights())?;
    problem.score(&truth)
}

impl Told {
    /// The names that an atlas gives, beside the truth.
    pub(super) fn of(atlas: &Atlas, specimen: &Unnamed, control: &Control) -> Result<Self> {
        let work = &mut Workspace::with_control(control);
        let naming = atlas.name_with(&specimen.graph, &atlas.start_weights(), Search::Quick, work)?;
        let landmark = |point: usize| naming.matching.left_of(point);
        let is_right = |point: usize| match &specimen.truth[point] {
            Truth::Name(name) => Some(landmark(point).is_some_and(|at| atlas.landmarks[at].name == *name)),
            Truth::Nobody => Some(landmark(point).is_none()),
            Truth::Unknown => None,
        };
        let margins = naming.calls.iter().filter_map(|call| Some((call.margin, is_right(call.point)?)));
        let margins = margins.collect();
        Ok(Self { right: (0..specimen.truth.len()).filter_map(is_right).collect(), margins })
    }
}
