//! The parts of the list searches against their formulas, and against tables.

use super::super::pairs::AllPairs;
use super::super::sinkhorn::Sinkhorn;
use super::reach::worth_at;
use super::*;
use crate::matching::{EdgeList, FrankWolfe, GraduatedAssignment};
use ndarray::Array1;
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

/// Runs a test on the lists of a table.
fn with_lists(table: &Compatibility, per_node: usize, test: impl FnOnce(&Compatibility, Listed<'_>)) {
    let write =
        |rows: Range<usize>, scores: &mut Array2<f64>| scores.assign(&table.node.slice_axis(Axis(0), rows.into()));
    let mut problem =
        Streamed::new(table.left_count(), table.right_count(), &write).with_edges(table.edge.as_ref().unwrap());
    (problem.candidates, problem.rows_at_once) = (2, 4);
    if let Some(prices) = &table.unmatched {
        problem = problem.with_unmatched(prices.to_vec());
    }
    let room = Room { per_node, total: MOST_CELLS, thins: true };
    match Listed::build(&problem, &room, &mut Workspace::new()).unwrap() {
        Built::Ready(listed) => test(table, *listed),
        _ => panic!("there is room and nothing interrupts"),
    }
}

fn each_problem(mut test: impl FnMut(&Compatibility, Listed<'_>)) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for (n, m) in [(9, 9), (7, 11), (11, 7)] {
        for (directed, priced) in [(false, false), (false, true), (true, false), (true, true)] {
            with_lists(&problem(&mut random, n, m, directed, priced), usize::MAX, &mut test);
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
    each_problem(|table, listed| {
        let (proof, edge) = (&listed.certificate, listed.edge);
        let crowd = proof.crowd.clone().unwrap_or_default();
        let right_edges = edge.right_edges();
        for ((i, k), &node) in table.node.indexed_iter() {
            let mut least = 0.0;
            for e in edge.left_edges().from_node(i) {
                least += (0..right_edges.len()).map(|f| edge.value(e, f)).fold(0.0, f64::min);
            }
            let cost = proof.left[i] + proof.right[k] - node;
            let bring = worth_at(edge, i, k) - least;
            let is_in = listed.cells.find(i, k).is_some();
            let is_possible = node > f64::NEG_INFINITY && (crowd.left.contains(&i) || !crowd.right.contains(&k));
            if (cost - bring).abs() > 1e-9 && listed.linear.right_of(i) != Some(k) {
                assert_eq!(is_in, is_possible && cost < bring, "({i}, {k}) costs {cost}, edges bring {bring}");
                left_out += usize::from(is_possible && !is_in);
            }
        }
    });
    assert!(left_out > 20, "{left_out} are no test");
}

#[test]
fn of_too_many_candidates_the_cheapest_stay() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for round in 0..20 {
        let table = problem(&mut random, 12, 15, round % 2 == 0, round % 4 < 2);
        with_lists(&table, 3, |_, listed| {
            let cells = &listed.cells;
            assert!((0..12).all(|i| cells.of_node(i).len() <= 4));
            assert_eq!(cells.of_matching(&listed.linear).count(), listed.linear.matched_count());
        });
    }
}

#[test]
fn gradients_are_those_of_the_full_table() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    each_problem(|table, listed| {
        let cells = &listed.cells;
        let soft: Vec<f64> = (0..cells.len()).map(|_| random.random()).collect();
        let mut expected = Array2::zeros(table.node.raw_dim());
        listed.edge.add_gradient(spread_out(cells, &soft).view(), &mut expected);
        let (mut gradient, mut by_parts) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
        listed.links.gradient(&soft, &mut gradient);
        for i in 0..cells.left_count() {
            for at in cells.of_node(i) {
                let own = gradient[at] / listed.scale;
                assert!((own - expected[[i, cells.columns[at] as usize]]).abs() < 1e-12);
            }
        }
        expected.fill(0.0);
        listed.linear.pairs().for_each(|(i, k)| listed.edge.add_pair_gradient(i, k, 1.0, &mut expected));
        cells.of_matching(&listed.linear).for_each(|(_, cell)| listed.links.add_gradient_of(cell, &mut by_parts));
        for i in 0..cells.left_count() {
            for at in cells.of_node(i) {
                let own = by_parts[at] / listed.scale;
                assert!((own - expected[[i, cells.columns[at] as usize]]).abs() < 1e-12);
                let each = |other: usize| listed.links.between(at, other) - listed.links.between(other, at);
                assert!((0..cells.len()).all(|other| each(other).abs() < 1e-12));
            }
        }
    });
}

#[test]
fn soft_assignment_is_that_of_a_table_where_the_others_are_forbidden() {
    each_problem(|table, listed| {
        let ((n, m), cells) = (table.node.dim(), &listed.cells);
        let mut table = Array2::from_elem((n, m), f64::NEG_INFINITY);
        for i in 0..n {
            cells.of_node(i).for_each(|at| table[[i, cells.columns[at] as usize]] = cells.gain[at]);
        }
        let all = AllPairs { left_count: n, right_count: m };
        let (mut full, mut own) = (Soft::zeros(&all), Soft::zeros(cells));
        let mut of_table = Sinkhorn::new(&all, 50, 1e-6);
        let mut of_cells = Sinkhorn::new(cells, 50, 1e-6);
        for beta in [0.5, 1.0, 3.0] {
            of_table.assign(&all, &table, beta, &listed.slack, &mut full);
            of_cells.assign(cells, &cells.gain, beta, &listed.slack, &mut own);
            let pairs = (&full.pair - &spread_out(cells, &own.pair)).mapv(f64::abs).sum();
            let rest: f64 = full.rest.iter().zip(&own.rest).map(|(a, b)| (a - b).abs()).sum();
            assert!(pairs + rest < 1e-9, "off by {pairs} and {rest}");
        }
    });
}

fn forced(table: &Compatibility, matching: &Matching) -> usize {
    matching.pairs().filter(|&(i, _)| table.unmatched_score(i) == f64::NEG_INFINITY).count()
}

#[test]
fn searches_and_growth_find_matchings_of_the_largest_size_and_score_them_rightly() {
    each_problem(|table, mut listed| {
        let mut work = Workspace::new();
        let (mut all, _) = FrankWolfe::default().climb_listed(&mut listed, &mut work).unwrap();
        all.extend(GraduatedAssignment::default().anneal_and_round(&mut listed, &mut work).unwrap().0);
        all.push(listed.grown(&mut work).unwrap());
        for matching in &all {
            assert_eq!(forced(table, matching), forced(table, &listed.linear));
            assert_eq!(table.score(matching).unwrap(), listed.score(matching).unwrap());
        }
    });
}

#[test]
fn local_search_leaves_no_better_neighbour_among_candidates() {
    let mut changed = 0;
    each_problem(|table, listed| {
        let start = listed.linear.clone();
        for kicks in [Kicks::default(), Kicks { count: 20, seed: 1 }] {
            let result = listed.polish(&start, kicks, &Workspace::new()).unwrap();
            let score = table.score(&result).unwrap();
            assert!(score >= table.score(&start).unwrap());
            assert_eq!(forced(table, &result), forced(table, &start));
            changed += usize::from(result != start);
            let map = result.left_to_right();
            let places = |i: usize| listed.cells.of_node(i).map(|cell| Some(listed.cells.columns[cell] as usize));
            let mut maps = Vec::new();
            for i in 0..map.len() {
                for place in places(i).chain([None]) {
                    let mut moved = map.to_vec();
                    moved[i] = place;
                    maps.push(moved);
                }
                for j in 0..i {
                    let mut swapped = map.to_vec();
                    swapped.swap(i, j);
                    maps.push(swapped);
                }
            }
            for map in maps {
                let Ok(other) = Matching::new(map, table.right_count(), Constraint::OneToOne) else { continue };
                let is_listed = listed.cells.of_matching(&other).count() == other.matched_count();
                if is_listed && forced(table, &other) == forced(table, &result) {
                    assert!(table.score(&other).unwrap() <= score + 1e-9, "{other:?} is better than {result:?}");
                }
            }
        }
    });
    assert!(changed > 10, "{changed} are no test");
}
