//! What is measured, behind one small trait: Homolog's solver and the crates that run in this process.

use super::instances::{Kind, Size};
use crate::clock::{Elapsed, Stopwatch};
use anyhow::{Context, Result};
use homolog::matching::{Compatibility, Linear, Matcher, Workspace};
use ndarray::Array2;
use std::hint::black_box;

/// The column of each row; `None` for a row left over.
pub(crate) type Assignment = Vec<Option<usize>>;

/// A solver that holds the matrices of one row of the table.
pub(crate) trait Solver {
    fn name(&self) -> &'static str;

    /// Whether it takes matrices of this kind and size as they are.
    fn accepts(&self, _kind: Kind, _size: Size) -> bool {
        true
    }

    /// Takes costs to be minimised, in the form this solver reads without conversion. Not timed.
    fn load(&mut self, size: Size, costs: &[Vec<f64>]) -> Result<()>;

    /// Solves every matrix; for checking and warming up. Not timed.
    fn assignments(&mut self) -> Result<Vec<Assignment>>;

    /// Solves every matrix once, reading the clock once for `batch` of them: the time per matrix of each batch.
    fn time(&mut self, batch: usize) -> Result<Vec<Elapsed>>;
}

/// Reads the clock around each batch. A solution is freed before the next problem is solved, and freeing it counts.
fn time_batches<P, S>(problems: &[P], batch: usize, mut solve: impl FnMut(&P) -> Result<S>) -> Result<Vec<Elapsed>> {
    problems
        .chunks(batch)
        .map(|group| {
            let stopwatch = Stopwatch::start();
            for problem in group {
                black_box(solve(black_box(problem))?);
            }
            let Elapsed { cpu, wall } = stopwatch.stop();
            Ok(Elapsed { cpu: cpu / group.len() as f64, wall: wall / group.len() as f64 })
        })
        .collect()
}

/// Homolog, as its users call it: input checks, dual values and score are part of every solve.
#[derive(Default)]
pub(crate) struct Ours {
    problems: Vec<Compatibility>,
    workspace: Workspace,
    /// Only the right nodes are asked for: no allocation, no proof, no score.
    pub(crate) is_bare: bool,
}

impl Ours {
    pub(crate) fn new(is_bare: bool) -> Self {
        Self { is_bare, ..Self::default() }
    }
}

impl Solver for Ours {
    fn name(&self) -> &'static str {
        "homolog"
    }

    fn load(&mut self, size: Size, costs: &[Vec<f64>]) -> Result<()> {
        self.problems.clear();
        for costs in costs {
            let scores = costs.iter().map(|cost| -cost).collect();
            self.problems.push(Compatibility::linear(Array2::from_shape_vec((size.rows, size.columns), scores)?));
        }
        Ok(())
    }

    fn assignments(&mut self) -> Result<Vec<Assignment>> {
        let solver = Linear::default();
        let solve = |problem: &Compatibility| {
            Ok(solver.solve_with(problem, &mut self.workspace)?.matching.left_to_right().to_vec())
        };
        self.problems.iter().map(solve).collect()
    }

    fn time(&mut self, batch: usize) -> Result<Vec<Elapsed>> {
        let solver = Linear::default();
        if self.is_bare {
            return time_batches(&self.problems, batch, |problem| {
                Ok(solver.assign(problem, &mut self.workspace)?.first().copied())
            });
        }
        time_batches(&self.problems, batch, |problem| Ok(solver.solve_with(problem, &mut self.workspace)?))
    }
}

/// The crate `lapjv`: Jonker-Volgenant, square matrices only.
#[derive(Default)]
pub(crate) struct LapjvCrate {
    costs: Vec<lapjv::Matrix<f64>>,
}

impl Solver for LapjvCrate {
    fn name(&self) -> &'static str {
        "lapjv"
    }

    fn accepts(&self, kind: Kind, size: Size) -> bool {
        size.is_square() && !kind.has_forbidden()
    }

    fn load(&mut self, size: Size, costs: &[Vec<f64>]) -> Result<()> {
        self.costs.clear();
        for costs in costs {
            self.costs.push(lapjv::Matrix::from_shape_vec((size.rows, size.columns), costs.clone())?);
        }
        Ok(())
    }

    fn assignments(&mut self) -> Result<Vec<Assignment>> {
        let solve = |cost| Ok(lapjv::lapjv(cost)?.0.into_iter().map(Some).collect());
        self.costs.iter().map(solve).collect()
    }

    fn time(&mut self, batch: usize) -> Result<Vec<Elapsed>> {
        time_batches(&self.costs, batch, |cost| Ok(lapjv::lapjv(cost)?))
    }
}

/// The crate `lsap`: shortest augmenting paths, a translation of scipy's code.
#[derive(Default)]
pub(crate) struct LsapCrate {
    size: Option<Size>,
    costs: Vec<Vec<f64>>,
}

impl LsapCrate {
    fn size(&self) -> Result<Size> {
        self.size.context("no matrices loaded")
    }
}

impl Solver for LsapCrate {
    fn name(&self) -> &'static str {
        "lsap"
    }

    fn accepts(&self, kind: Kind, _size: Size) -> bool {
        // It rejects infinite costs.
        !kind.has_forbidden()
    }

    fn load(&mut self, size: Size, costs: &[Vec<f64>]) -> Result<()> {
        self.size = Some(size);
        self.costs = costs.to_vec();
        Ok(())
    }

    fn assignments(&mut self) -> Result<Vec<Assignment>> {
        let size = self.size()?;
        let solve = |cost| {
            let (rows, columns) = lsap::solve(size.rows, size.columns, cost, false)?;
            let mut assignment = vec![None; size.rows];
            for (row, column) in rows.into_iter().zip(columns) {
                assignment[row] = Some(column);
            }
            Ok(assignment)
        };
        self.costs.iter().map(solve).collect()
    }

    fn time(&mut self, batch: usize) -> Result<Vec<Elapsed>> {
        let size = self.size()?;
        time_batches(&self.costs, batch, |cost| Ok(lsap::solve(size.rows, size.columns, cost, false)?))
    }
}
