//! From a pose to places: at each level, the peak of response and shape together.
//!
//! The picture is resampled by the pose, so that the mean has the level's diameter. For each landmark, on 29 × 29 pixels around where the
//! shape expects it (mean m_i, precision P_i of the prior, conditioned on what is known),
//!
//!   log(exp(β · clip(r_i, -0.2, 1.1)) + 0.001 e^β) - ½ (z - m_i)' P_i (z - m_i),   β = 12
//!
//! is largest at the landmark; a parabola through three values in x and y finds it between pixels. The similarity from the mean to these
//! places, weighted by one over their variance, is the pose for the next level, where poses are 0.4 times as uncertain.

use super::descriptor::Fields;
use super::picture::{Plane, Pyramid, Rectangle};
use super::placement::Placement;
use super::shape::{Expected, Place, PoseDeviation, Shape};
use super::templates::Templates;
use crate::{Control, Result};

/// β.
const SHARPNESS: f32 = 12.0;
/// A response far from the landmark may be anything: the share that does not depend on it.
const ANYTHING: f32 = 0.001;
const LEAST_RESPONSE: f32 = -0.2;
const MOST_RESPONSE: f32 = 1.1;
/// Half the width of a window.
const RADIUS: isize = 14;
/// What is seen around the mean: windows, circles and blurs reach so far.
const MARGIN: f64 = 50.0;
/// At the first level, and at no level less than the least.
const FIRST: PoseDeviation = PoseDeviation { shift: 0.06, rotation: 0.12, size: 0.10 };
const LEAST: PoseDeviation = PoseDeviation { shift: 0.01, rotation: 0.02, size: 0.02 };
const NARROWING: f64 = 0.4;
/// No place is better known than to a third of a pixel.
const LEAST_VARIANCE: f64 = 0.1;

/// Where the landmarks were found.
pub(super) struct Refined {
    /// In the picture.
    pub(super) places: Vec<Place>,
    /// r_i there.
    pub(super) responses: Vec<f64>,
    /// How uncertain each place is, in units of the level's D.
    pub(super) deviations: Vec<f64>,
    /// What the peaks add up to: comparable between poses.
    pub(super) score: f64,
    /// From this level's coordinates to the picture's.
    pub(super) pose: Placement,
}

/// What was learned for one level.
pub(super) struct Level<'a> {
    /// Which one, from the coarsest.
    pub(super) number: usize,
    /// D.
    pub(super) size: f64,
    pub(super) shape: &'a Shape,
    pub(super) templates: &'a Templates,
}

impl Level<'_> {
    /// Refines a pose in this level's coordinates, with landmarks of the picture that are known.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn refine(
        &self,
        picture: &Pyramid,
        pose: &Placement,
        known: &[Option<Place>],
        control: &Control,
    ) -> Result<Refined> {
        let back = pose.inverse();
        let given: Vec<Option<Place>> = known.iter().map(|place| place.map(|place| back.apply(place))).collect();
        let expected = self.shape.expected(self.size, deviation(self.number), &given);
        let middles: Vec<Place> = expected.iter().map(|expected| expected.mean).collect();
        let rectangle = Rectangle::around(&middles, MARGIN);
        let fields = Fields::new(&picture.seen(pose, rectangle, control)?, rectangle, control)?;
        let mut refined =
            Refined { places: Vec::new(), responses: Vec::new(), deviations: Vec::new(), score: 0.0, pose: *pose };
        let mut weights = Vec::new();
        for (landmark, expected) in expected.iter().enumerate() {
            let window = Rectangle::around(&[expected.mean.map(f64::round)], RADIUS as f64);
            let response = self.templates.respond_one(landmark, &fields, window, control)?;
            let peak = Peak::find(&response, window, expected);
            let place = given[landmark].unwrap_or(peak.place);
            let own = self.shape.deviation(landmark) * self.size;
            let variance = if given[landmark].is_some() { LEAST_VARIANCE } else { peak.variance };
            weights.push(1.0 / (variance + own * own));
            refined.places.push(pose.apply(place));
            refined.responses.push(peak.response);
            refined.deviations.push(variance.sqrt() / self.size);
            refined.score += peak.value;
        }
        refined.pose = Placement::fit(&self.shape.sized(self.size), &refined.places, &weights)?;
        Ok(refined)
    }
}

fn deviation(level: usize) -> PoseDeviation {
    let narrowed = |first: f64, least: f64| (0..level).fold(first, |now, _| (now * NARROWING).max(least));
    PoseDeviation {
        shift: narrowed(FIRST.shift, LEAST.shift),
        rotation: narrowed(FIRST.rotation, LEAST.rotation),
        size: narrowed(FIRST.size, LEAST.size),
    }
}

struct Peak {
    place: Place,
    value: f64,
    response: f64,
    variance: f64,
}

impl Peak {
    fn find(response: &Plane, window: Rectangle, expected: &Expected) -> Self {
        let [xx, xy, yy] = expected.covariance;
        let determinant = (xx * yy - xy * xy).max(1e-9 * xx * yy);
        let (width, height) = (response.width, response.height);
        let place =
            |x: usize, y: usize| [(window.left + x.cast_signed()) as f64, (window.top + y.cast_signed()) as f64];
        let mut values = vec![0.0; width * height];
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for (at, value) in values.iter_mut().enumerate() {
            let [x, y] = place(at % width, at / width);
            let (dx, dy) = (x - expected.mean[0], y - expected.mean[1]);
            let square = (yy * dx * dx - 2.0 * xy * dx * dy + xx * dy * dy) / determinant;
            let clipped = response.values[at].clamp(LEAST_RESPONSE, MOST_RESPONSE);
            let log = ((SHARPNESS * clipped).exp() + ANYTHING * SHARPNESS.exp()).ln();
            *value = f64::from(log) - 0.5 * square;
            if *value > most {
                (best, most) = (at, *value);
            }
        }
        let (x, y) = (best % width, best / width);
        let (mut total, mut first, mut second) = (0.0, [0.0; 2], 0.0);
        for (at, value) in values.iter().enumerate() {
            let share = (value - most).exp();
            let (dx, dy) = ((at % width) as f64 - x as f64, (at / width) as f64 - y as f64);
            total += share;
            first = [first[0] + share * dx, first[1] + share * dy];
            second += share * (dx * dx + dy * dy);
        }
        let variance = (second / total - (first[0] / total).powi(2) - (first[1] / total).powi(2)) / 2.0;
        let across = if x > 0 && x + 1 < width { vertex(values[best - 1], most, values[best + 1]) } else { 0.0 };
        let down = if y > 0 && y + 1 < height { vertex(values[best - width], most, values[best + width]) } else { 0.0 };
        let [x, y] = place(x, y);
        Self {
            place: [x + across, y + down],
            value: most,
            response: f64::from(response.values[best]),
            variance: variance.max(LEAST_VARIANCE),
        }
    }
}

/// Where a parabola through values at -1, 0 and 1, the largest in the middle, is largest.
fn vertex(before: f64, middle: f64, after: f64) -> f64 {
    let bend = before - 2.0 * middle + after;
    if bend < -1e-9 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_found_between_pixels() {
        let window = Rectangle { left: 10, top: -4, right: 38, bottom: 24 };
        let truth = [25.3, 8.6];
        let mut response = Plane::zeros(29, 29);
        for (at, value) in response.values.iter_mut().enumerate() {
            let (x, y) = ((at % 29) as f32 + 10.0, (at / 29) as f32 - 4.0);
            *value = (-((x - 25.3).powi(2) + (y - 8.6).powi(2)) / 12.0).exp();
        }
        let expected = Expected { mean: [23.0, 9.0], covariance: [400.0, 0.0, 400.0] };
        let peak = Peak::find(&response, window, &expected);
        assert!((peak.place[0] - truth[0]).abs() < 0.1 && (peak.place[1] - truth[1]).abs() < 0.1, "{:?}", peak.place);
        assert!(peak.response > 0.95);
        // Where nothing is to be seen, the shape decides.
        let blank = Peak::find(&Plane::zeros(29, 29), window, &expected);
        assert!((blank.place[0] - 23.0).abs() < 0.6 && (blank.place[1] - 9.0).abs() < 0.6);
        assert!(blank.variance > 3.0 * peak.variance, "{} and {}", blank.variance, peak.variance);
    }
}
