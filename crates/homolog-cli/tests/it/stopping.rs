//! Ctrl-C while pairs are being matched: what was done is reported, and what was not is said.
#![cfg(unix)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
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

/// Long commands, each with what it says with --verbose when it is at work; it would go on for long after that.
const LONG: [(&str, &str); 14] = [
    ("train d.json -o new.json --features quadratic --lambda 0.0001 --gap 1e-9", " s  "),
    ("train d.json -o new.json", " s  "),
    ("train d.json -o new.json --features atlas", " s  "),
    ("train shards -o new.json --features quadratic --lambda 0.00001 --gap 1e-12", " s  "),
    ("train few.csv -o new.json --features atlas --unlabelled many.csv", "labelled specimens"),
    ("train pictures.tps -o new.json --features atlas --pictures", "looking at labelled pictures"),
    ("match m.json d.json -o out.csv --threads 1", " s  "),
    ("explain m.json --data large.csv s0 s1", " s  "),
    ("name atlas.json many.csv -o named.csv", " s  "),
    ("name atlas.json many.csv --take -o named.csv", " s  "),
    ("join d.json -o joined.csv", " s  "),
    ("check d.json", " s  "),
    ("experiment sequence --methods quadratic-learned --baselines 60", " s  "),
    ("experiment atlas d.json", " s  "),
];

/// Many points in a circle that is not quite one: specimen by specimen, with or without names.
fn specimens(count: usize, landmarks: usize) -> String {
    let mut text = "specimen,landmark,x,y\n".to_string();
    for specimen in 0..count {
        for at in 0..landmarks {
            let wobble = ((specimen * 7919 + at * 104_729) % 1009) as f64 / 10_090.0;
            let (sine, cosine) = (at as f64 * 0.61 + specimen as f64 * 0.002).sin_cos();
            let far = 1.0 + at as f64 / landmarks as f64 + wobble;
            writeln!(text, "s{specimen},p{at},{},{}", far * cosine, far * sine).unwrap();
        }
    }
    text
}

/// Points that have nothing to do with each other: much is left to learn.
fn scattered(count: usize, landmarks: usize) -> String {
    let mut text = "specimen,landmark,x,y\n".to_string();
    for (s, at) in (0..count).flat_map(|specimen| (0..landmarks).map(move |at| (specimen, at))) {
        let (x, y) = ((s * 7919 + at * 104_729) % 1009, (s * s * 31 + at * at * 577 + at * s * 17) % 1013);
        writeln!(text, "r{s},p{at},{x},{y}").unwrap();
    }
    text
}

/// Five pictures, and the TPS file of eight landmarks in each.
fn pictures(folder: &Path) -> String {
    let mut text = String::new();
    for specimen in 0..5_u32 {
        let level = |x: u32, y: u32| image::Luma([u8::try_from(x * x * (y + specimen) % 251).unwrap()]);
        image::GrayImage::from_fn(300, 300, level).save(folder.join(format!("{specimen}.png"))).unwrap();
        text += "LM=8\n";
        (0..8).for_each(|at| writeln!(text, "{} {}", 40 + 28 * at + specimen, 60 + at * at * 13 % 180).unwrap());
        writeln!(text, "IMAGE={specimen}.png\nID={specimen}").unwrap();
    }
    text
}

#[test]
fn every_long_command_hears_ctrl_c_and_a_request_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let homolog = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        command.current_dir(folder.path()).args(line.split(' '));
        command
    };
    std::fs::write(folder.path().join("few.csv"), specimens(5, 20)).unwrap();
    std::fs::write(folder.path().join("many.csv"), specimens(400, 20)).unwrap();
    std::fs::write(folder.path().join("scattered.csv"), scattered(12, 20)).unwrap();
    std::fs::write(folder.path().join("large.csv"), specimens(2, 150)).unwrap();
    std::fs::write(folder.path().join("pictures.tps"), pictures(folder.path())).unwrap();
    for line in [
        "convert turntable --pairs 60 -o d.json -q",
        "convert scattered.csv -o shards --shards 3 -q",
        "train d.json -o m.json --features quadratic --unlearned -q",
        "train few.csv -o atlas.json --features atlas --unlearned -q",
    ] {
        assert!(homolog(line).stdout(Stdio::null()).status().unwrap().success(), "{line}");
    }
    for (line, word) in LONG {
        for signal in ["-INT", "-TERM"] {
            let mut command = homolog(line);
            let mut child = command.arg("--verbose").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            assert!(said.any(|line| line.contains(word)), "{line}: it is over before it is at work");
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

/// The demonstration writes into a folder of its own.
#[test]
fn the_demonstration_hears_ctrl_c_and_a_request_to_end() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        command.current_dir(folder.path()).args(["demo", "--verbose"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(said.any(|line| line.contains(" s  ")), "it is over before it is at work");
        assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
        let rest: Vec<String> = said.collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}: {rest:?}");
    }
}

/// Describing 2 x 9000 points, and reading what never ends: the time limit is heard, and the error says what to do.
#[test]
fn a_time_limit_is_heard_before_there_is_anything_to_answer_with() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.csv"), specimens(2, 9000)).unwrap();
    let train = "train large.csv -o new.json --features linear --time-limit 1";
    let endless = "solve - --format csv --time-limit 1";
    for (line, word) in [(train, "--time-limit"), (endless, "before everything was read")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        let command = command.current_dir(folder.path()).args(line.split(' ')).stdout(Stdio::null());
        // Nothing is ever written to standard input, and it is not closed.
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{line}: {text}");
        drop(input);
        assert!(text.contains("error: ") && text.contains("hint: ") && text.contains(word), "{line}: {text}");
        assert!(!folder.path().join("new.json").exists());
    }
}

/// Numbers that make no sense are refused also if nothing would use them.
#[test]
fn settings_and_seeds_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("few.csv", &specimens(3, 6));
    write("costs.csv", "1,2\n3,4\n");
    write("seeds.csv", "left,right\n-1,0\n");
    write("problem.json", r#"{"node": [[1, 2], [3, 4]], "seeds": [[-1, 0]]}"#);
    for line in [
        "train few.csv -o new.json --unlearned --features linear --lambda nan",
        "train few.csv -o new.json --unlearned --features linear --lambda 0",
        "train few.csv -o new.json --unlearned --features linear --lambda -1",
        "train few.csv -o new.json --features linear --lambdas 1,nan",
        "solve costs.csv --seed -1=0",
        "solve costs.csv --seed 0=-1",
        "solve costs.csv --seed seeds.csv",
        "solve problem.json",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        let output = command.current_dir(folder.path()).args(line.split(' ')).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(1 | 2)) && text.starts_with("error: "), "{line}: {text}");
        assert!(!text.contains("18446744073709551615") && !text.contains("panicked"), "{line}: {text}");
    }
    assert!(!folder.path().join("new.json").exists());
}
