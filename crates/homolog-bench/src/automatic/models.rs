//! Models made as `homolog train` makes them, and how they do on test pairs.

use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::atlas::AtlasSettings;
use homolog::features::{FeatureMap, FeatureSet};
use homolog::graph::Graph;
use homolog::learn::{AutoTrainer, LabelledPairs, Trainer, TrainingSet};
use homolog::loss::{Hamming, LossKind};
use homolog::matching::{Status, Workspace};
use homolog::model::Model;
use std::sync::Arc;

/// A model and how it came about.
pub(super) struct Made {
    model: Model,
    chosen: Option<String>,
    seconds: f64,
    log: Vec<String>,
}

/// How a model does.
pub(super) struct Measured {
    pub(super) losses: Vec<f64>,
    /// Of the nodes that have a partner.
    pub(super) partnered: Vec<f64>,
    pub(super) chosen: Option<String>,
    pub(super) seconds: f64,
    pub(super) match_seconds: f64,
    pub(super) proven: usize,
    pub(super) broken_off: usize,
    /// What the automatic choice saw.
    pub(super) log: Vec<String>,
}

impl Made {
    /// What `homolog train` makes without options.
    pub(super) fn choose(training: &LabelledPairs, limit: f64) -> Result<Self> {
        let start = ProcessTime::now();
        let auto = AutoTrainer {
            trainer: Trainer::default(),
            unmatched: None,
            pose: None,
            atlas: true,
            images: Vec::new(),
            time_limit: Some(limit),
            clock: Arc::new(move || start.elapsed().as_secs_f64()),
        };
        let selected = auto.train(training, &LabelledPairs::new(), &Control::new())?;
        let seconds = start.elapsed().as_secs_f64();
        let tried = selected.tried.iter().map(|tried| {
            let error = tried.summary().unwrap_or_else(|| "not measured".to_string());
            let before = tried.unlearned_error.map_or("-".to_string(), |error| format!("{error:.4}"));
            format!("{:24} held out {error}, before learning {before}", tried.name)
        });
        let skipped = selected.skipped.iter().map(|skipped| format!("{:24} {:?}", skipped.name, skipped.reason));
        let log = tried.chain(skipped).chain([selected.sentence(), selected.learning()]).collect();
        let chosen = Some(selected.tried[selected.chosen].name.clone());
        Ok(Self { model: Model::selected(&selected)?, chosen, seconds, log })
    }

    /// What `homolog train --features SET` makes.
    fn of_features(map: &FeatureMap, training: &LabelledPairs, limit: f64) -> Result<Self> {
        let start = ProcessTime::now();
        let loss = LossKind::Hamming(Hamming { unmatched_is_label: map.unmatched });
        let set = TrainingSet::new(map, &loss, training, &LabelledPairs::new())?;
        let trainer = Trainer { loss, ..Trainer::default() };
        let control = Control::new().interrupted_by(move || start.elapsed().as_secs_f64() >= limit);
        let trained = trainer.train(&set, &control)?;
        let model = Model::trained(&set, &trainer, &trained)?;
        Ok(Self { model, chosen: None, seconds: start.elapsed().as_secs_f64(), log: Vec::new() })
    }

    /// What `homolog train --features atlas` makes of the specimens in these pairs.
    fn atlas(training: &LabelledPairs, limit: f64) -> Result<Self> {
        let start = ProcessTime::now();
        let specimens: Vec<&Graph> = training.graphs().collect();
        let control = Control::new().interrupted_by(move || start.elapsed().as_secs_f64() >= limit);
        let (model, _) = Model::fit_atlas(&specimens, &AtlasSettings::default(), &control)?;
        Ok(Self { model, chosen: None, seconds: start.elapsed().as_secs_f64(), log: Vec::new() })
    }
}

/// All sets that fit, by name; with a price too where left nodes are known to lack a partner.
pub(super) fn single(training: &LabelledPairs, limit: f64) -> impl Iterator<Item = (String, Result<Made>)> {
    let lacks_partners = training.iter().any(|(_, truth, unknown)| {
        (0..truth.left_count()).any(|i| truth.right_of(i).is_none() && !unknown.contains(&i))
    });
    let prices: &[bool] = if lacks_partners { &[false, true] } else { &[false] };
    let sets = FeatureSet::ALL.into_iter().filter_map(|set| Some((set.name(), set.features(training.graphs()).ok()?)));
    let priced = sets.flat_map(move |(name, map)| {
        prices.iter().map(move |&unmatched| {
            let name = format!("{name}{}", if unmatched { " with a price" } else { "" });
            (name, FeatureMap { unmatched, ..map.clone() })
        })
    });
    let models = priced.map(move |(name, map)| (name, Made::of_features(&map, training, limit)));
    // Not all specimens have names, or enough in common.
    let atlas = std::iter::once_with(move || Made::atlas(training, limit)).flatten();
    models.chain(atlas.map(|made| ("atlas".to_string(), Ok(made))))
}

/// Matches test pairs, each in at most so many seconds.
pub(super) fn measure(made: Made, test: &LabelledPairs, limit: f64) -> Result<Measured> {
    let Made { model, chosen, seconds, log } = made;
    let examples = |unmatched_is_label| {
        test.examples(&FeatureMap::nothing(), LossKind::Hamming(Hamming { unmatched_is_label }).loss())
    };
    let (all, partnered) = (examples(true)?, examples(false)?);
    let (mut proven, mut broken_off) = (0, 0);
    let (mut losses, mut losses_of_partnered) = (Vec::new(), Vec::new());
    let start = ProcessTime::now();
    for (number, (pair, ..)) in test.iter().enumerate() {
        let until = start.elapsed().as_secs_f64() + limit;
        let control = Control::new().interrupted_by(move || start.elapsed().as_secs_f64() >= until);
        let solution = model.solve(&pair, &mut Workspace::with_control(&control))?;
        proven += usize::from(solution.status == Status::Optimal);
        broken_off += usize::from(control.interrupted());
        losses.push(all[number].whole_loss(&solution.matching));
        losses_of_partnered.push(partnered[number].whole_loss(&solution.matching));
    }
    let match_seconds = start.elapsed().as_secs_f64() / test.len().max(1) as f64;
    Ok(Measured { losses, partnered: losses_of_partnered, chosen, seconds, match_seconds, proven, broken_off, log })
}
