//! Which sets of features fit the data: the simplest first, without and with a price where nodes lack partners, without and with pictures
//! if there are some, and an atlas where specimens share names.

use super::{ATLAS, AutoTrainer, atlas};
use crate::Result;
use crate::features::{FAR_TURN, FeatureMap, FeatureSet, ImageDescriptor, Rotation, Turns, lies_within, turn_of};
use crate::learn::{LabelledPairs, TEACHING_TURN};

/// What is to be tried.
pub(super) enum Plan {
    Features(Box<FeatureMap>),
    Atlas,
}

/// From the simplest to the most expensive.
const ORDER: [FeatureSet; 5] =
    [FeatureSet::Attributes, FeatureSet::Linear, FeatureSet::Graph, FeatureSet::Quadratic, FeatureSet::Robust];
/// Graphs that are turned by more degrees than this may be turned any way.
const TILTED: f64 = 45.0;
/// What is added to the name of what takes graphs as given although some look turned; these come last.
const AS_GIVEN: &str = ", as given";
/// What is added to the name of what looks at pictures.
const WITH_PICTURES: &str = " with pictures";

impl AutoTrainer {
    /// Names and features of all sets that fit.
    pub(super) fn candidates(&self, pairs: &LabelledPairs, lacks_partners: bool) -> Result<Vec<(String, Plan)>> {
        let mut candidates = Vec::new();
        let (mut reason, mut last) = (None, Vec::new());
        let (pose, or_as_given) = self.pose.map_or_else(|| pose_of(pairs), |pose| Ok((pose, false)))?;
        let numbers: Vec<String> = self.images.iter().flat_map(ImageDescriptor::names).collect();
        let common = pairs.common()?;
        for set in ORDER {
            // Named in milliseconds: before what takes a search.
            if set == FeatureSet::Quadratic && self.atlas.as_ref().is_some_and(|own| atlas::suits(pairs, own)) {
                let seen = if self.images.is_empty() { "" } else { WITH_PICTURES };
                candidates.push((format!("{ATLAS}{seen}"), Plan::Atlas));
            }
            let features = match set.features_for(&common).and_then(|map| map.without_columns(&numbers, set.name())) {
                Ok(features) => features,
                Err(error) => {
                    reason.get_or_insert(error);
                    continue;
                }
            };
            let prices: &[bool] = match self.unmatched {
                Some(true) => &[true],
                None if lacks_partners => &[false, true],
                _ => &[false],
            };
            let pictured = |map: &FeatureMap| self.images.iter().fold(map.clone(), |map, &of| map.with_image(of));
            let maps = [(features.clone(), ""), (pictured(&features), WITH_PICTURES)];
            let maps = &maps[..if self.images.is_empty() { 1 } else { 2 }];
            for ((map, seen), &unmatched) in maps.iter().flat_map(|map| prices.iter().map(move |price| (map, price))) {
                let name = format!("{}{seen}{}", set.name(), if unmatched { " with a price" } else { "" });
                let map = if unmatched { map.clone().with_unmatched() } else { map.clone() };
                let with = |pose: Rotation| Plan::Features(Box::new(FeatureMap { pose, ..map.clone() }));
                if or_as_given && map.sees_turns() {
                    last.push((format!("{name}{AS_GIVEN}"), with(Rotation::default())));
                }
                candidates.push((name, with(pose)));
            }
        }
        candidates.extend(last);
        match reason {
            Some(error) if candidates.is_empty() => Err(error),
            _ => Ok(candidates),
        }
    }
}

/// The least turns that the true matchings show, as given, tilted, or any; and whether graphs as given are worth trying too. Limbs that swing look
/// like a turn, and trying turns if there are none does harm; where some are turned far it is hopeless.
fn pose_of(pairs: &LabelledPairs) -> Result<(Rotation, bool)> {
    let (mut farthest, mut is_hopeless) = (0.0_f64, false);
    for (pair, truth, _) in pairs.iter() {
        if !lies_within(FAR_TURN, &pair, truth)? {
            farthest = farthest.max(turn_of(&pair, truth)?.unwrap_or(0.0));
            is_hopeless |= !lies_within(TEACHING_TURN, &pair, truth)?;
        }
    }
    let turns = match farthest {
        0.0 => return Ok((Rotation::default(), false)),
        turn if turn <= TILTED => Turns::Tilted,
        _ => Turns::Any,
    };
    Ok((Rotation { turns, mirror: false }, !is_hopeless))
}

/// Whether the partner of some left node is known not to be there.
pub(super) fn has_partnerless(pairs: &LabelledPairs) -> bool {
    pairs.iter().any(|(_, truth, unknown)| {
        (0..truth.left_count()).any(|i| truth.right_of(i).is_none() && !unknown.contains(&i))
    })
}
