//! The laws of the tests on real data, on data that the project generates itself: nothing here is skipped if `../shared/data` is absent.

use homolog::Control;
use homolog::data::Split;
use homolog::data::turntable::Turntable;
use homolog::data::{self, landmarks::LandmarkTable};
use homolog::data::{house, qaplib};
use homolog::experiment::Sequence;
use homolog::features::FeatureMap;
use homolog::geometry::{GreyImage, Susan, delaunay};
use homolog::graph::Graph;
use homolog::learn::{MaxMargin, Oracle, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{BruteForce, Exact, Linear, LpRelaxation, Matcher, Status};
use homolog::optimize::Bundle;
use ndarray::Array2;
use std::fmt::Write;
use std::sync::Arc;

/// The turntable with every `step`-th landmark.
fn sequence(map: FeatureMap, step: usize) -> Sequence {
    let pick = |points: Array2<f64>| points.select(ndarray::Axis(0), &(0..30).step_by(step).collect::<Vec<_>>());
    let graph = |points| Arc::new(Graph::from_points(pick(points)).unwrap());
    Sequence::new(map, Turntable::default().landmarks().unwrap().into_iter().map(graph).collect()).unwrap()
}

/// In place of the house: learning helps, its bounds hold, and weights with no opinion do no better than chance.
#[test]
fn linear_assignment_is_learned() {
    let (sequence, control) = (sequence(FeatureMap::paper_linear(), 1), Control::new());
    let [train, _, test] = Split::ALL.map(|split| sequence.examples(90, split, &Hamming::default()).unwrap());
    let loss = |examples: &[_], weights: &[f64]| evaluate(examples, &Linear::default(), weights, &control).unwrap();
    let nothing = loss(&test, &[0.0; 60]);
    // A random permutation of 30 has one fixed point on average, with variance 1.
    assert!((nothing.mean() - 29.0 / 30.0).abs() < 3.0 / 30.0 / 7.0_f64.sqrt(), "{}", nothing.mean());
    let bundle = Bundle { gap_tolerance: 1e-3, lambda: 0.01, ..Bundle::default() };
    let fit = MaxMargin { bundle, ..MaxMargin::default() }.fit(&train, &Linear::default(), &control).unwrap();
    assert!(fit.certified && fit.minimum.bound <= fit.minimum.objective && fit.minimum.gap <= 1e-3, "{}", fit.note());
    // The paper's lemma: the mean slack is no less than the mean training loss.
    assert!(fit.minimum.risk >= loss(&train, &fit.minimum.weights).mean() - 1e-9);
    assert!(loss(&test, &fit.minimum.weights).mean() < 0.6 * loss(&test, &[1.0; 60]).mean());
}

/// Against the relaxation, with edges: what is proven about the training loss holds.
#[test]
fn quadratic_assignment_is_learned_with_proof() {
    let (sequence, control) = (sequence(FeatureMap::paper_quadratic(), 3), Control::new());
    let [mut train, _, test] = Split::ALL.map(|split| sequence.examples(90, split, &Hamming::default()).unwrap());
    train.truncate(1);
    let bundle = Bundle { lambda: 1.0, gap_tolerance: 0.3, ..Bundle::default() };
    let oracle = Oracle::Relaxation(LpRelaxation::default());
    let fit = MaxMargin { bundle, oracle, ..MaxMargin::default() }.fit(&train, &Exact::default(), &control).unwrap();
    assert!(fit.certified && fit.minimum.gap <= 0.3, "{}", fit.note());
    let loss = |examples: &[_]| evaluate(examples, &Exact::default(), &fit.minimum.weights, &control).unwrap();
    assert!(loss(&train).mean() <= fit.relaxed.unwrap().loss.unwrap() + 1e-9);
    let tested = loss(&test);
    assert!(tested.proven == test.len() && tested.mean() < 0.5, "{}", tested.mean());
}

/// In place of QAPLIB: a text in its format, against brute force.
#[test]
fn a_quadratic_assignment_problem_is_proven() {
    let number = |i: usize, j: usize, salt: usize| if i == j { 0 } else { (i * 7 + j * 7 + i * j * 3 + salt) % 11 };
    let mut text = "7\n".to_string();
    for salt in [1, 5] {
        for i in 0..7 {
            let row: Vec<String> = (0..7).map(|j| number(i, j, salt).to_string()).collect();
            writeln!(text, "{}", row.join(" ")).unwrap();
        }
    }
    let problem = qaplib::read(&text).unwrap();
    let exact = Exact::default().solve(&problem).unwrap();
    let brute = BruteForce::default().solve(&problem).unwrap();
    assert_eq!((exact.status, exact.score), (Status::Optimal, brute.score));
    assert!(exact.score < 0.0);
}

/// In place of the authors' files: a frame in their format is the frame of a landmark table.
#[test]
fn frames_are_read_from_labels_and_from_a_table() {
    let points = Turntable::default().landmarks().unwrap().swap_remove(4);
    let edges = delaunay(points.view()).unwrap();
    let labels: Vec<String> = points.outer_iter().map(|point| format!("{} {}", point[0], point[1])).collect();
    let labels = labels.join("\n");
    let bit = |i: usize, j: usize| u8::from(edges.contains(&[i.min(j), i.max(j)]));
    let row = |i: usize| (0..30).map(|j| bit(i, j).to_string()).collect::<Vec<_>>().join(" ") + "\n";
    let adjacency: String = (0..30).map(row).collect();
    let frame = house::read_frame(5, &labels, Some(&adjacency)).unwrap();
    assert_eq!((frame.id.as_str(), frame.graph.points()), ("5", Some(points.view())));
    assert_eq!(frame.graph.edges().len(), 2 * edges.len());
    let table = data::write(data::Format::Landmarks, std::slice::from_ref(&frame)).unwrap();
    let again = LandmarkTable::default().read(&table, "5").unwrap();
    assert_eq!((again[0].graph.points(), again[0].graph.names()), (Some(points.view()), frame.graph.names()));
}

/// In place of the house pictures: the building turns by a degree or so, and most of its corners are found again.
#[test]
fn corners_repeat_from_frame_to_frame() {
    let turntable = Turntable::default();
    let (mut again, mut all) = (0, 0_usize);
    for first in [0, 40, 80] {
        let corners = [first, first + 1].map(|frame| {
            let picture = turntable.render(frame).unwrap();
            Susan::default()
                .at_most(60, GreyImage::new(picture.width, picture.height, &picture.pixels).unwrap())
                .unwrap()
        });
        assert!(corners.iter().all(|found| (15..=60).contains(&found.count())), "{}", corners[0].count());
        for a in corners[0].points.rows() {
            let near = |b: ndarray::ArrayView1<'_, f64>| (a[0] - b[0]).hypot(a[1] - b[1]) <= 3.0;
            all += 1;
            again += usize::from(corners[1].points.rows().into_iter().any(near));
        }
    }
    assert!(again as f64 > 0.7 * all as f64, "{again} of {all}");
}
