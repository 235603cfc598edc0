//! Which pairs are made of specimens, and what they are for.

use homolog::data::Split;
use homolog::data::dataset::{DataSet, NamedGraph, Pairing, SplitBy};
use homolog::graph::Graph;
use std::collections::BTreeSet;
use std::sync::Arc;

fn specimens(count: usize) -> Vec<NamedGraph> {
    let graph = || Arc::new(Graph::new(1).with_names(vec!["tip".into()]).unwrap());
    (0..count).map(|index| NamedGraph { id: index.to_string(), graph: graph(), image: None }).collect()
}

fn pairs(count: usize, pairing: Pairing, split: SplitBy) -> Vec<(usize, usize, Option<Split>)> {
    let data = DataSet::paired(specimens(count), pairing, split).unwrap();
    data.pairs().iter().map(|pair| (pair.left, pair.right, pair.split)).collect()
}

#[test]
fn random_pairs_are_different_and_always_the_same() {
    let draw = |seed| pairs(108, Pairing::Random { count: 500, seed }, SplitBy::None);
    let drawn = draw(0);
    assert_eq!(drawn.len(), 500);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 500);
    assert!(drawn.iter().all(|&(left, right, _)| left < right && right < 108));
    assert!(drawn.is_sorted() && draw(0) == drawn && draw(1) != drawn);
    // Every specimen is in some pair, and no more can be drawn than there are.
    assert_eq!(drawn.iter().flat_map(|&(left, right, _)| [left, right]).collect::<BTreeSet<_>>().len(), 108);
    assert_eq!(pairs(4, Pairing::Random { count: 500, seed: 0 }, SplitBy::None), pairs(4, Pairing::All, SplitBy::None));
}

#[test]
fn no_specimen_is_on_two_sides() {
    for pairing in [Pairing::All, Pairing::Random { count: 40, seed: 3 }, Pairing::Baseline(3), Pairing::Template(5)] {
        let made = pairs(20, pairing, SplitBy::Specimens);
        assert!(!made.is_empty());
        let of = |split: Split| -> BTreeSet<usize> {
            let own = made.iter().filter(|&&(_, _, other)| other == Some(split));
            own.flat_map(|&(left, right, _)| [left, right])
                .filter(|&at| pairing != Pairing::Template(5) || at != 5)
                .collect()
        };
        let sides = Split::ALL.map(of);
        assert!(made.iter().all(|pair| pair.2.is_some()));
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            assert!(sides[one].is_disjoint(&sides[other]), "{pairing:?}");
        }
    }
    assert_eq!(pairs(20, Pairing::Random { count: 40, seed: 3 }, SplitBy::Specimens).len(), 40);
}

#[test]
fn a_template_is_the_left_graph_of_every_pair() {
    assert_eq!(pairs(3, Pairing::Template(1), SplitBy::None), [(1, 0, None), (1, 2, None)]);
    assert!(DataSet::paired(specimens(3), Pairing::Template(3), SplitBy::None).is_err());
}
