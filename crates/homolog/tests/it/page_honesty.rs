//! What the labelling page says about labelled specimens, through its requests: the list of `check` with few and more labels, on made
//! specimens and on wings, faces and motion capture if they are at hand; the names of a table in space as the model has them.

use crate::common::data_folder;
use homolog::graph::Graph;
use homolog::labelling::Session;
use homolog::matching::Workspace;
use homolog::model::Model;
use homolog::{Control, data};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Names and points.
#[derive(Clone)]
struct Specimen {
    names: Vec<String>,
    points: Vec<Vec<f64>>,
}

fn ask(session: &mut Session, request: &Value) -> Value {
    let text = request.to_string();
    let framed = [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat();
    let answer: Value = serde_json::from_str(&session.answer(&framed, &Control::new())).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["ok"].clone()
}

/// The complete specimens of a file.
fn read(file: &str) -> Option<Vec<Specimen>> {
    let (folder, name) = file.rsplit_once('/')?;
    let bytes = std::fs::read(data_folder(folder)?.join(name)).ok()?;
    let read = data::read(name, &bytes, &|_, _| None).ok()?;
    let graphs: Vec<Graph> = read.data.graphs().iter().map(|one| (*one.graph).clone()).collect();
    let most = graphs.iter().map(Graph::node_count).max()?;
    let specimen = |graph: &Graph| Specimen {
        names: graph.names().unwrap().to_vec(),
        points: graph.points().unwrap().rows().into_iter().map(|row| row.to_vec()).collect(),
    };
    Some(graphs.iter().filter(|graph| graph.node_count() == most).map(specimen).collect())
}

/// A body in space of 14 points whose limbs swing.
fn bodies(count: usize) -> Vec<Specimen> {
    let names: Vec<String> = (0..14).map(|k| format!("m{k:02}")).collect();
    let one = |s: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(s as u64);
        let phase = random.random_range(0.0..std::f64::consts::TAU);
        let point = |k: usize, random: &mut ChaCha8Rng| {
            let side = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            let height = 150.0 - 22.0 * (k / 2) as f64;
            let swing = if k > 7 { 18.0 * side * (phase.sin()) * (k as f64 - 7.0) / 6.0 } else { 0.0 };
            let mut noise = || random.random_range(-1.5..1.5);
            vec![
                side * (14.0 + 2.0 * (k % 3) as f64) + noise(),
                height + noise(),
                swing + 3.0 * (k % 4) as f64 + noise(),
            ]
        };
        Specimen { names: names.clone(), points: (0..14).map(|k| point(k, &mut random)).collect() }
    };
    (0..count).map(one).collect()
}

/// Specimens to check, and the list.
fn check(specimens: &[Specimen]) -> (Vec<usize>, Value) {
    let list: Vec<Value> = specimens
        .iter()
        .enumerate()
        .map(|(n, one)| json!({ "id": format!("s{n}"), "points": one.points, "names": one.names }))
        .collect();
    let answer = ask(&mut Session::default(), &json!({ "check": { "specimens": list } }));
    let suspects = serde_json::from_value(answer["suspects"].clone()).unwrap();
    (suspects, answer["findings"].clone())
}

fn apart(one: &Specimen, i: usize, j: usize) -> f64 {
    let square = |k: usize| (one.points[i][k] - one.points[j][k]).powi(2);
    (0..one.points[i].len()).map(square).sum::<f64>().sqrt()
}

/// Right specimens are left alone, planted swaps are found and mended by the button.
#[test]
fn to_check_is_honest_after_two_five_and_ten_labels() {
    let sets =
        [("wings", read("wings/wings.tps")), ("faces", read("faces/landmarks.csv")), ("mocap", read("mocap/walk.trc"))];
    let sets = sets.into_iter().chain([("made in space", Some(bodies(60)))]);
    for (name, specimens) in sets {
        let Some(specimens) = specimens else { continue };
        for labelled in [2, 5, 10] {
            let (mut right, mut alarms, mut planted, mut found, mut mended) = (0, 0, 0, 0, 0);
            for draw in 0..20 {
                let mut random = ChaCha8Rng::seed_from_u64(draw);
                let mut order: Vec<usize> = (0..specimens.len()).collect();
                order.shuffle(&mut random);
                let mut some: Vec<Specimen> = order[..labelled].iter().map(|&n| specimens[n].clone()).collect();
                right += labelled;
                alarms += check(&some).0.len();
                let count = some[0].points.len();
                let (wrong, i) = (random.random_range(0..labelled), random.random_range(0..count));
                let j = (i + random.random_range(1..count)) % count;
                // Two landmarks nearer than what a hand is off by cannot be told apart by anybody.
                let widest = (0..count).map(|k| apart(&some[wrong], 0, k)).fold(0.0, f64::max);
                if apart(&some[wrong], i, j) < 0.03 * widest {
                    continue;
                }
                planted += 1;
                some[wrong].points.swap(i, j);
                let (suspects, findings) = check(&some);
                found += usize::from(suspects.contains(&wrong));
                let pair = [some[wrong].names[i].clone(), some[wrong].names[j].clone()];
                let mends = |finding: &Value| {
                    let listed: Vec<String> = serde_json::from_value(finding["landmarks"].clone()).unwrap();
                    finding["index"] == wrong
                        && finding["kind"] == "swapped"
                        && pair.iter().all(|name| listed.contains(name))
                };
                mended += usize::from(findings.as_array().unwrap().iter().any(mends));
            }
            println!(
                "{name}, {labelled} labelled: {alarms} of {right} right specimens to check; of {planted} swaps {found} found, \
                 {mended} with the button that mends it"
            );
            assert!(20 * alarms <= right, "{name}, {labelled}: {alarms} of {right}");
            assert!(found >= planted - planted / 10, "{name}, {labelled}: {found} of {planted}");
        }
    }
}

/// The error that the page expects of its proposals holds on other frames: of the walk, and of a made body.
#[test]
fn the_estimated_error_holds_on_other_frames() {
    for (name, specimens) in [("mocap", read("mocap/walk.trc")), ("made in space", Some(bodies(60)))] {
        let Some(specimens) = specimens else { continue };
        let (mut held, mut all) = (0, 0);
        for labelled in [2, 5, 10] {
            for draw in 0..4 {
                let mut random = ChaCha8Rng::seed_from_u64(100 + draw);
                let mut order: Vec<usize> = (0..specimens.len()).collect();
                order.shuffle(&mut random);
                let known: Vec<Value> = order[..labelled]
                    .iter()
                    .map(|&n| json!({ "points": specimens[n].points, "names": specimens[n].names }))
                    .collect();
                let known_text = json!(known).to_string();
                // The page asks with the points of each labelled frame as candidates.
                let candidates: Vec<Value> =
                    known.iter().map(|one| json!({ "points": one["points"], "own": true })).collect();
                let mut session = Session::default();
                let told =
                    ask(&mut session, &json!({ "estimate": { "labelled": known_text, "candidates": candidates } }));
                let expected = ask(&mut session, &json!({ "expect": { "errors": told["errors"] } }));
                let (mut wrong, mut asked) = (0_usize, 0_usize);
                for &n in &order[labelled..labelled + 12] {
                    let mut rows: Vec<usize> = (0..specimens[n].points.len()).collect();
                    rows.shuffle(&mut random);
                    let points: Vec<&Vec<f64>> = rows.iter().map(|&row| &specimens[n].points[row]).collect();
                    let candidates = json!({ "points": points, "own": true });
                    let request = json!({ "labelled": known_text, "candidates": candidates, "known": [] });
                    let proposal = ask(&mut session, &json!({ "propose": request }));
                    for point in proposal["points"].as_array().unwrap() {
                        let own = point["candidate"].as_u64().map(|row| rows[usize::try_from(row).unwrap()]);
                        asked += 1;
                        wrong += usize::from(own.is_none_or(|row| point["name"] != specimens[n].names[row]));
                    }
                }
                let measured = wrong as f64 / asked as f64;
                let [low, high] = [0, 1].map(|at| expected["interval"][at].as_f64().unwrap());
                println!(
                    "{name}, {labelled} labelled, draw {draw}: estimated {:.3} ({low:.3} to {high:.3}), measured {measured:.3} on 12 others",
                    expected["error"].as_f64().unwrap()
                );
                held += usize::from((low..=high).contains(&measured));
                all += 1;
            }
        }
        println!("{name}: the interval held in {held} of {all} draws");
        // Nine times in ten, up to chance: 12 draws of which each holds with .9 give 9 or more with probability .97.
        assert!(held >= 9, "{name}: {held} of {all}");
    }
}

/// Many labels: a person waits for names, not for a model of all of them.
#[test]
fn names_are_learned_quickly_from_many() {
    let text = |specimens: &[Specimen]| {
        let list = specimens.iter().map(|one| json!({ "points": one.points, "names": one.names }));
        json!(list.collect::<Vec<_>>()).to_string()
    };
    let learned = |count: usize, quickly: bool| {
        let request = json!({ "labelled": text(&bodies(count)), "quickly": quickly });
        let answer = ask(&mut Session::default(), &json!({ "learn-names": request }));
        let model = Model::from_json(answer["model"].as_str().unwrap()).unwrap();
        (answer["all"].as_bool().unwrap(), model.atlas().unwrap().specimens, answer["model"].clone())
    };
    let (all, specimens, _) = learned(50, true);
    assert_eq!((all, specimens), (false, 40));
    let (all, specimens, model) = learned(6, true);
    assert_eq!((all, specimens), (true, 6));
    assert_eq!(learned(6, false), (true, 6, model));
}

/// Takes points away, adds others, and shuffles them.
fn spoiled(one: &Specimen, seed: u64) -> Specimen {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut rows: Vec<(String, Vec<f64>)> = one.names.iter().cloned().zip(one.points.iter().cloned()).collect();
    rows.shuffle(&mut random);
    let gone = rows.len() / 6;
    rows.drain(..gone);
    for _ in 0..gone.div_ceil(2) {
        let range = |axis: usize| {
            let values = one.points.iter().map(|at| at[axis]);
            values.clone().fold(f64::INFINITY, f64::min)..values.fold(f64::NEG_INFINITY, f64::max)
        };
        rows.push((String::new(), (0..3).map(|axis| random.random_range(range(axis))).collect()));
    }
    rows.shuffle(&mut random);
    let (names, points) = rows.into_iter().unzip();
    Specimen { names, points }
}

/// In space: every name is at a point of the table, and the names are those of the model that the page writes.
#[test]
fn names_in_space_are_those_of_the_model() {
    for (name, specimens) in [("mocap", read("mocap/walk.trc")), ("made in space", Some(bodies(60)))] {
        let Some(specimens) = specimens else { continue };
        let step = specimens.len() / 4;
        let labelled: Vec<Value> = (0..4)
            .map(|k| json!({ "points": specimens[k * step].points, "names": specimens[k * step].names }))
            .collect();
        let labelled = json!(labelled).to_string();
        let mut session = Session::default();
        let learned = ask(&mut session, &json!({ "learn-names": { "labelled": labelled } }));
        let model = Model::from_json(learned["model"].as_str().unwrap()).unwrap();
        assert_eq!(model.atlas().unwrap().dimension, 3);
        let (mut right, mut quickly, mut all) = (0, 0, 0);
        for k in 0..6 {
            let table = spoiled(&specimens[(k * 37 + 11) % specimens.len()], k as u64);
            let named = ask(
                &mut session,
                &json!({ "name": { "model": learned["name"], "points": table.points, "known": [] } }),
            );
            let candidates = json!({ "points": table.points, "own": true });
            let quick = ask(
                &mut session,
                &json!({ "propose": { "labelled": labelled, "candidates": candidates, "known": [] } }),
            );
            let points = Array2::from_shape_fn((table.points.len(), 3), |(row, axis)| table.points[row][axis]);
            let naming = model.name(&Graph::from_points(points).unwrap(), &mut Workspace::new()).unwrap();
            for (proposal, is_model) in [(&named, true), (&quick, false)] {
                for point in proposal["points"].as_array().unwrap() {
                    let landmark = model.atlas().unwrap().landmarks.iter().position(|one| one.name == point["name"]);
                    let own = point["candidate"].as_u64().map(|row| usize::try_from(row).unwrap());
                    assert_eq!(point["at"].as_array().unwrap().len(), 3);
                    if is_model {
                        assert_eq!(own, naming.matching.right_of(landmark.unwrap()), "{name}: {point}");
                    }
                    let Some(row) = own else { continue };
                    assert_eq!(json!(table.points[row]), point["at"]);
                    let is_right = usize::from(point["name"] == table.names[row]);
                    *(if is_model { &mut right } else { &mut quickly }) += is_right;
                    if is_model {
                        // Its name and the others that it may have are the candidates of `homolog name --candidates 0.95`.
                        let sets = naming.named_at(model.atlas().unwrap(), Some(0.95)).unwrap().sets.unwrap();
                        let others = point["others"].as_array().unwrap().iter().map(|other| other.as_str().unwrap());
                        let listed = sets.points[row].names.iter().map(String::as_str);
                        let listed: Vec<&str> = listed.filter(|&other| point["name"] != other).collect();
                        assert_eq!(others.collect::<Vec<_>>(), listed, "{name}: {point}");
                    }
                }
            }
            all += table.names.iter().filter(|name| !name.is_empty()).count();
        }
        println!("{name}, 4 labelled, a sixth missing, extra points: {right} of {all} names right, {quickly} at once");
        assert!(5 * right >= 4 * all && 5 * quickly >= 4 * all, "{name}: {right} and {quickly} of {all}");
    }
}
