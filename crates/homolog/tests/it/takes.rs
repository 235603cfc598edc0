//! Takes: laws on a made body whose limbs turn, and a recorded walk.

use super::common::data_folder;
use homolog::atlas::{Atlas, AtlasSettings};
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::specimens::unlabelled::fit;
use homolog::takes::{TakeNaming, differing_frames};
use homolog::{Control, data};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Markers of the trunk and of each of two limbs.
const TRUNK: usize = 6;
const LIMB: usize = 5;
const MARKERS: usize = TRUNK + 2 * LIMB;

/// A body that walks along x while its limbs swing.
fn body(time: f64, size: f64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut points = Array2::zeros((MARKERS, 3));
    for marker in 0..MARKERS {
        let own: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
        let place = if marker < TRUNK {
            [0.25 * own[0], 0.5 * own[1], 1.5 + 0.4 * own[2]]
        } else {
            let side = if marker < TRUNK + LIMB { 1.0 } else { -1.0 };
            let (sine, cosine) = (side * 0.5 * (5.0 * time).sin()).sin_cos();
            let (x, z) = (0.12 * own[0], -0.5 - 0.45 * own[2]);
            [cosine * x + sine * z, side * 0.3 + 0.1 * own[1], 1.0 - sine * x + cosine * z]
        };
        for (axis, value) in place.into_iter().enumerate() {
            points[[marker, axis]] = size * (value + if axis == 0 { 1.2 * time } else { 0.0 });
        }
    }
    points
}

fn names() -> Vec<String> {
    (0..MARKERS).map(|marker| format!("m{marker}")).collect()
}

fn labelled(time: f64) -> Graph {
    Graph::from_points(body(time, 1.0)).unwrap().with_names(names()).unwrap()
}

fn atlas(frames: &[Graph]) -> Atlas {
    Atlas::learn(&frames.iter().collect::<Vec<_>>(), &AtlasSettings::default()).unwrap()
}

/// Frames in which points are shuffled: which marker each point is, none for ghosts.
fn take(
    frames: usize,
    size: f64,
    ghosts: usize,
    gone: impl Fn(usize, usize) -> bool,
) -> Vec<(Graph, Vec<Option<usize>>)> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let one = |frame: usize| {
        let points = body(frame as f64 / 100.0, size);
        let mut rows: Vec<(Vec<f64>, Option<usize>)> = (0..MARKERS)
            .filter(|&marker| !gone(frame, marker))
            .map(|marker| (points.row(marker).to_vec(), Some(marker)))
            .collect();
        for _ in 0..ghosts {
            let place = [size * frame as f64 * 0.012, 0.0, size].map(|at| at + size * random.random_range(-0.8..0.8));
            rows.push((place.to_vec(), None));
        }
        rows.shuffle(&mut random);
        let places = Array2::from_shape_fn((rows.len(), 3), |(row, axis)| rows[row].0[axis]);
        (Graph::from_points(places).unwrap(), rows.into_iter().map(|(_, marker)| marker).collect())
    };
    (0..frames).map(one).collect()
}

fn name(atlas: &Atlas, take: &[(Graph, Vec<Option<usize>>)]) -> TakeNaming {
    let graphs: Vec<&Graph> = take.iter().map(|(graph, _)| graph).collect();
    atlas.name_take(&graphs, &atlas.start_weights(), &Control::new()).unwrap()
}

/// Markers that are right, wrong (ghosts with a name too) and missed.
fn counts(naming: &TakeNaming, take: &[(Graph, Vec<Option<usize>>)]) -> [usize; 3] {
    let mut counts = [0; 3];
    for (calls, (_, truth)) in naming.frames.iter().zip(take) {
        for (call, truth) in calls.iter().zip(truth) {
            match (call.as_ref().map(|call| call.marker), truth) {
                (Some(found), Some(truth)) if found == *truth => counts[0] += 1,
                (Some(_), _) => counts[1] += 1,
                (None, Some(_)) => counts[2] += 1,
                (None, None) => {}
            }
        }
    }
    counts
}

#[test]
fn one_labelled_frame_names_a_shuffled_take_of_a_larger_body() {
    let take = take(120, 1.3, 0, |_, _| false);
    let naming = name(&atlas(&[labelled(0.31)]), &take);
    assert_eq!(counts(&naming, &take), [120 * MARKERS, 0, 0]);
    assert!(naming.swaps.is_empty() && naming.doubts.is_empty());
}

#[test]
fn gaps_stay_gaps_ghosts_get_no_name_and_names_come_back() {
    let gone = |frame: usize, marker: usize| (frame / 25 + marker).is_multiple_of(7);
    let take = take(200, 1.0, 3, gone);
    let naming = name(&atlas(&[labelled(0.1), labelled(0.6), labelled(1.1)]), &take);
    let [right, wrong, missed] = counts(&naming, &take);
    let all = take.iter().flat_map(|(_, truth)| truth).flatten().count();
    assert!(right * 1000 >= all * 995 && wrong * 200 <= all, "{right} right, {wrong} wrong, {missed} missed of {all}");
    for calls in &naming.frames {
        let mut markers: Vec<usize> = calls.iter().flatten().map(|call| call.marker).collect();
        markers.sort_unstable();
        assert!(markers.windows(2).all(|two| two[0] != two[1]), "a name occurs twice in a frame");
        assert!(calls.iter().flatten().all(|call| (0.0..=1.0).contains(&call.confidence)));
    }
}

#[test]
fn a_body_that_walks_the_other_way_is_named_from_one_frame() {
    let gone = |frame: usize, marker: usize| (frame / 20 + marker).is_multiple_of(9);
    let mut take = take(120, 1.0, 2, gone);
    for (graph, _) in &mut take {
        let mut points = graph.points().unwrap().to_owned();
        points.columns_mut().into_iter().take(2).for_each(|mut axis| axis.mapv_inplace(|x| -x));
        *graph = Graph::from_points(points).unwrap();
    }
    let naming = name(&atlas(&[labelled(0.31)]), &take);
    let [right, wrong, missed] = counts(&naming, &take);
    assert!(right >= 99 * (wrong + missed), "{right} right, {wrong} wrong, {missed} missed");
}

#[test]
fn a_point_that_becomes_another_marker_is_reported_with_its_frame() {
    // Two markers of the trunk slowly change places in frames 50 to 80, passing each other sideways: motion alone follows the points.
    let (one, other) = (0, 1);
    let mut take = take(140, 1.0, 0, |_, _| false);
    for (frame, (graph, truth)) in take.iter_mut().enumerate() {
        let mut points = graph.points().unwrap().to_owned();
        let place = |marker: usize| truth.iter().position(|&name| name == Some(marker)).unwrap();
        let (p, q) = (place(one), place(other));
        let share = ((frame as f64 - 50.0) / 30.0).clamp(0.0, 1.0);
        let share = (1.0 - (std::f64::consts::PI * share).cos()) / 2.0;
        let aside = 0.1 * (std::f64::consts::PI * share).sin();
        for axis in 0..3 {
            let (a, b) = (points[[p, axis]], points[[q, axis]]);
            let side = if axis == 1 { aside } else { 0.0 };
            points[[p, axis]] = a + share * (b - a) + side;
            points[[q, axis]] = b + share * (a - b) - side;
        }
        if frame >= 65 {
            truth.swap(p, q);
        }
        *graph = Graph::from_points(points).unwrap();
    }
    let naming = name(&atlas(&[labelled(0.1), labelled(0.4), labelled(0.7)]), &take);
    let [right, wrong, missed] = counts(&naming, &take);
    assert!(right * 100 >= 97 * 140 * MARKERS, "{right} right, {wrong} wrong, {missed} missed");
    for marker in [one, other] {
        let mut told = naming.swaps.iter().any(|swap| swap.marker == marker && (50..=81).contains(&swap.frame));
        told |= naming.doubts.iter().any(|doubt| doubt.marker == marker && doubt.first <= 81 && 50 <= doubt.last);
        assert!(told, "{marker}: {:?}, {:?}", naming.swaps, naming.doubts);
    }
}

#[test]
fn labels_of_the_input_that_are_wrong_are_told_with_their_frames() {
    let take = take(90, 1.0, 0, |_, _| false);
    let (one, other) = (2, TRUNK + 3);
    let label = |(frame, (graph, truth)): (usize, &(Graph, Vec<Option<usize>>))| {
        let planted = |marker: usize| match marker {
            marker if frame < 40 || (marker != one && marker != other) => marker,
            marker => one + other - marker,
        };
        let names =
            truth.iter().map(|marker| marker.map_or_else(String::new, |marker| format!("m{}", planted(marker))));
        graph.clone().with_names(names.collect()).unwrap()
    };
    let labelled_take: Vec<Graph> = take.iter().enumerate().map(label).collect();
    let frames: Vec<&Graph> = labelled_take.iter().collect();
    let atlas = atlas(&[labelled(0.1), labelled(0.5)]);
    let naming = atlas.name_take(&frames, &atlas.start_weights(), &Control::new()).unwrap();
    let told = naming.mislabelled(&atlas, &frames);
    let found: Vec<(usize, usize, &str, usize)> =
        told.iter().map(|told| (told.first, told.last, told.label.as_str(), told.marker)).collect();
    assert_eq!(found, [(40, 89, format!("m{other}").as_str(), one), (40, 89, format!("m{one}").as_str(), other)]);
    let right: Vec<Graph> = take
        .iter()
        .map(|(graph, truth)| {
            let names = truth.iter().map(|marker| format!("m{}", marker.unwrap())).collect();
            graph.clone().with_names(names).unwrap()
        })
        .collect();
    assert!(naming.mislabelled(&atlas, &right.iter().collect::<Vec<_>>()).is_empty());
    let ids: Vec<String> = (1..=90).map(|frame| frame.to_string()).collect();
    let words = naming.named(&atlas, &ids.iter().map(String::as_str).collect::<Vec<_>>(), &frames);
    let words: Vec<[&str; 4]> =
        words.mislabelled.iter().map(|one| [&*one.first, &*one.last, &*one.label, &*one.marker]).collect();
    let [one, other] = [one, other].map(|marker| format!("m{marker}"));
    assert_eq!(words, [["41", "90", &*other, &*one], ["41", "90", &*one, &*other]]);
}

#[test]
fn a_take_without_points_or_frames_has_no_names() {
    let atlas = atlas(&[labelled(0.0)]);
    assert!(name(&atlas, &[]).frames.is_empty());
    let nothing = Graph::from_points(Array2::zeros((0, 3))).unwrap();
    let one = Graph::from_points(Array2::zeros((1, 3))).unwrap();
    let naming = name(&atlas, &[(nothing.clone(), vec![]), (one, vec![None]), (nothing, vec![])]);
    assert_eq!(naming.frames.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 0]);
    let flat = Graph::from_points(Array2::zeros((2, 2))).unwrap();
    assert!(atlas.name_take(&[&flat], &atlas.start_weights(), &Control::new()).is_err());
}

#[test]
fn an_interrupted_take_still_has_names() {
    let take = take(40, 1.0, 0, |_, _| false);
    let graphs: Vec<&Graph> = take.iter().map(|(graph, _)| graph).collect();
    let atlas = atlas(&[labelled(0.0), labelled(0.3)]);
    let naming = atlas.name_take(&graphs, &atlas.start_weights(), &Control::new().interrupted_by(|| true)).unwrap();
    assert_eq!(naming.frames.len(), 40);
    assert!(naming.key_frames >= 1);
}

#[test]
fn picked_frames_differ() {
    let frames: Vec<Graph> = (0..60).map(|frame| labelled(f64::from(frame) / 50.0)).collect();
    let frames: Vec<&Graph> = frames.iter().collect();
    let picked = differing_frames(&frames, 5);
    assert_eq!(picked.len(), 5);
    assert!(picked.windows(2).all(|two| two[0] + 2 < two[1]), "{picked:?}");
    assert_eq!(differing_frames(&frames[..3], 5), [0, 1, 2]);
    assert!(differing_frames(&[], 5).is_empty());
}

#[test]
fn a_recorded_walk_is_named_from_one_frame() {
    let Some(place) = data_folder("mocap") else { return };
    let bytes = std::fs::read(place.join("walk.trc")).unwrap();
    let walk = data::read("walk.trc", &bytes, &|_, _| None).unwrap().data;
    let frames: Vec<&Graph> = walk.graphs().iter().map(|named| &*named.graph).collect();
    let atlas = Atlas::learn(&frames[119..120], &AtlasSettings::default()).unwrap();
    let naming = atlas.name_take(&frames[60..180], &atlas.start_weights(), &Control::new()).unwrap();
    for (at, frame) in frames[60..180].iter().enumerate() {
        assert_eq!(naming.names(&atlas, at), frame.names().unwrap(), "frame {}", 60 + at);
    }
}

/// One labelled frame and the unlabelled take teach what single frames need: how the body moves.
#[test]
fn a_take_without_labels_teaches_with_one_labelled_frame() {
    let timed = |(frame, (graph, _)): (usize, &(Graph, Vec<Option<usize>>))| {
        graph.clone().with_time(frame as f64 / 100.0).unwrap()
    };
    let take = take(80, 1.0, 1, |frame, marker| marker == 4 && frame > 50);
    let (frames, one): (Vec<Graph>, _) = (take.iter().enumerate().map(timed).collect(), labelled(0.0));
    let frames: Vec<&Graph> = frames.iter().collect();
    let (model, _, brought) = fit(&[&one], &frames, &AtlasSettings::default(), &Control::new()).unwrap();
    let takes = brought.takes.unwrap();
    assert!(brought.kept && takes.kept, "{}", brought.sentence());
    assert_eq!((takes.frames, takes.named[1]), (80, 0));
    assert!((2..=20).contains(&takes.chosen));
    let atlas = model.atlas().unwrap();
    for (graph, truth) in take.iter().step_by(7) {
        let naming = model.name(graph, &mut Workspace::new()).unwrap();
        for (landmark, point) in naming.matching.pairs() {
            assert_eq!(truth[point].map(|marker| format!("m{marker}")), Some(atlas.landmarks[landmark].name.clone()));
        }
    }
    // A take of something else teaches nothing.
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let noise: Vec<Graph> = (0..40)
        .map(|frame| {
            let points = Array2::from_shape_fn((MARKERS, 3), |_| random.random_range(-1.0..1.0));
            Graph::from_points(points).unwrap().with_time(f64::from(frame)).unwrap()
        })
        .collect();
    let noise: Vec<&Graph> = noise.iter().collect();
    let (model, _, brought) = fit(&[&one], &noise, &AtlasSettings::default(), &Control::new()).unwrap();
    assert!(!brought.kept, "{}", brought.sentence());
    assert_eq!(model, homolog::model::Model::fit_atlas(&[&one], &AtlasSettings::default(), &Control::new()).unwrap().0);
}
