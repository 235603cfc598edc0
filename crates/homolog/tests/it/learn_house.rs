//! The paper's house experiment with linear assignment, against the figures of the authors' program.

use crate::common;

use common::house::house;
use homolog::Control;
use homolog::data::Split;
use homolog::features::FeatureMap;
use homolog::learn::{MaxMargin, Trainer, TrainingSet, evaluate};
use homolog::loss::Hamming;
use homolog::matching::Linear;
use homolog::optimize::Bundle;

/// The authors' learned test losses at baselines 0, 10, ..., 90.
const AUTHORS: [f64; 10] = [0.0, 0.0, 0.002, 0.0, 0.0, 0.013, 0.049, 0.072, 0.113, 0.143];

#[test]
fn zero_weights_do_no_better_than_chance() {
    let Some(sequence) = house(FeatureMap::paper_linear()) else { return };
    let mut losses = Vec::new();
    for baseline in [0, 30, 90] {
        for split in Split::ALL {
            let examples = sequence.examples(baseline, split, &Hamming::default()).unwrap();
            losses.extend(evaluate(&examples, &Linear::default(), &[0.0; 60], &Control::new()).unwrap().losses);
        }
    }
    let mean = losses.iter().sum::<f64>() / losses.len() as f64;
    // A random permutation has one fixed point on average: loss 29/30, standard error about 1/30/sqrt(213).
    assert!((mean - 29.0 / 30.0).abs() < 0.01, "mean loss {mean}");
}

#[test]
fn learned_linear_assignment_is_as_good_as_the_authors() {
    let Some(sequence) = house(FeatureMap::paper_linear()) else { return };
    // Within the default gap of 1e-3 weights can still differ in a node or two, and so can the choice of λ.
    let learner = MaxMargin { bundle: Bundle { gap_tolerance: 1e-4, ..Bundle::default() }, ..MaxMargin::default() };
    let control = Control::new();
    let lambdas = [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4];
    for (step, authors) in AUTHORS.into_iter().enumerate() {
        let [train, validation, test] =
            Split::ALL.map(|split| sequence.examples(step * 10, split, &Hamming::default()).unwrap());
        let matcher = Linear::default();
        let trainer = Trainer { bundle: learner.bundle, lambdas: lambdas.to_vec(), ..Trainer::paper() };
        let set = TrainingSet::of_examples(FeatureMap::paper_linear(), train.clone(), validation);
        let trained = trainer.train(&set, &control).unwrap();
        // The choice ends where the validation loss is zero; what holds for every λ is checked on the whole path.
        let fits = learner.fit_path(&lambdas, &train, &matcher, &control).unwrap();
        assert_eq!(fits.len(), lambdas.len());
        for fit in &fits {
            assert!(
                fit.certified && fit.minimum.bound <= fit.minimum.objective && fit.minimum.gap <= 1e-3,
                "λ {}: {}",
                fit.minimum.lambda,
                fit.note()
            );
            // The paper's lemma: the mean slack is no less than the mean training loss.
            let loss = evaluate(&train, &matcher, &fit.minimum.weights, &control).unwrap().mean();
            assert!(fit.minimum.risk >= loss - 1e-9, "slack {} and loss {loss}", fit.minimum.risk);
        }
        let learned = evaluate(&test, &matcher, trained.weights(), &control).unwrap();
        let unlearned = evaluate(&test, &matcher, &[1.0; 60], &control).unwrap();
        println!(
            "baseline {:2}: unlearned {:.3}, learned {:.3} ({:.3}) at λ {}, authors {authors}",
            step * 10,
            unlearned.mean(),
            learned.mean(),
            learned.standard_error(),
            trained.best().lambda().unwrap()
        );
        // At baselines 30 and 50 the optimum at the chosen λ is more than one standard error above the authors' row (docs/paper.md):
        // a tie in validation goes to the larger λ. A second standard error leaves room for that.
        let allowed = 2.0 * learned.standard_error() + 0.005;
        assert!(learned.mean() <= authors + allowed);
        assert!(learned.mean() <= unlearned.mean() + allowed);
    }
}
