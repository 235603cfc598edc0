//! The paper's headline experiment: training with edges does not end on a search that finds nothing.

use crate::common;

use common::house::house;
use homolog::Control;
use homolog::data::turntable::Turntable;
use homolog::experiment::{Frames, SequenceMethod, Trial};
use homolog::features::FeatureMap;
use homolog::graph::Graph;
use homolog::learn::{MaxMargin, evaluate};
use homolog::matching::{Exact, FrankWolfe};
use homolog::optimize::Bundle;
use std::sync::Arc;

#[test]
fn training_does_not_end_while_a_training_pair_is_matched_wrongly() {
    // The turntable if the house is not there.
    let house = house(FeatureMap::paper_linear());
    let turntable = || Turntable::default().landmarks().unwrap().into_iter();
    let made = || turntable().map(|points| Arc::new(Graph::from_points(points).unwrap())).collect();
    let frames = Frames::new(house.as_ref().map_or_else(made, |house| house.graphs().to_vec())).unwrap();
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
        assert!(house.is_none() || loss(&test).mean() == 0.0, "order {order}: test loss {}", loss(&test).mean());
        train.reverse();
    }
}
