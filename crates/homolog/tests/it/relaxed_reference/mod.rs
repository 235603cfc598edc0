//! The linear relaxation written out from its definition and solved by Clarabel, a general interior-point solver.

use crate::common::placed;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use homolog::matching::{BruteForce, Compatibility, Constraint, Matcher, Solution};
use std::collections::BTreeMap;

pub(crate) fn best_matching(problem: &Compatibility) -> Solution {
    BruteForce::default().solve(problem).unwrap()
}

/// d(ij, kl) + d(ji, lk) for i < j.
pub(crate) fn pair_scores(problem: &Compatibility) -> BTreeMap<([usize; 2], [usize; 2]), f64> {
    let mut scores = BTreeMap::new();
    let edge = problem.edge.as_ref().unwrap();
    for (e, &[i, j]) in edge.left_edges().ends().iter().enumerate() {
        for (f, &[k, l]) in edge.right_edges().ends().iter().enumerate() {
            let key = if i < j { ([i, j], [k, l]) } else { ([j, i], [l, k]) };
            *scores.entry(key).or_insert(0.0) += edge.value(e, f);
        }
    }
    let open = |i: usize, k: usize| problem.node[[i, k]] > f64::NEG_INFINITY;
    scores.retain(|&([i, j], [k, l]), _| open(i, k) && open(j, l));
    scores
}

/// A row of the program: Σ coefficient · variable (= or <=) limit.
pub(crate) struct Row {
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) limit: f64,
    pub(crate) equal: bool,
}

/// A relaxation: constant + the maximum of scores · x over x >= 0 and the rows.
pub(crate) struct Program {
    pub(crate) constant: f64,
    pub(crate) scores: Vec<f64>,
    pub(crate) rows: Vec<Row>,
}

/// The relaxation's maximum by an interior-point solver, from the definition, without knowledge of crowds: in total, the left nodes that
/// must be matched are matched as often as in the best matching.
pub(crate) fn reference(problem: &Compatibility) -> Option<f64> {
    let Program { constant, scores, rows } = program(problem, |score| score > 0.0);
    if scores.is_empty() { Some(constant) } else { Some(constant + maximum(&scores, rows)?) }
}

/// The relaxation; pairs of edges are in it if `counts` says so of their scores. Those below zero can be left out.
pub(crate) fn program(problem: &Compatibility, counts: impl Fn(f64) -> bool) -> Program {
    let (n, m) = problem.node.dim();
    let mut variables = Vec::new();
    let mut cell = BTreeMap::new();
    let price = |i: usize| Some(problem.unmatched_score(i)).filter(|price| price.is_finite());
    for ((i, k), &score) in problem.node.indexed_iter().filter(|(_, score)| score.is_finite()) {
        cell.insert((i, k), variables.len());
        variables.push(score - price(i).unwrap_or(0.0));
    }
    let mut rows = Vec::new();
    for i in 0..n {
        let terms = (0..m).filter_map(|k| cell.get(&(i, k))).map(|&x| (x, 1.0)).collect();
        rows.push(Row { terms, limit: 1.0, equal: false });
    }
    for k in (0..m).filter(|_| problem.constraint == Constraint::OneToOne) {
        let terms = (0..n).filter_map(|i| cell.get(&(i, k))).map(|&x| (x, 1.0)).collect();
        rows.push(Row { terms, limit: 1.0, equal: false });
    }
    let forced = cell.iter().filter(|((i, _), _)| price(*i).is_none()).map(|(_, &x)| (x, 1.0)).collect();
    let most = placed(problem, &best_matching(problem).matching) as f64;
    rows.push(Row { terms: forced, limit: most, equal: true });
    // Marginals of pairs and stars: which sums are at most which cell.
    let mut sums: BTreeMap<(usize, [usize; 3], Option<usize>), Vec<usize>> = BTreeMap::new();
    for (([i, j], [k, l]), score) in pair_scores(problem) {
        if !counts(score) {
            continue;
        }
        let x = variables.len();
        variables.push(score);
        for (own, place, other, there) in [(i, k, j, l), (j, l, i, k)] {
            sums.entry((cell[&(own, place)], [own, place, other], None)).or_default().push(x);
            if problem.constraint == Constraint::OneToOne {
                sums.entry((cell[&(own, place)], [own, place, n], Some(there))).or_default().push(x);
            }
        }
    }
    for ((limit, _, _), terms) in sums {
        let terms = terms.into_iter().map(|x| (x, 1.0)).chain([(limit, -1.0)]).collect();
        rows.push(Row { terms, limit: 0.0, equal: false });
    }
    let constant: f64 = (0..n).filter_map(price).sum();
    Program { constant, scores: variables, rows }
}

/// max scores·x over x >= 0 and the rows, if the solver is sure of it.
fn maximum(scores: &[f64], mut rows: Vec<Row>) -> Option<f64> {
    rows.sort_by_key(|row| !row.equal);
    let equal = rows.iter().filter(|row| row.equal).count();
    rows.extend((0..scores.len()).map(|x| Row { terms: vec![(x, -1.0)], limit: 0.0, equal: false }));
    let mut table = vec![vec![0.0; scores.len()]; rows.len()];
    for (line, row) in table.iter_mut().zip(&rows) {
        row.terms.iter().for_each(|&(x, coefficient)| line[x] += coefficient);
    }
    let limits: Vec<f64> = rows.iter().map(|row| row.limit).collect();
    let costs: Vec<f64> = scores.iter().map(|score| -score).collect();
    let cones = [SupportedConeT::ZeroConeT(equal), SupportedConeT::NonnegativeConeT(rows.len() - equal)];
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let nothing = CscMatrix::zeros((scores.len(), scores.len()));
    let mut solver = DefaultSolver::new(&nothing, &costs, &CscMatrix::from(&table), &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then_some(-solver.solution.obj_val)
}
