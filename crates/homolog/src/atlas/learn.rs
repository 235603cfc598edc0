//! [`Atlas::learn`]: from labelled specimens to an atlas. O(n² s) for n landmarks in s specimens.

use super::align::{Named, angle, generalised_procrustes, upright};
use super::gaussian::Gaussian;
use super::spread::{Prior, STRENGTHS, Sample, USUAL_STRENGTH, length, most_likely};
use super::{Atlas, AtlasEdge, AtlasSettings, Landmark, Pose, Presence, VERSION};
use crate::geometry::Similarity;
use crate::graph::Graph;
use crate::linalg::Square;
use crate::{Control, Error, Limit, Result};
use ndarray::{Array2, Axis};
use std::collections::{BTreeMap, BTreeSet};

/// Specimens that lie alike differ by less than this angle, in the plane (30°) and in space (45°, which is rarer by chance).
const ALIKE: [f64; 2] = [std::f64::consts::FRAC_PI_6, std::f64::consts::FRAC_PI_4];
/// One in this many may lie differently.
const ODD_ONE_IN: usize = 10;
/// A specimen is tilted by mistake if it is tilted by this many times the median of all, and by at least 12°.
const ODD_TILT: f64 = 4.0;
const LEAST_ODD_TILT: f64 = 0.21;
/// Specimens that the others are compared with, to find one that most are oriented like.
const COMPARED: usize = 10;
/// With fewer specimens, pairs say as much as an atlas.
const FEWEST_TO_SUIT: usize = 3;
/// How many edges each landmark chooses, by default and if there are few landmarks.
const EDGES: usize = 8;
const EDGES_OF_FEW: usize = 4;
const FEW: usize = 12;
/// Specimens of which more than this share are turned by more than this angle (20°) are not oriented alike so much as tilted.
const MOST_TILTED: f64 = 0.1;
const TILTED: f64 = std::f64::consts::PI / 9.0;
/// As many points as can be named.
pub(crate) const MOST_LANDMARKS: usize = 2500;

/// Pairs of landmarks, over all specimens, between two questions whether to stop.
const AT_A_TIME: usize = 200_000;

impl Atlas {
    /// Whether an atlas can be learned from these: three or more specimens, all with points, that share most of their names.
    #[must_use]
    pub fn suits(specimens: &[&Graph]) -> bool {
        let names = |graph: &&Graph| -> Option<BTreeSet<String>> {
            graph.points()?;
            Some(graph.names()?.iter().filter(|name| !name.is_empty()).cloned().collect())
        };
        let all: Option<Vec<BTreeSet<String>>> = specimens.iter().map(names).collect();
        let like_first = |all: &[BTreeSet<String>]| {
            all.iter().all(|names| !names.is_empty() && 2 * names.intersection(&all[0]).count() > all[0].len())
        };
        all.is_some_and(|all| all.len() >= FEWEST_TO_SUIT && like_first(&all))
    }

    /// Learns from graphs with points and names. A point with an empty name counts only for the background.
    ///
    /// # Errors
    /// No specimens; one without points or names, or with points of another dimension; no name at all; an attribute that not all have.
    pub fn learn(specimens: &[&Graph], settings: &AtlasSettings) -> Result<Self> {
        Self::learn_watched(specimens, settings, &Control::new())
    }

    /// [`Self::learn`], told when to stop: all pairs of a thousand landmarks take seconds.
    ///
    /// # Errors
    /// As [`Self::learn`]; [`Error::Interrupted`] if there are many landmarks.
    pub fn learn_watched(specimens: &[&Graph], settings: &AtlasSettings, control: &Control) -> Result<Self> {
        let mut atlas = Self::learn_one(specimens, settings, control)?;
        let is_open = settings.presence.is_none_or(|presence| presence == Presence::Auto);
        if is_open && atlas.presence == Presence::Complete {
            let presence = Some(Presence::Partial);
            let settings = AtlasSettings { pose: Some(atlas.pose), presence, ..settings.clone() };
            atlas.partial = Some(Box::new(Self::learn_one(specimens, &settings, control)?));
            atlas.presence = Presence::Auto;
        }
        Ok(atlas)
    }

    /// For complete specimens only, or for partial ones.
    fn learn_one(specimens: &[&Graph], settings: &AtlasSettings, control: &Control) -> Result<Self> {
        let specimens = Specimens::new(specimens, settings, control)?;
        let d = specimens.dimension;
        let samples = specimens.position_samples();
        let n = samples.len();
        let pairs: Vec<[usize; 2]> = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).collect();
        let mut displacements: Vec<Sample> = Vec::with_capacity(pairs.len());
        let at_a_time = (AT_A_TIME / specimens.graphs.len().max(1)).max(1);
        for some in pairs.chunks(at_a_time) {
            if some.len() < pairs.len() {
                Error::if_interrupted(control)?;
            }
            displacements.extend(some.iter().map(|&ends| specimens.displacements(ends)));
        }
        let elsewhere = |[i, j]: [usize; 2]| {
            let (from, to) = (samples[i].mean(), samples[j].mean());
            [0, 1, 2].map(|p| to[p] - from[p])
        };
        // Told to stop, loops over samples end early, and what they found is not used.
        let goes_on = |at: usize| at < at_a_time || !at.is_multiple_of(at_a_time) || !control.interrupted();
        let position_prior = Prior::fit(samples.iter(), d);
        let edge_prior = Prior::fit(while_told(&displacements, goes_on), d);
        if let Some(prior) = settings.prior {
            Error::unless_positive("prior", prior)?;
        }
        let bad = || Error::BadSetting {
            name: "prior",
            value: settings.prior.unwrap_or(USUAL_STRENGTH),
            limit: Limit::MoreThan(0.0),
        };
        let first_strength = settings.prior.unwrap_or(USUAL_STRENGTH);
        let cost = |at: usize| -> f64 {
            let sample = &displacements[at];
            if specimens.presence == Presence::Partial {
                return length(&if sample.values.is_empty() { elsewhere(pairs[at]) } else { sample.mean() });
            }
            let gaussian = sample.gaussian(d, edge_prior, first_strength, elsewhere(pairs[at]));
            gaussian.map_or(f64::INFINITY, |gaussian| -gaussian.log_det_precision())
        };
        let count = settings.edges.unwrap_or(if n <= FEW { EDGES_OF_FEW } else { EDGES });
        let chosen =
            choose_edges(n, count, &pairs, |at| if goes_on(at) { Ok(cost(at)) } else { Err(Error::Interrupted) })?;
        let strengths = settings.prior.map_or_else(|| STRENGTHS.to_vec(), |prior| vec![prior]);
        let likely = |samples: &[&Sample], linear: Prior| {
            let samples = || while_told(samples, goes_on).copied();
            let power = Prior::fit_power(samples(), d);
            let priors: Vec<Prior> = std::iter::once(linear).chain(power).collect();
            most_likely(samples(), d, &priors, &strengths).unwrap_or((linear, first_strength))
        };
        let chosen_samples: Vec<&Sample> = chosen.iter().map(|&at| &displacements[at]).collect();
        let (edge_prior, edge_strength) = likely(&chosen_samples, edge_prior);
        if chosen_samples.len() > at_a_time {
            Error::if_interrupted(control)?;
        }
        let (position_prior, position_strength) = likely(&samples.iter().collect::<Vec<_>>(), position_prior);
        let mut edges = Vec::with_capacity(chosen.len());
        for at in chosen {
            let displacement = displacements[at].gaussian(d, edge_prior, edge_strength, elsewhere(pairs[at]));
            edges.push(AtlasEdge { ends: pairs[at], displacement: displacement.ok_or_else(bad)? });
        }
        let columns = specimens.columns(settings)?;
        let mut landmarks = Vec::with_capacity(n);
        for (at, name) in specimens.names.iter().enumerate() {
            let position = samples[at].gaussian(d, position_prior, position_strength, [0.0; 3]).ok_or_else(bad)?;
            let attributes = columns.iter().map(|column| column.gaussians[at].clone()).collect();
            landmarks.push(Landmark { name: name.clone(), position, attributes });
        }
        Ok(Self {
            version: VERSION,
            dimension: d,
            specimens: specimens.graphs.len(),
            pose: specimens.pose,
            presence: specimens.presence,
            prior: [position_strength, edge_strength],
            landmarks,
            edges,
            partial: None,
            background: specimens.background(),
            attributes: columns.into_iter().map(|column| column.unit).collect(),
            images: settings.images.clone(),
            calibration: None,
            coverage: None,
        })
    }
}

/// The share of specimens that are turned by more than 20° against the upright frame.
fn share_tilted(frames: &[Similarity]) -> f64 {
    let tilted = frames.iter().filter(|frame| angle(&frame.rotation) > TILTED).count();
    tilted as f64 / frames.len().max(1) as f64
}

/// Each landmark's `count` pairs with the lowest cost, together and sorted; ties go to the smallest index.
fn choose_edges(
    n: usize,
    count: usize,
    pairs: &[[usize; 2]],
    cost: impl Fn(usize) -> Result<f64>,
) -> Result<Vec<usize>> {
    let mut of = vec![Vec::new(); n];
    for (at, &[i, j]) in pairs.iter().enumerate() {
        let cost = cost(at)?;
        of[i].push((cost, at));
        of[j].push((cost, at));
    }
    let mut chosen = Vec::new();
    for mut own in of {
        own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        chosen.extend(own.iter().take(count).map(|&(_, at)| at));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// The samples up to the first one at which it does not go on.
fn while_told<T>(samples: &[T], goes_on: impl Fn(usize) -> bool + Copy) -> impl Iterator<Item = &T> + Clone {
    samples.iter().enumerate().take_while(move |(at, _)| goes_on(*at)).map(|(_, sample)| sample)
}

/// Labelled specimens in a common frame.
pub(super) struct Specimens<'a> {
    pub(super) graphs: &'a [&'a Graph],
    dimension: usize,
    pub(super) names: Vec<String>,
    /// Position of each landmark among the points of each specimen.
    pub(super) place: Vec<BTreeMap<usize, usize>>,
    /// All points of each specimen in the frame, named or not.
    points: Vec<Array2<f64>>,
    pose: Pose,
    presence: Presence,
}

impl<'a> Specimens<'a> {
    fn new(graphs: &'a [&'a Graph], settings: &AtlasSettings, control: &Control) -> Result<Self> {
        let first = graphs.first().ok_or(Error::NoExamples)?;
        let dimension = first.need_points("atlas")?.ncols();
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names = Vec::new();
        let mut place = Vec::new();
        let mut named = Vec::new();
        let mut nobody = false;
        for graph in graphs {
            let points = graph.need_points("atlas")?;
            if points.ncols() != dimension {
                return Err(Error::Size {
                    what: "coordinates of a point, for an atlas",
                    expected: dimension,
                    found: points.ncols(),
                });
            }
            let own = graph.names().ok_or(Error::Missing { what: "names", needed_by: "atlas" })?;
            let mut places = BTreeMap::new();
            for (row, name) in own.iter().enumerate() {
                if name.is_empty() {
                    nobody = true;
                    continue;
                }
                let number = *numbers.entry(name).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() - 1
                });
                places.insert(number, row);
            }
            let rows: Vec<usize> = places.values().copied().collect();
            named.push(Named { landmark: places.keys().copied().collect(), points: points.select(Axis(0), &rows) });
            place.push(places);
        }
        if names.is_empty() {
            return Err(Error::Missing { what: "names", needed_by: "atlas" });
        }
        if names.len() > MOST_LANDMARKS {
            let what = "landmarks of an atlas, all pairs of which are looked at";
            return Err(Error::TooLarge { what, limit: MOST_LANDMARKS, found: names.len() });
        }
        let complete = !nobody && place.iter().all(|places| places.len() == names.len());
        let presence = match settings.presence {
            Some(presence @ (Presence::Complete | Presence::Partial)) => presence,
            _ if complete => Presence::Complete,
            _ => Presence::Partial,
        };
        let turned = |pose: Pose| generalised_procrustes(&named, names.len(), dimension, pose, control);
        let pose = match settings.pose {
            Some(pose) => pose,
            None if lie_alike(&turned(Pose::Rotated)?, dimension) => Pose::AsGiven,
            None => Pose::Rotated,
        };
        let mut pose = pose;
        let mut frames = turned(if pose == Pose::Tilted { Pose::AsGiven } else { pose })?;
        if matches!(pose, Pose::AsGiven | Pose::Tilted) {
            let fitted = upright(&named, turned(Pose::Rotated)?, &frames, names.len(), dimension)?;
            // If points are missing the turn is fitted too (`pose`), so the spreads are those that remain after fitting.
            if pose == Pose::Tilted || presence == Presence::Partial {
                // If they vary much, new ones are looked for that far too.
                if share_tilted(&fitted) > MOST_TILTED {
                    pose = Pose::Tilted;
                }
                frames = fitted;
            } else {
                turn_back_the_odd(&mut frames, fitted);
            }
        }
        let all = |(graph, frame): (&&Graph, &Similarity)| graph.points().map(|points| frame.apply(points));
        let points: Vec<Array2<f64>> = graphs.iter().zip(&frames).filter_map(all).collect();
        if let Some(((row, column), &value)) =
            points.iter().flat_map(|points| points.indexed_iter()).find(|(_, value)| !value.is_finite())
        {
            return Err(Error::BadCell { what: "points in the frame of the atlas", row, column, value });
        }
        Ok(Self { graphs, dimension, names, place, points, pose, presence })
    }

    fn point(&self, specimen: usize, row: usize) -> [f64; 3] {
        let mut point = [0.0; 3];
        self.points[specimen].row(row).iter().enumerate().for_each(|(p, &x)| point[p] = x);
        point
    }

    fn position_samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample::default(); self.names.len()];
        for (specimen, places) in self.place.iter().enumerate() {
            for (&name, &row) in places {
                samples[name].values.push(self.point(specimen, row));
            }
        }
        samples
    }

    /// The displacement from one landmark to another in each specimen that has both.
    fn displacements(&self, [i, j]: [usize; 2]) -> Sample {
        let both =
            self.place.iter().enumerate().filter_map(|(s, places)| Some((s, *places.get(&i)?, *places.get(&j)?)));
        let values = both.map(|(specimen, from, to)| {
            let (from, to) = (self.point(specimen, from), self.point(specimen, to));
            [0, 1, 2].map(|p| to[p] - from[p])
        });
        Sample { values: values.collect() }
    }

    /// Twice the covariance of all points: wider than the specimen, so that it explains points anywhere.
    fn background(&self) -> Gaussian {
        let rows = self.points.iter().enumerate().flat_map(|(s, points)| (0..points.nrows()).map(move |row| (s, row)));
        let all = Sample { values: rows.map(|(s, row)| self.point(s, row)).collect() };
        let (mean, d) = (all.mean(), self.dimension);
        let mut covariance = Square::default();
        for value in &all.values {
            for p in 0..d {
                for q in 0..d {
                    covariance[p][q] += 2.0 * (value[p] - mean[p]) * (value[q] - mean[q]) / all.values.len() as f64;
                }
            }
        }
        // Points on a line have no width: take 1 % of the radius, squared.
        (0..d).for_each(|p| covariance[p][p] += 1e-4);
        let unit = || Gaussian { mean: mean[..d].to_vec(), precision: Vec::new(), specimens: 0 };
        Gaussian::new(mean[..d].to_vec(), &covariance, self.graphs.len()).unwrap_or_else(unit)
    }
}

/// A few specimens that are tilted far more than the others are turned back: otherwise every landmark would seem to vary by their tilt.
fn turn_back_the_odd(frames: &mut [Similarity], fitted: Vec<Similarity>) {
    let tilts: Vec<f64> = fitted.iter().map(|frame| angle(&frame.rotation)).collect();
    let mut sorted = tilts.clone();
    sorted.sort_by(f64::total_cmp);
    let Some(&usual) = sorted.get(sorted.len() / 2) else { return };
    let most = (ODD_TILT * usual).max(LEAST_ODD_TILT);
    for ((frame, fitted), tilt) in frames.iter_mut().zip(fitted).zip(tilts) {
        if tilt > most {
            *frame = fitted;
        }
    }
}

/// Whether there is a specimen that hardly any other is turned far from.
fn lie_alike(frames: &[Similarity], dimension: usize) -> bool {
    let most = ALIKE[usize::from(dimension > 2)];
    let turned =
        |one: &Similarity| frames.iter().filter(|other| angle(&other.rotation.dot(&one.rotation.t())) >= most).count();
    frames.iter().take(COMPARED).any(|one| turned(one) * ODD_ONE_IN <= frames.len())
}
