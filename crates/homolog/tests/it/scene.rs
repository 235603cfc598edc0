//! Image descriptors, and finding known points in a scene.

use crate::common;
use crate::drawing;

use common::rng;
use drawing::Picture;
use homolog::Control;
use homolog::appearance::Learner;
use homolog::data::Split;
use homolog::experiment::{Scene, SceneSettings, Scenes, TargetPoints, by_appearance, learn_and_compare};
use homolog::features::{Gradients, ImageDescriptor, Patch, describe_points};
use homolog::geometry::GreyImage;
use homolog::graph::{Attributes, Graph};
use homolog::learn::evaluate;
use homolog::loss::Endpoint;
use homolog::matching::Linear;
use ndarray::{Array2, array};
use rand::RngExt;
use std::collections::BTreeSet;
use std::sync::Arc;

fn settings() -> SceneSettings {
    let image = vec![
        ImageDescriptor::Patch(Patch { radius: 6.0, cells: 3 }),
        ImageDescriptor::Gradients(Gradients { radius: 10.0, cells: 2, directions: 4 }),
    ];
    SceneSettings { at_most: 40, image, ..SceneSettings::default() }
}

fn describe(picture: &Picture, points: &Array2<f64>) -> Attributes {
    describe_points(picture.grey(), points.view(), &ImageDescriptor::all()).unwrap()
}

fn assert_close(a: &Attributes, b: &Attributes, tolerance: f64) {
    let largest = (&a.values() - &b.values()).iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    assert!(largest <= tolerance, "they differ by {largest}");
}

#[test]
fn light_and_contrast_do_not_matter() {
    let mut rng = rng(1);
    let mut picture = Picture::random(&mut rng, 90, 70);
    picture.pixels.iter_mut().for_each(|pixel| *pixel /= 3);
    let points = array![[45.0, 35.0], [20.5, 30.25], [-3.0, 80.0], [89.0, 0.0]];
    let before = describe(&picture, &points);
    let distinct: BTreeSet<&String> = before.names().iter().collect();
    assert_eq!((distinct.len(), before.values().dim()), (81 + 128, (4, 81 + 128)));
    picture.pixels.iter_mut().for_each(|pixel| *pixel += 100);
    assert_close(&before, &describe(&picture, &points), 1e-9);
    picture.pixels.iter_mut().for_each(|pixel| *pixel = 2 * (*pixel - 100));
    let brighter = describe(&picture, &points);
    for (a, b) in before.values().columns().into_iter().zip(brighter.values().columns()).skip(81) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    // The patch partly counts low contrast as noise: it grows as a whole.
    for (a, b) in before.values().rows().into_iter().zip(brighter.values().rows()) {
        let largest = (0..81).max_by(|&i, &j| a[i].abs().total_cmp(&a[j].abs())).unwrap();
        let growth = b[largest] / a[largest];
        assert!((1.0..2.0).contains(&growth), "{growth}");
        assert!((0..81).all(|i| (b[i] - growth * a[i]).abs() < 1e-9));
    }
    let flat = describe(&Picture::flat(30, 30, 7), &points);
    assert!(flat.values().iter().all(|&value| value == 0.0));
}

#[test]
fn turning_the_image_turns_the_descriptors() {
    let mut rng = rng(2);
    let picture = Picture::random(&mut rng, 60, 44);
    let turned = picture.turned();
    let (x, y) = (31.25, 20.5);
    let (here, there) = (array![[x, y]], array![[43.0 - y, x]]);
    let (cells, directions) = (4, 8);
    let kinds = [
        ImageDescriptor::Patch(Patch { radius: 8.0, cells }),
        ImageDescriptor::Gradients(Gradients { radius: 12.0, cells, directions }),
    ];
    for (kind, depth) in kinds.into_iter().zip([1, directions]) {
        let upright = describe_points(picture.grey(), here.view(), &[kind]).unwrap();
        let lying = describe_points(turned.grey(), there.view(), &[kind]).unwrap();
        for number in 0..cells * cells * depth {
            let (cell, direction) = (number / depth, number % depth);
            let (row, column) = (cell / cells, cell % cells);
            // Right goes to down: row r and column c to row c and the opposite column, every direction by a quarter.
            let image = (column * cells + cells - 1 - row) * depth + (direction + depth / 4) % depth;
            assert!((upright.values()[[0, number]] - lying.values()[[0, image]]).abs() < 1e-9);
        }
    }
}

#[test]
fn a_slope_has_one_direction() {
    let pixels: Vec<u8> = (0..50 * 50_usize).map(|at| u8::try_from(at % 50 * 4).unwrap()).collect();
    let image = GreyImage::new(50, 50, &pixels).unwrap();
    let kind = Gradients { radius: 10.0, cells: 1, directions: 4 };
    let table = describe_points(image, array![[25.0, 25.0]].view(), &[ImageDescriptor::Gradients(kind)]).unwrap();
    // Rising to the right: all in direction 0. A root mean square of 3 over four numbers.
    assert_eq!(table.values(), array![[6.0, 0.0, 0.0, 0.0]]);
}

#[test]
fn what_is_no_descriptor_is_refused() {
    let image = GreyImage::new(2, 2, &[0; 4]).unwrap();
    let describe = |kind| describe_points(image, array![[0.0, 0.0]].view(), &[kind]);
    assert!(describe(ImageDescriptor::Patch(Patch { radius: 0.0, cells: 3 })).is_err());
    assert!(describe(ImageDescriptor::Patch(Patch { radius: 1.0, cells: usize::MAX })).is_err());
    assert!(describe(ImageDescriptor::Gradients(Gradients { directions: 0, ..Gradients::default() })).is_err());
    let twice = [ImageDescriptor::Patch(Patch::default()); 2];
    assert!(describe_points(image, array![[0.0, 0.0]].view(), &twice).is_err());
    assert!(describe_points(image, array![[0.0, f64::NAN]].view(), &twice[..1]).is_err());
    assert!(describe_points(GreyImage::new(0, 9, &[]).unwrap(), array![[0.0, 0.0]].view(), &twice[..1]).is_err());
    let text = serde_json::to_string(&SceneSettings { image: ImageDescriptor::all(), ..settings() }).unwrap();
    assert_eq!(serde_json::from_str::<SceneSettings>(&text).unwrap().image, ImageDescriptor::all());
}

/// The same triangles and squares at a different place in every scene, with noise.
fn scene(number: u64, settings: &SceneSettings) -> Scene {
    let (picture, landmarks) = drawn(number);
    Scene::new(picture.grey(), landmarks, settings).unwrap()
}

fn drawn(number: u64) -> (Picture, Array2<f64>) {
    let mut rng = rng(100 + number);
    let mut picture = Picture::flat(120, 100, 60);
    let (dx, dy) = (rng.random_range(0.0..20.0), rng.random_range(0.0..15.0));
    let at = |x: f64, y: f64| [x + dx, y + dy];
    let roof = [at(20.0, 40.0), at(45.0, 15.0), at(70.0, 40.0)];
    let wall = [at(25.0, 40.0), at(65.0, 40.0), at(65.0, 75.0), at(25.0, 75.0)];
    picture.fill(&wall, 150);
    picture.fill(&roof, 220);
    picture.fill(&[at(35.0, 50.0), at(45.0, 50.0), at(45.0, 75.0), at(35.0, 75.0)], 20);
    picture.pixels.iter_mut().for_each(|pixel| *pixel += rng.random_range(0..4));
    let known = [roof[0], roof[1], roof[2], wall[2], wall[3]];
    (picture, Array2::from_shape_fn((known.len(), 2), |(row, axis)| known[row][axis]))
}

/// What labelled pictures look like, learned from the same pictures as the weights; its losses are those of finding the landmarks oneself.
#[test]
fn appearance_is_learned_from_the_same_scenes_and_measured_alike() {
    let pictures: Vec<(Picture, Array2<f64>)> = (0..9).map(drawn).collect();
    let grey: Vec<GreyImage<'_>> = pictures.iter().map(|(picture, _)| picture.grey()).collect();
    let scenes = Scenes::new(settings().features(), (0..9).map(|number| scene(number, &settings())).collect()).unwrap();
    let pairs = scenes.pairs_with(4);
    assert_eq!(pairs.each_ref().map(Vec::len), [3, 2, 3]);
    let [alone, learned] = by_appearance(&scenes, &grey, &pairs, &Control::new()).unwrap();
    assert_eq!(learned.each_ref().map(|split| split.losses.len()), [3, 2, 3]);
    let names = || (0..5).map(|landmark| landmark.to_string()).collect();
    let graphs: Vec<Graph> = pictures
        .iter()
        .map(|(_, landmarks)| Graph::from_points(landmarks.clone()).unwrap().with_names(names()).unwrap())
        .collect();
    // The template and the training pictures, in their order; no target of the other pairs.
    for (evaluation, from) in [(&alone, &[4][..]), (&learned, &[0, 3, 4, 6])] {
        let labelled: Vec<_> = from.iter().map(|&at| (grey[at], &graphs[at])).collect();
        let appearance = Learner::learn(&labelled, &Control::new()).unwrap().appearance().unwrap();
        for (&loss, &(_, target)) in evaluation[2].losses.iter().zip(&pairs[2]) {
            let found = appearance.find(grey[target], &[], &Control::new()).unwrap();
            let off = found.iter().map(|point| {
                let own = pictures[target].1.row(point.name.parse().unwrap());
                (point.at[0] - own[0]).hypot(point.at[1] - own[1])
            });
            assert!((loss - off.sum::<f64>() / 5.0 / 120.0).abs() < 1e-12);
        }
    }
    println!("from the template {:.4}, from four pictures {:.4}", alone[2].mean(), learned[2].mean());
    assert!(learned[2].mean() < 0.05, "{}", learned[2].mean());
    assert!(by_appearance(&scenes, &grey[1..], &pairs, &Control::new()).is_err());
    assert!(by_appearance(&scenes, &grey, &[vec![(0, 9)], vec![], vec![]], &Control::new()).is_err());
    let stop = Control::new().interrupted_by(|| true);
    assert!(by_appearance(&scenes, &grey, &pairs, &stop).is_err());
    // In a sequence no picture teaches that is a target of another split.
    let pairs = scenes.pairs_at(2);
    assert_eq!(pairs[0], [(0, 2), (3, 5), (6, 8)]);
    assert_eq!(by_appearance(&scenes, &grey, &pairs, &Control::new()).unwrap()[1][2].losses.len(), 2);
}

#[test]
fn a_template_finds_itself_and_its_like() {
    for candidates in [TargetPoints::WithLabels, TargetPoints::CornersOnly { radius: 4.0 }] {
        let settings = SceneSettings { candidates, ..settings() };
        let all: Vec<Scene> = (0..9).map(|number| scene(number, &settings)).collect();
        let scenes = Scenes::new(settings.features(), all.clone()).unwrap();
        let (graph, truth) = all[0].target().unwrap();
        let labels = if candidates == TargetPoints::WithLabels { 5 } else { 0 };
        assert_eq!(graph.node_count(), all[0].corners().nrows() + labels);
        assert_eq!(truth.matched_count(), 5);
        let points = graph.points().unwrap();
        for (i, k) in truth.pairs() {
            let near = all[0].landmarks().row(i).to_owned() - points.row(k);
            assert!(near[0].hypot(near[1]) <= if labels > 0 { 0.0 } else { 4.0 });
        }
        let template = all[0].template().unwrap();
        assert_eq!((template.node_count(), template.context().unwrap().nrows()), (5, all[0].corners().nrows()));
        let loss = Endpoint::default();
        let itself = scenes.example(0, 0, &loss).unwrap();
        let ones = scenes.features().unlearned_weights();
        let found = evaluate(&[itself], &Linear::default(), &ones, &Control::new()).unwrap();
        assert!(found.mean() < if labels > 0 { 1e-12 } else { 0.05 }, "{}", found.mean());

        let splits = scenes.fixed_template(4, &loss).unwrap();
        assert_eq!(splits.each_ref().map(Vec::len), [3, 2, 3]);
        let targets: Vec<usize> = Split::ALL.iter().flat_map(|&split| scenes.targets_of(4, split)).collect();
        assert_eq!(targets, [0, 3, 6, 1, 7, 2, 5, 8]);
        let outcome = learn_and_compare(scenes.features(), &splits, &Control::new()).unwrap();
        let chosen = outcome.trained.after().unwrap();
        assert_eq!(outcome.learned[1], *chosen);
        for candidate in &outcome.trained.candidates {
            assert!(candidate.validation.as_ref().unwrap().mean() >= chosen.mean());
            assert!(candidate.fit.as_ref().unwrap().certified);
        }
        // The lemma: training loss is at most the mean slack.
        let fit = outcome.trained.fit().unwrap();
        assert!(fit.bounds_loss && outcome.learned[0].mean() <= fit.minimum.risk + 1e-9);
        assert!(outcome.learned[2].mean() < 0.1, "{:?}", outcome.learned[2]);
    }
    let all: Vec<Scene> = (0..7).map(|number| scene(number, &settings())).collect();
    let scenes = Scenes::new(settings().features(), all).unwrap();
    let splits = scenes.at_baseline(3, &Endpoint::default()).unwrap();
    assert_eq!(splits.each_ref().map(Vec::len), [2, 1, 1]);
    assert!(scenes.example(7, 0, &Endpoint::default()).is_err());
    assert!(learn_and_compare(scenes.features(), &<_>::default(), &Control::new()).is_err());
}

#[test]
fn the_nearest_corner_stands_for_a_label_once() {
    let pixels = [0; 100];
    let image = GreyImage::new(10, 10, &pixels).unwrap();
    let candidates = TargetPoints::CornersOnly { radius: 2.0 };
    let settings = SceneSettings { candidates, ..SceneSettings::default() };
    let landmarks = array![[1.0, 1.0], [2.0, 1.0], [9.0, 9.0]];
    let corners = array![[1.9, 1.0], [1.0, 2.5], [5.0, 5.0]];
    let (_, truth) =
        Scene::with_corners(image, landmarks.clone(), corners.clone(), &settings).unwrap().target().unwrap();
    // The first is nearest to both; the second landmark is nearer to it. The third landmark has none.
    assert_eq!(truth.left_to_right(), [Some(1), Some(0), None]);
    let scene = Scene::with_corners(image, landmarks.clone(), corners.clone(), &settings).unwrap();
    let scenes = Scenes::new(settings.features(), vec![scene; 2]).unwrap();
    let example = scenes.example(0, 1, &Endpoint::default()).unwrap();
    // The landmark without a partner is left out; the others still see it.
    assert_eq!(example.truth().left_to_right(), [Some(1), Some(0)]);
    let ones = scenes.features().unlearned_weights();
    let scores = example.instance().compatibility(&ones).unwrap().node;
    let whole = {
        let labelled = SceneSettings { candidates: TargetPoints::WithLabels, ..settings.clone() };
        let scene = Scene::with_corners(image, landmarks.clone(), corners.clone(), &labelled).unwrap();
        let left = Arc::new(settings.features().describe(&scene.template().unwrap()).unwrap());
        settings.features().instance(&left, example.instance().right()).unwrap().compatibility(&ones).unwrap().node
    };
    // Divided by two nodes, not three.
    assert!((scores * 2.0 - whole.select(ndarray::Axis(0), &[0, 1]) * 3.0).iter().all(|x| x.abs() < 1e-9));
    let bad = SceneSettings { candidates: TargetPoints::CornersOnly { radius: f64::NAN }, ..settings };
    assert!(Scene::with_corners(image, landmarks, corners, &bad).is_err());
}
