//! Pairs of nodes on the command line: `--seed a=b`, `--forbid a=c`, or tables with the columns left and right.

use crate::files;
use anyhow::{Context, Result, bail};
use homolog::matching::Restrictions;
use std::path::Path;

/// What is known before matching
#[derive(clap::Args, Default)]
pub(crate) struct Given {
    /// Two nodes that belong together, LEFT=RIGHT, by name or number; or a table (.csv) with the columns left and right (repeatable)
    #[arg(long = "seed", value_name = "LEFT=RIGHT")]
    seeds: Vec<String>,
    /// Two nodes that do not belong together, in the same form (repeatable)
    #[arg(long = "forbid", value_name = "LEFT=RIGHT")]
    forbidden: Vec<String>,
}

impl Given {
    /// Whether anything is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.seeds.is_empty() && self.forbidden.is_empty()
    }

    /// Adds what is given to what a data set says; nodes are found by name on each side.
    pub(crate) fn add_to(
        &self,
        restrictions: &mut Restrictions,
        left: impl Fn(&str) -> Option<usize>,
        right: impl Fn(&str) -> Option<usize>,
    ) -> Result<()> {
        for (option, words, pairs) in [
            ("--seed", &self.seeds, &mut restrictions.seeds),
            ("--forbid", &self.forbidden, &mut restrictions.forbidden),
        ] {
            for word in words {
                if word.contains('=') && !Path::new(word).is_file() {
                    pairs.push(pair(word, &left, &right).with_context(|| format!("{option} {word}"))?);
                } else {
                    read_table(Path::new(word), &left, &right, pairs).with_context(|| format!("{option} {word}"))?;
                }
            }
        }
        Ok(())
    }
}

/// Names may have = in them: every place to split at is tried.
fn pair(word: &str, left: impl Fn(&str) -> Option<usize>, right: impl Fn(&str) -> Option<usize>) -> Result<[usize; 2]> {
    let splits = || word.match_indices('=').map(|(at, _)| (&word[..at], &word[at + 1..]));
    if let Some(found) = splits().find_map(|(from, to)| Some([left(from)?, right(to)?])) {
        return Ok(found);
    }
    let Some((from, to)) = word.split_once('=') else { bail!("must be LEFT=RIGHT") };
    named(from, to, left, right)
}

fn named(
    from: &str,
    to: &str,
    left: impl Fn(&str) -> Option<usize>,
    right: impl Fn(&str) -> Option<usize>,
) -> Result<[usize; 2]> {
    let left = left(from).with_context(|| format!("there is no left node {from:?}"))?;
    Ok([left, right(to).with_context(|| format!("there is no right node {to:?}"))?])
}

fn read_table(
    path: &Path,
    left: impl Fn(&str) -> Option<usize>,
    right: impl Fn(&str) -> Option<usize>,
    pairs: &mut Vec<[usize; 2]>,
) -> Result<()> {
    if !path.is_file() {
        bail!("it is neither LEFT=RIGHT nor a file");
    }
    let text = files::read_text(path)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let column = |name: &str| header.iter().position(|own| own.eq_ignore_ascii_case(name));
    let (Some(from), Some(to)) = (column("left"), column("right")) else {
        bail!("the table has no columns left and right");
    };
    for (index, row) in reader.records().enumerate() {
        let row = row?;
        // Rows of nodes without a partner, as `match` writes them, say nothing here.
        if !row[from].is_empty() && !row[to].is_empty() {
            pairs.push(named(&row[from], &row[to], &left, &right).with_context(|| format!("row {}", index + 1))?);
        }
    }
    Ok(())
}
