//! Positions for nodes that have none: what is near in the network is near on the page.
//!
//! Stress majorisation (Gansner, Koren, North 2004) with d_ij the number of edges between two nodes and weights d_ij⁻²:
//!
//!   minimise Σ_{i<j} d_ij⁻² (|x_i - x_j| - d_ij)²
//!
//! by moving every node in turn to where its terms are smallest, with all others fixed. Cost: n² per round. No random numbers: the same
//! network gives the same picture.

use std::collections::VecDeque;
use std::f64::consts::TAU;

/// Rounds of a small network; large ones get fewer.
const MOST_ROUNDS: usize = 300;
/// Approximate steps of work: one second.
const WORK: usize = 100_000_000;

/// A position for each node of a network. Nodes start on a circle, or where `start` says, for instance at the positions of their partners
/// in a network next to it; a start of the wrong length is not used. Edges of nodes that do not exist are ignored.
///
/// ```
/// let square = homolog_viz::layout(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], &[]);
/// let distance = |i: usize, j: usize| (square[i][0] - square[j][0]).hypot(square[i][1] - square[j][1]);
/// assert!(distance(0, 1) < distance(0, 2));
/// ```
#[must_use]
pub fn layout(count: usize, edges: &[(usize, usize)], start: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let distances = distances(count, edges);
    let circle = |at: usize| {
        let (sine, cosine) = (TAU * at as f64 / count.max(1) as f64).sin_cos();
        let radius = 0.25 * count as f64;
        [radius * cosine, radius * sine]
    };
    let usable = start.len() == count && start.iter().flatten().all(|value| value.is_finite());
    let mut places: Vec<[f64; 2]> = if usable { start.to_vec() } else { (0..count).map(circle).collect() };
    // Nodes at the same position would stay together: each is moved a little, by its number.
    for (at, place) in places.iter_mut().enumerate() {
        let (sine, cosine) = (at as f64 * 2.4).sin_cos();
        *place = [place[0] + 0.01 * cosine, place[1] + 0.01 * sine];
    }
    let rounds = (WORK / (count * count).max(1)).clamp(10, MOST_ROUNDS);
    for _ in 0..rounds {
        for i in 0..count {
            places[i] = best_place(i, &places, &distances[i]).unwrap_or(places[i]);
        }
    }
    places
}

/// Where the terms of a node are smallest, as seen from where it is; `None` for an isolated node.
fn best_place(i: usize, places: &[[f64; 2]], distances: &[f64]) -> Option<[f64; 2]> {
    let (mut sum, mut weights) = ([0.0; 2], 0.0);
    for (j, other) in places.iter().enumerate().filter(|&(j, _)| j != i) {
        let wanted = distances[j];
        let weight = wanted.powi(-2);
        let (dx, dy) = (places[i][0] - other[0], places[i][1] - other[1]);
        let scale = wanted / dx.hypot(dy).max(1e-9);
        sum = [sum[0] + weight * (other[0] + scale * dx), sum[1] + weight * (other[1] + scale * dy)];
        weights += weight;
    }
    (weights > 0.0).then(|| sum.map(|value| value / weights))
}

/// Edges on the shortest path between every two nodes; a little more than the longest of them if there is no path.
fn distances(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let mut neighbours = vec![Vec::new(); count];
    for &(i, j) in edges.iter().filter(|&&(i, j)| i < count && j < count && i != j) {
        neighbours[i].push(j);
        neighbours[j].push(i);
    }
    let mut all = vec![vec![f64::INFINITY; count]; count];
    for (from, row) in all.iter_mut().enumerate() {
        row[from] = 0.0;
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            for &next in &neighbours[node] {
                if row[next].is_infinite() {
                    row[next] = row[node] + 1.0;
                    open.push_back(next);
                }
            }
        }
    }
    let longest = all.iter().flatten().filter(|value| value.is_finite()).fold(1.0_f64, |most, &value| most.max(value));
    for value in all.iter_mut().flatten().filter(|value| value.is_infinite()) {
        *value = longest + 1.0;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_in_order_and_odd_input_is_laid_out() {
        let path: Vec<(usize, usize)> = (1..8).map(|k| (k - 1, k)).collect();
        let places = layout(8, &path, &[]);
        let from_first = |k: usize| (places[k][0] - places[0][0]).hypot(places[k][1] - places[0][1]);
        assert!((2..8).all(|k| from_first(k) > from_first(k - 1)), "{places:?}");
        for (count, edges) in [(0, vec![]), (1, vec![(0, 0)]), (2, vec![]), (3, vec![(0, 9), (1, 1)])] {
            let places = layout(count, &edges, &vec![[1.0, 1.0]; count]);
            assert!(places.len() == count && places.iter().flatten().all(|value| value.is_finite()), "{count}");
        }
    }
}
