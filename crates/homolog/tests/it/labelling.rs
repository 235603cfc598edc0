//! Laws of what a labelling page asks.

use homolog::Control;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::labelling::{Candidates, Expected, Known, LabelledPart, Sight, estimate, learn, propose, review, suggest};
use homolog::matching::{BruteForce, Compatibility, Constraint, Linear, Matcher, Matching, Method, Workspace};
use homolog::model::Model;
use ndarray::Array2;
use proptest::prelude::*;
use std::sync::Arc;

fn graph(points: &[[f64; 2]]) -> Graph {
    Graph::from_points(Array2::from_shape_fn((points.len(), 2), |(row, column)| points[row][column])).unwrap()
}

fn named(points: &[[f64; 2]]) -> Graph {
    graph(points).with_names((0..points.len()).map(|number| format!("p{number}")).collect()).unwrap()
}

fn model() -> Model {
    Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default())).unwrap()
}

/// The best score that agrees with the labels and avoids a pair, by trying everything.
fn best(problem: &Compatibility, known: &[Known], avoided: Option<(usize, usize)>) -> f64 {
    let mut restricted = problem.clone();
    for ((left, right), score) in restricted.node.indexed_iter_mut() {
        let label = known.iter().find(|label| label.left == left);
        let taken = known.iter().any(|label| label.right == Some(right) && label.left != left);
        if avoided == Some((left, right)) || taken || label.is_some_and(|label| label.right != Some(right)) {
            *score = f64::NEG_INFINITY;
        }
    }
    BruteForce::default().solve(&restricted).unwrap().score
}

fn points(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[f64; 2]>> {
    proptest::collection::vec([0.0..100.0, 0.0..100.0], count)
}

proptest! {
    #[test]
    fn suggestions_go_around_labels_and_margins_are_what_trying_everything_gives(
        left in points(3..6), right in points(5..7), label in (0_usize..3, 0_usize..5),
    ) {
        let pair = Pair::new(Arc::new(graph(&left)), Arc::new(graph(&right)));
        let known = [Known { left: label.0, right: Some(label.1) }];
        let problem = model().problem(&pair, &mut Workspace::new()).unwrap();
        for known in [&known[..], &[]] {
            let suggestion = suggest(&model(), &pair, known).unwrap();
            prop_assert!(suggestion.proven);
            prop_assert_eq!(suggestion.matches.len(), left.len() - known.len());
            let whole = best(&problem, known, None);
            for suggested in &suggestion.matches {
                prop_assert!(known.iter().all(|label| label.left != suggested.left && label.right != suggested.right));
                let place = (suggested.left, suggested.right.unwrap());
                let margin = whole - best(&problem, known, Some(place));
                prop_assert!((suggested.margin.unwrap() - margin).abs() < 1e-9 * (1.0 + whole.abs()));
                prop_assert!(!suggested.alternatives.contains(&place.1));
            }
            let free = model().solve(&pair).unwrap().matching;
            let disputed: Vec<usize> =
                known.iter().filter(|label| free.right_of(label.left) != label.right).map(|label| label.left).collect();
            prop_assert_eq!(&suggestion.disputed, &disputed);
            let part = LabelledPart { left: 0, right: 1, known: known.to_vec() };
            let ends = [Arc::clone(&pair.left), Arc::clone(&pair.right)];
            let prepared = model().prepare(&ends, &Control::new()).unwrap();
            let reviewed = review(&model(), &prepared, &[part], &Control::new()).unwrap();
            prop_assert_eq!((reviewed[0].mean_margin, &reviewed[0].disputed), (suggestion.mean_margin, &disputed));
        }
    }

    #[test]
    fn a_specimen_slightly_moved_is_named_whatever_the_order_of_its_points(
        jitter in proptest::collection::vec([0.0..8.0, 0.0..8.0], 6..15),
        shift in [-3.0..3.0, -3.0..3.0], stretch in 0.97..1.03, turn in 0_usize..15,
    ) {
        // Points that nearly coincide cannot be told apart, so each is in its own square.
        let square = |number: usize| [25.0 * (number % 4) as f64, 25.0 * (number / 4) as f64];
        let specimen: Vec<[f64; 2]> =
            jitter.iter().enumerate().map(|(n, by)| [square(n)[0] + by[0], square(n)[1] + by[1]]).collect();
        let moved: Vec<[f64; 2]> =
            specimen.iter().map(|point| [stretch * point[0] + shift[0], stretch * point[1] + shift[1]]).collect();
        let count = moved.len();
        let order: Vec<usize> = (0..count).map(|number| (number + turn) % count).collect();
        let candidates = Candidates { points: order.iter().map(|&number| moved[number].to_vec()).collect(), own: true };
        let proposal = propose(&[named(&specimen)], &candidates, &[]).unwrap();
        prop_assert_eq!(proposal.points.len(), count);
        for point in &proposal.points {
            let number: usize = point.name[1..].parse().unwrap();
            prop_assert_eq!(&point.at[..], &moved[number][..]);
            prop_assert!((0.0..=1.0).contains(&point.certainty));
        }
    }

    #[test]
    fn nothing_makes_a_proposal_panic_and_no_candidate_is_taken_twice(
        one in points(0..5), two in points(0..6), candidates in points(0..8), own in any::<bool>(),
        known in proptest::collection::vec((0_usize..7, [0.0..100.0, 0.0..100.0]), 0..3),
    ) {
        let known: Vec<(String, Vec<f64>)> = known.into_iter().map(|(number, at)| (format!("p{number}"), at.to_vec())).collect();
        let candidates = candidates.into_iter().map(|at| at.to_vec()).collect();
        let proposal = propose(&[named(&one), named(&two)], &Candidates { points: candidates, own }, &known).unwrap();
        let mut taken: Vec<usize> = proposal.points.iter().filter_map(|point| point.candidate).collect();
        taken.sort_unstable();
        prop_assert!(taken.windows(2).all(|pair| pair[0] != pair[1]));
        for point in &proposal.points {
            prop_assert!(point.at.iter().all(|value| value.is_finite()));
            prop_assert!(known.iter().all(|(name, _)| *name != point.name));
        }
    }
}

#[test]
fn a_label_that_the_other_specimens_dispute_is_found() {
    let shape = [[0.0, 0.0], [50.0, 5.0], [90.0, 60.0], [20.0, 70.0], [60.0, 30.0]];
    let specimens: Vec<Graph> = (0..4).map(|_| named(&shape)).collect();
    let candidates = vec![Candidates { points: shape.map(|at| at.to_vec()).to_vec(), own: true }; 4];
    let fine = estimate(&specimens, &candidates, &Control::new()).unwrap();
    assert_eq!((fine.error, fine.disputed.iter().flatten().count()), (Some(0.0), 0));
    let mut swapped = shape;
    swapped.swap(1, 3);
    let mut specimens = specimens;
    specimens[2] = named(&swapped);
    let found = estimate(&specimens, &candidates, &Control::new()).unwrap();
    assert_eq!(found.disputed[2], ["p1", "p3"]);
    assert!(found.error.unwrap() > 0.0);
    assert!(fine.errors == [0.0; 4] && found.errors.len() == 4 && (found.errors[2] - 0.4).abs() < 1e-12);
    let expected = Expected::of(&found.errors).unwrap();
    assert!((expected.error - found.error.unwrap()).abs() < 1e-12 && expected.specimens == 4);
    assert!(expected.interval[0] <= expected.error && expected.error <= expected.interval[1]);
    assert_eq!(Expected::of(&fine.errors).unwrap().interval[0], 0.0);
    assert_eq!((Expected::of(&[]), Expected::of(&[3.0])), (None, None));
    assert_eq!(estimate(&[], &[], &Control::new()).unwrap().error, None);
    assert!(estimate(&specimens, &[], &Control::new()).is_err());
}

#[test]
fn a_model_is_learned_from_whole_pairs_from_parts_and_from_nothing() {
    let shape = [[0.0, 0.0], [50.0, 5.0], [90.0, 60.0], [20.0, 70.0], [60.0, 30.0], [33.0, 44.0]];
    let bent = |by: f64| graph(&shape.map(|[x, y]| [x + by * y, y - 0.3 * by * x]));
    let graphs: Vec<NamedGraph> = (0..6)
        .map(|n| NamedGraph { id: n.to_string(), graph: Arc::new(bent(0.05 * f64::from(n))), image: None })
        .collect();
    let pair = |left: usize, labelled: usize| {
        let map = (0..6).map(|node| (node < labelled).then_some(node)).collect();
        let truth = Matching::new(map, 6, Constraint::OneToOne).unwrap();
        let mut pair = LabelledPair::new(left, left + 1, (labelled > 0).then_some(truth));
        pair.unknown = if labelled > 0 { (labelled..6).collect() } else { Vec::new() };
        pair
    };
    for labelled in [[6, 6, 6], [3, 4, 6], [2, 0, 0], [0, 0, 0]] {
        let pairs = labelled.iter().enumerate().map(|(n, &count)| pair(n, count)).collect();
        let data = DataSet::new(graphs.clone(), pairs).unwrap();
        for sight in [Sight::Linear, Sight::Edges] {
            let learned = learn(&data, sight, &Control::new()).unwrap();
            assert_eq!(learned.pairs, labelled.iter().filter(|&&count| count > 0).count());
            assert!(!learned.sentence.is_empty());
            let pair = Pair::new(Arc::clone(&graphs[3].graph), Arc::clone(&graphs[4].graph));
            let suggestion = suggest(&learned.model, &pair, &[]).unwrap();
            assert_eq!(suggestion.matches.len(), 6, "{labelled:?}");
        }
    }
}
