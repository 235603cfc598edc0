//! [`Note`]: what is worth telling about a file that was read, although it is no error.

use super::shorten;
use crate::Result;
use crate::graph::Graph;
use crate::graph::levels::{Levels, MOST_LEVELS};
use std::fmt;

/// Something to know about a file that was read. Shells put the name of the file before it, and what to do about it after.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A column was taken to name the graphs, though its name leaves it open.
    GraphColumn {
        /// Its name.
        column: String,
    },
    /// A column was taken to name the landmarks, though its name leaves it open.
    LandmarkColumn {
        /// Its name.
        column: String,
    },
    /// An attribute that some nodes or edges lack.
    MissingValues {
        /// Nodes or edges.
        of: &'static str,
        /// The attribute.
        attribute: String,
        /// How many lack it.
        missing: usize,
        /// Of how many.
        total: usize,
        /// Whether a missing value counts as 1; otherwise the attribute was left out.
        filled: bool,
    },
    /// A text attribute of nodes or edges that was left out.
    Texts {
        /// Nodes or edges.
        of: &'static str,
        /// The attribute.
        attribute: String,
        /// How many different texts nodes have; `None` for edges, whose text is not compared.
        levels: Option<usize>,
    },
    /// Points that a model computed from others (angles, forces) were left out.
    Computed {
        /// How many.
        points: usize,
    },
    /// Pictures that the file names were not found.
    NoPicture {
        /// The first of them.
        picture: String,
        /// How many more.
        others: usize,
        /// Whether y therefore counts from the bottom edge of the picture, downwards: in a TPS file.
        from_bottom: bool,
    },
    /// Some points of graphs are outside of their pictures.
    OutsidePicture {
        /// The first such graph.
        graph: String,
        /// How many more.
        others: usize,
    },
    /// The file has no graphs.
    NoGraphs,
}

impl Note {
    /// Whether it only says how columns were understood: worth a line in a program, but no warning.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        matches!(self, Self::GraphColumn { .. } | Self::LandmarkColumn { .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GraphColumn { column } => write!(formatter, "the column {column:?} names the graphs"),
            Self::LandmarkColumn { column } => write!(formatter, "the column {column:?} names the landmarks"),
            Self::MissingValues { of, attribute, missing, total, filled } => {
                let done = if *filled { "counted as 1" } else { "so the attribute was left out" };
                write!(formatter, "{missing} of {total} {of} have no {attribute:?}, {done}")
            }
            Self::Texts { of, attribute, levels: None } => {
                write!(formatter, "left out {attribute:?} of {of}: only numbers are compared")
            }
            Self::Texts { of, attribute, levels: Some(levels) } => {
                write!(
                    formatter,
                    "left out {attribute:?} of {of}: {levels} different texts are names, not kinds (at most {MOST_LEVELS})"
                )
            }
            Self::Computed { points } => {
                write!(
                    formatter,
                    "left out {points} computed values (angles, forces, moments, powers) that are no points"
                )
            }
            Self::NoPicture { picture, others, from_bottom } => {
                let (more, y) = (and_more(*others), ": y is counted down from the bottom edge, so it is negative");
                write!(formatter, "picture {picture:?}{more} not found{}", if *from_bottom { y } else { "" })
            }
            Self::OutsidePicture { graph, others } => {
                write!(formatter, "graph {graph:?}{} has points outside of its picture", and_more(*others))
            }
            Self::NoGraphs => write!(formatter, "no graphs in it"),
        }
    }
}

fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" (and {others} more)") }
}

/// The graph with its text attributes, one text per node each; those that are names are left out with a note.
///
/// # Errors
/// Another number of texts than nodes; an attribute that the graph already has.
pub fn with_texts<'a>(
    mut graph: Graph,
    texts: impl Iterator<Item = (&'a str, &'a [String])>,
    notes: &mut Vec<Note>,
) -> Result<Graph> {
    for (name, texts) in texts {
        match Levels::of(name, texts)? {
            Levels::Columns(columns) => graph = graph.with_more_node_attributes(&columns)?,
            Levels::TooMany(levels, _) => {
                notes.push(Note::Texts { of: "nodes", attribute: shorten(name), levels: Some(levels) });
            }
            Levels::Nothing => {}
        }
    }
    Ok(graph)
}
