//! What the soft searches need to know about a problem, over all pairs ([`TableObjective`]) or over a list of them (`listed`).

use super::pairs::{AllPairs, Pairs};
use super::sinkhorn::{Slack, Soft};
use super::tables::Tables;
use crate::Result;
use crate::matching::problem::GradientBuffers;
use crate::matching::{Constraint, EdgeTerm, Matching, Workspace};
use ndarray::{Array2, ArrayView1, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::borrow::Cow;

/// What is maximised: Σ gain_ik y_ik + weight · Σ d(ij, kl) y_ik y_jl.
pub(super) trait Objective {
    type Pairs: Pairs;

    fn pairs(&self) -> &Self::Pairs;

    /// What each pair gains over staying unmatched; minus infinity if no feasible matching has it.
    fn gain(&self) -> &ValuesOf<Self>;

    /// The gradient of the edge part.
    fn edge_gradient(&mut self, pair: &ValuesOf<Self>, out: &mut ValuesOf<Self>);

    /// [`Self::edge_gradient`] at a matching.
    fn gradient_at(&mut self, matching: &Matching, out: &mut ValuesOf<Self>);

    /// What separates the node scores: the mean over left nodes of the standard deviation of their allowed scores.
    fn node_spread(&self) -> f64;

    /// The norm of y -> edge gradient, or a bound on it.
    fn edge_norm(&mut self) -> f64;
}

/// How an objective stores one value per pair.
pub(super) type ValuesOf<O> = <<O as Objective>::Pairs as Pairs>::Values;

/// An objective, and the feasible matchings.
pub(super) trait Feasible {
    type Objective: Objective;

    fn objective(&mut self) -> &mut Self::Objective;
    fn slack(&self) -> &Slack;

    /// The best matching if there were no edge scores.
    fn linear(&self) -> &Matching;

    /// The feasible matching with the largest linearised score, gain + gradient.
    fn assign_linearised(&mut self, gradient: &ValuesOf<Self::Objective>, work: &mut Workspace) -> Result<Matching>;

    /// The feasible matching that agrees most with a soft one.
    fn round(&mut self, soft: &Soft<ValuesOf<Self::Objective>>, work: &mut Workspace) -> Result<Matching>;
}

/// The objective over all pairs.
pub(in crate::matching) struct TableObjective<'a> {
    pub(in crate::matching) gain: Array2<f64>,
    pub(in crate::matching) edge: Cow<'a, EdgeTerm>,
    pub(in crate::matching) weight: f64,
    pairs: AllPairs,
    buffers: GradientBuffers,
    pub(super) tables: Option<Tables>,
}

impl<'a> TableObjective<'a> {
    pub(super) fn new(gain: Array2<f64>, edge: Cow<'a, EdgeTerm>, weight: f64) -> Self {
        let (pairs, tables) = (AllPairs::of(&gain), Tables::of(&edge, weight));
        Self { gain, edge, weight, pairs, buffers: GradientBuffers::default(), tables }
    }
}

impl Objective for TableObjective<'_> {
    type Pairs = AllPairs;

    fn pairs(&self) -> &AllPairs {
        &self.pairs
    }

    fn gain(&self) -> &Array2<f64> {
        &self.gain
    }

    fn edge_gradient(&mut self, pair: &Array2<f64>, out: &mut Array2<f64>) {
        if let Some(tables) = &mut self.tables {
            return tables.gradient(pair, out);
        }
        out.fill(0.0);
        self.edge.add_gradient_with(self.weight, pair.view(), out, &mut self.buffers);
    }

    /// Only neighbours of matched nodes contribute, n·deg·deg' in all.
    fn gradient_at(&mut self, matching: &Matching, out: &mut Array2<f64>) {
        if let Some(tables) = self.tables.as_mut().filter(|_| matching.constraint() == Constraint::OneToOne) {
            return tables.gradient_at(matching, out);
        }
        out.fill(0.0);
        for (i, k) in matching.pairs() {
            self.edge.add_pair_gradient(i, k, self.weight, out);
        }
    }

    fn node_spread(&self) -> f64 {
        let spread = |row: ArrayView1<'_, f64>| {
            let allowed = || row.iter().filter(|&&gain| gain > f64::NEG_INFINITY);
            let count = allowed().count().max(1) as f64;
            let mean = allowed().sum::<f64>() / count;
            (allowed().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / count).sqrt()
        };
        self.gain.rows().into_iter().map(spread).sum::<f64>() / self.gain.nrows().max(1) as f64
    }

    /// On allowed cells, rows and columns centred (where matchings of full size can differ), by power iteration from a fixed start.
    fn edge_norm(&mut self) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut vector = self.gain.mapv(|_| random.random::<f64>() - 0.5);
        let mut image = Array2::zeros(vector.raw_dim());
        let mut norm = 0.0;
        for _ in 0..NORM_ROUNDS {
            let size = centre(&mut vector, &self.gain);
            if size == 0.0 {
                return norm;
            }
            vector /= size;
            self.edge_gradient(&vector, &mut image);
            norm = centre(&mut image, &self.gain);
            std::mem::swap(&mut vector, &mut image);
        }
        norm
    }
}

/// Rounds of power iteration: enough for the order of magnitude, which is all that is needed.
const NORM_ROUNDS: usize = 8;

/// Subtracts row and column means, zero where forbidden; returns the norm of what is left.
fn centre(vector: &mut Array2<f64>, gain: &Array2<f64>) -> f64 {
    let (n, m) = vector.dim();
    vector.zip_mut_with(gain, |value, &gain| *value = if gain > f64::NEG_INFINITY { *value } else { 0.0 });
    let columns = vector.sum_axis(Axis(0)) / n as f64;
    for mut row in vector.rows_mut() {
        row -= &columns;
        let mean = row.sum() / m as f64;
        row -= mean;
    }
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}
