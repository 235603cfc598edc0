//! Costs of the allowed pairs, for sparse problems: a table with a row for each pair, or a Matrix Market file.
//!
//! The table has the columns `left`, `right` and `cost` (or `score`), by these names in its first row; nodes are counted from 0, and the
//! largest number says how many there are. A column in which some field is not a number has names instead, numbered as they first
//! occur. Matrix Market: `%%MatrixMarket matrix coordinate real general` (or `integer`, or `symmetric`),
//! comment lines with `%`, then rows, columns and entries, then for each entry its row and column, counted from 1, and its cost.

use super::table;
use super::{count, malformed, shorten};
use crate::Result;
use crate::matching::{Sense, Sparse};
use std::collections::{HashMap, HashSet};

const TABLE: &str = "costs of pairs";
const MARKET: &str = "Matrix Market";

/// Whether a text is a table of pairs rather than a matrix: its first row says so.
#[must_use]
pub fn is_table(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let heads: Vec<String> =
        first.split([',', ';', '\t']).map(|head| head.trim().trim_matches('"').to_lowercase()).collect();
    ["left", "right"].iter().all(|wanted| heads.iter().any(|head| head == wanted))
}

/// The pairs of a table, with the names of the nodes where it has names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPairs {
    /// What the pairs cost, or score.
    pub pairs: Sparse,
    /// The left nodes.
    pub left: Option<Vec<String>>,
    /// The right nodes.
    pub right: Option<Vec<String>>,
}

/// Reads a table of pairs.
///
/// # Errors
/// [`Error::Malformed`](crate::Error::Malformed) with the line and the reason; a pair given twice.
///
/// ```
/// use homolog::data::pair_costs::read_csv;
/// use homolog::matching::Sense;
/// let table = read_csv("left,right,cost\n0,1,2.5\n2,0,1\n", Sense::Minimize)?;
/// let problem = &table.pairs;
/// assert_eq!((problem.left_count(), problem.right_count(), problem.pair_score(0, 1)), (3, 2, Some(-2.5)));
/// let table = read_csv("left,right,cost\ntrack7,0,2.5\ntrack9,1,1\n", Sense::Minimize)?;
/// assert_eq!(table.left, Some(vec!["track7".to_string(), "track9".to_string()]));
/// # Ok::<(), homolog::Error>(())
/// ```
pub fn read_csv(text: &str, sense: Sense) -> Result<NamedPairs> {
    let mut rows = table::rows(TABLE, text)?;
    let Some(heads) = rows.next().transpose()? else { return malformed(TABLE, 1, "there is no first row with names") };
    let find = |names: &[&str]| {
        let of = |head: &str| names.iter().any(|name| head.eq_ignore_ascii_case(name));
        let found = heads.fields.iter().position(of);
        found.map_or_else(
            || malformed(TABLE, heads.line, format!("there is no column called {}", names.join(" or "))),
            Ok,
        )
    };
    let (left, right, cost) = (find(&["left"])?, find(&["right"])?, find(&["cost", "score"])?);
    let (mut lines, mut words, mut values) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
    for row in rows {
        let row = row?;
        let field = |at: usize| row.fields.get(at).unwrap_or_default();
        values.push(value(TABLE, row.line, field(cost), sense)?);
        for (words, at) in words.iter_mut().zip([left, right]) {
            words.push(field(at).to_string());
        }
        lines.push(row.line);
    }
    if lines.is_empty() {
        return malformed(TABLE, heads.line, "a header without any row below it: no pair is given");
    }
    let [left, right] = words;
    let (left, right) = (Nodes::of(left, &lines)?, Nodes::of(right, &lines)?);
    let numbers = left.numbers.iter().zip(&right.numbers);
    let pairs: Vec<_> = numbers.zip(values).map(|((&i, &k), value)| (i, k, value)).collect();
    if let (true, Some(at)) = (left.names.is_some() || right.names.is_some(), first_again(&pairs)) {
        let (i, k, _) = pairs[at];
        let reason = format!("duplicate pair: left \"{}\", right \"{}\"", left.name(i), right.name(k));
        return malformed(TABLE, lines[at], reason);
    }
    let pairs = Sparse::from_pairs(left.count, right.count, pairs, sense)?;
    Ok(NamedPairs { pairs, left: left.names, right: right.names })
}

/// A column of nodes.
struct Nodes {
    /// The node of every row.
    numbers: Vec<usize>,
    /// How many nodes there are.
    count: usize,
    names: Option<Vec<String>>,
}

impl Nodes {
    /// By number where all fields are numbers, else by name.
    fn of(words: Vec<String>, lines: &[usize]) -> Result<Self> {
        let mut nodes = Self { numbers: Vec::with_capacity(words.len()), count: 0, names: None };
        if words.iter().all(|word| word.parse::<f64>().is_ok()) {
            for (word, &line) in words.iter().zip(lines) {
                let number = count(TABLE, line, word)?;
                if number >= MOST_NODES {
                    let reason = format!("node {number} is beyond the {MOST_NODES} that there may be");
                    return malformed(TABLE, line, reason);
                }
                nodes.numbers.push(number);
                nodes.count = nodes.count.max(number + 1);
            }
            return Ok(nodes);
        }
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut names = Vec::new();
        for (word, &line) in words.into_iter().zip(lines) {
            if word.is_empty() {
                return malformed(TABLE, line, "a node has no name");
            }
            let number = *numbers.entry(word).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            });
            nodes.numbers.push(number);
        }
        Ok(Self { count: names.len(), names: Some(names), ..nodes })
    }

    /// What a node is called in the table.
    fn name(&self, node: usize) -> String {
        self.names.as_ref().map_or_else(|| node.to_string(), |names| shorten(&names[node]))
    }
}

/// The first pair that stands before it already.
fn first_again(pairs: &[(usize, usize, f64)]) -> Option<usize> {
    let mut seen = HashSet::new();
    pairs.iter().position(|&(i, k, _)| !seen.insert((i, k)))
}

/// A typing mistake in a number should not take the machine down.
const MOST_NODES: usize = 1 << 26;

/// Reads a Matrix Market file.
///
/// # Errors
/// As [`read_csv`]; a kind of matrix that is not a list of costs.
pub fn read_market(text: &str, sense: Sense) -> Result<Sparse> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let head = lines.next().map(|(_, line)| line.to_lowercase()).unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let is_symmetric = match words[..] {
        [
            "%%matrixmarket",
            "matrix",
            "coordinate",
            "real" | "integer" | "double",
            symmetry @ ("general" | "symmetric"),
        ] => symmetry == "symmetric",
        ["%%matrixmarket", ..] => {
            let reason = "only \"matrix coordinate\" of \"real\" or \"integer\" numbers, \"general\" or \"symmetric\", has costs of pairs";
            return malformed(MARKET, 1, reason);
        }
        _ => return malformed(MARKET, 1, "the first line does not begin with %%MatrixMarket"),
    };
    let mut rest = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let Some((line, sizes)) = rest.next() else { return malformed(MARKET, 1, "the line with the sizes is missing") };
    let sizes = fields::<3>(line, sizes)?;
    let (n, m, entries) =
        (count(MARKET, line, sizes[0])?, count(MARKET, line, sizes[1])?, count(MARKET, line, sizes[2])?);
    if n.max(m) > MOST_NODES {
        return malformed(MARKET, line, format!("there may be at most {MOST_NODES} rows and columns"));
    }
    let (mut pairs, mut found, mut last) = (Vec::new(), 0, line);
    for (line, text) in rest {
        let [row, column, cost] = fields::<3>(line, text)?;
        let place = |word: &str, most: usize| match count(MARKET, line, word)? {
            number if (1..=most).contains(&number) => Ok(number - 1),
            number => malformed(MARKET, line, format!("{number} is not from 1 to {most}")),
        };
        let (i, k, value) = (place(row, n)?, place(column, m)?, value(MARKET, line, cost, sense)?);
        pairs.push((i, k, value));
        if is_symmetric && i != k {
            pairs.push((k, i, value));
        }
        (found, last) = (found + 1, line);
    }
    if found != entries {
        return malformed(MARKET, last, format!("there are {found} entries, the sizes say {entries}"));
    }
    if is_symmetric && n != m {
        return malformed(MARKET, line, "a symmetric matrix has as many rows as columns");
    }
    Sparse::from_pairs(n, m, pairs, sense)
}

fn fields<const COUNT: usize>(line: usize, text: &str) -> Result<[&str; COUNT]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = words.len();
    words.try_into().or_else(|_| malformed(MARKET, line, format!("there are {found} fields instead of {COUNT}")))
}

/// A finite number, or the infinity that forbids the pair.
fn value(format: &'static str, line: usize, word: &str, sense: Sense) -> Result<f64> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value == sense.forbidden() && !word.bytes().any(|byte| byte.is_ascii_digit()) => Ok(value),
        _ => malformed(format, line, format!("\"{}\" is not a finite number", shorten(word))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_refused() {
        assert!(is_table("left;right;cost\n") && is_table("\u{feff}\"Left\",x,RIGHT\n") && !is_table("1,2\n3,4\n"));
        let columns = read_csv("score;right;left\n1;0;2\n-inf;1;0\n", Sense::Maximize).unwrap().pairs;
        assert_eq!((columns.left_count(), columns.right_count(), columns.pair_count()), (3, 2, 1));
        let refuse = |text: &str, reason: &str| {
            let error = read_csv(text, Sense::Minimize).unwrap_err().to_string();
            assert!(error.contains(reason), "{error:?} does not say {reason:?}");
        };
        refuse("", "no first row");
        refuse("left,right\n0,1\n", "line 1: there is no column called cost or score");
        refuse("left,right,cost\n0,-1,2\n", "line 2: \"-1\" is not a whole number");
        refuse("left,right,cost\n0,1,2\n\n0,1,x\n", "line 4: \"x\" is not a finite number");
        refuse("left,right,cost\n0,1,1e999\n", "not a finite number");
        refuse("left,right,cost\n0,1,2\n0,1,3\n", "\"left 0, right 1\" occurs twice");
        refuse("left,right,cost\n99999999999,1,2\n", "beyond");
        refuse("left,right,cost\n1.5,1,2\n", "line 2: \"1.5\" is not a whole number");
    }

    #[test]
    fn nodes_may_have_names() {
        let table = read_csv("left,right,cost\nb,7,1\na,x,2\nb,x,3\n", Sense::Minimize).unwrap();
        assert_eq!(table.left, Some(vec!["b".to_string(), "a".to_string()]));
        assert_eq!(table.right, Some(vec!["7".to_string(), "x".to_string()]));
        assert_eq!((table.pairs.pair_score(0, 1), table.pairs.pair_count()), (Some(-3.0), 3));
        // One side only.
        let table = read_csv("left,right,cost\nb,2,1\na,0,2\n", Sense::Minimize).unwrap();
        assert_eq!((table.right, table.pairs.right_count()), (None, 3));
        let refuse = |text: &str, reason: &str| {
            let error = read_csv(text, Sense::Minimize).unwrap_err().to_string();
            assert!(error.contains(reason), "{error:?} does not say {reason:?}");
        };
        refuse("left,right,cost\nb,0,1\n,0,2\n", "line 3: a node has no name");
        refuse("left,right,cost\nb,0,1\na,1,2\nb,0,2\n", "line 4: duplicate pair: left \"b\", right \"0\"");
    }

    #[test]
    fn matrix_market_is_read_and_refused() {
        let head = "%%MatrixMarket matrix coordinate real general\n";
        let text = format!("{head}% made by hand\n2 3 2\n1 3 0.5\n2 1 -4\n");
        let problem = read_market(&text, Sense::Minimize).unwrap();
        assert_eq!((problem.pair_score(0, 2), problem.pair_score(1, 0)), (Some(-0.5), Some(4.0)));
        let both = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 5\n";
        assert_eq!(read_market(both, Sense::Maximize).unwrap().pair_count(), 3);
        let refuse = |text: &str, reason: &str| {
            let error = read_market(text, Sense::Minimize).unwrap_err().to_string();
            assert!(error.contains(reason), "{error:?} does not say {reason:?}");
        };
        refuse("", "line 1: the first line");
        refuse("%%MatrixMarket matrix array real general\n2 2\n", "line 1: only");
        refuse(&format!("{head}2 2 1\n3 1 1\n"), "line 3: 3 is not from 1 to 2");
        refuse(&format!("{head}2 2 2\n1 1 1\n"), "there are 1 entries, the sizes say 2");
        refuse(&format!("{head}2 2 1\n1 1\n"), "line 3: there are 2 fields instead of 3");
        refuse(head, "sizes");
    }
}
