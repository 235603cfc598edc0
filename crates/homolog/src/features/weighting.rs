//! What the weights of edges say, chosen by nodes whose partners are known. For each way to compare weights, every known pair (i, k) is asked for
//! by the others alone, without solving:
//!
//!   s_i(k') = Σ d(ij, k'l) + d(ji, lk')   over the other known pairs (j, l),   less the mean of the s_j(k'):
//!
//! what k' gets from everyone decides no matching. The answer is the share of right nodes k' with s_i(k') < s_i(k), and half of those that are equal. Another way than by ranks is taken if the mean of its answers is clearly higher: by twice the standard error of
//! the paired differences. The cost is the edges of known nodes, times those of their partners' neighbours.

use super::{Difference, EdgeKind, FeatureMap, Instance};
use crate::matching::EdgeTerm;
use crate::{Control, Result};

/// No choice with fewer known pairs.
const FEWEST_KNOWN: usize = 5;
/// Standard errors by which another way must be better, and the least difference.
const CLEARLY: f64 = 2.0;
const LEAST: f64 = 0.01;
/// A pair of edges whose weights differ by their spread counts half of one whose weights agree.
const DIFFERENCE: f64 = 0.5;

/// Graphs to match, and nodes whose partners are known.
pub(crate) type Known<'a> = (&'a Instance, Vec<[usize; 2]>);

/// How weights of edges are compared.
#[derive(Clone, Copy, PartialEq)]
enum Weighting {
    Ranks,
    Products,
    Differences,
    Existence,
}

impl FeatureMap {
    /// Whether weights of edges are compared by rank, as in networks.
    pub(crate) fn is_weighted_network(&self) -> bool {
        self.edge.iter().any(|kind| matches!(kind, EdgeKind::Ranks(_)))
    }

    /// [`Self::unlearned_weights_with`] a price, and with what counts about weights of edges chosen by these known pairs, if there are enough.
    pub(crate) fn unlearned_weights_by(&self, price: Option<f64>, known: &[Known<'_>]) -> Result<Vec<f64>> {
        let usual = self.unlearned_weights_with(price);
        let count: usize = known.iter().map(|(_, pairs)| pairs.len()).sum();
        if count < FEWEST_KNOWN || !self.is_weighted_network() {
            return Ok(usual);
        }
        let answers = |weights: &[f64]| -> Result<Vec<f64>> {
            let each = known
                .iter()
                .map(|(instance, pairs)| Ok(answers(&instance.edge_term(weights, &Control::new())?, pairs)));
            Ok(each.collect::<Result<Vec<_>>>()?.concat())
        };
        let mut best = (0.0, usual.clone());
        let own = answers(&usual)?;
        for weighting in [Weighting::Differences, Weighting::Products, Weighting::Existence] {
            let Some(weights) = self.weighted_by(weighting, &usual) else { continue };
            let gain = clear_gain(&own, &answers(&weights)?);
            if gain > best.0 {
                best = (gain, weights);
            }
        }
        Ok(best.1)
    }

    /// The usual weights, but weights of edges are compared in another way; `None` if the map lacks what that needs.
    fn weighted_by(&self, weighting: Weighting, usual: &[f64]) -> Option<Vec<f64>> {
        let mut weights = usual.to_vec();
        let unit = usual[self.ranks_at()?];
        let mut at = self.edge_start();
        let mut is_there = false;
        for kind in &self.edge {
            let count = kind.feature().names().len();
            let of = match kind {
                EdgeKind::Adjacency(_) => Some(match weighting {
                    Weighting::Existence | Weighting::Differences => 1.0,
                    _ => 0.0,
                }),
                EdgeKind::Ranks(_) => Some(f64::from(u8::from(weighting == Weighting::Ranks))),
                EdgeKind::Attributes(own) if super::sets::are_weights(&own.columns) => match own.difference {
                    Difference::Product => Some(f64::from(u8::from(weighting == Weighting::Products))),
                    _ => Some(if weighting == Weighting::Differences { DIFFERENCE } else { 0.0 }),
                },
                _ => None,
            };
            if let Some(own) = of {
                weights[at..at + count].fill(unit * own);
                is_there |= own > 0.0;
            }
            at += count;
        }
        is_there.then_some(weights)
    }

    /// Where the weights of edge features begin.
    fn edge_start(&self) -> usize {
        let edge: usize = self.edge.iter().map(|kind| kind.feature().names().len()).sum();
        self.dim() - usize::from(self.unmatched) - edge
    }

    /// Where the weight of ranks is.
    fn ranks_at(&self) -> Option<usize> {
        let before = self.edge.iter().position(|kind| matches!(kind, EdgeKind::Ranks(_)))?;
        Some(self.edge_start() + self.edge[..before].iter().map(|kind| kind.feature().names().len()).sum::<usize>())
    }
}

/// By how much the second answers are better, less what may be chance.
fn clear_gain(own: &[f64], other: &[f64]) -> f64 {
    let count = own.len() as f64;
    let mean = own.iter().zip(other).map(|(own, other)| other - own).sum::<f64>() / count;
    let square = own.iter().zip(other).map(|(own, other)| (other - own - mean).powi(2)).sum::<f64>();
    mean - CLEARLY * (square / (count * (count - 1.0))).sqrt() - LEAST
}

/// For each known pair the share of right nodes that the other pairs say less for.
fn answers(edge: &EdgeTerm, known: &[[usize; 2]]) -> Vec<f64> {
    let mut partner = vec![None; edge.left_count()];
    known.iter().for_each(|&[i, k]| partner[i] = Some(k));
    let said: Vec<Vec<f64>> = known.iter().map(|&[i, _]| said_of(i, edge, &partner)).collect();
    let mut total = vec![0.0; edge.right_count()];
    said.iter().flat_map(|row| row.iter().zip(0..)).for_each(|(value, k): (&f64, usize)| total[k] += value);
    let mut is_taken = vec![false; edge.right_count()];
    known.iter().for_each(|&[_, k]| is_taken[k] = true);
    let others = (known.len() - 1).max(1) as f64;
    let one = |(row, &[_, own]): (&Vec<f64>, &[usize; 2])| {
        let value = |k: usize| row[k] - (total[k] - row[k]) / others;
        let rivals: Vec<f64> = (0..row.len()).filter(|&k| !is_taken[k]).map(value).collect();
        let own = value(own);
        let below: f64 = rivals
            .iter()
            .map(|&rival| {
                if rival < own {
                    1.0
                } else if rival == own {
                    0.5
                } else {
                    0.0
                }
            })
            .sum();
        below / rivals.len().max(1) as f64
    };
    said.iter().zip(known).map(one).collect()
}

/// What the known partners of its neighbours say about each partner of a left node.
fn said_of(i: usize, edge: &EdgeTerm, partner: &[Option<usize>]) -> Vec<f64> {
    let (left, right) = (edge.left_edges(), edge.right_edges());
    let mut said = vec![0.0; edge.right_count()];
    for e in left.from_node(i) {
        let arriving = partner[left.ends()[e][1]].map_or(&[][..], |l| right.into_node(l));
        arriving.iter().for_each(|&f| said[right.ends()[f][0]] += edge.value(e, f));
    }
    if edge.is_symmetric() {
        return said;
    }
    for &e in left.into_node(i) {
        let leaving = partner[left.ends()[e][0]].map_or(0..0, |l| right.from_node(l));
        leaving.for_each(|f| said[right.ends()[f][1]] += edge.value(e, f));
    }
    said
}
