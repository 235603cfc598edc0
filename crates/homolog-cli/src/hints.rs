//! What to do about an error: the library says what is wrong, the program which of its options would help.

use homolog::{ColumnFault, Error};
use std::fmt;

/// An error of the program itself, and what to do about it.
#[derive(Debug)]
struct Advised {
    error: String,
    hint: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.error)
    }
}

impl std::error::Error for Advised {}

/// What is wrong, and on a line of its own what to do.
pub(crate) fn advised(error: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Advised { error: error.into(), hint: hint.into() }.into()
}

/// What to do, if the program knows something.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    let own = error.chain().find_map(|cause| cause.downcast_ref::<Advised>());
    if let Some(own) = own {
        return Some(own.hint.clone());
    }
    error.chain().find_map(|cause| cause.downcast_ref::<Error>()).and_then(|error| of(error, "FILE"))
}

fn of(error: &Error, file: &str) -> Option<String> {
    match error {
        Error::At { place, error } => of(error, place),
        Error::Interrupted => Some(
            "the time limit was over before there was anything to answer with; allow more with --time-limit"
                .to_string(),
        ),
        Error::UnknownFormat { .. } => Some("`homolog convert --from` names the format of a file".to_string()),
        Error::Columns { fault, .. } => options(fault).map(|options| format!("`homolog convert {file} {options}")),
        _ => None,
    }
}

/// The options of `convert` that say what a column means, and the end of the sentence that begins with them.
fn options(fault: &ColumnFault) -> Option<String> {
    match fault {
        ColumnFault::Unknown { column, .. } => {
            let column = quoted(column);
            Some(format!(
                "--ignore {column} -o clean.json` writes the data without it; with numbers in it, --attribute {column} keeps it; --graph-column and --landmark-column say that it names the specimens or the landmarks"
            ))
        }
        ColumnFault::Ambiguous { columns } => {
            let mut columns = columns.iter().map(|column| quoted(column));
            let first = columns.next()?;
            let others: Vec<String> = columns.map(|column| format!(" --ignore {column}")).collect();
            Some(format!("--graph-column {first}{}` chooses the first", others.concat()))
        }
        ColumnFault::Nothing { .. } => {
            Some("--attribute COLUMN` reads a table of attributes without points".to_string())
        }
        ColumnFault::Empty { column } | ColumnFault::OfNoLandmark { column } => {
            Some(format!("--ignore {}` leaves the column out", quoted(column)))
        }
        _ => None,
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-.:%+".contains(letter));
    if is_plain { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
