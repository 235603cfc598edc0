//! The house at baseline 90, learned against the relaxation from a few pairs: what is proven, and that it is enough to match the rest.

use crate::common;

use common::house::house;
use homolog::Control;
use homolog::data::Split;
use homolog::features::FeatureMap;
use homolog::learn::{MaxMargin, Oracle, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{Exact, LpRelaxation};
use homolog::optimize::{Bundle, StopReason};

#[test]
fn the_house_is_learned_with_proof_and_matched_without_branching() {
    let Some(sequence) = house(FeatureMap::paper_quadratic()) else { return };
    let [mut train, _, test] = Split::ALL.map(|split| sequence.examples(90, split, &Hamming::default()).unwrap());
    train.truncate(2);
    let learner = MaxMargin {
        // A rough gap, to save time; docs/benchmarks.md has finer ones.
        bundle: Bundle { lambda: 1.0, gap_tolerance: 0.3, ..Bundle::default() },
        oracle: Oracle::Relaxation(LpRelaxation::default()),
        ..MaxMargin::default()
    };
    let root = Exact { max_branches: 1, ..Exact::default() };
    let fit = learner.fit(&train, &root, &Control::new()).unwrap();
    println!("{} {} evaluations", fit.note(), fit.minimum.history.len());
    assert!(fit.certified && fit.minimum.stop == StopReason::Converged && fit.minimum.gap <= 0.3);
    let trained = evaluate(&train, &root, &fit.minimum.weights, &Control::new()).unwrap();
    assert_eq!(fit.relaxed.unwrap().tight, Some(trained.proven));
    assert!(trained.mean() <= fit.relaxed.unwrap().loss.unwrap(), "the proven bound on the training loss holds");
    let tested = evaluate(&test, &root, &fit.minimum.weights, &Control::new()).unwrap();
    println!("test loss {}, {} of {} proven at the root", tested.mean(), tested.proven, test.len());
    assert_eq!((trained.proven, tested.proven), (2, 7));
    assert!(tested.mean() < 0.05, "linear assignment learned from all seven pairs has .09");
}
