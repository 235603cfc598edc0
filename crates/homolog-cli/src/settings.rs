//! Features, matchers and losses as they are given on the command line: a name, or JSON, or a file with JSON.

use crate::files;
use anyhow::{Context, Result, bail};
use homolog::features::{Directions, EdgeKind, FeatureMap, Lengths};
use homolog::loss::LossKind;
use homolog::matching::Method;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Named sets of features.
const FEATURES: [&str; 3] = ["linear", "quadratic", "geometry"];

/// The paper's features with edges, and lengths and directions of the edges beside.
fn geometry() -> FeatureMap {
    let mut map = FeatureMap::paper_quadratic();
    map.edge.push(EdgeKind::Lengths(Lengths::default()));
    map.edge.push(EdgeKind::Directions(Directions::default()));
    map
}

/// A set of features by name, or a feature map as JSON, or a file with one.
pub(crate) fn features(text: &str) -> Result<FeatureMap> {
    let map = match text {
        "linear" => FeatureMap::paper_linear(),
        "quadratic" => FeatureMap::paper_quadratic(),
        "geometry" => geometry(),
        _ => json(text, "features", &FEATURES)?,
    };
    map.check()?;
    Ok(map)
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
        bail!("--{what} {text}: there is nothing of that name ({}), and no such file", names.join(", "));
    }
    serde_json::from_str(&files::read_text(path)?).with_context(|| path.display().to_string())
}
