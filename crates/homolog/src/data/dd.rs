//! The `.dd` format of graph matching problems (dual decomposition; Torresani, Kolmogorov and Rother 2008).
//!
//! ```text
//! p <left nodes> <right nodes> <assignments> <edges>
//! a <assignment> <left node> <right node> <cost>
//! e <assignment> <assignment> <cost>
//! ```
//!
//! All indices start at 0. The costs of the chosen assignments, and of the pairs of them on `e` lines, each unordered pair once,
//! are minimised; pairs of nodes without an assignment are forbidden; every left node may stay unmatched at no cost. As a
//! [`Compatibility`]: scores are negated costs, the price of staying unmatched is 0, edges are listed one by one.
//!
//! Empty lines, comments (`c`, `#`) and the lines that only describe a picture of the graphs (`i0`, `i1`, `n0`, `n1`) are skipped. A
//! pair on an `e` line that can never occur, because both assignments use the same left or the same right node, is dropped. Several
//! `e` lines for one pair add up.

use super::{check_cells, count, malformed, number};
use crate::matching::{Compatibility, Constraint, EdgeList, EdgeTerm};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use std::fmt::Write;
use std::sync::Arc;

const FORMAT: &str = ".dd";
/// An assignment that has not been given yet.
const NO_CELL: u32 = u32::MAX;
/// The bytes of "a 0 0 0 0" and of "e 0 1 0": a text that promises more lines than it has room for is refused at once.
const SHORTEST_ASSIGNMENT: usize = 9;
const SHORTEST_EDGE: usize = 7;
/// A table of all pairs may come from few lines, but a large one not from hardly any: a hundred lines of text must not take a gigabyte.
const FEW_CELLS: usize = 1 << 20;
const CELLS_PER_BYTE: usize = 1 << 10;

/// Reads a problem.
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
///
/// ```
/// let problem = homolog::data::dd::read("p 1 2 2 0\na 0 0 0 -1.5\na 1 0 1 2\n")?;
/// assert_eq!(problem.node, ndarray::array![[1.5, -2.0]]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read(text: &str) -> Result<Compatibility> {
    let mut reader: Option<Reader> = None;
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        last = at + 1;
        let words: Vec<&str> = line.split_whitespace().take(6).collect();
        let Some(&kind) = words.first() else { continue };
        if kind.starts_with('#') || ["c", "i0", "i1", "n0", "n1"].contains(&kind) {
            continue;
        }
        match (&mut reader, kind) {
            (None, "p") => reader = Some(Reader::new(last, &words, text.len())?),
            (None, _) => return malformed(FORMAT, last, "the first line must be the header \"p ...\""),
            (Some(_), "p") => return malformed(FORMAT, last, "there is a header already"),
            (Some(reader), "a") => reader.assignment(last, &words)?,
            (Some(reader), "e") => reader.edge(last, &words)?,
            _ => return malformed(FORMAT, last, format!("unknown kind of line \"{}\"", super::shorten(kind))),
        }
    }
    match reader {
        Some(reader) => reader.finish(last),
        None => malformed(FORMAT, last.max(1), "there is no header \"p ...\""),
    }
}

struct Reader {
    node: Array2<f64>,
    assignment_count: usize,
    edge_count: usize,
    /// The cell of each assignment: left node times number of right nodes plus right node; [`NO_CELL`] if none was given yet.
    cells: Vec<u32>,
    assignments_seen: usize,
    edges_seen: usize,
    /// Left pair, right pair, score; left nodes in increasing order.
    edges: Vec<([usize; 2], [usize; 2], f64)>,
}

impl Reader {
    fn new(line: usize, words: &[&str], text_length: usize) -> Result<Self> {
        expect_words(line, words, 5)?;
        let [n, m, assignment_count, edge_count] = [1, 2, 3, 4].map(|at| count(FORMAT, line, words[at]));
        let (n, m, assignment_count, edge_count) = (n?, m?, assignment_count?, edge_count?);
        if let Err(error) = check_cells(n, m) {
            return malformed(FORMAT, line, format!("{n} by {m} nodes are too many: {error}"));
        }
        let cells = n * m;
        if assignment_count > cells {
            let reason = format!("{assignment_count} assignments, but only {cells} pairs of nodes");
            return malformed(FORMAT, line, reason);
        }
        for (what, count, shortest) in
            [("assignments", assignment_count, SHORTEST_ASSIGNMENT), ("edges", edge_count, SHORTEST_EDGE)]
        {
            if count > text_length / shortest {
                let reason =
                    format!("the header promises {count} {what}, more than the {text_length} bytes of the text hold");
                return malformed(FORMAT, line, reason);
            }
        }
        if cells > FEW_CELLS.max(text_length.saturating_mul(CELLS_PER_BYTE)) {
            let reason = format!("{n} by {m} nodes are too many for the assignments that {text_length} bytes hold");
            return malformed(FORMAT, line, reason);
        }
        Ok(Self {
            node: Array2::from_elem((n, m), f64::NEG_INFINITY),
            assignment_count,
            edge_count,
            cells: vec![NO_CELL; assignment_count],
            assignments_seen: 0,
            edges_seen: 0,
            edges: Vec::new(),
        })
    }

    fn assignment(&mut self, line: usize, words: &[&str]) -> Result<()> {
        expect_words(line, words, 5)?;
        let id = index(line, words[1], "assignment", self.assignment_count)?;
        let left = index(line, words[2], "left node", self.node.nrows())?;
        let right = index(line, words[3], "right node", self.node.ncols())?;
        let cost = number(FORMAT, line, words[4])?;
        if self.cells[id] != NO_CELL {
            return malformed(FORMAT, line, format!("assignment {id} was given before"));
        }
        if self.node[[left, right]] > f64::NEG_INFINITY {
            return malformed(
                FORMAT,
                line,
                format!("left node {left} and right node {right} have an assignment already"),
            );
        }
        // Below 2^32: there are fewer cells.
        self.cells[id] = u32::try_from(left * self.node.ncols() + right).unwrap_or(NO_CELL);
        // 0 - 0 is 0, where -0 would be minus zero.
        self.node[[left, right]] = 0.0 - cost;
        self.assignments_seen += 1;
        Ok(())
    }

    fn edge(&mut self, line: usize, words: &[&str]) -> Result<()> {
        expect_words(line, words, 4)?;
        let mut ends = [(0, 0); 2];
        let mut ids = [0; 2];
        for (side, word) in words[1..3].iter().enumerate() {
            ids[side] = index(line, word, "assignment", self.assignment_count)?;
            if self.cells[ids[side]] == NO_CELL {
                return malformed(FORMAT, line, format!("assignment {} comes after its edge, or never", ids[side]));
            }
            let (cell, columns) = (self.cells[ids[side]] as usize, self.node.ncols());
            ends[side] = (cell / columns, cell % columns);
        }
        let cost = number(FORMAT, line, words[3])?;
        if ids[0] == ids[1] {
            return malformed(FORMAT, line, format!("assignment {} is paired with itself", ids[0]));
        }
        self.edges_seen += 1;
        ends.sort_unstable();
        let [(i, k), (j, l)] = ends;
        if i != j && k != l {
            self.edges.push(([i, j], [k, l], 0.0 - cost));
        }
        Ok(())
    }

    fn finish(self, line: usize) -> Result<Compatibility> {
        for (what, expected, found) in
            [("assignments", self.assignment_count, self.assignments_seen), ("edges", self.edge_count, self.edges_seen)]
        {
            if expected != found {
                return malformed(FORMAT, line, format!("the header promises {expected} {what}, there are {found}"));
            }
        }
        let (n, m) = self.node.dim();
        let edge = if self.edges.is_empty() { None } else { Some(edge_term(n, m, &self.edges)?) };
        Ok(Compatibility { edge, ..Compatibility::linear(self.node).with_unmatched(Array1::zeros(n)) })
    }
}

fn index(line: usize, word: &str, what: &str, limit: usize) -> Result<usize> {
    let index = count(FORMAT, line, word)?;
    if index >= limit {
        return malformed(FORMAT, line, format!("{what} {index} is out of range, there are {limit}"));
    }
    Ok(index)
}

fn expect_words(line: usize, words: &[&str], expected: usize) -> Result<()> {
    if words.len() == expected {
        return Ok(());
    }
    malformed(FORMAT, line, format!("a line \"{}\" has {expected} fields", words[0]))
}

fn edge_term(n: usize, m: usize, edges: &[([usize; 2], [usize; 2], f64)]) -> Result<EdgeTerm> {
    let left = Arc::new(EdgeList::new(n, edges.iter().map(|edge| edge.0).collect())?);
    let right = Arc::new(EdgeList::new(m, edges.iter().map(|edge| edge.1).collect())?);
    let entry =
        |&([i, j], [k, l], score): &([usize; 2], [usize; 2], f64)| Some((left.find(i, j)?, right.find(k, l)?, score));
    let entries = edges.iter().filter_map(entry).collect();
    EdgeTerm::listed(Arc::clone(&left), Arc::clone(&right), entries)
}

/// Writes a problem; reading it back gives the same scores, bit for bit.
///
/// # Errors
/// What the format cannot express: many-to-one problems, and nodes that must be matched or have a price other than 0 for staying
/// unmatched; and what [`Compatibility::check`] refuses.
pub fn write(problem: &Compatibility) -> Result<String> {
    problem.check()?;
    let unsupported = |what| Err(Error::Unsupported { solver: "the .dd format", what });
    if problem.constraint == Constraint::ManyToOne {
        return unsupported("many-to-one matchings");
    }
    if problem.right_unmatched.iter().flatten().any(|&score| score != 0.0) {
        return unsupported("prices of right nodes");
    }
    if (0..problem.left_count()).any(|i| problem.unmatched_score(i) != 0.0) {
        return unsupported("a price of staying unmatched other than 0");
    }
    let (n, m) = problem.node.dim();
    let mut lines = String::new();
    let mut ids = Array2::from_elem((n, m), None);
    let mut assignment_count = 0;
    for ((i, k), &score) in problem.node.indexed_iter().filter(|&(_, &score)| score > f64::NEG_INFINITY) {
        ids[[i, k]] = Some(assignment_count);
        push(&mut lines, format_args!("a {assignment_count} {i} {k} {:?}", 0.0 - score));
        assignment_count += 1;
    }
    let edges = problem.edge.as_ref().map(pair_scores).unwrap_or_default();
    let mut edge_count = 0;
    for ([i, k], [j, l], score) in edges {
        if let (Some(first), Some(second)) = (ids[[i, k]], ids[[j, l]]) {
            push(&mut lines, format_args!("e {first} {second} {:?}", 0.0 - score));
            edge_count += 1;
        }
    }
    Ok(format!("p {n} {m} {assignment_count} {edge_count}\n{lines}"))
}

fn push(lines: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(lines, "{line}");
}

/// d(ij, kl) + d(ji, lk) for i < j wherever it is not zero: ((i, k), (j, l), score), sorted.
fn pair_scores(edge: &EdgeTerm) -> Vec<([usize; 2], [usize; 2], f64)> {
    let mut scores = Vec::new();
    for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
        let mut add = |f: usize| {
            let ([k, l], score) = (edge.right_edges().ends()[f], edge.value(e, f));
            if score != 0.0 {
                scores.push(if i < j { ([i, k], [j, l], score) } else { ([j, l], [i, k], score) });
            }
        };
        if edge.left_factors().ncols() > 0 {
            (0..edge.right_edges().len()).for_each(add);
        } else {
            edge.listed_of(e).iter().for_each(|&(f, _)| add(f));
        }
    }
    scores.sort_by_key(|&(first, second, _)| (first, second));
    scores.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    scores
}
