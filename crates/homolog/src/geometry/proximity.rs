//! Edges by distance: the k nearest, all within a radius, all pairs. O(n²) distances in any dimension; the radius is inclusive.

use super::scale::{any_distance, square_distance};
use super::to_unit_range;
use ndarray::ArrayView2;

/// Edges from each point to its `count` nearest others, each edge once. Ties go to the smallest index.
#[must_use]
pub(crate) fn nearest(points: ArrayView2<'_, f64>, count: usize) -> Vec<[usize; 2]> {
    let (points, _) = to_unit_range(points);
    let n = points.nrows();
    let mut edges = Vec::new();
    let mut others = Vec::with_capacity(n);
    for i in 0..n {
        others.clear();
        others.extend((0..n).filter(|&j| j != i).map(|j| (square_distance(points.view(), i, j), j)));
        let by_distance = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < others.len() {
            others.select_nth_unstable_by(count, by_distance);
            others.truncate(count);
        }
        edges.extend(others.iter().map(|&(_, j)| [i.min(j), i.max(j)]));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Edges between all points at most `radius` apart.
#[must_use]
pub(crate) fn within(points: ArrayView2<'_, f64>, radius: f64) -> Vec<[usize; 2]> {
    pairs(points.nrows()).filter(|&[i, j]| any_distance(points, i, j) <= radius).collect()
}

/// All pairs of points.
#[must_use]
pub fn complete(count: usize) -> Vec<[usize; 2]> {
    pairs(count).collect()
}

fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| [i, j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn nearest_links_if_either_end_chooses_the_other() {
        // 0 and 1 choose each other, 2 chooses 1, 3 chooses 2.
        let line = array![[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [7.0, 0.0]];
        assert_eq!(nearest(line.view(), 1), [[0, 1], [1, 2], [2, 3]]);
        assert_eq!(nearest(line.view(), 0), Vec::<[usize; 2]>::new());
        assert_eq!(nearest(line.view(), 9), complete(4));
    }

    #[test]
    fn nearest_breaks_ties_towards_the_smallest_index() {
        let cross = array![[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]];
        assert!(nearest(cross.view(), 1).contains(&[0, 1]));
        assert_eq!(nearest(cross.view(), 1).len(), 3);
    }

    #[test]
    fn within_includes_the_radius_itself_and_takes_any_scale() {
        let points = array![[0.0, 0.0, 0.0], [3.0, 0.0, 4.0], [0.0, 0.0, 6.0]];
        assert_eq!(within(points.view(), 5.0), [[0, 1], [1, 2]]);
        assert_eq!(within((&points * 1e200).view(), 5.0e200).len(), 2);
        assert_eq!(within((&points * 1e-200).view(), 5.5e-200).len(), 2);
    }
}
