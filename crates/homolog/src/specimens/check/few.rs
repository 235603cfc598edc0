//! Swaps among too few specimens to learn what is usual from: each specimen beside each other one.
//!
//! A specimen s is mapped onto another one, o. Where landmark i should be is o_i moved as the landmarks near it are (the median of
//! s_j - o_j over the four nearest), so that limbs may swing; r(i, p) is the distance of point p from there. Landmarks i and j look
//! swapped if
//!
//!   r(i, j)² + r(j, i)² < c (r(i, i)² + r(j, j)²)   and   r(i, i)² + r(j, j)² > (k · median r)²
//!
//! beside more than half of the other specimens. Of two specimens no one knows which one is wrong: both are listed.

use super::frame::Frame;
use super::robust::median;
use super::shapes::{Place, Shape, Shapes, difference, length, sum};
use crate::{Control, Result};

/// Landmarks that say how those near them have moved.
const NEAREST: usize = 4;
/// Of so many landmarks the others are put in order between two questions whether to go on.
const AT_A_TIME: usize = 64;
/// c and k beside a single other specimen, and beside several, which must agree.
const BESIDE_ONE: [f64; 2] = [0.3, 3.0];
const BESIDE_MORE: [f64; 2] = [0.35, 2.0];

/// The landmarks that look swapped in each specimen; if interrupted, only in some of the specimens.
pub(super) fn swaps(table: &Shapes, control: &Control) -> Result<Vec<Vec<[usize; 2]>>> {
    let count = table.specimens.len();
    let limits = if count > 2 { BESIDE_MORE } else { BESIDE_ONE };
    let mut found = Vec::with_capacity(count);
    for (at, shape) in table.specimens.iter().enumerate() {
        let mut votes: Vec<([usize; 2], usize)> = Vec::new();
        for (_, other) in table.specimens.iter().enumerate().filter(|&(other, _)| other != at) {
            let Some(beside) = Beside::new(table.dimension, shape, other, control)? else { return Ok(found) };
            for pair in beside.swapped(limits, control) {
                match votes.iter_mut().find(|(known, _)| *known == pair) {
                    Some((_, votes)) => *votes += 1,
                    None => votes.push((pair, 1)),
                }
            }
        }
        votes.sort_unstable();
        found.push(votes.into_iter().filter(|(_, votes)| 2 * votes > count - 1).map(|(pair, _)| pair).collect());
    }
    Ok(found)
}

/// A specimen mapped onto another one.
struct Beside {
    /// The landmarks of both.
    shared: Vec<usize>,
    own: Vec<Place>,
    other: Vec<Place>,
    /// For each landmark the others, the nearest first.
    near: Vec<Vec<usize>>,
}

impl Beside {
    /// `None` if interrupted.
    fn new(dimension: usize, shape: &Shape, other: &Shape, control: &Control) -> Result<Option<Self>> {
        let frame = Frame::like(dimension, other);
        let placed = frame.place(shape)?.points;
        let shared: Vec<usize> =
            (0..shape.len()).filter(|&at| placed[at].is_some() && frame.mean[at].is_some()).collect();
        let of = |shape: &Shape| -> Vec<Place> { shared.iter().filter_map(|&at| shape[at]).collect() };
        let (own, other) = (of(&placed), of(&frame.mean));
        let near = |at: usize| {
            if at.is_multiple_of(AT_A_TIME) && control.interrupted() {
                return None;
            }
            let far = |to: &usize| length(&difference(&other[at], &other[*to]));
            let mut order: Vec<usize> = (0..other.len()).filter(|&to| to != at).collect();
            order.sort_by(|a, b| far(a).total_cmp(&far(b)));
            Some(order)
        };
        let near: Option<Vec<Vec<usize>>> = (0..other.len()).map(near).collect();
        Ok(near.map(|near| Self { shared, own, other, near }))
    }

    /// Where a landmark should be; one more landmark is not asked.
    fn expected(&self, at: usize, without: usize) -> Place {
        let near: Vec<usize> = self.near[at].iter().copied().filter(|&to| to != without).take(NEAREST).collect();
        let moved = |axis: usize| median(near.iter().map(|&to| self.own[to][axis] - self.other[to][axis]).collect());
        sum(&self.other[at], &[moved(0), moved(1), moved(2)])
    }

    /// If interrupted, those found by then.
    fn swapped(&self, [share, times]: [f64; 2], control: &Control) -> Vec<[usize; 2]> {
        let square = |point: usize, place: &Place| length(&difference(&self.own[point], place)).powi(2);
        let alone: Vec<f64> = (0..self.own.len()).map(|at| square(at, &self.expected(at, at)).sqrt()).collect();
        let least = (times * median(alone.clone())).powi(2);
        let mut found = Vec::new();
        for i in 0..self.own.len() {
            if i % AT_A_TIME == AT_A_TIME - 1 && control.interrupted() {
                break;
            }
            for j in i + 1..self.own.len() {
                // Not even the larger of both can reach the limit.
                if 2.0 * alone[i].max(alone[j]).powi(2) < 0.5 * least {
                    continue;
                }
                let (at_i, at_j) = (self.expected(i, j), self.expected(j, i));
                let before = square(i, &at_i) + square(j, &at_j);
                let after = square(j, &at_i) + square(i, &at_j);
                if after < share * before && before > least && before > 0.0 {
                    found.push([self.shared[i], self.shared[j]]);
                }
            }
        }
        found
    }
}
