//! The layering stated in ARCHITECTURE.md is the one in the code: the table there says for each module of the library which
//! others it uses; a module uses only modules above it, all that it uses are named, and only those.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Uses = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows "| `module` | what it is | `used`, `used` |" of the table below the heading "Modules of the library", in order.
fn stated() -> (Vec<String>, Uses) {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there");
    let section = text.split("## Modules of the library").nth(1).expect("the heading is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_string).collect::<Vec<_>>();
    let (mut order, mut uses) = (Vec::new(), Uses::new());
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let module = names(cells[1])[0].clone();
        uses.insert(module.clone(), names(cells[3]).into_iter().collect());
        order.push(module);
    }
    (order, uses)
}

fn rust_files(place: &Path, files: &mut Vec<PathBuf>) {
    if place.is_dir() {
        for entry in fs::read_dir(place).expect("a folder that can be read") {
            rust_files(&entry.expect("an entry").path(), files);
        }
    } else if place.extension().is_some_and(|ending| ending == "rs") {
        files.push(place.to_path_buf());
    }
}

/// The first words of all paths that begin with `crate::`, also inside braces.
fn first_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for after in text.split("crate::").skip(1) {
        let mut depth = 0;
        let mut word = String::new();
        let mut is_first = true;
        for character in after.chars() {
            match character {
                '{' if is_first && word.is_empty() => depth += 1,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_first = true,
                _ if character.is_alphanumeric() || character == '_' => {
                    if is_first {
                        word.push(character);
                    }
                    continue;
                }
                _ => {}
            }
            if is_first && !word.is_empty() {
                words.insert(std::mem::take(&mut word));
                is_first = false;
                if depth == 0 {
                    break;
                }
            }
            if character == ',' && depth == 1 {
                is_first = true;
            }
            if depth <= 0 && !character.is_whitespace() && character != ':' {
                break;
            }
        }
    }
    words
}

#[test]
fn words_are_found_inside_braces() {
    let text = "use crate::graph::{A, B};\nuse crate::{Error, loss::{Loss, Terms}, model::Model};\nlet x = crate::data::read(y);";
    let found: Vec<String> = first_words(text).into_iter().collect();
    assert_eq!(found, ["Error", "data", "graph", "loss", "model"]);
}

#[test]
fn modules_use_what_architecture_says_and_only_what_is_above_them() {
    let (order, stated) = stated();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = BTreeSet::new();
    for entry in fs::read_dir(&source).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        if name != "lib" {
            modules.insert(name);
        }
    }
    assert_eq!(modules, stated.keys().cloned().collect(), "modules in src and in ARCHITECTURE.md");
    for (at, module) in order.iter().enumerate() {
        let mut files = Vec::new();
        rust_files(&source.join(module), &mut files);
        rust_files(&source.join(format!("{module}.rs")), &mut files);
        let mut found = BTreeSet::new();
        for file in files.iter().filter(|file| file.exists()) {
            let text = fs::read_to_string(file).unwrap();
            // Tests and examples in comments may use anything.
            let code: String = text
                .split("#[cfg(test)]")
                .next()
                .unwrap()
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .fold(String::new(), |code, line| code + line + "\n");
            found.extend(first_words(&code).into_iter().filter(|word| modules.contains(word) && word != module));
        }
        assert_eq!(found, stated[module], "what `{module}` uses, in the code and in ARCHITECTURE.md");
        for used in &found {
            assert!(order[..at].contains(used), "`{module}` uses `{used}`, which stands below it");
        }
    }
}
