//! Laws of the optimiser: its bounds are bounds at every step, and it agrees with an independent solver.

use crate::polyhedral;

use homolog::Result;
use homolog::optimize::{Bundle, Centred, Plane, Risk, State, StopReason, WeightRule};
use polyhedral::{Polyhedral, assert_lawful, exact, onward, value};

#[test]
fn agrees_with_an_independent_solver() {
    let sizes = [
        (1, 1, 1),
        (2, 1, 1),
        (3, 2, 1),
        (10, 4, 2),
        (50, 8, 1),
        (120, 20, 6),
        (500, 10, 10),
        (500, 30, 3),
        (60, 100, 4),
    ];
    for (seed, (count, dim, parts)) in sizes.into_iter().enumerate() {
        for (scale, lambda) in [(1.0, 1.0), (1.0, 1e-3), (1e-6, 1e-6), (1e6, 1e6)] {
            let what = format!("{count} planes, dim {dim}, parts {parts}, scale {scale}, lambda {lambda}");
            let mut risk = Polyhedral::random(count, dim, parts, scale, seed as u64);
            let wanted = risk.wanted(lambda, &[]);
            let minimum = exact(lambda).minimize(&mut risk, &mut onward).unwrap();
            assert_eq!(minimum.stop, StopReason::Converged, "{what}");
            assert!(
                (minimum.objective - wanted).abs() < 1e-6 * wanted.abs().max(1e-3),
                "{what}: {minimum:?} is not {wanted}"
            );
            assert_lawful(&minimum, wanted, &what);
            assert_eq!(minimum.history.len(), risk.evaluations);
        }
    }
}

#[test]
fn keeps_weights_fixed_and_non_negative() {
    let mut held_at_zero = 0;
    for seed in 0..8_u32 {
        let (dim, parts) = (6 + 4 * seed as usize, 3);
        let mut risk = Polyhedral::random(80, dim, parts, 1.0, seed.into());
        let rules: Vec<WeightRule> = (0..dim)
            .map(|j| match j % 3 {
                0 => WeightRule::NonNegative,
                1 => WeightRule::Free,
                _ => WeightRule::Fixed(j as f64 / 10.0 - 0.5),
            })
            .collect();
        let wanted = risk.wanted(0.1, &rules);
        let mut state = State::new(&risk, &rules, Some(&vec![-1.0; dim])).unwrap();
        let minimum = exact(0.1).run(&mut state, &mut risk, &mut onward).unwrap();
        assert_eq!(minimum.stop, StopReason::Converged);
        assert!((minimum.objective - wanted).abs() < 1e-6 * wanted.abs(), "{} is not {wanted}", minimum.objective);
        assert_lawful(&minimum, wanted, "rules");
        for (weight, rule) in minimum.weights.iter().zip(&rules) {
            assert_eq!(*weight, rule.apply(*weight));
        }
        held_at_zero += minimum.weights.iter().step_by(3).filter(|&&weight| weight < 1e-6).count();
    }
    assert!(held_at_zero > 10, "only {held_at_zero} weights would be negative without a rule");
}

#[test]
fn around_a_centre_the_minimum_is_that_of_the_other_solver() {
    // λ/2 |w - c|² + R(w) = λ/2 |v|² + R(c + v): by the wrapper, and by planes moved by hand.
    for (seed, lambda) in [(31, 1.0), (32, 0.03), (33, 1e-3)] {
        let mut risk = Polyhedral::random(80, 6, 3, 1.0, seed);
        let centre: Vec<f64> = (0..6).map(|j| [0.5, -0.3, 2.0][j % 3]).collect();
        let rules: Vec<WeightRule> =
            (0..6).map(|j| [WeightRule::AtLeast(0.2), WeightRule::Free, WeightRule::NonNegative][j % 3]).collect();
        let mut moved = Polyhedral::random(80, 6, 3, 1.0, seed);
        for plane in moved.parts.iter_mut().flatten() {
            plane.offset += plane.slope.iter().zip(&centre).map(|(a, c)| a * c).sum::<f64>();
        }
        let moved_rules: Vec<WeightRule> = (0..6)
            .map(|j| [WeightRule::AtLeast(0.2 - 0.5), WeightRule::Free, WeightRule::AtLeast(-2.0)][j % 3])
            .collect();
        let wanted = moved.wanted(lambda, &moved_rules);
        let own_rules = Centred::rules(&rules, &centre);
        let mut centred = Centred::new(&mut risk, &centre).unwrap();
        let mut state = State::new(&centred, &own_rules, None).unwrap();
        let minimum = exact(lambda).run(&mut state, &mut centred, &mut onward).unwrap();
        assert!((minimum.objective - wanted).abs() < 1e-6 * wanted.abs(), "{} is not {wanted}", minimum.objective);
        assert_lawful(&minimum, wanted, "centred");
    }
}

#[test]
fn a_smooth_risk_is_minimised_too() {
    /// R(w) = |w - c|² / 2, so min J is at c / (1 + lambda).
    struct Bowl(Vec<f64>);
    impl Risk for Bowl {
        fn dim(&self) -> usize {
            self.0.len()
        }
        fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
            let slope: Vec<f64> = weights.iter().zip(&self.0).map(|(w, c)| w - c).collect();
            let value = 0.5 * slope.iter().map(|x| x * x).sum::<f64>();
            planes[0].offset = value - slope.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
            planes[0].slope = slope;
            Ok(value)
        }
    }
    let centre = [1.0, -2.0, 0.5, 3.0];
    let bundle = Bundle { lambda: 0.5, gap_tolerance: 1e-6, ..Bundle::default() };
    let minimum = bundle.minimize(&mut Bowl(centre.to_vec()), &mut onward).unwrap();
    assert_eq!(minimum.stop, StopReason::Converged);
    for (weight, c) in minimum.weights.iter().zip(centre) {
        assert!((weight - c / 1.5).abs() < 1e-2, "{:?}", minimum.weights);
    }
    let squares: f64 = centre.iter().map(|c| c * c).sum();
    assert_lawful(&minimum, squares * 0.5 * 0.5 / 1.5, "bowl");
}

#[test]
fn a_floor_saves_evaluations_and_changes_nothing_else() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..6 {
        let mut risk = Polyhedral::random(200, 15, 4, 3.0, seed);
        risk.parts.iter_mut().for_each(|part| part.push(Plane { slope: vec![0.0; 15], offset: 0.0 }));
        let plain = exact(1e-3).minimize(&mut risk, &mut onward).unwrap();
        risk.floor = Some(0.0);
        let floored = exact(1e-3).minimize(&mut risk, &mut onward).unwrap();
        assert!((plain.objective - floored.objective).abs() < 1e-7 * plain.objective.abs());
        with += floored.history.len();
        without += plain.history.len();
    }
    assert!(with < without, "{with} evaluations with the floor, {without} without");
}

#[test]
fn few_planes_cost_evaluations_but_no_truth() {
    for (parts, max_planes) in [(1, 2), (1, 6), (4, 8), (4, 20)] {
        let mut risk = Polyhedral::random(150, 12, parts, 1.0, 5);
        let wanted = risk.wanted(0.3, &[]);
        let bundle = Bundle { lambda: 0.3, gap_tolerance: 1e-2, max_iterations: 3000, max_planes, ..Bundle::default() };
        let minimum = bundle.minimize(&mut risk, &mut onward).unwrap();
        assert_lawful(&minimum, wanted, &format!("{max_planes} planes"));
        assert_eq!(minimum.stop, StopReason::Converged, "{max_planes} planes, gap {}", minimum.gap);
        assert!(minimum.history.iter().all(|step| step.planes <= max_planes.max(2 * parts)));
    }
}

#[test]
fn an_inexact_oracle_leaves_the_bounds_true_and_the_run_ends() {
    for seed in 0..5 {
        let mut risk = Polyhedral::random(60, 8, 3, 1.0, seed);
        let wanted = risk.wanted(0.1, &[]);
        risk.slack = 1e-2;
        let minimum = exact(0.1).minimize(&mut risk, &mut onward).unwrap();
        assert_eq!(minimum.stop, StopReason::Stalled);
        assert!(minimum.history.len() < 200, "{} evaluations", minimum.history.len());
        assert!(minimum.bound <= wanted && wanted <= minimum.objective);
        // Three parts, each off by the slack on both sides.
        assert!(minimum.objective - minimum.bound < 3.0 * 0.02 + 1e-6, "{minimum:?}");
    }
}

#[test]
fn a_search_that_misses_the_worst_case_does_not_pass_for_the_best() {
    /// Every other time a plane other than the highest is found, and the value is only that plane's.
    struct Poor(Polyhedral);
    impl Risk for Poor {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
            self.0.evaluate(weights, planes)?;
            if self.0.evaluations.is_multiple_of(2) {
                planes[0] = self.0.parts[0][self.0.evaluations % self.0.parts[0].len()].clone();
            }
            Ok(value(&planes[0], weights))
        }
    }
    for seed in 0..5 {
        let mut risk = Poor(Polyhedral::random(60, 8, 1, 1.0, seed));
        let wanted = risk.0.wanted(0.1, &[]);
        let minimum = exact(0.1).minimize(&mut risk, &mut onward).unwrap();
        assert!(minimum.gap >= -1e-9 && minimum.bound <= wanted + 1e-9);
        assert!((minimum.objective - wanted).abs() < 1e-2, "{} is not {wanted}", minimum.objective);
    }
}

#[test]
fn lambda_far_too_small_still_moves_and_says_that_it_did_not_converge() {
    for (lambda, floor) in [(1e-12, Some(0.0)), (1e-30, Some(0.0)), (1e-12, None)] {
        // A hinge: the risk is the loss at zero, falls along the diagonal and ends at 0.
        let mut risk = Polyhedral::random(3000, 40, 5, 1.0, 9);
        for plane in risk.parts.iter_mut().flatten() {
            plane.offset = plane.offset.abs();
            plane.slope.iter_mut().for_each(|slope| *slope -= 0.3);
        }
        risk.parts.iter_mut().for_each(|part| part.push(Plane { slope: vec![0.0; 40], offset: 0.0 }));
        risk.floor = floor;
        let at_zero = risk.evaluate(&[0.0; 40], &mut vec![Plane::default(); 5]).unwrap();
        let bundle = Bundle { lambda, max_iterations: 10, ..Bundle::default() };
        let minimum = bundle.minimize(&mut risk, &mut onward).unwrap();
        let what = format!("lambda {lambda}, floor {floor:?}: {:?}", minimum.history.last());
        assert_eq!(minimum.stop, StopReason::IterationLimit, "{what}");
        assert!(minimum.weights.iter().all(|weight| weight.is_finite()) && minimum.gap.is_finite(), "{what}");
        assert!(minimum.weights.iter().any(|&weight| weight != 0.0) && minimum.risk < 0.9 * at_zero, "{what}");
    }
}

#[test]
fn a_warm_start_begins_where_it_is_told() {
    struct Watched(Polyhedral, Vec<Vec<f64>>);
    impl Risk for Watched {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
            self.1.push(weights.to_vec());
            self.0.evaluate(weights, planes)
        }
    }
    let mut risk = Watched(Polyhedral::random(100, 10, 1, 1.0, 4), Vec::new());
    let cold = exact(0.1).minimize(&mut risk, &mut onward).unwrap();
    assert_eq!(risk.1[0], [0.0; 10]);
    risk.1.clear();
    let mut state = State::new(&risk, &[], Some(&cold.weights)).unwrap();
    let warm = exact(0.1).run(&mut state, &mut risk, &mut onward).unwrap();
    assert_eq!(risk.1[0], cold.weights);
    assert!(warm.history[0].objective <= cold.objective && (warm.objective - cold.objective).abs() < 1e-8);
}
