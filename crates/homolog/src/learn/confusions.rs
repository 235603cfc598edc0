//! [`Confusions`]: which named nodes predictions get wrong, and what they take them for.

use super::LabelledPairs;
use super::evaluate::Prediction;
use crate::matching::Matching;
use serde::Serialize;
use std::collections::BTreeMap;

/// Mistakes by the name of the left node, over all pairs whose left graph has names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Confusions {
    /// Every name, the one with the largest share of mistakes first.
    pub names: Vec<NameErrors>,
    /// What was mistaken for what, the most frequent first.
    pub confusions: Vec<Confusion>,
}

/// How often the nodes with one name went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NameErrors {
    /// The name.
    pub name: String,
    /// In how many pairs it went wrong: matched to a node other than its partner, left unmatched although it has one, or matched although
    /// it has none.
    pub wrong: usize,
    /// In how many pairs it was predicted and its partner is known.
    pub of: usize,
}

/// One recurring mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Confusion {
    /// The name of the left node.
    pub name: String,
    /// The right node it was matched to, by name or number; `None` if it stayed unmatched although it has a partner.
    pub found: Option<String>,
    /// How often.
    pub times: usize,
}

impl Confusions {
    /// For the predictions for these pairs, in order.
    #[must_use]
    pub fn of(pairs: &LabelledPairs, answers: &[Option<Prediction>]) -> Self {
        let mut counts = ConfusionCounts::default();
        for (number, answer) in answers.iter().enumerate().take(pairs.len()) {
            if let Some((matching, _)) = answer {
                counts.add(pairs, number, matching);
            }
        }
        counts.sorted()
    }
}

/// [`Confusions`] under construction, pair by pair.
#[derive(Debug, Clone, Default)]
pub struct ConfusionCounts {
    /// How often each name went wrong, and how often it was predicted.
    names: BTreeMap<String, [usize; 2]>,
    mistakes: BTreeMap<(String, Option<String>), usize>,
}

impl ConfusionCounts {
    /// Adds what a matching predicts for a pair.
    pub fn add(&mut self, pairs: &LabelledPairs, number: usize, matching: &Matching) {
        let ([left, right], truth, unknown) = pairs.labels(number);
        let Some(own) = left.names() else { return };
        for (node, name) in own.iter().enumerate().filter(|(node, name)| !name.is_empty() && !unknown.contains(node)) {
            let found = matching.right_of(node);
            let is_wrong = found != truth.right_of(node);
            let count = self.names.entry(name.clone()).or_default();
            *count = [count[0] + usize::from(is_wrong), count[1] + 1];
            if is_wrong {
                let found = found.map(|node| right.name_or_number(node));
                *self.mistakes.entry((name.clone(), found)).or_default() += 1;
            }
        }
    }

    /// The worst first.
    #[must_use]
    pub fn sorted(self) -> Confusions {
        let names = self.names.into_iter().map(|(name, [wrong, of])| NameErrors { name, wrong, of });
        let mut names: Vec<NameErrors> = names.collect();
        // By share, compared as products of whole numbers; names in order among equals.
        names.sort_by(|a, b| (b.wrong * a.of).cmp(&(a.wrong * b.of)));
        let confusions = self.mistakes.into_iter().map(|((name, found), times)| Confusion { name, found, times });
        let mut confusions: Vec<Confusion> = confusions.collect();
        confusions.sort_by_key(|one| std::cmp::Reverse(one.times));
        Confusions { names, confusions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Pair};
    use crate::matching::{Constraint, Status};
    use std::sync::Arc;

    #[test]
    fn mistakes_are_counted_by_name() {
        let points = ndarray::array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let names = ["nose", "chin", "brow"].map(String::from).to_vec();
        let graph = || Arc::new(Graph::from_points(points.clone()).unwrap().with_names(names.clone()).unwrap());
        let mut pairs = LabelledPairs::new();
        let matching = |right: [Option<usize>; 3]| Matching::new(right.to_vec(), 3, Constraint::OneToOne).unwrap();
        // In the second pair the brow has no partner, in the third nothing is known about the chin.
        for (truth, unknown) in
            [([Some(0), Some(1), Some(2)], &[][..]), ([Some(0), Some(1), None], &[]), ([Some(0), None, Some(2)], &[1])]
        {
            pairs.add_partly(&Pair::new(graph(), graph()), matching(truth), unknown).unwrap();
        }
        let answers = [[Some(1), Some(0), Some(2)], [Some(1), None, Some(2)], [Some(0), Some(1), Some(2)]]
            .map(|right| Some((matching(right), Status::Converged)));
        let all = Confusions::of(&pairs, &answers);
        let names: Vec<_> = all.names.iter().map(|one| (one.name.as_str(), one.wrong, one.of)).collect();
        assert_eq!(names, [("chin", 2, 2), ("nose", 2, 3), ("brow", 1, 3)]);
        let found: Vec<_> = all.confusions.iter().map(|one| (&*one.name, one.found.as_deref(), one.times)).collect();
        let rest = [("brow", Some("brow"), 1), ("chin", None, 1), ("chin", Some("nose"), 1)];
        assert_eq!(found[0], ("nose", Some("chin"), 2));
        assert_eq!(found[1..], rest);
        // What was not predicted does not count.
        assert_eq!(Confusions::of(&pairs, &[None, None, None]), Confusions::default());
    }
}
