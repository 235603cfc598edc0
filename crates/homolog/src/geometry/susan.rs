//! SUSAN corners (Smith and Brady, IJCV 1997) of a grey image, with which the paper finds its landmarks.
//!
//! Around every pixel p (the nucleus) lies a circular mask of 37 pixels q. Those with a brightness like its own are its USAN:
//!
//!   c(p, q) = 100 exp(-((I(p) - I(q)) / t)⁶),   n(p) = Σ_q c(p, q),   response = g - n(p) where n(p) < g, else 0
//!
//! with the brightness threshold t and the geometric threshold g, about half of 3700: along a straight edge half of the mask or more is
//! like the nucleus, at a corner less. Checks exclude noise, thin lines and soft edges: the centre of gravity of the USAN is more
//! than sqrt(1/2) pixels from the nucleus, all pixels on the way there belong to it, and (not in Smith and Brady) among the pixels unlike
//! the nucleus there are at least twice as many brighter as darker ones, or the reverse. Corners are the largest responses in their
//! neighbourhood, moved to where the edges around them meet (`refine`). Turning the image by 90° turns the corners.
//!
//! O(pixels) for each threshold; nearly all pixels are discarded by counting bytes (`usan`). It does not handle scales; and the crossing
//! of a chessboard that falls exactly between pixels has n = 1900, more than half, and is not a corner.

mod maxima;
mod refine;
mod usan;

use super::GreyImage;
use crate::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use usan::{Similarity, SmallUsan};

/// [`Susan::at_most`] goes no lower: below this, camera noise makes corners everywhere.
pub(crate) const LEAST_BRIGHTNESS: u8 = 4;
/// A whole mask of pixels like the nucleus: 37 times 100.
const FULL: f64 = 3700.0;

/// Settings of the corner detector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Susan {
    /// t: the difference of grey levels at which two pixels are 1/e alike.
    pub brightness: u8,
    /// g, as a share of the whole mask: the USAN of a corner is smaller.
    pub geometric: f64,
    /// No other corner with a smaller response within this many columns and rows.
    pub suppression_radius: usize,
    /// Move each corner to where the edges around it meet; otherwise it is a pixel just inside.
    pub refine: bool,
}

impl Default for Susan {
    /// Smith and Brady's t = 20 and suppression in a square of 7 by 7. They use half of the mask; a little less excludes straight
    /// edges whose border pixels are a mixture, where n can be as low as 1846.
    fn default() -> Self {
        Self { brightness: 20, geometric: 0.49, suppression_radius: 3, refine: true }
    }
}

/// Corners, row by row from the top and from left to right.
#[derive(Debug, Clone, PartialEq)]
pub struct Corners {
    /// One row (x, y) for each corner.
    pub points: Array2<f64>,
    /// How much smaller its USAN is than the geometric threshold, up to g - 100.
    pub responses: Vec<u16>,
    /// The brightness threshold they were found with.
    pub brightness: u8,
}

impl Corners {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.responses.len()
    }
}

impl Susan {
    /// The corners at the brightness threshold of the settings.
    ///
    /// ```
    /// use homolog::geometry::{GreyImage, Susan};
    /// // A bright square with corners at (10, 10) and (29, 29) on a dark ground.
    /// let inside = |at: usize| (10..30).contains(&(at % 40)) && (10..30).contains(&(at / 40));
    /// let pixels: Vec<u8> = (0..40 * 40).map(|at| if inside(at) { 200 } else { 50 }).collect();
    /// let corners = Susan::default().detect(GreyImage::new(40, 40, &pixels)?)?;
    /// let nearest = corners.points.mapv(f64::round);
    /// assert_eq!(nearest, ndarray::array![[10.0, 10.0], [29.0, 10.0], [10.0, 29.0], [29.0, 29.0]]);
    /// # Ok::<(), homolog::Error>(())
    /// ```
    ///
    /// # Errors
    /// A setting out of range.
    pub fn detect(&self, image: GreyImage<'_>) -> Result<Corners> {
        self.check()?;
        let similarity = Similarity::new(self.brightness);
        let small = usan::small(image, &similarity, self.limit());
        Ok(self.corners(image, self.brightness, &small))
    }

    /// The corners at the smallest brightness threshold found by a search to give at most this many, instead of that of the settings.
    /// The search halves the range from 4 to 255, at which nothing is a corner (see `usan::is_corner`).
    ///
    /// # Errors
    /// A setting out of range.
    pub fn at_most(&self, count: usize, image: GreyImage<'_>) -> Result<Corners> {
        self.check()?;
        // A USAN only grows with t: what is small at a larger threshold is small at a smaller one. So the whole image is searched once
        // or a few times, going down, until there are too many; from then on only among the small ones.
        let mut enough = Corners { points: Array2::zeros((0, 2)), responses: Vec::new(), brightness: u8::MAX };
        let mut low = self.brightness.clamp(LEAST_BRIGHTNESS, u8::MAX - 1);
        let mut small = loop {
            let small = usan::small(image, &Similarity::new(low), self.limit());
            let corners = self.corners(image, low, &small);
            if corners.count() > count {
                break small;
            }
            if low == LEAST_BRIGHTNESS {
                return Ok(corners);
            }
            low = (low / 2).max(LEAST_BRIGHTNESS);
            enough = corners;
        };
        // Too many at `low`, not too many at the threshold of `enough`.
        while enough.brightness - low > 1 {
            let middle = u8::midpoint(low, enough.brightness);
            let smaller = usan::again(image, &Similarity::new(middle), self.limit(), &small);
            let corners = self.corners(image, middle, &smaller);
            if corners.count() > count {
                (low, small) = (middle, smaller);
            } else {
                enough = corners;
            }
        }
        Ok(enough)
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self) -> Result<()> {
        Error::unless_counted("brightness", self.brightness.into())?;
        Error::unless_positive("geometric", self.geometric)?;
        Error::unless_between("geometric", self.geometric, 0.0, 1.0)
    }

    /// g.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 3700")]
    fn limit(&self) -> u16 {
        (self.geometric * FULL).round() as u16
    }

    fn corners(&self, image: GreyImage<'_>, brightness: u8, small: &[SmallUsan]) -> Corners {
        let similarity = Similarity::new(brightness);
        let passed = small.iter().filter(|usan| usan::is_corner(image, &similarity, usan.at));
        let responses = passed.map(|usan| (usan.at, self.limit() - usan.size)).collect();
        let (mut points, responses) = maxima::find(image, responses, self.suppression_radius);
        if self.refine {
            for mut point in points.rows_mut() {
                (point[0], point[1]) = refine::refine(image, (point[0], point[1]));
            }
        }
        Corners { points, responses, brightness }
    }
}
