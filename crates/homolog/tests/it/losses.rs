//! Laws of losses: zero at the truth, the formula for every matching, the range, unlabelled nodes, and the same answer whether the
//! loss is computed or maximised along with the score.

use crate::made;

use homolog::Error;
use homolog::graph::{Graph, Pair};
use homolog::loss::{Endpoint, Hamming, Loss, LossKind};
use homolog::matching::{BruteForce, Compatibility, Constraint, Matcher, Matching};
use made::{close, matching, numbers, rng};
use ndarray::{Array1, array};
use rand::RngExt;
use std::sync::Arc;

fn pair(seed: u64, n: usize, m: usize) -> Pair {
    let rng = &mut rng(seed);
    let mut make = |count| {
        let graph = Graph::from_points(numbers(rng, count, 2, 50.0, 50.0)).unwrap();
        Arc::new(graph.with_image_size(100.0, 80.0).unwrap())
    };
    Pair::new(make(n), make(m))
}

/// The loss of a matching by its definition, node by node.
fn by_definition(kind: &LossKind, pair: &Pair, truth: &Matching, y: &Matching) -> f64 {
    let points = pair.right.points().unwrap();
    let mut losses = Vec::new();
    for i in 0..pair.left.node_count() {
        let (chosen, right) = (y.right_of(i), truth.right_of(i));
        match kind {
            LossKind::Hamming(settings) if right.is_some() || settings.unmatched_is_label => {
                losses.push(f64::from(u8::from(chosen != right)));
            }
            LossKind::Endpoint(settings) => {
                let Some(right) = right else { continue };
                losses.push(match chosen {
                    None => settings.unmatched,
                    Some(chosen) => {
                        let away = &points.row(chosen) - &points.row(right);
                        away.dot(&away).sqrt() / settings.sigma.unwrap_or(100.0)
                    }
                });
            }
            _ => {}
        }
    }
    if losses.is_empty() { 0.0 } else { losses.iter().sum::<f64>() / losses.len() as f64 }
}

fn kinds() -> Vec<LossKind> {
    let mut kinds = LossKind::all();
    kinds.push(LossKind::Hamming(Hamming { unmatched_is_label: true }));
    kinds.push(LossKind::Endpoint(Endpoint { sigma: Some(3.0), unmatched: 0.25 }));
    kinds
}

#[test]
fn terms_are_the_formula() {
    for seed in 0..200 {
        let rng = &mut rng(seed);
        let (n, m) = (rng.random_range(0..7), rng.random_range(0..7));
        let pair = pair(seed, n, m);
        for kind in kinds() {
            for constraint in [Constraint::OneToOne, Constraint::ManyToOne] {
                let truth = matching(rng, n, m, constraint);
                let terms = kind.loss().terms(&pair, &truth).unwrap();
                let at_truth = terms.loss(&truth).unwrap();
                assert!(close(at_truth, 0.0, terms.constant), "{kind:?}: {at_truth} at the truth");
                let y = matching(rng, n, m, constraint);
                let loss = terms.loss(&y).unwrap();
                assert!(close(loss, by_definition(&kind, &pair, &truth, &y), 10.0), "{kind:?}, seed {seed}");
                assert!(loss >= -1e-12);
                if let LossKind::Hamming(_) = kind {
                    assert!(loss <= 1.0 + 1e-12);
                }
                let empty = terms.loss(&Matching::empty(n, m)).unwrap();
                assert_eq!(empty, terms.constant);
            }
        }
    }
}

#[test]
fn a_node_without_a_label_contributes_nothing() {
    let pair = pair(1, 4, 5);
    let truth = Matching::new(vec![Some(0), None, Some(2), None], 5, Constraint::OneToOne).unwrap();
    for kind in LossKind::all() {
        let terms = kind.loss().terms(&pair, &truth).unwrap();
        for row in [1, 3] {
            assert!(terms.cells.row(row).iter().all(|&cell| cell == 0.0));
        }
    }
    // Nothing labelled: no loss at all.
    for kind in LossKind::all() {
        let terms = kind.loss().terms(&pair, &Matching::empty(4, 5)).unwrap();
        assert_eq!((terms.constant, terms.cells.sum()), (0.0, 0.0));
    }
}

#[test]
fn hamming_counts_what_is_wrong() {
    let pair = pair(2, 4, 4);
    let truth = Matching::identity(4);
    let terms = Hamming::default().terms(&pair, &truth).unwrap();
    let half = Matching::new(vec![Some(1), Some(0), Some(2), Some(3)], 4, Constraint::OneToOne).unwrap();
    assert_eq!(terms.loss(&half).unwrap(), 0.5);
    let partial = Matching::new(vec![None, Some(1), Some(2), Some(3)], 4, Constraint::OneToOne).unwrap();
    assert_eq!(terms.loss(&partial).unwrap(), 0.25);
}

#[test]
fn endpoint_is_the_distance_in_the_right_image() {
    let right = Graph::from_points(array![[0.0, 0.0], [30.0, 40.0], [60.0, 80.0]]).unwrap();
    let right = Arc::new(right.with_image_size(200.0, 100.0).unwrap());
    let pair = Pair::new(Arc::new(Graph::new(2)), right);
    let truth = Matching::new(vec![Some(0), Some(1)], 3, Constraint::OneToOne).unwrap();
    let found = Matching::new(vec![Some(1), Some(2)], 3, Constraint::OneToOne).unwrap();
    assert_eq!(Endpoint::default().terms(&pair, &truth).unwrap().loss(&found).unwrap(), 0.25);
    let none = Matching::empty(2, 3);
    assert_eq!(Endpoint::default().terms(&pair, &truth).unwrap().loss(&none).unwrap(), 1.0);
}

#[test]
fn loss_cells_make_the_search_for_the_violator_a_matching_problem() {
    // max_y loss(y) + score(y) by trying every matching = the best of the problem with the cells added, plus the constant.
    for seed in 0..40 {
        let rng = &mut rng(100 + seed);
        let (n, m) = (3, 4);
        let pair = pair(seed, n, m);
        let truth = matching(rng, n, m, Constraint::OneToOne);
        let unmatched = Array1::from_elem(n, rng.random_range(-0.5..0.5));
        let problem = Compatibility::linear(numbers(rng, n, m, 1.0, 0.0)).with_unmatched(unmatched);
        for kind in kinds() {
            let terms = kind.loss().terms(&pair, &truth).unwrap();
            let mut augmented = problem.clone();
            augmented.node += &terms.cells;
            let answer = BruteForce::default().solve(&augmented).unwrap();
            let mut best = f64::NEG_INFINITY;
            for code in 0..5_usize.pow(3) {
                let map = (0..3).map(|i| Some(code / 5_usize.pow(i) % 5).filter(|&k| k < m)).collect();
                let Ok(y) = Matching::new(map, m, Constraint::OneToOne) else { continue };
                best = best.max(by_definition(&kind, &pair, &truth, &y) + problem.score(&y).unwrap());
            }
            assert!(close(answer.score + terms.constant, best, 10.0), "{kind:?}, seed {seed}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    let pair = pair(3, 2, 3);
    let truth = Matching::empty(2, 3);
    let size = Hamming::default().terms(&pair, &Matching::empty(2, 2)).unwrap_err();
    assert!(matches!(size, Error::Size { what: "right nodes of the matching", expected: 3, found: 2 }));
    let terms = Hamming::default().terms(&pair, &truth).unwrap();
    assert!(matches!(terms.loss(&Matching::empty(3, 3)), Err(Error::Size { expected: 2, found: 3, .. })));
    for (sigma, unmatched) in [(Some(0.0), 1.0), (Some(f64::NAN), 1.0), (None, -1.0), (None, f64::INFINITY)] {
        let loss = Endpoint { sigma, unmatched };
        assert!(matches!(loss.terms(&pair, &truth), Err(Error::BadSetting { .. })), "{loss:?}");
    }
    let bare = Pair::new(Arc::new(Graph::new(2)), Arc::new(Graph::new(3)));
    assert!(matches!(Endpoint::default().terms(&bare, &truth), Err(Error::Missing { what: "image size", .. })));
    let given = Endpoint { sigma: Some(1.0), unmatched: 1.0 };
    assert!(matches!(given.terms(&bare, &truth), Err(Error::Missing { what: "points", .. })));
}

#[test]
fn losses_survive_a_settings_file() {
    for kind in kinds() {
        let text = serde_json::to_string(&kind).unwrap();
        assert_eq!(serde_json::from_str::<LossKind>(&text).unwrap(), kind);
        assert!(text.contains(kind.name()));
    }
    assert!(serde_json::from_str::<LossKind>(r#"{"name":"hamming","x":1}"#).is_err());
}
