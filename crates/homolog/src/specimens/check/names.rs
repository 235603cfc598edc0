//! Names that went to the wrong points: whose point each landmark should have, and what to call the mistake.
//!
//! Among landmarks that are odd together, points go to names by least Σ u² (linear assignment), u being how odd the landmark would be
//! there. A whole specimen that fits badly is tried with its names rolled and reversed, in the order of the table, with the names of each
//! contiguous part of the list rolled by one, and by linear assignment to the mean shape in the usual orientation, fitted again until the names
//! stay. The names that strain the specimen least are taken, by Σ z²/(z² + c²) with z a landmark's distance from its mean place in its spreads,
//! and a roll if it is nearly as good: that is the simpler mistake.

use super::frame::{Frame, Placed, moved};
use super::shapes::{Place, Shape, centre_and_size, difference, length};
use crate::Result;
use crate::matching::{Compatibility, Linear, Matcher};
use ndarray::Array2;

/// Other names must leave less than this share of the misfit.
const RENAMED_SHARE: f64 = 0.5;
/// Rounds of naming and fitting.
const ROUNDS: usize = 5;
/// Beyond so many landmarks not every roll is tried; and so many of the contiguous parts that look best are.
const MOST_ROLLED: usize = 200;
const PARTS: usize = 40;
/// A roll may strain so many times as much as other names, and by this more.
pub(super) const NEARLY: f64 = 1.2;
pub(super) const NEARLY_BY: f64 = 0.5;

/// For each position the position whose point it should have: least total cost.
pub(super) fn assign(costs: &Array2<f64>) -> Result<Vec<usize>> {
    let problem = Compatibility::linear(costs.mapv(|cost| -cost));
    let solution = Linear::default().solve(&problem)?;
    let map = solution.matching.left_to_right();
    Ok(map.iter().enumerate().map(|(left, right)| right.unwrap_or(left)).collect())
}

/// The cycles of a permutation that move something.
pub(super) fn cycles(order: &[usize]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; order.len()];
    let mut cycles = Vec::new();
    for start in 0..order.len() {
        let mut cycle = Vec::new();
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            cycle.push(at);
            at = order[at];
        }
        if cycle.len() > 1 {
            cycles.push(cycle);
        }
    }
    cycles
}

/// What happened to names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Renaming {
    /// Two landmarks have each other's point.
    Swap([usize; 2]),
    /// Each has the point of the one this many places before it, in this list.
    Roll(Vec<usize>, usize),
    /// The order of this list is reversed.
    Reversal(Vec<usize>),
    /// Landmarks, and whose point each should have.
    Other(Vec<usize>, Vec<usize>),
}

/// Names a permutation: landmark i should have the point that is now called `order[i]`.
pub(super) fn renamings(order: &[usize]) -> Vec<Renaming> {
    let moved: Vec<usize> = (0..order.len()).filter(|&at| order[at] != at).collect();
    let place = |landmark: usize| moved.iter().position(|&own| own == landmark).unwrap_or(0);
    let (count, to): (usize, Vec<usize>) = (moved.len(), moved.iter().map(|&at| place(order[at])).collect());
    let shift = to.first().copied().unwrap_or(0);
    if count >= 3 && to.iter().enumerate().all(|(at, &to)| to == (at + shift) % count) {
        return vec![Renaming::Roll(moved, shift)];
    }
    let is_reversed = to.iter().enumerate().all(|(at, &to)| at + to + 1 == count);
    // The one in the middle of an odd number keeps its name.
    if count >= 4 && is_reversed {
        return vec![Renaming::Reversal(with_middle(moved))];
    }
    let of = |cycle: Vec<usize>| {
        if let [a, b] = cycle[..] {
            return Renaming::Swap([a.min(b), a.max(b)]);
        }
        let points = cycle.iter().map(|&at| order[at]).collect();
        Renaming::Other(cycle, points)
    };
    cycles(order).into_iter().map(of).collect()
}

/// A list whose middle is left out gets it back if there is exactly one landmark between its halves.
fn with_middle(mut moved: Vec<usize>) -> Vec<usize> {
    let half = moved.len() / 2;
    if moved[half] == moved[half - 1] + 2 {
        moved.insert(half, moved[half - 1] + 1);
    }
    moved
}

/// The names of a specimen that does not fit, exchanged so that it does: landmark i takes the point called `order[i]`. `usual` is a
/// specimen that lies as most do.
pub(super) fn mended(
    frame: &Frame,
    shape: &Shape,
    placed: &Placed,
    usual: &Placed,
) -> Result<Option<(Vec<usize>, Placed)>> {
    let present: Vec<usize> = (0..shape.len()).filter(|&at| shape[at].is_some()).collect();
    let mut rolled = Best::default();
    if present.len() <= MOST_ROLLED {
        for order in rolls(&present, shape.len()).chain(parts_rolled(frame, &placed.points, &present)) {
            rolled.consider(frame, shape, order)?;
        }
    }
    let mut best = Best::default();
    for start in [placed.points.clone(), like(usual, shape)] {
        if let Some(order) = by_position(frame, shape, &present, start)? {
            best.consider(frame, shape, order)?;
        }
    }
    let is_near = rolled.strain() <= NEARLY * best.strain() + NEARLY_BY;
    let fits = |(order, again): &(Vec<usize>, Placed)| {
        again.misfit < RENAMED_SHARE * placed.misfit && frame.fits(again.misfit) && !cycles(order).is_empty()
    };
    let best = if is_near { rolled } else { best };
    Ok(best.0.map(|(_, order, again)| (order, again)).filter(fits))
}

/// The names that strain a specimen least so far.
#[derive(Default)]
struct Best(Option<(f64, Vec<usize>, Placed)>);

impl Best {
    fn strain(&self) -> f64 {
        self.0.as_ref().map_or(f64::INFINITY, |(strain, ..)| *strain)
    }

    fn consider(&mut self, frame: &Frame, shape: &Shape, order: Vec<usize>) -> Result<()> {
        let again = frame.place(&ordered(shape, &order))?;
        let strain = frame.strain(&again.points);
        if strain < self.strain() {
            self.0 = Some((strain, order, again));
        }
        Ok(())
    }
}

/// Names with those of a contiguous part of the list rolled by one, either way: the parts that strain points in the frame least.
pub(super) fn parts_rolled(frame: &Frame, points: &Shape, present: &[usize]) -> Vec<Vec<usize>> {
    let count = present.len();
    let strain = |name: usize, point: usize| frame.strain_of(present[name % count], points[present[point % count]]);
    // Of names and their own points, and of names and the points before and after them in the list.
    let by = |step: usize| -> Vec<f64> { (0..count).map(|name| strain(name, name + step)).collect() };
    let [own, after, before] = [0, 1, count.max(1) - 1].map(by);
    let mut found: Vec<(f64, usize, usize, bool)> = Vec::new();
    for start in 0..count {
        let (mut gain_after, mut gain_before) = (0.0, 0.0);
        for end in start + 1..count {
            gain_after += own[end - 1] - after[end - 1];
            gain_before += own[end] - before[end];
            if end < start + 2 {
                continue;
            }
            found.push((gain_after + own[end] - strain(end, start), start, end, true));
            found.push((gain_before + own[start] - strain(start, end), start, end, false));
        }
    }
    found.retain(|part| part.0 > 0.0);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    found.truncate(PARTS);
    let order = |(_, start, end, is_after): (f64, usize, usize, bool)| {
        let mut order: Vec<usize> = (0..points.len()).collect();
        let length = end + 1 - start;
        let step = if is_after { 1 } else { length - 1 };
        (0..length).for_each(|at| order[present[start + at]] = present[start + (at + step) % length]);
        order
    };
    found.into_iter().map(order).collect()
}

/// The points under other names.
pub(super) fn ordered(shape: &Shape, order: &[usize]) -> Shape {
    order.iter().map(|&from| shape[from]).collect()
}

/// All rolls of a list, and of its reversal.
fn rolls(present: &[usize], names: usize) -> impl Iterator<Item = Vec<usize>> {
    let count = present.len();
    let order = move |reversed: bool, by: usize| {
        let mut order: Vec<usize> = (0..names).collect();
        for (at, &name) in present.iter().enumerate() {
            let to = (at + by) % count;
            order[name] = present[if reversed { count - 1 - to } else { to }];
        }
        order
    };
    [false, true].into_iter().flat_map(move |reversed| (0..count).map(move |by| order(reversed, by)))
}

/// The points of a specimen in the frame, rotated as the usual specimen is.
fn like(usual: &Placed, shape: &Shape) -> Shape {
    let rotation = &usual.similarity.rotation;
    let (centre, size) = centre_and_size(shape.iter().flatten());
    let size = if size > 0.0 { size } else { 1.0 };
    let turned = |point: &Place| {
        let off = difference(point, &centre);
        let d = rotation.nrows();
        let mut out = [0.0; 3];
        (0..d).for_each(|p| out[p] = (0..d).map(|q| rotation[[p, q]] * off[q]).sum::<f64>() / size);
        out
    };
    shape.iter().map(|point| point.as_ref().map(turned)).collect()
}

/// Names by position in the frame, fitted again until they stay.
fn by_position(frame: &Frame, shape: &Shape, present: &[usize], mut points: Shape) -> Result<Option<Vec<usize>>> {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    let known: Vec<usize> = present.iter().copied().filter(|&at| frame.mean[at].is_some()).collect();
    for _ in 0..ROUNDS {
        let cost = |(name, point): (usize, usize)| -> f64 {
            let (Some(mean), Some(point)) = (frame.mean[known[name]], points[known[point]]) else { return 0.0 };
            length(&difference(&point, &mean)).powi(2)
        };
        let to = assign(&Array2::from_shape_fn((known.len(), known.len()), cost))?;
        let before = order.clone();
        known.iter().zip(&to).for_each(|(&name, &to)| order[name] = known[to]);
        if before == order {
            break;
        }
        let fitted = frame.place(&ordered(shape, &order))?;
        points = shape.iter().map(|point| point.map(|point| moved(&fitted.similarity, &point))).collect();
    }
    Ok(Some(order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_permutations_by_their_names() {
        assert_eq!(renamings(&[0, 1, 2]), []);
        assert_eq!(renamings(&[0, 3, 2, 1]), [Renaming::Swap([1, 3])]);
        assert_eq!(renamings(&[1, 0, 3, 2, 4]), [Renaming::Swap([0, 1]), Renaming::Swap([2, 3])]);
        assert_eq!(renamings(&[0, 2, 3, 4, 1, 5]), [Renaming::Roll(vec![1, 2, 3, 4], 1)]);
        assert_eq!(renamings(&[0, 4, 1, 2, 3, 5]), [Renaming::Roll(vec![1, 2, 3, 4], 3)]);
        assert_eq!(renamings(&[3, 2, 1, 0, 4]), [Renaming::Reversal(vec![0, 1, 2, 3])]);
        assert_eq!(renamings(&[0, 5, 4, 3, 2, 1]), [Renaming::Reversal(vec![1, 2, 3, 4, 5])]);
        let other = Renaming::Other(vec![0, 3, 1, 5], vec![3, 1, 5, 0]);
        assert_eq!(renamings(&[3, 5, 2, 1, 4, 0]), [other]);
    }
}
