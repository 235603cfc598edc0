//! [`Note`]: what is worth telling about a file that was read, although it is no error.

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
            Self::Computed { points } => {
                write!(
                    formatter,
                    "left out {points} computed values (angles, forces, moments, powers) that are no points"
                )
            }
            Self::NoPicture { picture, others, from_bottom } => {
                let (more, y) = (and_more(*others), ": y counts from the bottom edge, downwards");
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
