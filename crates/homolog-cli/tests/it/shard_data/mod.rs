//! A small data set for the tests of shards.

use std::fmt::Write;
use std::path::Path;

/// Thirty graphs of five named points and a pair of each two neighbours to learn from, every fourth of another split; points are off by
/// up to half of `noise`.
pub(crate) fn write_data(folder: &Path, noise: f64, fourth: &str) {
    let mut text = String::from("{\"format\":{\"kind\":\"homolog-data\",\"version\":1}}\n");
    let shape = [[0.0, 0.0], [1.0, 0.2], [0.7, 1.1], [0.1, 0.8], [0.5, 0.4]];
    // Multiples of an irrational number spread as if they were drawn.
    let off = |number: usize, c: usize| ((number * 7 + c) as f64 * 0.754_877_666 % 1.0 - 0.5) * noise;
    for g in 0..30 {
        let points: Vec<String> = (0..5)
            .map(|i| (i + g) % 5)
            .map(|p| format!("[{},{}]", shape[p][0] + off(g, 2 * p), shape[p][1] + off(g, 2 * p + 1)))
            .collect();
        let names: Vec<String> = (0..5).map(|i| format!("\"p{}\"", (i + g) % 5)).collect();
        writeln!(text, "{{\"id\":\"g{g}\",\"points\":[{}],\"names\":[{}]}}", points.join(","), names.join(","))
            .expect("a text and a folder to write to");
    }
    for g in 0..29 {
        let split = if g % 4 == 3 { fourth } else { "train" };
        writeln!(text, "{{\"left\":\"g{g}\",\"right\":\"g{}\",\"split\":\"{split}\"}}", g + 1)
            .expect("a text and a folder to write to");
    }
    std::fs::write(folder.join("data.jsonl"), text).expect("a text and a folder to write to");
}
