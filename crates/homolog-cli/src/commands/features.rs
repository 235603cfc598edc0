//! `homolog features`: everything that features can be made of. docs/features.md has the same list.

use crate::{Ending, files};
use anyhow::Result;
use homolog::features::{Chapter, catalogue};
use std::fmt::Write;

/// Lists the sets of features and their building blocks, with an example each
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  homolog features
  homolog features --markdown
  homolog train wings.csv -o model.json --features quadratic
  homolog train wings.csv -o model.json --features '{\"node\":[{\"descriptor\":{\"name\":\"position\"}}]}'")]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, as in docs/features.md
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let chapters = catalogue();
    let text = match arguments {
        Arguments { json: true, .. } => serde_json::to_string_pretty(&chapters)? + "\n",
        Arguments { markdown: true, .. } => markdown(&chapters)?,
        _ => plain(&chapters)?,
    };
    files::print(text.as_bytes())?;
    Ok(Ending::Done)
}

fn plain(chapters: &[Chapter]) -> Result<String> {
    let mut text = String::new();
    for (number, chapter) in chapters.iter().enumerate() {
        writeln!(text, "{}{}. {}", if number == 0 { "" } else { "\n" }, chapter.title, chapter.about)?;
        for entry in &chapter.entries {
            writeln!(text, "  {:18} {}", entry.name, entry.help)?;
            writeln!(text, "  {:18} {}", "", entry.example)?;
        }
    }
    Ok(text)
}

fn markdown(chapters: &[Chapter]) -> Result<String> {
    let mut text = String::new();
    for (number, chapter) in chapters.iter().enumerate() {
        let Chapter { title, about, entries } = chapter;
        writeln!(
            text,
            "{}### {title}\n\n{about}\n\n| name | what | written |\n|---|---|---|",
            if number == 0 { "" } else { "\n" }
        )?;
        for entry in entries {
            // A bar would end the cell.
            let [help, example] = [entry.help, &entry.example].map(|text| text.replace('|', "\\|"));
            writeln!(text, "| `{}` | {help} | `{example}` |", entry.name)?;
        }
    }
    Ok(text)
}
