//! The body that a take teaches, compared with the atlas. Distances measured from wrong names agree with these names as long as they are
//! wrong throughout, so only the atlas can tell; and the lengths that hold tell most.
//!
//! For the edges i-j of the atlas with length a (the root mean square over its specimens), the names σ should make
//!
//!   Σ_ij v_ij,   v_ij = log((1 - ε) W N(a_ij; m, s) + ε),   m = f · m_σ(i)σ(j),   s² = (f · s_σ(i)σ(j))² + (τ a_ij)²
//!
//! large: f is the size of the atlas's body relative to the take's around i and j (long legs may go with a small trunk), τ how much
//! proportions differ beyond that. Two names are exchanged as long as that
//! gains clearly. A marker whose mean v is small although its other end is not to blame is a suspect: its name may be wrong throughout.

use super::body::{Body, Bone, Lengths, log_density};
use super::points::median;
use crate::atlas::Atlas;

/// An exchange has to gain this much.
const LEAST_GAIN: f64 = 3.0;
/// Proportions differ at least by this share.
const LEAST_DIFFERENCE: f64 = 0.02;
/// Exchanges at most, per marker.
const EXCHANGES: usize = 3;
/// Markers whose edges are worth less than this on average are suspects: 0 is as good as unknown, 3 to 4 is usual.
const LEAST_FIT: f64 = 1.0;

/// A body beside the edges of an atlas.
pub(super) struct Anchor<'a> {
    body: &'a Body,
    /// For each marker the other ends of its edges, with their lengths in the atlas.
    edges: Vec<Vec<(usize, f64)>>,
    /// The size of the atlas's body relative to the take's, around each marker.
    sizes: Vec<f64>,
    difference: f64,
}

impl<'a> Anchor<'a> {
    /// `None` if no edge of the atlas was seen.
    pub(super) fn new(body: &'a Body, lengths: &Lengths, count: usize) -> Option<Self> {
        let mut edges: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
        for &([i, j], length) in lengths {
            edges[i].push((j, length));
            edges[j].push((i, length));
        }
        let ratio = |i: usize, &(j, length): &(usize, f64)| {
            body.bone(i, j).map(|bone| length / bone.mean).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        };
        let own: Vec<Vec<f64>> =
            edges.iter().enumerate().map(|(i, own)| own.iter().filter_map(|edge| ratio(i, edge)).collect()).collect();
        let whole = median(&mut own.concat())?;
        let around = |i: usize| {
            let others = edges[i].iter().flat_map(|&(j, _)| own[j].iter().copied());
            median(&mut own[i].iter().copied().chain(others).collect::<Vec<f64>>()).unwrap_or(whole)
        };
        let sizes: Vec<f64> = (0..count).map(around).collect();
        let off = |&([i, j], length): &([usize; 2], f64)| {
            ratio(i, &(j, length)).map(|ratio| (ratio / (sizes[i] * sizes[j]).sqrt() - 1.0).abs())
        };
        let mut offs: Vec<f64> = lengths.iter().filter_map(off).collect();
        let difference = (1.4826 * median(&mut offs).unwrap_or(0.0)).max(LEAST_DIFFERENCE);
        Some(Self { body, edges, sizes, difference })
    }

    /// How well the length of an edge of the atlas fits a distance of the body.
    fn fit(&self, [i, j]: [usize; 2], length: f64, bone: &Bone) -> f64 {
        let size = (self.sizes[i] * self.sizes[j]).sqrt();
        let spread = (size * bone.spread).hypot(self.difference * length);
        log_density(length - size * bone.mean, spread, size * self.body.width)
    }

    /// For each marker the one that its name should be; the identity if nothing is gained.
    pub(super) fn renamed(&self) -> Vec<usize> {
        let count = self.edges.len();
        // The body's marker for each landmark.
        let mut own: Vec<usize> = (0..count).collect();
        let value = |i: usize, own: &[usize]| -> f64 {
            let edge = |&(j, length): &(usize, f64)| {
                self.body.bone(own[i], own[j]).map_or(0.0, |bone| self.fit([i, j], length, &bone))
            };
            self.edges[i].iter().map(edge).sum()
        };
        for _ in 0..EXCHANGES * count {
            let mut best = (LEAST_GAIN, None);
            for i in 0..count {
                for j in 0..i {
                    let before = value(i, &own) + value(j, &own);
                    own.swap(i, j);
                    let gain = value(i, &own) + value(j, &own) - before;
                    own.swap(i, j);
                    if gain > best.0 {
                        best = (gain, Some((i, j)));
                    }
                }
            }
            let Some((i, j)) = best.1 else { break };
            own.swap(i, j);
        }
        let mut names = vec![0; count];
        own.iter().enumerate().for_each(|(landmark, &marker)| names[marker] = landmark);
        names
    }

    /// The values of the edges of a marker that the take showed, to those markers that count.
    fn values(&self, marker: usize, counts: &[bool]) -> impl Iterator<Item = f64> {
        let seen = self.edges[marker].iter().filter(|(other, _)| counts[*other]);
        seen.filter_map(move |&(other, length)| {
            self.body
                .bone(marker, other)
                .filter(|bone| bone.is_seen)
                .map(|bone| self.fit([marker, other], length, &bone))
        })
    }

    /// The sum of all edges of each marker that the take showed.
    pub(super) fn fits(&self) -> Vec<f64> {
        let all = vec![true; self.edges.len()];
        (0..all.len()).map(|marker| self.values(marker, &all).sum()).collect()
    }

    /// Markers whose name may be wrong throughout: the worst one first, then the worst of those left.
    pub(super) fn suspects(&self) -> Vec<usize> {
        let mut counts = vec![true; self.edges.len()];
        let mut suspects = Vec::new();
        loop {
            let mean = |marker: usize| {
                let (sum, edges) =
                    self.values(marker, &counts).fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
                (edges > 0.0).then(|| (sum / edges, marker))
            };
            let left = (0..counts.len()).filter(|&marker| counts[marker]).filter_map(mean);
            let Some((_, worst)) = left.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(mean, _)| *mean < LEAST_FIT) else {
                return suspects;
            };
            counts[worst] = false;
            suspects.push(worst);
        }
    }
}

/// The lengths of the edges of an atlas. Its covariances are partly prior: of S specimens and a prior worth κ, (S - 1) / (S + κ) was seen.
pub(super) fn lengths(atlas: &Atlas) -> Lengths {
    let specimens = atlas.specimens as f64;
    let seen = (specimens - 1.0).max(0.0) / (specimens + atlas.prior[1]);
    let length = |edge: &crate::atlas::AtlasEdge| {
        let squares: f64 = edge.displacement.mean.iter().map(|x| x * x).sum();
        (edge.ends, (squares + seen * edge.displacement.covariance().diag().sum()).sqrt())
    };
    atlas.edges.iter().map(length).collect()
}
