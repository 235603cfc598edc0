//! Which changes of a truth there are, and what each gains and loses.

use super::Changes;
use crate::features::Instance;
use crate::matching::{Constraint, Matching};
use crate::{Error, Result};
use std::collections::HashMap;

/// Three nodes in a cycle are tried in graphs with up to this many matched nodes: 110 changes per node.
const SMALL: usize = 12;
/// A node is moved to at most this many other places, spread evenly where there are more, so memory stays linear in the nodes.
const MOST_PLACES: usize = 250;

/// A left node and where it goes.
type Move = (usize, Option<usize>);

/// The nodes that a change moves and where they go, in order of the nodes.
type Key = [Option<Move>; 3];

pub(super) struct Builder<'a> {
    instance: &'a Instance,
    truth: &'a Matching,
    known: Vec<usize>,
    free: Vec<usize>,
    /// The neighbours of each left node, by an edge in either direction.
    neighbours: Vec<Vec<usize>>,
    /// The number of each change.
    numbers: HashMap<Key, u32>,
    /// Where the features of a pair of edges begin in `features`.
    places: HashMap<(usize, usize), usize>,
    features: Vec<f64>,
    /// Of all weights; zero between uses.
    phi: Vec<f64>,
    changes: Changes,
}

impl<'a> Builder<'a> {
    pub(super) fn new(instance: &'a Instance, truth: &'a Matching) -> Result<Self> {
        let (n, m) = (truth.left_count(), truth.right_count());
        let cells = n * m;
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
            numbers: HashMap::new(),
            places: HashMap::new(),
            features: Vec::new(),
            phi: vec![0.0; instance.dim()],
            changes: Changes {
                cells: Vec::new(),
                cell_start: vec![0],
                columns: instance.columns_beside_nodes(),
                rows: Vec::new(),
                members: Vec::new(),
                group_start: vec![0],
            },
        })
    }

    pub(super) fn build(mut self) -> Result<Changes> {
        for i in self.known.clone() {
            self.add_group(i)?;
        }
        Ok(self.changes)
    }

    /// Everything that moves left node i.
    fn add_group(&mut self, i: usize) -> Result<()> {
        let own = self.truth.right_of(i);
        let priced = self.instance.may_stay_unmatched();
        for place in spread(&self.free, i) {
            if Some(place) != own {
                self.add_member(&[(i, Some(place))])?;
            }
        }
        if priced && own.is_some() {
            self.add_member(&[(i, None)])?;
        }
        if self.instance.constraint() == Constraint::OneToOne {
            let others = spread(&self.known, i);
            for &j in others.iter().filter(|&&j| j != i) {
                match (own, self.truth.right_of(j)) {
                    (Some(k), Some(l)) => {
                        self.add_member(&[(i, Some(l)), (j, Some(k))])?;
                        if priced {
                            self.add_member(&[(i, Some(l)), (j, None)])?;
                            self.add_member(&[(i, None), (j, Some(k))])?;
                        }
                    }
                    (None, Some(l)) => self.add_member(&[(i, Some(l)), (j, None)])?,
                    (Some(k), None) => self.add_member(&[(i, None), (j, Some(k))])?,
                    (None, None) => {}
                }
            }
            self.add_cycles(i)?;
        }
        self.changes.group_start.push(count(self.changes.members.len())?);
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
                self.add_member(&[(i, place(j)), (j, place(h)), (h, place(i))])?;
            }
        }
        Ok(())
    }

    /// Adds the change that these moves make to the current group.
    fn add_member(&mut self, moves: &[Move]) -> Result<()> {
        let mut key: Key = [None; 3];
        key.iter_mut().zip(moves).for_each(|(slot, &one)| *slot = Some(one));
        key[..moves.len()].sort_unstable();
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None => self.add_change(moves, key)?,
        };
        self.changes.members.push(number);
        Ok(())
    }

    /// Records what the truth gains and loses by these moves.
    fn add_change(&mut self, moves: &[Move], key: Key) -> Result<u32> {
        for &(i, new) in moves {
            for (place, gained) in [(new, true), (self.truth.right_of(i), false)] {
                match place {
                    Some(k) => {
                        let cell = count(i * self.truth.right_count() + k)?.cast_signed();
                        self.changes.cells.push(if gained { cell } else { !cell });
                    }
                    None => {
                        if let (true, Some(price)) = (self.instance.may_stay_unmatched(), self.phi.last_mut()) {
                            let own = self.instance.unmatched_feature(i);
                            *price += if gained { own } else { -own };
                        }
                    }
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
                for (places, amount) in [(new, 1.0), (old, -1.0)] {
                    if let (Some(k), Some(l)) = places {
                        self.add_edges([i, j], [k, l], amount);
                        self.add_edges([j, i], [l, k], amount);
                    }
                }
            }
        }
        let columns = self.changes.columns.clone();
        self.changes.rows.extend(&self.phi[columns.clone()]);
        self.phi[columns].fill(0.0);
        let number = count(self.numbers.len())?;
        self.numbers.insert(key, number);
        self.changes.cell_start.push(count(self.changes.cells.len())?);
        Ok(number)
    }

    /// Adds the features of left nodes i, j on right nodes k, l to `phi`, if both have an edge that way.
    fn add_edges(&mut self, [i, j]: [usize; 2], [k, l]: [usize; 2], amount: f64) {
        let (left, right) = (self.instance.left().edges(), self.instance.right().edges());
        let (Some(e), Some(f)) = (left.find(i, j), right.find(k, l)) else { return };
        let columns = self.changes.columns.clone();
        let (instance, features) = (self.instance, &mut self.features);
        let place = *self.places.entry((e, f)).or_insert_with(|| {
            let mut phi = vec![0.0; instance.dim()];
            instance.add_edge_features((e, f), &mut phi);
            features.extend(&phi[columns.clone()]);
            features.len() - columns.len()
        });
        let row = &self.features[place..place + columns.len()];
        self.phi[columns].iter_mut().zip(row).for_each(|(sum, x)| *sum += amount * x);
    }
}

/// A count that fits into 31 bits, so that gained cells can be told from lost ones.
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
