//! What two matched pairs are worth to each other, d(ij, kl) + d(ji, lk), and what a change of places does to the marginal values
//!
//!   v_ik = gain_ik + weight · Σ_(j matched to l) [d(ij, kl) + d(ji, lk)].
//!
//! Where most pairs of nodes have an edge on both sides and d is a sum of a few products a_t(ij) b_t(kl), both graphs are stored as full
//! tables: a swap of r and s, at a and b, then adds the outer product of a_t(r·) - a_t(s·) and b_t(b·) - b_t(a·), n m multiplications in the
//! processor's vector instructions. Otherwise only neighbours are touched, deg·deg'.

use super::Growth;
use crate::matching::EdgeTerm;
use ndarray::Array2;

/// "Nowhere", "nobody", "no edge".
pub(super) const NONE: usize = usize::MAX;

/// Full tables are built if at least this share of all pairs of edges exists.
const TABLES: f64 = 0.06;
/// Graphs are dense if at least this share of all pairs of edges exists: bounds are weak then.
const DENSE: f64 = 0.25;
/// And for at most this many products.
const MOST_FACTORS: usize = 4;
/// Edges are looked up in a table up to this many pairs of nodes on a side; beyond that, by search.
const MOST_PAIRS: usize = 1 << 24;

pub(super) enum Terms<'a> {
    Dense(Dense),
    Sparse(Sparse<'a>),
}

/// a_t and b_t for all pairs of nodes, 0 where there is no edge; d(ij, kl) + d(ji, lk) = Σ_t left_t(i, j) right_t(k, l).
pub(super) struct Dense {
    sides: [usize; 2],
    factors: Vec<[Vec<f64>; 2]>,
    /// The two vectors of an outer product.
    x: Vec<f64>,
    y: Vec<f64>,
}

pub(super) struct Sparse<'a> {
    edge: &'a EdgeTerm,
    weight: f64,
    /// The edge from i to j at i n + j; empty where the table would be too large.
    left_edge: Vec<u32>,
    right_edge: Vec<u32>,
}

/// The share of all pairs of edges that exist.
fn share(edge: &EdgeTerm) -> f64 {
    let share = |nodes: usize, edges: usize| edges as f64 / (nodes as f64 * (nodes as f64 - 1.0)).max(1.0);
    let left = share(edge.left_count(), edge.left_edges().len());
    left * share(edge.right_count(), edge.right_edges().len())
}

impl<'a> Terms<'a> {
    pub(super) fn new(growth: &Growth<'a>) -> Self {
        let (edge, weight) = (growth.edge, growth.weight);
        let has_listed = (0..edge.left_edges().len()).any(|e| !edge.listed_of(e).is_empty());
        if share(edge) >= TABLES && !has_listed && edge.left_factors().ncols() <= MOST_FACTORS {
            Self::Dense(Dense::new(edge, weight))
        } else {
            let table = |edges: &crate::matching::EdgeList| {
                let nodes = edges.node_count();
                let mut table = vec![u32::MAX; if nodes * nodes <= MOST_PAIRS { nodes * nodes } else { 0 }];
                for (e, &[i, j]) in edges.ends().iter().enumerate() {
                    if let Some(at) = table.get_mut(i * nodes + j) {
                        *at = u32::try_from(e).unwrap_or(u32::MAX);
                    }
                }
                table
            };
            let (left_edge, right_edge) = (table(edge.left_edges()), table(edge.right_edges()));
            Self::Sparse(Sparse { edge, weight, left_edge, right_edge })
        }
    }

    /// Whether most pairs of nodes on both sides have an edge, and a step is quick however many there are.
    pub(super) fn are_dense(&self, edge: &EdgeTerm) -> bool {
        matches!(self, Self::Dense(_)) && share(edge) >= DENSE
    }

    /// What i at k and j at l are worth to each other, plus i at l and j at k.
    pub(super) fn crossed(&self, i: usize, j: usize, k: usize, l: usize) -> f64 {
        match self {
            Self::Dense(dense) => dense.crossed(i, j, k, l),
            Self::Sparse(sparse) => sparse.crossed(i, j, k, l),
        }
    }

    /// Keeps the values up to date when a node changes place; `NONE` is no place.
    pub(super) fn place(&mut self, value: &mut Array2<f64>, i: usize, from: usize, to: usize) {
        match self {
            Self::Dense(dense) => dense.add(value, [i, NONE], [to, from]),
            Self::Sparse(sparse) => {
                for (k, sign) in [(from, -1.0), (to, 1.0)] {
                    if k != NONE {
                        sparse.edge.add_pair_gradient(i, k, sign * sparse.weight, value);
                    }
                }
            }
        }
    }

    /// The same when i, at k, and j, at l, swap places.
    pub(super) fn swap(&mut self, value: &mut Array2<f64>, [i, k]: [usize; 2], [j, l]: [usize; 2]) {
        if let Self::Dense(dense) = self {
            dense.add(value, [i, j], [l, k]);
        } else {
            self.place(value, i, k, l);
            self.place(value, j, l, k);
        }
    }
}

impl Dense {
    fn new(edge: &EdgeTerm, weight: f64) -> Self {
        let sides = [edge.left_count(), edge.right_count()];
        let table = |side: usize, t: usize, turned: bool, weight: f64| {
            let (edges, values, nodes) = match side {
                0 => (edge.left_edges(), edge.left_factors(), sides[0]),
                _ => (edge.right_edges(), edge.right_factors(), sides[1]),
            };
            let mut table = vec![0.0; nodes * nodes];
            for (e, &[i, j]) in edges.ends().iter().enumerate() {
                table[if turned { j * nodes + i } else { i * nodes + j }] = weight * values[[e, t]];
            }
            table
        };
        let mut factors = Vec::new();
        for t in 0..edge.left_factors().ncols() {
            if edge.is_symmetric() {
                factors.push([table(0, t, false, 2.0 * weight), table(1, t, false, 1.0)]);
            } else {
                factors.extend([false, true].map(|turned| [table(0, t, turned, weight), table(1, t, turned, 1.0)]));
            }
        }
        Self { sides, factors, x: Vec::new(), y: Vec::new() }
    }

    #[inline]
    fn crossed(&self, i: usize, j: usize, k: usize, l: usize) -> f64 {
        let [n, m] = self.sides;
        let product = |[left, right]: &[Vec<f64>; 2]| left[i * n + j] * (right[k * m + l] + right[l * m + k]);
        self.factors.iter().map(product).sum()
    }

    /// v += Σ_t (left_t(i·) - left_t(j·)) (right_t(to·) - right_t(from·)), nothing for `NONE`.
    fn add(&mut self, value: &mut Array2<f64>, rows: [usize; 2], [to, from]: [usize; 2]) {
        let [n, m] = self.sides;
        let difference = |out: &mut Vec<f64>, table: &[f64], size: usize, [plus, minus]: [usize; 2]| {
            out.clear();
            out.resize(size, 0.0);
            for (at, sign) in [(plus, 1.0), (minus, -1.0)] {
                if at != NONE {
                    out.iter_mut().zip(&table[at * size..][..size]).for_each(|(out, value)| *out += sign * value);
                }
            }
        };
        let Some(value) = value.as_slice_mut() else { return };
        for [left, right] in &self.factors {
            difference(&mut self.x, left, n, rows);
            difference(&mut self.y, right, m, [to, from]);
            pulp::Arch::new().dispatch(OuterProduct { value, x: &self.x, y: &self.y });
        }
    }
}

struct OuterProduct<'a> {
    value: &'a mut [f64],
    x: &'a [f64],
    y: &'a [f64],
}

impl pulp::WithSimd for OuterProduct<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined here is compiled for the wider instructions")]
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        if self.y.is_empty() {
            return;
        }
        for (row, &x) in self.value.chunks_exact_mut(self.y.len()).zip(self.x) {
            if x != 0.0 {
                row.iter_mut().zip(self.y).for_each(|(value, &y)| *value += x * y);
            }
        }
    }
}

impl Sparse<'_> {
    fn crossed(&self, i: usize, j: usize, k: usize, l: usize) -> f64 {
        let (left, right) = (self.edge.left_edges(), self.edge.right_edges());
        let find = |table: &[u32], edges: &crate::matching::EdgeList, from: usize, to: usize| match table
            .get(from * edges.node_count() + to)
        {
            Some(&e) => (e != u32::MAX).then_some(e as usize),
            None => edges.find(from, to),
        };
        let forth = find(&self.left_edge, left, i, j);
        let back = find(&self.left_edge, left, j, i);
        if forth.is_none() && back.is_none() {
            return 0.0;
        }
        let ends = [find(&self.right_edge, right, k, l), find(&self.right_edge, right, l, k)];
        let sum =
            |e: Option<usize>| e.map_or(0.0, |e| ends.iter().flatten().map(|&f| self.edge.value(e, f)).sum::<f64>());
        self.weight * (sum(forth) + sum(back))
    }
}
