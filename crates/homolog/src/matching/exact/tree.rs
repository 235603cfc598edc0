//! Branch and bound over the relaxation: bound, round, drop what cannot win, branch.
//!
//! All numbers here are shifted and scaled like the factors. A branch is a value: [`Tree::visit`] works on one and returns what became
//! of it ([`Outcome`]); only the loop in [`Tree::run`] keeps the waiting branches and their bounds. The overall bound is the
//! largest of the waiting branches' bounds, the bound of the one that was stopped, and the score of the best matching; a branch's
//! bound is the lowest that its own or any of its ancestors' multipliers prove.

use super::branch::{Node, Open, Outcome, narrowest_choice};
use super::incumbent::Incumbent;
use super::{Exact, PATIENCE, PROOF_TOLERANCE, Progress};
use crate::Result;
use crate::matching::lp::{Factors, Halpern, Outlook, Point, Resolution, START_WEIGHT, common_step, linear_problem};
use crate::matching::search::Tabu;
use crate::matching::tolerance::is_negligible;
use crate::matching::{Compatibility, Linear, Matching, Workspace};
use std::ops::ControlFlow;
use std::rc::Rc;

/// Steps of the relaxation between two looks at what it proves. A look costs as much as two or three steps.
const STEPS_PER_LOOK: usize = 20;
/// Branch when this many looks have closed less than a certain fraction of the gap: little at the root, whose multipliers every
/// branch starts from, more in a branch. Times on QAPLIB depend little on all three constants.
const STALL_LOOKS: usize = 5;
const STALLED_AT_ROOT: f64 = 0.03;
const STALLED: f64 = 0.3;
/// Restrict to the open cells once this fraction of them has gone; copying costs about as much as two steps.
const WORTH_SHRINKING: f64 = 0.05;
/// Stored numbers (8 bytes each) beyond which the search goes depth first, which needs little memory, instead of best first.
const MAX_STORED: usize = 1 << 26;
/// After this many looks without a better matching, only one look in `SEARCH_PAUSE` searches for one.
const SEARCH_LOOKS: usize = 64;
const DENSE_LOOKS: usize = 32;
const SEARCH_PAUSE: usize = 8;
/// Steps of the tabu search for each step of the relaxation, times cells per entry: about a third of the work.
const SEARCH_SHARE: f64 = 0.15;
/// The same where graphs are dense: half of the work.
const DENSE_SHARE: f64 = 3.0;

/// The whole problem, both as a relaxation and as a space to search.
pub(super) struct Root<'a> {
    pub(super) factors: &'a Factors,
    pub(super) search: Tabu<'a>,
    /// Whether most pairs of nodes have an edge on both sides, and steps of the search are quick for that.
    pub(super) dense: bool,
}

pub(super) struct Tree<'a> {
    settings: &'a Exact,
    root: &'a Factors,
    work: &'a mut Workspace,
    observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    /// Turns a score used here into one of the problem.
    unshift: &'a dyn Fn(f64) -> f64,
    best: Incumbent<'a>,
    search: Tabu<'a>,
    dense: bool,
    open: Vec<Open>,
    stored: usize,
    /// Bound of a branch that was stopped.
    stopped_at: f64,
    pub(super) iterations: usize,
    branches: usize,
    looks_since_better: usize,
    searches: usize,
    /// All scores are multiples of this; 0 if there is no such number.
    step: f64,
    /// The most that all pairs of edges together could add, the largest entry, and the largest cell.
    edge_hope: f64,
    largest_entry: f64,
    largest_cell: f64,
    /// What rounding may have changed a bound by, beyond the tolerance.
    blur: f64,
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        settings: &'a Exact,
        Root { factors: root, search, dense }: Root<'a>,
        work: &'a mut Workspace,
        observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
        unshift: &'a dyn Fn(f64) -> f64,
    ) -> Self {
        let scores = || root.cell_score.iter().chain(&root.entry_score);
        let largest = |scores: &[f64]| scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
        Self {
            settings,
            root,
            work,
            observe,
            unshift,
            best: Incumbent::new(root),
            search,
            dense,
            open: Vec::new(),
            stored: 0,
            stopped_at: f64::NEG_INFINITY,
            iterations: 0,
            branches: 0,
            looks_since_better: 0,
            searches: 0,
            step: common_step(scores().map(|score| score / root.scale)) * root.scale,
            edge_hope: (0..root.pairs.len()).map(|pair| root.best_entry(pair)).sum(),
            largest_entry: largest(&root.entry_score),
            largest_cell: largest(&root.cell_score),
            blur: 0.0,
        }
    }

    /// Searches until it is proven or stopped.
    pub(super) fn run(&mut self, start: &Matching, quick: Option<&Matching>) -> Result<()> {
        for start in [Some(start), quick].into_iter().flatten() {
            self.go_on_from(start.left_to_right());
        }
        if self.dense {
            let work = &*self.work;
            self.search.search(PATIENCE * self.root.cell_count(), usize::MAX, || work.interrupted());
            self.best.offer(&self.search.best());
        }
        let mut next = self.root_node().map(|node| (node, f64::INFINITY));
        loop {
            if let Some((node, bound)) = next {
                match self.visit(node, bound)? {
                    Outcome::Pruned | Outcome::Settled => {}
                    Outcome::Split { node, bound, reach } => self.split(*node, bound, &reach),
                    Outcome::Stopped { bound } => {
                        self.stopped_at = bound;
                        return Ok(());
                    }
                }
            }
            let Some(open) = self.take() else { return Ok(()) };
            if open.bound <= self.threshold() {
                next = None;
            } else if self.branches >= self.settings.max_branches {
                self.stopped_at = open.bound;
                return Ok(());
            } else {
                next = open.node().map(|node| (node, open.bound));
            }
        }
    }

    /// The whole problem, without the cells that fall short of the start by more than all edges could make up for.
    fn root_node(&self) -> Option<Node> {
        let least = self.best.score - self.edge_hope;
        let slack = 1e-9 * least.abs();
        let mut keep: Vec<bool> = self.root.cell_score.iter().map(|&score| score >= least - slack).collect();
        self.root.propagate(&mut keep).then(|| {
            let (factors, origin) = self.root.restrict(&keep);
            Node { factors, point: Point::start(self.root).restrict(&origin), weight: START_WEIGHT }
        })
    }

    /// The next branch: the best bound, or the last one where memory runs short.
    fn take(&mut self) -> Option<Open> {
        let last = self.open.len().checked_sub(1)?;
        let best = if self.stored > MAX_STORED {
            last
        } else {
            (0..self.open.len())
                .fold(last, |best, at| if self.open[at].bound > self.open[best].bound { at } else { best })
        };
        let next = self.open.swap_remove(best);
        if Rc::strong_count(&next.parent) == 1 {
            self.stored -= next.parent.size();
        }
        Some(next)
    }

    /// No matching scores more than this.
    pub(super) fn bound(&self) -> f64 {
        self.open.iter().map(|open| open.bound).fold(self.stopped_at.max(self.best.score), f64::max)
    }

    /// Whether nothing better than the best matching remains.
    pub(super) fn is_proven(&self) -> bool {
        self.bound() <= self.threshold()
    }

    /// What every matching's score is at most, whatever rounding did.
    pub(super) fn safe_bound(&self) -> f64 {
        self.bound() + self.tolerance() + self.blur
    }

    /// How far apart two scores must be to be told apart here.
    pub(super) fn tolerance(&self) -> f64 {
        let score = self.best.score;
        // Cells that fall short by more than all edges could add do not matter.
        let cell = self.largest_cell.min(self.edge_hope - score);
        PROOF_TOLERANCE * score.abs().max(self.largest_entry).max(cell)
    }

    /// What rounding may have changed a bound by, if that is not covered by the tolerance: worst cases are a hundred times what is seen.
    fn visible(&self, rounding: f64) -> f64 {
        if rounding > 100.0 * self.tolerance() { rounding } else { 0.0 }
    }

    /// How much a matching better than the best known may fall short of the best choice of every row and pair together.
    pub(super) fn room(&self) -> f64 {
        (self.edge_hope - self.best.score + 8.0 * self.tolerance()) * (1.0 + 1e-9)
    }

    /// Whether the tolerance, and what scores may be off by anyway, is small beside the differences that decide between matchings, so that
    /// there is a proof; then how much it leaves open, or 0 if that is negligible. Differences between rounded scores say nothing about what
    /// rounding took from them, so that has to be below the tolerance too.
    pub(super) fn leaves_open(&self, problem: &Compatibility, best: &Matching, rounding: f64) -> Option<f64> {
        let (tolerance, resolution) = (self.tolerance(), Resolution::of(self.root, problem, best));
        if rounding > tolerance || !resolution.allows(tolerance, rounding + self.blur) {
            return None;
        }
        // If the next better score is a whole step up, nothing is left open.
        let open = if self.step > 0.0 { 0.0 } else { tolerance + rounding };
        let is_negligible = is_negligible(open, resolution.difference(), self.best.score);
        Some(if is_negligible { 0.0 } else { open })
    }

    /// A branch that cannot exceed this has nothing better to offer.
    fn threshold(&self) -> f64 {
        let (score, tolerance) = (self.best.score, self.tolerance());
        // The next better score is a whole step up.
        (score + self.step - 2.0 * tolerance).max(score + tolerance)
    }

    pub(super) fn matching(&self, problem: &Compatibility) -> Result<Matching> {
        Matching::new(self.best.best().to_vec(), problem.right_count(), problem.constraint)
    }

    /// Works on a branch, in which nothing scores more than `bound`, until it is done, stopped, or has to be split.
    fn visit(&mut self, node: Node, mut bound: f64) -> Result<Outcome> {
        self.branches += 1;
        let stalled = if self.branches == 1 { STALLED_AT_ROOT } else { STALLED };
        let mut factors = node.factors;
        let mut halpern = Halpern::new(&factors, node.point, node.weight);
        let mut outlook = Outlook::default();
        let mut reach = vec![f64::INFINITY; factors.cell_count()];
        let mut bounds = Vec::new();
        while factors.row_count() > 0 {
            outlook.evaluate(&factors, &halpern.image, self.work)?;
            self.blur = self.blur.max(self.visible(outlook.rounding));
            bound = bound.min(outlook.bound);
            if bound == f64::NEG_INFINITY {
                return Ok(Outcome::Pruned);
            }
            self.improve(&factors, &halpern.image)?;
            if self.is_to_stop(bound) {
                return Ok(Outcome::Stopped { bound });
            }
            let threshold = self.threshold();
            reach.iter_mut().zip(&outlook.reach).for_each(|(reach, &new)| *reach = reach.min(new));
            let mut keep: Vec<bool> = reach.iter().map(|&reach| reach > threshold).collect();
            let gone = keep.iter().filter(|&&keep| !keep).count();
            if bound <= threshold || gone > 0 && !factors.propagate(&mut keep) {
                return Ok(Outcome::Pruned);
            }
            if gone as f64 > WORTH_SHRINKING * keep.len() as f64 {
                let (small, origin) = factors.restrict(&keep);
                reach = origin.cells.iter().map(|&cell| reach[cell]).collect();
                halpern = Halpern::new(&small, halpern.image.restrict(&origin), halpern.weight);
                factors = small;
            } else {
                bounds.push(bound);
                let before = bounds.len().checked_sub(STALL_LOOKS + 1).map_or(f64::INFINITY, |at| bounds[at]);
                if before - bound < stalled * (before - threshold) {
                    let node = Box::new(Node { point: halpern.image, weight: halpern.weight, factors });
                    return Ok(Outcome::Split { node, bound, reach });
                }
            }
            for _ in 0..STEPS_PER_LOOK {
                if self.work.interrupted() {
                    return Ok(Outcome::Stopped { bound });
                }
                halpern.step(&factors);
                self.iterations += 1;
            }
        }
        Ok(self.settle(&factors))
    }

    /// Everything is fixed: one matching is left, if it fills all right nodes that have to be filled.
    fn settle(&mut self, factors: &Factors) -> Outcome {
        if factors.must.contains(&true) {
            return Outcome::Pruned;
        }
        let mut rights = vec![None; self.root.row_count()];
        factors.fixed.iter().for_each(|&(left, right)| rights[left] = right);
        self.go_on_from(&rights);
        Outcome::Settled
    }

    /// Offers a matching as the best, and continues the search from it.
    fn go_on_from(&mut self, rights: &[Option<usize>]) {
        self.best.offer(rights);
        self.search.jump(rights);
    }

    /// Rounds the soft matching and searches from there, alternating with where the last search ended.
    fn improve(&mut self, factors: &Factors, point: &Point) -> Result<()> {
        self.looks_since_better += 1;
        let looks = if self.dense { DENSE_LOOKS } else { SEARCH_LOOKS };
        if self.looks_since_better > looks && !self.looks_since_better.is_multiple_of(SEARCH_PAUSE) {
            return Ok(());
        }
        let best = self.best.score;
        self.searches += 1;
        if !self.searches.is_multiple_of(2) {
            let linear = linear_problem(factors, &point.cells);
            let rights = Linear::default().assign(&linear, self.work)?;
            let mut map = vec![None; self.root.row_count()];
            factors.fixed.iter().for_each(|&(left, right)| map[left] = right);
            for (row, column) in rights.iter().enumerate() {
                map[factors.lefts[row]] = column.map(|column| factors.rights[column]);
            }
            self.best.offer(&map);
            // Where bounds are weak, what they suggest is no better a start than any other.
            if !self.dense {
                self.search.jump(&map);
            }
        }
        if self.dense && self.search.idle_steps() > PATIENCE * self.root.cell_count() {
            self.search.restart();
        }
        let share = if self.dense { DENSE_SHARE } else { SEARCH_SHARE };
        let share = share * (STEPS_PER_LOOK * self.root.entry_count()) as f64 / self.root.cell_count() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let steps = (share as usize).max(self.root.row_count());
        let work = &*self.work;
        self.search.run(steps, || work.interrupted());
        self.best.offer(&self.search.best());
        if self.best.score > best {
            self.looks_since_better = 0;
        }
        Ok(())
    }

    /// Tells the caller how far the work is, given the bound of the current branch; whether to stop.
    fn is_to_stop(&mut self, here: f64) -> bool {
        let (score, bound) = (self.best.score, self.bound().max(here));
        let (iterations, branches, open) = (self.iterations, self.branches, self.open.len());
        let ended = (self.observe)(&Progress { iterations, branches, open, score, bound }).is_break();
        let gap = (bound - score) / self.root.scale;
        ended
            || self.iterations >= self.settings.max_iterations
            || self.settings.gap > 0.0 && gap < self.settings.gap * (self.unshift)(score).abs()
    }

    /// Splits a branch by the choices of the left or right node with the least hope left.
    fn split(&mut self, node: Node, bound: f64, reach: &[f64]) {
        let threshold = self.threshold();
        let mut cells = narrowest_choice(&node.factors, reach, threshold);
        cells.retain(|&cell| reach[cell] > threshold);
        // The most promising last: a depth-first search takes it next.
        cells.sort_by(|&a, &b| reach[a].total_cmp(&reach[b]).then(b.cmp(&a)));
        if cells.is_empty() {
            return;
        }
        self.stored += node.size();
        let parent = Rc::new(node);
        self.open.extend(cells.into_iter().map(|cell| Open {
            parent: Rc::clone(&parent),
            cell,
            bound: reach[cell].min(bound),
        }));
    }
}
