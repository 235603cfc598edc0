//! [`EdgesKept`]: how many edges of two networks a matching preserves, and the two measures of that in network alignment.

use super::{EdgeList, Matching};
use serde::Serialize;

/// The edges that a matching keeps. A directed edge counts once, an undirected one twice on both sides, so all ratios are the same.
///
/// ```
/// use homolog::matching::{EdgeList, EdgesKept, Matching};
/// let path = EdgeList::new(3, vec![[0, 1], [1, 2]])?;
/// let triangle = EdgeList::new(3, vec![[0, 1], [1, 2], [2, 0]])?;
/// let kept = EdgesKept::by(&Matching::identity(3), &path, &triangle);
/// assert_eq!(kept.correctness(), 1.0);
/// assert_eq!(kept.symmetric_substructure(), 2.0 / 3.0);
/// # Ok::<(), homolog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EdgesKept {
    /// Edges of the left graph.
    pub left: usize,
    /// Edges of the right graph whose ends are both matched.
    pub right: usize,
    /// Edges of the left graph whose ends are matched to the ends of an edge.
    pub kept: usize,
}

impl EdgesKept {
    /// Counts the edges that a matching keeps.
    #[must_use]
    pub fn by(matching: &Matching, left: &EdgeList, right: &EdgeList) -> Self {
        let is_kept = |&&[i, j]: &&[usize; 2]| {
            let ends = matching.right_of(i).zip(matching.right_of(j));
            ends.is_some_and(|(k, l)| right.find(k, l).is_some())
        };
        let is_matched = |&&[k, l]: &&[usize; 2]| matching.left_of(k).is_some() && matching.left_of(l).is_some();
        Self {
            left: left.len(),
            right: right.ends().iter().filter(is_matched).count(),
            kept: left.ends().iter().filter(is_kept).count(),
        }
    }

    /// Edge correctness: the share of the left edges that are kept; 1 if there are none.
    #[must_use]
    pub fn correctness(&self) -> f64 {
        share(self.kept, self.left)
    }

    /// The symmetric substructure score (Saraph & Milenković 2014): kept edges as a share of those that either side has between matched nodes.
    #[must_use]
    pub fn symmetric_substructure(&self) -> f64 {
        share(self.kept, self.left + self.right - self.kept)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
