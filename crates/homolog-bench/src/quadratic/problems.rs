//! Kinds of problem made from planar points that are rotated, jittered and renumbered, so that the truth is known.
//!
//! Points are uniform in a square with one point per unit of area. Edges join each point with its four nearest, both ways: about 5.2
//! edges leave a node, as in a Delaunay triangulation. Every right point is its left point rotated, plus a normal error.

use homolog::matching::{Compatibility, EdgeList, EdgeTerm, Matching, Method, Solution, Streamed, Workspace};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{PI, TAU};
use std::ops::Range;
use std::sync::Arc;

/// What the scores are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// The paper's model: 60 shape context numbers per node, summed to one node score, and adjacency (one factor). Turned by up to
    /// 0.3 radians, since shape contexts are not invariant to rotation.
    Shape,
    /// The same, not turned.
    Jittered,
    /// No node scores; edges of similar length fit, exp(-(d_ij - d_kl)² / s²), every pair of edges listed. Turned by any angle.
    Length,
}

impl Kind {
    /// What is measured unless asked for others.
    pub(crate) const ALL: [Self; 2] = [Self::Shape, Self::Length];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Jittered => "jittered",
            Self::Length => "length",
        }
    }
}

/// A problem whose true matching is known: left node i belongs to right node `truth[i]`.
pub(crate) struct Problem {
    pub(crate) scores: Scores,
    pub(crate) truth: Vec<usize>,
}

/// The scores of a problem.
pub(crate) enum Scores {
    /// All pairs of nodes in a table.
    Table(Compatibility),
    /// Too many for a table: what the node scores are computed from.
    Streamed { left: Array2<f64>, right: Array2<f64>, edge: EdgeTerm },
}

/// With more nodes than this there is no table.
const LARGEST_TABLE: usize = 5000;

impl Problem {
    /// With `lists`, tables are solved as if they were too large for that.
    pub(crate) fn solve(&self, method: &Method, lists: bool, work: &mut Workspace) -> homolog::Result<Solution> {
        match &self.scores {
            Scores::Table(scores) => {
                let write = |rows: Range<usize>, block: &mut Array2<f64>| {
                    block.assign(&scores.node.slice_axis(Axis(0), rows.into()));
                };
                let problem = Streamed::new(scores.left_count(), scores.right_count(), &write);
                match &scores.edge {
                    Some(edge) if lists => method.matcher().solve_with(&problem.with_edges(edge), work),
                    _ => method.matcher().solve_with(scores, work),
                }
            }
            Scores::Streamed { left, right, edge } => {
                let norms: [Array1<f64>; 2] = [left, right].map(|table| (table * table).sum_axis(Axis(1)));
                let write = |rows: Range<usize>, scores: &mut Array2<f64>| {
                    general_mat_mul(2.0, &left.slice_axis(Axis(0), rows.clone().into()), &right.t(), 0.0, scores);
                    for (at, mut row) in scores.rows_mut().into_iter().enumerate() {
                        let own = norms[0][rows.start + at];
                        row.zip_mut_with(&norms[1], |score, norm| *score = (*score - own - norm) / left.nrows() as f64);
                    }
                };
                method.matcher().solve_with(&Streamed::new(left.nrows(), right.nrows(), &write).with_edges(edge), work)
            }
        }
    }

    /// The score of the true matching.
    pub(crate) fn score_of_truth(&self) -> homolog::Result<f64> {
        let map = self.truth.iter().map(|&k| Some(k)).collect();
        let truth = Matching::new(map, self.truth.len(), homolog::matching::Constraint::OneToOne)?;
        match &self.scores {
            Scores::Table(scores) => scores.score(&truth),
            Scores::Streamed { left, right, edge } => {
                let own = truth.pairs().map(|(i, k)| shape_score(left, i, right, k)).sum::<f64>();
                Ok(own + edge.score(&truth))
            }
        }
    }
}

/// Standard deviation of the error of each coordinate; the mean distance to the nearest point is 0.5.
const JITTER: f64 = 0.07;

/// s: how much two lengths may differ and still fit.
const LENGTH_SCALE: f64 = 0.15;

type Points = Vec<[f64; 2]>;

/// The problem of a kind, size and number.
pub(crate) fn make(kind: Kind, count: usize, number: u64) -> homolog::Result<Problem> {
    let mut random = ChaCha8Rng::seed_from_u64(1000 * count as u64 + number);
    let turn = random.random::<f64>();
    let turn = match kind {
        Kind::Shape => 0.6 * turn - 0.3,
        Kind::Jittered => 0.0,
        Kind::Length => TAU * turn,
    };
    let (left, right, truth) = point_sets(&mut random, count, turn);
    let (left_edges, right_edges) = (nearest_edges(&left)?, nearest_edges(&right)?);
    let (node, edge) = match kind {
        Kind::Shape | Kind::Jittered => {
            let ones = |edges: &EdgeList| Array2::ones((edges.len(), 1));
            let (a, b) = (ones(&left_edges), ones(&right_edges));
            let edge = EdgeTerm::factored(left_edges, right_edges, a, b)?;
            let (left, right) = (shape_contexts(&left), shape_contexts(&right));
            if count > LARGEST_TABLE {
                return Ok(Problem { scores: Scores::Streamed { left, right, edge }, truth });
            }
            (Array2::from_shape_fn((count, count), |(i, k)| shape_score(&left, i, &right, k)), edge)
        }
        Kind::Length => {
            let entries = length_scores(&left, &left_edges, &right, &right_edges);
            (Array2::zeros((count, count)), EdgeTerm::listed(left_edges, right_edges, entries)?)
        }
    };
    let scores = Scores::Table(Compatibility::linear(node).with_edges(edge));
    Ok(Problem { scores, truth })
}

fn point_sets(random: &mut ChaCha8Rng, count: usize, turn: f64) -> (Points, Points, Vec<usize>) {
    let side = (count as f64).sqrt();
    let left: Points = (0..count).map(|_| [side * random.random::<f64>(), side * random.random::<f64>()]).collect();
    let mut truth: Vec<usize> = (0..count).collect();
    truth.shuffle(random);
    let mut right = vec![[0.0; 2]; count];
    let (sin, cos) = turn.sin_cos();
    for (&[x, y], &k) in left.iter().zip(&truth) {
        // Twelve uniform numbers add up to a variance of 1.
        let mut error = || JITTER * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
        right[k] = [cos * x - sin * y + error(), sin * x + cos * y + error()];
    }
    (left, right, truth)
}

fn distance(points: &[[f64; 2]], i: usize, j: usize) -> f64 {
    (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1])
}

fn nearest_edges(points: &[[f64; 2]]) -> homolog::Result<Arc<EdgeList>> {
    let mut ends = Vec::new();
    for i in 0..points.len() {
        let others = (0..points.len()).filter(|&j| j != i);
        let mut others: Vec<(f64, usize)> = others.map(|j| (distance(points, i, j), j)).collect();
        if others.len() > 4 {
            others.select_nth_unstable_by(3, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        ends.extend(others.into_iter().take(4).flat_map(|(_, j)| [[i, j], [j, i]]));
    }
    Ok(Arc::new(EdgeList::new(points.len(), ends)?))
}

/// Shape contexts as in the paper: 12 angles by 5 distances in units of the mean distance, counts of the other points.
fn shape_contexts(points: &[[f64; 2]]) -> Array2<f64> {
    let count = points.len();
    let total: f64 = (0..count).flat_map(|i| (0..count).map(move |j| distance(points, i, j))).sum();
    let mean = total / (count * count) as f64;
    let mut contexts = Array2::zeros((count, 60));
    for i in 0..count {
        for j in (0..count).filter(|&j| j != i) {
            let ring = [0.125, 0.25, 0.5, 1.0, 2.0].iter().position(|&edge| distance(points, i, j) / mean < edge);
            let angle = (points[j][1] - points[i][1]).atan2(points[j][0] - points[i][0]) + PI;
            let sector = (1..12).filter(|&sector| angle >= f64::from(sector) * PI / 6.0).count();
            if let Some(ring) = ring {
                contexts[[i, 12 * ring + sector]] += 1.0;
            }
        }
    }
    contexts
}

/// Minus the squared difference of the contexts, divided by the number of nodes as in the paper.
fn shape_score(left: &Array2<f64>, i: usize, right: &Array2<f64>, k: usize) -> f64 {
    let difference = &left.row(i) - &right.row(k);
    -difference.dot(&difference) / left.nrows() as f64
}

fn length_scores(
    left: &[[f64; 2]],
    left_edges: &EdgeList,
    right: &[[f64; 2]],
    right_edges: &EdgeList,
) -> Vec<(usize, usize, f64)> {
    let mut entries = Vec::with_capacity(left_edges.len() * right_edges.len());
    for (e, &[i, j]) in left_edges.ends().iter().enumerate() {
        for (f, &[k, l]) in right_edges.ends().iter().enumerate() {
            let difference = (distance(left, i, j) - distance(right, k, l)) / LENGTH_SCALE;
            entries.push((e, f, (-difference * difference).exp()));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_scores_better_than_chance() -> homolog::Result<()> {
        for kind in Kind::ALL {
            let Problem { scores: Scores::Table(scores), truth } = make(kind, 30, 0)? else { continue };
            let matching = |map: Vec<usize>| {
                let map = map.into_iter().map(Some).collect();
                homolog::matching::Matching::new(map, 30, homolog::matching::Constraint::OneToOne)
            };
            let turned: Vec<usize> = (0..30).map(|i| truth[(i + 1) % 30]).collect();
            assert!(scores.score(&matching(truth)?)? > scores.score(&matching(turned)?)?);
        }
        Ok(())
    }

    #[test]
    fn shape_contexts_count_every_other_point_within_reach() {
        let contexts = shape_contexts(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
        assert!(contexts.rows().into_iter().all(|row| row.sum() == 3.0));
    }
}
