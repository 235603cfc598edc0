//! [`suggest`]: the best matching of a pair around what a person has said already, with the margin of each match.
//!
//! With y the best matching that agrees with the labels and y' the best one that also avoids the pair (i, k) of y:
//!
//!   margin_ik = score(y) - score(y')
//!
//! by [`Matched::margins`](crate::model::Matched::margins), as `match` and `explain` have it; with more nodes than [`MOST_ASKED`], a person would
//! wait too long for the matcher, and the margin is the bound that two problems give.

use crate::graph::Pair;
use crate::matching::{Compatibility, Matching, Restrictions, Status, Workspace, margins};
use crate::model::{Model, Prepared};
use crate::{Control, Error, Result};
use serde::{Deserialize, Serialize};

/// With edges and more left nodes than this, the matcher is not asked for the second best match.
const MOST_ASKED: usize = 60;
/// How many other right nodes are offered for a left node.
const ALTERNATIVES: usize = 3;

/// What a person has said about a left node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The left node.
    pub left: usize,
    /// Its partner; `None` if it has none.
    pub right: Option<usize>,
}

/// The matches of a pair as the model would make them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// One for each left node that the person has said nothing about.
    pub matches: Vec<Suggested>,
    /// The mean margin of those that have one; `None` if none has. The pair where it is smallest teaches most.
    pub mean_margin: Option<f64>,
    /// Whether matching and margins are proven.
    pub proven: bool,
    /// Left nodes whose label the model would not give: worth a second look. The labels stay.
    pub disputed: Vec<usize>,
}

/// One suggested match.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Suggested {
    /// The left node.
    pub left: usize,
    /// The suggested right node; `None` if it stays unmatched.
    pub right: Option<usize>,
    /// How much the total falls without this match; `None` if there is no alternative.
    pub margin: Option<f64>,
    /// The next best right nodes, the runner-up first.
    pub alternatives: Vec<usize>,
}

/// Suggests the matches of a pair.
///
/// ```
/// use homolog::features::FeatureMap;
/// use homolog::graph::{Graph, Pair};
/// use homolog::labelling::{Known, suggest};
/// use homolog::matching::{Linear, Method};
/// use homolog::model::Model;
/// use std::sync::Arc;
///
/// let kite = Arc::new(Graph::from_points(ndarray::array![[0.0, 0.0], [2.0, 1.0], [0.0, 3.0], [-2.0, 1.5]])?);
/// let pair = Pair::new(Arc::clone(&kite), kite);
/// let model = Model::unlearned(FeatureMap::paper_linear(), Method::Linear(Linear::default()))?;
/// let suggestion = suggest(&model, &pair, &[Known { left: 0, right: Some(1) }])?;
/// // The label stands, and the model disagrees with it.
/// assert!(suggestion.matches.iter().all(|suggested| suggested.left != 0 && suggested.right != Some(1)));
/// assert_eq!(suggestion.disputed, [0]);
/// # Ok::<(), homolog::Error>(())
/// ```
///
/// # Errors
/// A label of a node that does not exist, two labels of one node; a graph without the parts that the model needs.
pub fn suggest(model: &Model, pair: &Pair, known: &[Known]) -> Result<Suggestion> {
    let control = Control::new();
    let [left, right] = model.prepare_pair(pair, &control)?;
    suggest_prepared(model, [&left, &right], known, Depth::Full, &control)
}

/// How margins are found if there are edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// By the model's matcher.
    Full,
    /// By the bound alone, for many pairs at once.
    Bound,
}

/// [`suggest`] for graphs that are prepared already; what `control` cuts short is [`Error::Interrupted`], since margins would be missing.
pub(super) fn suggest_prepared(
    model: &Model,
    [from, to]: [&Prepared; 2],
    known: &[Known],
    depth: Depth,
    control: &Control,
) -> Result<Suggestion> {
    let mut work = Workspace::with_control(control);
    let problem = model.problem_of(from, to, &Restrictions::default(), &mut work)?;
    check(&problem, known)?;
    let around = agreeing(&problem, known);
    let solution = model.solve_shuffled(&around, &mut work)?;
    let found = if problem.left_count() <= MOST_ASKED && depth == Depth::Full {
        model.margins(&around, &solution, control)?
    } else {
        margins(&around, &solution, None, control)?
    };
    let is_free = |left: usize| known.iter().all(|label| label.left != left);
    let suggested = |(left, &right): (usize, &Option<usize>)| {
        let own = found.iter().find(|own| own.left == left && own.margin < f64::INFINITY);
        // A solver that proves nothing may have missed something better: then nothing is certain.
        let margin = own.map(|own| own.margin.max(0.0));
        let alternatives = alternatives(&around, left, right, own.and_then(|own| own.runner_up));
        Suggested { left, right, margin, alternatives }
    };
    let nodes = solution.matching.left_to_right().iter().enumerate();
    let matches: Vec<Suggested> = nodes.filter(|&(left, _)| is_free(left)).map(suggested).collect();
    let disputed = if known.is_empty() {
        Vec::new()
    } else {
        let free = model.solve_shuffled(&problem, &mut work)?;
        known.iter().filter(|label| free.matching.right_of(label.left) != label.right).map(|label| label.left).collect()
    };
    Error::if_interrupted(control)?;
    let margins: Vec<f64> = matches.iter().filter_map(|suggested| suggested.margin).collect();
    let mean_margin = (!margins.is_empty()).then(|| margins.iter().sum::<f64>() / margins.len() as f64);
    let proven = solution.status == Status::Optimal && found.iter().all(|own| own.proven || !is_free(own.left));
    Ok(Suggestion { matches, mean_margin, proven, disputed })
}

fn check(problem: &Compatibility, known: &[Known]) -> Result<()> {
    let (left_count, right_count) = (problem.left_count(), problem.right_count());
    for (number, label) in known.iter().enumerate() {
        if label.left >= left_count {
            return Err(Error::OutOfRange { what: "labelled left nodes", index: label.left, count: left_count });
        }
        if let Some(right) = label.right.filter(|&right| right >= right_count) {
            return Err(Error::OutOfRange { what: "labelled right nodes", index: right, count: right_count });
        }
        if known[..number].iter().any(|other| other.left == label.left) {
            let reason = format!("left node {} is labelled twice", label.left);
            return Err(Error::DataSet { place: format!("labels[{number}]"), reason });
        }
    }
    let mut partners = vec![None; left_count];
    known.iter().for_each(|label| partners[label.left] = label.right);
    Matching::new(partners, right_count, problem.constraint).map(|_| ())
}

/// The problem whose every matching agrees with the labels: a labelled node may go nowhere else, and no other node to its partner.
fn agreeing(problem: &Compatibility, known: &[Known]) -> Compatibility {
    let mut around = problem.clone();
    for label in known {
        for right in 0..problem.right_count() {
            if label.right != Some(right) {
                around.node[[label.left, right]] = f64::NEG_INFINITY;
            }
        }
        let Some(right) = label.right else { continue };
        for left in (0..problem.left_count()).filter(|&left| left != label.left) {
            around.node[[left, right]] = f64::NEG_INFINITY;
        }
        // A label is kept even if the model forbids the pair.
        if around.node[[label.left, right]] == f64::NEG_INFINITY {
            around.node[[label.left, right]] = 0.0;
        }
    }
    around
}

fn alternatives(problem: &Compatibility, left: usize, right: Option<usize>, runner_up: Option<usize>) -> Vec<usize> {
    let row = problem.node.row(left);
    let allowed = |&other: &usize| Some(other) != right && Some(other) != runner_up && row[other] > f64::NEG_INFINITY;
    let mut others: Vec<usize> = (0..row.len()).filter(allowed).collect();
    others.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    runner_up.into_iter().chain(others).take(ALTERNATIVES).collect()
}
