//! docs/paper.md names, for every equation, the file and the item that implements it and the test that is its law: they exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between backticks.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Whether the text defines something of this name.
fn defines(text: &str, name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    ["fn ", "struct ", "enum ", "trait "].iter().any(|kind| {
        text.match_indices(&format!("{kind}{last}")).any(|(at, found)| {
            !text[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })
}

/// The names in a cell, each looked for in the files that the cell names before it; what is missing is added to `missing`.
fn look(cell: &str, folder: &Path, missing: &mut Vec<String>) {
    let mut texts = String::new();
    for name in code(cell) {
        if Path::new(name).extension().is_some_and(|ending| ending == "rs") {
            match fs::read_to_string(folder.join(name)) {
                Ok(text) => texts += &text,
                Err(_) => missing.push(format!("the file {name}")),
            }
            continue;
        }
        // A path that begins with a module is a place of its own.
        let is_item = !name.contains(' ') && (!name.contains("::") || name.starts_with(char::is_uppercase));
        if is_item && !defines(&texts, name) {
            missing.push(format!("{name} in the files named before it"));
        }
    }
}

#[test]
fn what_the_page_on_the_paper_names_exists() {
    let page = fs::read_to_string(root().join("docs/paper.md")).expect("the page");
    let tables = page.split("\n\n").filter(|block| block.starts_with("| paper | code |"));
    let rows: Vec<&str> = tables.flat_map(|table| table.lines().skip(2)).collect();
    assert!(rows.len() >= 16, "the tables of equations were not found");
    let mut missing = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [_, _, place, law] = cells[..] else { panic!("a row of four cells: {row}") };
        look(place, &root().join("crates/homolog/src"), &mut missing);
        look(law, &root().join("crates/homolog/tests/it"), &mut missing);
        if code(law).is_empty() {
            missing.push(format!("a test in {row}"));
        }
    }
    assert!(missing.is_empty(), "docs/paper.md names what does not exist:\n{}", missing.join("\n"));
}
