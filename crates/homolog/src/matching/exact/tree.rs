//! Branch and bound over the relaxation: bound, round, drop what cannot win, branch.

use super::super::lp_relaxation::{Factors, Halpern, Outlook, Point, linear_problem};
use super::super::{Compatibility, Linear, Matching, Workspace};
use super::tabu::Tabu;
use super::{Exact, PROOF_TOLERANCE, Progress};
use crate::Result;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Steps of the relaxation between two looks at what it proves. A look costs as much as two or three steps.
const STEPS_PER_LOOK: usize = 20;
/// Branch when this many looks have closed less than `STALLED` of the gap.
const STALL_LOOKS: usize = 8;
const STALLED: f64 = 0.25;
/// Restrict to the open cells once this part of them has gone; copying costs about as much as two steps.
const WORTH_SHRINKING: f64 = 0.05;
/// Stored numbers (8 bytes each) beyond which the search goes depth first, which needs little memory, instead of best first.
const MAX_STORED: usize = 1 << 25;

/// A problem with a place to go on from.
struct Node {
    factors: Factors,
    point: Point,
    weight: f64,
}

/// A branch that waits: the parent, and the cell that is chosen in it.
struct Open {
    parent: Rc<Node>,
    cell: usize,
    bound: f64,
}

pub(super) struct Tree<'a> {
    settings: &'a Exact,
    root: &'a Factors,
    work: &'a mut Workspace,
    observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    tabu: Tabu<'a>,
    open: Vec<Open>,
    stored: usize,
    /// Bound of the branch at hand.
    here: f64,
    pub(super) iterations: usize,
    branches: usize,
    stopped: bool,
    /// All scores are multiples of this; 0 if there is no such number.
    step: f64,
    largest: f64,
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        settings: &'a Exact,
        root: &'a Factors,
        work: &'a mut Workspace,
        observe: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Self {
        let scores = || root.cell_score.iter().chain(&root.entry_score);
        Self {
            settings,
            root,
            work,
            observe,
            tabu: Tabu::new(root),
            open: Vec::new(),
            stored: 0,
            here: f64::INFINITY,
            iterations: 0,
            branches: 0,
            stopped: false,
            step: common_step(scores().map(|score| score / root.scale)) * root.scale,
            largest: scores().fold(0.0, |largest, score| largest.max(score.abs())),
        }
    }

    /// Searches until it is proven (`true`) or stopped (`false`).
    pub(super) fn run(&mut self, start: &Matching) -> Result<bool> {
        self.tabu.jump(start.left_to_right());
        let mut keep = vec![true; self.root.cell_count()];
        if self.root.propagate(&mut keep) {
            let (factors, origin) = self.root.restrict(&keep);
            let point = Point::start(self.root).restrict(&origin);
            self.visit(Node { factors, point, weight: 1.0 })?;
        }
        while !self.stopped
            && let Some(next) = self.take()
        {
            if next.bound <= self.threshold() {
                continue;
            }
            self.here = next.bound;
            let Node { factors, point, weight } = &*next.parent;
            let mut keep = vec![true; factors.cell_count()];
            let row = factors.cell_start.partition_point(|&start| start <= next.cell) - 1;
            factors.cells(row).for_each(|cell| keep[cell] = cell == next.cell);
            if factors.propagate(&mut keep) {
                let (small, origin) = factors.restrict(&keep);
                self.visit(Node { point: point.restrict(&origin), weight: *weight, factors: small })?;
            }
        }
        Ok(self.bound() <= self.threshold())
    }

    /// The next branch: the best bound, or the last one where memory runs short.
    fn take(&mut self) -> Option<Open> {
        let last = self.open.len().checked_sub(1)?;
        let best = if self.stored > MAX_STORED {
            last
        } else {
            (0..self.open.len()).fold(last, |best, at| if self.open[at].bound > self.open[best].bound { at } else { best })
        };
        let next = self.open.swap_remove(best);
        if Rc::strong_count(&next.parent) == 1 {
            self.stored -= next.parent.point.len();
        }
        Some(next)
    }

    /// What no matching beats, scaled.
    pub(super) fn bound(&self) -> f64 {
        self.open.iter().map(|open| open.bound).fold(self.here.max(self.tabu.best_score), f64::max)
    }

    /// A branch that cannot reach more than this has nothing better to offer.
    fn threshold(&self) -> f64 {
        let score = self.tabu.best_score;
        let tolerance = PROOF_TOLERANCE * score.abs().max(self.largest);
        // The next better score is a whole step up.
        (score + self.step - 2.0 * tolerance).max(score + tolerance)
    }

    pub(super) fn matching(&self, problem: &Compatibility) -> Result<Matching> {
        let rights = self.tabu.best.iter().map(|&cell| self.root.right(cell)).collect();
        Matching::new(rights, problem.right_count(), problem.constraint)
    }

    fn visit(&mut self, mut node: Node) -> Result<()> {
        self.branches += 1;
        let mut outlook = Outlook::default();
        let mut reach = vec![f64::INFINITY; node.factors.cell_count()];
        let mut halpern = Halpern::new(&node.factors, std::mem::take(&mut node.point), node.weight);
        let mut recent = Vec::new();
        loop {
            if node.factors.row_count() == 0 {
                self.settle(&node.factors);
                return Ok(());
            }
            outlook.evaluate(&node.factors, &halpern.image, self.work)?;
            self.here = self.here.min(outlook.bound);
            if self.here == f64::NEG_INFINITY {
                return Ok(());
            }
            reach.iter_mut().zip(&outlook.reach).for_each(|(reach, &new)| *reach = reach.min(new));
            self.improve(&node.factors, &halpern.image)?;
            if self.report() {
                return Ok(());
            }
            let threshold = self.threshold();
            if self.here <= threshold {
                self.here = f64::NEG_INFINITY;
                return Ok(());
            }
            let mut keep: Vec<bool> = reach.iter().map(|&reach| reach > threshold).collect();
            let gone = keep.iter().filter(|&&keep| !keep).count();
            if gone as f64 > WORTH_SHRINKING * keep.len() as f64 {
                if !node.factors.propagate(&mut keep) {
                    self.here = f64::NEG_INFINITY;
                    return Ok(());
                }
                let (small, origin) = node.factors.restrict(&keep);
                reach = origin.cells.iter().map(|&cell| reach[cell]).collect();
                halpern = Halpern::new(&small, halpern.image.restrict(&origin), halpern.weight);
                node.factors = small;
                continue;
            }
            recent.push(self.here);
            if recent.len() > STALL_LOOKS {
                let before = recent[recent.len() - 1 - STALL_LOOKS];
                if before - self.here < STALLED * (before - threshold) {
                    self.branch(Node { point: halpern.image, weight: halpern.weight, ..node }, &reach);
                    return Ok(());
                }
            }
            for _ in 0..STEPS_PER_LOOK {
                if self.work.interrupted() {
                    self.stopped = true;
                    return Ok(());
                }
                halpern.step(&node.factors);
                self.iterations += 1;
            }
        }
    }

    /// Everything is fixed: one matching is left.
    fn settle(&mut self, factors: &Factors) {
        let mut rights = vec![None; self.root.row_count()];
        factors.fixed.iter().for_each(|&(left, right)| rights[left] = right);
        self.tabu.jump(&rights);
        self.here = f64::NEG_INFINITY;
    }

    /// Rounds the soft matching and lets the tabu search go on, from there if it is any good.
    fn improve(&mut self, factors: &Factors, point: &Point) -> Result<()> {
        let linear = linear_problem(factors, &point.cells);
        let rights = Linear::default().assign(&linear, self.work)?;
        let mut map = vec![None; self.root.row_count()];
        factors.fixed.iter().for_each(|&(left, right)| map[left] = right);
        for (row, column) in rights.iter().enumerate() {
            map[factors.lefts[row]] = column.map(|column| factors.rights[column]);
        }
        self.tabu.jump(&map);
        let steps = 2 * self.root.row_count();
        let work = &*self.work;
        self.tabu.run(steps, || work.interrupted());
        Ok(())
    }

    /// Tells the caller; whether to stop.
    fn report(&mut self) -> bool {
        let scale = self.root.scale;
        let (score, bound) = (self.tabu.best_score / scale, self.bound() / scale);
        let progress =
            Progress { iterations: self.iterations, branches: self.branches, open: self.open.len(), score, bound };
        self.stopped |= (self.observe)(&progress).is_break()
            || self.iterations >= self.settings.max_iterations
            || self.branches >= self.settings.max_branches
            || bound - score < self.settings.gap * score.abs();
        self.stopped
    }

    /// Branches on the left or right node whose choices have least left to hope for.
    fn branch(&mut self, node: Node, reach: &[f64]) {
        let factors = &node.factors;
        let threshold = self.threshold();
        let hope = |cells: &[usize]| cells.iter().map(|&cell| (reach[cell] - threshold).max(0.0)).sum::<f64>();
        let mut best: (f64, Vec<usize>) = (f64::INFINITY, Vec::new());
        for row in 0..factors.row_count() {
            let cells: Vec<usize> = factors.cells(row).collect();
            if hope(&cells) < best.0 {
                best = (hope(&cells), cells);
            }
        }
        // A right node that is surely used can be branched on as well.
        let everyone = (0..factors.row_count()).filter(|&row| !factors.may_rest(row)).count();
        if everyone == factors.rights.len() && !factors.many_to_one {
            for column in 0..factors.rights.len() {
                let cells: Vec<usize> =
                    (0..factors.cell_count()).filter(|&cell| factors.cell_column[cell] as usize == column).collect();
                if hope(&cells) < best.0 {
                    best = (hope(&cells), cells);
                }
            }
        }
        let mut cells = best.1;
        cells.retain(|&cell| reach[cell] > threshold);
        // The most promising last: it is the next one in a depth first search.
        cells.sort_by(|&a, &b| reach[a].total_cmp(&reach[b]).then(b.cmp(&a)));
        self.stored += node.point.len();
        let bound = self.here;
        let parent = Rc::new(node);
        self.open.extend(cells.into_iter().map(|cell| Open {
            parent: Rc::clone(&parent),
            cell,
            bound: reach[cell].min(bound),
        }));
        self.here = f64::NEG_INFINITY;
    }
}

/// The largest number of which all scores are multiples, if they are whole numbers; else 0.
fn common_step(scores: impl Iterator<Item = f64>) -> f64 {
    let mut step = 0_u64;
    for score in scores {
        // Beyond 2^53 every float is a whole number and the differences between scores are lost.
        if score.fract() != 0.0 || score.abs() >= 2.0_f64.powi(53) {
            return 0.0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2^53")]
        let (mut a, mut b) = (step, score.abs() as u64);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        step = a;
    }
    step as f64
}
