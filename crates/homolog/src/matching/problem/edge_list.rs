//! [`EdgeList`]: the directed edges of one graph, found by source, by target and by both. An undirected graph lists both directions.

use crate::{Error, Result};

/// The directed edges of one graph, sorted by source and then target, without repetitions or self-loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeList {
    ends: Vec<[usize; 2]>,
    /// Edges of node i are at `start[i]..start[i + 1]`.
    start: Vec<usize>,
    /// Positions of the edges sorted by target, those into node i at `into_start[i]..into_start[i + 1]`.
    into: Vec<usize>,
    into_start: Vec<usize>,
}

impl EdgeList {
    /// Sorts the edges and drops repetitions.
    ///
    /// # Errors
    /// An end that is not a node, or an edge from a node to itself (its score is a node score).
    pub fn new(node_count: usize, mut ends: Vec<[usize; 2]>) -> Result<Self> {
        for &[source, target] in &ends {
            if source.max(target) >= node_count {
                return Err(Error::OutOfRange {
                    what: "ends of an edge",
                    index: source.max(target),
                    count: node_count,
                });
            }
            if source == target {
                return Err(Error::SelfLoop { node: source });
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let start_by = |end: usize| {
            let mut start = vec![0; node_count + 1];
            for edge in &ends {
                start[edge[end] + 1] += 1;
            }
            (0..node_count).for_each(|node| start[node + 1] += start[node]);
            start
        };
        let (start, into_start) = (start_by(0), start_by(1));
        let mut into: Vec<usize> = (0..ends.len()).collect();
        into.sort_by_key(|&at| ends[at][1]);
        Ok(Self { ends, start, into, into_start })
    }

    /// No edges, on this many nodes.
    #[must_use]
    pub fn empty(node_count: usize) -> Self {
        let start = vec![0; node_count + 1];
        Self { ends: Vec::new(), into: Vec::new(), into_start: start.clone(), start }
    }

    /// The same edges with node i renumbered to `position_of[i]`, and the new position of each edge.
    pub(super) fn renumbered(&self, position_of: &[usize]) -> Result<(Self, Vec<usize>)> {
        let moved: Vec<[usize; 2]> = self.ends.iter().map(|ends| ends.map(|node| position_of[node])).collect();
        let edges = Self::new(self.node_count(), moved.clone())?;
        let new_at = moved.iter().filter_map(|&[source, target]| edges.find(source, target)).collect();
        Ok((edges, new_at))
    }

    /// The edges (source, target), sorted.
    #[must_use]
    pub fn ends(&self) -> &[[usize; 2]] {
        &self.ends
    }

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no edge.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many nodes the graph has.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.start.len() - 1
    }

    /// The positions of the edges that leave a node.
    #[must_use]
    pub fn from_node(&self, node: usize) -> std::ops::Range<usize> {
        self.start[node]..self.start[node + 1]
    }

    /// The positions of the edges that arrive at a node, in order.
    #[must_use]
    pub fn into_node(&self, node: usize) -> &[usize] {
        &self.into[self.into_start[node]..self.into_start[node + 1]]
    }

    /// The targets of the edges that leave this node and the sources of those that arrive; a node can appear twice.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let sources = self.into_node(node).iter().map(|&at| self.ends[at][0]);
        self.from_node(node).map(|at| self.ends[at][1]).chain(sources)
    }

    /// The position of an edge, if it exists.
    #[must_use]
    pub fn find(&self, source: usize, target: usize) -> Option<usize> {
        let range = self.from_node(source);
        self.ends[range.clone()].binary_search(&[source, target]).ok().map(|offset| range.start + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_sorted_and_found() {
        let edges = EdgeList::new(4, vec![[2, 0], [0, 2], [3, 2], [0, 1], [0, 2]]).unwrap();
        assert_eq!(edges.ends(), [[0, 1], [0, 2], [2, 0], [3, 2]]);
        assert_eq!(edges.from_node(0), 0..2);
        assert_eq!(edges.from_node(1), 2..2);
        assert_eq!(edges.into_node(2), [1, 3]);
        assert_eq!(edges.neighbours(2).collect::<Vec<_>>(), [0, 0, 3]);
        assert_eq!((edges.find(3, 2), edges.find(2, 3)), (Some(3), None));
    }

    #[test]
    fn edges_that_are_none_are_refused() {
        assert_eq!(EdgeList::new(2, vec![[1, 1]]), Err(Error::SelfLoop { node: 1 }));
        let outside = EdgeList::new(2, vec![[0, 2]]);
        assert_eq!(outside, Err(Error::OutOfRange { what: "ends of an edge", index: 2, count: 2 }));
    }
}
