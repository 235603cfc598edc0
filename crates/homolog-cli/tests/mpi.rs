//! Training by MPI: three processes learn what one learns, byte for byte; a process that is killed or lacks a file ends the job.
//! Run by `crates/homolog-cli/check-mpi`, which installs what it takes.
#![cfg(feature = "mpi")]

mod shard_data;

use shard_data::write_data;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_homolog");
const LINEAR: &str = "--features linear --lambda 0.1 -q --threads 1";
const SEARCH: &str =
    "--features quadratic --lambda 0.1 -q --threads 1 --search frank-wolfe --matcher frank-wolfe --gap 1e-6";
const RELAXATION: &str =
    "--features quadratic --lambda 0.1 -q --threads 1 --oracle relaxation --matcher frank-wolfe --gap 0.01";

fn run(folder: &Path, program: &str, line: &str) -> Output {
    Command::new(program).args(line.split_whitespace()).current_dir(folder).output().expect("the program runs")
}

fn done(folder: &Path, program: &str, line: &str) {
    let output = run(folder, program, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What mpirun is given before the program: on a test machine there may be fewer cores than processes, and only root.
fn mpi(processes: usize) -> String {
    format!("--allow-run-as-root --oversubscribe -n {processes} {PROGRAM}")
}

#[test]
fn three_processes_learn_what_one_learns() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_data(here);
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
    done(here, "mpirun", &format!("{} train shards {SEARCH} -o part.json --mpi {keep} --time-limit 0.1", mpi(3)));
    // The third process is killed at once: the job ends, and nothing is written.
    let killed = format!("{PROGRAM} train shards {SEARCH} -o killed.json --mpi {keep} --resume & kill -9 $!; exit 9");
    std::fs::write(here.join("killed.sh"), killed).unwrap();
    let line = format!("{} train shards {SEARCH} -o killed.json --mpi {keep} --resume : -n 1 sh killed.sh", mpi(2));
    assert!(!run(here, "mpirun", &line).status.success());
    assert!(!here.join("killed.json").exists());
    done(here, "mpirun", &format!("{} train shards {SEARCH} -o two.json --mpi {keep} --resume", mpi(2)));
    assert_eq!(read("two.json"), read("one.json"));

    std::fs::remove_file(here.join("shards/part-00004.jsonl")).unwrap();
    let output = run(here, "mpirun", &format!("{} train shards {LINEAR} -o lost.json --mpi", mpi(3)));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("process 1: part-00004.jsonl: cannot read"), "{message}");
    assert!(!here.join("lost.json").exists(), "nothing is written");
}
