//! `check` on specimens with planted mistakes: made ones, whose mistakes are known to the last, and real ones if they are at hand.

use crate::common;
use homolog::Control;
use homolog::data::dataset::NamedGraph;
use homolog::data::landmarks::LandmarkTable;
use homolog::graph::Graph;
use homolog::specimens::check::{CheckReport, FALSE_ALARMS, FEWEST_SPECIMENS, Fix, Kind, check};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Points on a bent outline, each specimen a little different, rotated and scaled.
fn specimens(count: usize) -> Vec<NamedGraph> {
    let wave = |s: usize, k: usize, a: usize| {
        let x = (s as f64 * 12.9898 + k as f64 * 78.233 + a as f64 * 37.719).sin() * 43_758.545;
        x - x.floor() - 0.5
    };
    let one = |s: usize| {
        let (turn, size) = (0.1 * wave(s, 99, 0), 100.0 * (1.0 + 0.2 * wave(s, 98, 0)));
        let point = |k: usize, axis: usize| {
            let angle = k as f64 * 0.5;
            let radius = 1.0 + 0.3 * (1.7 * angle).sin();
            let (x, y) =
                (radius * angle.cos() + 0.05 * wave(s, k, 0), 0.6 * radius * angle.sin() + 0.05 * wave(s, k, 1));
            size * if axis == 0 { x * turn.cos() - y * turn.sin() } else { x * turn.sin() + y * turn.cos() }
        };
        let points = Array2::from_shape_fn((12, 2), |(k, axis)| point(k, axis));
        graph(&format!("s{s:02}"), points)
    };
    (0..count).map(one).collect()
}

/// Good specimens of another shape, with normal noise that differs from point to point.
fn normal_specimens(count: usize, seed: u64) -> Vec<NamedGraph> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = move || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
    let shape = Array2::from_shape_simple_fn((15, 2), &mut normal);
    let spread: Vec<f64> = (0..15).map(|_| 0.02 + 0.03 * normal().abs()).collect();
    let mut one = |s: usize| {
        let points = Array2::from_shape_fn((15, 2), |(k, axis)| shape[[k, axis]] + spread[k] * normal());
        graph(&format!("s{s:02}"), points)
    };
    (0..count).map(&mut one).collect()
}

/// The rate of false alarms is a promise: over 20 tables of good specimens it holds, within two standard errors.
#[test]
fn false_alarms_are_as_rare_as_stated() {
    let (mut listed, mut all) = (0_u32, 0_u32);
    for seed in 0..20 {
        let report = run(&normal_specimens(40, seed));
        assert_eq!(report.false_alarms, Some(FALSE_ALARMS));
        let mut found: Vec<usize> = report.findings.iter().map(|finding| finding.index).collect();
        found.sort_unstable();
        found.dedup();
        (listed, all) = (listed + u32::try_from(found.len()).unwrap(), all + 40);
    }
    let error = (FALSE_ALARMS * (1.0 - FALSE_ALARMS) / f64::from(all)).sqrt();
    assert!(f64::from(listed) / f64::from(all) <= FALSE_ALARMS + 2.0 * error, "{listed} of {all}");
}

fn graph(id: &str, points: Array2<f64>) -> NamedGraph {
    let names = (0..points.nrows()).map(|k| format!("p{k:02}")).collect();
    let graph = Graph::from_points(points).unwrap().with_names(names).unwrap();
    NamedGraph { id: id.to_string(), graph: Arc::new(graph), image: None }
}

fn changed(one: &NamedGraph, change: impl Fn(&mut Array2<f64>)) -> NamedGraph {
    let mut points = one.graph.points().unwrap().to_owned();
    change(&mut points);
    graph(&one.id, points)
}

fn exchange(points: &mut Array2<f64>, from: &[usize], to: &[usize]) {
    let before = points.clone();
    from.iter().zip(to).for_each(|(&from, &to)| points.row_mut(to).assign(&before.row(from)));
}

fn run(specimens: &[NamedGraph]) -> CheckReport {
    check(specimens, &Control::new()).unwrap()
}

#[test]
fn good_specimens_are_left_alone() {
    let report = run(&specimens(40));
    assert_eq!(report.findings, [], "{report}");
    assert_eq!(report.false_alarms, Some(FALSE_ALARMS));
}

#[test]
fn every_kind_of_mistake_is_named() {
    let mut all = specimens(40);
    let truth = all.clone();
    all[3] = changed(&all[3], |points| exchange(points, &[2, 7], &[7, 2]));
    all[9] = changed(&all[9], |points| points.column_mut(0).mapv_inplace(|x| -x));
    all[14] = changed(&all[14], |points| points[[5, 1]] += 60.0);
    all[20] = changed(&all[20], |points| exchange(points, &[4, 5, 6, 7], &[5, 6, 7, 4]));
    all[25] = changed(&all[25], |points| points.mapv_inplace(|x| 25.4 * x));
    all[30] = changed(&all[30], |points| {
        let other = points.row(1).to_owned();
        points.row_mut(8).assign(&other);
    });
    all[35] = changed(&all[35], |points| *points = points.dot(&ndarray::array![[0.0, 1.0], [-1.0, 0.0]]));
    let points = all[38].graph.points().unwrap().to_owned();
    let names: Vec<String> = (1..12).map(|k| format!("p{k:02}")).collect();
    let rest = points.select(ndarray::Axis(0), &(1..points.nrows()).collect::<Vec<_>>());
    all[38].graph = Arc::new(Graph::from_points(rest).unwrap().with_names(names).unwrap());
    let report = run(&all);
    let found = |index: usize, kind: Kind| {
        let mut own = report.findings.iter().filter(|finding| finding.index == index);
        own.find(|finding| finding.kind == kind).unwrap_or_else(|| panic!("{index} {kind:?}: {report}"))
    };
    assert_eq!(found(3, Kind::Swapped).landmarks, ["p02", "p07"]);
    found(9, Kind::Mirrored);
    let displaced = found(14, Kind::Displaced);
    assert_eq!(displaced.landmarks, ["p05"]);
    let should_be = displaced.should_be.as_ref().unwrap();
    let was = truth[14].graph.points().unwrap().row(5).to_vec();
    assert!(should_be.iter().zip(&was).all(|(a, b)| (a - b).abs() < 20.0), "{should_be:?} {was:?}");
    assert_eq!(found(20, Kind::Rolled).landmarks, ["p04", "p05", "p06", "p07"]);
    assert!((found(25, Kind::Scaled).factor.unwrap() / 25.4).ln().abs() < 0.3);
    assert_eq!(found(30, Kind::Doubled).landmarks, ["p01", "p08"]);
    assert!((found(35, Kind::Rotated).degrees.unwrap() - 90.0).abs() < 15.0);
    assert_eq!(found(38, Kind::Missing).landmarks, ["p00"]);
    assert_eq!(report.suspects(), [3, 9, 14, 20, 25, 30, 35], "{report}");
    // Names mended, points are where they were.
    let (mended, count) = report.mended(&all, Fix::Names).unwrap();
    assert_eq!(count, 2);
    assert_eq!((&mended[3].graph, &mended[20].graph), (&truth[3].graph, &truth[20].graph));
    let (swaps, count) = report.mended(&all, Fix::Swaps).unwrap();
    assert_eq!((count, &swaps[20].graph), (1, &all[20].graph));
}

/// A flat body in space is nearly its own mirror image, so some specimens fit better mirrored: that alone is no mistake.
#[test]
fn the_mirror_images_of_flat_bodies_are_no_mistakes() {
    let flat = |one: &NamedGraph, thick: f64| {
        let own = one.graph.points().unwrap().to_owned();
        let seed = one.id[1..].parse().unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let z = Array2::from_shape_simple_fn((own.nrows(), 1), || thick * random.random_range(-1.0..1.0));
        graph(&one.id, ndarray::concatenate(ndarray::Axis(1), &[own.view(), z.view()]).unwrap())
    };
    let all: Vec<NamedGraph> = specimens(40).iter().map(|one| flat(one, 2.0)).collect();
    let whole = |report: &CheckReport| {
        let of_names = |finding: &&homolog::specimens::check::Finding| finding.is_mended_by_names();
        let is_mirrored = |kind: Kind| kind == Kind::Mirrored;
        report.findings.iter().filter(|one| is_mirrored(one.kind) || of_names(one)).count()
    };
    let report = run(&all);
    assert_eq!(whole(&report), 0, "{report}");
    // One that is as thick as it is wide is told from its mirror image.
    let mut thick: Vec<NamedGraph> = specimens(40).iter().map(|one| flat(one, 0.0)).collect();
    for one in &mut thick {
        *one = changed(one, |points| {
            let bent: Vec<f64> = (0..points.nrows()).map(|k| 60.0 * (k as f64 * 1.3).sin()).collect();
            points.column_mut(2).assign(&ndarray::Array1::from(bent));
        });
    }
    thick[7] = changed(&thick[7], |points| points.column_mut(2).mapv_inplace(|z| -z));
    let report = run(&thick);
    let mirrored = report.findings.iter().filter(|one| one.kind == Kind::Mirrored).map(|one| one.index);
    assert_eq!(mirrored.collect::<Vec<_>>(), [7], "{report}");
}

/// In the plane, a mirror image of specimens that vary so much that no single landmark of it is odd is found, and no other specimen is listed.
#[test]
fn mirrored_specimens_of_wide_spreads_are_found() {
    let shape = [[0.0, 0.0], [0.9, 0.1], [1.1, 0.9], [0.3, 1.3], [-0.9, 0.7], [-0.3, 0.5], [0.5, 0.5], [-0.6, -0.2]];
    let (mut found, mut all, mut alarms) = (0, 0, 0);
    for seed in 0..5 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = move || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
        let mut one = |s: usize| {
            // What is common to all landmarks (bent, stretched) varies more than each alone.
            let [bend, stretch, lean] = [0.15, 0.2, 0.2].map(|far| far * normal());
            let points = Array2::from_shape_fn((shape.len(), 2), |(k, axis)| {
                let [x, y] = shape[k];
                let common = if axis == 0 { x * (1.0 + stretch) + lean * y } else { y + bend * x * x };
                common + 0.12 * normal()
            });
            graph(&format!("s{s:02}"), points)
        };
        let mut specimens: Vec<NamedGraph> = (0..60).map(&mut one).collect();
        let planted: Vec<usize> = (0..60).step_by(5).collect();
        for &at in &planted {
            specimens[at] = changed(&specimens[at], |points| points.column_mut(0).mapv_inplace(|x| -x));
        }
        let report = run(&specimens);
        let is_found = |at: &&usize| report.findings.iter().any(|one| one.index == **at && one.kind == Kind::Mirrored);
        found += planted.iter().filter(is_found).count();
        all += planted.len();
        alarms += report.suspects().iter().filter(|at| !planted.contains(at)).count();
    }
    assert!(20 * found >= 19 * all, "{found} of {all}");
    assert!(alarms <= 5, "{alarms}");
}

#[test]
fn mistakes_do_not_teach() {
    // A fifth of the specimens mirrored, or with a swap each.
    let (mut mirrored, mut swapped) = (specimens(40), specimens(40));
    for at in (0..40).step_by(5) {
        mirrored[at] = changed(&mirrored[at], |points| points.column_mut(0).mapv_inplace(|x| -x));
        let (a, b) = (at % 12, (at + 5) % 12);
        swapped[at] = changed(&swapped[at], |points| exchange(points, &[a, b], &[b, a]));
    }
    for (all, kind) in [(mirrored, Kind::Mirrored), (swapped, Kind::Swapped)] {
        let report = run(&all);
        let suspects: Vec<usize> = (0..40).step_by(5).collect();
        assert_eq!(report.suspects(), suspects, "{report}");
        assert!(report.findings.iter().all(|finding| finding.kind == kind), "{report}");
    }
}

#[test]
fn too_few_specimens_say_so() {
    for count in [0, 1, FEWEST_SPECIMENS - 1] {
        let report = run(&specimens(count));
        assert_eq!((report.false_alarms, report.findings.len()), (None, 0));
        assert!(report.to_string().contains("need at least 8 specimens"), "{report}");
    }
    assert!(run(&specimens(FEWEST_SPECIMENS)).false_alarms.is_some());
}

#[test]
fn degenerate_specimens_are_no_trouble() {
    let same = graph("a", Array2::zeros((5, 2)));
    let line = graph("b", Array2::from_shape_fn((5, 2), |(k, _)| k as f64));
    for one in [same, line] {
        let all: Vec<NamedGraph> = (0..10).map(|k| NamedGraph { id: k.to_string(), ..one.clone() }).collect();
        assert!(run(&all).suspects().is_empty());
    }
    let unnamed =
        NamedGraph { id: "c".into(), graph: Arc::new(Graph::from_points(Array2::zeros((3, 2))).unwrap()), image: None };
    assert!(check(&[unnamed], &Control::new()).is_err());
}

#[test]
fn real_lizards_and_faces() {
    for name in ["specimens/lizards", "faces", "house"] {
        let Some(path) = common::data_folder(name).map(|folder| folder.join("landmarks.csv")) else { continue };
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let mut all = LandmarkTable::default().read(&text, name).unwrap();
        let before = run(&all).suspects();
        assert!(before.len() as f64 <= 0.0205 * all.len() as f64, "{name}: {before:?}");
        let one = &all[7];
        let names = one.graph.names().unwrap().to_vec();
        let mut points = one.graph.points().unwrap().to_owned();
        exchange(&mut points, &[0, 5], &[5, 0]);
        let graph = Graph::from_points(points).unwrap().with_names(names.clone()).unwrap();
        all[7] = NamedGraph { graph: Arc::new(graph), ..one.clone() };
        let report = run(&all);
        let own: Vec<_> = report.findings.iter().filter(|finding| finding.index == 7).collect();
        assert!(own.len() == 1 && own[0].kind == Kind::Swapped, "{name}: {report}");
        assert_eq!(own[0].landmarks, [names[0].clone(), names[5].clone()], "{name}");
    }
}
