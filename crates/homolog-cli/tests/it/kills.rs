//! `train --checkpoint` killed (SIGKILL) at random moments and resumed, again and again: the model is the same to the byte. A few kills here;
//! `HOMOLOG_KILLS=200 cargo test -p homolog-cli --test it kills:: -- --nocapture` for many.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn homolog(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    command.current_dir(folder).args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(folder: &Path, line: &str) {
    assert!(homolog(folder, line).status().unwrap().success(), "{line}");
}

#[test]
fn a_run_that_is_killed_and_resumed_ends_with_the_same_bytes() {
    let wanted: usize = std::env::var("HOMOLOG_KILLS").map_or(4, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "convert turntable --pairs 60 -o pairs.json -q");
    run(folder, "convert pairs.json -o shards --shards 3 -q");
    run(folder, "train pairs.json -o before.json --features linear --unlearned -q");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut share = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut kills, mut models) = (0, 0);
    let sources = ["pairs.json", "shards"].map(|data| {
        let line = format!("train {data} -o model.json --features linear --lambda 0.01 --gap 1e-5 --threads 1 -q");
        let start = Instant::now();
        run(folder, &line);
        let took = start.elapsed();
        let whole = read("model.json");
        let weights = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap()["weights"].clone();
        assert_ne!(weights(&whole), weights(&read("before.json")), "{data}: nothing was learned");
        (line + " --checkpoint run.json --checkpoint-every 0 --resume", whole, took)
    });
    while kills < wanted {
        let (line, whole, took) = &sources[models % sources.len()];
        for name in ["run.json", "model.json"] {
            let _ = std::fs::remove_file(folder.join(name));
        }
        loop {
            let mut child = homolog(folder, line).spawn().unwrap();
            if kills < wanted {
                std::thread::sleep(Duration::from_secs_f64(1.3 * share() * took.as_secs_f64()));
                if child.try_wait().unwrap().is_none() {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    kills += 1;
                    continue;
                }
            }
            assert!(child.wait().unwrap().success(), "{line}, after {kills} kills");
            break;
        }
        assert!(read("model.json") == *whole, "{line}: other bytes after {kills} kills");
        models += 1;
    }
    // A file that was being written when the program was killed stays for ten minutes, and nothing else does.
    let left = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strange: Vec<String> = left.filter(|name| !name.starts_with(".homolog-")).collect();
    assert!(
        strange
            .iter()
            .all(|name| ["before.json", "model.json", "pairs.json", "run.json", "shards"].contains(&name.as_str()))
    );
    println!("{kills} kills, {models} models, all with the same bytes");
}
