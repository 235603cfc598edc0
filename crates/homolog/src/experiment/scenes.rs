//! [`Scenes`]: many scenes with the same landmarks, described once for all the pairs they occur in, and which pairs there are: a fixed
//! template with all others (the paper's bikes), or all pairs at a baseline (its video sequence).
//!
//! A landmark that has no partner in the target is left out of that pair's template. It has to go somewhere in a matching but has no
//! place in the true one, so its score would appear on only one side of what learning compares.

use super::scene::Scene;
use crate::data::Split;
use crate::features::{Described, FeatureMap};
use crate::graph::{Graph, Pair};
use crate::learn::Example;
use crate::loss::Loss;
use crate::matching::{Constraint, Matching};
use crate::{Error, Result};
use ndarray::ArrayView2;
use std::sync::Arc;

/// Examples for training, validation and test, in the order of [`Split::ALL`].
pub type Splits = [Vec<Example>; 3];
/// Templates and targets for training, validation and test.
pub type ScenePairs = [Vec<(usize, usize)>; 3];

/// Scenes in which landmark k is the same throughout.
#[derive(Debug, Clone)]
pub struct Scenes {
    map: FeatureMap,
    scenes: Vec<Scene>,
    templates: Vec<Ready>,
    targets: Vec<Ready>,
    truths: Vec<Matching>,
}

/// A graph and its descriptors.
#[derive(Debug, Clone)]
struct Ready {
    graph: Arc<Graph>,
    described: Arc<Described>,
}

impl Ready {
    fn new(map: &FeatureMap, graph: Graph) -> Result<Self> {
        Ok(Self { described: Arc::new(map.describe(&graph)?), graph: Arc::new(graph) })
    }
}

impl Scenes {
    /// Describes every scene, as a template and as a target.
    ///
    /// # Errors
    /// Scenes with different numbers of landmarks, or without the parts that the features need.
    pub fn new(map: FeatureMap, scenes: Vec<Scene>) -> Result<Self> {
        let expected = scenes.first().map_or(0, |scene| scene.landmarks().nrows());
        let (mut templates, mut targets, mut truths) = (Vec::new(), Vec::new(), Vec::new());
        for scene in &scenes {
            let found = scene.landmarks().nrows();
            if found != expected {
                return Err(Error::Size { what: "landmarks of a scene", expected, found });
            }
            let (target, truth) = scene.target()?;
            templates.push(Ready::new(&map, scene.template()?)?);
            targets.push(Ready::new(&map, target)?);
            truths.push(truth);
        }
        Ok(Self { map, scenes, templates, targets, truths })
    }

    /// How many scenes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.truths.len()
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &FeatureMap {
        &self.map
    }

    /// The candidates of a scene as a target.
    #[must_use]
    pub fn target(&self, scene: usize) -> Option<&Arc<Graph>> {
        self.targets.get(scene).map(|ready| &ready.graph)
    }

    /// The landmarks of one scene to be found in another; only those that have a partner there.
    ///
    /// # Errors
    /// No such scene, or a loss that cannot be computed.
    pub fn example(&self, template: usize, target: usize, loss: &dyn Loss) -> Result<Example> {
        let missing = |index| Error::OutOfRange { what: "scenes", index, count: self.count() };
        let all = self.templates.get(template).ok_or_else(|| missing(template))?;
        let right = self.targets.get(target).ok_or_else(|| missing(target))?;
        let (kept, partners): (Vec<usize>, Vec<usize>) = self.truths[target].pairs().unzip();
        let left = if kept.len() == all.graph.node_count() {
            all.clone()
        } else {
            Ready::new(&self.map, self.scenes[template].template_of(&kept)?)?
        };
        let partners = partners.into_iter().map(Some).collect();
        let truth = Matching::new(partners, right.graph.node_count(), Constraint::OneToOne)?;
        let pair = Pair::new(left.graph, Arc::clone(&right.graph));
        let instance = self.map.instance(&left.described, &right.described)?;
        let seed = ((template as u64) << 32) | target as u64;
        Ok(Example::new(instance, &pair, truth, loss, seed)?.with_specimens(template, target))
    }

    /// Which scenes a fixed template is matched to: every third for training, validation and test, whatever the template, but never
    /// the template itself.
    pub fn targets_of(&self, template: usize, split: Split) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(move |&scene| scene != template && Split::of_frame(scene) == split)
    }

    /// A fixed template with all other scenes: which pairs these are.
    #[must_use]
    pub fn pairs_with(&self, template: usize) -> ScenePairs {
        Split::ALL.map(|split| self.targets_of(template, split).map(|target| (template, target)).collect())
    }

    /// All pairs of a scene and the one `baseline` later, split by the first as in the paper's sequences.
    #[must_use]
    pub fn pairs_at(&self, baseline: usize) -> ScenePairs {
        let first = |part: usize| (part..self.count().saturating_sub(baseline)).step_by(3);
        [0, 1, 2].map(|part| first(part).map(|scene| (scene, scene + baseline)).collect())
    }

    /// The examples of some pairs.
    ///
    /// # Errors
    /// As [`Self::example`].
    pub fn examples(&self, pairs: &ScenePairs, loss: &dyn Loss) -> Result<Splits> {
        let of = |part: &Vec<(usize, usize)>| {
            part.iter().map(|&(template, target)| self.example(template, target, loss)).collect::<Result<Vec<_>>>()
        };
        Ok([of(&pairs[0])?, of(&pairs[1])?, of(&pairs[2])?])
    }

    /// The examples of a fixed template with all other scenes.
    ///
    /// # Errors
    /// As [`Self::example`].
    pub fn fixed_template(&self, template: usize, loss: &dyn Loss) -> Result<Splits> {
        self.examples(&self.pairs_with(template), loss)
    }

    /// The examples of all pairs of a scene and the one `baseline` later.
    ///
    /// # Errors
    /// As [`Self::example`].
    pub fn at_baseline(&self, baseline: usize, loss: &dyn Loss) -> Result<Splits> {
        self.examples(&self.pairs_at(baseline), loss)
    }

    pub(super) fn landmarks(&self, scene: usize) -> ArrayView2<'_, f64> {
        self.scenes[scene].landmarks()
    }

    /// Which candidate each landmark of a target is.
    pub(super) fn truth(&self, scene: usize) -> &Matching {
        &self.truths[scene]
    }
}
