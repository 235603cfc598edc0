//! Draws flat faces as a grey picture: a depth buffer over three by three samples per pixel, averaged.
//!
//! A face is drawn as a fan of triangles. Inside a triangle 1/depth is linear in screen coordinates, so the nearest face is right at
//! every sample, even where faces intersect. Cost: samples inside each triangle's bounding box.

use super::Picture;

/// Samples along each side of a pixel.
const OVERSAMPLE: usize = 3;

/// A corner on the screen: x to the right and y down in pixels, and 1/depth, larger nearer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) nearness: f64,
}

/// The picture being drawn.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    nearness: Vec<f64>,
    grey: Vec<f64>,
}

impl Canvas {
    /// A canvas of the given size in pixels; `background` says how bright the empty row at a height (0 top, 1 bottom) is, 0 to 1.
    pub(super) fn new(width: usize, height: usize, background: impl Fn(f64) -> f64) -> Self {
        let (wide, high) = (width * OVERSAMPLE, height * OVERSAMPLE);
        let grey = (0..high).flat_map(|row| std::iter::repeat_n(background(row as f64 / high as f64), wide)).collect();
        Self { width, height, nearness: vec![0.0; wide * high], grey }
    }

    /// Draws a convex polygon of one grey, 0 to 1, where nothing is nearer.
    pub(super) fn polygon(&mut self, corners: &[Corner], grey: f64) {
        for k in 2..corners.len() {
            self.triangle([corners[0], corners[k - 1], corners[k]], grey);
        }
    }

    fn triangle(&mut self, [a, b, c]: [Corner; 3], grey: f64) {
        let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        if area == 0.0 {
            return;
        }
        let columns = samples(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x), self.width);
        for row in samples(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y), self.height) {
            let y = (row as f64 + 0.5) / OVERSAMPLE as f64;
            for column in columns.clone() {
                let x = (column as f64 + 0.5) / OVERSAMPLE as f64;
                // Barycentric coordinates, all non-negative inside.
                let u = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area;
                let v = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
                if u < 0.0 || v < 0.0 || u + v > 1.0 {
                    continue;
                }
                let nearness = a.nearness + u * (b.nearness - a.nearness) + v * (c.nearness - a.nearness);
                let sample = row * self.width * OVERSAMPLE + column;
                if nearness > self.nearness[sample] {
                    self.nearness[sample] = nearness;
                    self.grey[sample] = grey;
                }
            }
        }
    }

    /// Whether anything drawn is nearer than `corner` by more than the share `slack` at every sample within `radius` pixels of it.
    #[cfg(test)]
    pub(super) fn hides(&self, corner: Corner, radius: f64, slack: f64) -> bool {
        let columns = samples(corner.x - radius, corner.x + radius, self.width);
        let mut seen = false;
        for row in samples(corner.y - radius, corner.y + radius, self.height) {
            for column in columns.clone() {
                seen |= self.nearness[row * self.width * OVERSAMPLE + column] <= corner.nearness * (1.0 + slack);
            }
        }
        !seen
    }

    /// The finished picture.
    pub(super) fn picture(&self) -> Picture {
        let mean = |x: usize, y: usize| {
            let row = |r: usize| (y * OVERSAMPLE + r) * self.width * OVERSAMPLE + x * OVERSAMPLE;
            let sum: f64 = (0..OVERSAMPLE).flat_map(|r| &self.grey[row(r)..row(r) + OVERSAMPLE]).sum();
            sum / (OVERSAMPLE * OVERSAMPLE) as f64
        };
        let pixels = (0..self.height)
            .flat_map(|y| (0..self.width).map(move |x| (x, y)))
            .map(|(x, y)| byte(mean(x, y)))
            .collect();
        Picture { width: self.width, height: self.height, pixels }
    }
}

/// The samples whose centres may lie between two pixel coordinates, cut to the canvas.
fn samples(low: f64, high: f64, pixels: usize) -> std::ops::Range<usize> {
    let last = (pixels * OVERSAMPLE) as f64;
    index((low * OVERSAMPLE as f64).floor().clamp(0.0, last))..index((high * OVERSAMPLE as f64).ceil().clamp(0.0, last))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers clamped to the canvas")]
fn index(value: f64) -> usize {
    value as usize
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
fn byte(grey: f64) -> u8 {
    (grey.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(low: f64, high: f64, nearness: f64) -> [Corner; 4] {
        [(low, low), (high, low), (high, high), (low, high)].map(|(x, y)| Corner { x, y, nearness })
    }

    #[test]
    fn the_nearer_face_wins_in_either_order() {
        for order in [[0, 1], [1, 0]] {
            let faces = [(square(0.0, 4.0, 0.1), 1.0), (square(1.0, 3.0, 0.2), 0.0)];
            let mut canvas = Canvas::new(5, 5, |_| 0.2);
            for k in order {
                canvas.polygon(&faces[k].0, faces[k].1);
            }
            let picture = canvas.picture();
            assert_eq!(picture.pixels[0], 255);
            assert_eq!(picture.pixels[5 + 1], 0);
            assert_eq!(picture.pixels[3 * 5 + 3], 255);
            assert_eq!(picture.pixels[4 * 5 + 4], 51);
        }
    }

    #[test]
    fn a_half_covered_pixel_is_mixed_and_faces_off_the_canvas_do_no_harm() {
        let mut canvas = Canvas::new(3, 3, |_| 0.0);
        canvas.polygon(&square(-50.0, 1.0 / 3.0, 0.1), 0.9);
        canvas.polygon(&square(40.0, 90.0, 0.1), 0.9);
        canvas.polygon(&[square(0.0, 1.0, 0.1)[0]; 3], 0.9);
        // One of nine samples of the first pixel is inside the first square.
        assert_eq!(canvas.picture().pixels, [26, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
