//! Models with edges: the truth compared with every single change to it.
//!
//! For each left node i, the group of i is all single changes to the truth that move i: to a right node that is free; to "unmatched",
//! where that has a price; two nodes swapped, or, with a price, one taking the place of the other, which then stays unmatched; in
//! small graphs also three nodes in a cycle. How much a change scores above the truth is
//! a sum over *pieces*: cells (i, k) of the node scores, pairs of left nodes on pairs of right nodes that have edges, "unmatched".
//! Each change lists the pieces that it gains and loses, about 4 · degree of them for a swap, whatever the size of the
//! graph. So an evaluation is a product with a sparse matrix of ±1, without any search.
//!
//! Nodes without a partner and without a price take no part.

use super::share::Shares;
use crate::features::Instance;
use crate::matching::{Constraint, EdgeShare, Matching, Relaxed};
use crate::{Error, Result};
use ndarray::{Array1, Array2};
use std::collections::HashMap;

/// Three nodes in a cycle are tried in graphs with up to this many matched nodes: 110 changes per node.
const SMALL: usize = 12;
/// A node is moved to at most this many other places, spread evenly where there are more, so memory stays linear in the nodes.
const MOST_PLACES: usize = 250;

/// The changes of one truth.
pub(super) struct Changes {
    /// Gained pieces as they are, lost ones as their complement (`!piece`).
    terms: Vec<i32>,
    /// Terms of change a: `change_start[a]..change_start[a + 1]`.
    change_start: Vec<u32>,
    /// Changes of group g: `group_start[g]..group_start[g + 1]`.
    group_start: Vec<u32>,
    cells: usize,
    /// How many pieces there are besides the cells.
    others: usize,
    /// The columns of the weights that `features` covers: edges and "unmatched".
    first_column: usize,
    columns: usize,
    /// phi of each piece that is not a cell, row by row.
    features: Vec<f64>,
}

/// A left node and where it goes.
type Move = (usize, Option<usize>);

impl Changes {
    pub(super) fn new(instance: &Instance, truth: &Matching) -> Result<Self> {
        let mut builder = Builder::new(instance, truth)?;
        for i in builder.known.clone() {
            builder.add_group(i)?;
        }
        let (pieces, cells) = (builder.pieces, builder.cells);
        let (terms, change_start, group_start) = (builder.terms, builder.change_start, builder.group_start);
        let (first_column, columns, features) = features_of(instance, truth, &pieces)?;
        Ok(Self { terms, change_start, group_start, cells, others: pieces.len(), first_column, columns, features })
    }

    pub(super) fn group_count(&self) -> usize {
        self.group_start.len() - 1
    }

    /// How many bytes this takes.
    pub(super) fn size(&self) -> usize {
        4 * (self.terms.len() + self.change_start.len() + self.group_start.len()) + 8 * self.features.len()
    }

    /// Adds up -log of the truth's share in each group; adds the derivative by cells to `amounts`, and by the other weights, times
    /// `factor`, to `gradient`.
    pub(super) fn add(
        &self,
        scores: &Array2<f64>,
        weights: &[f64],
        amounts: &mut Array2<f64>,
        factor: f64,
        gradient: &mut [f64],
        shares: &mut Shares,
    ) -> f64 {
        let range = self.first_column..self.first_column + self.columns;
        let rows = || self.features.chunks_exact(self.columns.max(1));
        let mut values: Vec<f64> = Vec::with_capacity(self.cells + self.others);
        values.extend(scores.iter());
        values.extend(rows().map(|row| row.iter().zip(&weights[range.clone()]).map(|(x, w)| x * w).sum::<f64>()));
        // There is no row at all if no piece has any feature.
        values.resize(self.cells + self.others, 0.0);
        let mut used = vec![0.0; values.len()];
        let mut value = 0.0;
        for group in self.group_start.windows(2) {
            let changes = || self.change_start[group[0] as usize..=group[1] as usize].windows(2);
            let terms = |change: &[u32]| self.terms[change[0] as usize..change[1] as usize].iter();
            shares.clear();
            shares.extend(changes().map(|change| {
                terms(change)
                    .map(|&term| if term >= 0 { values[place(term)] } else { -values[place(!term)] })
                    .sum::<f64>()
            }));
            value += shares.normalize_beside();
            for (change, &share) in changes().zip(shares.values()) {
                for &term in terms(change) {
                    if term >= 0 {
                        used[place(term)] += share;
                    } else {
                        used[place(!term)] -= share;
                    }
                }
            }
        }
        amounts.iter_mut().zip(&used).for_each(|(amount, used)| *amount += used);
        for (row, &used) in rows().zip(&used[self.cells..]) {
            gradient[range.clone()].iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * used * x);
        }
        value
    }
}

/// A non-negative term as an index.
#[expect(clippy::cast_sign_loss, reason = "the caller turned lost pieces round")]
fn place(term: i32) -> usize {
    term as usize
}

/// Something besides the cells whose score a change gains or loses.
#[derive(Clone, Copy)]
enum Piece {
    Unmatched,
    /// Left nodes i < j on right nodes k, l.
    Edge([usize; 2], [usize; 2]),
}

struct Builder<'a> {
    instance: &'a Instance,
    truth: &'a Matching,
    known: Vec<usize>,
    free: Vec<usize>,
    /// The neighbours of each left node, by an edge in either direction.
    neighbours: Vec<Vec<usize>>,
    pieces: Vec<Piece>,
    numbers: HashMap<([usize; 2], [usize; 2]), i32>,
    terms: Vec<i32>,
    change_start: Vec<u32>,
    group_start: Vec<u32>,
    cells: usize,
}

impl<'a> Builder<'a> {
    fn new(instance: &'a Instance, truth: &'a Matching) -> Result<Self> {
        let (n, m) = (truth.left_count(), truth.right_count());
        let cells = n * m;
        // Pieces besides the cells are fewer than the changes, which are counted as they are created.
        if i32::try_from(cells).is_err() {
            return Err(Error::TooLarge {
                what: "pairs of nodes of an example",
                limit: i32::MAX as usize,
                found: cells,
            });
        }
        let priced = instance.may_stay_unmatched();
        let edges = instance.left().edges();
        let neighbours = (0..n).map(|i| {
            let mut all: Vec<usize> = edges.neighbours(i).collect();
            all.sort_unstable();
            all.dedup();
            all
        });
        Ok(Self {
            instance,
            truth,
            known: (0..n).filter(|&i| priced || truth.right_of(i).is_some()).collect(),
            free: match instance.constraint() {
                Constraint::OneToOne => truth.unmatched_right().collect(),
                Constraint::ManyToOne => (0..m).collect(),
            },
            neighbours: neighbours.collect(),
            pieces: vec![Piece::Unmatched],
            numbers: HashMap::new(),
            terms: Vec::new(),
            change_start: vec![0],
            group_start: vec![0],
            cells,
        })
    }

    /// Everything that moves left node i.
    fn add_group(&mut self, i: usize) -> Result<()> {
        let own = self.truth.right_of(i);
        let priced = self.instance.may_stay_unmatched();
        for place in spread(&self.free, i) {
            if Some(place) != own {
                self.add_change(&[(i, Some(place))])?;
            }
        }
        if priced && own.is_some() {
            self.add_change(&[(i, None)])?;
        }
        if self.instance.constraint() == Constraint::OneToOne {
            let others = spread(&self.known, i);
            for &j in others.iter().filter(|&&j| j != i) {
                match (own, self.truth.right_of(j)) {
                    (Some(k), Some(l)) => {
                        self.add_change(&[(i, Some(l)), (j, Some(k))])?;
                        if priced {
                            self.add_change(&[(i, Some(l)), (j, None)])?;
                            self.add_change(&[(i, None), (j, Some(k))])?;
                        }
                    }
                    (None, Some(l)) => self.add_change(&[(i, Some(l)), (j, None)])?,
                    (Some(k), None) => self.add_change(&[(i, None), (j, Some(k))])?,
                    (None, None) => {}
                }
            }
            self.add_cycles(i)?;
        }
        self.group_start.push(count(self.change_start.len() - 1)?);
        Ok(())
    }

    /// i to the place of j, j to that of h, h to that of i.
    fn add_cycles(&mut self, i: usize) -> Result<()> {
        let matched: Vec<usize> = self.known.iter().copied().filter(|&j| self.truth.right_of(j).is_some()).collect();
        if matched.len() > SMALL || self.truth.right_of(i).is_none() {
            return Ok(());
        }
        for &j in matched.iter().filter(|&&j| j != i) {
            for &h in matched.iter().filter(|&&h| h != i && h != j) {
                let place = |node| self.truth.right_of(node);
                self.add_change(&[(i, place(j)), (j, place(h)), (h, place(i))])?;
            }
        }
        Ok(())
    }

    /// Records what the truth gains and loses by these moves.
    fn add_change(&mut self, moves: &[Move]) -> Result<()> {
        for &(i, new) in moves {
            for (place, gained) in [(new, true), (self.truth.right_of(i), false)] {
                match place {
                    Some(k) => self.add_term(count(i * self.truth.right_count() + k)?.cast_signed(), gained),
                    None => self.add_piece(Piece::Unmatched, gained)?,
                }
            }
        }
        for &(i, new) in moves {
            for at in 0..self.neighbours[i].len() {
                let j = self.neighbours[i][at];
                let moved = moves.iter().find(|(node, _)| *node == j);
                // A pair of nodes that both move is visited twice.
                if moved.is_some() && j < i {
                    continue;
                }
                let old = (self.truth.right_of(i), self.truth.right_of(j));
                let new = (new, moved.map_or(old.1, |&(_, place)| place));
                for ((k, l), gained) in [(new, true), (old, false)] {
                    if let (Some(k), Some(l)) = (k, l)
                        && self.has_edge([i, j], [k, l])
                    {
                        let piece = if i < j { Piece::Edge([i, j], [k, l]) } else { Piece::Edge([j, i], [l, k]) };
                        self.add_piece(piece, gained)?;
                    }
                }
            }
        }
        self.change_start.push(count(self.terms.len())?);
        Ok(())
    }

    fn has_edge(&self, [i, j]: [usize; 2], [k, l]: [usize; 2]) -> bool {
        let (left, right) = (self.instance.left().edges(), self.instance.right().edges());
        let both = |i, j, k, l| right.find(k, l).is_some() && left.find(i, j).is_some();
        both(i, j, k, l) || both(j, i, l, k)
    }

    fn add_piece(&mut self, piece: Piece, gained: bool) -> Result<()> {
        let next = count(self.cells + self.pieces.len())?.cast_signed();
        let number = match piece {
            Piece::Unmatched => count(self.cells)?.cast_signed(),
            Piece::Edge(left, right) => *self.numbers.entry((left, right)).or_insert(next),
        };
        if number == next {
            self.pieces.push(piece);
        }
        self.add_term(number, gained);
        Ok(())
    }

    fn add_term(&mut self, piece: i32, gained: bool) {
        self.terms.push(if gained { piece } else { !piece });
    }
}

/// A count that fits into 31 bits, so that terms can be told from their complements.
fn count(number: usize) -> Result<u32> {
    let limit = i32::MAX as usize;
    let too_large = Error::TooLarge { what: "changes of the truth of an example", limit, found: number };
    if number <= limit { u32::try_from(number).map_err(|_| too_large) } else { Err(too_large) }
}

/// At most `MOST_PLACES` of the nodes, evenly spread, with a different start for each i.
fn spread(nodes: &[usize], i: usize) -> Vec<usize> {
    if nodes.len() <= MOST_PLACES {
        return nodes.to_vec();
    }
    let start = i % nodes.len();
    (0..MOST_PLACES).map(|at| nodes[(start + 1 + at * (nodes.len() - 1) / MOST_PLACES) % nodes.len()]).collect()
}

/// phi of the pieces, as a table of the columns in which they have any value.
fn features_of(instance: &Instance, truth: &Matching, pieces: &[Piece]) -> Result<(usize, usize, Vec<f64>)> {
    let (n, m) = (truth.left_count(), truth.right_count());
    let mut soft = soft_point(Array2::zeros((n, m)));
    let (mut first, mut end) = (instance.dim(), 0);
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::with_capacity(pieces.len());
    let mut phi = vec![0.0; instance.dim()];
    for &piece in pieces {
        phi.fill(0.0);
        soft.edges.clear();
        soft.unmatched.fill(0.0);
        match piece {
            Piece::Edge(left, right) => soft.edges.push(EdgeShare { left, right, share: 1.0 }),
            Piece::Unmatched if n > 0 => soft.unmatched[0] = 1.0,
            Piece::Unmatched => {}
        }
        instance.add_soft_features(&soft, 1.0, &mut phi)?;
        let from = phi.iter().position(|&x| x != 0.0).unwrap_or(phi.len());
        let to = phi.iter().rposition(|&x| x != 0.0).map_or(from, |last| last + 1);
        rows.push((from, phi[from..to].to_vec()));
        if from < to {
            (first, end) = (first.min(from), end.max(to));
        }
    }
    let columns = end.saturating_sub(first);
    let mut features = vec![0.0; columns * pieces.len()];
    for ((from, row), to) in rows.iter().zip(features.chunks_exact_mut(columns.max(1))) {
        if !row.is_empty() {
            to[from - first..from - first + row.len()].copy_from_slice(row);
        }
    }
    Ok((first.min(instance.dim() - columns), columns, features))
}

/// Amounts of cells and nothing else, as a point that [`Instance::add_soft_features`] takes.
pub(super) fn soft_point(node: Array2<f64>) -> Relaxed {
    let unmatched = Array1::zeros(node.nrows());
    Relaxed::point(node, unmatched, Vec::new())
}
