//! Branch and bound over the relaxation: bound, round, drop what cannot win, branch.
//!
//! Every number in here is scaled as the factors are. The bound of the whole is the largest of the bounds of the branch at hand,
//! of the branches that wait, and the score of the best matching; a branch's bound is the least that any of its ancestors' or
//! its own multipliers prove.

use super::super::lp_relaxation::{Factors, Halpern, Outlook, Point, START_WEIGHT, linear_problem};
use super::super::{Compatibility, Linear, Matching, Workspace};
use super::tabu::Tabu;
use super::{Exact, PROOF_TOLERANCE, Progress};
use crate::Result;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Steps of the relaxation between two looks at what it proves. A look costs as much as two or three steps.
const STEPS_PER_LOOK: usize = 20;
/// Branch when this many looks have closed less than a certain part of the gap: little at the root, whose multipliers every
/// branch starts from, more in a branch. Times on QAPLIB depend little on all three.
const STALL_LOOKS: usize = 5;
const STALLED_AT_ROOT: f64 = 0.03;
const STALLED: f64 = 0.3;
/// Restrict to the open cells once this part of them has gone; copying costs about as much as two steps.
const WORTH_SHRINKING: f64 = 0.05;
/// Stored numbers (8 bytes each) beyond which the search goes depth first, which needs little memory, instead of best first.
const MAX_STORED: usize = 1 << 26;
/// After this many looks without a better matching, only one look in `SEARCH_PAUSE` searches for one.
const SEARCH_LOOKS: usize = 64;
const SEARCH_PAUSE: usize = 8;
/// Steps of the tabu search for each step of the relaxation, times cells per entry: about a third of the work.
const SEARCH_SHARE: f64 = 0.15;

/// A problem with a place to go on from.
struct Node {
    factors: Factors,
    point: Point,
    weight: f64,
}

impl Node {
    /// Roughly how many numbers it holds: the point, and the entries with their indices.
    fn size(&self) -> usize {
        self.point.len() + 3 * self.factors.entry_count()
    }
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
    looks_since_better: usize,
    searches: usize,
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
            looks_since_better: 0,
            searches: 0,
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
            self.visit(Node { factors, point, weight: START_WEIGHT })?;
        }
        while !self.stopped
            && let Some(next) = self.take()
        {
            if next.bound <= self.threshold() {
                continue;
            }
            self.here = next.bound;
            if self.branches >= self.settings.max_branches {
                self.stopped = true;
                break;
            }
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
            (0..self.open.len())
                .fold(last, |best, at| if self.open[at].bound > self.open[best].bound { at } else { best })
        };
        let next = self.open.swap_remove(best);
        if Rc::strong_count(&next.parent) == 1 {
            self.stored -= next.parent.size();
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

    /// Works on a branch until it is done, stopped, or split into further ones. `here` is its bound.
    fn visit(&mut self, node: Node) -> Result<()> {
        self.branches += 1;
        let stalled = if self.branches == 1 { STALLED_AT_ROOT } else { STALLED };
        let mut factors = node.factors;
        let mut halpern = Halpern::new(&factors, node.point, node.weight);
        let mut outlook = Outlook::default();
        let mut reach = vec![f64::INFINITY; factors.cell_count()];
        let mut bounds = Vec::new();
        while factors.row_count() > 0 {
            outlook.evaluate(&factors, &halpern.image, self.work)?;
            self.here = self.here.min(outlook.bound);
            if self.here == f64::NEG_INFINITY {
                return Ok(());
            }
            self.improve(&factors, &halpern.image)?;
            if self.report() {
                return Ok(());
            }
            let threshold = self.threshold();
            reach.iter_mut().zip(&outlook.reach).for_each(|(reach, &new)| *reach = reach.min(new));
            let mut keep: Vec<bool> = reach.iter().map(|&reach| reach > threshold).collect();
            let gone = keep.iter().filter(|&&keep| !keep).count();
            if self.here <= threshold || gone > 0 && !factors.propagate(&mut keep) {
                self.here = f64::NEG_INFINITY;
                return Ok(());
            }
            if gone as f64 > WORTH_SHRINKING * keep.len() as f64 {
                let (small, origin) = factors.restrict(&keep);
                reach = origin.cells.iter().map(|&cell| reach[cell]).collect();
                halpern = Halpern::new(&small, halpern.image.restrict(&origin), halpern.weight);
                factors = small;
            } else {
                bounds.push(self.here);
                let before = bounds.len().checked_sub(STALL_LOOKS + 1).map_or(f64::INFINITY, |at| bounds[at]);
                if before - self.here < stalled * (before - threshold) {
                    self.branch(Node { point: halpern.image, weight: halpern.weight, factors }, &reach);
                    return Ok(());
                }
            }
            for _ in 0..STEPS_PER_LOOK {
                if self.work.interrupted() {
                    self.stopped = true;
                    return Ok(());
                }
                halpern.step(&factors);
                self.iterations += 1;
            }
        }
        self.settle(&factors);
        Ok(())
    }

    /// Everything is fixed: one matching is left.
    fn settle(&mut self, factors: &Factors) {
        let mut rights = vec![None; self.root.row_count()];
        factors.fixed.iter().for_each(|&(left, right)| rights[left] = right);
        self.tabu.jump(&rights);
        self.here = f64::NEG_INFINITY;
    }

    /// Rounds the soft matching and searches from there, and from where the last search ended in turns.
    fn improve(&mut self, factors: &Factors, point: &Point) -> Result<()> {
        self.looks_since_better += 1;
        if self.looks_since_better > SEARCH_LOOKS && !self.looks_since_better.is_multiple_of(SEARCH_PAUSE) {
            return Ok(());
        }
        let best = self.tabu.best_score;
        self.searches += 1;
        if !self.searches.is_multiple_of(2) {
            let linear = linear_problem(factors, &point.cells);
            let rights = Linear::default().assign(&linear, self.work)?;
            let mut map = vec![None; self.root.row_count()];
            factors.fixed.iter().for_each(|&(left, right)| map[left] = right);
            for (row, column) in rights.iter().enumerate() {
                map[factors.lefts[row]] = column.map(|column| factors.rights[column]);
            }
            self.tabu.jump(&map);
        }
        let share = SEARCH_SHARE * (STEPS_PER_LOOK * self.root.entry_count()) as f64 / self.root.cell_count() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let steps = (share as usize).max(self.root.row_count());
        let work = &*self.work;
        self.tabu.run(steps, || work.interrupted());
        if self.tabu.best_score > best {
            self.looks_since_better = 0;
        }
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
        self.stored += node.size();
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
