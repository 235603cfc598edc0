//! Commands on many specimens: `check`, `join`, and `train` with unlabelled specimens and with options given by hand.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

/// What a command prints.
fn done(folder: &Path, arguments: &str) -> String {
    let output = homolog(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

const SHAPE: [[f64; 2]; 9] = [
    [0.0, 0.0],
    [40.0, 5.0],
    [80.0, -8.0],
    [75.0, 30.0],
    [90.0, 60.0],
    [45.0, 70.0],
    [20.0, 50.0],
    [-15.0, 65.0],
    [-5.0, 28.0],
];

/// Between -1 and 1, the same for the same number.
fn noise(number: usize) -> f64 {
    let mixed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 40) as f64) / f64::from(1_u32 << 23) - 1.0
}

/// The place of a landmark in a specimen.
fn place(specimen: usize, landmark: usize) -> [f64; 2] {
    [0, 1].map(|axis| SHAPE[landmark][axis] + 1.5 * noise(100 * specimen + 2 * landmark + axis))
}

/// A table of some specimens; in specimen 4 the names of p2 and p6 are exchanged if `swapped`.
fn table(specimens: std::ops::Range<usize>, swapped: bool, with_names: bool) -> String {
    let mut table = if with_names { "specimen,landmark,x,y\n" } else { "specimen,x,y\n" }.to_string();
    for specimen in specimens {
        for landmark in 0..SHAPE.len() {
            let of = match (swapped && specimen == 4, landmark) {
                (true, 2) => 6,
                (true, 6) => 2,
                _ => landmark,
            };
            let [x, y] = place(specimen, of);
            let name = if with_names { format!("p{landmark},") } else { String::new() };
            writeln!(table, "s{specimen:02},{name}{x:.4},{y:.4}").unwrap();
        }
    }
    table
}

#[test]
fn check_writes_its_list_as_table_and_json_mends_swaps_and_draws_suspects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("good.csv"), table(0..16, false, true)).unwrap();
    fs::write(path.join("bad.csv"), table(0..16, true, true)).unwrap();
    let said = done(path, "check bad.csv -o list.csv --picture suspects");
    assert!(said.contains("s04") && said.contains("p2") && said.contains("Wrote list.csv"), "{said}");
    let list = fs::read_to_string(path.join("list.csv")).unwrap();
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].starts_with("specimen,kind,landmarks,points_of,"), "{list}");
    assert!(rows.len() == 2 && rows[1].starts_with("s04,swapped,p2 p6,p6 p2,"), "{list}");
    let pictures: Vec<_> = fs::read_dir(path.join("suspects")).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(pictures.len(), 1);
    assert_eq!(pictures[0].file_name().unwrap(), "s04.png");
    assert!(fs::read(&pictures[0]).unwrap().starts_with(b"\x89PNG"));
    let report: Value = serde_json::from_str(&done(path, "check bad.csv --json")).unwrap();
    assert_eq!(report["findings"][0]["specimen"], "s04");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    // What is mended is what was there before the swap, in every format, and then nothing is listed.
    done(path, "check bad.csv --fix swaps -o mended.csv");
    assert!(!done(path, "check mended.csv").contains("s04"));
    let rows = |file: &str| {
        let text = fs::read_to_string(path.join(file)).unwrap();
        let mut rows: Vec<Vec<String>> =
            text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect();
        rows.sort();
        rows
    };
    let same = rows("mended.csv").into_iter().zip(rows("good.csv")).all(|(mended, good)| {
        let number = |text: &String| text.parse::<f64>().unwrap();
        mended[..2] == good[..2] && (2..4).all(|at| (number(&mended[at]) - number(&good[at])).abs() < 1e-9)
    });
    assert!(same, "{}", fs::read_to_string(path.join("mended.csv")).unwrap());
    // Never in place.
    let refused = homolog(path, "check bad.csv --fix swaps -o bad.csv");
    assert!(!refused.status.success());
    assert_eq!(fs::read_to_string(path.join("bad.csv")).unwrap(), table(0..16, true, true));
}

#[test]
fn join_writes_names_table_atlas_picture_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("monday.csv"), table(0..3, false, false)).unwrap();
    fs::write(path.join("tuesday.csv"), table(3..6, false, false)).unwrap();
    let said = done(
        path,
        "join monday.csv tuesday.csv --presence complete -o names.csv --table table.csv --atlas atlas.json --picture atlas.svg",
    );
    assert!(said.contains("Joined 6 specimens (oriented as given, every point in every specimen)"), "{said}");
    let names = fs::read_to_string(path.join("names.csv")).unwrap();
    let rows: Vec<Vec<&str>> = names.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["specimen", "point", "name", "confidence"]);
    assert_eq!(rows.len(), 1 + 6 * SHAPE.len());
    // The points are listed alike, so each number has one name, in every specimen.
    assert!(rows[1..].iter().all(|row| row[2] == (row[1].parse::<usize>().unwrap() + 1).to_string()), "{names}");
    assert!(rows[1..].iter().all(|row| row[3].parse::<f64>().unwrap() > 0.5), "{names}");
    let by_name = fs::read_to_string(path.join("table.csv")).unwrap();
    assert!(by_name.starts_with("name,s00,s01,s02,s03,s04,s05\n1,0,0,0,0,0,0\n2,1,1,1,1,1,1\n"), "{by_name}");
    assert!(fs::read_to_string(path.join("atlas.svg")).unwrap().contains("<svg"));
    fs::write(path.join("new.csv"), table(9..10, false, false)).unwrap();
    let named = done(path, "name atlas.json new.csv");
    assert!(SHAPE.iter().enumerate().all(|(at, _)| named.contains(&(at + 1).to_string())), "{named}");
    let report: Value =
        serde_json::from_str(&done(path, "join monday.csv tuesday.csv --pose tilted --presence partial --json"))
            .unwrap();
    assert_eq!(report["report"]["pose"], "tilted");
    assert_eq!(report["report"]["presence"], "partial");
    assert_eq!(report["specimens"].as_array().unwrap().len(), 6);
    assert!(!homolog(path, "join monday.csv tuesday.csv --presence partial --complete").status.success());
}

#[test]
fn unlabelled_specimens_are_read_from_files_and_from_folders_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("labelled.csv"), table(0..1, false, true)).unwrap();
    fs::create_dir(path.join("more")).unwrap();
    fs::write(path.join("more/a.csv"), table(1..6, false, true)).unwrap();
    fs::write(path.join("more/b.csv"), table(6..11, false, false)).unwrap();
    // Of the same name as one of the other file; and no graphs at all.
    fs::write(path.join("more/c.csv"), table(1..2, false, false).replace("s01", "s02")).unwrap();
    fs::write(path.join("more/notes.txt"), "nothing").unwrap();
    done(path, "train labelled.csv --features atlas --unlabelled more -o model.json -q");
    assert_eq!(json(path, "model.json")["atlas"]["specimens"], 12);
    done(path, "train labelled.csv --features atlas --unlabelled more/a.csv more/b.csv -o model.json -q");
    assert_eq!(json(path, "model.json")["atlas"]["specimens"], 11);
    fs::create_dir(path.join("empty")).unwrap();
    let refused = homolog(path, "train labelled.csv --features atlas --unlabelled empty -o model.json");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nor a file that ends in .json"));
}

#[test]
fn what_is_given_by_hand_is_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("data.csv"), table(0..6, false, true)).unwrap();
    done(path, "train data.csv --presence partial --pose tilted -o model.json -q --time-limit 20");
    let model = json(path, "model.json");
    assert_eq!((&model["atlas"]["presence"], &model["atlas"]["pose"]), (&"partial".into(), &"tilted".into()));
    for learner in ["max-margin", "likelihood", "groups"] {
        let line = format!("train data.csv --features quadratic --learner {learner} --lambda 0.1 -o model.json --json");
        let report: Value = serde_json::from_str(&done(path, &line)).unwrap();
        let candidates = report["candidates"].as_array().unwrap();
        let learned: Vec<&Value> = candidates.iter().filter(|one| !one["lambda"].is_null()).collect();
        assert!(!learned.is_empty() && learned.iter().all(|one| one["learner"] == learner), "{learner}: {report}");
    }
    // With a huge λ what is learned stays at the centre.
    let weights = |centre: &str| -> Vec<f64> {
        let line = "train data.csv --features linear --learner max-margin --lambda 1e9 -o model.json --json --centre ";
        let report: Value = serde_json::from_str(&done(path, &(line.to_string() + centre))).unwrap();
        let candidates = report["candidates"].as_array().unwrap();
        let learned = candidates.iter().find(|one| one["learner"] == "max-margin").unwrap();
        learned["weights"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect()
    };
    let [zero, unlearned] = ["zero", "unlearned"].map(weights);
    assert!(zero.iter().all(|weight| weight.abs() < 1e-6) && unlearned.iter().all(|weight| *weight > 0.1));
}
