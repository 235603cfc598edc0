//! Cross-validation by specimen: which pairs are learned from and which are held out.
//!
//! A new specimen is what users match, so specimens are held out: one against all the others, or a block of them if there are more than
//! there are folds. Every pair with an end in the block is new to weights that were learned from the pairs with no end in it. A pair across two
//! blocks could be held out with either; it is held out once, with the one that has fewer. So a pair is measured once (not at all if no fold without it has anything to learn from), and weights
//! that learned nothing are measured on the same pairs as weights that did. If pairs fall into several components (they share no
//! specimen), whole components form the blocks, and nothing is lost to learning.

use std::collections::BTreeMap;

/// Positions of the pairs that are learned from, and of those that are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    pub(super) learned: Vec<usize>,
    pub(super) held_out: Vec<usize>,
}

/// No more pairs than this are held out, evenly spaced: specimens differ more than the pairs of one.
const MOST_HELD_OUT: usize = 400;
/// Nor are more than this learned from in a fold: what is chosen hardly changes, and a thousand pairs are learned from in seconds.
const MOST_LEARNED: usize = 400;

/// At most `most` folds of pairs of specimens; none if there is nothing to hold out.
pub(super) fn by_specimen(pairs: &[[usize; 2]], most: usize) -> Vec<Fold> {
    let mut number = BTreeMap::new();
    for &specimen in pairs.iter().flatten() {
        let next = number.len();
        number.entry(specimen).or_insert(next);
    }
    let pairs: Vec<[usize; 2]> = pairs.iter().map(|ends| ends.map(|specimen| number[&specimen])).collect();
    let count = number.len();
    if most < 2 {
        return Vec::new();
    }
    let worth = |folds: &[Fold]| {
        let held_out: usize = folds.iter().map(|fold| fold.held_out.len()).sum();
        let learned: usize = folds.iter().map(|fold| fold.learned.len()).sum();
        held_out * learned / folds.len().max(1)
    };
    let apart = folds(&pairs, &component_groups(&pairs, count, most));
    let blocks = folds(&pairs, &blocks(count, most.min(count)));
    let mut best = if worth(&apart) >= worth(&blocks) { apart } else { blocks };
    let held_out: usize = best.iter().map(|fold| fold.held_out.len()).sum();
    let step = held_out.div_ceil(MOST_HELD_OUT).max(1);
    for fold in &mut best {
        fold.held_out = fold.held_out.iter().copied().step_by(step).collect();
        fold.learned = evenly(&fold.learned, MOST_LEARNED);
    }
    best
}

/// At most this many of a list, evenly spaced.
fn evenly(list: &[usize], most: usize) -> Vec<usize> {
    let count = list.len().min(most);
    (0..count).map(|at| list[at * list.len() / count]).collect()
}

/// The group of each specimen: components are dealt out to groups, the largest first, each to the group with the fewest pairs.
fn component_groups(pairs: &[[usize; 2]], count: usize, most: usize) -> Vec<usize> {
    let mut component: Vec<usize> = (0..count).collect();
    // Few pairs, short chains: going over them until nothing changes is fast enough.
    loop {
        let mut changed = false;
        for &[a, b] in pairs {
            let least = component[a].min(component[b]);
            changed |= component[a] != least || component[b] != least;
            component[a] = least;
            component[b] = least;
        }
        if !changed {
            break;
        }
    }
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for &[a, _] in pairs {
        *sizes.entry(component[a]).or_default() += 1;
    }
    let mut order: Vec<(usize, usize)> = sizes.into_iter().collect();
    order.sort_by_key(|&(first, size)| (std::cmp::Reverse(size), first));
    let mut loads = vec![0; most.min(order.len()).max(1)];
    let mut group_of = BTreeMap::new();
    for (first, size) in order {
        let group = (0..loads.len()).min_by_key(|&group| loads[group]).unwrap_or(0);
        loads[group] += size;
        group_of.insert(first, group);
    }
    component.iter().map(|first| group_of.get(first).copied().unwrap_or(0)).collect()
}

/// The group of each specimen: contiguous blocks.
fn blocks(count: usize, k: usize) -> Vec<usize> {
    (0..count).map(|specimen| specimen * k / count.max(1)).collect()
}

/// One fold for each group that leaves something on both sides.
fn folds(pairs: &[[usize; 2]], group: &[usize]) -> Vec<Fold> {
    let groups = group.iter().max().map_or(0, |&most| most + 1);
    let ends_outside = |g: usize| move |&[a, b]: &[usize; 2]| group[a] != g && group[b] != g;
    let learned = |g: usize| (0..pairs.len()).filter(|&n| ends_outside(g)(&pairs[n])).collect();
    let mut folds: Vec<Fold> = (0..groups).map(|g| Fold { learned: learned(g), held_out: Vec::new() }).collect();
    for (n, &[a, b]) in pairs.iter().enumerate() {
        let open = [group[a], group[b]].into_iter().filter(|&g| !folds[g].learned.is_empty());
        if let Some(fold) = open.min_by_key(|&g| folds[g].held_out.len()) {
            folds[fold].held_out.push(n);
        }
    }
    folds.retain(|fold| !fold.held_out.is_empty());
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeSet;

    fn specimens(pairs: &[[usize; 2]], positions: &[usize]) -> BTreeSet<usize> {
        positions.iter().flat_map(|&n| pairs[n]).collect()
    }

    #[test]
    fn every_pair_is_held_out_at_most_once_and_is_new_to_what_was_learned() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..500 {
            let count = rng.random_range(3..30);
            let pairs: Vec<[usize; 2]> = (0..rng.random_range(4..60))
                .map(|_| {
                    let a = rng.random_range(0..count);
                    [a, (a + rng.random_range(1..count)) % count]
                })
                .collect();
            let folds = by_specimen(&pairs, 5);
            let mut held_out: Vec<usize> = folds.iter().flat_map(|fold| fold.held_out.clone()).collect();
            held_out.sort_unstable();
            assert!(held_out.windows(2).all(|two| two[0] < two[1]), "round {round}");
            // Nearly all are held out unless few specimens are in all of them.
            let is_few = count <= 10 || pairs.len() < 12;
            assert!(is_few || 10 * held_out.len() >= 9 * pairs.len(), "round {round}: {held_out:?} of {pairs:?}");
            for fold in &folds {
                assert!(!fold.learned.is_empty() && fold.learned.iter().all(|n| !fold.held_out.contains(n)));
                let learned = specimens(&pairs, &fold.learned);
                assert!(fold.held_out.iter().all(|&n| pairs[n].iter().any(|end| !learned.contains(end))));
            }
        }
    }

    #[test]
    fn pairs_that_share_nothing_are_each_held_out_once() {
        let pairs: Vec<[usize; 2]> = (0..7).map(|n| [2 * n, 2 * n + 1]).collect();
        let folds = by_specimen(&pairs, 5);
        let mut held_out: Vec<usize> = folds.iter().flat_map(|fold| fold.held_out.clone()).collect();
        held_out.sort_unstable();
        assert_eq!((folds.len(), held_out), (5, (0..7).collect::<Vec<_>>()));
    }

    #[test]
    fn all_pairs_of_few_specimens_are_held_out_one_specimen_at_a_time() {
        for count in [3, 4, 5] {
            let pairs: Vec<[usize; 2]> = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect();
            let folds = by_specimen(&pairs, 5);
            assert_eq!(folds.len(), count);
            assert_eq!(folds.iter().map(|fold| fold.held_out.len()).sum::<usize>(), pairs.len());
            assert!(folds.iter().all(|fold| specimens(&pairs, &fold.learned).len() == count - 1));
        }
        let pairs: Vec<[usize; 2]> = (0..60).flat_map(|a| (a + 1..60).map(move |b| [a, b])).collect();
        let held_out: usize = by_specimen(&pairs, 5).iter().map(|fold| fold.held_out.len()).sum();
        assert!((300..=MOST_HELD_OUT + 5).contains(&held_out), "{held_out}");
    }

    #[test]
    fn a_template_is_matched_to_specimens_that_were_not_learned_from_and_one_pair_cannot_be_cut() {
        let star: Vec<[usize; 2]> = (1..7).map(|n| [0, n]).collect();
        let folds = by_specimen(&star, 3);
        assert!(folds.len() >= 2 && folds.iter().all(|fold| !fold.learned.is_empty()));
        assert!(folds.iter().map(|fold| fold.held_out.len()).sum::<usize>() >= 4);
        assert_eq!(by_specimen(&[[0, 1]], 5), []);
        assert_eq!(by_specimen(&[], 5), []);
        assert_eq!(by_specimen(&star, 1), []);
    }
}
