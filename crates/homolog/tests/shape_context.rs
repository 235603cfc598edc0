//! Laws of the shape context: what moves it and what does not, and that it counts every point once.

mod made;

use homolog::features::{NodeDescriptor, ShapeContext};
use homolog::graph::Graph;
use made::{numbers, rng};
use ndarray::{Array2, array};

#[test]
fn shape_context_ignores_place_and_size_but_not_turns() {
    let describe = |points: Array2<f64>| {
        let graph = Graph::from_points(points).unwrap();
        ShapeContext::default().describe(&graph).unwrap()
    };
    for seed in 0..20 {
        let rng = &mut rng(5000 + seed);
        let points = numbers(rng, 15, 2, 10.0, 0.0);
        let counts = describe(points.clone());
        // Powers of two are exact, so nothing may change, at any magnitude.
        for scale in [0.25, 8.0, 2_f64.powi(600), 2_f64.powi(-600)] {
            assert_eq!(describe(&points * scale), counts);
        }
        // Random points are far from the borders of bins, next to rounding.
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
        [points, turned].map(|points| ShapeContext::default().describe(&Graph::from_points(points).unwrap()).unwrap());
    for ((i, bin), &count) in before.indexed_iter() {
        let (ring, sector) = (bin / 12, bin % 12);
        assert_eq!(after[[i, 12 * ring + (sector + 3) % 12]], count);
    }
}

#[test]
fn shape_context_counts_every_other_point_within_reach_once() {
    let rng = &mut rng(8);
    let points = numbers(rng, 9, 2, 10.0, 0.0);
    let wide = ShapeContext { angular_bins: 5, radii: vec![0.5, 1e9] };
    let graph = Graph::from_points(points).unwrap().with_context(numbers(rng, 4, 2, 10.0, 0.0)).unwrap();
    let counts = wide.describe(&graph).unwrap();
    assert_eq!(counts.dim(), (9, 10));
    assert!(counts.rows().into_iter().all(|row| row.sum() == 12.0));
    // A context point is seen as a node would be.
    let all = ndarray::concatenate![ndarray::Axis(0), graph.points().unwrap(), graph.context().unwrap()];
    let as_nodes = wide.describe(&Graph::from_points(all).unwrap()).unwrap();
    for (i, row) in counts.rows().into_iter().enumerate() {
        assert_eq!(row, as_nodes.row(i));
    }
    // Points that all coincide have no scale; they are all in the innermost ring.
    let same = wide.describe(&Graph::from_points(Array2::ones((4, 2))).unwrap()).unwrap();
    assert!(same.rows().into_iter().all(|row| row.sum() == 3.0 && row.iter().take(5).sum::<f64>() == 3.0));
}
