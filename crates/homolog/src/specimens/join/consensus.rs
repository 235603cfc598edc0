//! Groups of points that most hubs agree on.
//!
//! The signature of a point is the list of the points that it is matched to, one or none for each hub. Two points agree by the share of
//! hubs in which they have the same entry, among those in which either has one. A group starts with a point of a hub; each specimen gives
//! the free point that agrees best with the group's usual signature, if that is enough; groups with few points are dissolved.
//!
//! Votes: each specimen in turn gets the names for which the matchings tell most (`reliance`; linear assignment), until the names stay.
//! Groups that have no specimen in common become one if that is what the matchings tell.

use super::super::rounds::Labels;
use super::pairwise::Star;
use super::reliance::Reliance;
use crate::Result;
use crate::matching::{Compatibility, Linear, Matcher};
use ndarray::Array2;
use std::collections::BTreeMap;

/// How often the usual signature of a group is found again.
const ROUNDS: usize = 3;
/// How often each specimen's names are put to the vote.
const BALLOTS: usize = 10;

type Signature = Vec<Option<usize>>;

/// Groups of at least `fewest` points that agree so much with their group, formed around the points of the stars in this order.
pub(super) fn consensus(stars: &[&Star], least: f64, fewest: usize) -> Labels {
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
            let members = members(&signatures, &groups, &signatures[star.hub][point], least);
            if members.len() >= fewest {
                members.into_iter().for_each(|(s, point)| groups[s][point] = Some(next));
                next += 1;
            }
        }
    }
    groups
}

/// At most one free point of each specimen.
fn members(signatures: &[Vec<Signature>], groups: &Labels, start: &Signature, least: f64) -> Vec<(usize, usize)> {
    let mut centre = start.clone();
    let mut members = Vec::new();
    for _ in 0..ROUNDS {
        members.clear();
        for (s, own) in signatures.iter().enumerate() {
            let mut best = (least, None);
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
pub(super) fn voted(stars: &[Star], reliance: &Reliance, mut groups: Labels) -> Result<Labels> {
    for _ in 0..BALLOTS {
        let before = groups.clone();
        let count = groups.iter().flatten().flatten().max().map_or(0, |most| most + 1);
        for s in 0..groups.len() {
            let gains = gains(stars, reliance, &groups, s, count);
            let matching = Linear::default().solve(&Compatibility::linear(gains.clone()))?.matching;
            groups[s].fill(None);
            let chosen = matching.pairs().filter(|&(point, group)| gains[[point, group]] > 0.0);
            chosen.for_each(|(point, group)| groups[s][point] = Some(group));
        }
        merge(stars, reliance, &mut groups, count);
        if before == groups {
            break;
        }
    }
    Ok(groups)
}

/// For each point of a specimen and each group: what the matchings tell, or 0.
fn gains(stars: &[Star], reliance: &Reliance, groups: &Labels, s: usize, count: usize) -> Array2<f64> {
    let mut votes = Array2::<f64>::zeros((groups[s].len(), count));
    let mut unmatched = vec![0.0; count];
    let mut ask = |(at, of): (usize, usize), other: usize, pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let no = reliance.vote(at, of, false);
        groups[other].iter().flatten().for_each(|&group| unmatched[group] += no);
        for (own, point) in pairs {
            if let Some(group) = groups[other][point] {
                votes[[own, group]] += reliance.vote(at, of, true) - no;
            }
        }
    };
    for (at, star) in stars.iter().enumerate() {
        let matched =
            |of: usize| star.labels[of].iter().enumerate().filter_map(|(point, partner)| Some((point, (*partner)?)));
        if star.hub == s {
            let others = (0..groups.len()).filter(|&other| other != s);
            others.for_each(|other| ask((at, other), other, &mut matched(other).map(|(point, own)| (own, point))));
        } else {
            ask((at, s), star.hub, &mut matched(s));
        }
    }
    Array2::from_shape_fn(votes.dim(), |(point, group)| (votes[[point, group]] + unmatched[group]).max(0.0))
}

/// Groups without a specimen in common become one if the matchings tell so, those for which they tell most first.
fn merge(stars: &[Star], reliance: &Reliance, groups: &mut Labels, count: usize) {
    let mut told = Array2::<f64>::zeros((count, count));
    let mut meet = Array2::<bool>::default((count, count));
    for own in groups.iter() {
        own.iter().flatten().for_each(|&a| own.iter().flatten().for_each(|&b| meet[[a, b]] = true));
    }
    for (at, star) in stars.iter().enumerate() {
        for s in (0..groups.len()).filter(|&s| s != star.hub) {
            let no = reliance.vote(at, s, false);
            for (&partner, &label) in star.labels[s].iter().zip(&groups[s]) {
                let Some(a) = label else { continue };
                groups[star.hub].iter().flatten().for_each(|&b| told[[a.min(b), a.max(b)]] += no);
                if let Some(b) = partner.and_then(|partner| groups[star.hub][partner]) {
                    told[[a.min(b), a.max(b)]] += reliance.vote(at, s, true) - no;
                }
            }
        }
    }
    let mut found: Vec<(usize, usize)> = (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .filter(|&(a, b)| told[[a, b]] > 0.0 && !meet[[a, b]])
        .collect();
    found.sort_by(|&x, &y| told[[y.0, y.1]].total_cmp(&told[[x.0, x.1]]).then(x.cmp(&y)));
    // Each group takes part once per round.
    let mut is_taken = vec![false; count];
    for (a, b) in found {
        if !is_taken[a] && !is_taken[b] {
            (is_taken[a], is_taken[b]) = (true, true);
            groups.iter_mut().flatten().for_each(|label| {
                if *label == Some(b) {
                    *label = Some(a);
                }
            });
        }
    }
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
            low: 0.0,
        };
        // The truth: the points of the second specimen are rolled by one, the third is as the first.
        let right = star(0, [[0, 1, 2], [1, 2, 0], [0, 1, 2]]);
        let also = star(1, [[2, 0, 1], [0, 1, 2], [2, 0, 1]]);
        let wrong = star(2, [[0, 1, 2], [2, 1, 0], [0, 1, 2]]);
        let stars = [wrong, right, also];
        let groups = consensus(&stars.iter().collect::<Vec<_>>(), 0.4, 2);
        let is_true = |groups: &Labels| {
            (0..3).all(|point| groups[0][point] == groups[2][point] && groups[1][point] == groups[0][(point + 1) % 3])
        };
        assert!(is_true(&groups));
        // Of the 18 pairwise matches two contradict the truth.
        assert_eq!(agreement_with(&stars, &groups), 16.0 / 18.0);
        // Votes mend wrong names, and leave right ones.
        let reliance = Reliance::of(&stars);
        assert_eq!(voted(&stars, &reliance, groups.clone()).unwrap(), groups);
        let mut spoiled = groups.clone();
        spoiled[0].swap(0, 1);
        assert!(reliance.evidence(&stars, &spoiled) < reliance.evidence(&stars, &groups));
        assert_eq!(voted(&stars, &reliance, spoiled).unwrap(), groups);
    }

    #[test]
    fn nothing_matched_is_no_group() {
        let star = Star { hub: 0, labels: vec![vec![Some(0)], vec![None]], score: 0.0, low: 0.0 };
        assert_eq!(consensus(&[&star], 0.4, 2), [[None], [None]]);
        assert!(consensus(&[], 0.4, 2).is_empty());
    }
}
