//! Models made as `homolog train` makes them, and how they do on test pairs. Test pairs are matched by the quick search.

use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::atlas::{Atlas, Search};
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::features::{FeatureMap, FeatureSet};
use homolog::graph::Graph;
use homolog::learn::{Clock, LabelledPairs, evaluate};
use homolog::loss::Hamming;
use homolog::matching::{FrankWolfe, Linear, Method, Workspace};
use homolog::model::Model;
use homolog::task::{Features, Settings, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model and how it came about.
pub(super) struct Made {
    pub(super) model: Model,
    /// What was taken.
    pub(super) name: String,
    /// What was measured on held-out pairs, and promised for new specimens.
    pub(super) held_out: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
    pub(super) seconds: f64,
}

/// Pairs of specimens that nothing was learned from.
pub(super) struct Test {
    pairs: LabelledPairs,
}

/// The names of all sets that fit, and of the atlas if these specimens share names.
pub(super) fn single(specimens: &[Arc<Graph>]) -> Vec<String> {
    let graphs = || specimens.iter().map(|graph| &**graph);
    let sets = [FeatureSet::Attributes, FeatureSet::Linear, FeatureSet::Quadratic, FeatureSet::Robust];
    let fitting = sets.into_iter().filter(|set| set.features(graphs()).is_ok()).map(|set| set.name().to_string());
    let atlas = Atlas::suits(&graphs().collect::<Vec<_>>()).then(|| "atlas".to_string());
    fitting.chain(atlas).collect()
}

impl Made {
    /// What `homolog train --features NAME` makes of these specimens.
    pub(super) fn new(name: &str, specimens: &[Arc<Graph>], limit: f64, control: &Control) -> Result<Self> {
        let graph = |(at, graph): (usize, &Arc<Graph>)| NamedGraph {
            id: format!("specimen {at}"),
            graph: Arc::clone(graph),
            image: None,
        };
        let data = DataSet::new(specimens.iter().enumerate().map(graph).collect(), Vec::new())?;
        let features = Features::Named(name.to_string());
        let settings = Settings { features, time_limit: Some(limit), ..Settings::default() };
        let start = ProcessTime::now();
        let clock: Clock = Arc::new(move || start.elapsed().as_secs_f64());
        let outcome = Task { data, settings }.run(control, Some(&clock))?;
        let report = outcome.report;
        let tried = report.tried.iter().find(|tried| tried.name == report.chosen);
        Ok(Self {
            held_out: tried.and_then(|tried| tried.error),
            interval: tried.and_then(|tried| tried.interval),
            name: report.chosen,
            model: outcome.model,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// The same; `None` if the limit was over before there was anything to answer with.
    pub(super) fn in_time(name: &str, specimens: &[Arc<Graph>], limit: f64, control: &Control) -> Result<Option<Self>> {
        let made = Self::new(name, specimens, limit, control);
        let is_over = |error: &anyhow::Error| matches!(error.downcast_ref(), Some(homolog::Error::Interrupted));
        if made.as_ref().is_err_and(is_over) { Ok(None) } else { made.map(Some) }
    }
}

impl Test {
    pub(super) fn new(pairs: LabelledPairs) -> Result<Self> {
        anyhow::ensure!(!pairs.is_empty(), "no test pairs");
        Ok(Self { pairs })
    }

    /// The loss of a model on each pair; matching a node that is known to have no partner is a mistake.
    pub(super) fn losses(&self, made: &Made, control: &Control) -> Result<Vec<f64>> {
        let (model, loss) = (&made.model, Hamming { unmatched_is_label: true });
        let Some(atlas) = model.atlas() else {
            let examples = self.pairs.posed_examples(&model.features, &loss)?;
            let matcher = match &model.features.edge[..] {
                [] => Method::Linear(Linear::default()),
                _ => Method::FrankWolfe(FrankWolfe::default()),
            };
            return Ok(evaluate(&examples, matcher.matcher(), &model.weights(), control)?.losses);
        };
        let examples = self.pairs.examples(&FeatureMap::nothing(), &loss)?;
        let (mut namings, mut losses) = (BTreeMap::new(), Vec::new());
        for ((pair, ..), example) in self.pairs.iter().zip(&examples) {
            for graph in [&pair.left, &pair.right] {
                let key = Arc::as_ptr(graph) as usize;
                if let std::collections::btree_map::Entry::Vacant(entry) = namings.entry(key) {
                    if control.interrupted() {
                        anyhow::bail!("stopped");
                    }
                    let work = &mut Workspace::new();
                    entry.insert(atlas.name_with(graph, &model.weights(), Search::Quick, work)?);
                }
            }
            let of =
                |graph: &Arc<Graph>| namings.get(&(Arc::as_ptr(graph) as usize)).context("every specimen is named");
            losses.push(example.whole_loss(&of(&pair.left)?.join(of(&pair.right)?)?));
        }
        Ok(losses)
    }
}
