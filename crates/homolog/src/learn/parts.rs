//! The risk over parts: what training asks of the examples in each round, so that it can be asked anywhere.
//!
//!   R(w) = Σ_part R_part(w),   R_part(w) = Σ_(n in part) share_n · max_y [loss(y) + <w, Phi(y) - Phi(truth_n)>]      (equation 9)
//!
//! Examples have global numbers. [`Parts`] says which of them make a part: contiguous runs, fixed by how many examples there are and
//! never by how many workers or threads. A [`Piece`] is a part, or as much of it as is in one place. [`PartRisk::evaluate`] answers for
//! any pieces with a value, a plane and counts for each; those of a part are added up in their order.
//! What a part remembers from round to round (earlier violators, warm starts) is its [`PartMemory`], plain data that can be written down,
//! sent along and taken up elsewhere; seeds are functions of the round and of the example's number. So the same question to the same
//! parts gives the same bytes wherever it is asked, and as often as it is asked.

use super::most_violated::most_violated;
use super::soft::find_slack;
use super::{Example, Oracle};
use crate::matching::{Compatibility, Matcher, WarmStart, Workspace};
use crate::optimize::Plane;
use crate::{Control, Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// At most this many groups of examples have a model of their own in the bundle method; more groups mean fewer evaluations and more
/// work between them (measured: docs/benchmarks.md).
const MOST_PARTS: usize = 32;
/// Examples are added up in runs of this many, whatever the number of threads.
const RUN: usize = 16;
/// How many earlier violators of an example are kept for another try.
const MOST_KEPT: usize = 30;
/// Warm starts beyond this many numbers in all parts (4 bytes each) are not kept; their examples start from scratch each time.
const MOST_WARM: usize = 1 << 28;

/// Which examples make which part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parts {
    examples: usize,
    importance: f64,
}

impl Parts {
    /// Of so many examples whose importance adds up to so much.
    #[must_use]
    pub(crate) fn new(examples: usize, importance: f64) -> Self {
        Self { examples, importance }
    }

    /// Of these examples, all of them.
    #[must_use]
    pub(crate) fn of(examples: &[Example]) -> Self {
        Self::new(examples.len(), examples.iter().map(|example| example.importance).sum())
    }

    /// How many parts there are.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.examples.clamp(1, MOST_PARTS)
    }

    /// The numbers of the examples of a part: contiguous, as equal in number as can be.
    #[must_use]
    pub(crate) fn examples_of(&self, part: usize) -> Range<usize> {
        let count = self.count();
        part * self.examples / count..(part + 1) * self.examples / count
    }

    /// These examples, cut where one part ends and the next begins.
    #[must_use]
    pub(crate) fn pieces(&self, examples: Range<usize>) -> Vec<Piece> {
        let cut = |part: usize| {
            let Range { start, end } = self.examples_of(part);
            Piece { part, examples: start.max(examples.start)..end.min(examples.end) }
        };
        (0..self.count()).map(cut).filter(|piece| !piece.examples.is_empty()).collect()
    }

    /// What an example of this importance counts for in the mean.
    pub(super) fn share(&self, importance: f64) -> f64 {
        if self.importance > 0.0 { importance / self.importance } else { 0.0 }
    }
}

/// Examples of one part that follow one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Piece {
    /// Of which part.
    pub(crate) part: usize,
    /// Their numbers among all.
    pub(crate) examples: Range<usize>,
}

/// What is asked of the parts in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Question<'a> {
    /// The weights.
    pub(super) weights: &'a [f64],
    /// How many rounds there were before.
    pub(super) round: usize,
    /// How close value and plane of the whole risk have to be to be of use; `None`: as the oracle's settings say.
    pub(super) closeness: Option<f64>,
    /// Only planes are wanted, and soon: a relaxation is broken off after a few steps, and the value is that of the planes, so too small.
    pub(super) sketch: bool,
}

/// What a part answers, or a piece of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// An upper bound on its risk, exact with a matcher that proves its answers.
    pub(super) value: f64,
    /// A plane that is nowhere above its risk.
    pub(super) plane: Plane,
    /// How many problems were solved.
    pub(super) solves: usize,
    /// How many of the answers were proven.
    pub(super) proven: usize,
}

/// What a part, or a piece of it, remembers from round to round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PartMemory {
    /// Earlier violators of each example: slope Phi(y) - Phi(truth), offset loss(y). None while every answer was proven.
    pub(super) kept: Vec<Vec<Plane>>,
    /// Where each example's last relaxation ended.
    pub(super) warm: Vec<WarmStart>,
    /// Whether some answer was not proven.
    pub(super) is_uncertain: bool,
    /// The weights of the last round.
    pub(super) last: Vec<f64>,
    /// Which examples the exact solver has looked at under those weights.
    pub(super) examined: Vec<bool>,
}

impl PartMemory {
    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let planes: usize = self.kept.iter().flatten().map(|plane| 8 * plane.slope.len() + 40).sum();
        planes + 8 * self.last.len() + self.examined.len() + self.warm.iter().map(|warm| 4 * warm.len()).sum::<usize>()
    }

    /// Whether it may belong to a part of so many examples and weights: it may have come from a file.
    fn check(&self, examples: usize, dim: usize) -> Result<()> {
        for found in [self.kept.len(), self.warm.len(), self.examined.len()].into_iter().filter(|&found| found > 0) {
            if found != examples {
                return Err(Error::Size { what: "examples in the memory of a part", expected: examples, found });
            }
        }
        for plane in self.kept.iter().flatten() {
            if plane.slope.len() != dim {
                return Err(Error::Size { what: "weights in the memory", expected: dim, found: plane.slope.len() });
            }
        }
        Ok(())
    }

    /// What was examined under other weights no longer counts.
    fn begin_round(&mut self, weights: &[f64]) {
        if self.is_uncertain && self.last != weights {
            self.last = weights.to_vec();
            self.examined.clear();
        }
    }

    fn keep(&mut self, at: usize, examples: usize, violator: Plane) {
        self.kept.resize(examples, Vec::new());
        let kept = &mut self.kept[at];
        if kept.contains(&violator) {
            return;
        }
        if kept.len() == MOST_KEPT {
            kept.remove(0);
        }
        kept.push(violator);
    }
}

/// The risk of some parts.
#[derive(Clone, Copy)]
pub(super) struct PartRisk<'a> {
    /// Where planes come from.
    pub(super) oracle: &'a Oracle,
    /// The search, if that is the oracle.
    pub(super) matcher: &'a dyn Matcher,
    /// What is summed with what.
    pub(super) parts: Parts,
    /// When to stop.
    pub(super) control: &'a Control,
}

/// What one example contributes.
pub(super) struct Found {
    pub(super) value: f64,
    /// `None`: zero everywhere, the truth's own.
    pub(super) plane: Option<Plane>,
    pub(super) is_proven: bool,
    /// Whether the exact solver looked too.
    pub(super) examined: bool,
    /// Where its relaxation ended.
    pub(super) warm: Option<WarmStart>,
}

/// What a run of examples contributes, added up where it was found, so that memory does not grow with the number of examples times
/// features.
struct RunSum {
    answer: Answer,
    /// What to remember, with the example's place in its piece.
    unproven: Vec<(usize, Plane)>,
    examined: Vec<usize>,
    warm: Vec<(usize, WarmStart)>,
}

/// Buffers of one thread.
pub(super) struct Scratch {
    pub(super) work: Workspace,
    pub(super) problem: Compatibility,
    pub(super) shuffled: Compatibility,
}

impl Scratch {
    pub(super) fn new(control: &Control) -> Self {
        let empty = Compatibility::linear(Array2::zeros((0, 0)));
        Self { work: Workspace::with_control(control), problem: empty.clone(), shuffled: empty }
    }
}

impl PartRisk<'_> {
    /// The risk of some pieces at some weights. `examples` are those of all the pieces, one after the other, `memory` has an entry for
    /// each piece; it changes only if all goes well.
    ///
    /// # Errors
    /// Examples that do not exist, other numbers of examples or memories than the pieces have; weights that do not fit; a problem the
    /// matcher does not take. [`Error::Interrupted`] where the caller wants to stop: nothing has changed then.
    pub(super) fn evaluate(
        &self,
        pieces: &[Piece],
        examples: &[Example],
        question: &Question<'_>,
        memory: &mut [PartMemory],
    ) -> Result<Vec<Answer>> {
        self.check(pieces, examples, question, memory)?;
        let mut runs = Vec::new();
        let mut before = 0;
        for (number, piece) in pieces.iter().enumerate() {
            let count = piece.examples.len();
            runs.extend((0..count).step_by(RUN).map(|at| (number, before, at..count.min(at + RUN))));
            before += count;
        }
        let remembered = &*memory;
        let sums: Vec<(usize, RunSum)> = runs
            .into_par_iter()
            .map_init(
                || Scratch::new(self.control),
                |scratch, (number, before, range)| {
                    let examples = &examples[before + range.start..before + range.end];
                    let first = (pieces[number].examples.start + range.start, range.start);
                    Ok((number, self.sum(first, examples, question, &remembered[number], scratch)?))
                },
            )
            .collect::<Result<_>>()?;
        let mut answers: Vec<Answer> = pieces.iter().map(|_| Answer::zero(question.weights.len())).collect();
        memory.iter_mut().for_each(|memory| memory.begin_round(question.weights));
        for (number, sum) in sums {
            let (answer, memory) = (&mut answers[number], &mut memory[number]);
            answer.add(&sum.answer);
            memory.is_uncertain |= sum.answer.proven < sum.answer.solves;
            let count = pieces[number].examples.len();
            sum.unproven.into_iter().for_each(|(at, violator)| memory.keep(at, count, violator));
            for at in sum.examined {
                memory.examined.resize(count, false);
                memory.examined[at] = true;
            }
            for (at, warm) in sum.warm {
                memory.warm.resize_with(count, WarmStart::default);
                memory.warm[at] = warm;
            }
        }
        memory.iter_mut().for_each(|memory| forget(&mut memory.warm, MOST_WARM / self.parts.count()));
        Ok(answers)
    }

    fn check(
        &self,
        pieces: &[Piece],
        examples: &[Example],
        question: &Question<'_>,
        memory: &[PartMemory],
    ) -> Result<()> {
        for piece in pieces {
            let Range { start, end } = piece.examples;
            if end > self.parts.examples || start > end {
                let (index, count) = (end, self.parts.examples);
                return Err(Error::OutOfRange { what: "examples of a piece", index, count });
            }
        }
        let expected = pieces.iter().map(|piece| piece.examples.len()).sum();
        let sizes = [
            ("examples of the pieces", expected, examples.len()),
            ("memories of the pieces", pieces.len(), memory.len()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(Error::Size { what, expected, found });
            }
        }
        for (piece, memory) in pieces.iter().zip(memory) {
            memory.check(piece.examples.len(), question.weights.len())?;
        }
        Ok(())
    }

    /// The sum over a run of examples of a piece, in their order; of its first example the number, and the place in the piece.
    fn sum(
        &self,
        first: (usize, usize),
        examples: &[Example],
        question: &Question<'_>,
        memory: &PartMemory,
        scratch: &mut Scratch,
    ) -> Result<RunSum> {
        let mut sum = RunSum {
            answer: Answer::zero(question.weights.len()),
            unproven: Vec::new(),
            examined: Vec::new(),
            warm: Vec::new(),
        };
        for ((n, at), example) in (first.0..).zip(first.1..).zip(examples) {
            let found = match self.oracle {
                Oracle::Search => most_violated(example, self.matcher, question, memory, (n, at), scratch)?,
                Oracle::Relaxation(solver) => find_slack(example, solver, question, memory.warm.get(at), scratch)?,
            };
            // A solver that was interrupted answers with what it has: not with the worst there is.
            Error::if_interrupted(self.control)?;
            let share = self.parts.share(example.importance);
            sum.answer.solves += 1;
            sum.answer.proven += usize::from(found.is_proven);
            sum.answer.value += share * found.value;
            sum.warm.extend(found.warm.map(|warm| (at, warm)));
            sum.examined.extend(found.examined.then_some(at));
            let Some(plane) = found.plane else { continue };
            sum.answer.plane.offset += share * plane.offset;
            for (sum, slope) in sum.answer.plane.slope.iter_mut().zip(&plane.slope) {
                *sum += share * slope;
            }
            if !found.is_proven {
                sum.unproven.push((at, plane));
            }
        }
        Ok(sum)
    }
}

impl Answer {
    pub(super) fn zero(dim: usize) -> Self {
        Self { value: 0.0, plane: Plane { slope: vec![0.0; dim], offset: 0.0 }, solves: 0, proven: 0 }
    }

    /// Adds the answer of another piece of the same part.
    pub(super) fn add(&mut self, other: &Self) {
        self.value += other.value;
        self.plane.offset += other.plane.offset;
        self.plane.slope.iter_mut().zip(&other.plane.slope).for_each(|(sum, slope)| *sum += slope);
        self.solves += other.solves;
        self.proven += other.proven;
    }
}

/// Keeps warm starts within a limit, the first examples' before others.
fn forget(warm: &mut [WarmStart], most: usize) {
    let mut total = 0;
    for warm in warm {
        total += warm.len();
        if total > most {
            *warm = WarmStart::default();
        }
    }
}
