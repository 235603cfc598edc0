//! pylibmgm and pygmtools in a Python process (`python/join_peers.py`), as far as they are installed: multi-graph matching on the scores by which
//! pairs are matched before specimens are joined.
//!
//! pylibmgm minimises the sum of all pairs' costs over consistent matchings; pygmtools (`mgm_floyd`) composes the given pairwise matchings.

use crate::clock::Budget;
use crate::linear::python::{Process, environment_with};
use anyhow::Result;
use homolog::data::dd;
use homolog::matching::{Compatibility, EdgeTerm};
use homolog::specimens::join::MatchedPair;
use ndarray::Array1;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const SCRIPT: &str = include_str!("../../python/join_peers.py");
const REQUIREMENTS: [&str; 2] = ["pylibmgm", "pygmtools"];
/// Beyond these the scores of all pairs are gigabytes of text.
const MOST_SPECIMENS: usize = 8;
const MOST_POINTS: usize = 60;

/// Matched points of a pair.
pub(super) type Matches = Vec<(usize, usize)>;

/// What the script answers.
#[derive(Deserialize)]
struct Answer {
    /// Processor time since it began.
    seconds: f64,
    /// For each peer and pair the right point of each left point, or a negative number.
    answers: BTreeMap<String, Vec<Vec<i64>>>,
}

/// The Python process.
pub(super) struct Peers(Process);

impl Peers {
    pub(super) fn start(given: Option<&PathBuf>) -> Result<Self> {
        let own = || environment_with("bench-join", &REQUIREMENTS);
        let mut process = Process::start(&given.cloned().map_or_else(own, Ok)?, SCRIPT)?;
        let versions: BTreeMap<String, String> = process.receive()?;
        eprintln!("peers: {versions:?}");
        Ok(Self(process))
    }

    /// What each peer makes of specimens with so many points: for each pair the matched points. Nothing if they are too many.
    pub(super) fn join(
        &mut self,
        nodes: &[usize],
        pairs: &[[usize; 2]],
        matched: &[MatchedPair],
        budget: &Budget,
    ) -> Result<BTreeMap<String, Vec<Matches>>> {
        if nodes.len() > MOST_SPECIMENS || nodes.iter().any(|&count| count > MOST_POINTS) {
            return Ok(BTreeMap::new());
        }
        let all = pairs.iter().zip(matched).map(|(&[left, right], pair)| {
            let problem = dd::write(&optional(&pair.problem))?;
            let matching = pair.matching.to_array().to_vec();
            Ok(json!({"left": left, "right": right, "problem": problem, "matching": matching}))
        });
        let request = json!({"nodes": nodes, "pairs": all.collect::<Result<Vec<_>>>()?});
        let Answer { seconds, answers } = self.0.ask(&request)?;
        budget.took_elsewhere(seconds);
        let matches = |places: Vec<i64>| {
            let places = places.into_iter().enumerate();
            places.filter_map(|(left, right)| Some((left, usize::try_from(right).ok()?))).collect()
        };
        Ok(answers.into_iter().map(|(name, pairs)| (name, pairs.into_iter().map(matches).collect())).collect())
    }
}

/// The same problem with nodes that may stay unmatched, which the format asks for. If all must be matched, every match gets so much that the best
/// matching leaves none out.
fn optional(problem: &Compatibility) -> Compatibility {
    let mut optional = problem.clone().with_unmatched(Array1::zeros(problem.left_count()));
    if problem.unmatched.is_none() {
        let node =
            problem.node.iter().filter(|score| score.is_finite()).fold(0.0, |most: f64, score| most.max(score.abs()));
        let edge = problem.edge.as_ref().map_or(0.0, EdgeTerm::magnitude);
        optional.node += node + 2.0 * problem.left_count() as f64 * edge;
    }
    optional
}
