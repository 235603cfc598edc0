//! From a problem in the caller's memory to the cores and back: which way round it is solved, copied or in place, scaled or not.

use super::core::{NONE, Scores};
use super::cores::Cores;
use super::given::{Given, lost_by};
use super::scan::{Facts, LANES};
use super::sparse::SparseBuffers;
use super::{few, reset, tiny};
use crate::Result;
use crate::matching::{Compatibility, Shortage};

/// Rows that are transposed together.
const BLOCK: usize = 16;

/// Buffers of the linear solver, and the answer of its last solve. Nothing is allocated for a problem no larger than one before,
/// unless forbidden pairs leave a node without a place, or most pairs are forbidden.
#[derive(Debug, Default)]
pub(crate) struct LinearBuffers {
    pub(super) cores: Cores,
    pub(super) sparse: SparseBuffers,
    /// Scores copied where the problem's own cannot be used as they stand: strided in memory, of short rows, or in need of scaling.
    pub(super) scores: Vec<f64>,
    pub(super) unmatched: Vec<f64>,
    /// Scores of a part of the problem, transposed or not.
    pub(super) part: Vec<f64>,
    pub(super) right_of: Vec<Option<usize>>,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
    /// Left nodes that compete for too few right nodes; empty where every node that must be matched can be.
    pub(super) crowd: Shortage,
    /// The caller stopped the last solve; there is no answer.
    pub(super) stopped: bool,
    /// How far above the score the proven bound is; 0 unless rounding hides it.
    pub(super) gap: f64,
}

impl LinearBuffers {
    pub(super) fn begin(&mut self, (n, m): (usize, usize)) {
        reset(&mut self.right_of, n, None);
        reset(&mut self.left, n, 0.0);
        reset(&mut self.right, m, 0.0);
        self.forget();
    }

    /// Nothing is known of a problem yet.
    fn forget(&mut self) {
        self.crowd.left.clear();
        self.crowd.right.clear();
        self.stopped = false;
        self.gap = 0.0;
    }

    pub(super) fn assign_many_to_one(&mut self, problem: &Compatibility) -> Result<()> {
        problem.check()?;
        self.begin(problem.node.dim());
        self.best_of_each_row(problem);
        Ok(())
    }

    pub(super) fn assign(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        self.unmatched.clear();
        self.unmatched.extend(problem.prices.iter().flatten());
        if self.unmatched.iter().all(|&price| price == f64::NEG_INFINITY) {
            self.unmatched.clear();
        }
        let is_tiny = n <= m && m <= tiny::MOST && self.unmatched.is_empty();
        if is_tiny && !self.cores.sure && problem.goes_on() && self.assign_tiny(problem) {
            self.forget();
            return Ok(());
        }
        self.begin((n, m));
        if !self.cores.sure && (self.assign_few(problem, few::AT_ONCE)? || self.assign_common(problem)) {
            return Ok(());
        }
        if n > m && self.unmatched.is_empty() { self.assign_tall(problem) } else { self.assign_wide(problem) }
    }

    /// Where all but one pair in `one_in` are forbidden the others are listed and solved as such; `false` where that is not so, or where scores
    /// are so unlike that the list's answer could not be proven.
    fn assign_few(&mut self, problem: &Given<'_>, one_in: usize) -> Result<bool> {
        let Some(sparse) = few::list(problem, &self.unmatched, one_in)? else { return Ok(false) };
        let Some(found) = self.sparse.prove(&sparse, &|| problem.goes_on())? else { return Ok(false) };
        let (matching, certificate) = found;
        self.right_of.copy_from_slice(matching.left_to_right());
        self.left = certificate.left;
        self.right = certificate.right;
        self.crowd = certificate.crowd.unwrap_or_default();
        Ok(true)
    }

    /// Every left node chooses.
    fn assign_wide(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        // Short rows are copied with forbidden columns up to a full set of lanes; long ones are used where they stand.
        let columns = if m < PADDED_BELOW { m.next_multiple_of(LANES) } else { m };
        let own = problem.node.as_slice().filter(|_| columns == m);
        if own.is_none() {
            self.copy_scores(problem, 1.0, columns);
        }
        let (values, sign) = own.map_or((&self.scores[..], 1.0), |own| (own, problem.sign()));
        let given = Scores { rows: n, columns, values, sign, unmatched: some_if_any(&self.unmatched) };
        let goes_on = || problem.goes_on();
        let mut facts = Facts::new(sign);
        self.cores.begin(&given, m, &mut facts);
        let scale = problem.checked_scale(&facts)?;
        let placed = if scale == 1.0 {
            self.cores.finish(&given, &goes_on)
        } else {
            self.copy_scores(problem, scale, columns);
            for price in &mut self.unmatched {
                *price *= scale;
            }
            let unmatched = some_if_any(&self.unmatched);
            self.cores.solve(&Scores { rows: n, columns, values: &self.scores, sign: 1.0, unmatched }, &goes_on)
        };
        if placed {
            let core = &self.cores.core;
            for (right, &column) in self.right_of.iter_mut().zip(&core.column_of) {
                *right = (column != NONE).then_some(column);
            }
            self.left.copy_from_slice(&core.left);
            self.right.copy_from_slice(&core.right[..m]);
            self.gap = self.cores.gap;
        } else if !problem.goes_on() {
            for (right, &column) in self.right_of.iter_mut().zip(&self.cores.core.column_of) {
                *right = (column != NONE).then_some(column);
            }
            self.stop(problem);
        } else if !self.assign_few(problem, few::WITHOUT_PLACES)? {
            self.copy_scores(problem, scale, m);
            self.solve_split(problem);
        }
        self.unscale(problem, scale);
        Ok(())
    }

    /// More left than right nodes, all of which must be matched if possible: the right nodes choose. If they all find a place, the
    /// whole problem is one crowd.
    fn assign_tall(&mut self, problem: &Given<'_>) -> Result<()> {
        let (n, m) = problem.node.dim();
        let goes_on = || problem.goes_on();
        self.copy_transposed(problem, 1.0);
        let transposed = Scores { rows: m, columns: n, values: &self.part, sign: 1.0, unmatched: None };
        let mut facts = Facts::new(1.0);
        self.cores.begin(&transposed, n, &mut facts);
        let scale = problem.checked_scale(&facts)?;
        let placed = if scale == 1.0 {
            self.cores.finish(&transposed, &goes_on)
        } else {
            self.copy_transposed(problem, scale);
            self.cores.solve(&Scores { rows: m, columns: n, values: &self.part, sign: 1.0, unmatched: None }, &goes_on)
        };
        if placed {
            self.crowd.left.extend(0..n);
            self.crowd.right.extend(0..m);
            self.take_crowd();
        } else if !problem.goes_on() {
            for (k, &i) in self.cores.core.column_of.iter().enumerate().filter(|&(_, &i)| i != NONE) {
                self.right_of[i] = Some(k);
            }
            self.stop(problem);
        } else if !self.assign_few(problem, few::WITHOUT_PLACES)? {
            self.copy_scores(problem, scale, m);
            self.solve_split(problem);
        }
        self.unscale(problem, scale);
        Ok(())
    }

    /// Writes the scores, scaled, column by column: rows are read in blocks, so that what is read and what is written both stay near.
    fn copy_transposed(&mut self, problem: &Given<'_>, scale: f64) {
        let (n, m) = problem.node.dim();
        let factor = problem.sign() * scale;
        let Some(values) = problem.node.as_slice().filter(|values| !values.is_empty()) else {
            self.part.clear();
            self.part.extend(problem.node.t().iter().map(|&value| value * factor));
            return;
        };
        self.part.resize(n * m, 0.0);
        for (block, rows) in values.chunks(BLOCK * m).enumerate() {
            for (column, copy) in self.part.chunks_exact_mut(n).enumerate() {
                let own = rows[column..].iter().step_by(m);
                copy[block * BLOCK..].iter_mut().zip(own).for_each(|(copy, value)| *copy = value * factor);
            }
        }
    }

    /// Writes the scores, scaled, row by row, each row filled up with forbidden columns.
    pub(super) fn copy_scores(&mut self, problem: &Given<'_>, scale: f64, columns: usize) {
        let (n, m) = problem.node.dim();
        let factor = problem.sign() * scale;
        reset(&mut self.scores, n * columns, f64::NEG_INFINITY);
        if m == 0 {
            return;
        }
        let copies = self.scores.chunks_exact_mut(columns);
        if let Some(values) = problem.node.as_slice() {
            // Without a view for each row, which takes as long as copying a short one.
            for (copy, row) in copies.zip(values.chunks_exact(m)) {
                copy.iter_mut().zip(row).for_each(|(copy, value)| *copy = value * factor);
            }
        } else {
            for (copy, row) in copies.zip(problem.node.rows()) {
                copy.iter_mut().zip(row).for_each(|(copy, value)| *copy = value * factor);
            }
        }
    }

    fn unscale(&mut self, problem: &Given<'_>, scale: f64) {
        if scale != 1.0 {
            for value in self.left.iter_mut().chain(&mut self.right).chain([&mut self.gap]) {
                *value /= scale;
            }
            if problem.loses_by(scale) {
                // Each row's score in two matchings.
                self.gap += 2.0 * problem.node.nrows() as f64 * lost_by(scale);
            }
        }
    }

    /// Many-to-one: each left node takes its best right node, the smallest on ties, or stays unmatched where that scores more.
    fn best_of_each_row(&mut self, problem: &Compatibility) {
        for (i, row) in problem.node.rows().into_iter().enumerate() {
            let mut best = f64::NEG_INFINITY;
            for (k, &score) in row.iter().enumerate() {
                if score > best {
                    best = score;
                    self.right_of[i] = Some(k);
                }
            }
            if problem.unmatched_score(i) > best {
                best = problem.unmatched_score(i);
                self.right_of[i] = None;
            }
            if best == f64::NEG_INFINITY {
                self.crowd.left.push(i);
                best = 0.0;
            }
            self.left[i] = best;
        }
    }
}

/// Shorter rows are worth a copy that fills up their lanes: at 500 columns the copy costs a fifth of the whole.
const PADDED_BELOW: usize = 64;

pub(super) fn some_if_any(prices: &[f64]) -> Option<&[f64]> {
    (!prices.is_empty()).then_some(prices)
}
