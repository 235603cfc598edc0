//! The laws every matcher obeys, run over all of them: a new solver in `Method` gets these tests for free.

use crate::common;

use common::{Kind, Values, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::Error;
use homolog::matching::{BruteForce, Compatibility, Constraint, Matcher, Method, Solution, Status, Workspace};
use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Solves and checks everything that holds for any solver; `None` if the solver does not take such problems.
fn solve_lawfully(method: &Method, problem: &Compatibility, work: &mut Workspace) -> Option<Solution> {
    let answer = match method.matcher().solve_with(problem, work) {
        Ok(answer) => answer,
        Err(Error::Unsupported { .. }) => return None,
        Err(error) => panic!("{}: {error}\n{problem:?}", method.name()),
    };
    let exact = BruteForce::default().solve(problem).unwrap();
    let size = magnitude(problem);
    let context = || format!("{} gave {answer:?}\nbrute force {exact:?}\non {problem:?}", method.name());
    let score = problem.score(&answer.matching).unwrap_or_else(|error| panic!("{error}: {}", context()));
    assert_eq!(answer.score, score, "reported and real score differ: {}", context());
    assert_eq!(answer.matching.constraint(), problem.constraint, "{}", context());
    assert_eq!(
        placed(problem, &answer.matching),
        placed(problem, &exact.matching),
        "not of largest size: {}",
        context()
    );
    assert!(score <= exact.score || close(score, exact.score, size), "better than brute force: {}", context());
    assert!(exact.score <= answer.bound || close(exact.score, answer.bound, size), "wrong bound: {}", context());
    if answer.status == Status::Optimal {
        assert!(close(score, exact.score, size), "not optimal: {}", context());
        assert!(close(score, answer.bound, size), "bound and score differ: {}", context());
    }
    Some(answer)
}

fn for_each_method(mut test: impl FnMut(&Method, &mut Workspace)) {
    for method in Method::all() {
        test(&method, &mut Workspace::new());
    }
}

#[test]
fn random_linear_problems() {
    for_each_method(|method, work| {
        let mut rng = rng(1);
        for _ in 0..400 {
            let (n, m) = (rng.random_range(0..6), rng.random_range(0..6));
            let kind = random_kind(&mut rng);
            let problem = random_problem(&mut rng, n, m, kind);
            solve_lawfully(method, &problem, work).expect("every matcher solves linear problems");
        }
    });
}

#[test]
fn random_problems_with_edges() {
    for_each_method(|method, work| {
        let mut rng = rng(2);
        for _ in 0..60 {
            let (n, m) = (rng.random_range(0..6), rng.random_range(0..6));
            let kind = Kind { edges: true, ..random_kind(&mut rng) };
            let problem = random_problem(&mut rng, n, m, kind);
            solve_lawfully(method, &problem, work);
        }
    });
}

#[test]
fn random_many_to_one_problems() {
    for_each_method(|method, work| {
        let mut rng = rng(3);
        for step in 0..150 {
            let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
            let kind = Kind { constraint: Constraint::ManyToOne, edges: step % 3 == 0, ..random_kind(&mut rng) };
            let problem = random_problem(&mut rng, n, m, kind);
            solve_lawfully(method, &problem, work);
        }
    });
}

#[test]
fn a_proven_score_does_not_depend_on_the_numbering() {
    for_each_method(|method, work| {
        let mut rng = rng(4);
        for _ in 0..100 {
            let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
            let kind = random_kind(&mut rng);
            let problem = random_problem(&mut rng, n, m, kind);
            let (mut rows, mut columns): (Vec<_>, Vec<_>) = ((0..n).collect(), (0..m).collect());
            rows.shuffle(&mut rng);
            columns.shuffle(&mut rng);
            let mut shuffled = problem.clone();
            shuffled.node = problem.node.select(Axis(0), &rows).select(Axis(1), &columns);
            shuffled.unmatched = problem.unmatched.as_ref().map(|scores| scores.select(Axis(0), &rows));
            let (Some(before), Some(after)) =
                (solve_lawfully(method, &problem, work), solve_lawfully(method, &shuffled, work))
            else {
                continue;
            };
            if before.status == Status::Optimal && after.status == Status::Optimal {
                assert!(close(before.score, after.score, magnitude(&problem)), "{}: {problem:?}", method.name());
            }
        }
    });
}

#[test]
fn scale_does_not_change_the_matching() {
    for_each_method(|method, work| {
        let mut rng = rng(5);
        for _ in 0..40 {
            let (n, m) = (rng.random_range(1..6), rng.random_range(1..6));
            let kind = Kind { values: Values::Uniform, ..random_kind(&mut rng) };
            let problem = random_problem(&mut rng, n, m, kind);
            let Some(plain) = solve_lawfully(method, &problem, work) else { continue };
            for scale in [1e-300, 1e-12, 1e150] {
                let mut scaled = problem.clone();
                scaled.node *= scale;
                scaled.unmatched.iter_mut().for_each(|scores| *scores *= scale);
                let answer = solve_lawfully(method, &scaled, work).expect("took the same problem unscaled");
                assert_eq!(answer.matching, plain.matching, "{} at {scale}: {problem:?}", method.name());
            }
        }
    });
}

#[test]
fn the_same_problem_gives_the_same_answer() {
    for_each_method(|method, work| {
        let mut rng = rng(6);
        for edges in [false, true] {
            for _ in 0..20 {
                let kind = Kind { edges, ..random_kind(&mut rng) };
                let problem = random_problem(&mut rng, 5, 4, kind);
                let first = solve_lawfully(method, &problem, work);
                assert_eq!(first, solve_lawfully(method, &problem, work), "{}", method.name());
                assert_eq!(first, solve_lawfully(method, &problem, &mut Workspace::new()), "{}", method.name());
            }
        }
    });
}

#[test]
fn not_a_number_and_plus_infinity_are_refused_with_their_place() {
    for_each_method(|method, work| {
        for value in [f64::NAN, f64::INFINITY] {
            let mut node = Array2::zeros((3, 4));
            node[[2, 1]] = value;
            match method.matcher().solve_with(&Compatibility::linear(node), work) {
                Err(Error::BadCell { row: 2, column: 1, .. }) => {}
                other => panic!("{}: {other:?}", method.name()),
            }
            let unmatched = ndarray::array![0.0, value, 0.0];
            let problem = Compatibility::linear(Array2::zeros((3, 4))).with_unmatched(unmatched);
            match method.matcher().solve_with(&problem, work) {
                Err(Error::BadEntry { index: 1, .. }) => {}
                other => panic!("{}: {other:?}", method.name()),
            }
        }
    });
}

#[test]
fn empty_problems() {
    for_each_method(|method, work| {
        for (n, m) in [(0, 0), (0, 3), (3, 0)] {
            let answer = solve_lawfully(method, &Compatibility::linear(Array2::zeros((n, m))), work).unwrap();
            assert_eq!(answer.matching.matched_count(), 0);
            assert_eq!(answer.score, 0.0);
        }
    });
}
