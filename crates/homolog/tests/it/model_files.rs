//! Corrupted model files: an error with a reason, never a panic.

use crate::common;

use common::rng;
use homolog::features::FeatureMap;
use homolog::matching::{Exact, Method};
use homolog::model::Model;
use rand::RngExt;

fn text() -> String {
    Model::unlearned(FeatureMap::paper_quadratic(), Method::Exact(Exact::default())).unwrap().to_json().unwrap()
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let text = text();
    for end in 0..text.trim_end().len() {
        assert!(Model::from_json(&text[..end]).is_err(), "cut off at {end}");
    }
}

#[test]
fn spoiled_files_are_refused_or_make_sense_and_never_panic() {
    let text = text();
    let mut rng = rng(1);
    let pieces = ["NaN", "null", "-1", "1e999", "\"x\"", "[]", "{}", "99999999999999999999", ",", "\"", "}"];
    for _ in 0..2000 {
        let start = rng.random_range(0..text.len());
        let end = (start + rng.random_range(0..12)).min(text.len());
        let spoiled = format!("{}{}{}", &text[..start], pieces[rng.random_range(0..pieces.len())], &text[end..]);
        if let Ok(model) = Model::from_json(&spoiled) {
            // What is read is complete: it can be written and read again.
            assert_eq!(Model::from_json(&model.to_json().unwrap()).unwrap(), model);
        }
    }
}

#[test]
fn a_file_of_absurd_size_is_refused_unread() {
    let error = Model::from_json(&" ".repeat((64 << 20) + 1)).unwrap_err().to_string();
    assert!(error.contains("bytes"), "{error}");
}
