//! Landmarks by appearance: found again in moved pictures, the same from a model file and on any number of threads, confident where they
//! are right. Photographs of fly wings, faces and bicycles are measured by `homolog-bench pictures`: this crate decodes no pictures.

use homolog::appearance::{Appearance, FoundPoint, Learner};
use homolog::atlas::Calibration;
use homolog::data::turntable::{Picture, Turntable};
use homolog::features::FeatureMap;
use homolog::geometry::GreyImage;
use homolog::graph::Graph;
use homolog::labelling::Session;
use homolog::matching::{Linear, Method};
use homolog::model::Model;
use homolog::{Control, Error};
use serde_json::{Value, json};
use std::sync::Arc;

struct Labelled {
    picture: Picture,
    graph: Arc<Graph>,
}

impl Labelled {
    fn grey(&self) -> GreyImage<'_> {
        GreyImage::new(self.picture.width, self.picture.height, &self.picture.pixels).unwrap()
    }
}

fn frames(numbers: &[usize]) -> Vec<Labelled> {
    let turntable = Turntable { jitter: 0.0, ..Turntable::default() };
    let data = turntable.data_set().unwrap();
    let one = |&frame: &usize| Labelled {
        picture: turntable.render(frame).unwrap(),
        graph: Arc::clone(&data.graphs()[frame].graph),
    };
    numbers.iter().map(one).collect()
}

fn learned(labelled: &[Labelled]) -> Learner {
    let specimens: Vec<_> = labelled.iter().map(|one| (one.grey(), &*one.graph)).collect();
    Learner::learn(&specimens, &Control::new()).unwrap()
}

fn find(appearance: &Appearance, picture: GreyImage<'_>) -> Vec<FoundPoint> {
    appearance.find(picture, &[], &Control::new()).unwrap()
}

/// How far each landmark is from its label, in pixels.
fn errors(found: &[FoundPoint], graph: &Graph) -> Vec<f64> {
    let points = graph.points().unwrap();
    let off = |(name, point): (&String, ndarray::ArrayView1<'_, f64>)| {
        let own = found.iter().find(|one| one.name == *name).expect("one for each");
        (own.at[0] - point[0]).hypot(own.at[1] - point[1])
    };
    graph.names().unwrap().iter().zip(points.rows()).map(off).collect()
}

fn within(errors: &[f64], most: f64) -> f64 {
    errors.iter().filter(|&&error| error <= most).count() as f64 / errors.len() as f64
}

/// A picture moved by whole pixels; what comes into view repeats the border.
fn shifted(picture: &Picture, dx: isize, dy: isize) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let mut moved = picture.clone();
    for y in 0..height {
        for x in 0..width {
            let from = |at: usize, by: isize, side: usize| {
                (at.cast_signed() - by).clamp(0, side.cast_signed() - 1).cast_unsigned()
            };
            moved.pixels[y * width + x] = picture.pixels[from(y, dy, height) * width + from(x, dx, width)];
        }
    }
    moved
}

#[test]
fn landmarks_are_found_from_few_pictures_and_move_with_the_picture() {
    let labelled = frames(&[0, 20]);
    let appearance = learned(&labelled).appearance().unwrap();
    let new = &frames(&[10])[0];
    let found = find(&appearance, new.grey());
    let off = errors(&found, &new.graph);
    assert!(within(&off, 5.0) >= 0.8, "{off:?}");
    let moved = shifted(&new.picture, 17, -9);
    let again = find(&appearance, GreyImage::new(moved.width, moved.height, &moved.pixels).unwrap());
    let follows = |(a, b): (&FoundPoint, &FoundPoint)| (b.at[0] - a.at[0] - 17.0).hypot(b.at[1] - a.at[1] + 9.0) < 1.0;
    let count = found.iter().zip(&again).filter(|&pair| follows(pair)).count();
    assert!(count >= 26, "{count} of 30 moved with the picture");
}

#[test]
fn known_landmarks_are_kept_and_lead_the_others() {
    let appearance = learned(&frames(&[0])).appearance().unwrap();
    let new = &frames(&[8])[0];
    let names = new.graph.names().unwrap();
    let points = new.graph.points().unwrap();
    for count in [1, 2, 12] {
        let known: Vec<(String, [f64; 2])> =
            (0..count).map(|k| (names[2 * k].clone(), [points[[2 * k, 0]], points[[2 * k, 1]]])).collect();
        let found = appearance.find(new.grey(), &known, &Control::new()).unwrap();
        assert_eq!(found.len(), 30 - count);
        assert!(found.iter().all(|one| known.iter().all(|(name, _)| *name != one.name)));
        let rest: Vec<f64> = (0..30)
            .filter_map(|k| {
                let one = found.iter().find(|one| one.name == names[k])?;
                Some((one.at[0] - points[[k, 0]]).hypot(one.at[1] - points[[k, 1]]))
            })
            .collect();
        assert!(within(&rest, 6.0) >= 0.75, "{count} known: {rest:?}");
    }
    let odd = appearance.find(new.grey(), &[("roof".to_string(), [f64::NAN, 0.0])], &Control::new());
    assert!(matches!(odd, Err(Error::BadEntry { .. })));
}

#[test]
fn a_model_file_and_any_number_of_threads_find_the_same() {
    let labelled = frames(&[0, 12, 24]);
    let specimens: Vec<_> = labelled.iter().map(|one| (one.grey(), &*one.graph)).collect();
    let bare = Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default())).unwrap();
    assert!(matches!(bare.find(labelled[0].grey(), &Control::new()), Err(Error::Missing { .. })));
    let model = bare.seeing(&specimens, &Control::new()).unwrap();
    let text = model.to_json().unwrap();
    assert!(text.len() < 700_000, "{} bytes", text.len());
    let read = Model::from_json(&text).unwrap();
    assert_eq!(read, model);
    let new = &frames(&[6])[0];
    let found = model.find(new.grey(), &Control::new()).unwrap();
    assert_eq!(read.find(new.grey(), &Control::new()).unwrap(), found);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| model.find(new.grey(), &Control::new()).unwrap()), found);
    }
    // Confidences are there, and are about as high as places are right.
    let confidences: Vec<f64> = found.iter().map(|one| one.confidence.expect("three pictures")).collect();
    assert!(confidences.iter().all(|share| (0.0..=1.0).contains(share)));
    let mean = confidences.iter().sum::<f64>() / 30.0;
    let right = within(&errors(&found, &new.graph), 0.02 * 400.0);
    assert!((mean - right).abs() < 0.25, "{mean} and {right}");
    for (from, to) in [("\"weights\": [\n", "\"weights\": [\n \"1 2\",\n"), ("\"deviation\": ", "\"deviation\": -")] {
        assert!(Model::from_json(&text.replacen(from, to, 1)).is_err(), "{from}");
    }
}

#[test]
fn pictures_added_one_by_one_teach_about_the_same() {
    let labelled = frames(&[0, 15, 30]);
    let mut learner = Learner::new();
    assert!(learner.appearance().is_err());
    labelled.iter().for_each(|one| learner.add(one.grey(), &one.graph).unwrap());
    assert_eq!(learner.specimens(), 3);
    let new = &frames(&[22])[0];
    let [a, b] = [learner.appearance().unwrap(), learned(&labelled).appearance().unwrap()]
        .map(|appearance| within(&errors(&find(&appearance, new.grey()), &new.graph), 5.0));
    assert!(a >= 0.8 && b >= 0.8, "{a} and {b}");
    // Without the third it is what two teach, and the third alone is one.
    assert_eq!(learner.appearance_of(&[0, 1]).unwrap().specimens(), 2);
    learner.forget(2);
    assert_eq!(learner.specimens(), 2);
    assert!(learner.appearance_of(&[2]).is_err());
}

#[test]
fn a_landmark_that_some_pictures_lack_is_still_found() {
    let labelled = frames(&[0, 10, 20]);
    let fewer: Vec<Graph> = labelled
        .iter()
        .enumerate()
        .map(|(at, one)| one.graph.subgraph(&(0..30).filter(|k| k % 3 != at).collect::<Vec<_>>()).unwrap())
        .collect();
    let specimens: Vec<_> = labelled.iter().zip(&fewer).map(|(one, graph)| (one.grey(), graph)).collect();
    let appearance = Learner::learn(&specimens, &Control::new()).unwrap().appearance().unwrap();
    assert_eq!(appearance.landmarks().len(), 30);
    let new = &frames(&[5])[0];
    let off = errors(&find(&appearance, new.grey()), &new.graph);
    assert!(within(&off, 6.0) >= 0.75, "{off:?}");
}

/// What the page does: labelled pictures are checked in turn, and what that tells makes the confidences of others, also in its model file.
#[test]
fn what_checked_pictures_tell_makes_confidences() {
    let labelled = frames(&[0, 10, 20]);
    let mut session = Session::default();
    let mut ask = |request: &Value, picture: &Picture| -> Value {
        let text = request.to_string();
        let framed = [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes(), &picture.pixels].concat();
        let answer: Value = serde_json::from_str(&session.answer(&framed, &Control::new())).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        answer["ok"].clone()
    };
    let named = |one: &Labelled| {
        let points: Vec<Vec<f64>> = one.graph.points().unwrap().rows().into_iter().map(|row| row.to_vec()).collect();
        json!({ "points": points, "names": one.graph.names().unwrap() })
    };
    let sized = |mut request: Value, picture: &Picture| {
        request["width"] = json!(picture.width);
        request["height"] = json!(picture.height);
        request
    };
    for (key, one) in labelled.iter().enumerate() {
        let request = json!({ "key": key.to_string(), "specimen": named(one) });
        ask(&json!({ "see": sized(request, &one.picture) }), &one.picture);
    }
    let mut told: Vec<(f64, bool)> = Vec::new();
    for (out, one) in labelled.iter().enumerate() {
        let others: Vec<String> = (0..3).filter(|&key| key != out).map(|key| key.to_string()).collect();
        let request = json!({ "labelled": others, "specimen": named(one) });
        let checked = ask(&json!({ "check-picture": sized(request, &one.picture) }), &one.picture);
        let own: Vec<(f64, bool)> = serde_json::from_value(checked["told"].clone()).unwrap();
        assert_eq!(own.len(), 30);
        assert_eq!(own.iter().filter(|(_, right)| !right).count(), checked["disputed"].as_array().unwrap().len());
        told.extend(own);
    }
    let new = &frames(&[15])[0];
    let request = json!({ "labelled": ["0", "1", "2"], "known": [], "told": told });
    let found = ask(&json!({ "find": sized(request, &new.picture) }), &new.picture);
    let certainties: Vec<f64> =
        found["points"].as_array().unwrap().iter().map(|point| point["certainty"].as_f64().unwrap()).collect();
    // The model file of the same pictures has the same confidences, and they are those of the calibration.
    let labels: Vec<Value> = labelled.iter().map(named).collect();
    let request = json!({ "labelled": json!(labels).to_string(), "seen": ["0", "1", "2"], "told": told });
    let learned = ask(&json!({ "learn-names": request }), &Picture { pixels: Vec::new(), ..new.picture.clone() });
    let model = Model::from_json(learned["model"].as_str().unwrap()).unwrap();
    assert_eq!(model.appearance().unwrap().calibration(), Calibration::of_margins(&told));
    let again = model.find(new.grey(), &Control::new()).unwrap();
    for (point, certainty) in again.iter().zip(&certainties) {
        assert!((point.confidence.unwrap() - certainty).abs() < 1e-9, "{point:?} {certainty}");
    }
    let right = within(&errors(&again, &new.graph), 0.02 * 400.0);
    let mean = certainties.iter().sum::<f64>() / 30.0;
    assert!((mean - right).abs() < 0.25, "{mean} and {right}");
}

#[test]
fn what_cannot_be_learned_from_is_an_error() {
    let one = &frames(&[0])[0];
    let mut learner = Learner::new();
    let empty = GreyImage::new(0, 0, &[]).unwrap();
    assert!(matches!(learner.add(empty, &one.graph), Err(Error::Missing { .. })));
    let single = one.graph.subgraph(&[0]).unwrap();
    assert!(learner.add(one.grey(), &single).is_err());
    let unnamed = Graph::from_points(one.graph.points().unwrap().to_owned()).unwrap();
    assert!(matches!(learner.add(one.grey(), &unnamed), Err(Error::Missing { .. })));
    let space = Graph::from_points(ndarray::array![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).unwrap();
    let space = space.with_names(vec!["a".to_string(), "b".to_string()]).unwrap();
    assert!(matches!(learner.add(one.grey(), &space), Err(Error::Size { .. })));
    let same = Graph::from_points(ndarray::array![[5.0, 5.0], [5.0, 5.0]]).unwrap();
    let same = same.with_names(vec!["a".to_string(), "b".to_string()]).unwrap();
    assert!(learner.add(one.grey(), &same).is_err());
    assert_eq!(learner.specimens(), 0);
    // A blank picture has nothing to find, but an answer.
    learner.add(one.grey(), &one.graph).unwrap();
    let blank = vec![128; 200 * 150];
    let found = find(&learner.appearance().unwrap(), GreyImage::new(200, 150, &blank).unwrap());
    assert!(found.len() == 30 && found.iter().all(|point| point.at.iter().all(|at| at.is_finite())));
    let tiny = find(&learner.appearance().unwrap(), GreyImage::new(1, 1, &[0]).unwrap());
    assert!(tiny.iter().all(|point| point.at.iter().all(|at| at.is_finite())));
}
