//! Laws of the optimiser: its bounds are bounds at every step, it agrees with an independent solver, and it can be stopped, written
//! down and continued anywhere.
#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "a panic is a test's report")]

mod reference;

use homolog::optimize::{Bundle, Minimum, Path, PathState, Plane, Risk, State, Step, StopReason, WeightRule};
use homolog::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reference::Row;
use std::ops::ControlFlow;

/// R(w) = Σ_part max over given planes; `slack` is how much an inexact oracle's value may be above its plane.
struct Polyhedral {
    parts: Vec<Vec<Plane>>,
    floor: Option<f64>,
    slack: f64,
    evaluations: usize,
}

impl Polyhedral {
    fn random(count: usize, dim: usize, parts: usize, scale: f64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut planes = vec![Vec::new(); parts];
        for i in 0..count {
            let slope = (0..dim).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
            planes[i % parts].push(Plane { slope, offset: rng.random_range(-1.0..1.0) });
        }
        Self { parts: planes, floor: None, slack: 0.0, evaluations: 0 }
    }

    fn dim(&self) -> usize {
        self.parts[0][0].slope.len()
    }

    /// The minimum by the independent solver, under rules.
    fn wanted(&self, lambda: f64, rules: &[WeightRule]) -> f64 {
        let row = |part, slope: Vec<f64>, offset| Row { part, slope, offset };
        let mut rows = Vec::new();
        for (part, planes) in self.parts.iter().enumerate() {
            rows.extend(planes.iter().map(|plane| row(Some(part), plane.slope.clone(), plane.offset)));
            rows.extend(self.floor.map(|floor| row(Some(part), vec![0.0; self.dim()], floor)));
        }
        for (j, rule) in rules.iter().enumerate() {
            let unit = |sign: f64| (0..self.dim()).map(|i| if i == j { sign } else { 0.0 }).collect::<Vec<f64>>();
            match *rule {
                WeightRule::Free => {}
                WeightRule::NonNegative => rows.push(row(None, unit(-1.0), 0.0)),
                WeightRule::Fixed(value) => {
                    rows.push(row(None, unit(1.0), -value));
                    rows.push(row(None, unit(-1.0), value));
                }
            }
        }
        reference::minimum(&rows, self.parts.len(), lambda).expect("the other solver solves these")
    }
}

fn value(plane: &Plane, weights: &[f64]) -> f64 {
    plane.offset + plane.slope.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>()
}

impl Risk for Polyhedral {
    fn dim(&self) -> usize {
        self.dim()
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn floor(&self) -> Option<f64> {
        self.floor
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        self.evaluations += 1;
        let mut total = 0.0;
        for (part, out) in self.parts.iter().zip(planes) {
            let best = part.iter().max_by(|a, b| value(a, weights).total_cmp(&value(b, weights))).unwrap();
            // The true value, or a plane a little below the truth and a value a little above it.
            total += value(best, weights).max(self.floor.unwrap_or(f64::MIN)) + self.slack;
            *out = Plane { slope: best.slope.clone(), offset: best.offset - self.slack };
        }
        Ok(total)
    }
}

fn onward(_: &Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn exact(lambda: f64) -> Bundle {
    Bundle { lambda, gap_tolerance: 1e-9, ..Bundle::default() }
}

/// What must hold of every run: the bound never falls, the objective never rises, the one never passes the other.
fn assert_lawful(minimum: &Minimum, wanted: f64, what: &str) {
    let scale = 1e-6 * wanted.abs().max(1e-3);
    let mut last: Option<&Step> = None;
    for (i, step) in minimum.history.iter().enumerate() {
        assert_eq!(step.iteration, i + 1, "{what}");
        assert!(step.bound <= wanted + scale && wanted <= step.objective + scale, "{what}: {step:?} but {wanted}");
        assert!(step.gap >= -1e-9, "{what}: {step:?}");
        if let Some(last) = last {
            assert!(step.bound >= last.bound && step.objective <= last.objective, "{what}: {last:?} then {step:?}");
        }
        last = Some(step);
    }
    assert!(minimum.weights.iter().all(|weight| weight.is_finite()), "{what}");
}

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
            match *rule {
                WeightRule::Free => {}
                WeightRule::NonNegative => assert!(*weight >= 0.0),
                WeightRule::Fixed(value) => assert_eq!(*weight, value),
            }
        }
        held_at_zero += minimum.weights.iter().step_by(3).filter(|&&weight| weight < 1e-6).count();
    }
    assert!(held_at_zero > 10, "only {held_at_zero} weights would be negative without a rule");
}

#[test]
fn a_smooth_risk_is_minimised_too() {
    /// R(w) = |w - c|² / 2, so that min J is at c / (1 + lambda).
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
        let bundle = Bundle { lambda: 0.3, gap_tolerance: 1e-2, max_iterations: 3000, max_planes };
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

#[test]
fn the_observer_sees_every_step_and_ends_the_run() {
    let mut risk = Polyhedral::random(200, 20, 2, 1.0, 6);
    let mut seen = Vec::new();
    let minimum = exact(0.01)
        .minimize(&mut risk, &mut |step| {
            seen.push(*step);
            if step.iteration == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((minimum.stop, risk.evaluations), (StopReason::Interrupted, 7));
    assert_eq!(minimum.history, seen);
    let last = seen[6];
    assert_eq!((minimum.objective, minimum.bound, minimum.gap), (last.objective, last.bound, last.gap));
    let again = Bundle { max_iterations: 7, ..exact(0.01) }.minimize(&mut risk, &mut onward).unwrap();
    assert_eq!(again.stop, StopReason::IterationLimit);
    assert_eq!(again.weights, minimum.weights);
}

#[test]
fn a_path_costs_less_than_its_lambdas_and_finds_the_same() {
    let lambdas = vec![10.0, 1.0, 0.1, 0.01, 1e-3];
    let mut risk = Polyhedral::random(400, 15, 4, 1.0, 8);
    risk.floor = Some(-2.0);
    let alone: Vec<Minimum> = lambdas.iter().map(|&l| exact(l).minimize(&mut risk, &mut onward).unwrap()).collect();
    let separate = risk.evaluations;
    risk.evaluations = 0;
    let path = Path { lambdas, bundle: exact(f64::NAN) };
    let mut state = PathState { minima: Vec::new(), state: State::new(&risk, &[], None).unwrap() };
    let minima = path.run(&mut state, &mut risk, &mut onward).unwrap();
    assert!(risk.evaluations < separate, "{} against {separate}", risk.evaluations);
    for (one, other) in minima.iter().zip(&alone) {
        assert_eq!((one.stop, one.lambda), (StopReason::Converged, other.lambda));
        assert!((one.objective - other.objective).abs() <= 1e-8 * other.objective.abs());
        assert_lawful(one, other.objective, &format!("lambda {}", one.lambda));
    }
}

/// Runs a path, breaking off at every step in `breaks`, and each time goes on from the state as read back from its JSON.
fn in_pieces(breaks: impl Fn(usize) -> bool) -> String {
    let rules: Vec<WeightRule> =
        [WeightRule::NonNegative, WeightRule::Free, WeightRule::Fixed(0.3)].into_iter().cycle().take(15).collect();
    let mut risk = Polyhedral::random(300, 15, 3, 1.0, 10);
    let bundle = Bundle { gap_tolerance: 1e-8, max_planes: 25, ..Bundle::default() };
    let path = Path { lambdas: vec![1.0, 1e-2, 1e-4], bundle };
    let mut state = PathState { minima: Vec::new(), state: State::new(&risk, &rules, None).unwrap() };
    let mut steps = 0;
    loop {
        let minima = path
            .run(&mut state, &mut risk, &mut |_| {
                steps += 1;
                if breaks(steps) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        if minima.last().is_none_or(|last| last.stop != StopReason::Interrupted) {
            return serde_json::to_string(&(minima, state)).unwrap();
        }
        let written = serde_json::to_string(&state).unwrap();
        state = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&state).unwrap(), written);
    }
}

#[test]
fn a_run_continued_from_a_checkpoint_gives_the_same_bytes() {
    let whole = in_pieces(|_| false);
    assert_eq!(in_pieces(|step| step % 7 == 3), whole);
    assert_eq!(in_pieces(|_| true), whole);
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let mut risk = Polyhedral::random(20, 5, 2, 1.0, 11);
    let mut state = State::new(&risk, &[], None).unwrap();
    exact(1.0).run(&mut state, &mut risk, &mut onward).unwrap();
    let mut wider = Polyhedral::random(20, 6, 2, 1.0, 11);
    assert!(matches!(exact(1.0).run(&mut state.clone(), &mut wider, &mut onward), Err(Error::Size { .. })));
    let mut more_parts = Polyhedral::random(20, 5, 3, 1.0, 11);
    assert!(matches!(exact(1.0).run(&mut state.clone(), &mut more_parts, &mut onward), Err(Error::Size { .. })));
    let mut written: serde_json::Value = serde_json::to_value(&state).unwrap();
    written["qp"]["anchors"][0] = 999.into();
    let mut broken: State = serde_json::from_value(written.clone()).unwrap();
    assert!(matches!(exact(1.0).run(&mut broken, &mut risk, &mut onward), Err(Error::OutOfRange { .. })));
    written["unknown"] = 1.into();
    assert!(serde_json::from_value::<State>(written).is_err());
    let short = [WeightRule::Free; 3];
    assert!(matches!(State::new(&risk, &short, None), Err(Error::Size { expected: 5, found: 3, .. })));
    assert!(matches!(State::new(&risk, &[], Some(&[f64::NAN; 5])), Err(Error::BadEntry { index: 0, .. })));
    let rules = [WeightRule::Fixed(f64::INFINITY); 5];
    assert!(matches!(State::new(&risk, &rules, None), Err(Error::BadEntry { .. })));
}

#[test]
fn nonsense_from_the_oracle_is_an_error_and_the_state_stays_good() {
    /// Misbehaves in one way at one evaluation.
    struct Broken(Polyhedral, fn(&mut [Plane]) -> Option<f64>);
    impl Risk for Broken {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn parts(&self) -> usize {
            self.0.parts()
        }
        fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
            let value = self.0.evaluate(weights, planes)?;
            if self.0.evaluations != 4 {
                return Ok(value);
            }
            Ok((self.1)(planes).unwrap_or(value))
        }
    }
    let ways: [fn(&mut [Plane]) -> Option<f64>; 5] = [
        |_| Some(f64::NAN),
        |_| Some(f64::INFINITY),
        |planes| {
            planes[1].offset = f64::NAN;
            None
        },
        |planes| {
            planes[1].slope[2] = f64::NEG_INFINITY;
            None
        },
        |planes| {
            planes[0].slope.pop();
            None
        },
    ];
    let untouched = exact(0.1).minimize(&mut Polyhedral::random(50, 6, 2, 1.0, 12), &mut onward).unwrap();
    for way in ways {
        let mut risk = Broken(Polyhedral::random(50, 6, 2, 1.0, 12), way);
        let mut state = State::new(&risk, &[], None).unwrap();
        let error = exact(0.1).run(&mut state, &mut risk, &mut onward).unwrap_err();
        assert!(matches!(error, Error::BadEntry { .. } | Error::Size { .. }), "{error}");
        // The second try gets through, to the same end.
        assert_eq!(exact(0.1).run(&mut state, &mut risk, &mut onward).unwrap(), untouched);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let mut risk = Polyhedral::random(5, 2, 1, 1.0, 13);
    let good = Bundle::default();
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Bundle { lambda, ..good }.minimize(&mut risk, &mut onward).unwrap_err();
        assert!(matches!(error, Error::BadSetting { name: "lambda", .. }));
    }
    for gap_tolerance in [-1e-3, f64::NAN, f64::INFINITY] {
        let error = Bundle { gap_tolerance, ..good }.minimize(&mut risk, &mut onward).unwrap_err();
        assert!(matches!(error, Error::BadSetting { name: "gap_tolerance", .. }));
    }
    assert_eq!(risk.evaluations, 0);
    assert_eq!(serde_json::from_str::<Bundle>("{}").unwrap(), good);
    assert!(serde_json::from_str::<Bundle>(r#"{"lamda":1}"#).is_err());
}
