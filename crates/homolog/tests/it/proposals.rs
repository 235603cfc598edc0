//! Proposals for unlabelled specimens: names for the points of real specimens, and points among the corners of
//! pictures, oriented like the labelled ones and turned at random.

use crate::common;

use common::data_folder;
use homolog::Control;
use homolog::data::turntable::Turntable;
use homolog::geometry::{GreyImage, Susan};
use homolog::graph::Graph;
use homolog::labelling::{Candidates, Proposer, estimate, learn_names};
use homolog::matching::Workspace;
use homolog::model::Model;
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

type Specimen = BTreeMap<String, [f64; 2]>;

/// The complete specimens of a table: specimen, landmark, x, y.
fn read(file: &str) -> Option<Vec<Specimen>> {
    let (folder, name) = file.rsplit_once('/').unwrap();
    let text = std::fs::read_to_string(data_folder(folder)?.join(name)).unwrap();
    let mut specimens: Vec<(String, Specimen)> = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if specimens.last().is_none_or(|(id, _)| id != fields[0]) {
            specimens.push((fields[0].to_string(), Specimen::new()));
        }
        let place = [fields[2].parse().unwrap(), fields[3].parse().unwrap()];
        specimens.last_mut().unwrap().1.insert(fields[1].to_string(), place);
    }
    let all = specimens.iter().map(|(_, points)| points.len()).max().unwrap();
    Some(specimens.into_iter().map(|(_, points)| points).filter(|points| points.len() == all).collect())
}

fn graph(specimen: &Specimen) -> Graph {
    let points: Vec<[f64; 2]> = specimen.values().copied().collect();
    let table = Array2::from_shape_fn((points.len(), 2), |(row, column)| points[row][column]);
    Graph::from_points(table).unwrap().with_names(specimen.keys().cloned().collect()).unwrap()
}

fn turn([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sine, cosine) = angle.sin_cos();
    [cosine * x - sine * y, sine * x + cosine * y]
}

fn turned(specimen: &Specimen, angle: f64) -> Specimen {
    specimen.iter().map(|(name, at)| (name.clone(), turn(*at, angle))).collect()
}

/// The share of names that a proposal puts farther than `tolerance` from the truth.
fn wrong(proposer: &Proposer, candidates: &Candidates, truth: &Specimen, tolerance: f64) -> f64 {
    let proposal = proposer.propose(candidates, &[]).unwrap();
    assert_eq!(proposal.points.len(), truth.len());
    let off = proposal.points.iter().filter(|point| {
        let [x, y] = truth[&point.name];
        (point.at[0] - x).hypot(point.at[1] - y) > tolerance
    });
    off.count() as f64 / truth.len() as f64
}

/// A few labelled specimens name the others, in any order and orientation.
#[test]
fn points_that_are_there_are_named_by_three_labelled_specimens() {
    let sets = ["house", "faces", "specimens/hummingbirds", "specimens/lizards", "specimens/mosquitoes"];
    for set in sets {
        let Some(specimens) = read(&format!("{set}/landmarks.csv")) else { return };
        for rotate in [false, true] {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let mut order: Vec<usize> = (0..specimens.len()).collect();
            order.shuffle(&mut random);
            let angles: Vec<f64> = specimens
                .iter()
                .map(|_| if rotate { random.random_range(0.0..std::f64::consts::TAU) } else { 0.0 })
                .collect();
            let lying = |s: usize| turned(&specimens[s], angles[s]);
            let proposer = Proposer::learn(&order[..3].iter().map(|&s| graph(&lying(s))).collect::<Vec<_>>()).unwrap();
            let errors = order[3..9].iter().map(|&s| {
                let truth = lying(s);
                let mut points: Vec<[f64; 2]> = truth.values().copied().collect();
                points.shuffle(&mut ChaCha8Rng::seed_from_u64(s as u64));
                let points = points.into_iter().map(|at| at.to_vec()).collect();
                wrong(&proposer, &Candidates { points, own: true }, &truth, 1e-9)
            });
            let error = errors.sum::<f64>() / 6.0;
            println!("{set}{}: {error:.3} wrong", if rotate { ", turned" } else { "" });
            assert!(error <= 0.03, "{set}: {error}");
        }
    }
}

/// Twelve pictures of the turntable, three of them labelled: the points of the others among their corners.
#[test]
fn points_are_found_among_the_corners_of_pictures() {
    const LABELLED: [usize; 3] = [0, 5, 11];
    let table = Turntable::default();
    let landmarks = table.landmarks().unwrap();
    for rotate in [0.0, 0.8] {
        let specimen = |n: usize| -> Specimen {
            let rows = landmarks[4 * n].rows().into_iter().zip(Turntable::names());
            let named = rows.map(|(at, name)| (name.to_string(), turn([at[0], at[1]], rotate * n as f64)));
            named.collect()
        };
        let proposer = Proposer::learn(&LABELLED.map(|n| graph(&specimen(n)))).unwrap();
        let mut errors = Vec::new();
        for n in (0..12).filter(|n| !LABELLED.contains(n)) {
            let picture = table.render(4 * n).unwrap();
            let image = GreyImage::new(picture.width, picture.height, &picture.pixels).unwrap();
            let corners = Susan::default().at_most(200, image).unwrap().points;
            let points =
                corners.rows().into_iter().map(|at| turn([at[0], at[1]], rotate * n as f64).to_vec()).collect();
            errors.push(wrong(&proposer, &Candidates { points, own: false }, &specimen(n), 8.0));
        }
        let error = errors.iter().sum::<f64>() / errors.len() as f64;
        println!("corners of the turntable, each turned by {rotate} more: {error:.3} wrong by more than 8 pixels");
        assert!(error <= 0.02, "{errors:?}");
    }
}

/// Labels are kept: no other name gets their point, and whatever they are, every other name is proposed.
#[test]
fn what_is_known_is_kept() {
    let shape = [[0.0, 0.0], [50.0, 5.0], [90.0, 60.0], [20.0, 70.0], [60.0, 30.0], [35.0, 45.0]];
    let specimen: Specimen = shape.iter().enumerate().map(|(n, at)| (format!("p{n}"), *at)).collect();
    let bent = |by: f64| specimen.iter().map(|(name, [x, y])| (name.clone(), [x + by * y, *y])).collect::<Specimen>();
    for labelled in 1..5 {
        let graphs: Vec<Graph> = (0..labelled).map(|n| graph(&bent(0.02 * f64::from(n)))).collect();
        let proposer = Proposer::learn(&graphs).unwrap();
        for own in [true, false] {
            // p1 is where all others have p3, and p0 is where there is no candidate.
            let known = [("p1".to_string(), shape[3].to_vec()), ("p0".to_string(), vec![-7.0, 3.0])];
            let candidates = Candidates { points: shape.map(|at| at.to_vec()).to_vec(), own };
            let proposal = proposer.propose(&candidates, &known).unwrap();
            let names: Vec<&str> = proposal.points.iter().map(|point| point.name.as_str()).collect();
            assert_eq!(names, ["p2", "p3", "p4", "p5"]);
            assert!(proposal.points.iter().all(|point| point.candidate != Some(3)), "{proposal:?}");
        }
    }
}

/// The exported model names points outside the page.
#[test]
fn the_model_of_labelled_specimens_names_others() {
    let landmarks = Turntable::default().landmarks().unwrap();
    let specimen = |n: usize| {
        let names = Turntable::names().into_iter().map(String::from).collect();
        Graph::from_points(landmarks[4 * n].clone()).unwrap().with_names(names).unwrap()
    };
    let learned = learn_names(&[0, 3, 6, 9].map(specimen), &Control::new()).unwrap();
    assert_eq!(learned.sentence, "An atlas of 30 points from 4 specimens that are oriented alike.");
    assert!(learned.strays.len() == 30 && learned.strays.windows(2).all(|pair| pair[0].1 >= pair[1].1));
    let model = Model::from_json(&learned.model.to_json().unwrap()).unwrap();
    let naming = model.name(&specimen(5), &mut Workspace::new()).unwrap();
    let name = |landmark: usize| model.atlas().unwrap().landmarks[landmark].name.as_str();
    assert_eq!(naming.calls.len(), 30);
    for call in &naming.calls {
        assert_eq!(name(call.landmark), Turntable::names()[call.point]);
        assert!(call.confidence.is_some());
    }
    assert!(learn_names(&[], &Control::new()).is_err());
}

/// More specimens than are left out one by one.
#[test]
fn an_estimate_of_many_specimens_finds_the_one_that_is_wrong() {
    let shape = [[0.0, 0.0], [50.0, 5.0], [90.0, 60.0], [20.0, 70.0], [60.0, 30.0]];
    let specimen = |n: usize| -> Specimen {
        let moved = shape.iter().enumerate().map(|(k, [x, y])| {
            let name = if n == 17 && k < 2 { 1 - k } else { k };
            (format!("p{name}"), [x + 0.1 * (n * (k + 3) % 7) as f64, y + 0.1 * (n * (k + 5) % 11) as f64])
        });
        moved.collect()
    };
    let all: Vec<Specimen> = (0..45).map(specimen).collect();
    let candidates: Vec<Candidates> =
        all.iter().map(|one| Candidates { points: one.values().map(|at| at.to_vec()).collect(), own: true }).collect();
    let found = estimate(&all.iter().map(graph).collect::<Vec<_>>(), &candidates, &Control::new()).unwrap();
    for (n, disputed) in found.disputed.iter().enumerate() {
        assert_eq!(disputed.len(), if n == 17 { 2 } else { 0 }, "specimen {n}");
    }
    assert!((found.error.unwrap() - 2.0 / 225.0).abs() < 1e-12);
}
