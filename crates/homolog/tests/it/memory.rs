//! What problems cost in memory: an instance is two references, and the hot calls allocate next to nothing.

use crate::made;

use homolog::features::{Described, FeatureMap, Instance};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Matching};
use made::{numbers, rng};
use ndarray::Array2;
use std::sync::Arc;

fn described(map: &FeatureMap, seed: u64) -> Arc<Described> {
    let graph = Graph::from_points(numbers(&mut rng(seed), 30, 2, 100.0, 0.0)).unwrap();
    Arc::new(map.describe(&graph).unwrap())
}

#[test]
fn an_instance_is_references_alone() {
    // The two graphs, what was given about their matching, and the features of the pair.
    assert!(size_of::<Instance>() <= 4 * size_of::<usize>());
    let map = FeatureMap::paper_quadratic();
    let (left, right) = (described(&map, 1), described(&map, 2));
    let used = allocation_counter::measure(|| {
        let all: Vec<_> = (0..1000).map(|_| map.instance(&left, &right).unwrap()).collect();
        assert_eq!(all.len(), 1000);
    });
    assert!(used.bytes_max <= 1000 * size_of::<Instance>() as u64, "{} bytes", used.bytes_max);
}

#[test]
fn a_described_graph_is_far_smaller_than_one_tensor() {
    let map = FeatureMap::paper_quadratic();
    let mut kept = None;
    let used = allocation_counter::measure(|| kept = Some(described(&map, 3)));
    let tensor = 30 * 30 * 60 * size_of::<f64>();
    let bytes = usize::try_from(used.bytes_current).unwrap();
    assert!(kept.is_some() && 8 * bytes < tensor, "{bytes} bytes");
}

#[test]
fn hot_calls_allocate_next_to_nothing() {
    let map = FeatureMap::paper_linear();
    let x = map.instance(&described(&map, 4), &described(&map, 5)).unwrap();
    let (weights, truth) = (map.unlearned_weights(), Matching::identity(30));
    let mut problem = Compatibility::linear(Array2::zeros((30, 30)));
    let scores = allocation_counter::measure(|| x.compatibility_into(&weights, &mut problem).unwrap());
    assert!(scores.count_total <= 2 && scores.bytes_total <= 1200, "{} allocations", scores.count_total);
    let mut phi = vec![0.0; map.dim()];
    let features = allocation_counter::measure(|| x.add_joint_features(&truth, 1.0, &mut phi).unwrap());
    assert_eq!(features.count_total, 0);
}
