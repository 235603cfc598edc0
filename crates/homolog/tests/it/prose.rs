//! Plain English where users read it: the pages, what the program prints (the snapshots of its tests, its messages and help texts), the
//! labelling page, the Python package, errors, and the rustdoc of public items. Each entry is a phrase that has always been wrong here, and
//! what to write instead. Lab notes (docs/notes) are as they were written.

use std::fs;
use std::path::{Path, PathBuf};

/// In lower case, whole words; a blank also stands for the end of a line.
const WRONG: &[(&str, &str)] = &[
    ("where there is", "if there is"),
    ("where there are", "if there are"),
    ("where there was", "if there was"),
    ("where no", "if no"),
    ("where nothing", "if nothing"),
    ("where not", "if not"),
    ("where none", "if none"),
    ("used where", "used if"),
    ("kept only where", "kept only if"),
    ("nobody", "no one, none, or the noun itself"),
    ("stranger", "outlier, extra point"),
    ("strangers", "outliers, extra points"),
    ("foreign points", "extra points"),
    ("foreign ones", "extra ones"),
    ("as many foreign", "as many extra"),
    ("brings along", "comes with, has"),
    ("bring along", "come with, have"),
    ("then stands", "is kept"),
    ("stands in for", "replaces, plays the part of"),
    ("are not looked at", "are ignored"),
    ("is not looked at", "is ignored"),
    ("goes by the", "decides by the"),
    ("may be given again", "(repeatable)"),
    ("may be given several times", "(repeatable)"),
    ("goes on with", "continues"),
    ("go on with", "continue"),
    ("goes on from", "continues from"),
    ("stands there", "say the thing itself"),
    ("stand there", "say the thing itself"),
    ("stands above", "is listed above"),
    ("is there twice", "duplicate"),
    ("is there already", "already exists"),
    ("are there already", "already exist"),
    ("here is 1", "found 1"),
    ("what is it", "unrecognised file type"),
    ("it is what is read", "it is also an input"),
    ("as far as the data can tell", "no clear difference on held-out pairs"),
    ("is looked for", "looks for, searches for"),
    ("are looked for", "looks for, searches for"),
    ("what lies around", "the surroundings of"),
    ("lies beside", "is next to"),
    ("lie beside", "are next to"),
    ("turned against each other", "rotated against each other"),
    ("turned at random", "rotated at random"),
    ("turned at will", "rotated"),
    ("the best turn", "the best rotation"),
    ("at a price that is learned", "at a learned cost"),
    ("write down every", "save progress every"),
    ("along the way what", "report each step"),
    ("is said to be", "is marked as"),
    ("mends it", "corrects it"),
    ("somebody else", "someone else"),
    ("everything there is", "all"),
    ("turned in another way", "rotated differently"),
    ("forgotten and found again", "removed and found again"),
    ("counts it for", "contributes to"),
    ("what belongs to it", "files that belong to it"),
    ("are at hand", "are found"),
    ("nodes to go to", "nodes to match"),
    ("goes on to a", "continues at a"),
    ("gives that promise up", "does not hold that"),
    ("teaches its own", "is measured"),
    ("agree with themselves", "are consistent"),
    ("says what is right", "is right"),
    ("is not followed", "differs"),
    ("one landmark a row", "per row"),
    ("one specimen a row", "per row"),
];

/// A unit, "a" and a thing: "per" is meant.
const UNITS: [&str; 20] = [
    "ns",
    "µs",
    "us",
    "ms",
    "s",
    "second",
    "seconds",
    "microseconds",
    "milliseconds",
    "minutes",
    "hours",
    "kb",
    "mb",
    "gb",
    "bytes",
    "once",
    "twice",
    "times",
    "thread",
    "task",
];
const THINGS: [&str; 17] = [
    "pair", "match", "round", "frame", "task", "step", "specimen", "node", "point", "worker", "process", "machine",
    "graph", "core", "label", "picture", "landmark",
];

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Pages that people read, what the program prints, the labelling page and the Python package.
fn texts() -> Vec<PathBuf> {
    let root = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "mkdocs.yml",
    ];
    let mut texts = root.map(|name| Path::new(ROOT).join(name)).to_vec();
    texts.push(Path::new(ROOT).join("python/README.md"));
    for (folder, ending) in [
        ("docs", "md"),
        ("docs/stories", "md"),
        ("crates/homolog-cli/tests/cmd", "trycmd"),
        ("page/src", "ts"),
        ("python/homolog", "py"),
    ] {
        texts.extend(files(&Path::new(ROOT).join(folder), ending, false));
    }
    texts
}

/// The files of a folder, and of those in it, whose names end so.
fn files(folder: &Path, ending: &str, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && deep {
            found.extend(files(&path, ending, deep));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What is between triple quotes.
fn docstrings(text: &str) -> String {
    text.split("\"\"\"").skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

/// The heads of files, and the documentation of what is public.
fn rustdoc(text: &str) -> String {
    let (mut public, mut own, mut inside) = (Vec::new(), Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix("//!") {
            public.push(head);
        } else if let Some(doc) = line.strip_prefix("///") {
            own.push(doc);
        } else if line.starts_with("#[") || inside {
            inside = !line.ends_with(']');
        } else {
            if line.starts_with("pub ") {
                public.append(&mut own);
            }
            own.clear();
        }
    }
    public.join("\n")
}

/// What a program says: its messages, and the comments that clap or Python show as help.
fn spoken(text: &str) -> String {
    let documented = text.lines().map(str::trim).filter_map(|line| line.strip_prefix("///"));
    documented.chain(messages(text).iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
}

/// The strings of a source that are more than one word, without comments.
fn messages(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("'\"'", "").replace("\\\"", "'").replace("\\\n", "");
    code.split('"').skip(1).step_by(2).filter(|message| message.contains(' ')).map(str::to_string).collect()
}

/// "2 ms a pair", which should be "2 ms per pair"; not across the ends of sentences.
fn per(text: &str) -> Vec<String> {
    let text = text.replace(". ", "; ").replace(".\n", ";\n");
    let clauses = text.split([',', ';', ':', '(', ')', '|', '"', '`']).map(words);
    let is_per = |clause: &String| {
        let words: Vec<&str> = clause.split_whitespace().collect();
        words.windows(3).any(|three| UNITS.contains(&three[0]) && three[1] == "a" && THINGS.contains(&three[2]))
    };
    clauses.filter(is_per).collect()
}

/// The words of a text with single blanks between and around them.
fn words(text: &str) -> String {
    let letters = |c: char| if c.is_alphanumeric() || c == '\'' { c } else { ' ' };
    let text: String = text.to_lowercase().chars().map(letters).collect();
    format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn pages_and_messages_are_plain_english() {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        if path.extension().is_some_and(|extension| extension == "py") { docstrings(&text) } else { text }
    };
    let mut all: Vec<(PathBuf, String)> = texts().into_iter().map(|path| (path.clone(), read(&path))).collect();
    for library in ["crates/homolog/src", "crates/homolog-viz/src"] {
        let sources = files(&Path::new(ROOT).join(library), "rs", true);
        let said = |path: &PathBuf| format!("{}\n{}", rustdoc(&read(path)), messages(&read(path)).join("\n"));
        all.extend(sources.into_iter().map(|path| (path.clone(), said(&path))));
    }
    for program in ["crates/homolog-cli/src", "crates/homolog-py/src"] {
        let sources = files(&Path::new(ROOT).join(program), "rs", true);
        all.extend(sources.into_iter().map(|path| (path.clone(), spoken(&read(&path)))));
    }
    let mut faults = Vec::new();
    for (path, text) in all {
        faults.extend(per(&text).iter().map(|clause| format!("{}: \"{}\": per", path.display(), clause.trim())));
        let text = words(&text);
        for (phrase, instead) in WRONG {
            if let Some(at) = text.find(&words(phrase)) {
                let around: String = text[at..].chars().take(60).collect();
                faults.push(format!("{}: \"{}\": {instead}", path.display(), around.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn rustdoc_is_that_of_public_items() {
    let text = "//! Head.\n/// One.\n#[must_use]\npub fn one() {}\n/// Two.\nfn two() {}\n/// Three.\n#[expect(\n    a,\n)]\npub struct T;\n";
    assert_eq!(words(&rustdoc(text)), " head one three ");
}

#[test]
fn messages_are_the_strings_and_per_is_found_within_a_clause() {
    let text = "// \"not this one\"\nlet quote = '\"';\nbail!(\"two \\\n    words\"); f(\"one\");";
    assert_eq!(messages(text).iter().map(|message| words(message)).collect::<Vec<_>>(), [" two words "]);
    assert_eq!(per("It takes 2 ms a\npair, or 3 s. A pair is"), [" it takes 2 ms a pair "]);
    assert!(per("It takes minutes; a round takes 3 s\nper frame").is_empty());
}

#[test]
fn phrases_are_found_across_lines_and_as_whole_words() {
    let text = words("It stops\nwhere there is\tnone; nobody's");
    assert!(text.contains(&words("where there is")) && !text.contains(&words("nobody")));
    assert!(!words("elsewhere there is").contains(&words("where there is")));
}

#[test]
fn links_to_files_lead_somewhere() {
    let mut faults = Vec::new();
    for path in texts().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(&path).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.contains(' ')) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !path.with_file_name(file).exists() {
                faults.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
