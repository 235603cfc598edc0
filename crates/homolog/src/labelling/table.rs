//! [`name_table`]: the points of a table, in the plane or in space, named by an atlas around the names that a person has given. Every name
//! is that of a point of the table or of none; where a landmark without a point should be,
//!
//!   x_i = the median over the four nearest named landmarks j of (x_j + s R (m_i - m_j)),
//!
//! is there to be drawn, with m the means of the atlas and (s, R) the pose of what is named.

use super::proposer::{Proposal, ProposedPoint, with_labels};
use crate::atlas::{Atlas, Naming, Presence, Search};
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::matching::Workspace;
use crate::{Control, Result};
use ndarray::{Array1, Array2, Axis};

/// Named landmarks that say where another one should be.
const NEAREST: usize = 4;
/// How often the true name is to be among the names of a point.
const COVERAGE: f64 = 0.95;

/// Names the points of a table. Points that are known and not in the table are added to it.
pub(super) fn name_table(
    (atlas, presence, weights): (&Atlas, Presence, &[f64]),
    search: Search,
    candidates: &[Vec<f64>],
    known: &[(String, Vec<f64>)],
    control: &Control,
) -> Result<Proposal> {
    let labels: Vec<Option<&Vec<f64>>> = atlas
        .landmarks
        .iter()
        .map(|landmark| known.iter().find(|(name, _)| *name == landmark.name).map(|(_, at)| at))
        .collect();
    let points = Points::new(candidates, &labels);
    if points.table.nrows() == 0 {
        return Ok(Proposal::of(Vec::new()));
    }
    let specimen = Graph::from_points(points.table.clone())?;
    let mut work = Workspace::with_control(control);
    let naming = atlas.name_around(&specimen, (presence, &points.known, weights), search, &mut work)?;
    // An atlas that was not calibrated knows no candidates.
    let sets = atlas.name_sets(&naming, COVERAGE).ok();
    let others = |number: usize, row: usize| -> Vec<String> {
        let own = sets.as_ref().map(|found| found.sets[row].names.iter());
        own.into_iter()
            .flatten()
            .filter(|&&other| other != number)
            .map(|&at| atlas.landmarks[at].name.clone())
            .collect()
    };
    let expected = Expected::new(atlas, &naming, &points.table)?;
    let mut proposed = Vec::new();
    for (number, landmark) in atlas.landmarks.iter().enumerate().filter(|&(number, _)| labels[number].is_none()) {
        let candidate = naming.matching.right_of(number).filter(|&row| row < candidates.len());
        let call = naming.calls.iter().find(|call| call.landmark == number);
        let sure = call.map_or(0.0, |call| call.confidence.unwrap_or_else(|| (0.5 * call.margin).tanh()));
        proposed.push(ProposedPoint {
            name: landmark.name.clone(),
            at: candidate.map_or_else(|| expected.of(number), |row| candidates[row].clone()),
            candidate,
            certainty: if candidate.is_some() { sure.clamp(0.0, 1.0) } else { 0.0 },
            others: candidate.map(|row| others(number, row)).unwrap_or_default(),
        });
    }
    Ok(Proposal::of(proposed))
}

/// The points of a table, then the known ones that are not among them.
struct Points {
    table: Array2<f64>,
    /// Landmark and row.
    known: Vec<(usize, usize)>,
}

impl Points {
    fn new(candidates: &[Vec<f64>], labels: &[Option<&Vec<f64>>]) -> Self {
        let (all, known) = with_labels(candidates.iter().collect(), labels);
        let dimension = all.first().map_or(2, |point| point.len());
        Self { table: Array2::from_shape_fn((all.len(), dimension), |(row, column)| all[row][column]), known }
    }
}

/// Where landmarks should be.
struct Expected {
    means: Array2<f64>,
    frame: Similarity,
    /// Landmarks and their points.
    named: Vec<(usize, Array1<f64>)>,
}

impl Expected {
    fn new(atlas: &Atlas, naming: &Naming, table: &Array2<f64>) -> Result<Self> {
        let (landmarks, rows): (Vec<usize>, Vec<usize>) = naming.matching.pairs().unzip();
        let frame = if rows.len() > atlas.dimension {
            atlas.frame_of(&landmarks, table.select(Axis(0), &rows).view())?
        } else {
            naming.frame.clone()
        };
        let named = landmarks.into_iter().zip(rows).map(|(landmark, row)| (landmark, table.row(row).to_owned()));
        Ok(Self { means: atlas.means(), frame, named: named.collect() })
    }

    fn of(&self, landmark: usize) -> Vec<f64> {
        let mean = self.means.row(landmark);
        // A frame whose points all coincide has no size.
        let scale = if self.frame.scale > 0.0 { self.frame.scale } else { 1.0 };
        let back = |off: Array1<f64>| self.frame.rotation.t().dot(&off) / scale;
        let mut near: Vec<(f64, Array1<f64>)> = Vec::new();
        for (other, at) in &self.named {
            let off = &mean - &self.means.row(*other);
            near.push((off.dot(&off), at + &back(off)));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.truncate(NEAREST);
        if near.is_empty() {
            return back(&mean - &self.frame.shift).to_vec();
        }
        let middle = |axis: usize| {
            let mut values: Vec<f64> = near.iter().map(|(_, at)| at[axis]).collect();
            values.sort_by(f64::total_cmp);
            f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
        };
        (0..mean.len()).map(middle).collect()
    }
}
