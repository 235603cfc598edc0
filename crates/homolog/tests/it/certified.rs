//! Learning against the relaxation: bounds that an independent solver confirms, the lemma, the same bytes on any number of threads and
//! after an interruption, for both losses, partial matchings and prices of staying unmatched.

use crate::common;
use crate::relaxed_reference;

use common::rng;
use homolog::features::{
    Adjacency, Descriptor, Difference, EdgeKind, FeatureMap, LengthUnit, Lengths, NodeFeature, Position,
};
use homolog::geometry::{Delaunay, EdgeRule};
use homolog::graph::{Graph, Pair};
use homolog::learn::{Example, Fit, MaxMargin, Oracle, Trainer, Training, TrainingSet, evaluate};
use homolog::loss::{Endpoint, Hamming, Loss};
use homolog::matching::{
    BruteForce, Compatibility, Constraint, Exact, FrankWolfe, Linear, LpRelaxation, Matcher, Matching, Method, Status,
};
use homolog::optimize::{Bundle, StopReason};
use homolog::{Control, Error};
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use relaxed_reference::reference;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What kind of problem to learn.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Left nodes may stay unmatched at a learned price.
    unmatched: bool,
    /// The truth has no partner for the first left node.
    partial: bool,
    loss: &'static (dyn Loss + 'static),
    nodes: [usize; 2],
}

pub(crate) fn cases() -> [Case; 4] {
    let case = |name, unmatched, loss, nodes| Case { name, unmatched, partial: unmatched, loss, nodes };
    [
        case("hamming", false, &Hamming { unmatched_is_label: false }, [5, 5]),
        case("hamming, more right nodes", false, &Hamming { unmatched_is_label: false }, [4, 6]),
        case("no partner is a label", true, &Hamming { unmatched_is_label: true }, [5, 4]),
        case("endpoint", true, &Endpoint { sigma: Some(1.0), unmatched: 0.5 }, [4, 5]),
    ]
}

/// Random points, their jittered copies and some further points; positions, adjacency and lengths are compared.
pub(crate) fn examples(case: Case, count: usize, seed: u64) -> Vec<Example> {
    let mut rng = rng(seed);
    let lengths = Lengths { unit: LengthUnit::Coordinates, difference: Difference::NegativeSquare };
    let map = FeatureMap {
        node: vec![NodeFeature {
            descriptor: Descriptor::Position(Position::default()),
            comparison: homolog::features::Comparison::default(),
        }],
        edge_rule: Some(EdgeRule::Delaunay(Delaunay {})),
        edge: vec![EdgeKind::Adjacency(Adjacency {}), EdgeKind::Lengths(lengths)],
        unmatched: case.unmatched,
        ..FeatureMap::paper_linear()
    };
    (0..count).map(|number| example(&map, case, number, &mut rng)).collect()
}

fn example(map: &FeatureMap, case: Case, number: usize, rng: &mut ChaCha8Rng) -> Example {
    let [n, m] = case.nodes;
    let left = Array2::from_shape_simple_fn((n, 2), || rng.random_range(0.0..1.0));
    let mut right = Array2::from_shape_simple_fn((m, 2), || rng.random_range(0.0..1.0));
    let mut truth = vec![None; n];
    for i in usize::from(case.partial)..n.min(m) {
        let k = (i + number) % m;
        truth[i] = Some(k);
        right.row_mut(k).assign(&left.row(i));
    }
    right.mapv_inplace(|x| x + rng.random_range(-0.3..0.3));
    let graph = |points: Array2<f64>| Arc::new(Graph::from_points(points).unwrap());
    let pair = Pair::new(graph(left), graph(right));
    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
    let truth = Matching::new(truth, m, Constraint::OneToOne).unwrap();
    Example::new(map.instance(&left, &right).unwrap(), &pair, truth, case.loss, number as u64).unwrap()
}

pub(crate) fn go_on() -> Control {
    Control::new()
}

/// Stops after this many steps with a value.
fn stop_after(steps: usize) -> Control {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    Control::new()
        .observed_by(move |report| {
            count.fetch_add(usize::from(report.value.is_some()), Ordering::SeqCst);
        })
        .interrupted_by(move || seen.load(Ordering::SeqCst) >= steps)
}

pub(crate) fn learner(lambda: f64, solver: LpRelaxation) -> MaxMargin {
    let bundle = Bundle { lambda, gap_tolerance: 0.01, max_iterations: 200, ..Bundle::default() };
    MaxMargin { bundle, oracle: Oracle::Relaxation(solver), ..MaxMargin::default() }
}

pub(crate) fn brute_force() -> BruteForce {
    BruteForce { max_matchings: 10_000_000 }
}

/// The problem including the losses, and what has to be added to its maximum to make it a slack. The cells of the loss are found from
/// losses alone.
pub(crate) fn augmented(example: &Example, weights: &[f64]) -> (Compatibility, f64) {
    let mut problem = example.instance().compatibility(weights).unwrap();
    let (n, m) = problem.node.dim();
    let constant = example.loss(&Matching::empty(n, m));
    for ((i, k), score) in problem.node.indexed_iter_mut() {
        let mut single = vec![None; n];
        single[i] = Some(k);
        *score += example.loss(&Matching::new(single, m, Constraint::OneToOne).unwrap()) - constant;
    }
    let features = example.instance().joint_features(example.truth()).unwrap();
    (problem, constant - features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum::<f64>())
}

/// The risk over matchings, by trying all; over soft matchings, by a general solver.
fn risks(examples: &[Example], weights: &[f64]) -> Option<(f64, f64)> {
    let (mut true_risk, mut relaxed_risk) = (0.0, 0.0);
    for example in examples {
        let (problem, constant) = augmented(example, weights);
        let best = brute_force().solve(&problem).unwrap().score;
        true_risk += (best + constant).max(0.0) / examples.len() as f64;
        relaxed_risk += (reference(&problem)? + constant).max(0.0) / examples.len() as f64;
    }
    Some((true_risk, relaxed_risk))
}

#[test]
fn objective_and_bound_enclose_the_relaxed_minimum_and_the_lemma_holds() {
    let mut loose = 0;
    for case in cases() {
        let examples = examples(case, 5, 1);
        // Once precise, and once so hasty that every evaluation is off.
        for max_iterations in [10_000, 40] {
            for lambda in [0.3, 0.01] {
                let solver = LpRelaxation { max_iterations, ..LpRelaxation::default() };
                let fit = learner(lambda, solver).fit(&examples, &brute_force(), &go_on()).unwrap();
                let what = format!("{}, λ {lambda}, {max_iterations} steps: {}", case.name, fit.note());
                assert!(fit.certified && fit.minimum.bound <= fit.minimum.objective, "{what}");
                assert!(max_iterations < 100 || fit.minimum.stop == StopReason::Converged, "{what}");
                let (true_risk, relaxed_risk) = risks(&examples, &fit.minimum.weights).unwrap();
                assert!(
                    true_risk <= fit.minimum.risk + 1e-9 && relaxed_risk <= fit.minimum.risk + 1e-6,
                    "{relaxed_risk}; {what}"
                );
                let loss = evaluate(&examples, &brute_force(), &fit.minimum.weights, &go_on()).unwrap().mean();
                assert!(
                    loss <= fit.minimum.risk + 1e-9 && fit.relaxed.unwrap().loss == Some(fit.minimum.risk),
                    "{loss}; {what}"
                );
                check_bound(&examples, &fit, &what);
                loose += usize::from(relaxed_risk > true_risk + 1e-4);
            }
        }
    }
    assert!(loose > 3, "soft matchings matter: {loose}");
}

/// No weights, near or far, have a relaxed objective below the bound: no plane has cut off a part of it.
fn check_bound(examples: &[Example], fit: &Fit, what: &str) {
    let mut rng = rng(2);
    for size in [0.0, 0.01, 0.1, 0.1, 1.0] {
        let other: Vec<f64> =
            fit.minimum.weights.iter().map(|weight| weight + size * rng.random_range(-1.0..1.0)).collect();
        let square: f64 = other.iter().map(|weight| weight * weight).sum();
        let Some((_, relaxed_risk)) = risks(examples, &other) else { continue };
        let objective = relaxed_risk + 0.5 * fit.minimum.lambda * square;
        assert!(objective >= fit.minimum.bound - 1e-6, "{objective} at {other:?}; {what}");
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let examples = examples(cases()[0], 40, 3);
            let learner = learner(1.0, LpRelaxation::default());
            let fits = learner.fit_path(&[0.1, 0.01], &examples, &Exact::default(), &go_on()).unwrap();
            serde_json::to_string(&fits).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn where_weights_and_relaxations_move_together_the_bytes_are_the_same_too() {
    let case = Case { nodes: [15, 15], ..cases()[0] };
    let examples = examples(case, 3, 8);
    let learner = learner(0.1, LpRelaxation::default());
    let run = |threads: usize, control: &Control| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut training = learner.start(&examples, None).unwrap();
        // Broken off at first, if at all; then to its end.
        let advance = |training: &mut _, control: &Control| {
            pool.install(|| learner.advance(training, 0.1, &examples, &Exact::default(), control).unwrap())
        };
        let fit = advance(&mut training, control);
        if fit.minimum.stop == StopReason::Interrupted { advance(&mut training, &go_on()) } else { fit }
    };
    let whole = run(1, &go_on());
    assert!(whole.certified && whole.minimum.stop == StopReason::Converged, "{}", whole.note());
    assert_eq!(whole, run(3, &go_on()));
    let looks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looks);
    let broken_off = Control::new()
        .observed_by(move |report| {
            count.fetch_add(usize::from(report.stage.ends_with("first weights")), Ordering::SeqCst);
        })
        .interrupted_by(move || looks.load(Ordering::SeqCst) >= 1);
    assert_eq!(whole, run(2, &broken_off));
}

#[test]
fn a_run_that_is_written_down_and_resumed_gives_the_same_bytes() {
    let examples = examples(cases()[2], 6, 4);
    let (learner, matcher, lambdas) = (learner(1.0, LpRelaxation::default()), Exact::default(), [0.1, 0.01, 1e-3]);
    let learner = MaxMargin { bundle: Bundle { gap_tolerance: 1e-3, ..learner.bundle }, ..learner };
    let whole = learner.fit_path(&lambdas, &examples, &matcher, &go_on()).unwrap();
    let steps: usize = whole.iter().map(|fit| fit.minimum.history.len()).sum();
    assert!(steps > 8);
    for stop in [1, 2, 5] {
        let mut training = learner.start(&examples, None).unwrap();
        let mut fits: Vec<Fit> = Vec::new();
        while fits.len() < lambdas.len() {
            let lambda = lambdas[fits.len()];
            let fit = learner.advance(&mut training, lambda, &examples, &matcher, &stop_after(stop)).unwrap();
            // Interrupted at the very end, the fit exists but not what the relaxation makes of it.
            if fit.minimum.stop != StopReason::Interrupted && fit.relaxed.unwrap().tight.is_some() {
                fits.push(fit);
            }
            let text = serde_json::to_string(&training).unwrap();
            training = serde_json::from_str::<Training>(&text).unwrap();
            assert_eq!(serde_json::to_string(&training).unwrap(), text);
        }
        assert_eq!(serde_json::to_string(&fits).unwrap(), serde_json::to_string(&whole).unwrap());
    }
}

#[test]
fn the_fit_says_what_is_proven() {
    let examples = examples(cases()[0], 6, 5);
    let learner = learner(0.1, LpRelaxation::default());
    // The matcher is not used in training: one that proves nothing does no harm.
    let fit = learner.fit(&examples, &FrankWolfe::default(), &go_on()).unwrap();
    let proof = fit.relaxed.unwrap();
    assert_eq!((proof.loss, proof.problems), (Some(fit.minimum.risk), 6));
    let root = Exact { max_branches: 1, ..Exact::default() };
    assert_eq!(proof.tight, Some(evaluate(&examples, &root, &fit.minimum.weights, &go_on()).unwrap().proven));
    let note = fit.note();
    let tight = format!("{} of 6 training problems", proof.tight.unwrap());
    assert!(note.contains(&format!("is at most {:.6} (proven)", fit.minimum.risk)) && note.contains(&tight), "{note}");
    // When interrupted, what is known by then is still proven.
    let strict = MaxMargin { bundle: Bundle { gap_tolerance: 1e-9, ..learner.bundle }, ..learner.clone() };
    let broken_off = strict.fit(&examples, &root, &stop_after(1)).unwrap();
    assert_eq!((broken_off.minimum.stop, broken_off.relaxed.unwrap().tight), (StopReason::Interrupted, None));
    assert!(
        broken_off.certified
            && broken_off.minimum.bound <= fit.minimum.objective
            && fit.minimum.bound <= broken_off.minimum.objective
    );
    // Truths that leave out a node that every answer matches: nothing follows for the loss.
    let partial = self::examples(Case { partial: true, ..cases()[0] }, 6, 5);
    let fit = learner.fit(&partial, &root, &go_on()).unwrap();
    assert!(fit.relaxed.unwrap().loss.is_none() && !fit.note().contains("training loss"), "{}", fit.note());
}

#[test]
fn lambda_is_chosen_by_a_matcher_after_training_by_the_relaxation() {
    let (train, validation) = (examples(cases()[1], 8, 6), examples(cases()[1], 8, 7));
    let MaxMargin { bundle, oracle, .. } = learner(1.0, LpRelaxation::default());
    let matcher = Method::BruteForce(brute_force());
    let trainer = Trainer { bundle, oracle, lambdas: vec![0.3, 0.03], matcher: Some(matcher), ..Trainer::paper() };
    let unlearned = vec![1.0; train[0].instance().dim()];
    let set = TrainingSet { unlearned, ..TrainingSet::of_examples(FeatureMap::paper_quadratic(), train, validation) };
    let trained = trainer.train(&set, &go_on()).unwrap();
    for candidate in &trained.candidates {
        let fit = candidate.fit.as_ref().unwrap();
        assert!(fit.relaxed.is_some());
        let losses = evaluate(&set.validation, &brute_force(), &fit.minimum.weights, &go_on()).unwrap();
        assert_eq!(candidate.validation, Some(losses));
    }
}

#[test]
fn a_truth_that_the_model_may_not_answer_with_proves_nothing_of_the_loss() {
    // Two left nodes share a right node in a one-to-one model: no prediction can be right.
    let map = FeatureMap {
        node: vec![NodeFeature {
            descriptor: Descriptor::Position(Position::default()),
            comparison: homolog::features::Comparison::default(),
        }],
        ..FeatureMap::paper_linear()
    };
    let graph = |points| Arc::new(Graph::from_points(points).unwrap());
    let left = graph(ndarray::array![[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]]);
    let right = graph(ndarray::array![[0.0, 0.0], [3.0, 3.0], [5.0, 5.0]]);
    let pair = Pair::new(left, right);
    let [left, right] = [&pair.left, &pair.right].map(|graph| Arc::new(map.describe(graph).unwrap()));
    let truth = Matching::new(vec![Some(0), Some(0), Some(2)], 3, Constraint::ManyToOne).unwrap();
    let instance = map.instance(&left, &right).unwrap();
    let example = Example::new(instance, &pair, truth, &Hamming::default(), 0).unwrap();
    for oracle in [Oracle::Search, Oracle::Relaxation(LpRelaxation::default())] {
        let bundle = Bundle { lambda: 1e-3, ..Bundle::default() };
        let learner = MaxMargin { bundle, oracle, ..MaxMargin::default() };
        let fit = learner.fit(std::slice::from_ref(&example), &Linear::default(), &go_on()).unwrap();
        let loss =
            evaluate(std::slice::from_ref(&example), &Linear::default(), &fit.minimum.weights, &go_on()).unwrap();
        assert!(loss.mean() > 0.3);
        assert!(!fit.bounds_loss && fit.relaxed.is_none_or(|proof| proof.loss.is_none()), "{}", fit.note());
        assert!(!fit.note().contains("training loss"), "{}", fit.note());
    }
}

#[test]
fn graphs_too_large_for_it_are_told_of_the_search() {
    let examples = examples(cases()[0], 2, 8);
    let small = LpRelaxation { max_entries: 10, ..LpRelaxation::default() };
    let error = learner(0.1, small).fit(&examples, &Exact::default(), &go_on()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 10, .. }));
    assert!(error.to_string().contains("learn with the search oracle instead"), "{error}");
    let read: MaxMargin = serde_json::from_str(r#"{"oracle":{"name":"relaxation","max_entries":10}}"#).unwrap();
    assert_eq!(read.oracle, Oracle::Relaxation(LpRelaxation { max_entries: 10, ..LpRelaxation::default() }));
    assert!(serde_json::from_str::<MaxMargin>(r#"{"oracle":{"name":"relaxation","entries":10}}"#).is_err());
    let wrong = LpRelaxation { gap: f64::NAN, ..LpRelaxation::default() };
    let error = learner(0.1, wrong).fit(&examples, &Exact::default(), &go_on()).unwrap_err();
    assert!(matches!(error, Error::BadSetting { name: "gap", .. }));
}

#[test]
fn where_the_relaxation_is_integral_the_exact_solver_does_not_branch() {
    let precise = LpRelaxation { gap: 1e-11, ..LpRelaxation::default() };
    let root = Exact { max_branches: 1, ..Exact::default() };
    let mut integral = 0;
    for case in cases() {
        for example in examples(case, 20, 9) {
            let weights: Vec<f64> = (0..example.instance().dim()).map(|j| [1.0, 2.0, 0.5][j % 3]).collect();
            let problem = example.instance().compatibility(&weights).unwrap();
            let relaxed = precise.solve(&problem).unwrap();
            let Some(matching) = relaxed.matching else { continue };
            integral += 1;
            let answer = root.solve(&problem).unwrap();
            assert_eq!(answer.status, Status::Optimal, "{}", case.name);
            assert!((answer.score - problem.score(&matching).unwrap()).abs() < 1e-9, "{}", case.name);
        }
    }
    assert!(integral > 40, "{integral}");
}
