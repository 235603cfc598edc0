//! From the pixel inside a corner to the corner itself (Förstner and Gülch 1987): the point q with the smallest distance from the tangents
//! of all edges around it,
//!
//!   q = argmin Σ_p (g(p) · (p - q))²,   that is   (Σ g g') q = Σ g g' p
//!
//! over the pixels p of the mask with grey gradients g. The nucleus of a corner lies within its region, up to two pixels from the tip.

use crate::geometry::GreyImage;

/// The mask around a position, as the square of its radius: 37 pixels around a whole pixel.
const RADIUS_SQUARE: f64 = 11.5;
/// A corner further away than this is another one.
const LARGEST_SHIFT: f64 = 3.5;
/// The mean square distance from the tangents that a corner may have, in pixels: an edge is about a pixel wide. Texture has more.
const LARGEST_SPREAD: f64 = 0.9;
/// det / trace² is 1/4 if edges in two perpendicular directions are equally strong, and 0 if there is only one direction.
const LEAST_ROUNDNESS: f64 = 0.02;

/// The corner near a position, or the position itself if the gradients around it do not meet in one.
pub(super) fn refine(image: GreyImage<'_>, (x, y): (f64, f64)) -> (f64, f64) {
    // Σ g g' and Σ g g' (p - place).
    let (mut xx, mut xy, mut yy, mut right, mut down, mut square) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for row in span(y, image.height()) {
        for column in span(x, image.width()) {
            let (dx, dy) = (column as f64 - x, row as f64 - y);
            if dx * dx + dy * dy <= RADIUS_SQUARE {
                let (gx, gy) = gradient(image, column, row);
                xx += gx * gx;
                xy += gx * gy;
                yy += gy * gy;
                let along = gx * dx + gy * dy;
                right += gx * along;
                down += gy * along;
                square += along * along;
            }
        }
    }
    let (determinant, trace) = (xx * yy - xy * xy, xx + yy);
    if determinant <= LEAST_ROUNDNESS * trace * trace {
        return (x, y);
    }
    let shift = ((yy * right - xy * down) / determinant, (xx * down - xy * right) / determinant);
    let spread = (square - shift.0 * right - shift.1 * down) / trace;
    let sure = spread <= LARGEST_SPREAD && shift.0.hypot(shift.1) <= LARGEST_SHIFT;
    if sure { (x + shift.0, y + shift.1) } else { (x, y) }
}

/// Pixels within the mask's reach along an axis that have a neighbour on both sides.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place inside the image")]
fn span(centre: f64, count: usize) -> std::ops::Range<usize> {
    let first = (centre - RADIUS_SQUARE.sqrt()).ceil().max(1.0) as usize;
    first..((centre + RADIUS_SQUARE.sqrt()).floor() as usize + 1).min(count.saturating_sub(1))
}

fn gradient(image: GreyImage<'_>, x: usize, y: usize) -> (f64, f64) {
    let level = |x: usize, y: usize| f64::from(image.row(y)[x]);
    (level(x + 1, y) - level(x - 1, y), level(x, y + 1) - level(x, y - 1))
}
