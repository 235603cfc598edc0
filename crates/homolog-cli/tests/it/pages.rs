//! Every command on a page that people read is one that the program has: its options exist and their values are valid.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages: README and docs with the stories, whose commands are run too (`commands.rs`).
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("python/README.md")];
    for folder in ["docs", "docs/stories"] {
        let files = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    pages
}

/// The lines of code blocks that call the program, without comments.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let called = lines.filter(|line| line.starts_with("homolog "));
    called.map(|line| line.split(" #").next().unwrap_or(line).trim().to_string()).collect()
}

/// As a shell splits it: by blanks, except between quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in command.chars() {
        match letter {
            '\'' | '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words.into_iter().skip(1).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_command_on_a_page_is_understood() {
    let mut count = 0;
    for page in pages() {
        for command in commands(&fs::read_to_string(&page).unwrap()) {
            // With --help nothing runs, but what comes before it is read.
            let asked =
                Command::new(env!("CARGO_BIN_EXE_homolog")).args(words(&command)).arg("--help").output().unwrap();
            let said = String::from_utf8_lossy(&asked.stderr);
            assert!(asked.status.success(), "{}: {command}\n{said}", page.display());
            count += 1;
        }
    }
    assert!(count >= 60, "only {count} commands were found");
}

#[test]
fn an_option_that_does_not_exist_would_be_noticed() {
    let asked = Command::new(env!("CARGO_BIN_EXE_homolog")).args(["match", "--nonsense", "--help"]).output().unwrap();
    assert!(!asked.status.success());
    assert_eq!(words("solve --seed 'a b=c'"), ["--seed", "a b=c"]);
}
