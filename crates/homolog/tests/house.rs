//! Features on the authors' own data: their shape contexts integer for integer, their edges, and published benchmark problems.

mod house_data;

use homolog::features::{
    Adjacency, Difference, EdgeKind, FeatureMap, LengthUnit, Lengths, NodeDescriptor, ShapeContext,
};
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
        let counts = ShapeContext::default().describe(&Graph::from_points(points).unwrap()).unwrap();
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
        // What theirs misses is one or two edges of the hull.
        let missing = ours.len() - theirs.len();
        assert!((1..=2).contains(&missing), "frame {}: {missing} more edges", at + 1);
    }
}

#[test]
fn published_sparse_problems_are_rebuilt() {
    // Edge cost -exp(-(d_ij - d_kl)² / 2500) between Delaunay edges, each counted once; ours counts both ways. The optimum is at
    // least as good as the truth, and mostly is the truth.
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
    let (mut problems, mut equal) = (0, 0);
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [left, right] = [1, 2].map(|field| &described[fields[field].parse::<usize>().unwrap() - 1]);
        let optimum: f64 = fields[3].parse().unwrap();
        let x = map.instance(left, right).unwrap();
        let truth = -x.joint_features(&identity).unwrap()[0] / 2.0;
        assert!(truth >= optimum - 1e-6, "{line}: the truth has {truth}");
        problems += 1;
        equal += usize::from((truth - optimum).abs() < 1e-6);
        if problems <= 3 {
            let score = x.compatibility(&[1.0]).unwrap().score(&identity).unwrap();
            assert!((score + 2.0 * truth).abs() < 1e-9);
        }
    }
    println!("the truth has the published optimum in {equal} of {problems}");
    assert!(problems == 105 && equal > 50);
}

#[test]
fn a_thousand_instances_are_a_few_kilobytes() {
    // An instance is two references; what it refers to exists once per graph.
    assert!(size_of::<homolog::features::Instance>() <= 16);
    let map = FeatureMap { edge: vec![EdgeKind::Adjacency(Adjacency {})], ..FeatureMap::paper_quadratic() };
    let points = Array2::from_shape_fn((30, 2), |(i, axis)| ((i * (axis + 3) * 7919) % 101) as f64);
    let described = Arc::new(map.describe(&Graph::from_points(points).unwrap()).unwrap());
    let used = allocation_counter::measure(|| {
        let all: Vec<_> = (0..1000).map(|_| map.instance(&described, &described).unwrap()).collect();
        assert_eq!(all.len(), 1000);
    });
    assert!(used.bytes_max <= 20_000, "{} bytes", used.bytes_max);
    let described = allocation_counter::measure(|| {
        let points = Array2::from_shape_fn((30, 2), |(i, axis)| ((i * (axis + 3) * 7919) % 101) as f64);
        std::mem::forget(map.describe(&Graph::from_points(points).unwrap()).unwrap());
    });
    println!("a described graph of 30 nodes: {} bytes", described.bytes_current);
    assert!(described.bytes_current < 30_000);
}
