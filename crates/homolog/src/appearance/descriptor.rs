//! What a picture looks like around a place: 225 numbers.
//!
//!   g = G(0.8) ∗ I;   a = |∇g| / (G(10) ∗ |∇g| + 0.004), spread linearly over 8 signed directions;
//!   a ninth channel (I - G(10) ∗ I) / (sd in G(10) + 0.02)
//!
//! The descriptor x(z): the channels blurred by σ = 1 at z itself; by 1.5 at 8 points on a circle of radius 4; by 2.5 at 8 on radius 9; by
//! 3.5 at 8 on radius 15; every other circle turned by half a step, points rounded to pixels. Contrast and slow changes of light do not
//! matter. A wide view costs no more than a narrow one: 36 blurred planes, then 225 numbers per place.

use super::picture::{AT_A_TIME, Plane, Rectangle, listen};
use crate::{Control, Result};
use ndarray::Array2;
use std::f32::consts::TAU;

/// How many numbers describe a place.
pub(super) const NUMBERS: usize = SAMPLES.len() * CHANNELS;
const DIRECTIONS: usize = 8;
const CHANNELS: usize = DIRECTIONS + 1;
/// The blur of the channels in the middle and on the three circles.
const BLURS: [f64; 4] = [1.0, 1.5, 2.5, 3.5];
/// Which blur, and where: the middle and the circles of radius 4, 9 and 15.
const SAMPLES: [(usize, isize, isize); 25] = [
    (0, 0, 0),
    (1, 4, 2),
    (1, 2, 4),
    (1, -2, 4),
    (1, -4, 2),
    (1, -4, -2),
    (1, -2, -4),
    (1, 2, -4),
    (1, 4, -2),
    (2, 9, 0),
    (2, 6, 6),
    (2, 0, 9),
    (2, -6, 6),
    (2, -9, 0),
    (2, -6, -6),
    (2, 0, -9),
    (2, 6, -6),
    (3, 14, 6),
    (3, 6, 14),
    (3, -6, 14),
    (3, -14, 6),
    (3, -14, -6),
    (3, -6, -14),
    (3, 6, -14),
    (3, 14, -6),
];
/// The neighbourhood that contrast is measured in.
const AROUND: f64 = 10.0;
const SMOOTHING: f64 = 0.8;
/// The direction and size of a gradient take as long as so many multiplications.
const COST: usize = 64;
/// Gradients and deviations much below these are noise.
const LEAST_GRADIENT: f32 = 0.004;
const LEAST_DEVIATION: f32 = 0.02;

/// The channels of a picture, blurred four times each.
#[derive(Debug)]
pub(super) struct Fields {
    rectangle: Rectangle,
    width: usize,
    height: usize,
    /// All channels of the first blur, then of the second, ...
    planes: Vec<Plane>,
}

impl Fields {
    /// Of a picture whose pixels are those of the rectangle; it has at least one.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn new(picture: &Plane, rectangle: Rectangle, control: &Control) -> Result<Self> {
        let mut last = channels(picture, control)?;
        let (mut planes, mut before) = (Vec::with_capacity(BLURS.len() * CHANNELS), 0.0_f64);
        for sigma in BLURS {
            // Variances of Gaussians add up.
            let more = (sigma * sigma - before * before).sqrt();
            last = last.iter().map(|plane| plane.blurred(more, control)).collect::<Result<_>>()?;
            planes.extend(last.iter().cloned());
            before = sigma;
        }
        Ok(Self { rectangle, width: picture.width, height: picture.height, planes })
    }

    /// The descriptor of any place, linear between pixels.
    pub(super) fn describe(&self, [x, y]: [f64; 2]) -> Vec<f32> {
        let (x, y) = (x - self.rectangle.left as f64, y - self.rectangle.top as f64);
        let sample = |(blur, dx, dy): (usize, isize, isize)| {
            let planes = &self.planes[blur * CHANNELS..][..CHANNELS];
            planes.iter().map(move |plane| plane.at(x + dx as f64, y + dy as f64))
        };
        SAMPLES.into_iter().flat_map(sample).collect()
    }

    /// The descriptor of a pixel.
    pub(super) fn describe_pixel(&self, [x, y]: [isize; 2], numbers: &mut [f32]) {
        for ((blur, dx, dy), numbers) in SAMPLES.into_iter().zip(numbers.chunks_mut(CHANNELS)) {
            let at = self.row_of(y + dy) * self.width + within(x + dx - self.rectangle.left, self.width);
            for (number, plane) in numbers.iter_mut().zip(&self.planes[blur * CHANNELS..]) {
                *number = plane.values[at];
            }
        }
    }

    /// w'x(z) for each row w of `weights` and all z in a rectangle: a plane for each w.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn products(
        &self,
        weights: &Array2<f32>,
        rectangle: Rectangle,
        control: &Control,
    ) -> Result<Vec<Plane>> {
        let (width, height) = (rectangle.width(), rectangle.height());
        let mut planes = vec![Plane::zeros(width, height); weights.nrows()];
        let mut row = Array2::zeros((NUMBERS, width));
        for y in 0..height {
            listen(y, AT_A_TIME / (NUMBERS * width.max(1) * (1 + weights.nrows())) + 1, control)?;
            self.describe_row([rectangle.left, rectangle.top + y.cast_signed()], &mut row);
            let products = weights.dot(&row);
            for (plane, products) in planes.iter_mut().zip(products.rows()) {
                plane.values[y * width..][..width].iter_mut().zip(products).for_each(|(to, value)| *to = *value);
            }
        }
        Ok(planes)
    }

    /// The descriptors of (x, y), (x + 1, y), ... as columns.
    fn describe_row(&self, [x, y]: [isize; 2], columns: &mut Array2<f32>) {
        let width = columns.ncols();
        let places = SAMPLES.into_iter().flat_map(|sample| (0..CHANNELS).map(move |channel| (sample, channel)));
        for (((blur, dx, dy), channel), mut to) in places.zip(columns.rows_mut()) {
            let from = self.planes[blur * CHANNELS + channel].row(self.row_of(y + dy));
            let start = x + dx - self.rectangle.left;
            let inside = usize::try_from(start).ok().and_then(|start| from.get(start..start + width));
            if let (Some(inside), Some(to)) = (inside, to.as_slice_mut()) {
                to.copy_from_slice(inside);
            } else {
                let value = |(k, to): (usize, &mut f32)| *to = from[within(start + k.cast_signed(), self.width)];
                to.iter_mut().enumerate().for_each(value);
            }
        }
    }

    fn row_of(&self, y: isize) -> usize {
        within(y - self.rectangle.top, self.height)
    }
}

/// The nearest of 0..count.
fn within(at: isize, count: usize) -> usize {
    at.clamp(0, count.cast_signed() - 1).cast_unsigned()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of directions, not negative")]
fn channels(picture: &Plane, control: &Control) -> Result<Vec<Plane>> {
    let (width, height) = (picture.width, picture.height);
    let smooth = picture.blurred(SMOOTHING, control)?;
    let (mut sizes, mut turns) = (Plane::zeros(width, height), vec![0.0; width * height]);
    for y in 0..height {
        listen(y, AT_A_TIME / (COST * width) + 1, control)?;
        let (above, own, below) = (smooth.row(y.saturating_sub(1)), smooth.row(y), smooth.row((y + 1).min(height - 1)));
        for x in 0..width {
            let right = (own[(x + 1).min(width - 1)] - own[x.saturating_sub(1)]) / 2.0;
            let down = (below[x] - above[x]) / 2.0;
            sizes.values[y * width + x] = (right * right + down * down).sqrt();
            turns[y * width + x] = (down.atan2(right) / TAU * DIRECTIONS as f32).rem_euclid(DIRECTIONS as f32);
        }
    }
    let usual = sizes.blurred(AROUND, control)?;
    let mut channels = vec![Plane::zeros(width, height); CHANNELS];
    for at in 0..width * height {
        let amount = sizes.values[at] / (usual.values[at] + LEAST_GRADIENT);
        let (low, share) = (turns[at] as usize % DIRECTIONS, turns[at].fract());
        channels[low].values[at] += amount * (1.0 - share);
        channels[(low + 1) % DIRECTIONS].values[at] += amount * share;
    }
    let mean = picture.blurred(AROUND, control)?;
    let square = picture.map(|level| level * level).blurred(AROUND, control)?;
    for at in 0..width * height {
        let deviation = (square.values[at] - mean.values[at] * mean.values[at]).max(0.0).sqrt();
        channels[DIRECTIONS].values[at] = (picture.values[at] - mean.values[at]) / (deviation + LEAST_DEVIATION);
    }
    Ok(channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        let values = (0..60 * 40).map(|at: u16| f32::from(at % 101 * 37 % 101) / 101.0).collect();
        let rectangle = Rectangle { left: -5, top: 3, right: 54, bottom: 42 };
        Fields::new(&Plane { width: 60, height: 40, values }, rectangle, &Control::new()).unwrap()
    }

    #[test]
    fn the_samples_are_on_their_circles() {
        for (number, (blur, dx, dy)) in SAMPLES.into_iter().enumerate().skip(1) {
            let (ring, step) = ((number - 1) / 8, (number - 1) % 8);
            let (radius, turn) = ([4.0, 9.0, 15.0][ring], [0.5, 0.0, 0.5][ring]);
            let angle = (step as f64 + turn) * std::f64::consts::FRAC_PI_4;
            let expected = [radius * angle.cos(), radius * angle.sin()].map(f64::round);
            assert_eq!((blur, [dx as f64, dy as f64]), (ring + 1, expected), "{number}");
        }
    }

    #[test]
    fn products_are_those_of_the_descriptors_also_beyond_the_border() {
        let fields = fields();
        let weights = Array2::from_shape_fn((2, NUMBERS), |(row, at)| ((row * 5 + at * 3) % 7) as f32 / 7.0 - 0.4);
        let rectangle = Rectangle { left: -12, top: 0, right: 58, bottom: 47 };
        let planes = fields.products(&weights, rectangle, &Control::new()).unwrap();
        let mut numbers = vec![0.0; NUMBERS];
        for (x, y) in [(-12, 0), (3, 9), (20, 20), (58, 47), (54, 3)] {
            fields.describe_pixel([x, y], &mut numbers);
            assert_eq!(numbers, fields.describe([x as f64, y as f64]));
            for (row, plane) in weights.rows().into_iter().zip(&planes) {
                let expected: f32 = row.iter().zip(&numbers).map(|(a, b)| a * b).sum();
                let found = plane.row((y - rectangle.top).cast_unsigned())[(x - rectangle.left).cast_unsigned()];
                assert!((found - expected).abs() < 1e-4, "{x} {y}: {found} {expected}");
            }
        }
    }

    #[test]
    fn light_and_contrast_hardly_matter() {
        let picture = Plane {
            width: 80,
            height: 80,
            values: (0..6400_u16).map(|at| f32::from((at % 80) / 8 * 7 % 5 + at / 640 % 3) / 7.0).collect(),
        };
        let darker = picture.map(|level| 0.2 + 0.6 * level);
        let rectangle = Rectangle { left: 0, top: 0, right: 79, bottom: 79 };
        let [a, b] = [&picture, &darker].map(|plane| Fields::new(plane, rectangle, &Control::new()).unwrap());
        let (a, b) = (a.describe([40.0, 41.5]), b.describe([40.0, 41.5]));
        let length = a.iter().map(|x| x * x).sum::<f32>().sqrt();
        let apart = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
        assert!(apart < 0.1 * length, "{apart} of {length}");
    }
}
