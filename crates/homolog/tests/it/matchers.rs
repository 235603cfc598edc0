//! The laws every matcher obeys, run over all of them and over every form of a problem: a new solver in `Method` gets these tests for free.

use crate::common;
use crate::laws_of_matching::forms::{as_list, on_rows};

use common::{Kind, Values, close, magnitude, placed, random_kind, random_problem, rng};
use homolog::Error;
use homolog::matching::{
    BruteForce, Compatibility, Constraint, Matcher, Method, Problem, Solution, Status, Workspace, verify,
};
use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Solves a problem in every form that it has (table, list of pairs, computed rows) and checks everything that holds for any solver. The
/// answers, that of the table first; `None` if the solver does not take such problems.
fn solve_lawfully(method: &Method, problem: &Compatibility, work: &mut Workspace) -> Option<Vec<Solution>> {
    let exact = BruteForce::default().solve(problem).unwrap();
    let mut answers = vec![solve_form(method, problem, problem, &exact, work)?];
    if let Some(list) = as_list(problem) {
        answers.extend(solve_form(method, &list, problem, &exact, work));
    }
    if problem.constraint == Constraint::OneToOne {
        answers.extend(on_rows(problem, [1, 2, 2], |rows| solve_form(method, rows, problem, &exact, work)));
    }
    let forms = 1 + usize::from(as_list(problem).is_some()) + usize::from(problem.constraint == Constraint::OneToOne);
    assert_eq!(answers.len(), forms, "{} does not take all forms of {problem:?}", method.name());
    Some(answers)
}

/// [`solve_lawfully`] for one form of the problem.
fn solve_form(
    method: &Method,
    form: &dyn Problem,
    table: &Compatibility,
    exact: &Solution,
    work: &mut Workspace,
) -> Option<Solution> {
    let answer = match method.matcher().solve_with(form, work) {
        Ok(answer) => answer,
        Err(Error::Unsupported { .. }) => return None,
        Err(error) => panic!("{}: {error}\n{table:?}", method.name()),
    };
    let size = magnitude(table);
    let context = || format!("{} gave {answer:?}\nbrute force {exact:?}\non {table:?}", method.name());
    let score = form.score(&answer.matching).unwrap_or_else(|error| panic!("{error}: {}", context()));
    assert_eq!(score, table.score(&answer.matching).unwrap(), "the forms disagree: {}", context());
    assert_eq!(answer.score, score, "reported and real score differ: {}", context());
    assert_eq!(answer.matching.constraint(), table.constraint, "{}", context());
    assert_eq!(placed(table, &answer.matching), placed(table, &exact.matching), "not of largest size: {}", context());
    assert!(score <= exact.score || close(score, exact.score, size), "better than brute force: {}", context());
    assert!(exact.score <= answer.bound || close(exact.score, answer.bound, size), "wrong bound: {}", context());
    if answer.status == Status::Optimal {
        assert!(close(score, exact.score, size), "not optimal: {}", context());
        assert!(close(score, answer.bound, size), "bound and score differ: {}", context());
        if let (Some(certificate), None) = (&answer.certificate, &table.edge) {
            let bound =
                verify(form, &answer.matching, certificate).unwrap_or_else(|error| panic!("{error}: {}", context()));
            assert!(close(bound, score, 4.0 * size), "bound {bound} is not proven: {}", context());
        }
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
            for (before, after) in before.iter().zip(&after) {
                if before.status == Status::Optimal && after.status == Status::Optimal {
                    assert!(close(before.score, after.score, magnitude(&problem)), "{}: {problem:?}", method.name());
                }
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
                let answers = solve_lawfully(method, &scaled, work).expect("took the same problem unscaled");
                for (answer, plain) in answers.iter().zip(&plain) {
                    assert_eq!(answer.matching, plain.matching, "{} at {scale}: {problem:?}", method.name());
                }
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
            let table = Compatibility::linear(node);
            let of_rows = on_rows(&table, [1, 2, 2], |rows| method.matcher().solve_with(rows, work));
            for answer in [method.matcher().solve_with(&table, work), of_rows] {
                assert!(
                    matches!(answer, Err(Error::BadCell { row: 2, column: 1, .. })),
                    "{}: {answer:?}",
                    method.name()
                );
            }
            let unmatched = ndarray::array![0.0, value, 0.0];
            let problem = Compatibility::linear(Array2::zeros((3, 4))).with_unmatched(unmatched);
            let of_rows = on_rows(&problem, [1, 2, 2], |rows| method.matcher().solve_with(rows, work));
            for answer in [method.matcher().solve_with(&problem, work), of_rows] {
                assert!(matches!(answer, Err(Error::BadEntry { index: 1, .. })), "{}: {answer:?}", method.name());
            }
        }
    });
}

#[test]
fn empty_problems() {
    for_each_method(|method, work| {
        for (n, m) in [(0, 0), (0, 3), (3, 0)] {
            for answer in solve_lawfully(method, &Compatibility::linear(Array2::zeros((n, m))), work).unwrap() {
                assert_eq!(answer.matching.matched_count(), 0);
                assert_eq!(answer.score, 0.0);
            }
        }
    });
}
