//! All pairs of a data set: the same bytes on any number of threads, after any cut and `--resume`, and from shards.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_homolog"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

fn done(folder: &Path, arguments: &str) {
    let output = homolog(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Nine specimens of seven points; the last has two fewer.
fn specimens(folder: &Path) {
    let mut table = "specimen,landmark,x,y\n".to_string();
    for specimen in 0..9_u32 {
        for point in 0..(if specimen == 8 { 5 } else { 7 }) {
            let (x, y) = (point * 37 % 50 + specimen * point % 3, point * point * 11 % 60 + specimen % 4);
            writeln!(table, "s{specimen},\"p,{point}\",{x},{y}").unwrap();
        }
    }
    fs::write(folder.join("data.csv"), table).unwrap();
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_after_any_cut() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    specimens(place);
    done(place, "train data.csv --features linear --unlearned -o model.json -q");
    for (ending, options) in [("csv", ""), ("csv", "--no-margins"), ("jsonl", "")] {
        let file = place.join(format!("out.{ending}"));
        let command = format!("match model.json data.csv -q {options} -o out.{ending}");
        done(place, &format!("{command} --threads 1"));
        let whole = fs::read(&file).unwrap();
        // 36 pairs: a row for each matched node, and one for each that is not.
        let lines = String::from_utf8_lossy(&whole).lines().count();
        assert_eq!(lines, if ending == "csv" { 1 + 28 * 7 + 8 * 7 } else { 36 });
        done(place, &format!("{command} --threads 3"));
        assert_eq!(fs::read(&file).unwrap(), whole, "threads");
        for cut in [0, 1, 30, 60, whole.len() / 3, whole.len() / 2, whole.len() - 40, whole.len() - 1, whole.len()] {
            fs::write(&file, &whole[..cut]).unwrap();
            done(place, &format!("{command} --resume"));
            assert!(fs::read(&file).unwrap() == whole, "{ending} {options} cut at {cut} of {}", whole.len());
        }
        fs::remove_file(&file).unwrap();
        done(place, &format!("{command} --resume"));
        assert_eq!(fs::read(&file).unwrap(), whole, "nothing to go on from");
        // Answers to other pairs are not gone on with.
        let other = String::from_utf8(whole).unwrap().replace("s1", "x1");
        fs::write(&file, &other).unwrap();
        let refused = homolog(place, &format!("{command} --resume"));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("answers to other pairs"));
        assert_eq!(fs::read_to_string(&file).unwrap(), other);
    }
}

/// A file written by a command is the same on any number of threads, and after any cut and `--resume`; so is what is printed at the end.
fn is_the_same_after_any_cut(place: &Path, command: &str, file: &str, is_printed: bool) {
    let file = place.join(file);
    let run = |more: &str| {
        let output = homolog(place, &format!("{command} {more}"));
        assert!(output.status.success(), "{command} {more}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = run("--threads 1");
    let whole = fs::read(&file).unwrap();
    assert_eq!(run("--threads 3"), printed);
    assert_eq!(fs::read(&file).unwrap(), whole, "threads");
    for cut in [0, 1, 30, 60, 120, whole.len() / 3, whole.len() / 2, whole.len() - 40, whole.len() - 1, whole.len()] {
        fs::write(&file, &whole[..cut]).unwrap();
        let again = run("--resume");
        assert!(fs::read(&file).unwrap() == whole, "{command} cut at {cut} of {}", whole.len());
        assert!(!is_printed || again == printed, "{again}\n{printed}");
    }
    let other = String::from_utf8(whole).unwrap().replace("s1", "x1");
    fs::write(&file, &other).unwrap();
    let refused = homolog(place, &format!("{command} --resume"));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("answers to other pairs"));
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
}

#[test]
fn evaluations_are_streamed_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    specimens(place);
    done(place, "convert data.csv --pairs all --split pairs -o data.json -q");
    done(place, "train data.json --features linear --lambda 0.1 -o model.json -q");
    for file in ["pairs.csv", "pairs.jsonl"] {
        is_the_same_after_any_cut(place, &format!("evaluate model.json data.json -q -o {file}"), file, true);
    }
    // The same figures as without a file.
    let plain = homolog(place, "evaluate model.json data.json -q").stdout;
    assert_eq!(homolog(place, "evaluate model.json data.json -q -o pairs.csv").stdout, plain);
    assert!(String::from_utf8(plain).unwrap().contains("before learning"));
    assert!(!homolog(place, "evaluate model.json data.json -q -o pairs.json --resume").status.success());
}

#[test]
fn names_are_streamed_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    specimens(place);
    done(place, "train data.csv --features atlas -o atlas.json -q");
    for (file, options) in [("named.csv", ""), ("named.csv", "--candidates 0.8"), ("named.jsonl", "")] {
        is_the_same_after_any_cut(place, &format!("name atlas.json data.csv -q {options} -o {file}"), file, false);
    }
    for file in ["checked.csv", "checked.jsonl"] {
        is_the_same_after_any_cut(place, &format!("evaluate atlas.json data.csv -q -o {file}"), file, true);
    }
    let plain = homolog(place, "evaluate atlas.json data.csv -q").stdout;
    assert_eq!(homolog(place, "evaluate atlas.json data.csv -q -o checked.csv").stdout, plain);
    // Printed and written, the table is the same.
    done(place, "name atlas.json data.csv -q -o named.csv");
    assert_eq!(homolog(place, "name atlas.json data.csv -q").stdout, fs::read(place.join("named.csv")).unwrap());
    let list: serde_json::Value =
        serde_json::from_slice(&homolog(place, "name atlas.json data.csv --json").stdout).unwrap();
    assert_eq!(list["specimens"].as_array().unwrap().len(), 9);
    let refused = homolog(place, "name atlas.json data.csv -o data.csv");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("refusing to overwrite"));
}

#[test]
fn candidates_and_presence_say_the_same_in_tables_and_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    specimens(place);
    // Names without commas, all specimens complete.
    let table = fs::read_to_string(place.join("data.csv")).unwrap().replace("\"p,", "p").replace("\",", ",");
    let complete: Vec<&str> = table.lines().filter(|line| !line.starts_with("s8")).collect();
    fs::write(place.join("data.csv"), complete.join("\n")).unwrap();
    let json = |command: &str| -> serde_json::Value {
        let output = homolog(place, command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let column = |command: &str| -> Vec<String> {
        let table = String::from_utf8(homolog(place, command).stdout).unwrap();
        table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_string()).collect()
    };
    let joined = |names: &serde_json::Value| -> String {
        names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join(";")
    };
    done(place, "train data.csv --features atlas --presence partial -o atlas.json -q");
    for presence in ["complete", "partial"] {
        let named = json(&format!("name atlas.json data.csv --json --candidates 0.9 --presence {presence}"));
        let mut listed = Vec::new();
        for specimen in named["specimens"].as_array().unwrap() {
            assert_eq!(specimen["presence"], presence);
            for set in specimen["sets"]["points"].as_array().unwrap() {
                let none = if set["none"] == true { ";none" } else { "" };
                listed.push(format!("{}{none}", joined(&set["names"])).trim_start_matches(';').to_string());
            }
        }
        let table = format!("name atlas.json data.csv -q --candidates 0.9 --presence {presence}");
        assert_eq!(column(&table), listed, "{presence}");
        let matched = format!("match atlas.json data.csv --candidates 0.9 --presence {presence}");
        let mut listed = Vec::new();
        for pair in json(&format!("{matched} --json"))["pairs"].as_array().unwrap() {
            for own in pair["matches"].as_array().unwrap() {
                assert_eq!(own["candidates"][0], own["right"]);
                listed.push(joined(&own["candidates"]));
            }
        }
        let own = column(&format!("{matched} --format csv")).into_iter().filter(|names| !names.is_empty());
        assert_eq!(own.collect::<Vec<_>>(), listed, "{presence}");
    }
    done(place, "train data.csv --features linear --unlearned -o model.json -q");
    assert!(!homolog(place, "match model.json data.csv --candidates 0.9").status.success());
    assert!(!homolog(place, "match atlas.json data.csv --candidates 1.5").status.success());
}

#[test]
fn shards_are_answered_one_by_one_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    specimens(place);
    done(place, "train data.csv --features linear --unlearned -o model.json -q");
    done(place, "convert data.csv --pairs all -o data.json -q");
    done(place, "convert data.json --shards 4 -o shards -q");
    done(place, "match model.json data.json -o whole.jsonl -q");
    let listed = || -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(place.join("answers/manifest.json")).unwrap()).unwrap()
    };
    done(place, "match model.json shards -o answers --only 3 -q");
    assert_eq!((listed()["done"].as_u64(), listed()["of"].as_u64()), (Some(1), Some(4)));
    assert_eq!(listed()["shards"][3]["answers"], "part-00003.jsonl");
    done(place, "match model.json shards -o answers -q");
    assert_eq!(listed()["done"], 4);
    let part = |number: usize| fs::read_to_string(place.join(format!("answers/part-0000{number}.jsonl"))).unwrap();
    let together: String = (0..4).map(part).collect();
    assert_eq!(together, fs::read_to_string(place.join("whole.jsonl")).unwrap());
    assert!(!homolog(place, "match model.json shards -o answers --only 4 -q").status.success());
}
