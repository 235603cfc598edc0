//! One solve of the relaxation: steps, on all cells or on a few, and bounds from both sides.

use super::answer::{of_matching, shares, soft_matching};
use super::narrow::lift;
use super::sift::{Sift, Sifting};
use super::{Factors, Halpern, Lower, Outlook, Point, Relaxed, Resolution, START_WEIGHT, Shifts, WarmStart};
use crate::Result;
use crate::matching::{Compatibility, Matching, Workspace};

/// A matching's score is the bound if they agree to this part of the score, or of the largest edge score, shifted.
const TIGHT: f64 = 1e-10;

/// Steps between two looks at the bounds, and as a part of all steps so far: a look takes as long as three steps. ...
const STEPS_PER_LOOK: usize = 20;
const LOOK_SHARE: usize = 10;
/// ... On few cells it takes as long as ten.
const STEPS_PER_NARROW_LOOK: usize = 40;
const NARROW_LOOK_SHARE: usize = 5;
/// How close, as a part of what is asked for, a narrow problem is solved before the look at the whole.
const NARROW_GOAL: f64 = 0.8;

pub(super) struct Run<'a> {
    problem: &'a Compatibility,
    factors: &'a Factors,
    shifts: &'a Shifts,
    pub(super) halpern: Halpern,
    outlook: Outlook,
    /// Shifted, in units of the scores.
    bound: f64,
    /// What rounding may have changed it by.
    rounding: f64,
    lower: Lower,
    pub(super) sift: Sift,
    pub(super) iterations: usize,
}

impl<'a> Run<'a> {
    /// Starts from the warm start where it fits, with a feasible matching in hand.
    pub(super) fn new(
        problem: &'a Compatibility,
        factors: &'a Factors,
        shifts: &'a Shifts,
        (warm, sifting): (&WarmStart, Sifting),
        matching: &Matching,
    ) -> Self {
        let start = warm.start(factors);
        let sift = Sift::new(sifting, start.is_some());
        let (point, weight) = start.unwrap_or_else(|| (Point::start(factors), START_WEIGHT));
        Self {
            problem,
            factors,
            shifts,
            halpern: Halpern::new(factors, point, weight),
            outlook: Outlook::default(),
            bound: f64::INFINITY,
            rounding: 0.0,
            lower: Lower::new(matching, shifts.score(problem, matching)),
            sift,
            iterations: 0,
        }
    }

    /// How far bound and value are apart.
    pub(super) fn gap(&self) -> f64 {
        self.bound - self.lower.value
    }

    /// The bound on the problem's own scores.
    pub(super) fn total_bound(&self) -> f64 {
        self.shifts.unshifted_bound(self.bound)
    }

    /// What multipliers and variables are worth now.
    pub(super) fn look(&mut self, work: &mut Workspace) -> Result<()> {
        let (factors, image) = (self.factors, &self.halpern.image);
        self.outlook.evaluate(factors, image, work)?;
        if self.outlook.bound / factors.scale < self.bound {
            (self.bound, self.rounding) = (self.outlook.bound / factors.scale, self.outlook.rounding / factors.scale);
        }
        self.lower.take((self.problem, self.shifts), factors, image, work)
    }

    /// Steps until the next look, at most to number `last`; `wanted` is the gap to reach.
    pub(super) fn go_on(&mut self, wanted: f64, last: usize, work: &mut Workspace) -> Result<()> {
        if self.sift.choose(self.factors, &self.outlook, &self.lower, &self.halpern.image) {
            return self.go_on_with_few(wanted, last, work);
        }
        let start = self.iterations;
        let next = last.min(start + STEPS_PER_LOOK.max(start / LOOK_SHARE));
        while self.iterations < next && !work.interrupted() {
            self.halpern.step(self.factors);
            self.iterations += 1;
        }
        self.sift.pay(self.iterations - start);
        Ok(())
    }

    /// The same on the cells that are kept, with looks of its own.
    fn go_on_with_few(&mut self, wanted: f64, last: usize, work: &mut Workspace) -> Result<()> {
        let (few, origin) = self.factors.narrow(&self.sift.keep);
        let mut halpern = Halpern::new(&few, self.halpern.image.restrict(&origin), self.halpern.weight);
        let mut outlook = Outlook::default();
        let (start, before) = (self.iterations, self.lower.value);
        let last = last.min(start + self.sift.next_round());
        loop {
            let done = self.iterations - start;
            let next = last.min(self.iterations + STEPS_PER_NARROW_LOOK.max(done / NARROW_LOOK_SHARE));
            while self.iterations < next && !work.interrupted() {
                halpern.step(&few);
                self.iterations += 1;
            }
            outlook.evaluate(&few, &halpern.image, work)?;
            self.lower.take((self.problem, self.shifts), &few, &halpern.image, work)?;
            let gap = outlook.bound / few.scale - self.lower.value;
            if gap <= NARROW_GOAL * wanted || self.iterations >= last || work.interrupted() {
                break;
            }
        }
        self.lower.widen(before, self.factors, &origin);
        lift(self.factors, &self.sift.keep, &origin, &halpern.image, &mut self.halpern.image);
        self.halpern.begin_at_image(halpern.weight);
        Ok(())
    }

    /// Whether the best matching scores what the bound allows; scores may be off by `rounding` anyway.
    fn is_tight(&self, rounding: f64) -> bool {
        let entries = self.factors.entry_score.iter();
        let largest = entries.fold(0.0_f64, |largest, score| largest.max(score.abs())) / self.factors.scale;
        let tolerance = TIGHT * self.lower.score.abs().max(largest);
        self.bound - self.lower.score <= tolerance
            && self.rounding.max(rounding) <= tolerance
            && Resolution::of(self.factors, self.problem, &self.lower.matching)
                .allows(tolerance * self.factors.scale, rounding * self.factors.scale)
    }

    pub(super) fn finish(self, rounding: f64) -> Relaxed {
        let tight = self.is_tight(rounding);
        let mut relaxed = of_matching(self.problem, &self.lower.matching);
        if let Some((cells, entries)) = &self.lower.soft
            && !tight
        {
            (relaxed.node, relaxed.unmatched) = soft_matching(self.problem, self.factors, cells);
            relaxed.edges = shares(self.factors, entries);
        }
        relaxed.value = self.shifts.unshifted(if tight { self.lower.score } else { self.lower.value });
        // The point is feasible, so the bound is no lower; rounding may say otherwise.
        relaxed.bound = self.total_bound().max(relaxed.value);
        relaxed.matching = tight.then_some(self.lower.matching);
        relaxed.iterations = self.iterations;
        relaxed
    }
}
