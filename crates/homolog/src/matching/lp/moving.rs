//! [`Moving`]: the relaxation of one problem while its scores move with weights, for an iteration over weights, soft matchings and
//! multipliers together.
//!
//!   score(w) = score(origin) + M (w - origin),     a column of M for each weight
//!
//! Each row's cells add up to one, so a constant on a row changes nothing but the total: the columns of M are taken less their mean over
//! each row, and those means are in `constant`. Scores and features are in single precision: nothing that is proven is made of them.

use super::answer::{shares, soft_matching};
use super::halpern::Average;
use super::repair::{feasible_cells, feasible_entries};
use super::{Factors, Halpern, Listing, Outlook, Point, Relaxed, Shifts, WarmStart, build, linear_problem};
use crate::Result;
use crate::matching::{Compatibility, Linear, Matching, Workspace};

/// The method's weight: smaller than for fixed scores, which favours multipliers, whose bounds are what is wanted.
const WEIGHT: f64 = 3.0;

/// One problem under moving weights.
pub(crate) struct Moving {
    problem: Compatibility,
    shifts: Shifts,
    factors: Factors,
    halpern: Halpern,
    /// Scores at the origin.
    cell_base: Vec<f32>,
    entry_base: Vec<f64>,
    /// M: for each weight one number per cell; for those of edges, one per entry.
    cell_features: Vec<Vec<f32>>,
    entry_features: Vec<(usize, Vec<f32>)>,
    /// The means of the rows' features, added up.
    constant: Vec<f64>,
    /// The entries' features at the anchor.
    anchored: Vec<f64>,
    sums: Vec<f32>,
    outlook: Outlook,
}

/// What the iteration has come to.
pub(crate) struct Sight {
    /// About what no matching scores more than.
    pub(crate) bound: f64,
    /// The soft matching, made feasible, if that worked.
    pub(crate) soft: Option<Relaxed>,
    /// The same, rounded.
    pub(crate) matching: Matching,
}

impl Moving {
    /// Starts from a matching, and from the multipliers of a warm start if they fit. `unit` writes the problem in which the weight of this
    /// number is one and all others are zero. Steps of variables are `share` of what they are with fixed scores. `None` for problems without edges,
    /// with prices of right nodes, or whose lists of edges depend on the weights.
    pub(crate) fn new(
        origin: Compatibility,
        dim: usize,
        mut unit: impl FnMut(usize, &mut Compatibility) -> Result<()>,
        (warm, start): (&WarmStart, &Matching),
        share: f64,
        work: &mut Workspace,
    ) -> Result<Option<Self>> {
        let linear = Linear::default().solve_through(&origin.without_edges(), work)?;
        let (Some(edge), None) = (&origin.edge, &origin.right_unmatched) else { return Ok(None) };
        let crowd = linear.certificate.as_ref().and_then(|certificate| certificate.crowd.as_ref());
        let shifts = Shifts::of(&origin, crowd);
        let factors = build(&origin, edge, &shifts, &linear.matching, Listing::Edges);
        let mut point = warm.start(&factors).map_or_else(|| Point::start(&factors), |(point, _)| point);
        set_matching(&factors, start, &mut point);
        let mut halpern = Halpern::new(&factors, point, WEIGHT);
        halpern.shorten_steps(share);
        let (mut cell_features, mut entry_features, mut constant) = (Vec::new(), Vec::new(), Vec::new());
        let mut single = origin.clone();
        for d in 0..dim {
            unit(d, &mut single)?;
            let (column, total) = centred_cells(&factors, &single);
            cell_features.push(column);
            constant.push(total);
            let Some(edge) = single.edge.as_ref().filter(|edge| edge.magnitude() > 0.0) else { continue };
            let own = build(&single, edge, &shifts, &linear.matching, Listing::Edges);
            if own.entry_slot != factors.entry_slot {
                return Ok(None);
            }
            entry_features.push((d, own.entry_score.iter().map(|score| narrow(score / own.scale)).collect()));
        }
        let cell_base = factors.cell_score.iter().map(|&score| narrow(score)).collect();
        let (entry_base, sums) = (factors.entry_score.clone(), vec![0.0; factors.cell_count()]);
        let (anchored, outlook, problem) = (Vec::new(), Outlook::default(), origin);
        let mut moving = Self {
            problem,
            shifts,
            factors,
            halpern,
            cell_base,
            entry_base,
            cell_features,
            entry_features,
            constant,
            anchored,
            sums,
            outlook,
        };
        moving.note_anchor();
        Ok(Some(moving))
    }

    /// About how many numbers the features of such a problem are.
    pub(crate) fn size(problem: &Compatibility, dim: usize) -> usize {
        let edges = problem.edge.as_ref().map_or(0, |edge| edge.left_edges().len() * edge.right_edges().len());
        problem.node.len().saturating_mul(dim).saturating_add(edges.saturating_mul(8))
    }

    /// What the scores, and so the bounds, are multiplied by.
    pub(crate) fn scale(&self) -> f64 {
        self.factors.scale
    }

    /// Σ M_d M_e τ over cells and entries, where τ are the steps of the variables.
    pub(crate) fn metric(&self) -> Vec<f64> {
        let (dim, steps) = (self.cell_features.len(), self.halpern.cell_steps());
        let mut metric = vec![0.0; dim * dim];
        let scale = |column: &Vec<f32>| column.iter().zip(steps).map(|(x, &step)| x * narrow(step)).collect();
        let scaled: Vec<Vec<f32>> = self.cell_features.iter().map(scale).collect();
        for (d, first) in scaled.iter().enumerate() {
            for (e, second) in self.cell_features[..=d].iter().enumerate() {
                let value = f64::from(product(first, second));
                (metric[d * dim + e], metric[e * dim + d]) = (value, value);
            }
        }
        for (d, first) in &self.entry_features {
            for (e, second) in &self.entry_features {
                let products = first.iter().zip(second).map(|(a, b)| f64::from(*a) * f64::from(*b));
                metric[d * dim + e] += self.halpern.entry_step() * products.sum::<f64>();
            }
        }
        metric.iter_mut().for_each(|value| *value /= WEIGHT);
        metric
    }

    /// Scores at weights that differ from the origin by so much.
    fn set_scores(&mut self, change: &[f64]) {
        self.sums.copy_from_slice(&self.cell_base);
        for (column, change) in self.cell_features.iter().zip(change) {
            let factor = narrow(change * self.factors.scale);
            self.sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += factor * x);
        }
        self.factors.cell_score.iter_mut().zip(&self.sums).for_each(|(score, &sum)| *score = f64::from(sum));
        self.factors.entry_score.copy_from_slice(&self.entry_base);
        for (d, column) in &self.entry_features {
            let factor = change[*d] * self.factors.scale;
            self.factors.entry_score.iter_mut().zip(column).for_each(|(score, &x)| *score += factor * f64::from(x));
        }
    }

    /// One step at weights that differ from the origin by so much. Writes the features of 2 x' - x; answers with the square of how far it
    /// went, in the metric of the step and in units of the scores.
    pub(crate) fn step(&mut self, change: &[f64], average: Average, features: &mut [f64]) -> f64 {
        self.set_scores(change);
        let moved = self.halpern.advance(&self.factors, average);
        self.sums.iter_mut().zip(self.halpern.reflected_cells()).for_each(|(sum, &cell)| *sum = narrow(cell));
        for ((feature, column), constant) in features.iter_mut().zip(&self.cell_features).zip(&self.constant) {
            *feature = constant + f64::from(product(column, &self.sums));
        }
        // What is current is the average of 2 x' - x and the anchor.
        let now = self.halpern.current_entries();
        for ((d, column), anchored) in self.entry_features.iter().zip(&self.anchored) {
            features[*d] += (wide_product(column, now) - (1.0 - average.ahead) * anchored) / average.ahead;
        }
        self.halpern.residual(moved).powi(2) / self.factors.scale
    }

    /// Begins afresh where it is.
    pub(crate) fn restart(&mut self) {
        self.halpern.begin_at_image(WEIGHT);
        self.note_anchor();
    }

    fn note_anchor(&mut self) {
        let image = &self.halpern.image.entries;
        self.anchored = self.entry_features.iter().map(|(_, column)| wide_product(column, image)).collect();
    }

    /// What multipliers and variables are worth at weights that differ from the origin by so much.
    pub(crate) fn look(&mut self, change: &[f64], work: &mut Workspace) -> Result<Sight> {
        self.set_scores(change);
        let (factors, image) = (&self.factors, &self.halpern.image);
        self.outlook.evaluate(factors, image, work)?;
        let moved: f64 = self.constant.iter().zip(change).map(|(mean, change)| mean * change).sum();
        let bound = self.shifts.unshifted_bound(self.outlook.bound / factors.scale) + moved;
        let soft = feasible_cells(factors, &image.cells).map(|cells| {
            let (node, unmatched) = soft_matching(&self.problem, factors, &cells);
            Relaxed::point(node, unmatched, shares(factors, &feasible_entries(factors, image, &cells)))
        });
        let rights = Linear::default().assign(&linear_problem(factors, &image.cells), work)?;
        let matching = Matching::new(rights.to_vec(), self.problem.right_count(), self.problem.constraint)?;
        Ok(Sight { bound, soft, matching })
    }

    /// Where a solve at the present weights may start.
    pub(crate) fn warm(&self) -> WarmStart {
        WarmStart::new(&self.halpern, self.factors.scale)
    }
}

/// The features of the cells for one weight, less their mean over each row; and the sum of the means.
fn centred_cells(factors: &Factors, single: &Compatibility) -> (Vec<f32>, f64) {
    let (mut column, mut total) = (Vec::with_capacity(factors.cell_count()), 0.0);
    for (row, &left) in factors.lefts.iter().enumerate() {
        let feature = |cell: usize| match factors.right(cell) {
            Some(right) => single.node[[left, right]],
            None if factors.crowded[row] => 0.0,
            None => single.unmatched_score(left),
        };
        let cells = factors.cells(row);
        let mean = cells.clone().map(feature).sum::<f64>() / cells.len().max(1) as f64;
        column.extend(cells.map(|cell| narrow(feature(cell) - mean)));
        total += mean;
    }
    (column, total)
}

/// Sets the variables to a matching.
fn set_matching(factors: &Factors, matching: &Matching, point: &mut Point) {
    let share = |is_used: bool| if is_used { 1.0 } else { 0.0 };
    for (row, &left) in factors.lefts.iter().enumerate() {
        for cell in factors.cells(row) {
            point.cells[cell] = share(factors.right(cell) == matching.right_of(left));
        }
    }
    for (q, pair) in factors.pairs.iter().enumerate() {
        let [a, b] = pair.rows;
        for (slot, first) in factors.slots(q, 0).zip(factors.cells(a)) {
            for entry in factors.entries(slot) {
                let second = factors.cell_start[b] + factors.entry_slot[entry] as usize - factors.side_start[2 * q + 1];
                point.entries[entry] = point.cells[first] * point.cells[second];
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "precision is not needed here")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Sums side by side, for the compiler's vectors.
const LANES: usize = 16;

fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

fn wide_product(a: &[f32], b: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += f64::from(*a) * b);
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| f64::from(*a) * b).sum::<f64>()
}
