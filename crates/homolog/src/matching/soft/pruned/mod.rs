//! Graduated assignment and Frank–Wolfe for thousands of nodes: the same searches, on candidate pairs only ([`Pruned`]).
//!
//! Where node scores tell nodes apart, nearly all pairs are out of the question: they cost more than their edges could gain (`cells`).
//! What is left is a few dozen pairs per node, whatever the number of nodes, and everything is linear in those: soft assignment, the
//! gradient (each pair lists the pairs it shares edges with), and the linear problems, solved as [`Sparse`] ones. Local search
//! then sees all pairs again. On points with shape contexts the matchings found score higher than those of full tables.

mod anneal;
mod cells;
mod climb;
mod sinkhorn;

use self::cells::{Cells, Links};
use self::sinkhorn::Soft;
use super::problem::SoftProblem;
use super::sinkhorn::Slack;
use crate::Result;
use crate::matching::{Constraint, Linear, Matching, Sparse, Status, Workspace};

/// Smaller problems are solved on their full tables.
const FEWEST_CELLS: usize = 1 << 18;
/// The candidates are at most one pair in this many: with more, tables are as fast.
const ONE_IN: usize = 8;

/// A problem of candidate pairs.
pub(super) struct Pruned {
    cells: Cells,
    links: Links,
    slack: Slack,
    /// The best matching if there were no edge scores.
    linear: Matching,
    /// Prices for staying unmatched; minus infinity where there is none. Empty if no node has one.
    prices: Vec<f64>,
    /// Dual values of the right nodes at the last linear problem, as in [`SoftProblem`].
    duals: Vec<f64>,
    /// What separates the node scores.
    node_spread: f64,
}

impl Pruned {
    /// `None` if the full tables do as well.
    pub(super) fn of(relaxed: &SoftProblem<'_>) -> Option<Self> {
        let (n, m) = relaxed.objective.gain.dim();
        let is_large = n * m >= FEWEST_CELLS && relaxed.problem.constraint == Constraint::OneToOne;
        if is_large { Self::within(relaxed, n * m / ONE_IN) } else { None }
    }

    /// `None` if there are more candidates than `most`.
    fn within(relaxed: &SoftProblem<'_>, most: usize) -> Option<Self> {
        let cells = Cells::choose(relaxed, most)?;
        let links = Links::new(&cells, &relaxed.objective.edge, relaxed.objective.weight)?;
        let prices = relaxed.problem.unmatched.as_ref().map_or_else(Vec::new, |prices| prices.to_vec());
        let has_prices = prices.iter().any(|&price| price > f64::NEG_INFINITY);
        let is_full = !relaxed.slack.right.contains(&true) && !relaxed.slack.left.contains(&true);
        Some(Self {
            duals: vec![0.0; if is_full { cells.right_count } else { 0 }],
            prices: if has_prices { prices } else { Vec::new() },
            slack: relaxed.slack.clone(),
            linear: relaxed.linear.clone(),
            node_spread: super::graduated_assignment::node_spread(&relaxed.objective.gain),
            cells,
            links,
        })
    }

    /// The matching of candidates with the largest sum of scores; `rest` scores left nodes that stay unmatched at a price.
    fn assign(&mut self, score: &[f64], rest: &[f64], work: &mut Workspace) -> Result<Matching> {
        let Cells { columns, right_count, .. } = &self.cells;
        let mut scores = score.to_vec();
        if !self.duals.is_empty() {
            scores.iter_mut().zip(columns).for_each(|(score, &k)| *score -= self.duals[k as usize]);
        }
        let price = |(&price, &rest): (&f64, &f64)| if price > f64::NEG_INFINITY { rest } else { price };
        let prices = (!self.prices.is_empty()).then(|| self.prices.iter().zip(rest).map(price).collect());
        let starts = self.cells.starts().to_vec();
        let problem = Sparse::of_rows(*right_count, starts, columns.clone(), scores, prices);
        let answer = Linear::default().solve_sparse(&problem, work)?;
        if let Some(certificate) = &answer.certificate {
            self.duals.iter_mut().zip(&certificate.right).for_each(|(price, more)| *price += more);
        }
        // If interrupted, it is not certain to be feasible.
        Ok(if answer.status == Status::Limit { self.linear.clone() } else { answer.matching })
    }

    /// The matching that agrees most with a soft one.
    fn round(&mut self, soft: &Soft, work: &mut Workspace) -> Result<Matching> {
        self.duals.fill(0.0);
        self.assign(&soft.pair, &soft.rest, work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::{Steps, solve_softly};
    use super::super::sinkhorn as full_table;
    use super::*;
    use crate::matching::{Compatibility, EdgeList, EdgeTerm, FrankWolfe, GraduatedAssignment};
    use ndarray::{Array1, Array2};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::sync::Arc;

    /// Random node scores and edges, directed or not, some pairs forbidden and some nodes priced.
    fn problem(random: &mut ChaCha8Rng, n: usize, m: usize, directed: bool, priced: bool) -> Compatibility {
        let mut edges = |count: usize| {
            let ends = (0..2 * count).map(|_| [random.random_range(0..count), random.random_range(0..count)]);
            let both = ends
                .filter(|ends| ends[0] != ends[1])
                .flat_map(|[i, j]| if directed { [[i, j]; 2] } else { [[i, j], [j, i]] });
            Arc::new(EdgeList::new(count, both.collect()).unwrap())
        };
        let (left, right) = (edges(n), edges(m));
        let mut number = || random.random_range(-1.0..1.0);
        let factors = if directed { 2 } else { 1 };
        let mut table = |rows: usize| {
            if directed {
                Array2::from_shape_simple_fn((rows, factors), &mut number)
            } else {
                Array2::from_elem((rows, 1), if priced { 1.0 } else { -1.0 })
            }
        };
        let (a, mut b) = (table(left.len()), table(right.len()));
        if !directed && m > n {
            b.fill(2.0);
        }
        let mut node = Array2::from_shape_simple_fn((n, m), || 4.0 * number());
        node.indexed_iter_mut().filter(|((i, k), _)| (i * 3 + k) % 7 == 4).for_each(|(_, c)| *c = f64::NEG_INFINITY);
        let prices = Array1::from_shape_fn(n, |i| if i % 2 == 0 { number() } else { f64::NEG_INFINITY });
        let edge = Some(EdgeTerm::factored(left, right, a, b).unwrap());
        Compatibility { edge, unmatched: priced.then_some(prices), ..Compatibility::linear(node) }
    }

    /// Runs a test on small problems of all kinds, reduced to their candidates.
    fn each_problem(mut test: impl FnMut(&mut SoftProblem<'_>, Pruned)) {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for (n, m) in [(9, 9), (7, 11), (11, 7)] {
            for (directed, priced) in [(false, false), (false, true), (true, false), (true, true)] {
                let problem = problem(&mut random, n, m, directed, priced);
                let mut is_tested = false;
                solve_softly(&problem, None, &mut Workspace::new(), |relaxed, _| {
                    test(relaxed, Pruned::within(relaxed, usize::MAX).unwrap());
                    is_tested = true;
                    Ok((vec![relaxed.linear.clone()], Steps { count: 0, interrupted: false }))
                })
                .unwrap();
                assert!(is_tested);
            }
        }
    }

    /// The values of the candidates in a full table, zero elsewhere.
    fn spread_out(cells: &Cells, values: &[f64]) -> Array2<f64> {
        let mut table = Array2::zeros((cells.left_count(), cells.right_count));
        for i in 0..cells.left_count() {
            cells.of_node(i).for_each(|at| table[[i, cells.columns[at] as usize]] = values[at]);
        }
        table
    }

    #[test]
    fn candidates_are_the_pairs_that_cost_no_more_than_their_edges_bring_or_avoid() {
        let mut left_out = 0;
        each_problem(|relaxed, pruned| {
            let (problem, edge) = (relaxed.problem, &relaxed.objective.edge);
            let (left, right) = relaxed.duals.clone().unwrap();
            let (left_edges, right_edges) = (edge.left_edges(), edge.right_edges());
            for ((i, k), &node) in problem.node.indexed_iter() {
                let mut bring = 0.0;
                for e in left_edges.from_node(i) {
                    let most = right_edges.from_node(k).map(|f| edge.value(e, f)).fold(0.0, f64::max);
                    bring += most - (0..right_edges.len()).map(|f| edge.value(e, f)).fold(0.0, f64::min);
                }
                let cost = left[i] + right[k] - node;
                let is_in = pruned.cells.columns[pruned.cells.of_node(i)].contains(&u32::try_from(k).unwrap());
                let is_possible = relaxed.objective.gain[[i, k]] > f64::NEG_INFINITY;
                if (cost - bring).abs() > 1e-9 && relaxed.linear.right_of(i) != Some(k) {
                    assert_eq!(is_in, is_possible && cost < bring, "({i}, {k}) costs {cost}, edges bring {bring}");
                    left_out += usize::from(is_possible && !is_in);
                }
            }
        });
        assert!(left_out > 20, "{left_out} are no test");
    }

    #[test]
    fn gradients_are_those_of_the_full_table() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        each_problem(|relaxed, pruned| {
            let cells = &pruned.cells;
            let soft: Vec<f64> = (0..cells.len()).map(|_| random.random()).collect();
            let mut expected = Array2::zeros(relaxed.objective.gain.raw_dim());
            relaxed.objective.edge_gradient(&spread_out(cells, &soft), &mut expected);
            let (mut gradient, mut by_parts) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
            pruned.links.gradient(&soft, &mut gradient);
            for i in 0..cells.left_count() {
                for at in cells.of_node(i) {
                    assert!((gradient[at] - expected[[i, cells.columns[at] as usize]]).abs() < 1e-12);
                }
            }
            relaxed.objective.gradient_at(&relaxed.linear, &mut expected);
            cells.of_matching(&relaxed.linear).for_each(|(_, cell)| pruned.links.add_gradient_of(cell, &mut by_parts));
            for i in 0..cells.left_count() {
                for at in cells.of_node(i) {
                    assert!((by_parts[at] - expected[[i, cells.columns[at] as usize]]).abs() < 1e-12);
                }
            }
        });
    }

    #[test]
    fn soft_assignment_is_that_of_a_table_where_the_others_are_forbidden() {
        each_problem(|relaxed, pruned| {
            let (n, m) = relaxed.objective.gain.dim();
            let cells = &pruned.cells;
            let mut table = Array2::from_elem((n, m), f64::NEG_INFINITY);
            for i in 0..n {
                cells.of_node(i).for_each(|at| table[[i, cells.columns[at] as usize]] = cells.gain[at]);
            }
            let (mut full, mut own) = (full_table::Soft::zeros(n, m), Soft::zeros(cells));
            let mut of_table = full_table::Sinkhorn::new(n, m, 50, 1e-6);
            let mut of_cells = sinkhorn::Sinkhorn::new(cells, 50, 1e-6);
            for beta in [0.5, 1.0, 3.0] {
                of_table.assign(&table, beta, &pruned.slack, &mut full);
                of_cells.assign(cells, &cells.gain, beta, &pruned.slack, &mut own);
                let pairs = (&full.pair - &spread_out(cells, &own.pair)).mapv(f64::abs).sum();
                let rest: f64 = full.rest.iter().zip(&own.rest).map(|(a, b)| (a - b).abs()).sum();
                assert!(pairs + rest < 1e-9, "off by {pairs} and {rest}");
            }
        });
    }

    #[test]
    fn both_searches_find_matchings_of_the_largest_size_and_score_them_rightly() {
        each_problem(|relaxed, mut pruned| {
            let forced = |matching: &Matching| {
                matching.pairs().filter(|&(i, _)| relaxed.problem.unmatched_score(i) == f64::NEG_INFINITY).count()
            };
            let mut work = Workspace::new();
            let (soft, _) = pruned.anneal(&GraduatedAssignment::default(), &work);
            let annealed = pruned.round(&soft, &mut work).unwrap();
            let (found, _) = pruned.climb_from_all(&FrankWolfe::default(), &mut work).unwrap();
            for matching in found.iter().chain([&annealed]) {
                assert_eq!(forced(matching), forced(&relaxed.linear));
                assert!(relaxed.problem.score(matching).is_ok(), "a forbidden pair is used");
            }
        });
    }
}
