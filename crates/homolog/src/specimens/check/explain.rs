//! From odd landmarks of a specimen to what is wrong with it.
//!
//! With too many odd landmarks the specimen fits nothing. Otherwise the odd landmarks, and those whose points would suit them, get each
//! other's points (`names`): a change that leaves none of its landmarks odd is a mistake in the names. What remains is displaced.

use super::Kind;
use super::learning::{Learned, MOST_ODD};
use super::names::{Renaming, assign, cycles, renamings};
use super::shapes::{Place, Shape, difference, length};
use crate::Result;
use ndarray::Array2;

/// So many displaced landmarks are listed one by one in any specimen.
const LISTED: usize = 3;
/// Beyond this share of its landmarks a specimen with so many displaced ones fits nothing.
const MOST_DISPLACED: f64 = 0.25;
/// A landmark displaced by less than this many of its spreads is not listed, unless it is odder than the threshold by this factor.
const LEAST_SPREADS: f64 = 3.4;
const SURE: f64 = 1.4;
/// Exchanged names must leave at most this share of the squared oddness.
pub(super) const CLEARLY: f64 = 0.25;

/// Something wrong with a specimen, in the frame.
pub(super) struct Mistake {
    pub(super) kind: Kind,
    pub(super) landmarks: Vec<usize>,
    /// Whose point each of them should have.
    pub(super) points_of: Vec<usize>,
    /// Places by which the names are rolled.
    pub(super) by: Option<usize>,
    /// How far from where it should be, in units of its spread.
    pub(super) spreads: Option<f64>,
    pub(super) should_be: Option<Place>,
    pub(super) odd: f64,
}

impl Mistake {
    /// Names at the wrong points.
    pub(super) fn named(renaming: Renaming, odd: f64) -> Self {
        let (kind, landmarks, points_of, by) = match renaming {
            Renaming::Swap([a, b]) => (Kind::Swapped, vec![a, b], vec![b, a], None),
            Renaming::Roll(list, by) => {
                let points = (0..list.len()).map(|at| list[(at + by) % list.len()]).collect();
                (Kind::Rolled, list, points, Some(by))
            }
            Renaming::Reversal(list) => {
                let points = list.iter().rev().copied().collect();
                (Kind::Reversed, list, points, None)
            }
            Renaming::Other(list, points) => (Kind::Renamed, list, points, None),
        };
        Self { kind, landmarks, points_of, by, spreads: None, should_be: None, odd }
    }

    /// Something about the whole specimen.
    pub(super) fn whole(kind: Kind, odd: f64) -> Self {
        Self { kind, landmarks: Vec::new(), points_of: Vec::new(), by: None, spreads: None, should_be: None, odd }
    }
}

/// What is wrong with a specimen, if its points in the frame are these.
pub(super) fn explain(learned: &Learned, specimen: usize, points: &Shape) -> Result<Vec<Mistake>> {
    let odd = learned.odd_landmarks(specimen);
    let judged = &learned.specimens[specimen];
    let present = points.iter().flatten().count() as f64;
    if odd.len() as f64 > MOST_ODD * present {
        return Ok(vec![Mistake::whole(Kind::Unlike, judged.oddest())]);
    }
    let (mut mistakes, renamed) = wrong_names(learned, specimen, points, &odd)?;
    let displaced: Vec<usize> = odd.into_iter().filter(|at| !renamed.contains(at)).collect();
    if displaced.len() > LISTED && displaced.len() as f64 > MOST_DISPLACED * present {
        mistakes.push(Mistake::whole(Kind::Unlike, judged.oddest()));
        return Ok(mistakes);
    }
    let expected = learned.expected_without(specimen, &displaced);
    for (&at, place) in displaced.iter().zip(expected) {
        let Some(point) = points[at] else { continue };
        let spreads = length(&difference(&point, &place)) / learned.spread(at);
        if spreads < LEAST_SPREADS && judged.odd[at] < SURE * learned.tail.threshold {
            continue;
        }
        mistakes.push(Mistake {
            landmarks: vec![at],
            spreads: Some(spreads),
            should_be: Some(place),
            ..Mistake::whole(Kind::Displaced, judged.odd[at])
        });
    }
    Ok(mistakes)
}

/// The mistakes in names, and the landmarks that they explain.
fn wrong_names(
    learned: &Learned,
    specimen: usize,
    points: &Shape,
    odd: &[usize],
) -> Result<(Vec<Mistake>, Vec<usize>)> {
    let mut group: Vec<usize> = odd.to_vec();
    group.extend(odd.iter().filter_map(|&at| suitor(learned, specimen, points, at)));
    group.sort_unstable();
    group.dedup();
    let expected = learned.expected_without(specimen, &group);
    let odd_at = |name: usize, point: usize| {
        let point = points[group[point]].unwrap_or_default();
        learned.oddness_of(group[name], &difference(&point, &expected[name]))
    };
    let costs = Array2::from_shape_fn((group.len(), group.len()), |(name, point)| odd_at(name, point).powi(2));
    let to = assign(&costs)?;
    let mut order: Vec<usize> = (0..points.len()).collect();
    let (mut explained, mut oddest) = (Vec::new(), 0.0_f64);
    for cycle in cycles(&to) {
        let squares = |to: &dyn Fn(usize) -> usize| cycle.iter().map(|&at| odd_at(at, to(at)).powi(2)).sum::<f64>();
        let mends = cycle.iter().all(|&at| odd_at(at, to[at]) <= learned.tail.threshold)
            && squares(&|at| to[at]) <= CLEARLY * squares(&|at| at);
        let before = cycle.iter().map(|&at| odd_at(at, at)).fold(0.0, f64::max);
        if mends && before > learned.tail.threshold {
            cycle.iter().for_each(|&at| order[group[at]] = group[to[at]]);
            explained.extend(cycle.iter().map(|&at| group[at]));
            oddest = oddest.max(before);
        }
    }
    let mistakes = renamings(&order).into_iter().map(|renaming| Mistake::named(renaming, oddest)).collect();
    Ok((mistakes, explained))
}

/// The landmark whose point would suit another best, if it would suit it.
fn suitor(learned: &Learned, specimen: usize, points: &Shape, landmark: usize) -> Option<usize> {
    let expected = learned.specimens[specimen].expected[landmark];
    let odd = |at: usize| Some((learned.oddness_of(landmark, &difference(&points[at]?, &expected)), at));
    let others = (0..points.len()).filter(|&at| at != landmark).filter_map(odd);
    let best = others.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 <= learned.tail.threshold).then_some(best.1)
}
