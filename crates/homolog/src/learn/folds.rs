//! Cross-validation by specimen: which pairs are learned from and which are held out, with no specimen on both sides.
//!
//! Pairs are edges between specimens. If they fall into several components (pairs that share no specimen), whole components are held
//! out together and every pair is held out once. If all are connected, the specimens are cut into blocks: pairs within a block are
//! held out, pairs with no end in it are learned from, and pairs across are left out. Among all these ways, the one is chosen that holds
//! out most pairs while learning from most. If there are too few pairs for that (a template matched to every specimen, a triangle), every
//! pair with an end in the block is held out; what is held out is new, though its partner may have been learned from.

use std::collections::BTreeMap;

/// Positions of the pairs that are learned from, and of those that are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    pub(super) learned: Vec<usize>,
    pub(super) held_out: Vec<usize>,
}

/// Blocks with no specimen on both sides have to hold out this many pairs to be of use.
const FEW: usize = 4;

/// At most `most` folds of pairs of specimens; none if there is nothing to hold out.
pub(super) fn by_specimen(pairs: &[[usize; 2]], most: usize) -> Vec<Fold> {
    let mut number = BTreeMap::new();
    for &specimen in pairs.iter().flatten() {
        let next = number.len();
        number.entry(specimen).or_insert(next);
    }
    let pairs: Vec<[usize; 2]> = pairs.iter().map(|ends| ends.map(|specimen| number[&specimen])).collect();
    let count = number.len();
    let ways = std::iter::once(component_groups(&pairs, count, most)).chain((2..=most).map(|k| blocks(count, k)));
    let strict = ways.map(|groups| folds(&pairs, &groups, true));
    let worth = |folds: &[Fold]| {
        let held_out: usize = folds.iter().map(|fold| fold.held_out.len()).sum();
        let learned: usize = folds.iter().map(|fold| fold.learned.len()).sum();
        if held_out < FEW.min(pairs.len()) { 0 } else { held_out * learned / folds.len().max(1) }
    };
    let mut best: Vec<Fold> = Vec::new();
    for folds in strict {
        if worth(&folds) > worth(&best) {
            best = folds;
        }
    }
    if best.is_empty() && most >= 2 { folds(&pairs, &blocks(count, most.min(count)), false) } else { best }
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
fn folds(pairs: &[[usize; 2]], group: &[usize], strict: bool) -> Vec<Fold> {
    let groups = group.iter().max().map_or(0, |&most| most + 1);
    let fold = |g: usize| {
        let ends_inside = |&[a, b]: &[usize; 2]| usize::from(group[a] == g) + usize::from(group[b] == g);
        let pick = |wanted: &[usize]| (0..pairs.len()).filter(|&n| wanted.contains(&ends_inside(&pairs[n]))).collect();
        Fold { learned: pick(&[0]), held_out: pick(if strict { &[2] } else { &[1, 2] }) }
    };
    (0..groups).map(fold).filter(|fold| !fold.learned.is_empty() && !fold.held_out.is_empty()).collect()
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
    fn no_specimen_is_on_both_sides_wherever_that_can_be() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..500 {
            let count = rng.random_range(8..30);
            let pairs: Vec<[usize; 2]> = (0..rng.random_range(6..60))
                .map(|_| {
                    let a = rng.random_range(0..count);
                    [a, (a + rng.random_range(1..count)) % count]
                })
                .collect();
            let folds = by_specimen(&pairs, 5);
            assert!(!folds.is_empty(), "round {round}");
            let strict = folds
                .iter()
                .all(|fold| specimens(&pairs, &fold.learned).is_disjoint(&specimens(&pairs, &fold.held_out)));
            let held_out: usize = folds.iter().map(|fold| fold.held_out.len()).sum();
            // If it cannot be strict, what is held out is still new.
            assert!(strict || held_out > 0, "round {round}");
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
    fn all_pairs_of_ten_specimens_are_cut_into_blocks_that_share_none() {
        let pairs: Vec<[usize; 2]> = (0..10).flat_map(|a| (a + 1..10).map(move |b| [a, b])).collect();
        let folds = by_specimen(&pairs, 5);
        let disjoint = |fold: &Fold| specimens(&pairs, &fold.learned).is_disjoint(&specimens(&pairs, &fold.held_out));
        assert!(folds.iter().all(disjoint));
        assert!(folds.iter().map(|fold| fold.held_out.len()).sum::<usize>() >= 10);
    }

    #[test]
    fn a_template_is_matched_to_specimens_that_were_not_learned_from_and_one_pair_cannot_be_cut() {
        let star: Vec<[usize; 2]> = (1..7).map(|n| [0, n]).collect();
        let folds = by_specimen(&star, 3);
        assert!(folds.len() >= 2 && folds.iter().all(|fold| !fold.learned.is_empty()));
        assert_eq!(by_specimen(&[[0, 1]], 5), []);
        assert_eq!(by_specimen(&[], 5), []);
        assert_eq!(by_specimen(&star, 1), []);
    }
}
