//! One rule for every command, every output and every input: nothing that is read is written over, also through links; nothing is written twice;
//! where nothing can be written, nothing changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_homolog")).current_dir(folder).args(arguments).output().unwrap()
}

/// A folder with one file of every kind that commands read.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.csv", "landmark,x,y\np,0,0\nq,4,0\nr,1,3\n");
    write("b.csv", "landmark,x,y\np,0,1\nq,4,1\nr,1,4\n");
    write("costs.csv", "1,2\n3,4\n");
    write("pairs.csv", "left,right,cost\na,x,1\na,y,2\nb,x,3\n");
    write("features.json", "{\"node\":[{\"descriptor\":{\"name\":\"position\"}}]}");
    write("net.edges", "a b\nb c\n");
    write("nodes.csv", "node,size\na,1\nb,2\nc,3\n");
    write("seeds.csv", "left,right\np,p\n");
    let picture = include_bytes!("../cmd/detect.in/square.png");
    std::fs::write(folder.path().join("p.png"), picture).unwrap();
    let made = homolog(folder.path(), &["convert", "a.csv", "b.csv", "-o", "d.json"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let trained = homolog(folder.path(), &["train", "d.json", "-o", "model.json", "--lambda", "0.1", "-q"]);
    assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
    let cut = homolog(folder.path(), &["convert", "d.json", "--shards", "1", "-o", "shards", "-q"]);
    assert!(cut.status.success(), "{}", String::from_utf8_lossy(&cut.stderr));
    folder
}

/// The files in a folder, with what is in them.
fn files_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut files: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

/// A command line, the files it reads, and its options that name outputs.
struct Case {
    line: &'static str,
    inputs: &'static [&'static str],
    outputs: &'static [&'static str],
}

const CASES: [Case; 23] = [
    Case { line: "convert a.csv b.csv", inputs: &["a.csv", "b.csv"], outputs: &["-o", "--output"] },
    Case { line: "convert net.edges --nodes nodes.csv", inputs: &["net.edges", "nodes.csv"], outputs: &["-o"] },
    Case { line: "solve costs.csv", inputs: &["costs.csv"], outputs: &["-o", "--save-problem"] },
    Case { line: "solve pairs.csv", inputs: &["pairs.csv"], outputs: &["-o"] },
    Case { line: "check a.csv b.csv", inputs: &["a.csv", "b.csv"], outputs: &["-o"] },
    Case { line: "join a.csv b.csv", inputs: &["a.csv", "b.csv"], outputs: &["-o", "--table", "--atlas", "--picture"] },
    Case { line: "convert d.json --shards 1", inputs: &["d.json"], outputs: &["-o"] },
    Case { line: "match model.json shards", inputs: &["model.json"], outputs: &["-o"] },
    Case { line: "match model.json d.json", inputs: &["model.json", "d.json"], outputs: &["-o"] },
    Case { line: "detect p.png", inputs: &["p.png"], outputs: &["-o", "--picture"] },
    Case { line: "train d.json -o new.json -q", inputs: &["d.json"], outputs: &["--checkpoint"] },
    Case { line: "train d.json --features features.json -q", inputs: &["d.json", "features.json"], outputs: &["-o"] },
    Case {
        line: "match model.json a.csv b.csv",
        inputs: &["model.json", "a.csv", "b.csv"],
        outputs: &["-o", "--picture"],
    },
    Case { line: "match model.json d.json a b", inputs: &["model.json", "d.json"], outputs: &["-o", "--picture"] },
    Case { line: "match model.json --data d.json a b", inputs: &["d.json"], outputs: &["-o", "--picture"] },
    Case {
        line: "match --features features.json a.csv b.csv",
        inputs: &["features.json"],
        outputs: &["-o", "--picture"],
    },
    Case { line: "match model.json a.csv b.csv --seed seeds.csv", inputs: &["seeds.csv"], outputs: &["-o"] },
    Case { line: "evaluate model.json d.json", inputs: &["model.json", "d.json"], outputs: &["-o"] },
    Case { line: "explain model.json --data d.json a b", inputs: &["model.json", "d.json"], outputs: &["-o"] },
    Case {
        line: "name model.json a.csv b.csv",
        inputs: &["model.json", "a.csv", "b.csv"],
        outputs: &["-o", "--picture"],
    },
    Case { line: "experiment atlas d.json", inputs: &["d.json"], outputs: &["-o"] },
    Case { line: "experiment sequence d.json", inputs: &["d.json"], outputs: &["-o"] },
    Case { line: "experiment scene d.json", inputs: &["d.json"], outputs: &["-o"] },
];

/// The file or folder `name` in a folder, by a link of this name.
#[cfg(unix)]
fn link(folder: &Path, name: &str, link: &str) {
    std::os::unix::fs::symlink(folder.join(name), folder.join(link)).unwrap();
}

#[cfg(unix)]
#[test]
fn no_output_is_an_input() {
    let folder = workplace();
    link(folder.path(), ".", "linked");
    for Case { line, inputs, outputs } in CASES {
        for input in inputs {
            for output in outputs {
                let before = std::fs::read(folder.path().join(input)).unwrap();
                let by_link = format!("link-{input}");
                if !folder.path().join(&by_link).is_symlink() {
                    link(folder.path(), input, &by_link);
                }
                // The same place by other ways.
                for place in [(*input).to_string(), format!("./{input}"), by_link, format!("linked/{input}")] {
                    let words: Vec<&str> = line.split(' ').chain([*output, place.as_str()]).collect();
                    let refused = homolog(folder.path(), &words);
                    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
                    assert_eq!(refused.status.code(), Some(1), "{words:?}: {message}");
                    let is_refused = ["refusing to overwrite", "there is a file of that name"];
                    assert!(is_refused.iter().any(|part| message.contains(part)), "{words:?}: {message}");
                }
                assert_eq!(std::fs::read(folder.path().join(input)).unwrap(), before, "{line} {output} {input}");
            }
        }
    }
}

/// Answers to shards go into a folder of their own, by whatever way it is named.
#[cfg(unix)]
#[test]
fn answers_are_not_written_among_the_shards() {
    let folder = workplace();
    link(folder.path(), ".", "linked");
    link(folder.path(), "shards", "link");
    let before = files_in(&folder.path().join("shards"));
    let shard = "shards/part-00000.jsonl";
    for place in ["shards", "./shards/", "link", "linked/shards", "shards/manifest.json", shard, "/proc/answers"] {
        let refused = homolog(folder.path(), &["match", "model.json", "shards", "-o", place]);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{place}: {message}");
        assert!(
            ["refusing to overwrite", "cannot make the folder"].iter().any(|part| message.contains(part)),
            "{message}"
        );
    }
    assert!(files_in(&folder.path().join("shards")) == before);
}

/// The cases in which `-o` names a file and the command has what it needs: some need more specimens than there are here.
fn with_files() -> impl Iterator<Item = Case> {
    let needs_more = |line: &str| ["name", "experiment", "join"].iter().any(|command| line.starts_with(command));
    let is_file = |case: &Case| case.outputs.contains(&"-o") && !case.line.contains("shards");
    CASES.into_iter().filter(move |case| is_file(case) && !needs_more(case.line))
}

/// What is written to a link is written to what it leads to; the link stays.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = workplace();
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    for Case { line, .. } in with_files() {
        std::fs::write(folder.path().join("elsewhere/target.json"), "old").unwrap();
        let _ = std::fs::remove_file(folder.path().join("out.json"));
        link(folder.path(), "elsewhere/target.json", "out.json");
        let words: Vec<&str> = line.split(' ').chain(["-o", "out.json"]).collect();
        let done = homolog(folder.path(), &words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(folder.path().join("out.json").is_symlink(), "{line}");
        assert_ne!(std::fs::read(folder.path().join("elsewhere/target.json")).unwrap(), b"old", "{line}");
    }
}

/// In a folder that only its owner may read, every command says that it cannot write. The administrator may write anywhere, so as
/// administrator the commands run as another user.
#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error_and_nothing_is_lost() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let folder = workplace();
    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::write(locked.join("out.json"), "old").unwrap();
    let allow = |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let is_administrator = std::fs::metadata(&locked).unwrap().uid() == 0;
    allow(folder.path(), 0o755);
    allow(&locked, if is_administrator { 0o555 } else { 0o500 });
    for Case { line, .. } in with_files() {
        for place in ["locked/out.json", "locked/new.json"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
            command.current_dir(folder.path()).args(line.split(' ')).args(["-o", place]);
            if is_administrator {
                command.uid(65534).gid(65534);
            }
            let Ok(refused) = command.output() else {
                println!("skipped: a read-only folder (the program cannot be run as another user here)");
                return allow(&locked, 0o700);
            };
            let message = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{line} {place}: {message}");
            assert!(message.contains("cannot write"), "{line} {place}: {message}");
        }
    }
    assert_eq!(std::fs::read(locked.join("out.json")).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(&locked).unwrap().count(), 1);
    allow(&locked, 0o700);
}

/// Where nothing can be written, nothing changes, and every command says so.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_an_error_and_nothing_is_lost() {
    let folder = workplace();
    let before = files_in(folder.path());
    for Case { line, .. } in with_files() {
        // No one may make files there, not even the administrator, for whom no folder is read-only.
        for place in ["/proc/out.json", "no/such/folder/out.json"] {
            let words: Vec<&str> = line.split(' ').chain(["-o", place]).collect();
            let refused = homolog(folder.path(), &words);
            let message = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{words:?}: {message}");
            assert!(message.contains("cannot write"), "{words:?}: {message}");
        }
    }
    assert!(files_in(folder.path()) == before);
}

#[test]
fn no_file_is_written_twice() {
    let folder = workplace();
    for line in [
        "match model.json a.csv b.csv -o out.svg --picture out.svg",
        "detect p.png -o out.svg --picture ./out.svg",
        "train d.json -o out.json --checkpoint out.json",
        "experiment sequence -o out --out out",
    ] {
        let refused = homolog(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && message.contains("would be written twice"), "{line}: {message}");
        assert!(!folder.path().join("out").exists());
    }
    for line in ["match model.json - -", "match model.json a.csv b.csv -o - --picture -"] {
        let refused = homolog(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            refused.status.code() == Some(1) && message.contains("(-) was given more than once"),
            "{line}: {message}"
        );
    }
}

/// A picture that only the data set names is read too.
#[test]
fn pictures_of_a_data_set_are_not_drawn_over() {
    let folder = workplace();
    let data = std::fs::read_to_string(folder.path().join("d.json")).unwrap();
    std::fs::write(folder.path().join("d.json"), data.replacen("\"id\":\"a\"", "\"id\":\"a\",\"image\":\"p.png\"", 1))
        .unwrap();
    let before = std::fs::read(folder.path().join("p.png")).unwrap();
    let refused = homolog(folder.path(), &["match", "model.json", "--data", "d.json", "a", "b", "--picture", "p.png"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && message.contains("refusing to overwrite"), "{message}");
    assert_eq!(std::fs::read(folder.path().join("p.png")).unwrap(), before);
}

/// Pictures are decoded when they are asked for, and one that cannot be read costs a note.
#[test]
fn a_broken_picture_fails_nothing() {
    let folder = workplace();
    std::fs::write(folder.path().join("broken.png"), b"\x89PNG\r\n\x1a\nnonsense").unwrap();
    let data = std::fs::read_to_string(folder.path().join("d.json")).unwrap();
    let with = data.replacen("\"id\":\"a\"", "\"id\":\"a\",\"image\":\"broken.png\"", 1);
    std::fs::write(folder.path().join("e.json"), with).unwrap();
    for line in ["match model.json e.json", "explain model.json --data e.json a b", "evaluate model.json e.json"] {
        let done = homolog(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(done.status.success() && done.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let drawn = homolog(folder.path(), &["match", "model.json", "--data", "e.json", "a", "b", "--picture", "m.png"]);
    let message = String::from_utf8_lossy(&drawn.stderr).into_owned();
    assert!(drawn.status.success() && message.contains("cannot read the picture"), "{message}");
    assert!(std::fs::read(folder.path().join("m.png")).unwrap().starts_with(b"\x89PNG"));
}

/// What a killed run left behind goes at the next start; what may still be in use, and what is not ours, stays.
#[test]
fn leftovers_are_removed() {
    let folder = workplace();
    let make = |name: &str, old: bool| {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        if old {
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
        }
    };
    for (name, old) in
        [(".homolog-aB3xY9", true), (".homolog-zzzzzz", false), (".homolog-notes.txt", true), ("old", true)]
    {
        make(name, old);
    }
    // What a killed `convert --shards` leaves: a folder in a hidden one. One with something new inside may be in use.
    for (name, old) in [(".homolog-fold01", true), (".homolog-fold02", false)] {
        let inside = folder.path().join(name).join("shards");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("0.jsonl"), "half").unwrap();
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        if old {
            std::fs::File::open(&inside).unwrap().set_modified(before).unwrap();
        }
        std::fs::File::open(folder.path().join(name)).unwrap().set_modified(before).unwrap();
    }
    assert!(homolog(folder.path(), &["solve", "costs.csv", "-o", "best.csv"]).status.success());
    let left = |name: &str| folder.path().join(name).exists();
    assert!(!left(".homolog-fold01") && left(".homolog-fold02/shards/0.jsonl"));
    assert!(!left(".homolog-aB3xY9") && left(".homolog-zzzzzz") && left(".homolog-notes.txt") && left("old"));
}

/// Files are written before anything is printed.
#[cfg(target_os = "linux")]
#[test]
fn results_are_not_lost_when_standard_output_is_full_or_closed() {
    let folder = workplace();
    let full = || std::process::Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let line = ["experiment", "sequence", "--baselines", "100", "--methods", "linear", "-o", "r.json", "-q"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    let status = command.current_dir(folder.path()).args(line).stdout(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(std::fs::read_to_string(folder.path().join("r.json")).unwrap().contains("baselines"));
}

/// A checkpoint that cannot be written costs the checkpoint, not the model.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_at_a_checkpoint_does_not_cost_the_model() {
    let folder = workplace();
    let line = "train d.json -o new.json --features linear --lambda 0.1 --checkpoint /dev/full";
    let output = homolog(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    assert!(message.contains("warning: cannot write the checkpoint") && message.contains("No space left"), "{message}");
    assert!(std::fs::read_to_string(folder.path().join("new.json")).unwrap().contains("homolog-model"));
}

/// A model that cannot be written is an error that says so; the model that was there stays as it was, and nothing is left beside it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_model_whole() {
    let folder = workplace();
    let before = std::fs::read(folder.path().join("model.json")).unwrap();
    // No file may be longer than a block: what is written beyond it fails as on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec '{}' train d.json -o model.json --features linear --lambda 0.1",
        env!("CARGO_BIN_EXE_homolog")
    );
    let output = Command::new("sh").arg("-c").arg(script).current_dir(folder.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("cannot write model.json"), "{message}");
    assert_eq!(std::fs::read(folder.path().join("model.json")).unwrap(), before);
    let left = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(
        left.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".homolog-")).count(),
        0
    );
}

/// Names come from files: what would be a command to the terminal is shown, not sent.
#[test]
fn control_characters_are_not_sent_to_the_terminal() {
    let folder = workplace();
    std::fs::write(folder.path().join("evil.csv"), "landmark,x,y\n\u{1b}[2Jp,0,0\nq,4,0\n\u{9b}r,1,3\n").unwrap();
    for line in [
        "match model.json evil.csv b.csv",
        "explain model.json evil.csv b.csv",
        "match model.json --data d.json \u{1b}[2J b",
    ] {
        let output = homolog(folder.path(), &line.split(' ').collect::<Vec<_>>());
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(['\u{1b}', '\u{9b}']), "{line}: {text:?}");
        }
        let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(shown.contains("\\u001b[2J") || shown.contains("\\u{1b}[2J"), "{line}: {shown}");
    }
}

#[test]
fn files_come_from_and_go_to_standard_streams() {
    use std::io::Write;
    let folder = workplace();
    let data = std::fs::read_to_string(folder.path().join("d.json")).unwrap();
    for (line, input, expected) in [
        ("convert - -o -", "landmark,x,y\np,0,0\n", "\"id\":\"stdin\""),
        ("convert - --to tps", data.as_str(), "LM=3"),
        ("solve - --format csv -o -", "1,2\n3,4\n", "optimal"),
        ("match model.json - -o - --json", data.as_str(), "\"pairs\""),
        ("evaluate model.json -", data.as_str(), "hamming loss"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
        let piped = std::process::Stdio::piped;
        let command = command.current_dir(folder.path()).args(line.split(' '));
        let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && text.contains(expected), "{line}: {text} {errors}");
    }
}
