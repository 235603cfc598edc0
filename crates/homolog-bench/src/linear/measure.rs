//! One row of the table: check that all solvers agree, then time them in turn.
//!
//! In each round each solver solves all matrices once, a different solver going first each time, so that other load on the machine
//! affects all alike. The time of a batch of matrices is the median over the rounds; that of the row is the mean over its batches.

use super::instances::{Kind, Size};
use super::report::{Row, Time};
use super::solvers::{Assignment, Solver};
use crate::clock::{Elapsed, Stopwatch, median};
use anyhow::{Context, Result, ensure};
use std::hint::black_box;

/// Totals of one matrix may differ by this much, relatively: rounding of sums of 2000 terms, far below any wrong answer.
const SAME_TOTAL: f64 = 1e-9;
/// How often a matrix is read for the time of one read.
const READS: usize = 9;
/// A solver this many times slower than the fastest of its row cannot decide the row and gets a smaller share of the time.
const SLOW: f64 = 4.0;

/// How much processor time a row may take.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// For all solvers near the fastest together.
    pub(crate) seconds: f64,
    /// The largest number of rounds.
    pub(crate) most: usize,
}

impl Effort {
    /// Rounds for each solver, depending on the time of its first round: as many as fit, at least three for those near the fastest, at
    /// least one for the others.
    fn rounds(self, first: &[f64]) -> Vec<usize> {
        let fastest = first.iter().copied().fold(f64::INFINITY, f64::min);
        let near: f64 = first.iter().filter(|&&seconds| seconds <= SLOW * fastest).sum();
        let rounds = |&seconds: &f64| {
            let (fitting, least) =
                if seconds <= SLOW * fastest { (self.seconds / near, 3) } else { (self.seconds / SLOW / seconds, 1) };
            (least..self.most).find(|&count| count as f64 >= fitting).unwrap_or(self.most)
        };
        first.iter().map(rounds).collect()
    }
}

/// Measures one kind of costs at one size with every solver that takes it; the first solver is ours.
pub(crate) fn measure(solvers: &mut [Box<dyn Solver>], kind: Kind, size: Size, effort: Effort) -> Result<Row> {
    let (count, batch) = size.counts();
    let costs = load_and_check(solvers, kind, size)?;
    let taking_part: Vec<usize> = (0..solvers.len()).filter(|&index| solvers[index].accepts(kind, size)).collect();
    // For each solver, each round, each batch.
    let mut times: Vec<Vec<Vec<Elapsed>>> = vec![Vec::new(); solvers.len()];
    for &index in &taking_part {
        times[index].push(solvers[index].time(batch)?);
    }
    let first_round = |&index: &usize| times[index][0].iter().map(|elapsed| elapsed.cpu * batch as f64).sum();
    let rounds = effort.rounds(&taking_part.iter().map(first_round).collect::<Vec<f64>>());
    for round in 1..rounds.iter().copied().max().unwrap_or(0) {
        for turn in 0..taking_part.len() {
            let next = (round + turn) % taking_part.len();
            if round < rounds[next] {
                let index = taking_part[next];
                times[index].push(solvers[index].time(batch)?);
            }
        }
    }
    let times = solvers.iter().zip(&times).map(|(solver, rounds)| typical(solver.name(), rounds)).collect();
    Ok(Row { one_read: one_read(&costs, batch), ..Row::new(kind, size, count, times) })
}

/// Seconds for looking at each number of a matrix once, for its smallest: the median over rounds, as for the solvers.
fn one_read(costs: &[Vec<f64>], batch: usize) -> f64 {
    let smallest = |costs: &Vec<f64>| {
        let (chunks, rest) = costs.as_chunks::<8>();
        let lanes = chunks.iter().fold([f64::INFINITY; 8], |least, costs| {
            std::array::from_fn(|lane| if costs[lane] < least[lane] { costs[lane] } else { least[lane] })
        });
        lanes.iter().chain(rest).copied().fold(f64::INFINITY, f64::min)
    };
    let rounds = (0..READS).map(|_| {
        let groups = costs.chunks(batch).map(|group| {
            let stopwatch = Stopwatch::start();
            group.iter().for_each(|costs| _ = black_box(smallest(black_box(costs))));
            stopwatch.stop().cpu
        });
        groups.sum::<f64>() / costs.len() as f64
    });
    median(&rounds.collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

/// Gives the matrices to the solvers and compares their answers with ours; each solver is warm afterwards.
fn load_and_check(solvers: &mut [Box<dyn Solver>], kind: Kind, size: Size) -> Result<Vec<Vec<f64>>> {
    let count = size.counts().0;
    let costs: Vec<Vec<f64>> = (0..count as u64).map(|index| kind.costs(size, index)).collect();
    let mut ours: Option<Vec<f64>> = None;
    for solver in solvers.iter_mut().filter(|solver| solver.accepts(kind, size)) {
        let totals = totals(solver.as_mut(), size, &costs).with_context(|| format!("the solver {}", solver.name()))?;
        if let Some(ours) = &ours {
            compare(ours, &totals).with_context(|| format!("homolog and {} disagree", solver.name()))?;
        } else {
            ours = Some(totals);
        }
    }
    Ok(costs)
}

fn totals(solver: &mut dyn Solver, size: Size, costs: &[Vec<f64>]) -> Result<Vec<f64>> {
    solver.load(size, costs)?;
    let assignments = solver.assignments()?;
    ensure!(assignments.len() == costs.len(), "{} of {} matrices are solved", assignments.len(), costs.len());
    assignments.iter().zip(costs).map(|(assignment, costs)| total_cost(assignment, size, costs)).collect()
}

/// The total cost of an assignment, after checking that every row has its own column; if there are fewer columns, that every column is taken.
fn total_cost(assignment: &Assignment, size: Size, costs: &[f64]) -> Result<f64> {
    ensure!(assignment.len() == size.rows, "{} rows are assigned instead of {}", assignment.len(), size.rows);
    let mut used = vec![false; size.columns];
    let mut total = 0.0;
    let placed = assignment.iter().flatten().count();
    ensure!(placed == size.rows.min(size.columns), "{placed} rows of {size} have a column");
    for (row, &column) in assignment.iter().enumerate() {
        let Some(column) = column else { continue };
        ensure!(column < size.columns && !used[column], "row {row} has column {column}, which is taken or not there");
        used[column] = true;
        total += costs[row * size.columns + column];
    }
    Ok(total)
}

fn compare(ours: &[f64], theirs: &[f64]) -> Result<()> {
    for (index, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let same = (a - b).abs() <= SAME_TOTAL * a.abs().max(b.abs());
        ensure!(same, "matrix {index}: total costs {a} and {b}");
    }
    Ok(())
}

/// The median over rounds of each batch, then the mean over batches; `None` without any round.
fn typical(solver: &'static str, rounds: &[Vec<Elapsed>]) -> Option<Time> {
    let batches = rounds.first()?.len();
    let mean = |value: fn(&Elapsed) -> f64| -> Option<f64> {
        let of_batch = |index: usize| median(&rounds.iter().map(|round| value(&round[index])).collect::<Vec<_>>());
        Some((0..batches).map(of_batch).sum::<Option<f64>>()? / batches as f64)
    };
    let seconds = Elapsed { cpu: mean(|elapsed| elapsed.cpu)?, wall: mean(|elapsed| elapsed.wall)? };
    Some(Time { solver, seconds, rounds: rounds.len() })
}

#[cfg(test)]
mod tests {
    use super::super::solvers::{LapjvCrate, LsapCrate, Ours};
    use super::*;

    #[test]
    fn slow_solvers_get_few_rounds() {
        let effort = Effort { seconds: 4.0, most: 51 };
        assert_eq!(effort.rounds(&[0.001, 0.002]), [51, 51]);
        assert_eq!(effort.rounds(&[0.1, 0.3, 0.5, 20.0]), [10, 10, 2, 1]);
        assert_eq!(effort.rounds(&[10.0, 10.0]), [3, 3]);
    }

    #[test]
    fn a_row_has_the_median_round_of_each_batch() {
        let elapsed = |cpu| Elapsed { cpu, wall: 2.0 * cpu };
        let rounds = [[1.0, 10.0], [9.0, 20.0], [3.0, 90.0]].map(|round| round.map(elapsed).to_vec());
        let time = typical("a", &rounds).unwrap();
        assert_eq!((time.seconds, time.rounds), (elapsed(11.5), 3));
        assert!(typical("a", &[]).is_none());
    }

    #[test]
    fn wrong_answers_are_noticed() {
        let size = Size::new(2, 3);
        let costs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(total_cost(&vec![Some(2), Some(0)], size, &costs).unwrap(), 7.0);
        for wrong in [vec![Some(0), Some(0)], vec![Some(0), Some(3)], vec![Some(0), None], vec![Some(0)]] {
            assert!(total_cost(&wrong, size, &costs).is_err(), "{wrong:?}");
        }
        assert!(compare(&[1.0, 2.0], &[1.0, 2.0 + 1e-12]).is_ok());
        assert!(compare(&[1.0, 2.0], &[1.0, 2.0 + 1e-6]).is_err());
    }

    #[test]
    fn the_crates_agree_with_us() {
        let mut solvers: Vec<Box<dyn Solver>> =
            vec![Box::<Ours>::default(), Box::<LapjvCrate>::default(), Box::<LsapCrate>::default()];
        // With forbidden pairs, problems this small have no full matching, and the crates return an error.
        for kind in Kind::ALL.into_iter().filter(|kind| !kind.has_forbidden()) {
            for size in [Size::new(5, 5), Size::new(4, 9), Size::new(9, 4)] {
                let row = measure(&mut solvers, kind, size, Effort { seconds: 0.0, most: 3 }).unwrap();
                let timed: Vec<bool> = row.times.iter().map(Option::is_some).collect();
                assert_eq!(timed, [true, size.is_square(), true]);
                assert!(row.ratio.is_some());
            }
        }
    }
}
