//! The public names of the library as a committed list (`public_api.txt`), so that a change of the interface is seen in review.
//!
//! Read from the source: the items that `lib.rs` and the public modules below it define or re-export, and the public methods of public types.
//! Fields and trait implementations are not listed; types of the same name share their methods. `HOMOLOG_LIST=write cargo test -p homolog --test it public_api::` writes the list anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/public_api.txt");
const KINDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro"];

/// The text without its tests: items marked so, each up to the next empty line or, for a block, to its closing brace.
fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let mut parts = text.split("\n#[cfg(test)]\n");
    let mut kept = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let line = part.split_inclusive('\n').next().unwrap_or_default();
        let item =
            if line.trim_end().ends_with(';') { line.len() } else { part.find("\n}").map_or(part.len(), |at| at + 2) };
        kept.push('\n');
        kept.push_str(&part[item..]);
    }
    kept.split("#[cfg(doctest)]").next().unwrap_or_default().to_string()
}

/// The name at the start of a text.
fn name(text: &str) -> String {
    text.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect()
}

/// `fn find(` after "pub": kind and name.
fn item(line: &str) -> Option<(&str, String)> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").map_or(rest, |_| &rest["const ".len()..]);
    let (kind, rest) = rest.split_once(' ')?;
    KINDS.contains(&kind).then(|| (kind, name(rest)))
}

/// The public names of a module and of those in it.
fn module(file: &Path, folder: &Path, path: &str, found: &mut BTreeSet<String>) {
    let text = read(file);
    for line in text.lines() {
        if let Some(inner) = line.strip_prefix("pub mod ") {
            let inner = name(inner);
            let (flat, deep) = (folder.join(format!("{inner}.rs")), folder.join(&inner).join("mod.rs"));
            let file = if deep.exists() { deep } else { flat };
            found.insert(format!("{path}::{inner} (mod)"));
            module(&file, &folder.join(&inner), &format!("{path}::{inner}"), found);
        } else if let Some((kind, name)) = item(line) {
            found.insert(format!("{path}::{name} ({kind})"));
        }
    }
    for part in text.split("\npub use ").skip(1) {
        let part = part.split(';').next().unwrap_or_default();
        let names = part.rsplit_once("::{").map_or_else(|| part.rsplit("::").next().unwrap_or(part), |(_, list)| list);
        for one in names.split([',', '}', '{']).map(str::trim).filter(|one| !one.is_empty()) {
            let shown = one.rsplit(" as ").next().unwrap_or(one).rsplit("::").next().unwrap_or(one);
            found.insert(format!("{path}::{shown} (use)"));
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The public methods of each type, by its name.
fn methods() -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    sources(Path::new(SOURCE), &mut files);
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let mut owner = None;
        for line in read(&file).lines() {
            if line.starts_with("impl") {
                // Methods of traits are the traits' own.
                let head = line.trim_start_matches("impl");
                let head =
                    if head.starts_with('<') { head.split_once("> ").map_or("", |(_, rest)| rest) } else { head };
                owner = (!line.contains(" for ")).then(|| name(head.trim()));
            } else if line.starts_with('}') {
                owner = None;
            } else if let (Some(owner), Some(("fn", name))) = (&owner, line.strip_prefix("    ").and_then(item)) {
                all.entry(owner.clone()).or_default().insert(name);
            }
        }
    }
    all
}

#[test]
fn public_names_are_those_of_the_list() {
    let mut found = BTreeSet::new();
    module(&Path::new(SOURCE).join("lib.rs"), Path::new(SOURCE), "homolog", &mut found);
    let methods = methods();
    let mut list: Vec<String> = Vec::new();
    for entry in &found {
        list.push(entry.clone());
        let path = entry.split(' ').next().unwrap_or_default();
        let own = path.rsplit("::").next().unwrap_or_default();
        for method in methods.get(own).into_iter().flatten() {
            list.push(format!("{path}::{method} (method)"));
        }
    }
    let text = list.join("\n") + "\n";
    assert!(list.len() > 300, "{} names", list.len());
    if std::env::var("HOMOLOG_LIST").is_ok_and(|value| value == "write") {
        fs::write(LIST, &text).unwrap();
    }
    let committed = fs::read_to_string(LIST).unwrap_or_default().replace("\r\n", "\n");
    let (before, now): (BTreeSet<&str>, BTreeSet<&str>) = (committed.lines().collect(), text.lines().collect());
    let gone: Vec<_> = before.difference(&now).collect();
    let new: Vec<_> = now.difference(&before).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the public interface changed: gone {gone:#?}, new {new:#?}; if that is meant, write the list anew (HOMOLOG_LIST=write) and say it in CHANGELOG.md"
    );
}
