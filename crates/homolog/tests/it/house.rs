//! Features on the authors' own data: their shape contexts integer for integer, their edges, and published benchmark problems.

use crate::house_data;

use homolog::features::{Difference, EdgeKind, FeatureMap, LengthUnit, Lengths, NodeDescriptor, ShapeContext};
use homolog::geometry::{Delaunay, EdgeRule, delaunay};
use homolog::graph::Graph;
use homolog::matching::Matching;
use ndarray::Array2;
use std::sync::Arc;

#[test]
fn shape_contexts_of_all_frames_integer_for_integer() {
    let Some(directory) = house_data::directory() else { return };
    let frames = house_data::frames(&directory);
    assert_eq!(frames.len(), 111);
    for (at, points) in frames.into_iter().enumerate() {
        let counts = ShapeContext::paper().describe(&Graph::from_points(points).unwrap()).unwrap();
        let theirs = house_data::table(&directory.join(format!("house{:03}.scf", at + 1)));
        assert_eq!(theirs.len(), 30);
        for (i, row) in theirs.into_iter().enumerate() {
            assert_eq!(counts.row(i).to_vec(), row, "frame {}, landmark {i}", at + 1);
        }
    }
}

#[test]
fn true_delaunay_contains_the_authors_edges_in_every_frame() {
    let Some(directory) = house_data::directory() else { return };
    for (at, points) in house_data::frames(&directory).into_iter().enumerate() {
        let ours = delaunay(points.view()).unwrap();
        let table = house_data::table(&directory.join(format!("house{:03}.adj", at + 1)));
        let theirs: Vec<[usize; 2]> =
            homolog::geometry::complete(30).into_iter().filter(|&[i, j]| table[i][j] != 0.0).collect();
        assert!(theirs.iter().all(|edge| ours.contains(edge)), "frame {}", at + 1);
        // Theirs lacks one or two edges of the hull.
        let missing = ours.len() - theirs.len();
        assert!((1..=2).contains(&missing), "frame {}: {missing} more edges", at + 1);
    }
}

#[test]
fn published_sparse_problems_are_rebuilt() {
    // Edge cost -exp(-(d_ij - d_kl)² / 2500) between Delaunay edges, each counted once; ours counts both ways. In all of
    // them the published optimum is the score of the truth.
    let Some(directory) = house_data::directory() else { return };
    let Ok(text) = std::fs::read_to_string(directory.join("../benchmarks/house_sparse.csv")) else {
        println!("skipped: no benchmarks beside the house data");
        return;
    };
    let frames = house_data::frames(&directory);
    let lengths = Lengths { unit: LengthUnit::Coordinates, difference: Difference::Decay { width: 50.0 } };
    let map = FeatureMap {
        node: Vec::new(),
        edge_rule: Some(EdgeRule::Delaunay(Delaunay {})),
        edge: vec![EdgeKind::Lengths(lengths)],
        ..FeatureMap::default()
    };
    let describe = |points: &Array2<f64>| map.describe(&Graph::from_points(points.clone()).unwrap()).unwrap();
    let described: Vec<_> = frames.iter().map(|points| Arc::new(describe(points))).collect();
    let identity = Matching::identity(30);
    let mut problems = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [left, right] = [1, 2].map(|field| &described[fields[field].parse::<usize>().unwrap() - 1]);
        let optimum: f64 = fields[3].parse().unwrap();
        let x = map.instance(left, right).unwrap();
        let truth = -x.joint_features(&identity).unwrap()[0] / 2.0;
        assert!((truth - optimum).abs() < 1e-6, "{line}: the truth has {truth}");
        problems += 1;
        if problems <= 3 {
            let score = x.compatibility(&[1.0]).unwrap().score(&identity).unwrap();
            assert!((score + 2.0 * truth).abs() < 1e-9);
        }
    }
    assert_eq!(problems, 105);
}

#[test]
fn soft_linear_makes_no_mistake_at_any_baseline_without_learning() {
    use homolog::graph::Pair;
    use homolog::matching::{Linear, Matcher};
    let Some(directory) = house_data::directory() else { return };
    let frames: Vec<Arc<Graph>> = house_data::frames(&directory)
        .into_iter()
        .map(|points| Arc::new(Graph::from_points(points).unwrap()))
        .collect();
    let pair = Pair::new(Arc::clone(&frames[0]), Arc::clone(&frames[50]));
    let map = FeatureMap::named("linear", [&*frames[0]]).unwrap().with_spread_of(&[pair]).unwrap();
    let described: Vec<_> = frames.iter().map(|frame| Arc::new(map.describe(frame).unwrap())).collect();
    for baseline in [10, 50, 70, 90] {
        for left in 0..frames.len() - baseline {
            // The right frame in another order, so that ties do not go to the truth.
            let order: Vec<usize> = (0..30).map(|k| (7 * k + 3) % 30).collect();
            let right = Arc::new(map.describe(&frames[left + baseline].renumbered(&order).unwrap()).unwrap());
            let problem = map.instance(&described[left], &right).unwrap();
            let problem = problem.compatibility(&map.unlearned_weights()).unwrap();
            let found = Linear::default().solve(&problem).unwrap().matching;
            assert!(found.pairs().all(|(i, k)| order[k] == i), "frames {left} and {}", left + baseline);
        }
    }
}
