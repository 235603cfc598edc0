//! Weights for the house problems: the paper's model (60 shape context weights and one for adjacency) and its max-margin objective,
//! trained against the linear relaxation, whose maximum bounds the true one: planes come from feasible soft matchings, the value
//! from the upper bound, so the objective found and its bound are both proven.

use super::Problem;
use super::problems::{frames, order};
use crate::clock::Stopwatch;
use anyhow::Result;
use homolog::features::{Described, FeatureMap, Instance, NodeDescriptor, ShapeContext};
use homolog::graph::Graph;
use homolog::matching::{LpRelaxation, Matching, WarmStart, Workspace};
use homolog::optimize::{Bundle, Plane, Risk};
use ndarray::Array2;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The regularisation at which the paper's model is known to reach a test loss of 0.
const LAMBDA: f64 = 0.1;
/// Ends where the objective is within this part of its bound.
const GAP: f64 = 0.01;
/// How closely each relaxation is solved; losses are between 0 and 1.
const TOLERANCE: f64 = 5e-4;

/// The test problems under learned weights.
pub(super) struct Learned {
    pub(super) lambda: f64,
    pub(super) problems: Vec<Problem>,
    /// How the training went.
    pub(super) remark: String,
}

/// Trains on the training pairs of a baseline and builds the test problems; the known score is that of the truth.
pub(super) fn learn(data: &Path, baseline: usize) -> Result<Learned> {
    let map = FeatureMap::paper_quadratic();
    let frames = frames(data)?;
    let describe = |frame: usize, order: &[usize]| -> Result<Arc<Described>> {
        Ok(Arc::new(map.describe(&Graph::from_points(frames[frame].clone())?.renumbered(order)?)?))
    };
    let plain: Vec<usize> = (0..30).collect();
    let mut splits: [Vec<Example>; 3] = Default::default();
    for first in 0..111 - baseline {
        let order = order(first as u64);
        let instance = map.instance(&describe(first, &plain)?, &describe(first + baseline, &order)?)?;
        let mut truth = vec![None; 30];
        order.iter().enumerate().for_each(|(new, &old)| truth[old] = Some(new));
        let truth = Matching::new(truth, 30, homolog::matching::Constraint::OneToOne)?;
        let contexts = [(first, &plain), (first + baseline, &order)].map(|(frame, order)| -> Result<Array2<f64>> {
            let graph = Graph::from_points(frames[frame].clone())?.renumbered(order)?;
            Ok(ShapeContext::default().describe(&graph)?)
        });
        let [left, right] = contexts;
        let name = format!("{}-{}", first + 1, first + 1 + baseline);
        splits[first % 3].push(Example { name, instance, truth, contexts: [left?, right?] });
    }
    let [train, _, test] = splits;
    let warm = train.iter().map(|_| WarmStart::default()).collect();
    let mut risk = RelaxedRisk { dim: map.dim(), examples: train, warm, work: Workspace::new(), steps: 0 };
    let bundle = Bundle { lambda: LAMBDA, gap_tolerance: GAP, ..Bundle::default() };
    let start = Stopwatch::start();
    let minimum = bundle.minimize(&mut risk, &mut |_| ControlFlow::Continue(()))?;
    let remark = format!(
        "objective {:.4}, bound {:.4}, relaxed risk {:.4}; {} evaluations, {} steps, {:.1} s",
        minimum.objective,
        minimum.bound,
        minimum.risk,
        minimum.history.len(),
        risk.steps,
        start.stop().cpu
    );
    let problem = |example: &Example| -> Result<Problem> {
        let problem = example.instance.compatibility(&minimum.weights)?;
        let known = Some(problem.score(&example.truth)?);
        Ok(Problem { name: example.name.clone(), problem, known })
    };
    Ok(Learned { lambda: LAMBDA, problems: test.iter().map(problem).collect::<Result<_>>()?, remark })
}

struct Example {
    name: String,
    instance: Instance,
    truth: Matching,
    /// Shape contexts of the left and the right graph.
    contexts: [Array2<f64>; 2],
}

/// Mean over the examples of max_y [loss(y) + score(y) - score(truth)] over soft y, the loss being the share of wrong nodes.
struct RelaxedRisk {
    dim: usize,
    examples: Vec<Example>,
    warm: Vec<WarmStart>,
    work: Workspace,
    steps: usize,
}

impl Risk for RelaxedRisk {
    fn dim(&self) -> usize {
        self.dim
    }

    fn floor(&self) -> Option<f64> {
        Some(0.0)
    }

    fn evaluate(&mut self, weights: &[f64], planes: &mut [Plane]) -> homolog::Result<f64> {
        let share = 1.0 / self.examples.len() as f64;
        let mut total = 0.0;
        for (example, warm) in self.examples.iter().zip(&mut self.warm) {
            let mut problem = example.instance.compatibility(weights)?;
            let truth_score = problem.score(&example.truth)?;
            let wrong = 1.0 / problem.left_count() as f64;
            problem.node += wrong;
            example.truth.pairs().for_each(|pair| problem.node[pair] -= wrong);
            let solver = LpRelaxation { gap: 0.0, tolerance: TOLERANCE, ..LpRelaxation::default() };
            let relaxed = solver.solve_from(&problem, warm, &mut self.work)?;
            self.steps += relaxed.iterations;
            total += share * (relaxed.bound - truth_score);
            let right: f64 = example.truth.pairs().map(|pair| relaxed.node[pair]).sum();
            planes[0].offset += share * (1.0 - wrong * right);
            let (features, edge) = planes[0].slope.split_at_mut(self.dim - 1);
            let [left, right] = &example.contexts;
            for ((i, k), &amount) in relaxed.node.indexed_iter().filter(|&(_, &amount)| amount > 0.0) {
                for ((feature, a), b) in features.iter_mut().zip(left.row(i)).zip(right.row(k)) {
                    *feature -= share * amount * wrong * (a - b) * (a - b);
                }
            }
            // Adjacency counts both directions of every edge.
            edge[0] += share * 2.0 * relaxed.edges.iter().map(|edge| edge.share).sum::<f64>();
            example.instance.add_joint_features(&example.truth, -share, &mut planes[0].slope)?;
        }
        Ok(total)
    }
}
