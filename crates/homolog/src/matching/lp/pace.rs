//! [`Pace`]: when an iteration of Halpern's scheme begins afresh, by how far its residual has fallen.

/// A restart is due once the residual has fallen to this part of what it was at the last one, ...
const ENOUGH: f64 = 0.4;
/// ... or to this part and rises again, ...
const SOME: f64 = 0.8;
/// ... or after this share of all steps so far, and `PATIENCE` steps. The first two and the share are those of PDLP (0.2, 0.8,
/// 0.36) but for an earlier first, which measured better on graph matching problems.
const LONG: f64 = 0.36;
const PATIENCE: f64 = 30.0;

/// When to restart.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) since_restart: f64,
    pub(crate) total: f64,
    first_residual: f64,
    last_residual: f64,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { since_restart: 0.0, total: 0.0, first_residual: 0.0, last_residual: f64::INFINITY }
    }

    /// After a step of this residual.
    pub(crate) fn is_restart_due(&mut self, residual: f64) -> bool {
        if self.since_restart == 0.0 {
            self.first_residual = residual;
        }
        let due = residual <= ENOUGH * self.first_residual
            || residual <= SOME * self.first_residual && residual > self.last_residual
            || self.since_restart >= LONG * self.total + PATIENCE;
        self.last_residual = residual;
        self.total += 1.0;
        let is_due = self.since_restart > 0.0 && due;
        if is_due {
            self.begin();
        } else {
            self.since_restart += 1.0;
        }
        is_due
    }

    /// Begins afresh.
    pub(crate) fn begin(&mut self) {
        self.since_restart = 0.0;
        self.last_residual = f64::INFINITY;
    }
}
