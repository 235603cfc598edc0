//! Whole problems as JSON: read back bit for bit, and refused with the reason.

use crate::common;

use common::{Kind, random_kind, random_problem, rng};
use homolog::data::problem::{ProblemFile, read, write};
use homolog::matching::{BruteForce, Compatibility, Constraint, Matcher, Restrictions, Sense};
use ndarray::{Array1, array};
use rand::RngExt;

#[test]
fn a_problem_comes_back_bit_for_bit() {
    let mut rng = rng(1);
    for round in 0..500 {
        let (n, m) = (rng.random_range(0..5), rng.random_range(0..5));
        let constraint = if round % 5 == 0 { Constraint::ManyToOne } else { Constraint::OneToOne };
        let kind = Kind { edges: round % 2 == 0, constraint, ..random_kind(&mut rng) };
        let mut problem = random_problem(&mut rng, n, m, kind);
        if round % 3 == 0 && constraint == Constraint::OneToOne {
            problem.right_unmatched = Some(Array1::from_shape_simple_fn(m, || rng.random_range(-1.0..1.0)));
        }
        let sense = if round % 4 == 1 { Sense::Minimize } else { Sense::Maximize };
        let text = write(&ProblemFile::new(problem.clone(), Restrictions::default(), sense)).unwrap();
        let file = read(&text).unwrap();
        let parts = |problem: &Compatibility| {
            (problem.node.clone(), problem.unmatched.clone(), problem.right_unmatched.clone(), problem.constraint)
        };
        assert_eq!(parts(&file.problem), parts(&problem));
        assert_eq!(write(&file).unwrap(), text, "written again it is the same text");
        let best = BruteForce::default().solve(&problem).unwrap();
        assert_eq!(file.problem.score(&best.matching).unwrap(), best.score);
    }
}

fn with(rest: &str) -> String {
    format!(r#"{{"format": {{"kind": "homolog-problem", "version": 1}}, {rest}}}"#)
}

#[test]
fn the_example_of_the_documentation_is_read_as_it_says() {
    let text = with(
        r#""sense": "minimize", "node": [[1.5, null], [0, 2]], "unmatched": [0.5, null], "right_unmatched": [0, 0.25],
        "edges": [[0, 1, 1, 0, 3]], "edge_factors": {"left": [[0, 1, 2.5]], "right": [[1, 0, -1]]}, "forbidden": [[1, 0]]"#,
    );
    let file = read(&text).unwrap();
    assert_eq!(file.problem.node, array![[-1.5, f64::NEG_INFINITY], [0.0, -2.0]]);
    assert_eq!(file.problem.unmatched, Some(array![-0.5, f64::NEG_INFINITY]));
    assert_eq!(file.problem.right_unmatched, Some(array![0.0, -0.25]));
    assert_eq!(file.problem.edge.as_ref().unwrap().value(0, 0), -3.0 + 2.5);
    assert_eq!(file.restricted().unwrap().node[[1, 0]], f64::NEG_INFINITY);
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    for (text, reason) in [
        ("{".to_string(), "EOF"),
        (with(r#""node": [[1, "x"]]"#), "node[0][1]"),
        (with(r#""node": [[1], [1, 2]]"#), "node[1] has 2 numbers, the first row has 1"),
        (with(r#""node": [[1]], "nodes": 3"#), "unknown field `nodes`"),
        (with(r#""node": [[1e999]]"#), "number out of range"),
        (with(r#""node": [[1]], "edges": [[0, 3, 0, 0, 1]]"#), "out of range"),
        (with(r#""node": [[1]], "seeds": [[4, 0]]"#), "left nodes: index 4 is out of range"),
        (with(r#""node": [[1]], "unmatched": [1, 2]"#), "unmatched scores: expected 1, found 2"),
        (with(r#""node": [[1e308], [1e308]], "unmatched": [0, 0]"#), "overflow when summed"),
        (with(r#""node": [[1]], "edge_factors": {"left": [[0.5, 1, 2]], "right": []}"#), "edge_factors.left[0]"),
        (
            with(r#""node": [[1, 2], [3, 4]], "edge_factors": {"left": [[0, 1, 2], [0, 1, 3]], "right": [[0, 1, 1]]}"#),
            "edge_factors.left: edge [0, 1] occurs twice",
        ),
        (with(r#""node": []"#).replace("homolog-problem", "homolog-model"), "not a \"homolog-problem\""),
        (with(r#""node": []"#).replace("\"version\": 1", "\"version\": 2"), "version 2 is newer than 1"),
        (with(r#""node": []"#) + "x", "trailing characters"),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(reason), "{error:?} does not say {reason:?}");
    }
}
