//! Random data sets of every kind.

use homolog::data::Split;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph, match_by_name};
use homolog::graph::{Attributes, Direction, Graph, PairFeatures};
use homolog::matching::{Constraint, Matching, Restrictions};
use ndarray::Array2;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Up to five graphs and eight pairs, of which any part may be absent.
pub(crate) fn random_data_set(rng: &mut impl Rng) -> DataSet {
    let graph_count = rng.random_range(0..6);
    let graphs: Vec<NamedGraph> = (0..graph_count).map(|index| named_graph(rng, index)).collect();
    let pair_count = if graphs.is_empty() { 0 } else { rng.random_range(0..9) };
    let pairs = (0..pair_count).map(|_| pair(rng, &graphs)).collect();
    DataSet::new(graphs, pairs).unwrap()
}

/// A number of any size that is awkward to print.
fn number(rng: &mut impl Rng) -> f64 {
    match rng.random_range(0..6) {
        0 => f64::from(rng.random_range(-3..4)),
        1 => [0.1, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e-320, 1.0 / 3.0][rng.random_range(0..6)],
        _ => rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-12..13)),
    }
}

fn table(rng: &mut impl Rng, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || number(rng))
}

const WORDS: [&str; 9] = ["nose", "left ear", "ß", "\"quoted\"", "a,b", "", "0", "line\nbreak", "unknown"];

/// Names in a random order, each different.
fn words(rng: &mut impl Rng, count: usize) -> Vec<String> {
    let mut words: Vec<String> = WORDS.iter().map(ToString::to_string).collect();
    for at in (1..words.len()).rev() {
        words.swap(at, rng.random_range(0..=at));
    }
    words.truncate(count);
    words
}

fn named_graph(rng: &mut impl Rng, index: usize) -> NamedGraph {
    let count = rng.random_range(0..8);
    let mut graph = Graph::new(count);
    if rng.random_bool(0.7) {
        // A list without points is read as one in the plane.
        let dimension = if count > 0 && rng.random_bool(0.3) { 3 } else { 2 };
        graph = Graph::from_points(table(rng, count, dimension)).unwrap();
        if rng.random_bool(0.3) {
            let context = rng.random_range(0..4);
            graph = graph.with_context(table(rng, context, dimension)).unwrap();
        }
    }
    if rng.random_bool(0.6) {
        graph = graph.with_names(words(rng, count)).unwrap();
    }
    if rng.random_bool(0.4) {
        graph = graph.with_node_attributes(attributes(rng, count)).unwrap();
    }
    if rng.random_bool(0.3) {
        graph = graph.with_image_size(rng.random_range(1.0..999.0), 384.0).unwrap();
    }
    let image = rng.random_bool(0.3).then(|| format!("images/{index}.png"));
    NamedGraph { id: format!("graph {index}"), graph: Arc::new(with_edges(rng, graph)), image }
}

fn attributes(rng: &mut impl Rng, rows: usize) -> Attributes {
    let columns = rng.random_range(0..4);
    let values = table(rng, rows, columns);
    Attributes::new(words(rng, columns), values).unwrap()
}

fn with_edges(rng: &mut impl Rng, graph: Graph) -> Graph {
    let count = graph.node_count();
    let direction = if rng.random_bool(0.5) { Direction::Directed } else { Direction::Undirected };
    let density = [0.0, 0.3, 1.0][rng.random_range(0..3)];
    let all = (0..count).flat_map(|i| (0..count).map(move |j| [i, j]));
    let edges: Vec<[usize; 2]> = all
        .filter(|&[i, j]| i != j && (direction == Direction::Directed || i < j) && rng.random_bool(density))
        .collect();
    if rng.random_bool(0.4) {
        let attributes = attributes(rng, edges.len());
        return graph.with_attributed_edges(edges, &attributes, direction).unwrap();
    }
    graph.with_edges(edges, direction).unwrap()
}

fn pair(rng: &mut impl Rng, graphs: &[NamedGraph]) -> LabelledPair {
    let (left, right) = (rng.random_range(0..graphs.len()), rng.random_range(0..graphs.len()));
    let (from, to) = (&graphs[left].graph, &graphs[right].graph);
    let truth = match rng.random_range(0..4) {
        0 => None,
        1 => match_by_name(from, to),
        kind => Some(truth(rng, from.node_count(), to.node_count(), kind == 3)),
    };
    let split = [None, Some(Split::Train), Some(Split::Validation), Some(Split::Test)][rng.random_range(0..4)];
    let without_partner: Vec<usize> = match &truth {
        Some(truth) => truth.unmatched_left().collect(),
        None => (0..from.node_count()).collect(),
    };
    let unknown = without_partner.into_iter().filter(|_| rng.random_bool(0.3)).collect();
    let given = given(rng, truth.as_ref());
    let features = features(rng, from.node_count(), to.node_count(), truth.as_ref());
    LabelledPair { unknown, given, features, split, ..LabelledPair::new(left, right, truth) }
}

/// Sometimes features of all pairs of nodes, or of some, among them those of the truth.
fn features(rng: &mut impl Rng, n: usize, m: usize, truth: Option<&Matching>) -> Option<Arc<PairFeatures>> {
    if rng.random_bool(0.7) {
        return None;
    }
    let share = [0.5, 1.0][rng.random_range(0..2)];
    let is_true = |i: usize, k: usize| truth.is_some_and(|truth| truth.right_of(i) == Some(k));
    let all = (0..n).flat_map(|i| (0..m).map(move |k| [i, k]));
    let pairs: Vec<[usize; 2]> = all.filter(|&[i, k]| is_true(i, k) || rng.random_bool(share)).collect();
    let names = ["iou", "cosine"][..rng.random_range(1..3)].iter().map(ToString::to_string).collect::<Vec<_>>();
    let values = Array2::from_shape_simple_fn((pairs.len(), names.len()), || rng.random_range(-1.0..1.0));
    Some(Arc::new(PairFeatures::of_list(names, (n, m), &pairs, values.view()).unwrap()))
}

/// Some matched pairs as seeds, some unmatched ones forbidden.
fn given(rng: &mut impl Rng, truth: Option<&Matching>) -> Restrictions {
    let Some(truth) = truth.filter(|_| rng.random_bool(0.4)) else { return Restrictions::default() };
    let seeds = truth.pairs().map(|(i, k)| [i, k]).filter(|_| rng.random_bool(0.3)).collect();
    let all = (0..truth.left_count()).flat_map(|i| (0..truth.right_count()).map(move |k| [i, k]));
    let others = all.filter(|&[i, k]| truth.right_of(i) != Some(k));
    Restrictions { seeds, forbidden: others.filter(|_| rng.random_bool(0.1)).collect() }
}

fn truth(rng: &mut impl Rng, left_count: usize, right_count: usize, many: bool) -> Matching {
    let mut free: Vec<usize> = (0..right_count).collect();
    let map = (0..left_count).map(|_| {
        if free.is_empty() || rng.random_bool(0.3) {
            return None;
        }
        let at = rng.random_range(0..free.len());
        Some(if many { free[at] } else { free.swap_remove(at) })
    });
    let map: Vec<Option<usize>> = map.collect();
    let constraint = if many { Constraint::ManyToOne } else { Constraint::OneToOne };
    Matching::new(map, right_count, constraint).unwrap()
}
