//! The experiment's JSON and report, and the demo, on the built-in sequence.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn homolog(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_homolog")).current_dir(folder).args(arguments).output().unwrap()
}

fn assert_figures(folder: &Path, names: &[&str]) {
    for name in names {
        let png = std::fs::read(folder.join(name).with_extension("png")).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{name}");
        assert!(
            std::fs::read_to_string(folder.join(name).with_extension("svg")).unwrap().starts_with("<svg"),
            "{name}"
        );
    }
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    // The table of losses is set as a figure too.
    assert_eq!(report.matches("<figure").count(), names.len() + 1);
    assert!(!report.contains("src=\"http") && !report.contains("<script"), "the report loads nothing");
}

#[test]
fn the_experiment_writes_its_results_as_json_and_as_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let methods = "linear,linear-learned,quadratic,bistochastic,soft";
    let output = homolog(
        folder.path(),
        &[
            "experiment",
            "sequence",
            "--baselines",
            "90,100",
            "--methods",
            methods,
            "-o",
            "r.json",
            "--out",
            "out",
            "-q",
        ],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("linear-learned") && text.contains("Wrote out"), "{text}");
    let value: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let baselines = value["baselines"].as_array().unwrap();
    assert_eq!(baselines.len(), 2);
    for (baseline, counts) in baselines.iter().zip([[7, 7, 7], [4, 4, 3]]) {
        let found = ["train", "validation", "test"].map(|name| baseline[name].as_u64().unwrap());
        assert_eq!(found, counts);
        let losses: Vec<f64> = baseline["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|method| {
                let number = |name: &str| method[name].as_f64().unwrap();
                let learned = method["name"].as_str().unwrap().contains('-');
                assert!(number("match_seconds") > 0.0 && number("test_stderr") >= 0.0);
                assert!((0.0..=1.0).contains(&number("validation_loss")));
                assert_eq!(learned, method["lambda"].is_f64());
                assert_eq!(learned, method["certified"].as_bool() == Some(true));
                assert_eq!(learned, method["gap"].is_f64() && number("train_seconds") > 0.0);
                number("test_loss")
            })
            .collect();
        assert!(losses.iter().all(|loss| (0.0..=1.0).contains(loss)));
        assert!(losses[1] < losses[0], "learning helps: {losses:?}");
    }
    let names = [
        "loss-by-baseline",
        "loss-by-pairs",
        "time-and-loss",
        "match-linear-learned",
        "weights-linear-learned",
        "bounds-linear-learned",
    ];
    assert_figures(&folder.path().join("out"), &names);
}

#[test]
fn learning_with_edges_can_be_proven() {
    let folder = tempfile::tempdir().unwrap();
    // Every third landmark: with all of them the proof takes thirty times as long.
    let frames = homolog::data::turntable::Turntable::default().landmarks().unwrap();
    let row = |(frame, k): (usize, usize)| format!("{frame},{k},{},{}\n", frames[frame][[k, 0]], frames[frame][[k, 1]]);
    let rows = (0..frames.len()).flat_map(|frame| (0..30).step_by(3).map(move |k| (frame, k)));
    let table: String = std::iter::once("frame,landmark,x,y\n".to_string()).chain(rows.map(row)).collect();
    std::fs::write(folder.path().join("small.csv"), table).unwrap();
    let method =
        ["experiment", "sequence", "small.csv", "--methods", "quadratic-certified", "-o", "r.json", "--out", "out"];
    let sizes = ["--baselines", "100", "--train-pairs", "1", "--lambdas", "1", "-q"];
    let output = homolog(folder.path(), &[&method[..], &sizes].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let method = &value["baselines"][0]["methods"][0];
    assert_eq!(method["certified"], Value::Bool(true));
    assert!(method["gap"].as_f64().unwrap() <= 0.01 && method["training_loss_bound"].as_f64().unwrap() <= 1.0);
    let names = ["loss-by-baseline", "time-and-loss", "match-quadratic-certified", "weights-quadratic-certified"];
    assert_figures(&folder.path().join("out"), &[&names[..], &["bounds-quadratic-certified"]].concat());
}

#[test]
fn the_demo_tells_its_story() {
    let folder = tempfile::tempdir().unwrap();
    let output = homolog(folder.path(), &["demo", "-q"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let cells = |line: &str| -> Vec<f64> {
        line.split("  ").filter_map(|cell| cell.trim().split(' ').next()?.parse().ok()).collect()
    };
    let rows: Vec<Vec<f64>> = text.lines().filter(|line| line.starts_with("the paper, ")).map(cells).collect();
    assert_eq!(rows.len(), 2, "{text}");
    for row in rows {
        let [before, after] = row[..] else { panic!("{text}") };
        assert!(after < 0.5 * before, "{text}");
    }
    // The model of `homolog train` on rotated pictures, and on upright ones no worse than the paper's.
    let number = |after: &str| -> usize {
        let rest = &text[text.find(after).unwrap() + after.len()..];
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(10 * number("with its model ") < number("Homolog matches "), "{text}");
    let own: Vec<f64> = text.lines().filter(|line| line.starts_with("homolog train")).flat_map(cells).collect();
    assert!(own[1] <= 0.01, "{text}");
    let report = std::fs::read_to_string(folder.path().join("homolog-demo/report.html")).unwrap();
    // The news, then a picture, then how to read it, then numbers.
    let places = ["learned from 3 labelled pairs", "<figure>", "How to read", "<table>"];
    let places: Vec<usize> = places.iter().map(|part| report.find(part).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let names = [
        "match",
        "loss-by-baseline",
        "loss-by-pairs",
        "time-and-loss",
        "match-linear-learned",
        "match-quadratic-learned",
        "weights-linear-learned",
        "weights-quadratic-learned",
        "bounds-linear-learned",
    ];
    assert_figures(&folder.path().join("homolog-demo"), &names);
}

#[test]
fn points_are_found_in_scenes_and_learning_helps() {
    let folder = tempfile::tempdir().unwrap();
    let scene = ["experiment", "scene", "--baselines", "100", "--at-most", "60", "-o", "r.json", "--out", "out", "-q"];
    let output = homolog(folder.path(), &scene);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let rows = value["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let loss = |weights: &str| row[weights]["test"]["loss"].as_f64().unwrap();
        assert!((0.0..1.0).contains(&loss("learned")) && loss("learned") < loss("unlearned"), "{row}");
        assert_eq!(row["certified"], if row["features"] == "appearance" { Value::Null } else { Value::Bool(true) });
    }
    assert_eq!(rows[2]["features"], "appearance");
    let names: Vec<String> = ["shape-context", "with-image-descriptors"]
        .iter()
        .flat_map(|features| ["best", "median", "worst"].map(|which| format!("{features}-baseline-100-{which}")))
        .collect();
    assert_figures(&folder.path().join("out"), &names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn output_goes_through_links_and_into_pipes_and_nothing_read_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("c.csv"), "1,2\n3,4\n").unwrap();
    std::fs::write(path("target.csv"), "old").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("target.csv"), path("link.csv")).unwrap();
        let output = homolog(folder.path(), &["solve", "c.csv", "-o", "link.csv"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(path("link.csv").is_symlink());
        assert_ne!(std::fs::read_to_string(path("target.csv")).unwrap(), "old");
        assert!(homolog(folder.path(), &["solve", "c.csv", "-o", "/dev/null"]).status.success());
    }
    let refused = homolog(folder.path(), &["solve", "c.csv", "-o", "c.csv"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(path("c.csv")).unwrap(), "1,2\n3,4\n");
}

#[test]
fn frames_that_are_no_sequence_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.csv"), "frame,landmark,x,y\n1,a,0,0\n1,b,1,1\n2,a,0,0\n2,c,1,1\n").unwrap();
    let output = homolog(folder.path(), &["experiment", "sequence", "f.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("same landmarks") && message.contains("\"2\""), "{message}");
    let short = homolog(folder.path(), &["experiment", "sequence", "--baselines", "110", "-q"]);
    assert_eq!(short.status.code(), Some(1));
}
