//! A quadratic model learned with proof: trained against the linear relaxation, matched by the exact solver.
//!
//! `cargo run --example certified_quadratic`

use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::learn::{LabelledPairs, LearnerKind, Oracle, Trainer};
use homolog::matching::{LpRelaxation, Matching, Status};
use homolog::model::Model;
use ndarray::{Array2, array};
use std::sync::Arc;

fn main() -> homolog::Result<()> {
    let points: Array2<f64> = array![[0.0, 0.0], [4.0, 0.5], [6.0, 3.0], [3.0, 5.0], [0.5, 3.0], [2.5, 2.0]];
    let bent = |by: f64| Graph::from_points(points.mapv(|x| x + by * (3.0 * x).sin())).map(Arc::new);
    let mut pairs = LabelledPairs::new();
    for number in 0..3 {
        pairs.add(&bent(0.1 * f64::from(number))?, &bent(-0.1 * f64::from(number))?, Matching::identity(6))?;
    }
    let trainer = Trainer {
        learner: LearnerKind::MaxMargin,
        oracle: Oracle::Relaxation(LpRelaxation::default()),
        // One λ and no folds: the result is used whether it helps or not.
        lambdas: vec![0.1],
        folds: 0,
        ..Trainer::default()
    };
    let model = Model::fit(&FeatureMap::paper_quadratic(), &pairs, &trainer)?;
    assert!(model.training.as_ref().is_some_and(|record| record.certified && record.relaxed.is_some()));
    let solution = model.solve(&Pair::new(bent(0.0)?, bent(0.15)?))?;
    assert_eq!((solution.status, solution.matching), (Status::Optimal, Matching::identity(6)));
    Ok(())
}

#[test]
fn runs() -> homolog::Result<()> {
    main()
}
