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

/// The mean place of each landmark and its root-mean-square distance from there, by plain Procrustes over the landmarks that specimens have in
/// common with the mean; and the size of each specimen.
pub(crate) struct Usual {
    names: Vec<String>,
    mean: Array2<f64>,
    pub(crate) spread: Vec<f64>,
    /// `None` for a specimen with too few landmarks.
    size: Vec<Option<f64>>,
}

/// Rounds of Procrustes.
const ROUNDS: usize = 8;
/// Fewer points have no shape.
const FEWEST: usize = 3;

impl Usual {
    /// `None` if no specimen has enough landmarks.
    pub(crate) fn of(specimens: &[NamedGraph]) -> Result<Option<Self>> {
        let mut names: Vec<String> = Vec::new();
        for one in specimens {
            let own = one.graph.names().context("names")?.iter().filter(|name| !name.is_empty());
            let new: Vec<String> = own.filter(|name| !names.contains(name)).cloned().collect();
            names.extend(new);
        }
        // For each specimen the landmarks that it has, and their points.
        let table = |one: &NamedGraph| -> Result<(Vec<usize>, Array2<f64>)> {
            let points = one.graph.points().context("points")?;
            let own = one.graph.names().context("names")?;
            let place = |name: &String| own.iter().position(|own| own == name);
            let found = names.iter().enumerate().filter_map(|(at, name)| Some((at, place(name)?)));
            let (has, rows): (Vec<usize>, Vec<usize>) = found.unzip();
            Ok((has, points.select(Axis(0), &rows)))
        };
        let tables = specimens.iter().map(table).collect::<Result<Vec<_>>>()?;
        let Some((first, points)) = tables.iter().rev().max_by_key(|table| table.0.len()) else { return Ok(None) };
        if first.len() < FEWEST {
            return Ok(None);
        }
        let mut counts = vec![0.0; names.len()];
        first.iter().for_each(|&at| counts[at] = 1.0);
        let mut mean = Array2::zeros((names.len(), points.ncols()));
        normalised(points).outer_iter().zip(first).for_each(|(row, &at)| mean.row_mut(at).assign(&row));
        let mut frames: Vec<Option<Similarity>> = Vec::new();
        for _ in 0..ROUNDS {
            let fit = |(has, points): &(Vec<usize>, Array2<f64>)| -> Result<Option<Similarity>> {
                let shared: Vec<usize> = (0..has.len()).filter(|&row| counts[has[row]] > 0.0).collect();
                let known: Vec<usize> = shared.iter().map(|&row| has[row]).collect();
                let (own, usual) = (points.select(Axis(0), &shared), mean.select(Axis(0), &known));
                let fit = || Similarity::fit(own.view(), usual.view(), None, false);
                Ok((shared.len() >= FEWEST).then(fit).transpose()?)
            };
            frames = tables.iter().map(fit).collect::<Result<_>>()?;
            let mut sum = Array2::zeros(mean.raw_dim());
            counts.fill(0.0);
            for ((has, points), frame) in tables.iter().zip(&frames) {
                let Some(frame) = frame else { continue };
                for (row, &at) in frame.apply(points.view()).outer_iter().zip(has) {
                    sum.row_mut(at).scaled_add(1.0, &row);
                    counts[at] += 1.0;
                }
            }
            let known: Vec<usize> = (0..names.len()).filter(|&at| counts[at] > 0.0).collect();
            known.iter().for_each(|&at| sum.row_mut(at).mapv_inplace(|x| x / counts[at]));
            let usual = normalised(&sum.select(Axis(0), &known));
            usual.outer_iter().zip(&known).for_each(|(row, &at)| mean.row_mut(at).assign(&row));
        }
        let mut squares = vec![0.0; names.len()];
        for ((has, points), frame) in tables.iter().zip(&frames) {
            let Some(frame) = frame else { continue };
            for (row, &at) in frame.apply(points.view()).outer_iter().zip(has) {
                squares[at] += (&row - &mean.row(at)).mapv(|x| x * x).sum();
            }
        }
        let spread = squares.iter().zip(&counts).map(|(square, count)| (square / f64::max(*count, 1.0)).sqrt());
        let (spread, size) = (spread.collect(), frames.iter().map(|frame| Some(1.0 / frame.as_ref()?.scale)).collect());
        Ok(Some(Self { names, mean, spread, size }))
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

/// A specimen (by position) with a mistake; `None` if it has too few landmarks for it.
pub(crate) fn planted(
    one: &NamedGraph,
    at: usize,
    plant: Plant,
    usual: &Usual,
    rng: &mut ChaCha8Rng,
) -> Result<Option<(NamedGraph, Planted)>> {
    let own = one.graph.names().context("names")?.to_vec();
    let row = |name: usize| own.iter().position(|own| *own == usual.names[name]).unwrap_or(0);
    let has: Vec<usize> = (0..usual.names.len()).filter(|&name| own.contains(&usual.names[name])).collect();
    let Some(size) = usual.size[at].filter(|_| has.len() >= FEWEST) else { return Ok(None) };
    let mut points = one.graph.points().context("points")?.to_owned();
    let n = has.len();
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
            let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).map(|[a, b]| [has[a], has[b]]);
            let pairs: Vec<[usize; 2]> = pairs.filter(|&[a, b]| usual.are_apart(a, b)).collect();
            if pairs.is_empty() {
                return Ok(None);
            }
            let [a, b] = pairs[rng.random_range(0..pairs.len())];
            exchange(&[a, b], &[b, a], &mut points);
        }
        Plant::Roll => {
            let count = rng.random_range(3..=n);
            let start = rng.random_range(0..=n - count);
            let list = &has[start..start + count];
            let mut from = list.to_vec();
            from.rotate_right(1);
            exchange(list, &from, &mut points);
        }
        Plant::Mirror => points.column_mut(0).mapv_inplace(|x| -x),
        Plant::Displace(far) => {
            let name = has[rng.random_range(0..n)];
            let mut way = Array1::from_shape_simple_fn(points.ncols(), || normal(rng));
            way /= way.dot(&way).sqrt();
            points.row_mut(row(name)).scaled_add(far * usual.spread[name] * size, &way);
            known.landmarks.push(usual.names[name].clone());
        }
    }
    let graph = Graph::from_points(points)?.with_names(own)?;
    Ok(Some((NamedGraph { graph: Arc::new(graph), ..one.clone() }, known)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn specimen(id: &str, names: &[&str], points: &[[f64; 2]]) -> Result<NamedGraph> {
        let points = Array2::from_shape_fn((points.len(), 2), |(row, axis)| points[row][axis]);
        let graph = Graph::from_points(points)?.with_names(names.iter().map(ToString::to_string).collect())?;
        Ok(NamedGraph { id: id.to_string(), graph: Arc::new(graph), image: None })
    }

    #[test]
    fn specimens_that_lack_landmarks_are_planted_in_and_too_small_ones_are_not() -> Result<()> {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let all = [
            specimen("a", &["p", "q", "r", "s"], &square)?,
            specimen("b", &["p", "q", "s", ""], &[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [9.0, 9.0]])?,
            specimen("c", &["p", "q"], &square[..2])?,
        ];
        let usual = Usual::of(&all)?.context("a shape")?;
        assert!(usual.spread.iter().all(|spread| *spread < 1e-9), "{:?}", usual.spread);
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for plant in Plant::ALL {
            for at in 0..2 {
                assert!(planted(&all[at], at, plant, &usual, &mut rng)?.is_some(), "{plant:?} {at}");
            }
            assert!(planted(&all[2], 2, plant, &usual, &mut rng)?.is_none(), "{plant:?}");
        }
        assert!(Usual::of(&all[2..])?.is_none() && Usual::of(&[])?.is_none());
        Ok(())
    }
}
