//! Mistakes planted in labelled specimens, and whether a finding names them.

use anyhow::{Context, Result};
use homolog::data::dataset::NamedGraph;
use homolog::geometry::Similarity;
use homolog::graph::Graph;
use homolog::specimens::check::{Finding, Kind};
use ndarray::{Array1, Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// What is planted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Plant {
    Swap,
    Roll,
    Mirror,
    /// By this many spreads.
    Displace(f64),
}

impl Plant {
    pub(crate) const ALL: [Self; 7] = [
        Self::Swap,
        Self::Roll,
        Self::Mirror,
        Self::Displace(2.0),
        Self::Displace(3.0),
        Self::Displace(5.0),
        Self::Displace(10.0),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Swap => "swap".to_string(),
            Self::Roll => "roll".to_string(),
            Self::Mirror => "mirror".to_string(),
            Self::Displace(far) => format!("displace {far}"),
        }
    }
}

/// The mean place of each landmark and its root-mean-square distance from there, by plain Procrustes of complete specimens; and the size
/// of each specimen.
pub(crate) struct Usual {
    names: Vec<String>,
    mean: Array2<f64>,
    pub(crate) spread: Vec<f64>,
    size: Vec<f64>,
}

/// Rounds of Procrustes.
const ROUNDS: usize = 8;

impl Usual {
    pub(crate) fn of(specimens: &[NamedGraph]) -> Result<Self> {
        let names = specimens.first().and_then(|one| one.graph.names()).context("names")?.to_vec();
        let table = |one: &NamedGraph| -> Result<Array2<f64>> {
            let points = one.graph.points().context("points")?;
            let own = one.graph.names().context("names")?;
            let row = |name: &String| {
                own.iter().position(|own| own == name).with_context(|| format!("{}: no {name}", one.id))
            };
            Ok(points.select(Axis(0), &names.iter().map(row).collect::<Result<Vec<_>>>()?))
        };
        let tables = specimens.iter().map(table).collect::<Result<Vec<_>>>()?;
        let mut mean = normalised(&tables[0]);
        let mut frames = Vec::new();
        for _ in 0..ROUNDS {
            frames.clear();
            let mut sum = Array2::zeros(mean.raw_dim());
            for table in &tables {
                let frame = Similarity::fit(table.view(), mean.view(), None, false)?;
                sum += &frame.apply(table.view());
                frames.push(frame);
            }
            mean = normalised(&(sum / tables.len() as f64));
        }
        let mut squares = Array1::<f64>::zeros(names.len());
        for (table, frame) in tables.iter().zip(&frames) {
            squares += &(frame.apply(table.view()) - &mean).mapv(|x| x * x).sum_axis(Axis(1));
        }
        let spread = squares.iter().map(|square| (square / tables.len() as f64).sqrt()).collect();
        let size = frames.iter().map(|frame| 1.0 / frame.scale).collect();
        Ok(Self { names, mean, spread, size })
    }

    /// Whether two landmarks are further apart than their spreads: otherwise nothing tells them apart.
    fn are_apart(&self, a: usize, b: usize) -> bool {
        let off = &self.mean.row(a) - &self.mean.row(b);
        off.dot(&off).sqrt() > self.spread[a] + self.spread[b]
    }
}

fn normalised(table: &Array2<f64>) -> Array2<f64> {
    let centre = table.mean_axis(Axis(0)).unwrap_or_default();
    let centred = table - &centre;
    let size = (centred.mapv(|x| x * x).sum() / table.nrows() as f64).sqrt();
    centred / size
}

/// What was planted in a specimen: the landmarks and whose point each should have; none for a mirror image.
pub(crate) struct Planted {
    plant: Plant,
    landmarks: Vec<String>,
    points_of: Vec<String>,
}

/// A specimen (by position) with a mistake.
pub(crate) fn planted(
    one: &NamedGraph,
    at: usize,
    plant: Plant,
    usual: &Usual,
    rng: &mut ChaCha8Rng,
) -> Result<(NamedGraph, Planted)> {
    let own = one.graph.names().context("names")?.to_vec();
    let row = |name: usize| own.iter().position(|own| *own == usual.names[name]).unwrap_or(0);
    let mut points = one.graph.points().context("points")?.to_owned();
    let n = usual.names.len();
    let mut known = Planted { plant, landmarks: Vec::new(), points_of: Vec::new() };
    let mut exchange = |names: &[usize], from: &[usize], points: &mut Array2<f64>| {
        // The point of `from[k]` is called `names[k]`, so `from[k]` should have the point of `names[k]`.
        let before = points.clone();
        for (&name, &from) in names.iter().zip(from) {
            points.row_mut(row(name)).assign(&before.row(row(from)));
            known.landmarks.push(usual.names[from].clone());
            known.points_of.push(usual.names[name].clone());
        }
    };
    match plant {
        Plant::Swap => {
            let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).filter(|&[a, b]| usual.are_apart(a, b));
            let pairs: Vec<[usize; 2]> = pairs.collect();
            let [a, b] = pairs[rng.random_range(0..pairs.len())];
            exchange(&[a, b], &[b, a], &mut points);
        }
        Plant::Roll => {
            let count = rng.random_range(3..=n);
            let start = rng.random_range(0..=n - count);
            let list: Vec<usize> = (start..start + count).collect();
            let mut from = list.clone();
            from.rotate_right(1);
            exchange(&list, &from, &mut points);
        }
        Plant::Mirror => points.column_mut(0).mapv_inplace(|x| -x),
        Plant::Displace(far) => {
            let name = rng.random_range(0..n);
            let mut way = Array1::from_shape_simple_fn(points.ncols(), || normal(rng));
            way /= way.dot(&way).sqrt();
            points.row_mut(row(name)).scaled_add(far * usual.spread[name] * usual.size[at], &way);
            known.landmarks.push(usual.names[name].clone());
        }
    }
    let graph = Graph::from_points(points)?.with_names(own)?;
    Ok((NamedGraph { graph: Arc::new(graph), ..one.clone() }, known))
}

/// A number drawn from a normal distribution, near enough: twelve uniform ones.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
}

impl Planted {
    /// Whether the findings about its specimen say what is wrong.
    pub(crate) fn is_found(&self, findings: &[&Finding]) -> bool {
        match self.plant {
            Plant::Mirror => findings.iter().any(|finding| finding.kind == Kind::Mirrored),
            Plant::Displace(_) => findings.iter().any(|finding| {
                matches!(finding.kind, Kind::Displaced | Kind::Doubled)
                    && finding.landmarks.contains(&self.landmarks[0])
            }),
            Plant::Swap | Plant::Roll => {
                // All findings about names together give every landmark its own point.
                let moves = |list: &[String], to: &[String]| -> Vec<(String, String)> {
                    let mut moves: Vec<_> =
                        list.iter().cloned().zip(to.iter().cloned()).filter(|(name, from)| name != from).collect();
                    moves.sort();
                    moves
                };
                let names = findings.iter().filter(|finding| finding.is_mended_by_names());
                let (list, to): (Vec<String>, Vec<String>) = names
                    .flat_map(|finding| finding.landmarks.iter().cloned().zip(finding.points_of.iter().cloned()))
                    .unzip();
                moves(&list, &to) == moves(&self.landmarks, &self.points_of)
            }
        }
    }
}

/// Some of the specimens, drawn.
pub(crate) fn drawn(count: usize, share: f64, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(rng);
    let wanted = (share * count as f64).round();
    order.into_iter().enumerate().take_while(|&(at, _)| (at as f64) < wanted).map(|(_, specimen)| specimen).collect()
}
