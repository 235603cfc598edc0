//! How often specimens are said to fit badly: those that an atlas does not fit (nothing but random points, rotated by 60° if specimens come as
//! given, mirror images), where that is right, and those that it fits, where it is a false alarm.

use crate::asked::pose;
use anyhow::{Context, Result};
use homolog::atlas::Search;
use homolog::experiment::Spoiling;
use homolog::graph::Graph;
use homolog::matching::Workspace;
use homolog::model::Model;
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::FRAC_PI_3;

/// One kind of specimens.
#[derive(Serialize)]
pub(super) struct Fit {
    data: String,
    specimens: usize,
    pose: &'static str,
    condition: &'static str,
    /// Whether no atlas fits them.
    strange: bool,
    /// How many were named, and how many of them are said to fit badly.
    named: usize,
    flagged: usize,
    #[serde(skip)]
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Spoiled(Spoiling),
    Mirrored,
}

impl Fit {
    /// The kinds, with nothing named yet.
    pub(super) fn all(data: &str, specimens: usize, turned: bool) -> Vec<Self> {
        let spoiled = |missing: f64, foreign: f64, tilted: f64| {
            Kind::Spoiled(Spoiling { turned, missing, foreign: Some(foreign), tilted, ..Spoiling::default() })
        };
        let mut kinds = vec![
            ("noise", true, spoiled(1.0, 1.0, 0.0)),
            ("mirrored", true, Kind::Mirrored),
            ("complete", false, spoiled(0.0, 0.0, 0.0)),
            ("20 % missing, 20 % foreign", false, spoiled(0.2, 0.2, 0.0)),
            ("40 % missing", false, spoiled(0.4, 0.0, 0.0)),
        ];
        if !turned {
            kinds.push(("rotated by 60°", true, spoiled(0.0, 0.0, FRAC_PI_3)));
        }
        let fit = |(condition, strange, kind)| Self {
            data: data.to_string(),
            specimens,
            pose: pose(turned),
            condition,
            strange,
            named: 0,
            flagged: 0,
            kind,
        };
        kinds.into_iter().map(fit).collect()
    }

    /// Names further specimens.
    pub(super) fn add(&mut self, model: &Model, specimens: &[&Graph]) -> Result<()> {
        let kind = self.kind;
        let is_flagged = |(at, specimen): (usize, &&Graph)| -> Result<bool> {
            let atlas = model.atlas().context("an atlas")?;
            let unnamed = kind.of(specimen, 70_000 + at as u64)?;
            let naming = atlas.name_with(&unnamed, &model.weights(), Search::Quick, &mut Workspace::new())?;
            Ok(naming.fits_badly())
        };
        let flags = specimens.par_iter().enumerate().map(is_flagged).collect::<Result<Vec<_>>>()?;
        self.named += flags.len();
        self.flagged += flags.into_iter().filter(|flag| *flag).count();
        Ok(())
    }
}

impl Kind {
    fn of(self, specimen: &Graph, seed: u64) -> Result<Graph> {
        let spoiling = match self {
            Self::Spoiled(spoiling) => return Ok(spoiling.spoil(specimen, seed)?.graph),
            Self::Mirrored => Spoiling::default(),
        };
        let bare = spoiling.spoil(specimen, seed)?.graph;
        let mut points = bare.points().context("landmarks are points")?.to_owned();
        points.column_mut(0).mapv_inplace(|x| -x);
        let mirrored = Graph::from_points(points)?;
        Ok(match bare.node_attributes() {
            Some(attributes) => mirrored.with_node_attributes(attributes.clone())?,
            None => mirrored,
        })
    }
}

/// The share that is flagged, kind by kind.
pub(super) fn summary(fits: &[Fit]) {
    let mut kinds: Vec<(&str, &str, bool)> = Vec::new();
    for fit in fits {
        let kind = (fit.pose, fit.condition, fit.strange);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    println!("Said to fit badly:");
    for (pose, condition, strange) in kinds {
        let own = || fits.iter().filter(|fit| (fit.pose, fit.condition) == (pose, condition));
        let (named, flagged) = (own().map(|fit| fit.named).sum::<usize>(), own().map(|fit| fit.flagged).sum::<usize>());
        let note = if strange { "" } else { " (false alarms)" };
        println!("  {pose:8}  {condition:26}  {:.3} of {named}{note}", flagged as f64 / named.max(1) as f64);
    }
}
