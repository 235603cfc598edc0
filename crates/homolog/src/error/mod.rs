//! What can be wrong with a caller's input. Errors carry data (which cell, which node), so a program can point at the place;
//! not converging or running out of time is never an error but a [`Status`](crate::matching::Status).

mod limit;

pub use limit::Limit;

use crate::Control;
use crate::matching::Shortage;

/// The result type of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// A mistake in the input, with its place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table holds NaN or an infinity that has no meaning there.
    #[error("{what}: {value} at row {row}, column {column}")]
    BadCell {
        /// Which table.
        what: &'static str,
        /// Row of the first bad cell, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// The value there.
        value: f64,
    },
    /// A list holds NaN or an infinity that has no meaning there.
    #[error("{what}: {value} at position {index}")]
    BadEntry {
        /// Which list.
        what: &'static str,
        /// Position of the first bad entry, from 0.
        index: usize,
        /// The value there.
        value: f64,
    },
    /// Two things that belong together have different sizes.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// Which thing.
        what: &'static str,
        /// The size it must have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// An index points past the end.
    #[error("{what}: index {index} is out of range, there are {count}")]
    OutOfRange {
        /// Which list is indexed.
        what: &'static str,
        /// The offending index, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An edge leads from a node to itself.
    #[error("an edge leads from node {node} to itself; the score of a single node belongs to the node scores")]
    SelfLoop {
        /// The node.
        node: usize,
    },
    /// Two left nodes share a right node in a one-to-one matching.
    #[error("left nodes {first} and {second} are both matched to right node {right}, but the matching is one-to-one")]
    NotOneToOne {
        /// The right node used twice.
        right: usize,
        /// The left node that has it first.
        first: usize,
        /// The left node that has it again.
        second: usize,
    },
    /// A left node would have two partners at once.
    #[error("left node {left} has two seeds")]
    TwoSeeds {
        /// The left node.
        left: usize,
    },
    /// A matching lacks a pair that every matching must have.
    #[error("left node {left} and right node {right} are given as a seed, but are not matched")]
    MissingSeed {
        /// The left node.
        left: usize,
        /// The right node.
        right: usize,
    },
    /// A matching uses a pair whose score is minus infinity.
    #[error("left node {left} and right node {right} are matched, but that pair is forbidden")]
    ForbiddenPair {
        /// The left node.
        left: usize,
        /// The right node.
        right: usize,
    },
    /// A full matching was asked for, but forbidden pairs allow none.
    #[error("no full matching exists: left nodes {:?} can only be matched to right nodes {:?}", .shortage.left, .shortage.right)]
    NoFullMatching {
        /// The left nodes that are too many for the right nodes that they may be matched to.
        shortage: Shortage,
    },
    /// A certificate does not prove what it is meant to.
    #[error("the certificate proves nothing: {reason}")]
    BadCertificate {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A solver was given a problem of a kind it does not solve.
    #[error("{solver} does not solve problems with {what}")]
    Unsupported {
        /// The solver.
        solver: &'static str,
        /// The part of the problem it cannot take.
        what: &'static str,
    },
    /// A graph lacks a part that is needed.
    #[error("{needed_by}: the graph has no {what}")]
    Missing {
        /// The part.
        what: &'static str,
        /// What asks for it.
        needed_by: &'static str,
    },
    /// A graph lacks an attribute that was asked for by name.
    #[error("the graph has no {what} called {name:?}")]
    NoAttribute {
        /// Of nodes or of edges.
        what: &'static str,
        /// The name that was asked for.
        name: String,
    },
    /// Something was asked for by a name that nothing has.
    #[error("there is no {what} called {name:?}; there are {known}")]
    UnknownName {
        /// Of which kind.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two things have the same name.
    #[error("{what}: {name:?} occurs twice")]
    Repeated {
        /// Which list of names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The same edge is given twice, with different attributes.
    #[error("the edge from {source_node} to {target_node} is given twice, with different attributes")]
    ConflictingEdge {
        /// Where it starts.
        source_node: usize,
        /// Where it leads.
        target_node: usize,
    },
    /// A list that must hold each of the numbers 0..count once does not.
    #[error("{what}: {index} occurs twice")]
    NotAPermutation {
        /// Which list.
        what: &'static str,
        /// The first number that occurs again.
        index: usize,
    },
    /// A list that must be in increasing order is not.
    #[error("{what}: {index} is not larger than the one before it")]
    NotIncreasing {
        /// Which list.
        what: &'static str,
        /// The first number out of order.
        index: usize,
    },
    /// A left node has a partner that was declared unknown.
    #[error("left node {left} has a match, but its partner is marked as unknown")]
    KnownAndUnknown {
        /// The left node.
        left: usize,
    },
    /// A graph was described by a feature map other than the one it is used with.
    #[error("the {side} graph was described by another feature map")]
    OtherFeatures {
        /// Left or right.
        side: &'static str,
    },
    /// The caller's [`Control`](crate::Control) stopped the work before there was anything to answer with.
    #[error("interrupted")]
    Interrupted,
    /// Something is wrong with one of many inputs.
    #[error("{}", located(.place, .error))]
    At {
        /// Which one: a graph, a pair, a file.
        place: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// A weight was named that the features do not have.
    #[error("no weight is called {name:?}")]
    NoSuchWeight {
        /// The name.
        name: String,
    },
    /// There is nothing to learn from, or nothing to choose between.
    #[error("there are no examples")]
    NoExamples,
    /// A model file that cannot be read.
    #[error("not a usable model: {reason}")]
    ModelFile {
        /// What is wrong with it, with line and column where that makes sense.
        reason: String,
    },
    /// A data set that cannot be read or written.
    #[error("data set, {place}: {reason}")]
    DataSet {
        /// Where: line and column, or the field and the graph or pair it belongs to.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A file of a data set that was split for many machines cannot be used.
    #[error("{file}: {reason}")]
    Shard {
        /// Its name.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A text does not follow its format.
    #[error("{format}, line {line}: {reason}")]
    Malformed {
        /// The format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The columns of a table leave open what is meant.
    #[error("{format}, line {line}: {fault}")]
    Columns {
        /// The format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong with them.
        fault: ColumnFault,
    },
    /// A file whose name and contents do not say what it is.
    #[error("unrecognised file type; expected {}", .endings.join(", "))]
    UnknownFormat {
        /// How names of files end that are known.
        endings: &'static [&'static str],
    },
    /// A binary file does not follow its format.
    #[error("{format}: {reason}")]
    Unreadable {
        /// The format.
        format: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Scores so large that their sums are out of range.
    #[error("{what}: values as large as {largest:e} overflow when summed; rescale them")]
    Overflow {
        /// Which scores.
        what: &'static str,
        /// The largest of them in magnitude; infinite if a single one is already out of range.
        largest: f64,
    },
    /// The problem is too large for this method.
    #[error("{what}: {found} is more than the {limit} it can take")]
    TooLarge {
        /// Which count.
        what: &'static str,
        /// The maximum.
        limit: usize,
        /// The actual count.
        found: usize,
    },
    /// A setting has a value that makes no sense.
    #[error("setting {name} is {value}: it must be {limit}")]
    BadSetting {
        /// Its name, as in the settings struct.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        limit: Limit,
    },
}

/// What is wrong with the columns of a table: with the names, so that a shell can say what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnFault {
    /// A column that means nothing: a typing mistake in a header should not lose data.
    #[error("unknown column {column:?}{}", .meant.map_or_else(String::new, |meant| format!("; did you mean {meant:?}?")))]
    Unknown {
        /// Its name.
        column: String,
        /// The known name that it differs from by one slip.
        meant: Option<&'static str>,
    },
    /// Several columns may name the graph.
    #[error("each of {} may name the graph", .columns.join(", "))]
    Ambiguous {
        /// Their names, the likeliest first.
        columns: Vec<String>,
    },
    /// A column that was asked for does not exist.
    #[error("no column {column:?}; the columns are {}", .columns.join(", "))]
    Absent {
        /// Its name.
        column: String,
        /// The names that there are.
        columns: Vec<String>,
    },
    /// One column is asked for in two roles.
    #[error("the column {column:?} was given two meanings")]
    Twice {
        /// Its name.
        column: String,
    },
    /// There are neither points nor attributes.
    #[error("no columns x and y, nor columns such as nose_x and nose_y, nor an attribute; the columns are {}", .columns.join(", "))]
    Nothing {
        /// The names that there are.
        columns: Vec<String>,
    },
    /// An attribute has no value in a row.
    #[error("the attribute {column:?} is missing")]
    Empty {
        /// Its name.
        column: String,
    },
    /// An attribute in a table with one specimen per row would belong to no landmark.
    #[error("the attribute {column:?} belongs to no landmark: a row of this table is a whole specimen")]
    OfNoLandmark {
        /// Its name.
        column: String,
    },
}

/// An error with its place: a line follows the name of its file.
fn located(place: &str, error: &Error) -> String {
    match error {
        Error::Malformed { line, reason, .. } => format!("{place}, line {line}: {reason}"),
        Error::Columns { line, fault, .. } => format!("{place}, line {line}: {fault}"),
        Error::DataSet { place: inner, reason } => format!("{place}, {inner}: {reason}"),
        other => format!("{place}: {other}"),
    }
}

/// What sort of mistake an [`Error`] is: for programs that treat some of them specially.
///
/// ```
/// use homolog::{Error, ErrorKind};
/// let error = Error::BadCell { what: "node scores", row: 0, column: 2, value: f64::NAN };
/// let at = Error::At { place: "pair 3".into(), error: Box::new(error) };
/// assert_eq!(at.kind(), ErrorKind::Number);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A number that has no meaning where it is: NaN, an infinity, sums out of range.
    Number,
    /// Sizes, indices or lists that do not fit together.
    Shape,
    /// A graph lacks something that was asked for: points, an attribute.
    Missing,
    /// A name that nothing has, or that two things share.
    Name,
    /// Demands that contradict each other: seeds, forbidden pairs and partners.
    Contradiction,
    /// A solver does not solve such problems.
    Unsupported,
    /// More than a method can handle.
    TooLarge,
    /// A setting out of its range.
    Setting,
    /// A file or a text that does not follow its format.
    Format,
    /// A certificate that proves nothing.
    Certificate,
    /// There is nothing to learn from.
    NoExamples,
    /// The caller stopped the work before there was an answer.
    Interrupted,
}

impl Error {
    /// For work that has nothing to show before it is done.
    pub(crate) fn if_interrupted(control: &Control) -> Result<()> {
        if control.interrupted() { Err(Self::Interrupted) } else { Ok(()) }
    }

    /// What sort of mistake it is; for a mistake in one of many inputs, the sort of that mistake.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BadCell { .. } | Self::BadEntry { .. } | Self::Overflow { .. } => ErrorKind::Number,
            Self::Size { .. }
            | Self::OutOfRange { .. }
            | Self::SelfLoop { .. }
            | Self::ConflictingEdge { .. }
            | Self::NotAPermutation { .. }
            | Self::NotIncreasing { .. }
            | Self::OtherFeatures { .. } => ErrorKind::Shape,
            Self::Missing { .. } | Self::NoAttribute { .. } => ErrorKind::Missing,
            Self::UnknownName { .. } | Self::Repeated { .. } | Self::NoSuchWeight { .. } => ErrorKind::Name,
            Self::NotOneToOne { .. }
            | Self::TwoSeeds { .. }
            | Self::MissingSeed { .. }
            | Self::ForbiddenPair { .. }
            | Self::NoFullMatching { .. }
            | Self::KnownAndUnknown { .. } => ErrorKind::Contradiction,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::BadSetting { .. } => ErrorKind::Setting,
            Self::ModelFile { .. }
            | Self::DataSet { .. }
            | Self::Shard { .. }
            | Self::Malformed { .. }
            | Self::Columns { .. }
            | Self::UnknownFormat { .. }
            | Self::Unreadable { .. } => ErrorKind::Format,
            Self::BadCertificate { .. } => ErrorKind::Certificate,
            Self::NoExamples => ErrorKind::NoExamples,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::At { error, .. } => error.kind(),
        }
    }
}
