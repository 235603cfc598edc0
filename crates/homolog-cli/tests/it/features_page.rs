//! docs/features.md has the list that the program prints, and what it says can be written can be read.

use homolog::features::{Comparison, Difference, EdgeKind, FeatureMap, NodeFeature, Rotation, Scale, catalogue};
use homolog::geometry::EdgeRule;
use std::path::Path;
use std::process::Command;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features.md")).unwrap()
}

#[test]
fn the_page_ends_with_the_list_of_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_homolog")).args(["features", "--markdown"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let page = page();
    let (_, on_the_page) = page.split_once("<!-- made by: homolog features --markdown -->\n\n").unwrap();
    assert_eq!(
        on_the_page, list,
        "run `homolog features --markdown` and put what it prints at the end of docs/features.md"
    );
}

#[test]
fn every_example_can_be_read() {
    for block in page().split("```").skip(1).step_by(2).filter(|block| block.trim_start().starts_with('{')) {
        serde_json::from_str::<FeatureMap>(block).unwrap().check().unwrap();
    }
    for chapter in catalogue() {
        for entry in chapter.entries {
            let text = &entry.example;
            let value = text.split_once(':').map_or("", |(_, value)| value);
            let read = match chapter.title {
                "Sets" => text.strip_prefix("--features ").is_some_and(|name| name == entry.name),
                "Node descriptors" => serde_json::from_str::<NodeFeature>(text).is_ok(),
                "Comparisons" => serde_json::from_str::<Comparison>(value).is_ok(),
                "Features of pairs" => serde_json::from_str::<Vec<String>>(value).is_ok(),
                "Edge features" => serde_json::from_str::<EdgeKind>(text).is_ok(),
                "Differences" => serde_json::from_str::<Difference>(value).is_ok(),
                "Edge rules" => serde_json::from_str::<EdgeRule>(value).is_ok(),
                "Scales" => serde_json::from_str::<Scale>(value).is_ok(),
                "Poses" => serde_json::from_str::<Rotation>(value).is_ok(),
                other => panic!("a chapter that nobody reads: {other}"),
            };
            assert!(read, "{text}");
        }
    }
}
