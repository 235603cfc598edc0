//! The paper's headline experiment: training with edges does not end on a search that finds nothing.

mod common;

use common::house::house;
use homolog::Control;
use homolog::data::turntable::Turntable;
use homolog::experiment::{Frames, SequenceMethod, Trial};
use homolog::graph::Graph;
use homolog::learn::{MaxMargin, evaluate};
use homolog::matching::{Exact, FrankWolfe};
use homolog::optimize::Bundle;
use std::sync::Arc;

/// The house, or the turntable if the house is not there.
fn frames() -> (Frames, bool) {
    let house = house(homolog::features::FeatureMap::paper_linear());
    let turntable =
        || Turntable::default().landmarks().unwrap().into_iter().map(|points| Graph::from_points(points).unwrap());
    let graphs = house.as_ref().map_or_else(|| turntable().map(Arc::new).collect(), |house| house.graphs().to_vec());
    (Frames::new(graphs).unwrap(), house.is_some())
}

#[test]
fn training_does_not_end_while_a_training_pair_is_matched_wrongly() {
    let (frames, is_house) = frames();
    let trial = Trial::new(&frames, 90, SequenceMethod::QuadraticLearned, Some(2)).unwrap();
    let [mut train, _, test] = trial.splits;
    // One climb without kicks: a search that misses nearly every violator.
    let search = FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() };
    let (exact, control) = (Exact::default(), Control::new());
    let learner = MaxMargin { bundle: Bundle { lambda: 1.0, ..trial.trainer.bundle }, ..MaxMargin::default() };
    for order in 0..2 {
        let fit = learner.fit(&train, &search, &control).unwrap();
        let loss = |examples| evaluate(examples, &exact, &fit.minimum.weights, &control).unwrap();
        let learned = loss(&train);
        println!("order {order}: {} evaluations, {}", fit.minimum.history.len(), fit.note());
        assert_eq!((learned.mean(), learned.proven), (0.0, train.len()), "order {order}");
        // From two pairs of the house, nothing is wrong in any test pair.
        assert!(!is_house || loss(&test).mean() == 0.0, "order {order}: test loss {}", loss(&test).mean());
        train.reverse();
    }
}
