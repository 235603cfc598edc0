//! The laws of likelihood learning: its value against the definition over all matchings, its gradient against differences,
//! convexity, the certificate, rules, importance, scale, interrupts, and the same bytes on any number of threads.

use crate::made;

use homolog::features::{FeatureMap, Instance};
use homolog::graph::Pair;
use homolog::learn::{Example, Likelihood};
use homolog::loss::Hamming;
use homolog::matching::{Constraint, Matching};
use homolog::optimize::{Regularization, StopReason, WeightRule};
use homolog::{Control, Error};
use made::{close, feature_map, graph, matching, rng, weights};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A random example of this map with n to m nodes, sometimes with a partial truth.
fn example(rng: &mut ChaCha8Rng, map: &FeatureMap, n: usize, m: usize) -> Example {
    let mut pair = Pair::new(Arc::new(graph(rng, n)), Arc::new(graph(rng, m)));
    pair.features = (!map.pair.is_empty()).then(|| made::pair_features(n, m));
    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
    let truth = matching(rng, n, m, map.constraint);
    let instance = map.instance_with(&left, &right, pair.features.as_ref()).unwrap();
    Example::new(instance, &pair, truth, &Hamming::default(), 1).unwrap()
}

/// Examples of one random feature map of the wanted kind that has any weights.
fn examples(rng: &mut ChaCha8Rng, edges: bool, count: usize, nodes: usize) -> Vec<Example> {
    loop {
        let map = feature_map(rng);
        if map.dim() > 0 && map.edge.is_empty() != edges {
            return (0..count).map(|_| example(rng, &map, nodes, nodes)).collect();
        }
    }
}

fn risk(examples: &[Example], weights: &[f64]) -> (f64, Vec<f64>) {
    Likelihood::default().risk(examples, weights, &Control::new()).unwrap().unwrap()
}

/// All maps from n left nodes to m right nodes or nothing.
fn all_maps(n: usize, m: usize) -> Vec<Vec<Option<usize>>> {
    let mut maps = vec![Vec::new()];
    for _ in 0..n {
        let longer = |map: &Vec<Option<usize>>| {
            let places = std::iter::once(None).chain((0..m).map(Some));
            let grown = places.map(|place| map.iter().copied().chain([place]).collect::<Vec<_>>());
            grown.collect::<Vec<_>>()
        };
        maps = maps.iter().flat_map(longer).collect();
    }
    maps
}

/// Whether a map is a single change of the truth as the learner defines it.
fn is_single_change(map: &[Option<usize>], truth: &Matching, constraint: Constraint, priced: bool) -> bool {
    if Matching::new(map.to_vec(), truth.right_count(), constraint).is_err() {
        return false;
    }
    let moved: Vec<usize> = (0..map.len()).filter(|&i| map[i] != truth.right_of(i)).collect();
    let unplaced = moved.iter().any(|&i| map[i].is_none() || truth.right_of(i).is_none());
    if unplaced && !priced {
        return false;
    }
    let takes_from = |i: usize, j: usize| map[i].is_some() && map[i] == truth.right_of(j);
    match moved[..] {
        [_] => true,
        [i, j] if constraint == Constraint::OneToOne => {
            let (forth, back) = (takes_from(i, j), takes_from(j, i));
            (forth && (back || map[j].is_none())) || (back && map[i].is_none())
        }
        [i, j, h] if constraint == Constraint::OneToOne => {
            truth.matched_count() <= 12
                && ((takes_from(i, j) && takes_from(j, h) && takes_from(h, i))
                    || (takes_from(i, h) && takes_from(h, j) && takes_from(j, i)))
        }
        _ => false,
    }
}

fn score(instance: &Instance, map: Vec<Option<usize>>, constraint: Constraint, weights: &[f64]) -> f64 {
    let m = instance.right().node_count();
    let features = instance.joint_features(&Matching::new(map, m, constraint).unwrap()).unwrap();
    features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
}

/// The mean of -log of the truth's share, group by group, directly from the definition.
fn risk_by_hand(example: &Example, edges: bool, weights: &[f64]) -> f64 {
    let (instance, truth) = (example.instance(), example.truth());
    let (n, m) = (truth.left_count(), truth.right_count());
    let (constraint, priced) = (instance.constraint(), instance.may_stay_unmatched());
    let known: Vec<usize> = (0..n).filter(|&i| priced || truth.right_of(i).is_some()).collect();
    let mut groups: Vec<Vec<f64>> = Vec::new();
    if edges {
        let own = score(instance, truth.left_to_right().to_vec(), constraint, weights);
        let changes: Vec<_> = all_maps(n, m);
        let changes: Vec<_> = changes.iter().filter(|map| is_single_change(map, truth, constraint, priced)).collect();
        for &i in &known {
            let of_node = changes.iter().filter(|map| map[i] != truth.right_of(i));
            let beyond = of_node.map(|map| score(instance, (*map).clone(), constraint, weights) - own);
            groups.push(std::iter::once(0.0).chain(beyond).collect());
        }
    } else {
        let problem = instance.compatibility(weights).unwrap();
        for &i in &known {
            let place = |k: Option<usize>| k.map_or_else(|| problem.unmatched_score(i), |k| problem.node[[i, k]]);
            let places = (0..m).map(Some).chain(priced.then_some(None));
            groups.push(places.map(|k| place(k) - place(truth.right_of(i))).collect());
        }
        if constraint == Constraint::OneToOne {
            for (i, k) in truth.pairs() {
                groups.push(known.iter().map(|&j| problem.node[[j, k]] - problem.node[[i, k]]).collect());
            }
        }
    }
    let term = |group: &Vec<f64>| group.iter().map(|beyond| beyond.exp()).sum::<f64>().ln();
    if groups.is_empty() { 0.0 } else { groups.iter().map(term).sum::<f64>() / groups.len() as f64 }
}

#[test]
fn the_risk_is_its_definition() {
    let mut rng = rng(1);
    let (mut with_edges, mut priced) = (0, 0);
    for _ in 0..150 {
        let map = feature_map(&mut rng);
        let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
        let example = example(&mut rng, &map, n, m);
        let edges = !map.edge.is_empty();
        // Attributes far from zero make scores of any size; the plain sum of exponentials needs moderate ones.
        let small: Vec<f64> = weights(&mut rng, map.dim()).iter().map(|weight| 0.05 * weight).collect();
        let (found, by_hand) = (risk(std::slice::from_ref(&example), &small).0, risk_by_hand(&example, edges, &small));
        assert!((found - by_hand).abs() <= 1e-9 * by_hand.abs().max(1.0), "{found} is not {by_hand}: {map:?}");
        with_edges += usize::from(edges);
        priced += usize::from(map.unmatched);
    }
    assert!(with_edges > 30 && priced > 30);
}

#[test]
fn the_gradient_is_that_of_differences() {
    let mut rng = rng(2);
    for round in 0..60 {
        let examples = examples(&mut rng, round % 2 == 0, 3, 5);
        let dim = examples[0].instance().dim();
        let at: Vec<f64> = weights(&mut rng, dim).iter().map(|weight| 0.1 * weight).collect();
        let direction = weights(&mut rng, dim);
        let along = |t: f64| {
            let moved: Vec<f64> = at.iter().zip(&direction).map(|(a, d)| a + t * d).collect();
            risk(&examples, &moved).0
        };
        let slope: f64 = risk(&examples, &at).1.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let step = 1e-5;
        let difference = (along(step) - along(-step)) / (2.0 * step);
        assert!((slope - difference).abs() <= 1e-4 * slope.abs().max(1.0), "{slope} is not {difference}");
    }
}

#[test]
fn it_is_convex() {
    let mut rng = rng(3);
    for round in 0..60 {
        let examples = examples(&mut rng, round % 2 == 0, 2, 6);
        let dim = examples[0].instance().dim();
        let (a, b) = (weights(&mut rng, dim), weights(&mut rng, dim));
        let t: f64 = rng.random_range(0.0..1.0);
        let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (1.0 - t) * a + t * b).collect();
        let (low, high) = (risk(&examples, &between).0, (1.0 - t) * risk(&examples, &a).0 + t * risk(&examples, &b).0);
        assert!(low <= high || close(low, high, high), "{low} above {high}");
        assert!(low >= 0.0);
    }
}

#[test]
fn what_comes_out_is_proven() {
    let mut rng = rng(4);
    let mut converged = 0;
    for round in 0..20 {
        let examples = examples(&mut rng, round % 2 == 0, 4, 6);
        let dim = examples[0].instance().dim();
        let rules = [WeightRule::Free, WeightRule::NonNegative, WeightRule::Fixed(0.1)];
        let rules: Vec<WeightRule> = (0..dim).map(|_| rules[rng.random_range(0..3)]).collect();
        let centre = weights(&mut rng, dim);
        let lambda = [10.0, 0.1, 0.001][round % 3];
        let near = Regularization { lambda, centre: &centre, rules: if round % 4 < 2 { &[] } else { &rules } };
        let mut learner = Likelihood::default();
        learner.optimizer.gap_tolerance = 1e-8;
        let found = learner.fit(&examples, near, None, &Control::new()).unwrap().unwrap();
        // Features of very different size under a small λ may take longer; what is said about the gap is still true.
        let is_done = found.stop == StopReason::Converged;
        assert!(is_done || found.stop == StopReason::IterationLimit, "{:?}", found.stop);
        converged += usize::from(is_done);
        let objective = |weights: &[f64]| {
            let away: f64 = weights.iter().zip(&centre).map(|(w, c)| (w - c).powi(2)).sum();
            risk(&examples, weights).0 + 0.5 * lambda * away
        };
        assert!(close(objective(&found.weights), found.objective, found.objective));
        assert!(found.bound <= found.objective);
        assert!(!is_done || found.objective - found.bound <= 1e-8 * found.objective);
        for _ in 0..20 {
            let size = 10.0_f64.powi(rng.random_range(-4..1));
            let mut other: Vec<f64> = found.weights.iter().map(|w| w + size * rng.random_range(-1.0..1.0)).collect();
            for (weight, rule) in other.iter_mut().zip(near.rules) {
                *weight = rule.apply(*weight);
            }
            assert!(objective(&other) >= found.bound * (1.0 - 1e-12));
        }
    }
    assert!(converged >= 18, "{converged} of 20");
}

#[test]
fn an_importance_of_two_is_worth_two_examples() {
    let mut rng = rng(5);
    for edges in [false, true] {
        let single = examples(&mut rng, edges, 4, 5);
        let doubled: Vec<Example> = single.iter().cloned().chain([single[1].clone()]).collect();
        let mut weighted = single;
        weighted[1] = weighted[1].clone().with_importance(2.0).unwrap();
        let at = weights(&mut rng, weighted[0].instance().dim());
        let (a, b) = (risk(&weighted, &at).0, risk(&doubled, &at).0);
        assert!(close(a, b, a), "{a} and {b}");
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let examples = examples(&mut rng(6), true, 40, 5);
            let near = Regularization { lambda: 0.1, centre: &[], rules: &[] };
            let fits = Likelihood::default().fit_path(&[1.0, 0.1], &examples, near, None, &Control::new()).unwrap();
            serde_json::to_string(&fits).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn a_stopped_run_keeps_the_best_so_far() {
    let examples = examples(&mut rng(7), true, 20, 6);
    let near = Regularization { lambda: 1e-4, centre: &[], rules: &[] };
    let fit = |most: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let control = Control::new().interrupted_by(move || asked.fetch_add(1, Ordering::Relaxed) >= most);
        Likelihood::default().fit(&examples, near, None, &control).unwrap()
    };
    assert_eq!(fit(0), None);
    let whole = fit(usize::MAX).unwrap();
    assert_eq!(whole.stop, StopReason::Converged);
    let start = whole.history[0].objective;
    for most in [60, 120, 200, 300] {
        let stopped = fit(most).unwrap();
        assert_eq!(stopped.stop, StopReason::Interrupted);
        assert!(stopped.objective <= start && stopped.bound <= whole.objective);
    }
}

#[test]
fn the_scale_is_the_most_likely_one() {
    let mut rng = rng(8);
    for round in 0..20 {
        let examples = examples(&mut rng, round % 2 == 0, 4, 6);
        let direction = weights(&mut rng, examples[0].instance().dim());
        let learner = Likelihood::default();
        let s = learner.scale(&examples, &direction, &Control::new()).unwrap();
        assert!(s > 0.0 && s.is_finite());
        let at = |s: f64| risk(&examples, &direction.iter().map(|w| s * w).collect::<Vec<_>>()).0;
        let sure = (0.09..0.11).contains(&at(s)) && at(1.1 * s) <= at(s);
        let indifferent = (at(0.0) - at(s)).abs() <= 0.1 * at(0.0) && at(1.1 * s) >= at(s);
        assert!(sure || indifferent || (at(s) <= at(1.1 * s) && at(s) <= at(s / 1.1)), "{s}: {}", at(s));
    }
}

#[test]
fn nothing_to_learn_from_is_an_error() {
    let near = Regularization { lambda: 1.0, centre: &[], rules: &[] };
    assert_eq!(Likelihood::default().fit(&[], near, None, &Control::new()), Err(Error::NoExamples));
}
