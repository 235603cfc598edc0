//! [`NameSets`]: for each point the short list of names that holds the true one as often as asked for, by conformal prediction over left-out
//! *specimens*: points of one specimen err together, so a specimen is the unit.
//!
//! A list has every name that costs at most t of the score (`alternatives`). With F_s(t) the share of the points of left-out specimen s whose
//! true name would be listed, over S specimens,
//!
//!   guaranteed coverage  =  Σ_s F_s(t) / (S + 1)                        if a new specimen is like these, however bad it may be
//!   expected coverage    =  (Σ_s F_s(t) + min_s F_s(t)) / (S + 1)       if it is no worse than the worst of these
//!
//! and t is the least for which the expected coverage is what was asked for. (Hierarchical conformal prediction; Lee, Barber and Willett
//! 2023. From few specimens the guarantee is weaker than the expectation: at most S / (S + 1).) If landmarks may be missing, corrupted copies
//! of the specimens count too, and no name at all is one of the names.

use super::{Atlas, Naming, Presence};
use crate::{Error, Limit, Result};
use serde::{Deserialize, Serialize};

/// What the true names of left-out specimens cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Coverage {
    /// In each specimen as it is.
    pub as_given: Vec<TrueNames>,
    /// In a corrupted copy of each.
    pub corrupted: Vec<TrueNames>,
}

/// What the true names of one specimen cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrueNames {
    /// Of how many points the truth is known.
    pub points: usize,
    /// The costs that are not 0, in ascending order: those of the points that did not get their name.
    pub costs: Vec<f64>,
}

/// Costs above this count as this: what no move reaches is infinite, and a file has no infinity.
const LARGEST_COST: f64 = 1e9;

impl TrueNames {
    /// From the costs of all points whose truth is known.
    pub(super) fn of(costs: impl Iterator<Item = f64>) -> Self {
        let (mut points, mut above) = (0, Vec::new());
        for cost in costs {
            points += 1;
            if cost > 0.0 {
                above.push(cost.min(LARGEST_COST));
            }
        }
        above.sort_by(f64::total_cmp);
        Self { points, costs: above }
    }

    /// The share of points whose true name costs at most this.
    fn share(&self, cost: f64) -> f64 {
        let missed = self.costs.len() - self.costs.partition_point(|&own| own <= cost);
        1.0 - missed as f64 / self.points.max(1) as f64
    }

    pub(super) fn check(&self) -> bool {
        self.costs.len() <= self.points && self.costs.iter().all(|cost| cost.is_finite() && *cost > 0.0)
    }
}

/// A threshold, and what it promises.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Threshold {
    cost: f64,
    guaranteed: f64,
}

fn threshold(specimens: &[TrueNames], level: f64) -> Option<Threshold> {
    let known: Vec<&TrueNames> = specimens.iter().filter(|names| names.points > 0).collect();
    let mut costs: Vec<f64> = known.iter().flat_map(|names| names.costs.iter().copied()).collect();
    costs.sort_by(f64::total_cmp);
    let promise = |cost: f64| {
        let shares = known.iter().map(|names| names.share(cost));
        let (sum, worst) = shares.fold((0.0, 1.0_f64), |(sum, worst), share| (sum + share, worst.min(share)));
        let count = known.len() as f64 + 1.0;
        (Threshold { cost, guaranteed: sum / count }, (sum + worst) / count)
    };
    let mut all = std::iter::once(0.0).chain(costs).map(promise);
    (!known.is_empty()).then(|| all.find(|(_, expected)| *expected >= level - 1e-12).map(|(found, _)| found)).flatten()
}

/// The lists of names of a specimen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NameSets {
    /// How often the true name is expected to be in its list.
    pub level: f64,
    /// How often it is there for certain, if the specimen is like the training ones.
    pub guaranteed: f64,
    /// How many left-out specimens that rests on.
    pub specimens: usize,
    /// One for each point.
    pub sets: Vec<NameSet>,
}

/// The names that a point may have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameSet {
    /// Landmarks by position in the atlas, the likeliest first.
    pub names: Vec<usize>,
    /// Whether it may also be no landmark.
    pub none: bool,
}

impl NameSet {
    /// How many answers there are, no name included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len() + usize::from(self.none)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Atlas {
    /// For each point of a specimen that this atlas named, the names that hold the true one this often (between 0 and 1).
    ///
    /// # Errors
    /// A level that is not between 0 and 1; an atlas learned from one specimen or by an older version, which knows nothing of coverage; a
    /// specimen so large that alternatives were not looked at.
    pub fn name_sets(&self, naming: &Naming, level: f64) -> Result<NameSets> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::BadSetting { name: "candidates", value: level, limit: Limit::Between(0.0, 1.0) });
        }
        let missing = |what: &'static str| Error::Missing { what, needed_by: "lists of candidate names" };
        let coverage = self.coverage.as_ref().ok_or_else(|| missing("coverage of left-out specimens"))?;
        let given = threshold(&coverage.as_given, level);
        let is_partial = naming.presence == Presence::Partial;
        let corrupted = threshold(&coverage.corrupted, level).filter(|_| is_partial);
        let wider = |a: Threshold, b: Threshold| if b.cost > a.cost { b } else { a };
        let found = given.into_iter().chain(corrupted).reduce(wider).ok_or_else(|| missing("left-out specimens"))?;
        let costs = naming.falls.as_ref().ok_or_else(|| missing("costs of other names"))?;
        let n = self.landmarks.len();
        let set = |point: usize| {
            let column = costs.column(point);
            let is_listed = |row: usize| column[row].min(LARGEST_COST) <= found.cost;
            let mut names: Vec<usize> = (0..n).filter(|&landmark| is_listed(landmark)).collect();
            names.sort_by(|&a, &b| column[a].total_cmp(&column[b]).then(a.cmp(&b)));
            NameSet { names, none: naming.presence == Presence::Partial && is_listed(n) }
        };
        let specimens = coverage.as_given.iter().filter(|names| names.points > 0).count();
        let sets = (0..costs.ncols()).map(set).collect();
        Ok(NameSets { level, guaranteed: found.guaranteed, specimens, sets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specimen(points: usize, costs: &[f64]) -> TrueNames {
        let right = std::iter::repeat_n(0.0, points - costs.len());
        TrueNames::of(right.chain(costs.iter().copied()))
    }

    #[test]
    fn the_threshold_is_the_least_that_covers_and_the_guarantee_counts_the_new_specimen_as_lost() {
        let four = [specimen(10, &[]), specimen(10, &[3.0]), specimen(10, &[1.0, 2.0]), specimen(10, &[])];
        // At 0: (1 + .9 + .8 + 1 + .8) / 5 = .9; at 1: (1 + .9 + .9 + 1 + .9) / 5 = .94; at 2: .9 + .9 + 3 = .96; at 3: 1.
        for (level, cost, guaranteed) in [(0.9, 0.0, 0.74), (0.93, 1.0, 0.76), (0.95, 2.0, 0.78), (0.97, 3.0, 0.8)] {
            let found = threshold(&four, level).unwrap();
            assert!(found.cost == cost && (found.guaranteed - guaranteed).abs() < 1e-12, "{level}: {found:?}");
        }
        assert_eq!(threshold(&[], 0.9), None);
    }

    #[test]
    fn a_level_that_no_finite_cost_reaches_takes_everything() {
        let found = threshold(&[specimen(2, &[f64::INFINITY])], 0.99).unwrap();
        assert!((found.cost - LARGEST_COST).abs() < 1.0);
    }
}
