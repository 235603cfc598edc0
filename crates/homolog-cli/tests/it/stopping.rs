//! Ctrl-C while pairs are being matched: what was done is reported, and what was not is said.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn an_evaluation_that_is_stopped_reports_the_pairs_it_has_done() {
    let folder = tempfile::tempdir().unwrap();
    let homolog = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        command.current_dir(folder.path());
        command
    };
    for line in
        ["convert turntable --pairs 60 -o d.json -q", "train d.json -o m.json --features quadratic --unlearned -q"]
    {
        assert!(homolog().args(line.split(' ')).stdout(Stdio::null()).status().unwrap().success(), "{line}");
    }
    let line = "evaluate m.json d.json --verbose --threads 1";
    let mut child = homolog().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It says so when the first pair is done; fifty are left.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("matching pairs")));
    let stopped = Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
    assert!(stopped.success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("Stopped early by Ctrl-C: ") && text.contains(" of 51 pairs were not matched"), "{text}");
    assert!(text.contains("all pairs"), "{text}");
}

/// Long commands. Each says with --verbose when it is at work, and would go on for long after that.
const LONG: [&str; 7] = [
    "train d.json -o new.json --features quadratic --lambda 0.0001 --gap 1e-9",
    "train d.json -o new.json",
    "train d.json -o new.json --features atlas",
    "match m.json d.json -o out.csv --threads 1",
    "join d.json -o joined.csv",
    "check d.json",
    "experiment sequence --methods quadratic-learned --baselines 60",
];

#[test]
fn every_long_command_hears_ctrl_c_and_a_request_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let homolog = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        command.current_dir(folder.path()).args(line.split(' '));
        command
    };
    for line in
        ["convert turntable --pairs 60 -o d.json -q", "train d.json -o m.json --features quadratic --unlearned -q"]
    {
        assert!(homolog(line).stdout(Stdio::null()).status().unwrap().success(), "{line}");
    }
    for line in LONG {
        for signal in ["-INT", "-TERM"] {
            let mut command = homolog(line);
            let mut child = command.arg("--verbose").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            assert!(said.any(|line| line.contains(" s  ")), "{line}: it is over before it is at work");
            let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
            assert!(sent.success());
            let rest: Vec<String> = said.collect();
            // One that does not listen ends by itself, with 0.
            assert_eq!(child.wait().unwrap().code(), Some(130), "{line} {signal}: {rest:?}");
        }
    }
    // What was there before, or a whole model: never half of one.
    if let Ok(text) = std::fs::read_to_string(folder.path().join("new.json")) {
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

/// A problem that takes minutes, with its best matchings.
#[test]
fn solving_hears_ctrl_c_and_a_request_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: usize| (0..400).map(|k| ((i * 7919 + k * 104_729) % 1009).to_string()).collect::<Vec<_>>().join(",");
    let text: String = (0..400).map(|i| row(i) + "\n").collect();
    std::fs::write(folder.path().join("costs.csv"), text).unwrap();
    for signal in ["-INT", "-TERM"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        let line = "solve costs.csv --best 100000 --time-limit 3600 --save-problem - -o best.json";
        let mut child =
            command.current_dir(folder.path()).args(line.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut problem = String::new();
        out.read_line(&mut problem).unwrap();
        assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
        out.read_to_string(&mut problem).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        let best = std::fs::read_to_string(folder.path().join("best.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&best).unwrap();
    }
}
