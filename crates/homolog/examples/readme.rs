//! The examples of the README, as they stand there; a test compares the two.
//!
//! `cargo run --release --example readme`

fn main() -> homolog::Result<()> {
    shortest()?;
    learn()
}

fn shortest() -> homolog::Result<()> {
    use homolog::matching::{Compatibility, Linear, Matcher, Workspace};
    use ndarray::array;

    // Scores of three left nodes (rows) for two right nodes (columns); minus infinity forbids a pair.
    let scores = array![[0.9, 0.8], [0.7, f64::NEG_INFINITY], [0.1, 0.5]];
    let solution = Linear::default().solve(&Compatibility::linear(scores), &mut Workspace::new())?;

    assert_eq!(solution.matching.left_to_right(), [Some(1), Some(0), None]);
    Ok(())
}

fn learn() -> homolog::Result<()> {
    use homolog::data::turntable::Turntable;
    use homolog::features::FeatureMap;
    use homolog::graph::{Graph, Pair};
    use homolog::learn::{LabelledPairs, Trainer};
    use homolog::matching::{Matching, Workspace};
    use homolog::model::Model;
    use std::sync::Arc;

    // 111 frames of a toy building on a turntable, 30 landmarks each: made by code, no files.
    let frames = Turntable::default().landmarks()?;
    let frames: Result<Vec<_>, _> = frames.into_iter().map(|points| Graph::from_points(points).map(Arc::new)).collect();
    let frames = frames?;

    // Six labelled pairs of frames 80 apart: landmark k of one frame is landmark k of the other.
    let mut pairs = LabelledPairs::new();
    for first in 0..6 {
        pairs.add(&frames[first], &frames[first + 80], Matching::identity(30))?;
    }
    let model = Model::fit(&FeatureMap::paper_linear(), &pairs, &Trainer::default())?;

    let solution = model.solve(&Pair::new(frames[20].clone(), frames[100].clone()), &mut Workspace::new())?;
    let right = solution.matching.pairs().filter(|(i, k)| i == k).count();
    assert!(right >= 20);

    // A model file is JSON that a person can read.
    assert_eq!(Model::from_json(&model.to_json()?)?, model);
    Ok(())
}

#[test]
fn the_readme_has_these_lines() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let here = include_str!("readme.rs");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the page is there");
    let mut lines = 0;
    for block in readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert!(here.contains(line), "in the README but not in this example: {line}");
            lines += 1;
        }
    }
    assert!(lines > 10);
}

#[test]
fn runs() -> homolog::Result<()> {
    main()
}
