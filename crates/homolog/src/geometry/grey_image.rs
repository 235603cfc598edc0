//! [`GreyImage`]: a borrowed 8-bit grey picture. Decoding files is the caller's business.
//!
//! The centre of the pixel in column x and row y is the point (x, y); rows run downwards.

use crate::{Error, Result};

/// A picture with more pixels, ten thousand on each side, would take gigabytes at all scales.
const MOST_PIXELS: usize = 100_000_000;

/// Rows of grey levels, 0 to 255, without gaps between the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GreyImage<'a> {
    width: usize,
    height: usize,
    pixels: &'a [u8],
}

impl<'a> GreyImage<'a> {
    /// A picture of this size over pixels stored row by row.
    ///
    /// # Errors
    /// Too many or too few pixels for the size.
    pub fn new(width: usize, height: usize, pixels: &'a [u8]) -> Result<Self> {
        // A size that overflows has no slice that fits it.
        if width.checked_mul(height) != Some(pixels.len()) {
            let expected = width.saturating_mul(height);
            return Err(Error::Size { what: "pixels of a grey image", expected, found: pixels.len() });
        }
        Ok(Self { width, height, pixels })
    }

    /// Refuses one that is too large to search, before anything is computed.
    pub(crate) fn check_size(&self) -> Result<()> {
        match self.pixels.len() {
            0 => Err(Error::Missing { what: "pixels", needed_by: "finding landmarks" }),
            found if found > MOST_PIXELS => {
                Err(Error::TooLarge { what: "pixels of a picture", limit: MOST_PIXELS, found })
            }
            _ => Ok(()),
        }
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &'a [u8] {
        self.pixels
    }

    /// One row.
    pub(crate) fn row(&self, y: usize) -> &'a [u8] {
        &self.pixels[y * self.width..][..self.width]
    }

    /// The grey level at any position, linear between pixels; beyond the border that of the nearest pixel. The image must have pixels.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the image")]
    pub(crate) fn level_at(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (x.clamp(0.0, (self.width - 1) as f64), y.clamp(0.0, (self.height - 1) as f64));
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(self.width - 1), (top + 1).min(self.height - 1));
        let (across, down) = (x - left as f64, y - top as f64);
        let between = |row: usize| {
            let (a, b) = (f64::from(self.row(row)[left]), f64::from(self.row(row)[right]));
            a + across * (b - a)
        };
        // In this form equal levels stay exactly equal: a flat place has no gradient at all.
        let (a, b) = (between(top), between(bottom));
        a + down * (b - a)
    }
}
