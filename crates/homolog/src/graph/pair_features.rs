//! [`PairFeatures`]: named numbers of pairs of nodes: x_f(i, k) for left node i and right node k, such as the overlap of two boxes or the cosine of
//! two appearance vectors. They belong to a pair of graphs as attributes belong to one graph.
//!
//! Only listed pairs of nodes may be matched: from tables those without an infinity, from a list those in it. Stored by rows of left nodes, sorted
//! by right node; a number takes 8 bytes and a pair of nodes 8 more.

use super::attributes::repeated;
use crate::matching::Matching;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1, ArrayView2};
use std::ops::Range;

/// Named numbers of the pairs of nodes that may be matched.
///
/// ```
/// use homolog::graph::PairFeatures;
/// use ndarray::array;
/// let tables = [array![[0.1, 0.9], [0.8, f64::INFINITY]]];
/// let features = PairFeatures::of_tables(vec!["distance".to_string()], &tables)?;
/// assert_eq!((features.len(), features.allows(1, 1)), (3, false));
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PairFeatures {
    names: Vec<String>,
    right_count: usize,
    /// Where the pairs of each left node begin; one more than there are left nodes.
    starts: Vec<usize>,
    rights: Vec<usize>,
    /// One row per listed pair, one column per name.
    values: Array2<f64>,
}

impl PairFeatures {
    /// One table (left, right) per name. A pair with an infinity in any of them must not be matched.
    ///
    /// # Errors
    /// Too many or too few names, one that occurs twice; no tables, or tables of different sizes; NaN, with the name and the place.
    pub fn of_tables(names: Vec<String>, tables: &[Array2<f64>]) -> Result<Self> {
        let Some(first) = tables.first() else {
            return Err(Error::Size { what: "tables of pair features", expected: 1, found: 0 });
        };
        check_names(&names, tables.len())?;
        let (n, m) = first.dim();
        for (name, table) in names.iter().zip(tables) {
            for (what, expected, found) in [("rows", n, table.nrows()), ("columns", m, table.ncols())] {
                if expected != found {
                    return Err(of(name, Error::Size { what, expected, found }));
                }
            }
            if let Some(((row, column), &value)) = table.indexed_iter().find(|(_, value)| value.is_nan()) {
                return Err(of(name, Error::BadCell { what: "values", row, column, value }));
            }
        }
        let (mut starts, mut rights, mut values) = (vec![0], Vec::with_capacity(n * m), Vec::new());
        for i in 0..n {
            for k in 0..m {
                if tables.iter().all(|table| table[[i, k]].is_finite()) {
                    rights.push(k);
                    values.extend(tables.iter().map(|table| table[[i, k]]));
                }
            }
            starts.push(rights.len());
        }
        Ok(Self { values: shaped(values, rights.len(), names.len())?, names, right_count: m, starts, rights })
    }

    /// A list of the pairs (left, right) that may be matched, in any order, with a row of numbers for each, one per name.
    ///
    /// # Errors
    /// Too many or too few names, one that occurs twice; a row too many or too few; a node that does not exist; a pair that is listed twice; a number
    /// that is not finite.
    pub fn of_list(
        names: Vec<String>,
        (left_count, right_count): (usize, usize),
        pairs: &[[usize; 2]],
        rows: ArrayView2<'_, f64>,
    ) -> Result<Self> {
        check_names(&names, rows.ncols())?;
        if pairs.len() != rows.nrows() {
            return Err(Error::Size { what: "rows of pair features", expected: pairs.len(), found: rows.nrows() });
        }
        for (what, side, count) in [("left nodes", 0, left_count), ("right nodes", 1, right_count)] {
            if let Some(pair) = pairs.iter().find(|pair| pair[side] >= count) {
                return Err(Error::OutOfRange { what, index: pair[side], count });
            }
        }
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|&at| pairs[at]);
        if let Some(two) = order.windows(2).find(|two| pairs[two[0]] == pairs[two[1]]) {
            let [left, right] = pairs[two[0]];
            return Err(Error::Repeated { what: "listed pairs", name: format!("left {left}, right {right}") });
        }
        let (mut starts, mut values) = (vec![0; left_count + 1], Vec::with_capacity(rows.len()));
        for &at in &order {
            let [row, column] = pairs[at];
            starts[row + 1] += 1;
            for (name, &value) in names.iter().zip(rows.row(at)) {
                if !value.is_finite() {
                    return Err(of(name, Error::BadCell { what: "values", row, column, value }));
                }
                values.push(value);
            }
        }
        (0..left_count).for_each(|i| starts[i + 1] += starts[i]);
        let rights = order.iter().map(|&at| pairs[at][1]).collect();
        Ok(Self { values: shaped(values, order.len(), names.len())?, names, right_count, starts, rights })
    }

    /// A name for each number.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many left nodes there are.
    #[must_use]
    pub fn left_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many right nodes there are.
    #[must_use]
    pub fn right_count(&self) -> usize {
        self.right_count
    }

    /// How many pairs may be matched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rights.len()
    }

    /// Whether no pair may be matched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rights.is_empty()
    }

    /// Whether every pair may be matched.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.left_count() * self.right_count
    }

    /// All pairs that may be matched, (left, right), in order: one per row of [`Self::values`].
    pub fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        (0..self.left_count()).flat_map(|i| self.rights[self.range(i)].iter().map(move |&k| [i, k]))
    }

    /// One row per pair that may be matched, one column per name.
    #[must_use]
    pub fn values(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }

    /// Whether two nodes may be matched.
    #[must_use]
    pub fn allows(&self, left: usize, right: usize) -> bool {
        self.row(left, right).is_some()
    }

    /// The numbers of two nodes; `None` if they must not be matched.
    #[must_use]
    pub fn row(&self, left: usize, right: usize) -> Option<ArrayView1<'_, f64>> {
        if left >= self.left_count() {
            return None;
        }
        let range = self.range(left);
        let rights = &self.rights[range.clone()];
        // In a full row a node is at its own place.
        let at = if rights.get(right) == Some(&right) { right } else { rights.binary_search(&right).ok()? };
        Some(self.values.row(range.start + at))
    }

    /// Refuses a matching that uses a pair that is not listed.
    ///
    /// # Errors
    /// The first such pair.
    pub fn check_matching(&self, matching: &Matching) -> Result<()> {
        match matching.pairs().find(|&(left, right)| !self.allows(left, right)) {
            Some((left, right)) => Err(Error::ForbiddenPair { left, right }),
            None => Ok(()),
        }
    }

    /// Refuses graphs of other sizes.
    ///
    /// # Errors
    /// The side and the sizes.
    pub fn check_counts(&self, left_count: usize, right_count: usize) -> Result<()> {
        let sides = [
            ("left nodes of the pair features", left_count, self.left_count()),
            ("right nodes of the pair features", right_count, self.right_count),
        ];
        match sides.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(Error::Size { what, expected, found }),
            None => Ok(()),
        }
    }

    /// The same for some of the left nodes, in this order; all of them must exist.
    pub(crate) fn with_left_nodes(&self, nodes: &[usize]) -> Self {
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for &node in nodes {
            rows.extend(self.range(node));
            starts.push(rows.len());
        }
        Self {
            names: self.names.clone(),
            right_count: self.right_count,
            starts,
            rights: rows.iter().map(|&row| self.rights[row]).collect(),
            values: self.values.select(ndarray::Axis(0), &rows),
        }
    }

    /// The right nodes that a left node may be matched to.
    pub(crate) fn rights(&self, left: usize) -> &[usize] {
        &self.rights[self.range(left)]
    }

    /// The rows of [`Self::values`] of a left node.
    pub(crate) fn range(&self, left: usize) -> Range<usize> {
        self.starts[left]..self.starts[left + 1]
    }

    /// The position of a name.
    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        let missing = || Error::NoAttribute { what: "feature of pairs", name: name.to_string() };
        self.names.iter().position(|own| own == name).ok_or_else(missing)
    }
}

fn shaped(values: Vec<f64>, rows: usize, columns: usize) -> Result<Array2<f64>> {
    let found = values.len();
    let wrong = |_| Error::Size { what: "values of pair features", expected: rows * columns, found };
    Array2::from_shape_vec((rows, columns), values).map_err(wrong)
}

fn check_names(names: &[String], expected: usize) -> Result<()> {
    if names.len() != expected {
        return Err(Error::Size { what: "names of pair features", expected, found: names.len() });
    }
    match repeated(names) {
        Some(name) => Err(Error::Repeated { what: "names of pair features", name }),
        None => Ok(()),
    }
}

fn of(name: &str, error: Error) -> Error {
    Error::At { place: format!("pair feature {name:?}"), error: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn names() -> Vec<String> {
        vec!["iou".to_string(), "cosine".to_string()]
    }

    #[test]
    fn a_list_and_tables_with_infinities_are_the_same() {
        let infinity = f64::INFINITY;
        let tables = [array![[1.0, infinity, 3.0], [4.0, 5.0, 6.0]], array![[0.1, 0.2, 0.3], [-infinity, 0.5, 0.6]]];
        let of_tables = PairFeatures::of_tables(names(), &tables).unwrap();
        let rows = array![[5.0, 0.5], [3.0, 0.3], [6.0, 0.6], [1.0, 0.1]];
        let list = [[1, 1], [0, 2], [1, 2], [0, 0]];
        let of_list = PairFeatures::of_list(names(), (2, 3), &list, rows.view()).unwrap();
        assert_eq!(of_tables, of_list);
        assert_eq!(of_list.row(1, 2).unwrap().to_vec(), [6.0, 0.6]);
        assert_eq!(of_list.pairs().collect::<Vec<_>>(), [[0, 0], [0, 2], [1, 1], [1, 2]]);
        assert_eq!((of_list.row(1, 0), of_list.row(2, 0)), (None, None));
        let second = of_list.with_left_nodes(&[1]);
        assert_eq!((second.left_count(), second.len(), second.row(0, 1).unwrap()[0]), (1, 2, 5.0));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let nan = PairFeatures::of_tables(names(), &[array![[1.0, 2.0]], array![[0.0, f64::NAN]]]).unwrap_err();
        assert_eq!(nan.to_string(), "pair feature \"cosine\": values: NaN at row 0, column 1");
        let size = PairFeatures::of_tables(names(), &[array![[1.0, 2.0]], array![[0.0]]]).unwrap_err();
        assert_eq!(size.to_string(), "pair feature \"cosine\": columns: expected 2, found 1");
        let rows = array![[1.0, 2.0], [1.0, 2.0]];
        let list = |pairs: &[[usize; 2]]| PairFeatures::of_list(names(), (2, 2), pairs, rows.view()).unwrap_err();
        assert_eq!(list(&[[0, 1], [0, 1]]).to_string(), "listed pairs: \"left 0, right 1\" occurs twice");
        assert_eq!(list(&[[0, 1], [0, 2]]).to_string(), "right nodes: index 2 is out of range, there are 2");
        assert_eq!(list(&[[0, 1]]).to_string(), "rows of pair features: expected 1, found 2");
    }
}
