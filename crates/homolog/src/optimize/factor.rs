//! An orthogonal factorisation of a changing list of vectors u_1 ... u_m: u_j = Σ_i R_ij q_i, with q orthonormal and R upper
//! triangular. Adding or removing a vector costs O(m·dim). Working with q rather than with the products u_i·u_j keeps nearly
//! parallel vectors apart down to rounding, where products would lose half of the digits.
//!
//! Few vectors have only their own q, and a new one is split by Gram-Schmidt. Where they are many, q_(m+1) ... q_dim complete them to a
//! basis of the whole space: the products of a new vector with all q are then all there is to it, in half the time or less, and a
//! reflection of the q that are free makes one of them its direction.

use super::checks::check_size;
use super::vector::{
    BLOCK, add_all, add_scaled, length, products, reflect, rotate, subtract_multiples, subtract_products, take_off,
    wide,
};
use crate::Result;
use serde::{Deserialize, Serialize};

/// q and R of the current vectors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factor {
    /// As many as there are vectors, or as a basis of the whole space has.
    q: Vec<Vec<f64>>,
    /// Column j of R: its j + 1 entries on and above the diagonal.
    r: Vec<Vec<f64>>,
    changes: usize,
}

/// A vector split into the part that the current ones span and the rest.
pub(super) struct Split {
    /// Coordinates along q: of the vectors, then of those that are free.
    along: Vec<f64>,
    /// What no q spans; empty where they span everything.
    rest: Vec<f64>,
    /// The length of the part that the vectors do not span.
    pub(super) rest_length: f64,
}

impl Factor {
    /// Whether it is a factor of this many vectors: it may have come from a file.
    pub(super) fn check(&self, count: usize, dim: usize) -> Result<()> {
        let directions = if self.is_complete(dim) && count <= dim { dim } else { count };
        let lengths = [(count, self.r.len()), (directions, self.q.len())];
        let rows = self.q.iter().map(|q| (dim, q.len()));
        let columns = self.r.iter().enumerate().map(|(j, column)| (j + 1, column.len()));
        lengths.into_iter().chain(rows).chain(columns).try_for_each(|(a, b)| check_size("factor in the state", a, b))
    }

    /// How many vectors were added and removed so far.
    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    fn is_complete(&self, dim: usize) -> bool {
        self.q.len() == dim
    }

    /// Splits a vector.
    pub(super) fn split(&self, vector: Vec<f64>) -> Split {
        if self.is_complete(vector.len()) {
            let along = products(&self.q, &vector);
            let rest_length = length(&along[self.r.len()..]);
            return Split { along, rest: Vec::new(), rest_length };
        }
        self.split_by_steps(vector)
    }

    /// Splits a vector by Gram-Schmidt, repeated while a pass cancels digits: the rest is then orthogonal to q to the last digit.
    fn split_by_steps(&self, vector: Vec<f64>) -> Split {
        let mut rest = vector;
        let mut along = vec![0.0; self.q.len()];
        let mut rest_length = length(&rest);
        for _pass in 0..4 {
            let before = rest_length;
            take_off(&self.q, &mut rest, &mut along);
            rest_length = length(&rest);
            if rest_length > 0.1 * before {
                break;
            }
        }
        Split { along, rest, rest_length }
    }

    /// The part of a split vector that the vectors do not span.
    pub(super) fn rest(&self, split: Split) -> Vec<f64> {
        let mut rest = split.rest;
        if rest.is_empty() {
            let count = self.r.len();
            rest = vec![0.0; self.q.len()];
            add_all(&mut rest, &split.along[count..], &self.q[count..]);
        }
        rest
    }

    /// Adds the vector that was split; its rest must not be zero.
    pub(super) fn push(&mut self, split: Split) {
        let Split { along: mut column, mut rest, rest_length } = split;
        self.changes += 1;
        let count = self.r.len();
        if rest.is_empty() {
            let last = reflect(&mut self.q[count..], &column[count..]);
            column.truncate(count);
            column.push(last);
        } else {
            for x in &mut rest {
                *x /= rest_length;
            }
            column.push(rest_length);
            self.q.push(rest);
        }
        self.r.push(column);
        self.complete();
    }

    /// Completes q to a basis where there are many vectors.
    fn complete(&mut self) {
        let dim = self.q.last().map_or(0, Vec::len);
        if self.is_complete(dim) || self.q.len() as f64 <= MANY * dim as f64 {
            return;
        }
        for axis in 0..dim {
            // An axis that is nearly spanned would come out as rounding; enough of the others are not.
            let mut unit = vec![0.0; dim];
            unit[axis] = 1.0;
            let Split { mut rest, rest_length, .. } = self.split_by_steps(unit);
            if !self.is_complete(dim) && rest_length > 0.1 / (dim as f64).sqrt() {
                for x in &mut rest {
                    *x /= rest_length;
                }
                self.q.push(rest);
            }
        }
    }

    /// Replaces u_j by u_j - u_first for each of the later positions j.
    pub(super) fn subtract(&mut self, first: usize, later: impl Iterator<Item = usize>) {
        let (head, tail) = self.r.split_at_mut(first + 1);
        for j in later {
            add_scaled(&mut tail[j - first - 1], -1.0, &head[first]);
        }
    }

    /// Removes a vector: the columns after it lose their entry below the diagonal by plane rotations.
    pub(super) fn remove(&mut self, position: usize) {
        self.changes += 1;
        self.r.remove(position);
        for j in position..self.r.len() {
            let (x, y) = (self.r[j][j], self.r[j][j + 1]);
            let radius = (x * x + y * y).sqrt();
            let (cos, sin) = if radius > 0.0 { (x / radius, y / radius) } else { (1.0, 0.0) };
            self.r[j].truncate(j + 1);
            self.r[j][j] = radius;
            for column in &mut self.r[j + 1..] {
                let (x, y) = (column[j], column[j + 1]);
                column[j] = cos * x + sin * y;
                column[j + 1] = cos * y - sin * x;
            }
            let (head, tail) = self.q.split_at_mut(j + 1);
            rotate(&mut head[j], &mut tail[0], cos, sin);
        }
        if !self.is_complete(self.q.last().map_or(0, Vec::len)) {
            self.q.pop();
        }
    }

    /// The a with Σ_j a_j u_j = the spanned part of a split vector.
    pub(super) fn coefficients(&self, split: &Split) -> Vec<f64> {
        let mut a = split.along[..self.r.len()].to_vec();
        self.solve_upper(&mut a);
        a
    }

    /// Solves (U Uᵀ) z = rhs in place, where U has the vectors as rows.
    pub(super) fn solve_normal(&self, rhs: &mut [f64]) {
        self.solve_lower(rhs);
        self.solve_upper(rhs);
    }

    /// The shortest w with u_j·w = rhs_j for all j.
    pub(super) fn shortest(&self, mut rhs: Vec<f64>, dim: usize) -> Vec<f64> {
        self.solve_lower(&mut rhs);
        let mut w = vec![0.0; dim];
        add_all(&mut w, &rhs, &self.q[..rhs.len()]);
        w
    }

    /// [`Self::solve_normal`] for a right-hand side that is zero except for its last entry.
    pub(super) fn solve_normal_last(&self, last: f64) -> Vec<f64> {
        let mut z = vec![0.0; self.r.len()];
        if let (Some(entry), Some(column)) = (z.last_mut(), self.r.last()) {
            *entry = last / column[column.len() - 1];
        }
        self.solve_upper(&mut z);
        z
    }

    /// The direction that only the last vector has: q_m and R_mm.
    pub(super) fn last(&self) -> Option<(&[f64], f64)> {
        let column = self.r.last()?;
        Some((&self.q[column.len() - 1], *column.last()?))
    }

    fn solve_lower(&self, rhs: &mut [f64]) {
        wide(
            #[inline(always)]
            || {
                for (block, columns) in self.r.chunks(BLOCK).enumerate() {
                    let (known, unknown) = rhs.split_at_mut(BLOCK * block);
                    subtract_products(unknown, columns, known);
                    for (j, column) in columns.iter().enumerate() {
                        let above = &column[known.len()..];
                        let sum: f64 = above[..j].iter().zip(&*unknown).map(|(r, z)| r * z).sum();
                        unknown[j] = (unknown[j] - sum) / above[j];
                    }
                }
            },
        );
    }

    fn solve_upper(&self, rhs: &mut [f64]) {
        wide(
            #[inline(always)]
            || {
                for (block, columns) in self.r.chunks(BLOCK).enumerate().rev() {
                    let (others, own) = rhs.split_at_mut(BLOCK * block);
                    for (j, column) in columns.iter().enumerate().rev() {
                        let above = &column[others.len()..];
                        own[j] /= above[j];
                        let value = own[j];
                        add_scaled(&mut own[..j], -value, &above[..j]);
                    }
                    subtract_multiples(others, columns, &own[..columns.len()]);
                }
            },
        );
    }
}

/// Vectors are completed to a basis where they are more than this fraction of one.
const MANY: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::vector::dot;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// (U Uᵀ) z computed directly.
    fn normal_product(vectors: &[Vec<f64>], z: &[f64]) -> Vec<f64> {
        vectors.iter().map(|u| vectors.iter().zip(z).map(|(v, z)| z * dot(u, v)).sum()).collect()
    }

    #[test]
    fn solves_after_any_order_of_changes() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut factor = Factor::default();
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        for _change in 0..300 {
            match rng.random_range(0..4) {
                0 if !vectors.is_empty() => {
                    let position = rng.random_range(0..vectors.len());
                    vectors.remove(position);
                    factor.remove(position);
                }
                1 if vectors.len() > 2 => {
                    let first = rng.random_range(0..vectors.len() - 1);
                    factor.subtract(first, (first + 1..vectors.len()).step_by(2));
                    for j in (first + 1..vectors.len()).step_by(2) {
                        let subtracted = vectors[first].clone();
                        add_scaled(&mut vectors[j], -1.0, &subtracted);
                    }
                    // The first is removed, as in the solver: differences of differences would grow without limit.
                    vectors.remove(first);
                    factor.remove(first);
                }
                _ if vectors.len() < 12 => {
                    let vector: Vec<f64> = (0..17).map(|_| rng.random_range(-1.0..1.0)).collect();
                    vectors.push(vector.clone());
                    let split = factor.split(vector);
                    factor.push(split);
                }
                _ => {}
            }
            let rhs: Vec<f64> = (0..vectors.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut z = rhs.clone();
            factor.solve_normal(&mut z);
            for (found, wanted) in normal_product(&vectors, &z).iter().zip(&rhs) {
                assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
            }
        }
    }

    #[test]
    fn tells_dependent_vectors_from_nearly_parallel_ones() {
        let mut factor = Factor::default();
        let split = factor.split(vec![1.0, 2.0, 3.0, 4.0]);
        factor.push(split);
        assert!(factor.split(vec![2.0, 4.0, 6.0, 8.0]).rest_length < 1e-14);
        let near = factor.split(vec![1.0, 2.0, 3.0, 4.0 + 1e-10]);
        assert!((near.rest_length / (1e-10 * (14.0_f64 / 30.0).sqrt()) - 1.0).abs() < 1e-5, "{}", near.rest_length);
    }
}
