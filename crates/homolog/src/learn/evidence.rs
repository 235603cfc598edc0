//! How much each *kind* of evidence of an atlas counts (positions, edges, each group of attributes, pictures), learned by max-margin
//! from the specimens that the atlas itself is learned from.
//!
//! Each specimen is left out in turn, and its points have to be told apart by an atlas of the others: as a linear problem, with every other
//! landmark at its true point ([`Atlas::linear_pair`]), so learning is exact and takes milliseconds. The weights are pulled towards the
//! Gaussians' own. What is learned replaces them only if specimens that it was not learned from are *named* clearly better with
//! it ([`Choice`]), from their points alone.

use super::choice::Entry;
use super::examples::Here;
use super::folds::by_specimen;
use super::scale::centred_lambdas;
use super::{Choice, Evaluation, Fit, LabelledPairs, LearnerName, MaxMargin};
use crate::atlas::{Atlas, AtlasSettings, Presence, Search};
use crate::features::FeatureMap;
use crate::graph::{Graph, Pair};
use crate::loss::Hamming;
use crate::matching::{Constraint, Linear, Matching, Workspace};
use crate::optimize::WeightRule;
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;

/// With fewer specimens, too few are left out to tell.
const FEWEST: usize = 4;
/// The most specimens to learn from.
const MOST: usize = 40;
/// Number of folds in the cross-validation.
const FOLDS: usize = 5;
/// How many λ are tried, each a hundred times smaller.
const LAMBDAS: usize = 3;

/// Weights for the kinds of evidence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// In the order of [`Atlas::features`].
    pub weights: Vec<f64>,
    /// Whether they were learned; otherwise they are the Gaussians' own.
    pub is_learned: bool,
    /// The naming error on left-out specimens with the Gaussians' own weights and with learned ones; `None` if learning was not tried.
    pub errors: Option<[f64; 2]>,
}

impl Evidence {
    /// Learns the weights of an atlas from its own specimens. If interrupted, the Gaussians' own remain.
    ///
    /// # Errors
    /// As [`Atlas::learn`].
    pub fn learn(atlas: &Atlas, specimens: &[&Graph], settings: &AtlasSettings, control: &Control) -> Result<Self> {
        let start = atlas.start_weights();
        let as_before = |errors| Self { weights: start.clone(), is_learned: false, errors };
        if settings.plain || specimens.len() < FEWEST {
            return Ok(as_before(None));
        }
        // The specimens are complete if a new one may be either.
        let presence = if atlas.presence == Presence::Partial { Presence::Partial } else { Presence::Complete };
        let fixed = AtlasSettings {
            pose: Some(atlas.pose),
            presence: Some(presence),
            attributes: Some(atlas.attribute_names()),
            ..settings.clone()
        };
        let count = specimens.len().min(MOST);
        let most_points = specimens.iter().map(|graph| graph.node_count()).max().unwrap_or(0);
        let left_out = |at: usize| -> Result<Option<LeftOut<'_>>> {
            if control.interrupted() {
                return Ok(None);
            }
            let others: Vec<&Graph> = (0..specimens.len()).filter(|&s| s != at).map(|s| specimens[s]).collect();
            let others = match Atlas::learn_watched(&others, &fixed, control) {
                Err(Error::Interrupted) => return Ok(None),
                others => others?,
            };
            let is_alike = others.features() == atlas.features();
            if is_alike && !control.interrupted() { LeftOut::new(others, specimens[at], most_points) } else { Ok(None) }
        };
        let left_out = (0..count).into_par_iter().map(left_out).collect::<Result<Vec<_>>>()?;
        let left_out: Vec<LeftOut<'_>> = left_out.into_iter().flatten().collect();
        let all: Vec<&LeftOut<'_>> = left_out.iter().collect();
        let before = losses(&all, &start, control)?;
        // If no name is wrong there is nothing to gain.
        if all.len() < FEWEST || before.iter().all(|&loss| loss == 0.0) || control.interrupted() {
            return Ok(as_before(None));
        }
        let learner = Weigher { features: atlas.linear_features(most_points), start: &start };
        let mut after = vec![vec![0.0; all.len()]; LAMBDAS];
        let alone: Vec<[usize; 2]> = (0..all.len()).map(|at| [2 * at, 2 * at + 1]).collect();
        for (number, fold) in by_specimen(&alone, FOLDS).into_iter().enumerate() {
            control.report(&Report::new("weighing the evidence", number, Some(FOLDS)));
            let pick = |numbers: &[usize]| numbers.iter().map(|&at| all[at]).collect::<Vec<_>>();
            let path = match learner.path(&pick(&fold.learned), control) {
                Err(Error::Interrupted) => return Ok(as_before(None)),
                path => path?,
            };
            for (weights, after) in path.iter().zip(&mut after) {
                let losses = losses(&pick(&fold.held_out), weights, control)?;
                fold.held_out.iter().zip(losses).for_each(|(&at, loss)| after[at] = loss);
            }
        }
        let evaluations: Vec<Evaluation> = std::iter::once(before).chain(after).map(Evaluation::of_losses).collect();
        let entry = |(at, validation)| {
            let learner = if at == 0 { LearnerName::Unlearned } else { LearnerName::MaxMargin };
            Entry { learner, rank: at, validation }
        };
        let entries: Vec<Entry<'_>> = evaluations.iter().enumerate().map(entry).collect();
        let chosen = Choice::default().of(&entries, &vec![1.0; all.len()]).unwrap_or(0);
        // The lowest error that learning reached, chosen or not.
        let least = evaluations[1..].iter().map(Evaluation::mean).fold(f64::INFINITY, f64::min);
        let errors = Some([evaluations[0].mean(), least]);
        if chosen == 0 || control.interrupted() {
            return Ok(as_before(errors));
        }
        let path = match learner.path(&all, control) {
            Err(Error::Interrupted) => return Ok(as_before(errors)),
            path => path?,
        };
        Ok(path
            .into_iter()
            .nth(chosen - 1)
            .map_or_else(|| as_before(errors), |weights| Self { weights, is_learned: true, errors }))
    }
}

/// The shares of points that are named wrongly with these weights.
fn losses(specimens: &[&LeftOut<'_>], weights: &[f64], control: &Control) -> Result<Vec<f64>> {
    specimens.par_iter().map(|specimen| specimen.loss(weights, control)).collect()
}

/// Learns weights.
struct Weigher<'a> {
    features: FeatureMap,
    start: &'a [f64],
}

impl Weigher<'_> {
    /// Max-margin weights on some specimens, from large λ to small, each scaled like likelihoods.
    fn path(&self, specimens: &[&LeftOut<'_>], control: &Control) -> Result<Vec<Vec<f64>>> {
        let mut pairs = LabelledPairs::new();
        for specimen in specimens {
            pairs.add_partly(&specimen.pair, specimen.truth.clone(), &specimen.unknown)?;
        }
        let loss = Hamming { unmatched_is_label: self.features.unmatched };
        let examples = pairs.examples(&self.features, &loss)?;
        let start = &self.start[..self.features.dim()];
        // A likelihood never counts against itself; the price of staying unmatched may be anything.
        let mut rules = vec![WeightRule::NonNegative; start.len()];
        if let (true, Some(price)) = (self.features.unmatched, rules.last_mut()) {
            *price = WeightRule::Free;
        }
        let learner = MaxMargin { rules, ..MaxMargin::default() };
        let matcher = Linear::default();
        let scale = learner.scale(start, &mut Here::new(&examples, &matcher), control)?;
        let centre: Vec<f64> = start.iter().map(|weight| scale * weight).collect();
        let lambdas: Vec<f64> = centred_lambdas(&centre).into_iter().skip(1).step_by(2).take(LAMBDAS).collect();
        let fits = MaxMargin { centre, ..learner }.fit_path(&lambdas, &examples, &matcher, control)?;
        let size = |weights: &[f64]| weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let sized = |fit: Fit| {
            let own = size(&fit.minimum.weights);
            let scale = if own > 0.0 { size(start) / own } else { 0.0 };
            let mut weights: Vec<f64> = fit.minimum.weights.iter().map(|weight| scale * weight).collect();
            weights.resize(self.start.len(), 0.0);
            weights
        };
        Ok(fits.into_iter().map(sized).collect())
    }
}

/// A specimen and an atlas of the others.
struct LeftOut<'a> {
    others: Atlas,
    specimen: &'a Graph,
    /// The linear problem, landmarks on the left.
    pair: Pair,
    truth: Matching,
    /// Missing landmarks: each may be any of the unnamed points, if there are any.
    unknown: Vec<usize>,
}

impl<'a> LeftOut<'a> {
    fn new(others: Atlas, specimen: &'a Graph, most_points: usize) -> Result<Option<Self>> {
        let names = specimen.names().unwrap_or_default();
        let place = |name: &str| names.iter().position(|own| own == name);
        let places: Vec<Option<usize>> = others.landmarks.iter().map(|landmark| place(&landmark.name)).collect();
        let has_nameless = names.iter().any(String::is_empty);
        let is_unknown = |&at: &usize| has_nameless && places[at].is_none();
        let unknown: Vec<usize> = (0..places.len()).filter(is_unknown).collect();
        let is_strange = places.iter().all(Option::is_none)
            || others.presence == Presence::Complete && places.iter().any(Option::is_none);
        if is_strange {
            return Ok(None);
        }
        let truth = Matching::new(places, specimen.node_count(), Constraint::OneToOne)?;
        let pair = others.linear_pair(specimen, &truth, most_points)?;
        Ok(Some(Self { others, specimen, pair, truth, unknown }))
    }

    /// The share of named points that do not get their name when treated as a new specimen.
    fn loss(&self, weights: &[f64], control: &Control) -> Result<f64> {
        let work = &mut Workspace::with_control(control);
        let naming = self.others.name_with(self.specimen, weights, Search::Quick, work)?;
        let is_right = |&(landmark, point): &(usize, usize)| naming.matching.right_of(landmark) == Some(point);
        let right = self.truth.pairs().filter(is_right).count();
        Ok(1.0 - right as f64 / self.truth.matched_count().max(1) as f64)
    }
}
