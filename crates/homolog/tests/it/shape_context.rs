//! Laws of the shape context: what changes it and what does not, and that it counts every point once.

use crate::made;

use homolog::features::{NodeDescriptor, ShapeContext};
use homolog::graph::Graph;
use made::{numbers, rng};
use ndarray::{Array2, array};

#[test]
fn shape_context_ignores_place_and_size_but_not_turns() {
    let describe = |points: Array2<f64>| {
        let graph = Graph::from_points(points).unwrap();
        ShapeContext::paper().describe(&graph).unwrap()
    };
    for seed in 0..20 {
        let rng = &mut rng(5000 + seed);
        let points = numbers(rng, 15, 2, 10.0, 0.0);
        let counts = describe(points.clone());
        // Powers of two are exact, so nothing may change, at any magnitude.
        for scale in [0.25, 8.0, 2_f64.powi(600), 2_f64.powi(-600)] {
            assert_eq!(describe(&points * scale), counts);
        }
        // Compared with rounding, random points are far from the borders of bins.
        assert_eq!(describe(&points + 3.7), counts);
        assert_eq!(describe(&points * 1.7 - 12.1), counts);
        let turned = points.dot(&array![[0.0, 1.0], [-1.0, 0.0]]);
        assert_ne!(describe(turned), counts);
        assert_ne!(describe(points.dot(&array![[-1.0, 0.0], [0.0, 1.0]])), counts);
        assert_ne!(describe(points.dot(&array![[1.0, 0.0], [0.0, -1.0]])), counts);
    }
}

#[test]
fn a_quarter_turn_turns_the_sectors() {
    // Not invariant, but lawful: 90 degrees are 3 of the 12 sectors.
    let rng = &mut rng(6);
    let points = numbers(rng, 12, 2, 10.0, 0.0);
    let turned = points.dot(&array![[0.0, 1.0], [-1.0, 0.0]]);
    let [before, after] =
        [points, turned].map(|points| ShapeContext::paper().describe(&Graph::from_points(points).unwrap()).unwrap());
    for ((i, bin), &count) in before.indexed_iter() {
        let (ring, sector) = (bin / 12, bin % 12);
        assert_eq!(after[[i, 12 * ring + (sector + 3) % 12]], count);
    }
}

#[test]
fn shape_context_counts_every_other_point_within_reach_once() {
    let rng = &mut rng(8);
    let points = numbers(rng, 9, 2, 10.0, 0.0);
    let wide = ShapeContext { angular_bins: 5, radii: vec![0.5, 1e9], ..ShapeContext::paper() };
    let graph = Graph::from_points(points).unwrap().with_context(numbers(rng, 4, 2, 10.0, 0.0)).unwrap();
    let counts = wide.describe(&graph).unwrap();
    assert_eq!(counts.dim(), (9, 10));
    assert!(counts.rows().into_iter().all(|row| row.sum() == 12.0));
    // A context point is seen like a node.
    let all = ndarray::concatenate![ndarray::Axis(0), graph.points().unwrap(), graph.context().unwrap()];
    let as_nodes = wide.describe(&Graph::from_points(all).unwrap()).unwrap();
    for (i, row) in counts.rows().into_iter().enumerate() {
        assert_eq!(row, as_nodes.row(i));
    }
    // Points that all coincide have no scale; they are all in the innermost ring.
    let same = wide.describe(&Graph::from_points(Array2::ones((4, 2))).unwrap()).unwrap();
    assert!(same.rows().into_iter().all(|row| row.sum() == 3.0 && row.iter().take(5).sum::<f64>() == 3.0));
}

fn describe(context: &ShapeContext, points: &Array2<f64>) -> Array2<f64> {
    context.describe(&Graph::from_points(points.clone()).unwrap()).unwrap()
}

/// The largest difference between two tables.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a - b).iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[test]
fn soft_bins_ignore_place_and_size_and_turn_with_the_points() {
    let soft = ShapeContext::default();
    for seed in 0..20 {
        let rng = &mut rng(7000 + seed);
        let points = numbers(rng, 15, 2, 10.0, 0.0);
        let counts = describe(&soft, &points);
        for scale in [0.25, 2_f64.powi(600), 2_f64.powi(-600)] {
            assert_eq!(describe(&soft, &(&points * scale)), counts);
        }
        assert!(apart(&describe(&soft, &(&points * 1.7 - 12.1)), &counts) < 1e-9);
        let turned = describe(&soft, &points.dot(&array![[0.0, 1.0], [-1.0, 0.0]]));
        for ((i, bin), &count) in counts.indexed_iter() {
            let (ring, sector) = (bin / 12, bin % 12);
            assert!((turned[[i, 12 * ring + (sector + 3) % 12]] - count).abs() < 1e-7, "seed {seed}");
        }
    }
}

#[test]
fn soft_bins_become_hard_ones_and_no_point_makes_them_jump() {
    for seed in 0..20 {
        let rng = &mut rng(7100 + seed);
        let points = numbers(rng, 12, 2, 10.0, 0.0);
        let nearly_hard = ShapeContext { softness: 1e-9, ..ShapeContext::default() };
        assert_eq!(describe(&nearly_hard, &points), describe(&ShapeContext::paper(), &points), "seed {seed}");
        // A millionth of a step: every number moves by no more than about that.
        let moved = &points + &numbers(rng, 12, 2, 1e-6, 0.0);
        for dimension in [2, 3] {
            let soft = ShapeContext { dimension, ..ShapeContext::default() };
            let [before, after] = [&points, &moved].map(|points| {
                let flat = ndarray::concatenate![ndarray::Axis(1), points.view(), points.view()];
                describe(
                    &soft,
                    &if dimension == 2 { points.clone() } else { flat.select(ndarray::Axis(1), &[0, 1, 2]) },
                )
            });
            assert!(apart(&before, &after) < 1e-3, "seed {seed}");
        }
    }
}

#[test]
fn soft_bins_share_every_point_once_in_the_plane_and_in_space() {
    let rng = &mut rng(9);
    for dimension in [2, 3] {
        for softness in [0.0, 0.5, 1.0, 3.0] {
            let wide = ShapeContext { dimension, angular_bins: 9, radii: vec![0.5, 1e9], softness };
            let mut points = numbers(rng, 11, dimension, 10.0, 0.0);
            // Two that coincide.
            let first = points.row(0).to_owned();
            points.row_mut(1).assign(&first);
            let counts = describe(&wide, &points);
            assert!(counts.rows().into_iter().all(|row| (row.sum() - 10.0).abs() < 1e-6), "{dimension} {softness}");
            assert!(counts.iter().all(|&count| count >= 0.0));
            assert!(apart(&describe(&wide, &(&points * 1.7 + 3.0)), &counts) < 1e-9);
            let all_one = describe(&wide, &Array2::ones((4, dimension)));
            assert!(all_one.rows().into_iter().all(|row| (row.sum() - 3.0).abs() < 1e-9));
        }
    }
}
