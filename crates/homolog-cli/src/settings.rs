//! Features, matchers and losses as they are given on the command line: a name, or JSON, or a file with JSON.

use crate::files;
use crate::progress::note;
use anyhow::{Context, Result, bail};
use homolog::features::{Common, FeatureMap, FeatureSet};
use homolog::graph::Pair;
use homolog::loss::LossKind;
use homolog::matching::Method;
use homolog::task::Features;
use serde::de::DeserializeOwned;
use std::path::Path;

/// A set of features by name, made for these pairs, or a feature map as JSON, or a file with one. Attributes that are in the data and not
/// in the features are named on standard error.
pub(crate) fn features(text: &str, pairs: &[Pair]) -> Result<FeatureMap> {
    let graphs = pairs.iter().flat_map(|pair| [&*pair.left, &*pair.right]);
    let names = FeatureSet::ALL.map(FeatureSet::name);
    let common = Common::of(graphs)?.with_pairs(pairs.iter().map(|pair| pair.features.as_deref()));
    let map = match FeatureSet::of_name(text) {
        Ok(set) => set.features_for(&common).with_context(|| format!("--features {text}"))?,
        Err(_) => json(text, "features", &names)?,
    };
    map.check()?;
    let unused = map.unused_attributes(&common);
    if !unused.is_empty() {
        note(&format!("in the data but not in the features: {}", unused.join(", ")));
    }
    Ok(map)
}

/// The name of a set of features, `auto` or `atlas`, or a feature map as JSON, or a file with one.
pub(crate) fn features_or_name(text: &str) -> Result<Features> {
    if ["auto", "atlas"].contains(&text) || FeatureSet::of_name(text).is_ok() {
        return Ok(Features::Named(text.to_string()));
    }
    let map: FeatureMap = json(text, "features", &FeatureSet::ALL.map(FeatureSet::name))?;
    map.check()?;
    Ok(Features::Map(Box::new(map)))
}

/// A matcher by name with its default settings, or with settings as JSON, or a file with them.
pub(crate) fn matcher(text: &str) -> Result<Method> {
    let all = Method::all();
    let names: Vec<&str> = all.iter().map(Method::name).collect();
    match all.iter().find(|method| method.name() == text) {
        Some(method) => Ok(method.clone()),
        None => json(text, "matcher", &names),
    }
}

/// A loss, likewise.
pub(crate) fn loss(text: &str) -> Result<LossKind> {
    let all = LossKind::all();
    let names: Vec<&str> = all.iter().map(LossKind::name).collect();
    match all.iter().find(|loss| loss.name() == text) {
        Some(loss) => Ok(*loss),
        None => json(text, "loss", &names),
    }
}

fn json<T: DeserializeOwned>(text: &str, what: &str, names: &[&str]) -> Result<T> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).with_context(|| format!("--{what}"));
    }
    let path = Path::new(text);
    if !path.is_file() {
        let also = if what == "features" { "; `train` also takes auto and atlas" } else { "" };
        bail!("unknown {what} {text:?}, and no such file; available: {}{also}", names.join(", "));
    }
    serde_json::from_str(&files::read_text(path)?).with_context(|| path.display().to_string())
}
