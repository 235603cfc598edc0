//! Folders of shards: what is trained from one is what is trained from the data set; what is wrong with one is named.

use crate::shard_data;

use shard_data::write_data;
use std::path::Path;
use std::process::{Command, Output};

fn homolog(folder: &Path, line: &str) -> Output {
    let words = line.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_homolog")).args(words).current_dir(folder).output().expect("the program runs")
}

fn done(folder: &Path, line: &str) {
    let output = homolog(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The message of a run that fails.
fn refused(folder: &Path, line: &str) -> String {
    let output = homolog(folder, line);
    assert_eq!(output.status.code(), Some(1), "{line}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn shards_teach_what_the_data_set_teaches_and_what_is_wrong_with_them_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_data(here, 0.5, "validation");
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    done(here, "convert data.jsonl --shards 4 -o shards/");
    let settings = "--features linear --learner max-margin -q";
    done(here, &format!("train data.jsonl {settings} -o whole.json"));
    done(here, &format!("train shards/ {settings} -o cut.json"));
    assert_eq!(read("cut.json"), read("whole.json"));

    // Broken off and gone on with, and with one thread.
    let edges = "--features quadratic --lambda 0.1 -q --search frank-wolfe --matcher frank-wolfe";
    done(here, &format!("train shards {edges} -o once.json"));
    // A machine that is busy may not have begun within the first limits.
    let breaks_off = |limit: &f64| {
        let limited =
            format!("train shards {edges} -o again.json --checkpoint run.json --time-limit {limit} --threads 1");
        homolog(here, &limited).status.success()
    };
    assert!([0.05, 0.2, 1.0, 5.0, 25.0].iter().any(breaks_off));
    done(here, &format!("train shards {edges} -o again.json --checkpoint run.json --resume"));
    assert_eq!(read("again.json"), read("once.json"));

    assert!(refused(here, "convert data.jsonl --shards 4 -o shards").contains("shards"));
    assert!(refused(here, "train shards -o x.json -q").contains("name one set"));
    assert!(
        refused(here, "train shards -o x.json --features linear --learner likelihood").contains("cannot be spread")
    );
    let part = here.join("shards/part-00002.jsonl");
    let own = std::fs::read_to_string(&part).unwrap();
    std::fs::write(&part, own.replacen("0.", "1.", 1)).unwrap();
    let message = refused(here, &format!("train shards -o x.json {settings}"));
    assert!(message.starts_with("error: part-00002.jsonl: the file was changed"), "{message}");
    // A shard of other data, in space, whose line is in the manifest.
    let space = read("data.jsonl").replace("\"points\":[[", "\"points\":[[0,").replace("],[", "],[0,");
    std::fs::write(here.join("space.jsonl"), space).unwrap();
    done(here, "convert space.jsonl --shards 4 -o space/");
    std::fs::copy(here.join("space/part-00002.jsonl"), &part).unwrap();
    let (plane, space) = (read("shards/manifest.json"), read("space/manifest.json"));
    let lines = plane.lines().zip(space.lines());
    let mixed: Vec<&str> = lines.map(|(a, b)| if a.contains("part-00002") { b } else { a }).collect();
    std::fs::write(here.join("shards/manifest.json"), mixed.join("\n")).unwrap();
    let message = refused(here, &format!("train shards -o x.json {settings}"));
    assert!(message.starts_with("error: part-00002.jsonl: ") && message.contains("graph"), "{message}");
    std::fs::remove_file(&part).unwrap();
    let message = refused(here, &format!("train shards -o x.json {settings}"));
    assert!(message.starts_with("error: part-00002.jsonl: cannot read"), "{message}");
    let manifest = read("shards/manifest.json");
    let without: Vec<&str> = manifest.lines().filter(|line| !line.contains("part-00001")).collect();
    std::fs::write(here.join("shards/manifest.json"), without.join("\n")).unwrap();
    let message = refused(here, &format!("train shards -o x.json {settings}"));
    assert!(message.starts_with("error: part-00002.jsonl:") && message.contains("a shard is missing"), "{message}");
    assert!(!here.join("x.json").exists(), "nothing is written");
}
