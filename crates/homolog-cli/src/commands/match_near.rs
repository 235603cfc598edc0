//! `homolog match --gate`: points matched by their distances alone, as a list of the near pairs.

use super::solve::parse_finite;
use crate::hints::advised;
use crate::pair_input::PairInput;
use anyhow::{Context, Result};
use homolog::Control;
use homolog::features::near_costs;
use homolog::geometry::Near;
use homolog::graph::Graph;
use homolog::matching::{Linear, Matcher, Solution, Sparse, Status, Workspace, verify};
use ndarray::ArrayView2;

/// Which pairs of points may be matched, and what it costs to match none.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Match points by distance, without a model: points farther apart than this are not matched
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true, value_parser = parse_finite, conflicts_with_all = WITH_A_MODEL)]
    gate: Option<f64>,
    /// Match points by distance, without a model: each left point to one of its K nearest right points
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = WITH_A_MODEL)]
    nearest: Option<u32>,
    /// With --gate, --nearest or --features: what it costs to leave a left point unmatched; in networks, the kept edges that an edge between two
    /// unmatched nodes counts (0.6 is usual) [default: as many as possible are matched]
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, value_parser = parse_finite)]
    pub(super) unmatched: Option<f64>,
}

/// Options that are about models or about many pairs.
const WITH_A_MODEL: [&str; 8] =
    ["features", "matcher", "presence", "candidates", "margins", "no_margins", "resume", "only"];

impl Options {
    /// What is near, if points are to be matched by their distances.
    pub(super) fn near(&self, has_features: bool) -> Result<Option<Near>> {
        let Self { gate, nearest, unmatched } = self;
        if gate.is_none() && nearest.is_none() {
            if unmatched.is_some() && !has_features {
                return Err(advised(
                    "--unmatched needs --features, --gate or --nearest",
                    "a model has a learned cost of staying unmatched: `homolog train --unmatched`",
                ));
            }
            return Ok(None);
        }
        Ok(Some(Near { within: gate.unwrap_or(f64::INFINITY), nearest: nearest.map(|count| count as usize) }))
    }

    /// The problem and its solution, whose proof is checked.
    pub(super) fn solve(&self, input: &PairInput, near: Near, control: &Control) -> Result<(Sparse, Solution)> {
        let (left, right) = (points(&input.left.graph, &input.left.id)?, points(&input.right.graph, &input.right.id)?);
        let mut problem = near_costs(left, right, near, false)?;
        if let Some(price) = self.unmatched {
            problem = problem.with_unmatched(vec![-price; left.nrows()])?;
        }
        if !input.given.is_empty() {
            problem = problem.restricted(&input.given)?;
        }
        let solution = Linear::default().solve_with(&problem, &mut Workspace::with_control(control))?;
        if let (Some(certificate), Status::Optimal) = (&solution.certificate, solution.status) {
            verify(&problem, &solution.matching, certificate)?;
        }
        Ok((problem, solution))
    }
}

fn points<'a>(graph: &'a Graph, id: &str) -> Result<ArrayView2<'a, f64>> {
    graph.points().with_context(|| format!("{id:?} has no points: --gate and --nearest match points"))
}
