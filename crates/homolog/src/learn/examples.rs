//! [`Examples`]: what training asks of the examples of a run, wherever they are; [`Here`]: examples at hand.

use super::evaluate::predict;
use super::max_margin::first_search;
use super::risk::{ExampleRisk, Memory};
use super::scale::{step, swap_ratios};
use super::soft::count_tight;
use super::{Evaluation, Example, Oracle, evaluate};
use crate::matching::{FrankWolfe, LpRelaxation, Matcher};
use crate::optimize::Risk;
use crate::{Control, Error, Result};
use std::borrow::Cow;

/// How the risk is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// By the oracle of the settings.
    Fully,
    /// By the quick search that precedes a relaxation.
    FirstSearch,
    /// By relaxations that are broken off early: for their planes alone.
    Sketch,
}

/// Examples to learn from, and what is held out to validate by.
pub(super) trait Examples {
    /// How many there are to learn from.
    fn count(&self) -> usize;

    /// How many weights they have.
    ///
    /// # Errors
    /// No examples, or examples of different features.
    fn dim(&self) -> Result<usize>;

    /// Their risk, as the bundle method asks for it.
    fn risk<'a>(
        &'a mut self,
        oracle: &'a Oracle,
        asking: Asking,
        memory: &'a mut Memory,
        control: &'a Control,
    ) -> Result<Box<dyn Risk + 'a>>;

    /// What swaps of two nodes say about the size of these weights.
    fn swap_ratios(&self, weights: &[f64]) -> Result<Vec<f64>>;

    /// Whether the paper's lemma applies to all of them.
    fn lemma_applies(&self) -> bool;

    /// How many of their problems the relaxation solves with proof; `None` if interrupted.
    fn count_tight(&mut self, solver: &LpRelaxation, weights: &[f64], control: &Control) -> Result<Option<usize>>;

    /// The examples themselves; none if they are elsewhere.
    fn at_hand(&self) -> &[Example];

    /// How many items are held out.
    fn held_out(&self) -> usize;

    /// What guessing loses on each held-out item.
    fn chance(&self) -> Vec<f64>;

    /// How weights do on the held-out items; `None` if there are none. If interrupted, on some of them.
    fn validate(&mut self, weights: &[f64], control: &Control) -> Result<Option<Evaluation>>;
}

/// Examples at hand.
pub(super) struct Here<'a> {
    examples: Cow<'a, [Example]>,
    search: &'a dyn Matcher,
    first_search: FrankWolfe,
    matcher: &'a dyn Matcher,
    held_out: HeldOut,
}

/// What is held out.
pub(super) enum HeldOut {
    Nothing,
    Pairs(Vec<Example>),
    /// The nodes of the only pair, for weights that were not learned from it.
    Nodes(Box<Example>),
}

impl<'a> Here<'a> {
    /// Examples with nothing held out.
    pub(super) fn new(examples: &'a [Example], search: &'a dyn Matcher) -> Self {
        Self::holding_out(Cow::Borrowed(examples), HeldOut::Nothing, search, search)
    }

    /// Examples to learn from with a search, and others to validate by with a matcher.
    pub(super) fn holding_out(
        examples: Cow<'a, [Example]>,
        held_out: HeldOut,
        search: &'a dyn Matcher,
        matcher: &'a dyn Matcher,
    ) -> Self {
        Self { examples, search, first_search: first_search(), matcher, held_out }
    }
}

impl Examples for Here<'_> {
    fn count(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> Result<usize> {
        let mut dims = self.examples.iter().map(|example| example.instance().dim());
        let expected = dims.next().ok_or(Error::NoExamples)?;
        match dims.find(|&found| found != expected) {
            Some(found) => Err(Error::Size { what: "features of an example", expected, found }),
            None => Ok(expected),
        }
    }

    fn risk<'a>(
        &'a mut self,
        oracle: &'a Oracle,
        asking: Asking,
        memory: &'a mut Memory,
        control: &'a Control,
    ) -> Result<Box<dyn Risk + 'a>> {
        let (oracle, search): (&Oracle, &dyn Matcher) = match asking {
            Asking::FirstSearch => (&Oracle::Search, &self.first_search),
            _ => (oracle, self.search),
        };
        let risk = ExampleRisk::new(oracle, &self.examples, search, memory, control)?;
        Ok(Box::new(if asking == Asking::Sketch { risk.sketched() } else { risk }))
    }

    fn swap_ratios(&self, weights: &[f64]) -> Result<Vec<f64>> {
        let mut ratios = Vec::new();
        for example in self.examples.iter().step_by(step(self.examples.len())) {
            ratios.extend(swap_ratios(weights, example)?);
        }
        Ok(ratios)
    }

    fn lemma_applies(&self) -> bool {
        self.examples.iter().all(Example::lemma_applies)
    }

    fn count_tight(&mut self, solver: &LpRelaxation, weights: &[f64], control: &Control) -> Result<Option<usize>> {
        count_tight(&self.examples, solver, weights, control)
    }

    fn at_hand(&self) -> &[Example] {
        &self.examples
    }

    fn held_out(&self) -> usize {
        match &self.held_out {
            HeldOut::Nothing => 0,
            HeldOut::Pairs(examples) => examples.len(),
            HeldOut::Nodes(pair) => pair.truth().left_count(),
        }
    }

    fn chance(&self) -> Vec<f64> {
        match &self.held_out {
            HeldOut::Nothing => Vec::new(),
            HeldOut::Pairs(examples) => examples.iter().map(Example::loss_by_chance).collect(),
            HeldOut::Nodes(pair) => {
                vec![1.0 - 1.0 / pair.truth().right_count().max(1) as f64; pair.truth().left_count()]
            }
        }
    }

    fn validate(&mut self, weights: &[f64], control: &Control) -> Result<Option<Evaluation>> {
        match &self.held_out {
            HeldOut::Nothing => Ok(None),
            HeldOut::Pairs(examples) => evaluate(examples, self.matcher, weights, control).map(Some),
            HeldOut::Nodes(pair) => {
                let answers = predict(std::slice::from_ref(&**pair), self.matcher, weights, control)?;
                let Some((matching, _)) = answers.into_iter().flatten().next() else { return Ok(None) };
                let truth = pair.whole_truth();
                let is_wrong = |node: usize| f64::from(u8::from(matching.right_of(node) != truth.right_of(node)));
                let nodes = (0..pair.truth().left_count()).map(|position| pair.whole_node(position));
                Ok(Some(Evaluation::of_losses(nodes.map(is_wrong).collect())))
            }
        }
    }
}
