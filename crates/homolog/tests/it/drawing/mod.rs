//! Grey pictures drawn by supersampling, random ones, and PNG files.

use homolog::geometry::GreyImage;
use rand::{Rng, RngExt};
use std::path::Path;

pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<u8>,
}

/// Points per pixel along each axis.
const SAMPLES: u32 = 4;

impl Picture {
    pub fn flat(width: usize, height: usize, level: u8) -> Self {
        Self { width, height, pixels: vec![level; width * height] }
    }

    /// Smooth patches, polygons and noise.
    pub fn random(rng: &mut impl Rng, width: usize, height: usize) -> Self {
        let mut picture = Self::flat(width, height, rng.random_range(0..=255));
        for _ in 0..width * height / 150 {
            let mut point = || [rng.random_range(0.0..width as f64), rng.random_range(0.0..height as f64)];
            let middle = point();
            let around: Vec<[f64; 2]> = (0..3)
                .map(|_| point())
                .map(|p| [0, 1].map(|axis| middle[axis] + (p[axis] - middle[axis]) / 3.0))
                .collect();
            picture.fill(&around, rng.random_range(0..=255));
        }
        for pixel in &mut picture.pixels {
            *pixel = pixel.saturating_add(rng.random_range(0..5));
        }
        picture
    }

    pub fn grey(&self) -> GreyImage<'_> {
        GreyImage::new(self.width, self.height, &self.pixels).unwrap()
    }

    /// A polygon; the centre of a pixel is at whole numbers.
    pub fn fill(&mut self, corners: &[[f64; 2]], level: u8) {
        let span = |axis: usize, count: usize| {
            let along = || corners.iter().map(|corner| corner[axis]);
            let (low, high) = (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max));
            (low.floor().max(0.0) as usize)..(high.ceil().max(0.0) as usize + 1).min(count)
        };
        for y in span(1, self.height) {
            for x in span(0, self.width) {
                let place = |at: u32| (f64::from(at) + 0.5) / f64::from(SAMPLES) - 0.5;
                let samples =
                    (0..SAMPLES * SAMPLES).map(|s| (x as f64 + place(s % SAMPLES), y as f64 + place(s / SAMPLES)));
                let inside = samples.filter(|&(px, py)| contains(corners, px, py)).count() as f64;
                let share = inside / f64::from(SAMPLES * SAMPLES);
                let pixel = &mut self.pixels[y * self.width + x];
                *pixel = (f64::from(*pixel) * (1.0 - share) + f64::from(level) * share).round() as u8;
            }
        }
    }

    /// The mean of each pixel and its eight neighbours; the border is unchanged.
    pub fn blur(&mut self) {
        let before = self.pixels.clone();
        for y in 1..self.height - 1 {
            for x in 1..self.width - 1 {
                let block =
                    (y - 1..=y + 1).flat_map(|row| &before[row * self.width + x - 1..=row * self.width + x + 1]);
                self.pixels[y * self.width + x] = (block.map(|&pixel| u32::from(pixel)).sum::<u32>() / 9) as u8;
            }
        }
    }

    /// Turned by 90°: column x and row y go to column height - 1 - y and row x.
    pub fn turned(&self) -> Self {
        let (width, height) = (self.height, self.width);
        let from = |at: usize| (self.height - 1 - at % width) * self.width + at / width;
        Self { width, height, pixels: (0..width * height).map(|at| self.pixels[from(at)]).collect() }
    }

    pub fn read_png(path: &Path) -> Self {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Grayscale, png::BitDepth::Eight));
        Self { width: info.width as usize, height: info.height as usize, pixels }
    }
}

/// Crossing number of the ray to the right.
fn contains(corners: &[[f64; 2]], x: f64, y: f64) -> bool {
    let sides = corners.iter().zip(corners.iter().cycle().skip(1));
    let crosses = |(a, b): &(&[f64; 2], &[f64; 2])| {
        (a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]
    };
    sides.filter(crosses).count() % 2 == 1
}
