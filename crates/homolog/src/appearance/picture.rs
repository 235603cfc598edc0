//! Pictures of real numbers: Gaussian blurs, and reductions without aliasing.
//!
//! A reduction by s needs a blur of variance (s² - 1) / 4 first. Halvings (means of two by two pixels) do most of it for large s: k of
//! them have variance (4^k - 1) / 12, and a Gaussian does the rest. O(pixels) for each tap of a blur, along rows, with the widest vectors
//! that the processor has.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::inline_always,
    reason = "places are clamped to the picture; what is inlined into a `WithSimd` task is compiled for the wider instructions"
)]

use super::placement::Placement;
use crate::geometry::GreyImage;
use crate::{Control, Error, Result};

/// A Gaussian ends at this many deviations.
const TRUNCATION: f64 = 4.0;
/// A value between pixels takes as long as so many multiplications.
const COST: usize = 16;
/// Narrower Gaussians change nothing.
const NARROWEST: f64 = 0.05;
/// Multiplications between two questions to the control: some milliseconds.
pub(super) const AT_A_TIME: usize = 1 << 23;
/// Pictures smaller than this are not halved.
const SMALLEST_SIDE: usize = 32;

/// Rows of values, without gaps. The centre of pixel (x, y) is the place (x, y).
#[derive(Debug, Clone)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
}

impl Plane {
    pub(super) fn zeros(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0.0; width * height] }
    }

    pub(super) fn row(&self, y: usize) -> &[f32] {
        &self.values[y * self.width..][..self.width]
    }

    pub(super) fn map(&self, f: impl Fn(f32) -> f32) -> Self {
        Self { values: self.values.iter().map(|&value| f(value)).collect(), ..*self }
    }

    /// The value at any place, linear between pixels; beyond the border that of the nearest pixel.
    pub(super) fn at(&self, x: f64, y: f64) -> f32 {
        let (x, y) = (x.clamp(0.0, (self.width - 1) as f64), y.clamp(0.0, (self.height - 1) as f64));
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(self.width - 1), (top + 1).min(self.height - 1));
        let (across, down) = ((x - left as f64) as f32, (y - top as f64) as f32);
        let (upper, lower) = (self.row(top), self.row(bottom));
        let above = upper[left] + across * (upper[right] - upper[left]);
        let below = lower[left] + across * (lower[right] - lower[left]);
        above + down * (below - above)
    }

    /// Convolved with a Gaussian; beyond the border the nearest value counts.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn blurred(&self, sigma: f64, control: &Control) -> Result<Self> {
        if sigma < NARROWEST || self.values.is_empty() {
            return Ok(self.clone());
        }
        let (mut across, mut down) = (Self::zeros(self.width, self.height), Self::zeros(self.width, self.height));
        let kernel = kernel(sigma);
        let blur = Blur { kernel: &kernel, plane: self, across: &mut across, down: &mut down, control };
        pulp::Arch::new().dispatch(blur)?;
        Ok(down)
    }

    /// Means of two by two pixels; an odd last row or column counts twice.
    fn halved(&self, control: &Control) -> Result<Self> {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut half = Self::zeros(width, height);
        for y in 0..height {
            listen(y, AT_A_TIME / (4 * width) + 1, control)?;
            let (upper, lower) = (self.row(2 * y), self.row((2 * y + 1).min(self.height - 1)));
            for x in 0..width {
                let (left, right) = (2 * x, (2 * x + 1).min(self.width - 1));
                half.values[y * width + x] = (upper[left] + upper[right] + lower[left] + lower[right]) / 4.0;
            }
        }
        Ok(half)
    }
}

/// Half a Gaussian, from its middle on; the whole sums to 1.
fn kernel(sigma: f64) -> Vec<f32> {
    let radius = (TRUNCATION * sigma + 0.5) as usize;
    let raw: Vec<f64> = (0..=radius).map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp()).collect();
    let total = raw[0] + 2.0 * raw[1..].iter().sum::<f64>();
    raw.iter().map(|value| (value / total) as f32).collect()
}

/// Rows, then columns.
struct Blur<'a> {
    kernel: &'a [f32],
    plane: &'a Plane,
    across: &'a mut Plane,
    down: &'a mut Plane,
    control: &'a Control,
}

impl pulp::WithSimd for Blur<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Result<()> {
        let rows = AT_A_TIME / (self.plane.width * self.kernel.len()) + 1;
        let (width, height, radius) = (self.plane.width, self.plane.height, self.kernel.len() - 1);
        let mut padded = vec![0.0; width + 2 * radius];
        for y in 0..height {
            listen(y, rows, self.control)?;
            let row = self.plane.row(y);
            padded[..radius].fill(row[0]);
            padded[radius..radius + width].copy_from_slice(row);
            padded[radius + width..].fill(row[width - 1]);
            let out = &mut self.across.values[y * width..][..width];
            set(out, self.kernel[0], &padded[radius..]);
            for (k, &weight) in self.kernel.iter().enumerate().skip(1) {
                add(out, weight, &padded[radius - k..][..width], &padded[radius + k..][..width]);
            }
        }
        for y in 0..height {
            listen(y, rows, self.control)?;
            let out = &mut self.down.values[y * width..][..width];
            set(out, self.kernel[0], self.across.row(y));
            for (k, &weight) in self.kernel.iter().enumerate().skip(1) {
                add(out, weight, self.across.row(y.saturating_sub(k)), self.across.row((y + k).min(height - 1)));
            }
        }
        Ok(())
    }
}

/// Asks the control at every so many rows.
pub(super) fn listen(row: usize, rows: usize, control: &Control) -> Result<()> {
    if row.is_multiple_of(rows) { Error::if_interrupted(control) } else { Ok(()) }
}

#[inline(always)]
fn set(out: &mut [f32], weight: f32, from: &[f32]) {
    for (out, value) in out.iter_mut().zip(from) {
        *out = weight * value;
    }
}

#[inline(always)]
fn add(out: &mut [f32], weight: f32, a: &[f32], b: &[f32]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out += weight * (a + b);
    }
}

/// A picture with grey levels from 0 to 1, and its halvings.
#[derive(Debug)]
pub(super) struct Pyramid {
    halvings: Vec<Plane>,
}

impl Pyramid {
    /// Of a picture that has pixels.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn new(image: GreyImage<'_>, control: &Control) -> Result<Self> {
        let values = image.pixels().iter().map(|&level| f32::from(level) / 255.0).collect();
        let mut halvings = vec![Plane { width: image.width(), height: image.height(), values }];
        while let Some(last) = halvings.last()
            && last.width.min(last.height) >= SMALLEST_SIDE
        {
            Error::if_interrupted(control)?;
            halvings.push(last.halved(control)?);
        }
        Ok(Self { halvings })
    }

    /// Width and height.
    pub(super) fn size(&self) -> [f64; 2] {
        [self.halvings[0].width as f64, self.halvings[0].height as f64]
    }

    /// The picture as it looks through `placement` (from new to old coordinates) inside a rectangle of new coordinates.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn seen(&self, placement: &Placement, rectangle: Rectangle, control: &Control) -> Result<Plane> {
        let scale = placement.scale();
        let side = |halvings: usize| f64::from(1_u32 << halvings);
        let halvings = (0..self.halvings.len()).rev().find(|&k| k == 0 || scale >= 2.0 * side(k)).unwrap_or(0);
        let unit = side(halvings);
        let done = (unit * unit - 1.0) / 12.0;
        let variance = (0.25 * (scale * scale - 1.0) - done).max(0.0) / (unit * unit);
        let source = self.halvings[halvings].blurred(variance.sqrt(), control)?;
        let (width, height) = (rectangle.width(), rectangle.height());
        let mut seen = Plane::zeros(width, height);
        for y in 0..height {
            listen(y, AT_A_TIME / (COST * width.max(1)) + 1, control)?;
            for x in 0..width {
                let place = [rectangle.left + x.cast_signed(), rectangle.top + y.cast_signed()];
                let [x_old, y_old] = placement.apply(place.map(|at| at as f64));
                // Pixel i of a halving covers pixels 2 i and 2 i + 1.
                seen.values[y * width + x] = source.at((x_old + 0.5) / unit - 0.5, (y_old + 0.5) / unit - 0.5);
            }
        }
        Ok(seen)
    }
}

/// Whole pixels, borders included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) left: isize,
    pub(super) top: isize,
    pub(super) right: isize,
    pub(super) bottom: isize,
}

impl Rectangle {
    /// Around places, with a margin.
    pub(super) fn around(places: &[[f64; 2]], margin: f64) -> Self {
        let fold = |axis: usize, start: f64, pick: fn(f64, f64) -> f64| {
            places.iter().map(|place| place[axis]).fold(start, pick)
        };
        let low = |axis: usize| (fold(axis, f64::INFINITY, f64::min) - margin).floor() as isize;
        let high = |axis: usize| (fold(axis, f64::NEG_INFINITY, f64::max) + margin).ceil() as isize;
        Self { left: low(0), top: low(1), right: high(0), bottom: high(1) }
    }

    /// What a whole picture of this size is in the coordinates of a placement (from new to old).
    pub(super) fn whole([width, height]: [f64; 2], placement: &Placement) -> Self {
        let back = placement.inverse();
        let corners = [[0.0, 0.0], [width - 1.0, 0.0], [0.0, height - 1.0], [width - 1.0, height - 1.0]];
        Self::around(&corners.map(|corner| back.apply(corner)), 0.0)
    }

    /// The smallest that covers both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    pub(super) fn width(&self) -> usize {
        (self.right - self.left + 1).max(0).cast_unsigned()
    }

    pub(super) fn height(&self) -> usize {
        (self.bottom - self.top + 1).max(0).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_keeps_the_sum_and_has_the_variance_asked_for() {
        for sigma in [0.8, 2.5, 10.0] {
            let mut plane = Plane::zeros(121, 121);
            plane.values[60 * 121 + 60] = 1.0;
            let blurred = plane.blurred(sigma, &Control::new()).unwrap();
            let moment = |power: i32| {
                let value = |at: usize| f64::from(blurred.values[at]) * (at as f64 % 121.0 - 60.0).powi(power);
                (0..121 * 121).map(value).sum::<f64>()
            };
            assert!((moment(0) - 1.0).abs() < 1e-5, "{}", moment(0));
            assert!((moment(2).sqrt() / sigma - 1.0).abs() < 0.01, "{sigma}: {}", moment(2).sqrt());
        }
    }

    #[test]
    fn a_slope_looks_the_same_at_every_reduction() {
        let (width, height) = (400, 300);
        let level = |at: usize| u8::try_from((at % width) / 2).unwrap();
        let pixels: Vec<u8> = (0..width * height).map(level).collect();
        let pyramid = Pyramid::new(GreyImage::new(width, height, &pixels).unwrap(), &Control::new()).unwrap();
        for scale in [0.7, 1.0, 3.0, 5.0, 9.0] {
            let placement = Placement { factor: [scale, 0.0], shift: [200.0, 150.0] };
            let rectangle = Rectangle { left: -8, top: -8, right: 8, bottom: 8 };
            let seen = pyramid.seen(&placement, rectangle, &Control::new()).unwrap();
            for x in 0..17 {
                // A level is two pixels wide: half a level below the line on average.
                let expected = (f64::midpoint(200.0, scale * (f64::from(x) - 8.0)) - 0.25) / 255.0;
                let found = f64::from(seen.row(8)[usize::try_from(x).unwrap()]);
                assert!((found - expected).abs() < 0.3 / 255.0, "{scale}, {x}: {found} {expected}");
            }
        }
    }
}
