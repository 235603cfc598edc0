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
