//! Problem files: what is read, what is written, what is refused and why.

use crate::common;

use common::{data_folder, random_edges, rng};
use homolog::data::{dd, qaplib};
use homolog::matching::{BruteForce, Compatibility, Matcher, Matching};
use ndarray::{Array1, Array2};
use rand::RngExt;

#[test]
fn a_dd_problem_scores_as_its_text_says() {
    let text = "c two by two\n\np 2 2 3 2\na 0 0 0 -1\na 1 1 1 2.5\r\na 2 1 0 0\ni0 0 1.5 2.5\nn0 0 1\ne 1 0 -4\n# same right node: never\ne 0 2 9\n";
    let problem = dd::read(text).unwrap();
    assert_eq!(problem.node, ndarray::array![[1.0, f64::NEG_INFINITY], [0.0, -2.5]]);
    assert_eq!(problem.unmatched, Some(Array1::zeros(2)));
    let best = BruteForce::default().solve(&problem).unwrap();
    assert_eq!((best.matching.left_to_right(), best.score), ([Some(0), Some(1)].as_slice(), 1.0 - 2.5 + 4.0));
}

#[test]
fn a_dd_problem_comes_back_as_it_was_written() {
    let mut rng = rng(21);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(0..6), rng.random_range(0..6));
        let mut score = || if rng.random_bool(0.3) { f64::NEG_INFINITY } else { rng.random_range(-1e3..1e3) };
        let node = Array2::from_shape_simple_fn((n, m), &mut score);
        let edge = random_edges(&mut rng, n, m, common::Values::Mixed);
        let problem = Compatibility::linear(node).with_edges(edge).with_unmatched(Array1::zeros(n));
        let text = dd::write(&problem).unwrap();
        let read = dd::read(&text).unwrap();
        assert_eq!(read.node, problem.node);
        assert_eq!(dd::write(&read).unwrap(), text, "written again it is the same text");
        let best = BruteForce::default().solve(&problem).unwrap();
        let (here, there) = (problem.score(&best.matching).unwrap(), read.score(&best.matching).unwrap());
        assert!((here - there).abs() <= 1e-12 * common::magnitude(&problem), "{here} and {there}");
    }
}

#[test]
fn what_dd_cannot_say_is_not_written() {
    let forced = Compatibility::linear(ndarray::array![[1.0]]);
    let error = dd::write(&forced).unwrap_err().to_string();
    assert_eq!(error, "the .dd format does not solve problems with a price of staying unmatched other than 0");
}

#[test]
fn malformed_dd_text_is_refused_with_line_and_reason() {
    let head = "p 2 2 2 1\na 0 0 0 -1\na 1 1 1 -1\n";
    let cases = [
        (String::new(), 1, "there is no header"),
        ("a 0 0 0 1\n".into(), 1, "the first line must be the header"),
        ("p 2 2\n".into(), 1, "a line \"p\" has 5 fields"),
        ("p two 2 0 0\n".into(), 1, "\"two\" is not a whole number"),
        ("p -1 2 0 0\n".into(), 1, "\"-1\" is not a whole number"),
        ("p 4000000000 4000000000 1 1\n".into(), 1, "are too many"),
        ("p 8192 8192 1 0\na 0 0 0 1\n".into(), 1, "8192 by 8192 nodes are too many for the assignments that 26 bytes"),
        ("p 99999999999 1 1 1\n".into(), 1, "are too many"),
        ("p 67108864 0 0 0\n".into(), 1, "nodes on one side: 67108864 is more than the 1048576"),
        ("p 8192 8192 67108864 0\n".into(), 1, "promises 67108864 assignments, more than the 23 bytes"),
        ("p 0 99999999999 0 0\n".into(), 1, "are too many"),
        ("p 2 2 99999999999 0\n".into(), 1, "only 4 pairs of nodes"),
        (format!("{head}p 2 2 2 1\n"), 4, "there is a header already"),
        (format!("{head}x 1\n"), 4, "unknown kind of line \"x\""),
        (format!("{head}a 2 0 1 1\n"), 4, "assignment 2 is out of range, there are 2"),
        (format!("{head}a 0 0 1 1\n"), 4, "assignment 0 was given before"),
        ("p 2 2 2 1\na 0 0 0 1\na 1 0 0 1\n".into(), 3, "have an assignment already"),
        ("p 2 2 2 1\na 0 2 0 1\n".into(), 2, "left node 2 is out of range"),
        ("p 2 2 2 1\na 0 0 0 nan\n".into(), 2, "\"nan\" is not a finite number"),
        ("p 2 2 2 1\na 0 0 0 1 7\n".into(), 2, "a line \"a\" has 5 fields"),
        ("p 2 2 2 1\na 0 0 0 1\ne 0 1 1\n".into(), 3, "assignment 1 comes after its edge, or never"),
        (format!("{head}e 0 0 1\n"), 4, "assignment 0 is paired with itself"),
        (format!("{head}e 0 1 inf\n"), 4, "\"inf\" is not a finite number"),
        (format!("{head}e 0 1\n"), 4, "a line \"e\" has 4 fields"),
        (head.into(), 3, "the header promises 1 edges, there are 0"),
        ("p 2 2 2 1\na 0 0 0 1\n".into(), 2, "the header promises 2 assignments, there are 1"),
    ];
    for (text, line, reason) in cases {
        refused(dd::read(&text), &format!(".dd, line {line}: "), reason, &text);
    }
}

#[test]
fn malformed_qaplib_text_is_refused_with_line_and_reason() {
    for (text, line, reason) in [
        ("", 1, "there is no number of nodes"),
        ("\n\n2.5\n", 3, "\"2.5\" is not a whole number"),
        ("99999999999999\n", 1, "are too many"),
        ("5000\n1 2 3\n", 2, "two 5000 by 5000 matrices are 50000000 numbers, there are 3"),
        ("1\n\n1\nx\n", 4, "\"x\" is not a finite number"),
        ("1\n1\n2\n3\n", 4, "more than two 1 by 1 matrices"),
    ] {
        refused(qaplib::read(text), &format!("QAPLIB, line {line}: "), reason, text);
    }
}

fn refused(answer: homolog::Result<Compatibility>, start: &str, reason: &str, text: &str) {
    let error = answer.expect_err(text).to_string();
    assert!(error.starts_with(start) && error.contains(reason), "{text:?} gave {error}");
}

#[test]
fn the_benchmark_files_have_the_sizes_they_claim() {
    if let Some(folder) = data_folder("benchmarks/dd") {
        for (name, nodes, pairs) in [("motor1", 46, 29040), ("opengm1", 19, 38646)] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.dd"))).unwrap();
            let problem = dd::read(&text).unwrap();
            assert_eq!(problem.node.dim(), (nodes, nodes));
            let edge = problem.edge.as_ref().unwrap();
            let listed: usize = (0..edge.left_edges().len()).map(|e| edge.listed_of(e).len()).sum();
            assert_eq!(listed, pairs);
            let again = dd::read(&dd::write(&problem).unwrap()).unwrap();
            let diagonal = Matching::identity(nodes);
            assert_eq!(again.score(&diagonal), problem.score(&diagonal));
        }
    }
    if let Some(folder) = data_folder("benchmarks/qaplib") {
        for line in std::fs::read_to_string(folder.join("best_known.csv")).unwrap().lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let text = std::fs::read_to_string(folder.join(format!("{}.dat", fields[0]))).unwrap();
            let count: usize = fields[1].parse().unwrap();
            assert_eq!(qaplib::read(&text).unwrap().node.dim(), (count, count), "{line}");
        }
    }
}
