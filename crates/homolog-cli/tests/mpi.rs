//! Training by MPI: three processes learn what one learns, byte for byte; a process that is killed, lacks a file or
//! has another ends the job.
//! Run by `crates/homolog-cli/check-mpi`, which installs what it takes.
#![cfg(feature = "mpi")]

mod shard_data;

use shard_data::write_data;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_homolog");
/// On a test machine there may be fewer cores than processes, and only root.
const ALL: &str = "--allow-run-as-root --oversubscribe";
const LINEAR: &str = "--features linear --lambda 0.1 -q --threads 1";
const SEARCH: &str =
    "--features quadratic --lambda 0.01 -q --threads 1 --search frank-wolfe --matcher frank-wolfe --gap 1e-6";
const RELAXATION: &str =
    "--features quadratic --lambda 0.01 -q --threads 1 --oracle relaxation --matcher frank-wolfe --gap 0.01";

fn run(folder: &Path, program: &str, line: &str) -> Output {
    Command::new(program).args(line.split_whitespace()).current_dir(folder).output().expect("the program runs")
}

fn done(folder: &Path, program: &str, line: &str) {
    let output = run(folder, program, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn mpi(processes: usize) -> String {
    format!("{ALL} -n {processes} {PROGRAM}")
}

/// A copy of the shards, as another machine sees them.
fn copied(folder: &Path) -> TempDir {
    let there = tempfile::tempdir().unwrap();
    done(folder, "cp", &format!("-r shards {}", there.path().display()));
    there
}

/// Kills the process that mpirun's script wrote down once it reads from a pipe, which it waits for: in the middle of a round. Whether mpirun
/// succeeded nevertheless.
fn killed_while_it_reads(folder: &Path, pipe: &Path, line: &str) -> bool {
    let mut job = Command::new("mpirun").args(line.split_whitespace()).current_dir(folder).spawn().unwrap();
    // Opened for writing without waiting: an error until somebody reads.
    let without_waiting = 0o4000;
    while OpenOptions::new().write(true).custom_flags(without_waiting).open(pipe).is_err() {
        assert!(job.try_wait().unwrap().is_none(), "it ended before it read the file");
        std::thread::sleep(Duration::from_millis(10));
    }
    done(folder, "sh", "kill.sh");
    job.wait().unwrap().success()
}

#[test]
fn three_processes_learn_what_one_learns() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // Hard, and with nothing to choose by: what is learned is what comes out, after more rounds than are remembered.
    write_data(here, 1.0, "train");
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    done(here, PROGRAM, "convert data.jsonl --shards 8 -o shards -q");
    for settings in [LINEAR, SEARCH, RELAXATION] {
        done(here, PROGRAM, &format!("train shards {settings} -o one.json"));
        done(here, "mpirun", &format!("{} train shards {settings} -o three.json --mpi", mpi(3)));
        assert_eq!(read("three.json"), read("one.json"), "{settings}");
    }
    // Broken off, and gone on with by others.
    done(here, PROGRAM, &format!("train shards {SEARCH} -o one.json"));
    let keep = "--checkpoint run.json";
    let limited = |limit: &f64| {
        let line = format!("{} train shards {SEARCH} -o part.json --mpi {keep} --time-limit {limit}", mpi(3));
        run(here, "mpirun", &line).status.success()
    };
    // A machine that is busy may not have begun within the first limits.
    assert!([0.1, 0.5, 2.0, 10.0].iter().any(limited));
    // The third process is killed in the middle of a round: the job ends, and nothing is written.
    let there = copied(here);
    let pipe = there.path().join("shards/part-00002.jsonl");
    std::fs::remove_file(&pipe).unwrap();
    done(here, "mkfifo", &pipe.display().to_string());
    let train = format!("{PROGRAM} train shards {SEARCH} -o killed.json --mpi {keep} --resume");
    std::fs::write(there.path().join("own.sh"), format!("echo $$ > pid; exec {train}")).unwrap();
    std::fs::write(here.join("kill.sh"), format!("kill -9 $(cat {})", there.path().join("pid").display())).unwrap();
    let line = format!("{ALL} -n 2 {train} : -n 1 -wdir {} sh own.sh", there.path().display());
    assert!(!killed_while_it_reads(here, &pipe, &line));
    assert!(!here.join("killed.json").exists());
    done(here, "mpirun", &format!("{} train shards {SEARCH} -o two.json --mpi {keep} --resume", mpi(2)));
    assert_eq!(read("two.json"), read("one.json"));

    // The second process is on a machine without one of its files, then with one that was changed.
    let there = copied(here);
    let part = there.path().join("shards/part-00004.jsonl");
    let whole = std::fs::read_to_string(&part).unwrap();
    std::fs::remove_file(&part).unwrap();
    let train = format!("{PROGRAM} train shards {LINEAR} -o lost.json --mpi");
    let line = format!("{ALL} -n 1 {train} : -n 1 -wdir {} {train} : -n 1 {train}", there.path().display());
    for reason in ["cannot read", "the file was changed"] {
        let output = run(here, "mpirun", &line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!("process 1: part-00004.jsonl: {reason}");
        assert!(!output.status.success() && message.contains(&expected), "{message}");
        assert!(!here.join("lost.json").exists(), "nothing is written");
        std::fs::write(&part, whole.replacen("0.", "1.", 1)).unwrap();
    }
}
