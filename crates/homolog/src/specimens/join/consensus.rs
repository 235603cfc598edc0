//! Groups of points that most hubs agree on.
//!
//! The signature of a point is the list of the points that it is matched to, one or none for each hub. Two points agree by the share of
//! hubs in which they have the same entry, among those in which either has one. A group starts with a point of a hub; each specimen gives
//! the free point that agrees best with the group's usual signature, if that is at least 0.4; groups with few points are dissolved.
//!
//! Votes: a matching of a point with a point of a group is a vote for that group. Each specimen in turn gets the names with most votes (linear
//! assignment), less 0.4 of those there could be, until the names stay.

use super::super::rounds::Labels;
use super::pairwise::Star;
use crate::Result;
use crate::matching::{Compatibility, Linear, Matcher};
use ndarray::Array2;
use std::collections::BTreeMap;

/// The least agreement of a point with its group.
const AGREEMENT: f64 = 0.4;
/// How often the usual signature of a group is found again.
const ROUNDS: usize = 3;
/// How often each specimen's names are put to the vote.
const BALLOTS: usize = 10;

type Signature = Vec<Option<usize>>;

/// Groups of at least `fewest` points, formed around the points of the stars in this order.
pub(super) fn consensus(stars: &[&Star], fewest: usize) -> Labels {
    let Some(first) = stars.first() else { return Labels::new() };
    let signature = |s: usize, point: usize| stars.iter().map(|star| star.labels[s][point]).collect();
    let signatures: Vec<Vec<Signature>> = first
        .labels
        .iter()
        .enumerate()
        .map(|(s, points)| (0..points.len()).map(|point| signature(s, point)).collect())
        .collect();
    let mut groups: Labels = first.labels.iter().map(|points| vec![None; points.len()]).collect();
    let mut next = 0;
    for star in stars {
        for point in 0..groups[star.hub].len() {
            if groups[star.hub][point].is_some() {
                continue;
            }
            let members = members(&signatures, &groups, &signatures[star.hub][point]);
            if members.len() >= fewest {
                members.into_iter().for_each(|(s, point)| groups[s][point] = Some(next));
                next += 1;
            }
        }
    }
    groups
}

/// At most one free point of each specimen.
fn members(signatures: &[Vec<Signature>], groups: &Labels, start: &Signature) -> Vec<(usize, usize)> {
    let mut centre = start.clone();
    let mut members = Vec::new();
    for _ in 0..ROUNDS {
        members.clear();
        for (s, own) in signatures.iter().enumerate() {
            let mut best = (AGREEMENT, None);
            for (point, signature) in own.iter().enumerate().filter(|(point, _)| groups[s][*point].is_none()) {
                let share = agreement(&centre, signature);
                if share > best.0 || (share >= best.0 && best.1.is_none()) {
                    best = (share, Some(point));
                }
            }
            members.extend(best.1.map(|point| (s, point)));
        }
        for (hub, entry) in centre.iter_mut().enumerate() {
            let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
            members.iter().for_each(|&(s, point)| *counts.entry(signatures[s][point][hub]).or_insert(0) += 1);
            if let Some((&usual, _)) = counts.iter().max_by_key(|&(_, count)| count) {
                *entry = usual;
            }
        }
    }
    members
}

fn agreement(one: &Signature, other: &Signature) -> f64 {
    let pairs = || one.iter().zip(other);
    let same = pairs().filter(|(a, b)| a.is_some() && a == b).count();
    let any = pairs().filter(|(a, b)| a.is_some() || b.is_some()).count();
    same as f64 / any.max(1) as f64
}

/// Groups after each specimen's names were put to the vote.
pub(super) fn voted(stars: &[&Star], mut groups: Labels) -> Result<Labels> {
    let count = groups.iter().flatten().flatten().max().map_or(0, |most| most + 1);
    for _ in 0..BALLOTS {
        let before = groups.clone();
        for s in 0..groups.len() {
            let gains = gains(stars, &groups, s, count);
            let matching = Linear::default().solve(&Compatibility::linear(gains.clone()))?.matching;
            groups[s].fill(None);
            let chosen = matching.pairs().filter(|&(point, group)| gains[[point, group]] > 0.0);
            chosen.for_each(|(point, group)| groups[s][point] = Some(group));
        }
        if before == groups {
            break;
        }
    }
    Ok(groups)
}

/// For each point of a specimen and each group: the votes above the least agreement, or 0.
fn gains(stars: &[&Star], groups: &Labels, s: usize, count: usize) -> Array2<f64> {
    let mut votes = Array2::<f64>::zeros((groups[s].len(), count));
    let mut possible = vec![0.0; count];
    let mut ask = |other: usize, pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        groups[other].iter().flatten().for_each(|&group| possible[group] += 1.0);
        for (own, point) in pairs {
            if let Some(group) = groups[other][point] {
                votes[[own, group]] += 1.0;
            }
        }
    };
    for star in stars {
        let matched =
            |of: usize| star.labels[of].iter().enumerate().filter_map(|(point, partner)| Some((point, (*partner)?)));
        if star.hub == s {
            let others = (0..groups.len()).filter(|&other| other != s);
            others.for_each(|other| ask(other, &mut matched(other).map(|(point, own)| (own, point))));
        } else {
            ask(star.hub, &mut matched(s));
        }
    }
    Array2::from_shape_fn(votes.dim(), |(point, group)| (votes[[point, group]] - AGREEMENT * possible[group]).max(0.0))
}

/// How far matches by name and pairwise matches agree: 2 · both / (by name + pairwise).
pub(super) fn agreement_with(stars: &[Star], labels: &Labels) -> f64 {
    let (mut both, mut all) = (0_u64, 0_u64);
    for star in stars {
        let place: BTreeMap<usize, usize> =
            labels[star.hub].iter().enumerate().filter_map(|(point, label)| Some(((*label)?, point))).collect();
        for (s, own) in star.labels.iter().enumerate().filter(|(s, _)| *s != star.hub) {
            for (partner, label) in own.iter().zip(&labels[s]) {
                let by_name = label.and_then(|label| place.get(&label));
                all += u64::from(partner.is_some()) + u64::from(by_name.is_some());
                both += u64::from(partner.is_some() && partner.as_ref() == by_name);
            }
        }
    }
    2.0 * both as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three specimens of three points, listed in other orders; one matching is wrong.
    #[test]
    fn a_wrong_matching_is_outvoted() {
        let star = |hub: usize, rows: [[usize; 3]; 3]| Star {
            hub,
            labels: rows.map(|row| row.map(Some).to_vec()).to_vec(),
            score: 0.0,
        };
        // The truth: the points of the second specimen are rolled by one, the third is as the first.
        let right = star(0, [[0, 1, 2], [1, 2, 0], [0, 1, 2]]);
        let also = star(1, [[2, 0, 1], [0, 1, 2], [2, 0, 1]]);
        let wrong = star(2, [[0, 1, 2], [2, 1, 0], [0, 1, 2]]);
        let groups = consensus(&[&wrong, &right, &also], 2);
        let is_true = |groups: &Labels| {
            (0..3).all(|point| groups[0][point] == groups[2][point] && groups[1][point] == groups[0][(point + 1) % 3])
        };
        assert!(is_true(&groups));
        // Of the 18 pairwise matches two contradict the truth.
        assert_eq!(agreement_with(&[wrong.clone(), right.clone(), also.clone()], &groups), 16.0 / 18.0);
        // Votes mend wrong names, and leave right ones.
        assert_eq!(voted(&[&wrong, &right, &also], groups.clone()).unwrap(), groups);
        let mut spoiled = groups.clone();
        spoiled[0].swap(0, 1);
        assert_eq!(voted(&[&wrong, &right, &also], spoiled).unwrap(), groups);
    }

    #[test]
    fn nothing_matched_is_no_group() {
        let star = Star { hub: 0, labels: vec![vec![Some(0)], vec![None]], score: 0.0 };
        assert_eq!(consensus(&[&star], 2), [[None], [None]]);
        assert!(consensus(&[], 2).is_empty());
    }
}
