//! The landmark data of the table: specimens with named points, and pairs of them.

use crate::{house, tables};
use anyhow::{Context, Result, ensure};
use homolog::data::dataset::match_by_name;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::LabelledPairs;
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Specimens with named points.
pub(crate) struct Data {
    pub(crate) name: String,
    pub(crate) ids: Vec<String>,
    pub(crate) specimens: Vec<Arc<Graph>>,
    /// A third of the right graph's points are missing and replaced by as many foreign points.
    pub(crate) spoiled: bool,
}

/// The sets that are stored next to the project.
pub(crate) fn all(folder: &Path) -> Result<Vec<Data>> {
    let house = table(&folder.join("house/landmarks.csv"), "house")?;
    let spoiled = Data { name: "house, a third foreign".to_string(), spoiled: true, ..house };
    let mut sets = vec![table(&folder.join("faces/landmarks.csv"), "faces")?, bikes(folder)?];
    for name in ["hummingbirds", "lizards", "mosquitoes", "face3d", "worms"] {
        sets.push(table(&folder.join(format!("specimens/{name}/landmarks.csv")), name)?);
    }
    sets.push(spoiled);
    Ok(sets)
}

/// The same without spoiled ones, and the bicycles also as they are given, facing both ways.
pub(crate) fn given(folder: &Path) -> Result<Vec<Data>> {
    let mut sets = all(folder)?;
    sets.retain(|data| !data.spoiled);
    sets.push(table(&folder.join("bikes/landmarks.csv"), "bikes, both ways")?);
    sets.push(table(&folder.join("house/landmarks.csv"), "house")?);
    Ok(sets)
}

/// Numbers that every point has besides its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Columns {
    /// None.
    Nothing,
    /// One that tells nothing.
    Noise,
    /// The direction to the nearest other point, as cosine and sine: it tells something, and jumps.
    Direction,
    /// One that names the point.
    Name,
}

/// The specimens of a file.
pub(crate) fn table(path: &Path, name: &str) -> Result<Data> {
    let (ids, specimens) = tables::specimens(path)?.into_iter().map(|named| (named.id, named.graph)).unzip();
    Ok(Data { name: name.to_string(), ids, specimens, spoiled: false })
}

/// The bicycles, those that face left mirrored.
fn bikes(folder: &Path) -> Result<Data> {
    let rows = house::rows(&folder.join("bikes/landmarks.csv"))?;
    let mut objects: Vec<(String, Vec<String>, Vec<f64>)> = Vec::new();
    for row in rows {
        ensure!(row.len() == 7, "bikes: a row of {} fields", row.len());
        if objects.last().is_none_or(|(object, ..)| *object != row[0]) {
            objects.push((row[0].clone(), Vec::new(), Vec::new()));
        }
        let Some((_, names, points)) = objects.last_mut() else { continue };
        let mirrored = row[2] == "left";
        let name = match (mirrored, row[4].split_at_checked(2)) {
            (true, Some(("L_", rest))) => format!("R_{rest}"),
            (true, Some(("R_", rest))) => format!("L_{rest}"),
            _ => row[4].clone(),
        };
        let x: f64 = row[5].parse()?;
        names.push(name);
        points.extend([if mirrored { -x } else { x }, row[6].parse()?]);
    }
    let graph = |(_, names, points): (String, Vec<String>, Vec<f64>)| {
        let points = Array2::from_shape_vec((names.len(), 2), points)?;
        Ok(Arc::new(Graph::from_points(points)?.with_names(names)?))
    };
    let ids = objects.iter().map(|object| object.0.clone()).collect();
    let specimens = objects.into_iter().map(graph).collect::<Result<_>>()?;
    Ok(Data { name: "bikes".to_string(), ids, specimens, spoiled: false })
}

impl Data {
    /// This many random pairs of different specimens, each once and one way round, all even-numbered for training or all odd-numbered for
    /// tests: no specimen is in both.
    pub(crate) fn pairs(&self, count: usize, for_tests: bool, seed: u64) -> Result<LabelledPairs> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let own: Vec<usize> = (0..self.specimens.len()).filter(|n| (n % 2 == 1) == for_tests).collect();
        let (mut pairs, mut seen) = (LabelledPairs::new(), BTreeSet::new());
        if own.len() < 2 {
            return Ok(pairs);
        }
        for _ in 0..100 * count {
            let (left, right) = (own[rng.random_range(0..own.len())], own[rng.random_range(0..own.len())]);
            if pairs.len() < count && left != right && seen.insert((left.min(right), left.max(right))) {
                self.add(&mut pairs, left, right, &mut rng)?;
            }
        }
        Ok(pairs)
    }

    /// All pairs of so many specimens, drawn from the even-numbered ones.
    pub(crate) fn all_pairs_of(&self, specimens: usize, seed: u64) -> Result<LabelledPairs> {
        let mut own: Vec<usize> = (0..self.specimens.len()).step_by(2).collect();
        own.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        own.truncate(specimens);
        let pairs: Vec<_> = (0..own.len()).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        self.matched(&pairs.into_iter().map(|(a, b)| (own[a], own[b])).collect::<Vec<_>>())
    }

    /// These pairs of specimens.
    pub(crate) fn matched(&self, pairs: &[(usize, usize)]) -> Result<LabelledPairs> {
        let (mut matched, mut rng) = (LabelledPairs::new(), ChaCha8Rng::seed_from_u64(0));
        for &(left, right) in pairs {
            self.add(&mut matched, left, right, &mut rng)?;
        }
        Ok(matched)
    }

    /// The same specimens with further numbers for every point.
    pub(crate) fn with(&self, columns: Columns) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(77);
        let known =
            self.specimens.iter().flat_map(|graph| graph.names().unwrap_or_default()).filter(|name| !name.is_empty());
        let known: Vec<&String> = known.collect::<BTreeSet<_>>().into_iter().collect();
        let mut with = |graph: &Arc<Graph>| -> Result<Arc<Graph>> {
            let points = graph.points().context("landmarks are points")?;
            let (names, values) = match columns {
                Columns::Nothing => return Ok(Arc::clone(graph)),
                Columns::Noise => {
                    (vec!["noise"], Array2::from_shape_simple_fn((points.nrows(), 1), || rng.random_range(-1.0..1.0)))
                }
                Columns::Direction => (vec!["cosine", "sine"], directions(&points)),
                Columns::Name => {
                    let names = graph.names().context("landmarks have names")?;
                    // A point without a name is like no other.
                    let code = |at: usize| known.binary_search(&&names[at]).map_or(-1.0, |place| place as f64);
                    (vec!["name"], Array2::from_shape_fn((points.nrows(), 1), |(at, _)| code(at)))
                }
            };
            // Beside those that the table has.
            let (mut all, mut table) = (names.into_iter().map(str::to_string).collect::<Vec<_>>(), values);
            if let Some(own) = graph.node_attributes() {
                all.splice(0..0, own.names().iter().cloned());
                table = ndarray::concatenate(Axis(1), &[own.values().view(), table.view()])?;
            }
            Ok(Arc::new((**graph).clone().with_node_attributes(Attributes::new(all, table)?)?))
        };
        let specimens = self.specimens.iter().map(&mut with).collect::<Result<_>>()?;
        Ok(Self { name: self.name.clone(), ids: self.ids.clone(), specimens, spoiled: self.spoiled })
    }

    /// Adds a pair, unless the two have fewer than three points in common. The partners of unnamed points are not known.
    fn add(&self, pairs: &mut LabelledPairs, left: usize, right: usize, rng: &mut ChaCha8Rng) -> Result<()> {
        let [left, right] = [&self.specimens[left], &self.specimens[right]];
        let right = if self.spoiled { Arc::new(spoil(right, rng)?) } else { Arc::clone(right) };
        let Some(truth) = match_by_name(left, &right).filter(|truth| truth.matched_count() >= 3) else { return Ok(()) };
        let names = left.names().context("landmarks have names")?;
        let unknown: Vec<usize> = (0..names.len()).filter(|&node| names[node].is_empty()).collect();
        Ok(pairs.add_partly(&Pair::new(Arc::clone(left), right), truth, &unknown)?)
    }
}

/// The direction from each point to the nearest other one, in the plane of the first two coordinates.
fn directions(points: &ArrayView2<'_, f64>) -> Array2<f64> {
    let mut directions = Array2::zeros((points.nrows(), 2));
    for (i, mut direction) in directions.rows_mut().into_iter().enumerate() {
        let square = |j: usize| (&points.row(j) - &points.row(i)).mapv(|x| x * x).sum();
        let others = (0..points.nrows()).filter(|&j| j != i);
        let Some(nearest) = others.min_by(|&a, &b| square(a).total_cmp(&square(b))) else { continue };
        let [x, y] = [0, 1].map(|axis| points[[nearest, axis]] - points[[i, axis]]);
        let length = x.hypot(y).max(f64::MIN_POSITIVE);
        direction[0] = x / length;
        direction[1] = y / length;
    }
    directions
}

/// A third of the points removed, and as many foreign points in the same box.
fn spoil(graph: &Graph, rng: &mut ChaCha8Rng) -> Result<Graph> {
    let points = graph.points().context("landmarks are points")?;
    let names = graph.names().context("landmarks have names")?;
    let mut kept: Vec<usize> = (0..graph.node_count()).collect();
    kept.shuffle(rng);
    let foreign = graph.node_count() / 3;
    kept.truncate(graph.node_count() - foreign);
    let mut all = points.select(Axis(0), &kept);
    let mut called: Vec<String> = kept.iter().map(|&node| names[node].clone()).collect();
    for _ in 0..foreign {
        let place: Vec<f64> = points
            .columns()
            .into_iter()
            .map(|axis| {
                let range = axis.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
                rng.random_range(range.0..=range.1)
            })
            .collect();
        all.push_row(ndarray::ArrayView1::from(&place))?;
        called.push(String::new());
    }
    let spoiled = Graph::from_points(all)?.with_names(called)?;
    let Some(attributes) = graph.node_attributes() else { return Ok(spoiled) };
    // A foreign point has the numbers of some point.
    kept.extend((0..foreign).map(|_| rng.random_range(0..graph.node_count())));
    let values = attributes.values().select(Axis(0), &kept);
    Ok(spoiled.with_node_attributes(Attributes::new(attributes.names().to_vec(), values)?)?)
}
