//! The body that a take teaches, compared with the atlas. Distances measured from wrong names agree with these names as long as they are
//! wrong throughout, so only the atlas can tell; and the lengths that hold tell most.
//!
//! For the edges i-j of the atlas with length a (the root mean square over its specimens), the names σ should make
//!
//!   Σ_ij log((1 - ε) W N(a_ij; m, s) + ε),   m = f · m_σ(i)σ(j),   s² = (f · s_σ(i)σ(j))² + (τ a_ij)²
//!
//! large: f is the size of the atlas's body relative to the take's, τ how much proportions differ. Two names are exchanged as long as that
//! gains clearly.

use super::body::{Body, Lengths, log_density};
use super::points::median;
use crate::atlas::Atlas;

/// An exchange has to gain this much.
const LEAST_GAIN: f64 = 3.0;
/// Proportions differ at least by this share.
const LEAST_DIFFERENCE: f64 = 0.02;
/// Exchanges at most, per marker.
const EXCHANGES: usize = 3;

/// For each marker the one that its name should be; the identity if nothing is gained.
pub(super) fn renamed(body: &Body, lengths: &Lengths, count: usize) -> Vec<usize> {
    let mut edges: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for &([i, j], length) in lengths {
        edges[i].push((j, length));
        edges[j].push((i, length));
    }
    let ratio = |&([i, j], length): &([usize; 2], f64)| body.bone(i, j).map(|bone| length / bone.mean);
    let mut ratios: Vec<f64> = lengths.iter().filter_map(ratio).filter(|ratio| ratio.is_finite()).collect();
    let Some(size) = median(&mut ratios).filter(|&size| size > 0.0) else { return (0..count).collect() };
    ratios.iter_mut().for_each(|ratio| *ratio = (*ratio / size - 1.0).abs());
    let difference = (1.4826 * median(&mut ratios).unwrap_or(0.0)).max(LEAST_DIFFERENCE);
    // The body's marker for each landmark.
    let mut own: Vec<usize> = (0..count).collect();
    let value = |i: usize, own: &[usize]| -> f64 {
        let edge = |&(j, length): &(usize, f64)| {
            let Some(bone) = body.bone(own[i], own[j]) else { return 0.0 };
            let spread = (size * bone.spread).hypot(difference * length);
            log_density(length - size * bone.mean, spread, size * body.width)
        };
        edges[i].iter().map(edge).sum()
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
