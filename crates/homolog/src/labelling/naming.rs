//! [`propose`]: where the named points of a new specimen are, from specimens in which they are labelled; [`estimate`]: how wrong that
//! is, by leaving out each labelled specimen in turn.
//!
//! The shape model says where each point should be; the candidates (corners of the picture, or points that are there) say where points
//! are. In turn each name takes the candidate nearest to its place, one-to-one and within reach, and the shape is fitted to what was
//! found, with a reach that shrinks. What no candidate fits is proposed where the shape has it.

use super::shape::{Place, ShapeModel, extent};
use crate::graph::Graph;
use crate::matching::{Compatibility, Linear, Matcher, Workspace};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far from its place a candidate may be, round by round, as a share of the extent.
const REACH: [f64; 5] = [0.1, 0.06, 0.035, 0.02, 0.02];
/// Candidates nearer to each other than this share of the extent are hard to tell apart.
const BLUR: f64 = 0.01;
/// A point that is off by more than this share of the specimen's extent is wrong: 8 pixels of 400.
const WRONG: f64 = 0.02;

/// Points that the named points may be.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates {
    /// Where they are.
    pub points: Vec<[f64; 2]>,
    /// They are the specimen's own points: every name is one of them, as far as they go. Otherwise some names are at none.
    pub own: bool,
}

/// Where the points of a specimen may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Proposal {
    /// One for each name that is not placed yet.
    pub points: Vec<ProposedPoint>,
    /// The mean certainty; `None` where there is nothing to propose. The specimen where it is smallest teaches most.
    pub mean_margin: Option<f64>,
}

/// Where a named point may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProposedPoint {
    /// Its name.
    pub name: String,
    /// The place.
    pub at: [f64; 2],
    /// The candidate that it is; `None`: no candidate fits, and this is where the other specimens say that it should be.
    pub candidate: Option<usize>,
    /// From 0 (another candidate is as likely, or none fits) to 1 (no other comes near). Not a probability.
    pub certainty: f64,
}

/// Proposes the points of a specimen around those that are `known`.
///
/// ```
/// use homolog::graph::Graph;
/// use homolog::labelling::{Candidates, propose};
/// let names = ["tip", "base", "notch"].map(String::from).to_vec();
/// let wing = Graph::from_points(ndarray::array![[0.0, 0.0], [90.0, 10.0], [40.0, 50.0]])?.with_names(names)?;
/// // Corners in some order; one is nobody.
/// let corners = Candidates { points: vec![[41.0, 51.0], [70.0, 70.0], [91.0, 11.0], [1.0, 1.0]], own: false };
/// let proposal = propose(&[wing], &corners, &[])?;
/// let found: Vec<_> = proposal.points.iter().map(|point| (point.name.as_str(), point.candidate)).collect();
/// assert_eq!(found, [("base", Some(2)), ("notch", Some(0)), ("tip", Some(3))]);
/// # Ok::<(), homolog::Error>(())
/// ```
///
/// # Errors
/// A labelled specimen without names or points; coordinates that are not finite.
pub fn propose(labelled: &[Graph], candidates: &Candidates, known: &[(String, [f64; 2])]) -> Result<Proposal> {
    let specimens = labelled.iter().map(named_places).collect::<Result<Vec<_>>>()?;
    propose_from(&specimens, candidates, known)
}

fn propose_from(
    specimens: &[BTreeMap<String, Place>],
    candidates: &Candidates,
    known: &[(String, [f64; 2])],
) -> Result<Proposal> {
    for (index, value) in candidates.points.iter().chain(known.iter().map(|(_, at)| at)).flatten().enumerate() {
        if !value.is_finite() {
            return Err(Error::BadEntry { what: "coordinates of candidates and known points", index, value: *value });
        }
    }
    let Some(model) = ShapeModel::new(specimens) else {
        return Ok(Proposal { points: Vec::new(), mean_margin: None });
    };
    let known: Vec<Option<Place>> =
        model.names.iter().map(|name| known.iter().find(|(other, _)| other == name).map(|(_, at)| *at)).collect();
    let (places, found) = search(&model, candidates, &known)?;
    let mut points = Vec::new();
    for (number, name) in model.names.iter().enumerate().filter(|&(number, _)| known[number].is_none()) {
        let candidate = found[number];
        let at = candidate.map_or(places[number], |candidate| candidates.points[candidate]);
        let certainty =
            candidate.map_or(0.0, |candidate| certainty(places[number], candidate, &candidates.points, model.extent));
        points.push(ProposedPoint { name: name.clone(), at, candidate, certainty });
    }
    let total: f64 = points.iter().map(|point| point.certainty).sum();
    let mean_margin = (!points.is_empty()).then(|| total / points.len() as f64);
    Ok(Proposal { points, mean_margin })
}

/// Fits shape and candidates to each other: where each point should be, and which candidate it is.
fn search(
    model: &ShapeModel,
    candidates: &Candidates,
    known: &[Option<Place>],
) -> Result<(Vec<Place>, Vec<Option<usize>>)> {
    let mut places = model.complete(known);
    let mut found = vec![None; known.len()];
    for (round, reach) in REACH.iter().enumerate() {
        let last = round + 1 == REACH.len();
        let reach = if candidates.own && last { None } else { Some(reach * model.extent) };
        found = take_nearest(&places, candidates, known, reach)?;
        let given: Vec<Option<Place>> = known
            .iter()
            .zip(&found)
            .map(|(known, found)| known.or_else(|| found.map(|candidate| candidates.points[candidate])))
            .collect();
        places = model.complete(&given);
    }
    Ok((places, found))
}

/// Each name that is not known takes a candidate that no other takes, so that the squares of the distances add up to least. With a
/// reach, a name may also take none.
fn take_nearest(
    places: &[Place],
    candidates: &Candidates,
    known: &[Option<Place>],
    reach: Option<f64>,
) -> Result<Vec<Option<usize>>> {
    let open: Vec<usize> = (0..places.len()).filter(|&number| known[number].is_none()).collect();
    // A candidate that a person has named already is taken.
    let taken = |candidate: &Place| known.iter().flatten().any(|at| distance(*at, *candidate) == 0.0);
    let free: Vec<usize> = (0..candidates.points.len()).filter(|&k| !taken(&candidates.points[k])).collect();
    let unit = reach.unwrap_or(1.0);
    let node = Array2::from_shape_fn((open.len(), free.len()), |(i, k)| {
        let far = distance(places[open[i]], candidates.points[free[k]]) / unit;
        if reach.is_some() { 1.0 - far * far } else { -far * far }
    });
    let mut problem = Compatibility::linear(node);
    problem.unmatched = reach.map(|_| Array1::zeros(open.len()));
    let solution = Linear::default().solve(&problem, &mut Workspace::new())?;
    let mut found = vec![None; places.len()];
    for (i, k) in solution.matching.pairs() {
        found[open[i]] = Some(free[k]);
    }
    Ok(found)
}

/// How much nearer the chosen candidate is than the next one.
fn certainty(place: Place, chosen: usize, candidates: &[Place], extent: f64) -> f64 {
    let square = |candidate: &Place| distance(place, *candidate).powi(2);
    let own = square(&candidates[chosen]);
    let others = candidates.iter().enumerate().filter(|&(k, _)| k != chosen).map(|(_, candidate)| square(candidate));
    let next = others.fold(extent * extent, f64::min);
    ((next - own) / (next + own + (BLUR * extent).powi(2))).max(0.0)
}

fn distance(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn named_places(graph: &Graph) -> Result<BTreeMap<String, Place>> {
    let points = graph.need_points("a labelled specimen")?;
    if points.ncols() != 2 && points.nrows() > 0 {
        return Err(Error::Size { what: "coordinates of a point in a picture", expected: 2, found: points.ncols() });
    }
    let names = graph.names().ok_or(Error::Missing { what: "names", needed_by: "a labelled specimen" })?;
    let named = names.iter().zip(points.rows()).filter(|(name, _)| !name.is_empty());
    Ok(named.map(|(name, point)| (name.clone(), [point[0], point[1]])).collect())
}

/// How wrong proposals are, by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The share of names that the other specimens put elsewhere; `None` where no name is in two specimens.
    pub error: Option<f64>,
    /// For each specimen those names.
    pub disputed: Vec<Vec<String>>,
}

/// Names each labelled specimen by the others. `candidates` are those of each specimen, as for [`propose`].
///
/// # Errors
/// As [`propose`]; another number of candidates than of specimens.
pub fn estimate(labelled: &[Graph], candidates: &[Candidates]) -> Result<Estimate> {
    if candidates.len() != labelled.len() {
        let (expected, found) = (labelled.len(), candidates.len());
        return Err(Error::Size { what: "specimens with candidates", expected, found });
    }
    let specimens = labelled.iter().map(named_places).collect::<Result<Vec<_>>>()?;
    let (mut wrong, mut all) = (0, 0);
    let mut disputed = Vec::new();
    for (left_out, own) in specimens.iter().enumerate() {
        let others: Vec<_> = specimens[..left_out].iter().chain(&specimens[left_out + 1..]).cloned().collect();
        let proposal = propose_from(&others, &candidates[left_out], &[])?;
        let tolerance = WRONG * extent(&own.values().copied().collect::<Vec<_>>());
        let known = proposal.points.iter().filter_map(|point| Some((point, own.get(&point.name)?)));
        let mut elsewhere = Vec::new();
        for (proposed, at) in known {
            all += 1;
            if distance(proposed.at, *at) > tolerance {
                elsewhere.push(proposed.name.clone());
            }
        }
        wrong += elsewhere.len();
        disputed.push(elsewhere);
    }
    Ok(Estimate { error: (all > 0).then(|| wrong as f64 / f64::from(all)), disputed })
}
