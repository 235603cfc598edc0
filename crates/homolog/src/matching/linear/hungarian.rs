//! The Hungarian method in its simplest form, O(n² (n + m)): rows are added one at a time, each by a shortest augmenting path over
//! reduced costs. It is the check on [`Linear`](crate::matching::Linear) and shares no code with it.
//!
//! For each row, staying unmatched is a column that belongs to it alone. For a node that must be matched, that column costs one unit of
//! a first, overriding currency, so costs are pairs compared lexicographically: as many such nodes as possible are matched, and only then
//! does the score count. Such pairs form an ordered group, which is all the method needs; no large number stands for infinity. A cost is
//! how much a score falls short of the best of its row, so costs are precise where they are small.

use crate::matching::problem::FoldedPrices;
use crate::matching::{Constraint, Matcher, Matching, Problem, Solution, Status, Workspace};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Exact linear assignment, simple and slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hungarian {}

/// (nodes left over that must not be, negated score): smaller is better, the first counts first.
type Cost = (i64, f64);

fn plus(a: Cost, b: Cost) -> Cost {
    (a.0 + b.0, a.1 + b.1)
}

fn minus(a: Cost, b: Cost) -> Cost {
    (a.0 - b.0, a.1 - b.1)
}

impl Matcher for Hungarian {
    /// If interrupted, it answers with the rows placed so far; the others stay unmatched.
    fn solve_with(&self, given: &dyn Problem, work: &mut Workspace) -> Result<Solution> {
        let given = &*given.table()?;
        given.check()?;
        let folded = FoldedPrices::of(given);
        let problem = &*folded.problem;
        if problem.edge.is_some() {
            return Err(Error::Unsupported { solver: "hungarian", what: "edge scores" });
        }
        if problem.constraint == Constraint::ManyToOne {
            return Err(Error::Unsupported { solver: "hungarian", what: "many-to-one matchings" });
        }
        let (n, m) = problem.node.dim();
        let best = |row: usize| problem.node.row(row).iter().copied().fold(problem.unmatched_score(row), f64::max);
        let top: Vec<f64> = (0..n).map(best).map(|best| if best > f64::NEG_INFINITY { best } else { 0.0 }).collect();
        let (columns, stopped) = assign(
            n,
            m + n,
            || work.interrupted(),
            |row, column| {
                if column < m {
                    let score = problem.node[[row, column]];
                    (score > f64::NEG_INFINITY).then_some((0, top[row] - score))
                } else {
                    let score = problem.unmatched_score(row);
                    // A node that must be matched and is not scores 0.
                    let rest = if score > f64::NEG_INFINITY { (0, top[row] - score) } else { (1, top[row]) };
                    (column == m + row).then_some(rest)
                }
            },
        );
        let map = columns.into_iter().map(|column| (column < m).then_some(column)).collect();
        let matching = Matching::new(map, m, Constraint::OneToOne)?;
        let score = problem.score(&matching)?;
        let solution = Solution {
            matching,
            score,
            bound: if stopped { f64::INFINITY } else { score },
            status: if stopped { Status::Limit } else { Status::Optimal },
            iterations: n,
            certificate: None,
            shortage: None,
            allowed: 0.0,
        };
        folded.carry_back(given, solution)
    }
}

/// The cheapest way to give every row its own column; every row must have a column no other row can take. Also whether it was
/// stopped, in which case the last rows have none.
fn assign(
    rows: usize,
    columns: usize,
    stop: impl Fn() -> bool,
    cost: impl Fn(usize, usize) -> Option<Cost>,
) -> (Vec<usize>, bool) {
    let mut row_price = vec![(0, 0.0); rows];
    let mut column_price = vec![(0, 0.0); columns];
    let mut row_of = vec![None; columns];
    let mut stopped = false;
    'rows: for new_row in 0..rows {
        let mut distance: Vec<Option<Cost>> = vec![None; columns];
        let mut from: Vec<Option<usize>> = vec![None; columns];
        let mut done = vec![false; columns];
        let mut order = Vec::new();
        let (mut row, mut length, mut last) = (new_row, (0, 0.0), None);
        let end = loop {
            if stop() {
                stopped = true;
                break 'rows;
            }
            for column in (0..columns).filter(|&column| !done[column]) {
                if let Some(cost) = cost(row, column) {
                    let reduced = minus(minus(cost, row_price[row]), column_price[column]);
                    let through = plus(length, reduced);
                    if distance[column].is_none_or(|known| through < known) {
                        distance[column] = Some(through);
                        from[column] = last;
                    }
                }
            }
            let mut nearest: Option<(usize, Cost)> = None;
            for column in (0..columns).filter(|&column| !done[column]) {
                if let Some(reach) = distance[column]
                    && nearest.is_none_or(|(_, best)| reach < best)
                {
                    nearest = Some((column, reach));
                }
            }
            // The row's own column is always available as an end.
            let Some((column, reach)) = nearest else { unreachable!("every row has a column of its own") };
            done[column] = true;
            order.push((column, reach));
            length = reach;
            match row_of[column] {
                Some(next) => (row, last) = (next, Some(column)),
                None => break column,
            }
        };
        row_price[new_row] = plus(row_price[new_row], length);
        for &(column, reach) in &order {
            if let Some(owner) = row_of[column] {
                let shift: Cost = minus(length, reach);
                row_price[owner] = plus(row_price[owner], shift);
                column_price[column] = minus(column_price[column], shift);
            }
        }
        let mut column = end;
        while let Some(previous) = from[column] {
            row_of[column] = row_of[previous];
            column = previous;
        }
        row_of[column] = Some(new_row);
    }
    let mut column_of = vec![columns; rows];
    for (column, row) in row_of.iter().enumerate() {
        if let Some(row) = *row {
            column_of[row] = column;
        }
    }
    (column_of, stopped)
}
