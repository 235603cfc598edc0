//! How certain each name is: its [`margins`](crate::matching::margins), a bound because edges count.

use super::naming::Call;
use crate::Result;
use crate::matching::{self, Compatibility, Margin, Solution, Workspace};

/// One for each matched landmark, in order.
pub(super) fn margins(problem: &Compatibility, solution: &Solution, work: &Workspace) -> Result<Vec<Call>> {
    let shares = problem.shares(&solution.matching)?;
    let call = |found: Margin| {
        let (landmark, point) = (found.left, found.right);
        let taker = found.changes.iter().find(|(_, to)| *to == Some(point));
        let runner_up = taker.map(|&(other, _)| other);
        Call {
            landmark,
            point,
            share: shares[landmark],
            margin: found.margin,
            runner_up,
            strain: 1.0,
            confidence: None,
        }
    };
    Ok(matching::margins(problem, solution, None, work.control())?.into_iter().map(call).collect())
}
