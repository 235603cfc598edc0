//! Cost matrices: one row per left node, one column per right node, to be minimised; or scores, to be maximised.
//!
//! As text: numbers separated by commas, semicolons, tabs or blanks. The first row may be a header with the names of the right nodes,
//! and then the first column may have those of the left nodes. A pair is forbidden if its field is empty or has the
//! infinity that no matching would choose: `inf` among costs, `-inf` among scores. NaN and the other infinity are refused, saying where.

use super::table;
use super::{malformed, shorten};
use crate::matching::{Compatibility, MAX_CELLS, Sense};
use crate::{Error, Result};
use ndarray::Array2;

const FORMAT: &str = "cost matrix";
/// What is wrong with minus infinity among costs, and with plus infinity among scores.
const AT_ANY_PRICE: &str = "would be taken at any price; are these costs or scores?";

/// Reads a matrix; forbidden pairs have [`Sense::forbidden`].
///
/// # Errors
/// [`Error::Malformed`] with the line and the reason.
///
/// ```
/// use homolog::data::cost_matrix::read_csv;
/// use homolog::matching::Sense;
/// let costs = read_csv("1,2.5\n,-3\n", Sense::Minimize)?;
/// assert_eq!(costs, ndarray::array![[1.0, 2.5], [f64::INFINITY, -3.0]]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_csv(text: &str, sense: Sense) -> Result<Array2<f64>> {
    read_named(text, sense).map(|named| named.values)
}

/// A matrix with the names of its rows and columns, if the text has them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMatrix {
    /// Costs or scores.
    pub values: Array2<f64>,
    /// The left nodes.
    pub left: Option<Vec<String>>,
    /// The right nodes.
    pub right: Option<Vec<String>>,
}

/// Reads a matrix with its names. The first row is a header if none of its fields is a number (its first field may be empty); then
/// the first column has names if the header's first field is empty or the first field of the second row is not a number. Rows and columns
/// may also be numbered from 0, as pandas writes a table without names: an empty field, 0, 1, 2, ..., and 0 before the second row.
///
/// # Errors
/// As [`read_csv`]; a name that occurs twice.
///
/// ```
/// use homolog::data::cost_matrix::read_named;
/// use homolog::matching::Sense;
/// let named = read_named(",cat,dog\nanna,1,2\nbert,3,4\n", Sense::Minimize)?;
/// assert_eq!(named.values, ndarray::array![[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(named.left.unwrap(), ["anna", "bert"]);
/// assert_eq!(named.right.unwrap(), ["cat", "dog"]);
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_named(text: &str, sense: Sense) -> Result<NamedMatrix> {
    let mut matrix = Growing { sense, ..Growing::default() };
    if separated_by_blanks(text) {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (index, line) in lines {
            matrix.add(index + 1, line.split_whitespace())?;
        }
    } else {
        for row in table::rows(FORMAT, text)? {
            let row = row?;
            matrix.add(row.line, row.fields.iter())?;
        }
    }
    matrix.finish()
}

/// As `numpy.savetxt` writes it by default.
fn separated_by_blanks(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    !first.contains([',', ';', '\t']) && first.split_whitespace().count() > 1
}

/// A matrix being read.
#[derive(Default)]
struct Growing {
    values: Vec<f64>,
    /// Rows so far, not counting the header.
    rows: usize,
    /// Fields of the first row.
    fields: usize,
    header: Option<Vec<String>>,
    header_line: usize,
    /// A first row that is a header if the second row is numbered too, and its line.
    numbered: Option<(usize, Vec<String>)>,
    /// Whether the first column has names, and those.
    left: Option<Vec<String>>,
    sense: Sense,
}

impl Growing {
    fn add<'a>(&mut self, line: usize, fields: impl Iterator<Item = &'a str>) -> Result<()> {
        let fields: Vec<&str> = fields.collect();
        if let Some((first_line, first)) = self.numbered.take() {
            if fields.first() == Some(&"0") {
                (self.fields, self.header, self.header_line) = (first.len(), Some(first), first_line);
            } else {
                self.add_row(first_line, &first.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
        } else if self.rows == 0 && self.header.is_none() && is_numbered(&fields) {
            self.numbered = Some((line, fields.into_iter().map(str::to_string).collect()));
            return Ok(());
        }
        self.add_row(line, &fields)
    }

    fn add_row(&mut self, line: usize, fields: &[&str]) -> Result<()> {
        let is_name = |field: &str| !field.is_empty() && field.parse::<f64>().is_err();
        let first_is_corner = fields.len() > 1 && fields[0].is_empty();
        let is_header = fields[usize::from(first_is_corner)..].iter().copied().all(is_name);
        if self.rows == 0 && self.header.is_none() && is_header {
            self.fields = fields.len();
            (self.header, self.header_line) = (Some(fields.iter().map(ToString::to_string).collect()), line);
            return Ok(());
        }
        let mut fields = fields;
        if self.rows == 0 {
            let corner = self.header.as_ref().map(|header| header.first().is_none_or(String::is_empty));
            let named = corner.is_some_and(|is_empty| is_empty || fields.first().copied().is_some_and(is_name));
            self.left = named.then(Vec::new);
            // As R writes a matrix: the header has no field for the names of the rows.
            let without_corner = named && fields.len() == self.fields + 1;
            if self.header.is_none() || without_corner {
                self.fields = fields.len();
            }
        }
        if fields.len() != self.fields {
            let found = fields.len();
            return malformed(FORMAT, line, format!("this row has {found} fields, the first has {}", self.fields));
        }
        if let (Some(left), Some((name, rest))) = (&mut self.left, fields.split_first()) {
            left.push((*name).to_string());
            fields = rest;
        }
        self.rows += 1;
        let first = self.fields - fields.len();
        for (column, field) in fields.iter().enumerate() {
            self.values.push(cell(field, self.sense).or_else(|reason| {
                malformed(FORMAT, line, format!("column {}: \"{}\" {reason}", first + column + 1, shorten(field)))
            })?);
        }
        if self.values.len() > MAX_CELLS {
            return malformed(FORMAT, line, format!("there are more than {MAX_CELLS} cells"));
        }
        Ok(())
    }
}

impl Growing {
    fn finish(mut self) -> Result<NamedMatrix> {
        if let Some((line, only)) = self.numbered.take() {
            self.add_row(line, &only.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        if let (Some(header), 0) = (&self.header, self.rows) {
            let reason = format!("a header of {} names without any row of numbers below it", header.len());
            return malformed(FORMAT, self.header_line, reason);
        }
        let columns = self.fields - usize::from(self.left.is_some());
        let rows = if columns == 0 { 0 } else { self.rows };
        let values = Array2::from_shape_fn((rows, columns), |(row, column)| self.values[row * columns + column]);
        // The corner above the names of the rows, if there is one, is not the name of a column.
        let right = self.header.map(|mut header| header.split_off(header.len().saturating_sub(columns)));
        for names in [&self.left, &right].into_iter().flatten() {
            let mut seen = std::collections::BTreeSet::new();
            if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
                return malformed(FORMAT, 1, format!("duplicate name {:?}", shorten(name)));
            }
        }
        Ok(NamedMatrix { values, left: self.left, right })
    }
}

/// Whether these are an empty field, 0, 1, 2, ...
fn is_numbered(fields: &[&str]) -> bool {
    let numbers = fields.iter().skip(1).enumerate();
    fields.len() > 2 && fields[0].is_empty() && numbers.into_iter().all(|(number, field)| *field == number.to_string())
}

fn cell(field: &str, sense: Sense) -> std::result::Result<f64, &'static str> {
    if field.is_empty() {
        return Ok(sense.forbidden());
    }
    match field.parse::<f64>() {
        Err(_) => Err("is not a number"),
        Ok(value) if value.is_nan() => Err("has no meaning; leave the field of a forbidden pair empty"),
        Ok(value) if value == -sense.forbidden() => Err(AT_ANY_PRICE),
        // A number too large for 64 bits is not a forbidden pair.
        Ok(value) if value.is_infinite() && field.bytes().any(|byte| byte.is_ascii_digit()) => Err("is out of range"),
        Ok(value) => Ok(value),
    }
}

/// The problem of a matrix: every left node must be matched as far as that is possible.
///
/// # Errors
/// NaN, or the infinity that would be taken at any price, with its position; more cells than a problem may have.
pub fn problem(matrix: Array2<f64>, sense: Sense) -> Result<Compatibility> {
    if matrix.len() > MAX_CELLS {
        return Err(Error::TooLarge { what: "cells of a cost matrix", limit: MAX_CELLS, found: matrix.len() });
    }
    let bad = |value: f64| value.is_nan() || value == -sense.forbidden();
    if let Some(((row, column), &value)) = matrix.indexed_iter().find(|&(_, &value)| bad(value)) {
        let reason = if value.is_nan() { "has no meaning" } else { AT_ANY_PRICE };
        return Err(Error::Unreadable {
            format: FORMAT,
            reason: format!("{value} at row {row}, column {column} {reason}"),
        });
    }
    Ok(Compatibility::linear(matrix.mapv_into(|value| sense.turn(value))))
}
