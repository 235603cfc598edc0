//! [`by_appearance`]: the known points of a scene found by what labelled pictures look like around them, instead of among its corners; in
//! the same pairs, with the same loss.
//!
//! Without learning the template alone teaches, with learning every picture of the training pairs that is no target of the other
//! pairs. The loss of a pair is the mean distance between where its landmarks are found and where they are labelled, in widths of the
//! target: [`Endpoint`](crate::loss::Endpoint), for any place instead of a candidate. Landmarks without a partner among the candidates do not
//! count, as there. No candidates are given, so a place is right to a part of a pixel at best, while a match with a label that is among the
//! candidates is exact: on the same pairs the comparison is to the disadvantage of appearance.

use super::scenes::{ScenePairs, Scenes};
use crate::appearance::{Appearance, Learner};
use crate::geometry::GreyImage;
use crate::graph::Graph;
use crate::learn::Evaluation;
use crate::{Control, Error, Report, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Finds the landmarks of every target in its picture: by the template alone, and by the pictures for training. For each the losses on
/// training, validation and test.
///
/// # Errors
/// Another number of pictures than of scenes, a pair of scenes that do not exist, no training pair; fewer than two landmarks;
/// [`Error::Interrupted`].
pub fn by_appearance(
    scenes: &Scenes,
    pictures: &[GreyImage<'_>],
    pairs: &ScenePairs,
    control: &Control,
) -> Result<[[Evaluation; 3]; 2]> {
    let (expected, found) = (scenes.count(), pictures.len());
    if expected != found {
        return Err(Error::Size { what: "pictures of scenes", expected, found });
    }
    let ends = || pairs.iter().flatten().flat_map(|&(template, target)| [template, target]);
    if let Some(index) = ends().find(|&index| index >= expected) {
        return Err(Error::OutOfRange { what: "scenes", index, count: expected });
    }
    let graphs = (0..expected).map(|scene| named(scenes, scene)).collect::<Result<Vec<_>>>()?;
    let learn = |from: &BTreeSet<usize>| -> Result<Appearance> {
        let labelled: Vec<(GreyImage<'_>, &Graph)> = from.iter().map(|&at| (pictures[at], &graphs[at])).collect();
        Learner::learn(&labelled, control)?.appearance()
    };
    let templates: BTreeSet<usize> = pairs.iter().flatten().map(|&(template, _)| template).collect();
    let alone = templates.into_iter().map(|at| Ok((at, learn(&BTreeSet::from([at]))?)));
    let alone = alone.collect::<Result<BTreeMap<usize, Appearance>>>()?;
    let held_out: BTreeSet<usize> = pairs[1..].iter().flatten().map(|&(_, target)| target).collect();
    let training = pairs[0].iter().flat_map(|&(template, target)| [template, target]);
    let together = learn(&training.filter(|at| !held_out.contains(at)).collect())?;
    let loss = |appearance: &Appearance, target: usize| -> Result<f64> {
        let found = appearance.find(pictures[target], &[], control)?;
        Error::if_interrupted(control)?;
        let landmarks = scenes.landmarks(target);
        let off = |landmark: usize| {
            let own = found.iter().find(|point| point.name == landmark.to_string());
            own.map_or(1.0, |own| {
                let apart = (own.at[0] - landmarks[[landmark, 0]]).hypot(own.at[1] - landmarks[[landmark, 1]]);
                apart / pictures[target].width() as f64
            })
        };
        let kept: Vec<usize> = scenes.truth(target).pairs().map(|(landmark, _)| landmark).collect();
        Ok(kept.iter().map(|&landmark| off(landmark)).sum::<f64>() / kept.len().max(1) as f64)
    };
    let losses = |pairs: &Vec<(usize, usize)>| -> Result<[Evaluation; 2]> {
        control.report(&Report::new("finding landmarks by appearance", 0, None));
        let both =
            |&(template, target): &(usize, usize)| Ok([loss(&alone[&template], target)?, loss(&together, target)?]);
        let both = pairs.par_iter().map(both).collect::<Result<Vec<[f64; 2]>>>()?;
        Ok([0, 1].map(|of| Evaluation::of_losses(both.iter().map(|two| two[of]).collect())))
    };
    let [train, validation, test] = pairs;
    let [train, validation, test] = [losses(train)?, losses(validation)?, losses(test)?];
    Ok([0, 1].map(|of| [&train, &validation, &test].map(|split| split[of].clone())))
}

/// The landmarks of a scene, called by their numbers.
fn named(scenes: &Scenes, scene: usize) -> Result<Graph> {
    let landmarks = scenes.landmarks(scene).to_owned();
    let names = (0..landmarks.nrows()).map(|landmark| landmark.to_string()).collect();
    Graph::from_points(landmarks)?.with_names(names)
}
