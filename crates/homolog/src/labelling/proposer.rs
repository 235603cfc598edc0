//! [`Proposer`]: where the named points of a new specimen are, from specimens in which they are labelled.
//!
//! * The points of a table, in the plane or in space: the [`Atlas`] of the labelled specimens names them (`table`), as a model of the same
//!   labels does.
//! * Corners of a picture: most of them are no named point, and some named points are at no corner. The shape (`shape`), in the frame of the
//!   atlas, says where each point should be, given some of them. A few poses (those the atlas likes best among the corners, the way the
//!   labelled specimens lie in their pictures, and the one given by points already known) are each fitted to the corners (`fitting`), and the
//!   fit with the most evidence is kept. What no corner fits is proposed where the shape expects it.

use super::fitting::{Fitted, Sighting};
use super::shape::{Place, ShapeModel};
use super::table::name_table;
use crate::atlas::{Atlas, AtlasSettings, Search};
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::matching::Matching;
use crate::{Control, Error, Result};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// At most this many labelled specimens are learned from; if there are more, they are taken evenly from the list.
const MOST_SPECIMENS: usize = 40;
/// Poses of the atlas that are fitted.
const POSES: usize = 4;

/// Points that may be the named points.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates {
    /// Their coordinates, two or three each.
    pub points: Vec<Vec<f64>>,
    /// They are the specimen's own points: a named point is one of them, or missing. Otherwise they are corners of a picture, and some
    /// named points are at none of them.
    pub own: bool,
}

/// Where the points of a specimen may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Proposal {
    /// One for each name that is not placed yet, by name.
    pub points: Vec<ProposedPoint>,
    /// The mean certainty; `None` if there is nothing to propose. The specimen where it is lowest teaches most.
    pub mean_margin: Option<f64>,
}

/// Where a named point may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProposedPoint {
    /// Its name.
    pub name: String,
    /// The place.
    pub at: Vec<f64>,
    /// The candidate that it is; `None` if no candidate fits, and this is where the other specimens say it should be.
    pub candidate: Option<usize>,
    /// From 0 (another candidate is as likely, or none fits) to 1 (no other comes near). Not a probability.
    pub certainty: f64,
    /// Other names that its candidate may have: together they include the true one 95 % of the time. Empty if that is not known.
    pub others: Vec<String>,
}

/// What labelled specimens teach.
#[derive(Debug)]
pub struct Proposer {
    /// `None` if nothing is labelled.
    lesson: Option<Lesson>,
}

#[derive(Debug)]
struct Lesson {
    atlas: Atlas,
    /// `None` in space: there are no pictures.
    plane: Option<Plane>,
}

#[derive(Debug)]
struct Plane {
    /// In the frame of the atlas, one point for each landmark.
    shape: ShapeModel,
    /// How labelled specimens lie in their pictures: from the picture into the frame.
    usual: Similarity,
}

/// Proposes the points of one specimen around the `known` ones: a [`Proposer`] for a single question.
///
/// ```
/// use homolog::graph::Graph;
/// use homolog::labelling::{Candidates, propose};
/// let names = ["tip", "base", "notch"].map(String::from).to_vec();
/// let wing = Graph::from_points(ndarray::array![[0.0, 0.0], [90.0, 10.0], [40.0, 50.0]])?.with_names(names)?;
/// // Corners in some order; one is not a named point.
/// let corners = [[41.0, 51.0], [70.0, 70.0], [91.0, 11.0], [1.0, 1.0]].map(|corner| corner.to_vec()).to_vec();
/// let corners = Candidates { points: corners, own: false };
/// let proposal = propose(&[wing], &corners, &[])?;
/// let found: Vec<_> = proposal.points.iter().map(|point| (point.name.as_str(), point.candidate)).collect();
/// assert_eq!(found, [("base", Some(2)), ("notch", Some(0)), ("tip", Some(3))]);
/// # Ok::<(), homolog::Error>(())
/// ```
///
/// # Errors
/// A labelled specimen without names or points; coordinates that are not finite, or of another number.
pub fn propose(labelled: &[Graph], candidates: &Candidates, known: &[(String, Vec<f64>)]) -> Result<Proposal> {
    Proposer::learn(labelled)?.propose(candidates, known)
}

impl Proposal {
    /// Sorted by name.
    pub(super) fn of(mut points: Vec<ProposedPoint>) -> Self {
        points.sort_by(|a, b| a.name.cmp(&b.name));
        let total: f64 = points.iter().map(|point| point.certainty).sum();
        let mean_margin = (!points.is_empty()).then(|| total / points.len() as f64);
        Self { points, mean_margin }
    }
}

impl Proposer {
    /// Learns from specimens whose named points are labelled.
    ///
    /// # Errors
    /// A specimen without names or points, or with points of another dimension than the first.
    pub fn learn(labelled: &[Graph]) -> Result<Self> {
        let named = labelled.iter().filter_map(|graph| only_named(graph).transpose()).collect::<Result<Vec<_>>>()?;
        let lesson = if named.is_empty() { None } else { Some(Lesson::learn(&spread(&named))?) };
        Ok(Self { lesson })
    }

    /// Proposes the points of a specimen around the `known` ones.
    ///
    /// # Errors
    /// Coordinates that are not finite, or of another number than in the labelled specimens; corners in space.
    pub fn propose(&self, candidates: &Candidates, known: &[(String, Vec<f64>)]) -> Result<Proposal> {
        let all = candidates.points.iter().chain(known.iter().map(|(_, at)| at));
        let expected = self.lesson.as_ref().map(|lesson| lesson.atlas.dimension);
        for (index, point) in all.enumerate() {
            let what = "coordinates of candidates and known points";
            if let Some(&value) = point.iter().find(|value| !value.is_finite()) {
                return Err(Error::BadEntry { what, index, value });
            }
            if let Some(expected) = expected.filter(|&expected| expected != point.len()) {
                return Err(Error::Size { what: "coordinates of a point", expected, found: point.len() });
            }
        }
        match &self.lesson {
            None => Ok(Proposal { points: Vec::new(), mean_margin: None }),
            Some(lesson) => lesson.propose(candidates, known),
        }
    }
}

impl Lesson {
    fn learn(specimens: &[&Graph]) -> Result<Self> {
        let atlas = Atlas::learn(specimens, &AtlasSettings::default())?;
        let number: BTreeMap<&str, usize> =
            atlas.landmarks.iter().enumerate().map(|(number, landmark)| (landmark.name.as_str(), number)).collect();
        if atlas.dimension != 2 {
            return Ok(Self { atlas, plane: None });
        }
        let (mut frames, mut framed) = (Vec::new(), Vec::new());
        for specimen in specimens {
            let points = specimen.need_points("a labelled specimen")?;
            let own: Vec<usize> =
                specimen.names().unwrap_or_default().iter().map(|name| number[name.as_str()]).collect();
            let frame = atlas.frame_of(&own, points)?;
            framed.push(own.into_iter().zip(places(frame.apply(points))).collect());
            frames.push(frame);
        }
        let plane = Plane { shape: ShapeModel::new(atlas.landmarks.len(), &framed), usual: mean_frame(&frames) };
        Ok(Self { atlas, plane: Some(plane) })
    }

    fn propose(&self, candidates: &Candidates, known: &[(String, Vec<f64>)]) -> Result<Proposal> {
        let weights = self.atlas.start_weights();
        match &self.plane {
            Some(plane) if !candidates.own => self.among_corners(plane, &candidates.points, known),
            None if !candidates.own && !candidates.points.is_empty() => Err(Error::Size {
                what: "coordinates of a point in a picture",
                expected: 2,
                found: self.atlas.dimension,
            }),
            _ => {
                let atlas = (&self.atlas, self.atlas.presence, &weights[..]);
                name_table(atlas, Search::Quick, &candidates.points, known, &Control::new())
            }
        }
    }

    fn among_corners(&self, plane: &Plane, corners: &[Vec<f64>], known: &[(String, Vec<f64>)]) -> Result<Proposal> {
        let corners: Vec<Place> = corners.iter().map(|at| [at[0], at[1]]).collect();
        let landmark = |name: &String| self.atlas.landmarks.iter().position(|landmark| landmark.name == *name);
        let mut labels: Vec<Option<Place>> = vec![None; self.atlas.landmarks.len()];
        for (name, at) in known {
            if let Some(landmark) = landmark(name) {
                labels[landmark] = Some([at[0], at[1]]);
            }
        }
        let (frame, fitted) = self.best(plane, &corners, &labels)?;
        let framed = Framed::new(&frame, &corners, &labels);
        let sighting = framed.sighting();
        let mut points = Vec::new();
        for number in (0..labels.len()).filter(|&number| labels[number].is_none()) {
            let (place, candidate) = (fitted.places[number], fitted.found[number]);
            let at = candidate.map_or_else(|| back(&frame, place), |candidate| corners[candidate]).to_vec();
            let certainty = candidate.map_or(0.0, |candidate| sighting.certainty(place, candidate, plane.shape.extent));
            let (name, others) = (self.atlas.landmarks[number].name.clone(), Vec::new());
            points.push(ProposedPoint { name, at, candidate, certainty, others });
        }
        Ok(Proposal::of(points))
    }

    /// The pose and the fit with the most evidence.
    fn best(&self, plane: &Plane, corners: &[Place], labels: &[Option<Place>]) -> Result<(Similarity, Fitted)> {
        let points = Points::new(corners, labels);
        let told =
            (points.known.len() > 1).then(|| self.frame_of(&points.known_only(labels.len())?, &points, &plane.usual));
        let mut starts = vec![(plane.usual.clone(), None)];
        starts.extend(told.transpose()?.map(|frame| (frame, None)));
        if points.table.nrows() > 0 {
            let further: Vec<Similarity> = starts.iter().map(|(frame, _)| frame.clone()).collect();
            for (frame, matching) in self.atlas.poses_among(points.table.view(), &points.known, &further, POSES)? {
                starts.push((frame, Some(points.named(&matching))));
            }
        }
        let mut best: Option<(Similarity, Fitted)> = None;
        for (frame, named) in starts {
            let framed = Framed::new(&frame, corners, labels);
            let fitted = framed.sighting().fit(&plane.shape, named.as_deref())?;
            if best.as_ref().is_none_or(|(_, other)| fitted.worth > other.worth) {
                best = Some((frame, fitted));
            }
        }
        best.ok_or(Error::NoExamples)
    }

    /// The pose that matched points determine; unchanged if there are too few.
    fn frame_of(&self, matching: &Matching, points: &Points, before: &Similarity) -> Result<Similarity> {
        let (landmarks, rows): (Vec<usize>, Vec<usize>) = matching.pairs().unzip();
        if rows.len() < 2 {
            return Ok(before.clone());
        }
        self.atlas.frame_of(&landmarks, points.table.select(ndarray::Axis(0), &rows).view())
    }
}

/// The candidates of a specimen, then the known points that are at no candidate.
struct Points {
    table: Array2<f64>,
    candidates: usize,
    /// Landmark and row.
    known: Vec<(usize, usize)>,
}

/// Candidates and the labels that are not among them, and for each label its landmark and row. No two labels share a row.
pub(super) fn with_labels<P: PartialEq + Copy>(mut all: Vec<P>, labels: &[Option<P>]) -> (Vec<P>, Vec<(usize, usize)>) {
    let mut known: Vec<(usize, usize)> = Vec::new();
    for (landmark, at) in labels.iter().enumerate().filter_map(|(landmark, at)| Some((landmark, (*at)?))) {
        let free = |&row: &usize| all[row] == at && known.iter().all(|&(_, other)| other != row);
        let row = (0..all.len()).find(free).unwrap_or(all.len());
        if row == all.len() {
            all.push(at);
        }
        known.push((landmark, row));
    }
    (all, known)
}

impl Points {
    fn new(candidates: &[Place], labels: &[Option<Place>]) -> Self {
        let (all, known) = with_labels(candidates.to_vec(), labels);
        let table = Array2::from_shape_fn((all.len(), 2), |(row, column)| all[row][column]);
        Self { table, candidates: candidates.len(), known }
    }

    fn known_only(&self, landmarks: usize) -> Result<Matching> {
        let mut rows = vec![None; landmarks];
        self.known.iter().for_each(|&(landmark, row)| rows[landmark] = Some(row));
        Matching::new(rows, self.table.nrows(), crate::matching::Constraint::OneToOne)
    }

    /// The candidate of each landmark that is not known.
    fn named(&self, matching: &Matching) -> Vec<Option<usize>> {
        let mut named: Vec<Option<usize>> =
            matching.left_to_right().iter().map(|row| row.filter(|&row| row < self.candidates)).collect();
        self.known.iter().for_each(|&(landmark, _)| named[landmark] = None);
        named
    }
}

/// Candidates and known points in a frame.
struct Framed {
    candidates: Vec<Place>,
    known: Vec<Option<Place>>,
}

impl Framed {
    fn new(frame: &Similarity, candidates: &[Place], labels: &[Option<Place>]) -> Self {
        let into = |at: Place| forth(frame, at);
        Self {
            candidates: candidates.iter().map(|&at| into(at)).collect(),
            known: labels.iter().map(|at| at.map(into)).collect(),
        }
    }

    fn sighting(&self) -> Sighting<'_> {
        Sighting { candidates: &self.candidates, known: &self.known }
    }
}

/// At most as many as are learned from, taken evenly from a list.
pub(super) fn spread(specimens: &[Graph]) -> Vec<&Graph> {
    let count = specimens.len().min(MOST_SPECIMENS);
    (0..count).map(|number| &specimens[number * specimens.len() / count]).collect()
}

/// The named points of a specimen, by name; `None` if there are none.
pub(super) fn only_named(graph: &Graph) -> Result<Option<Graph>> {
    let points = graph.need_points("a labelled specimen")?;
    let names = graph.names().ok_or(Error::Missing { what: "names", needed_by: "a labelled specimen" })?;
    let named: BTreeMap<&String, usize> =
        names.iter().enumerate().filter(|(_, name)| !name.is_empty()).map(|(row, name)| (name, row)).collect();
    if named.is_empty() {
        return Ok(None);
    }
    let rows: Vec<usize> = named.values().copied().collect();
    let graph = Graph::from_points(points.select(ndarray::Axis(0), &rows))?;
    graph.with_names(named.into_keys().cloned().collect()).map(Some)
}

fn places(points: Array2<f64>) -> Vec<Place> {
    points.rows().into_iter().map(|point| [point[0], point[1]]).collect()
}

fn forth(frame: &Similarity, [x, y]: Place) -> Place {
    let turned = frame.rotation.dot(&ndarray::array![x, y]) * frame.scale + &frame.shift;
    [turned[0], turned[1]]
}

fn back(frame: &Similarity, [x, y]: Place) -> Place {
    // A frame whose points all coincide has no size; then everything is where they are.
    let scale = if frame.scale > 0.0 { frame.scale } else { 1.0 };
    let turned = frame.rotation.t().dot(&(ndarray::array![x, y] - &frame.shift)) / scale;
    [turned[0], turned[1]]
}

/// The mean position of the frame's origin, the mean size (of logarithms) and the mean turn.
fn mean_frame(frames: &[Similarity]) -> Similarity {
    let count = frames.len() as f64;
    let size = (frames.iter().map(|frame| frame.scale.max(f64::MIN_POSITIVE).ln()).sum::<f64>() / count).exp();
    let sum = |p: usize, q: usize| frames.iter().map(|frame| frame.rotation[[p, q]]).sum::<f64>();
    let angle = (sum(1, 0) - sum(0, 1)).atan2(sum(0, 0) + sum(1, 1));
    let (sine, cosine) = angle.sin_cos();
    let rotation = ndarray::array![[cosine, -sine], [sine, cosine]];
    let mut middle = Array1::zeros(2);
    for frame in frames {
        middle += &(Array1::from(back(frame, [0.0, 0.0]).to_vec()) / count);
    }
    let shift = rotation.dot(&middle) * -size;
    Similarity { rotation, scale: size, shift }
}
