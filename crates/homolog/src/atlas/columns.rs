//! The numbers of points (attributes, what pictures show) that an atlas uses, and what each landmark's are.
//!
//! A kind of number is used only if landmarks differ in it ([`tells_nothing`]): the values of one landmark in two specimens have to be more
//! alike than those of any two. Values are measured in deviations over all points. With x̄ the mean of a landmark's s values, σ² their variance
//! (shrunk as that of positions is) and B the variance of the landmarks' true means, estimated as the mean of x̄² - σ²/s, a new value is normal with
//!
//!   mean ρ x̄,   variance σ² (1 + ρ/s),   ρ = B / (B + σ²/s)
//!
//! So what hardly differs from landmark to landmark hardly counts, and as B grows this becomes the formula of `spread`. A single specimen does not show
//! how much values vary: half of the variance is then taken to be that of specimens.

use super::evidence::groups;
use super::gaussian::Gaussian;
use super::learn::Specimens;
use super::spread::{Prior, STRENGTHS, Sample, USUAL_STRENGTH, most_likely};
use super::together::effective_share;
use super::{AtlasSettings, AttributeUnit};
use crate::features::{Shown, tells_nothing};
use crate::graph::Graph;
use crate::linalg::Square;
use crate::{Error, Result};

/// The variance of specimens if it is not known.
const UNKNOWN: f64 = 0.5;
/// Whether a number tells something is looked for in about this many pairs of specimens.
const MOST_PAIRS: usize = 200;

/// A number that the atlas uses.
pub(super) struct Column {
    pub(super) unit: AttributeUnit,
    /// One for each landmark.
    pub(super) gaussians: Vec<Gaussian>,
    /// The values of each landmark in the specimens that have it, and those of all points of each specimen.
    samples: Vec<Sample>,
}

impl Specimens<'_> {
    /// The numbers that are used, each with the Gaussians of the landmarks.
    pub(super) fn columns(&self, settings: &AtlasSettings) -> Result<Vec<Column>> {
        let own =
            |graph: &&Graph| graph.node_attributes().map(|attributes| attributes.names().to_vec()).unwrap_or_default();
        let all: Vec<Vec<String>> = self.graphs.iter().map(own).collect();
        let known = all.first().cloned().unwrap_or_default();
        let everywhere = known.into_iter().filter(|name| all.iter().all(|names| names.contains(name)));
        let is_wanted = |name: &String| settings.attributes.as_ref().is_none_or(|wanted| wanted.contains(name));
        let mut columns = Vec::new();
        for name in everywhere.filter(is_wanted) {
            columns.extend(self.column(name)?);
        }
        let names: Vec<String> = columns.iter().map(|column: &Column| column.unit.name.clone()).collect();
        let mut is_used = vec![true; columns.len()];
        for (_, members) in groups(names.iter().map(String::as_str), &settings.images) {
            let share = self.share(&members.iter().map(|&at| &columns[at]).collect::<Vec<_>>());
            // What the caller names is used.
            let is_silent = settings.attributes.is_none() && self.is_silent(&columns, &members, share);
            for at in members {
                columns[at].unit.share = share;
                is_used[at] = !is_silent;
            }
        }
        let mut is_used = is_used.into_iter();
        columns.retain(|_| is_used.next().unwrap_or(false));
        Ok(columns)
    }

    /// One number in its own unit; `None` if it is the same for all points.
    fn column(&self, name: String) -> Result<Option<Column>> {
        let values: Vec<Vec<f64>> = self.graphs.iter().filter_map(|graph| column(graph, &name)).collect();
        let all = Sample { values: values.iter().flatten().map(|&x| [x, 0.0, 0.0]).collect() };
        let mean = all.mean()[0];
        let square: f64 = all.values.iter().map(|value| (value[0] - mean).powi(2)).sum();
        let deviation = (square / all.values.len() as f64).sqrt();
        let overflow = || Error::Overflow { what: "values of an attribute", largest: deviation };
        if !deviation.is_finite() {
            return Err(overflow());
        }
        if deviation == 0.0 {
            return Ok(None);
        }
        let mut samples = vec![Sample::default(); self.names.len()];
        for (places, own) in self.place.iter().zip(&values) {
            for (&landmark, &row) in places {
                samples[landmark].values.push([(own[row] - mean) / deviation, 0.0, 0.0]);
            }
        }
        let gaussians = gaussians(&samples).ok_or_else(overflow)?;
        Ok(Some(Column { unit: AttributeUnit { name, mean, deviation, share: 1.0 }, gaussians, samples }))
    }

    /// How much each number of one kind counts, by how they vary from specimen to specimen.
    fn share(&self, columns: &[&Column]) -> f64 {
        let rows = |landmark: usize| {
            let count = columns.first().map_or(0, |column| column.samples[landmark].values.len());
            let row = |at: usize| columns.iter().map(|column| column.samples[landmark].values[at][0]).collect();
            (0..count).map(row).collect()
        };
        effective_share(&(0..self.names.len()).map(rows).collect::<Vec<_>>())
    }

    /// Whether numbers of one kind, each worth `share` of one, tell nothing about landmarks.
    fn is_silent(&self, columns: &[Column], members: &[usize], share: f64) -> bool {
        let count = self.graphs.len();
        let pairs: Vec<(usize, usize)> = (0..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let step = pairs.len().div_ceil(MOST_PAIRS).max(1);
        let shown = |&(a, b): &(usize, usize)| {
            let (mut of_partners, mut of_all, mut partners) = (0.0, 0.0, 0.0);
            for unit in members.iter().map(|&at| &columns[at].unit) {
                let [x, y] = [a, b].map(|specimen| self.named_values(specimen, unit));
                let both = self.place[a].keys().filter_map(|name| Some((x.get(name)?, y.get(name)?)));
                let both: Vec<f64> = both.map(|(x, y)| (x - y).powi(2)).collect();
                partners = both.len() as f64;
                of_partners += both.iter().sum::<f64>() / partners;
                of_all += x.values().flat_map(|x| y.values().map(move |y| (x - y).powi(2))).sum::<f64>()
                    / (x.len() * y.len()) as f64;
            }
            let worth = (share * members.len() as f64).max(1.0);
            Shown { partners: 1.0 + (partners - 1.0) * worth, of_partners, of_all }
        };
        tells_nothing(pairs.iter().step_by(step).map(shown))
    }

    /// The values of the landmarks of a specimen, in deviations.
    fn named_values(&self, specimen: usize, unit: &AttributeUnit) -> std::collections::BTreeMap<usize, f64> {
        let values = column(self.graphs[specimen], &unit.name).unwrap_or_default();
        self.place[specimen].iter().map(|(&name, &row)| (name, values[row] / unit.deviation)).collect()
    }
}

/// The Gaussians of all landmarks.
fn gaussians(samples: &[Sample]) -> Option<Vec<Gaussian>> {
    let prior = Prior::fit(samples.iter(), 1);
    let is_known = samples.iter().any(|sample| sample.values.len() > 1);
    let strength =
        most_likely(samples.iter(), 1, &[prior], &STRENGTHS).map_or(USUAL_STRENGTH, |(_, strength)| strength);
    // Without the factor 1 + 1/s of what `spread` gives.
    let own_variance = |sample: &Sample| -> Option<f64> {
        if !is_known {
            return Some(UNKNOWN);
        }
        let count = sample.values.len().max(1) as f64;
        let predicted = sample.gaussian(1, prior, strength, [0.0; 3])?.covariance_square()[0][0];
        Some(predicted / (1.0 + 1.0 / count))
    };
    let variances = samples.iter().map(own_variance).collect::<Option<Vec<f64>>>()?;
    let seen = || samples.iter().zip(&variances).filter(|(sample, _)| !sample.values.is_empty());
    let between =
        |(sample, variance): (&Sample, &f64)| sample.mean()[0].powi(2) - variance / sample.values.len() as f64;
    let between = (seen().map(between).sum::<f64>() / seen().count().max(1) as f64).max(0.0);
    let gaussian = |(sample, &variance): (&Sample, &f64)| {
        let count = sample.values.len();
        // A landmark without a value may have any.
        let of_mean = if count > 0 { variance / count as f64 } else { f64::INFINITY };
        let believed = if between > 0.0 { between / (between + of_mean) } else { 0.0 };
        let unknown = if count > 0 { believed * of_mean } else { between };
        let mut covariance = Square::default();
        covariance[0][0] = variance + unknown;
        Gaussian::new(vec![believed * sample.mean()[0]], &covariance, count)
    };
    samples.iter().zip(&variances).map(gaussian).collect()
}

/// The values of one attribute of the nodes of a graph.
pub(super) fn column(graph: &Graph, name: &str) -> Option<Vec<f64>> {
    let attributes = graph.node_attributes()?;
    let at = attributes.names().iter().position(|own| own == name)?;
    Some(attributes.values().column(at).to_vec())
}
