//! `match --gate`: points by their distances, the same answers as the table of distances gives.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    let output = homolog(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Scattered points, and the table of their distances.
fn scattered(folder: &Path) -> [usize; 2] {
    let counts = [40_u32, 35];
    let place = |side: u32, at: u32| [(at * 37 + side * 11) % 97, (at * at * 13 + side * 29) % 89].map(f64::from);
    for (side, name) in ["left", "right"].into_iter().enumerate() {
        let mut table = "x,y\n".to_string();
        for at in 0..counts[side] {
            let [x, y] = place(u32::try_from(side).unwrap(), at);
            writeln!(table, "{x},{y}").unwrap();
        }
        fs::write(folder.join(format!("{name}.csv")), table).unwrap();
    }
    let mut costs = String::new();
    for i in 0..counts[0] {
        let a = place(0, i);
        let row = (0..counts[1]).map(|k| place(1, k)).map(|b| (a[0] - b[0]).hypot(a[1] - b[1]).to_string());
        writeln!(costs, "{}", row.collect::<Vec<_>>().join(",")).unwrap();
    }
    fs::write(folder.join("costs.csv"), costs).unwrap();
    counts.map(|count| count as usize)
}

#[test]
fn points_within_a_gate_are_matched_as_their_table_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let [left_count, right_count] = scattered(place);
    for options in ["--gate 20", "--gate 20 --unmatched 12", "--gate 8 --unmatched 30", "--gate 1000"] {
        let near = json(place, &format!("match left.csv right.csv --json {options}"));
        let table = json(place, &format!("solve costs.csv --json {options}"));
        let [score, value] = [near["score"].as_f64().unwrap(), table["value"].as_f64().unwrap()];
        assert!((score + value).abs() < 1e-9, "{options}: {score} {value}");
        assert_eq!(near["status"], "optimal");
        let matches = near["matches"].as_array().unwrap();
        let alone = |side: &str| near[side].as_array().unwrap().len();
        assert_eq!(matches.len() + alone("unmatched_left"), left_count);
        assert_eq!(matches.len() + alone("unmatched_right"), right_count);
    }
    let nearest = json(place, "match left.csv right.csv --json --nearest 3 --unmatched 40");
    assert_eq!(nearest["status"], "optimal");
    let known = json(place, "match left.csv right.csv --json --gate 1000 --seed 0=5 --forbid 1=1");
    let pair = |i: usize| known["matches"][i]["right_index"].as_u64();
    assert!(pair(0) == Some(5) && pair(1) != Some(1));
    let written = homolog(place, "match left.csv right.csv --gate 20 --unmatched 12 -o matches.csv");
    assert!(written.status.success());
    let table = fs::read_to_string(place.join("matches.csv")).unwrap();
    assert!(table.starts_with("left_graph,right_graph,left,right,score\n"), "{table}");
}

#[test]
fn mistakes_are_said() {
    let folder = tempfile::tempdir().unwrap();
    scattered(folder.path());
    for (arguments, said) in [
        ("match left.csv right.csv --gate=-1", "at least 0"),
        ("match left.csv right.csv --gate nan", "finite"),
        ("match left.csv --gate 2", "LEFT and RIGHT"),
        ("match left.csv right.csv --gate 2 --features linear", "cannot be used with"),
        ("match left.csv right.csv --unmatched 2", "--unmatched needs --features"),
        ("match left.csv right.csv --gate 0.001 --seed 0=5", "forbidden"),
        ("match left.csv right.csv --nearest 0", "0 is not in"),
    ] {
        let output = homolog(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(said), "{arguments}: {text}");
    }
}
