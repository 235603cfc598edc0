//! Phi of soft matchings: at a matching equal to its Phi, linear, and with the value that the relaxation states.

use crate::made;

use homolog::Error;
use homolog::features::Instance;
use homolog::matching::{EdgeShare, LpRelaxation, Matching, Relaxed};
use made::{close, feature_map, graph, instance, rng, weights};
use ndarray::{Array1, Array2};
use rand::RngExt;

fn phi(x: &Instance, soft: &Relaxed) -> Vec<f64> {
    let mut phi = vec![0.0; x.dim()];
    x.add_soft_features(soft, 1.0, &mut phi).unwrap();
    phi
}

/// A matching as a point of the relaxation, from the definition.
fn as_soft(x: &Instance, y: &Matching) -> Relaxed {
    let (n, m) = (y.left_count(), y.right_count());
    let mut node = Array2::zeros((n, m));
    y.pairs().for_each(|pair| node[pair] = 1.0);
    let unmatched = Array1::from_iter((0..n).map(|i| if y.right_of(i).is_none() { 1.0 } else { 0.0 }));
    let mut edges = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let joined = x.left().edges().find(i, j).or(x.left().edges().find(j, i)).is_some();
            if let (true, Some(k), Some(l)) = (joined, y.right_of(i), y.right_of(j)) {
                edges.push(EdgeShare { left: [i, j], right: [k, l], share: 1.0 });
            }
        }
    }
    Relaxed::point(node, unmatched, edges)
}

/// share · a + (1 - share) · b.
fn mix(a: &Relaxed, b: &Relaxed, share: f64) -> Relaxed {
    let part = |point: &Relaxed, share: f64| {
        point.edges.iter().map(|edge| EdgeShare { share: share * edge.share, ..*edge }).collect::<Vec<_>>()
    };
    Relaxed::point(
        share * &a.node + (1.0 - share) * &b.node,
        share * &a.unmatched + (1.0 - share) * &b.unmatched,
        [part(a, share), part(b, 1.0 - share)].concat(),
    )
}

#[test]
fn at_matchings_it_is_phi_and_between_them_it_is_linear() {
    for seed in 0..200 {
        let rng = &mut rng(seed);
        let map = feature_map(rng);
        let (n, m) = (rng.random_range(0..8), rng.random_range(0..8));
        let x = instance(&map, &graph(rng, n), &graph(rng, m));
        let ys = [(); 2].map(|()| made::matching(rng, n, m, map.constraint));
        let soft = ys.each_ref().map(|y| as_soft(&x, y));
        let share = rng.random();
        let mixed = phi(&x, &mix(&soft[0], &soft[1], share));
        let [first, second] = ys.each_ref().map(|y| x.joint_features(y).unwrap());
        for (r, found) in phi(&x, &soft[0]).into_iter().enumerate() {
            let size = first[r].abs() + second[r].abs();
            assert!(close(found, first[r], size), "seed {seed}, feature {r}");
            assert!(close(mixed[r], share * first[r] + (1.0 - share) * second[r], size), "seed {seed}, feature {r}");
        }
    }
}

#[test]
fn with_the_weights_it_is_the_value_of_the_relaxed_point() {
    let (mut fractional, mut integral) = (0, 0);
    for seed in 0..300 {
        let rng = &mut rng(2000 + seed);
        let map = feature_map(rng);
        let (n, m) = (rng.random_range(1..7), rng.random_range(1..7));
        let x = instance(&map, &graph(rng, n), &graph(rng, m));
        let w = weights(rng, map.dim());
        let problem = x.compatibility(&w).unwrap();
        for steps in [20, 200] {
            let solver = LpRelaxation { gap: 1e-12, max_iterations: steps, ..LpRelaxation::default() };
            let relaxed = solver.solve(&problem).unwrap();
            let features = phi(&x, &relaxed);
            let value: f64 = w.iter().zip(&features).map(|(w, x)| w * x).sum();
            let size: f64 = w.iter().zip(&features).map(|(w, x)| (w * x).abs()).sum();
            assert!((value - relaxed.value).abs() <= 1e-11 * size.max(1e-9), "seed {seed}: {value}, {relaxed:?}");
            fractional += usize::from(relaxed.node.iter().any(|&share| share > 0.01 && share < 0.99));
            if let Some(matching) = &relaxed.matching {
                integral += 1;
                let exact = x.joint_features(matching).unwrap();
                assert!(features.iter().zip(&exact).all(|(a, b)| close(*a, *b, *b)), "seed {seed}");
            }
        }
    }
    assert!(fractional > 30 && integral > 100, "{fractional} fractional, {integral} integral");
}

#[test]
fn sizes_that_disagree_are_refused() {
    let rng = &mut rng(1);
    let map = feature_map(rng);
    let x = instance(&map, &graph(rng, 3), &graph(rng, 4));
    let soft = as_soft(&x, &Matching::empty(3, 4));
    let mut other = soft.clone();
    other.node = Array2::zeros((3, 5));
    let refused = x.add_soft_features(&other, 1.0, &mut vec![0.0; x.dim()]);
    assert_eq!(refused, Err(Error::Size { what: "right nodes of the matching", expected: 4, found: 5 }));
    let refused = x.add_soft_features(&soft, 1.0, &mut vec![0.0; x.dim() + 1]);
    assert!(matches!(refused, Err(Error::Size { what: "joint features", .. })));
}
