//! How far apart the choices of nodes are: what a tolerance has to be small compared with.
//!
//! With right values r_k, a left node's choice falls short of its best one by max_l (node_il - r_l) - (node_ik - r_k). The lower quartile of
//! what is not zero is the *usual difference* q: however large a constant is that a row, a column or a single cell has, most choices differ
//! by what they would without. Among few rows, one of the least differences may be what decides, so the least one counts, and only if it
//! is exact. Of many rows and columns some are looked at, evenly spread: O(`MOST`²).

/// What an optimal answer of node scores promises: nothing is better by more than this fraction of n q, for n left nodes.
pub(crate) const PART: f64 = 1e-12;

/// Rows, and choices per row, that are looked at.
const MOST: usize = 64;

/// So many rows are few.
const FEW: usize = 16;

/// What choices fall short by.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    rows: usize,
    short: Vec<f64>,
}

impl Differences {
    /// Of so many rows, one in how many is looked at.
    pub(crate) fn step(count: usize) -> usize {
        count / MOST + 1
    }

    /// Of so many rows, those to look at.
    pub(crate) fn rows(count: usize) -> impl Iterator<Item = usize> {
        (0..count).step_by(Self::step(count))
    }

    /// Adds a row, given what its choices are worth to it; those that are not finite do not count.
    pub(crate) fn add(&mut self, gains: impl Iterator<Item = f64> + Clone) {
        let finite = gains.filter(|gain| gain.is_finite());
        let best = finite.clone().fold(f64::NEG_INFINITY, f64::max);
        let step = Self::step(finite.clone().count());
        self.rows += 1;
        self.short.extend(finite.map(|gain| best - gain).filter(|&short| short > 0.0).step_by(step));
    }

    /// Adds those of other rows.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.rows += others.rows;
        self.short.append(&mut others.short);
    }

    /// q, from rounded numbers; 0 if all choices are alike, as far as these can tell, or if they are few: then nothing is known to be small
    /// compared with what they differ by.
    pub(crate) fn usual(self) -> f64 {
        if self.rows <= FEW { 0.0 } else { self.usual_of_exact() }
    }

    /// q, if what was added is exact.
    pub(crate) fn usual_of_exact(mut self) -> f64 {
        let at = if self.rows <= FEW { 0 } else { self.short.len() / 4 };
        if self.short.is_empty() { 0.0 } else { *self.short.select_nth_unstable_by(at, f64::total_cmp).1 }
    }
}
