//! Runs of the optimiser can be watched, stopped, saved and continued anywhere, also along a path of lambdas; what does not fit
//! or is not a number is refused.

use crate::polyhedral;

use homolog::optimize::{Bundle, Minimum, Plane, Risk, State, StopReason, WeightRule};
use homolog::{Error, Result};
use polyhedral::{Polyhedral, assert_lawful, exact, onward};
use std::ops::ControlFlow;

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
    let lambdas = [10.0, 1.0, 0.1, 0.01, 1e-3];
    let mut risk = Polyhedral::random(400, 15, 4, 1.0, 8);
    risk.floor = Some(-2.0);
    let alone: Vec<Minimum> = lambdas.iter().map(|&l| exact(l).minimize(&mut risk, &mut onward).unwrap()).collect();
    let separate = risk.evaluations;
    risk.evaluations = 0;
    let mut state = State::new(&risk, &[], None).unwrap();
    let minima: Vec<Minimum> =
        lambdas.iter().map(|&lambda| exact(lambda).run(&mut state, &mut risk, &mut onward).unwrap()).collect();
    assert!(risk.evaluations < separate, "{} against {separate}", risk.evaluations);
    for (one, other) in minima.iter().zip(&alone) {
        assert_eq!((one.stop, one.lambda), (StopReason::Converged, other.lambda));
        assert!((one.objective - other.objective).abs() <= 1e-8 * other.objective.abs());
        assert_lawful(one, other.objective, &format!("lambda {}", one.lambda));
    }
}

/// Runs a path, stopping at every step in `breaks`, and each time continues from the state as read back from its JSON.
fn in_pieces(breaks: impl Fn(usize) -> bool) -> String {
    let rules: Vec<WeightRule> =
        [WeightRule::NonNegative, WeightRule::Free, WeightRule::Fixed(0.3)].into_iter().cycle().take(15).collect();
    let mut risk = Polyhedral::random(300, 15, 3, 1.0, 10);
    let bundle = Bundle { gap_tolerance: 1e-8, max_planes: 25, ..Bundle::default() };
    let lambdas = [1.0, 1e-2, 1e-4];
    let mut state = State::new(&risk, &rules, None).unwrap();
    let (mut steps, mut minima) = (0, Vec::new());
    while minima.len() < lambdas.len() {
        let bundle = Bundle { lambda: lambdas[minima.len()], ..bundle };
        let minimum = bundle
            .run(&mut state, &mut risk, &mut |_| {
                steps += 1;
                if breaks(steps) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        if minimum.stop != StopReason::Interrupted {
            minima.push(minimum);
        }
        let written = serde_json::to_string(&state).unwrap();
        state = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&state).unwrap(), written);
    }
    serde_json::to_string(&(minima, state)).unwrap()
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
    // Numbers as large as possible, and lists that are too short: an error, not a panic.
    for (field, value) in [("anchors", serde_json::json!([u64::MAX, 0])), ("share", serde_json::json!([]))] {
        let mut written = serde_json::to_value(&state).unwrap();
        written["qp"][field] = value;
        let mut broken: State = serde_json::from_value(written).unwrap();
        let error = exact(1.0).run(&mut broken, &mut risk, &mut onward).unwrap_err();
        assert!(matches!(error, Error::OutOfRange { .. } | Error::Size { .. }), "{error}");
    }
    // The anchor of a part is a plane of that part.
    let mut swapped = serde_json::to_value(&state).unwrap();
    swapped["qp"]["anchors"].as_array_mut().unwrap().swap(0, 1);
    let mut broken: State = serde_json::from_value(swapped).unwrap();
    assert!(exact(1.0).run(&mut broken, &mut risk, &mut onward).is_err());
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
    /// Corrupts the planes, or the value.
    type Way = fn(&mut [Plane]) -> Option<f64>;
    /// Misbehaves in one way at one evaluation.
    struct Broken(Polyhedral, Way);
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
    let ways: [Way; 5] = [
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
        // The second try succeeds, with the same result.
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

/// The hinge max(0, 1 - w) by a search that finds it only at every third evaluation.
struct Careless {
    evaluations: usize,
}

impl Risk for Careless {
    fn dim(&self) -> usize {
        1
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        self.evaluations += 1;
        if self.evaluations.is_multiple_of(3) && weights[0] < 1.0 {
            planes[0] = Plane { slope: vec![-1.0], offset: 1.0 };
            return Ok(1.0 - weights[0]);
        }
        Ok(0.0)
    }

    fn may_find_more(&self) -> bool {
        true
    }
}

#[test]
fn second_looks_find_what_a_careless_search_missed() {
    let run = |second_looks| {
        let bundle = Bundle { lambda: 0.1, second_looks, ..Bundle::default() };
        bundle.minimize(&mut Careless { evaluations: 0 }, &mut onward).unwrap()
    };
    // Without them the first answer, a risk of zero at zero, is mistaken for the minimum.
    let hasty = run(0);
    assert_eq!((hasty.stop, hasty.objective, hasty.history.len()), (StopReason::Converged, 0.0, 1));
    let patient = run(3);
    assert_eq!(patient.stop, StopReason::Converged);
    assert!((patient.objective - 0.05).abs() < 1e-4, "{patient:?}");
    // A run that ends where the evaluations do says so.
    let limited = Bundle { lambda: 0.1, max_iterations: 2, ..Bundle::default() };
    assert_eq!(limited.minimize(&mut Careless { evaluations: 0 }, &mut onward).unwrap().history.len(), 2);
}

/// An oracle that is never closer than it is asked to be.
struct Hasty(Polyhedral);

impl Risk for Hasty {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn parts(&self) -> usize {
        self.0.parts.len()
    }

    fn aim(&mut self, closeness: f64) {
        // The value is off by the slack on one side, the plane on the other, in every part.
        self.0.slack = closeness / (2 * self.0.parts.len()) as f64;
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> Result<f64> {
        self.0.evaluate(weights, planes)
    }
}

#[test]
fn an_oracle_that_is_only_as_close_as_it_is_asked_to_be_is_close_enough() {
    for (seed, parts, lambda) in [(20, 1, 1.0), (21, 4, 0.1), (22, 10, 0.01), (23, 3, 1e-3)] {
        let exact = Polyhedral::random(200, 12, parts, 1.0, seed);
        let wanted = exact.wanted(lambda, &[]);
        let bundle = Bundle { lambda, gap_tolerance: 1e-5, ..Bundle::default() };
        let minimum = bundle.minimize(&mut Hasty(exact), &mut onward).unwrap();
        assert_eq!(minimum.stop, StopReason::Converged, "{lambda}: {minimum:?}");
        assert_lawful(&minimum, wanted, &format!("lambda {lambda}"));
    }
}
