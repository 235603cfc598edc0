//! The USAN of a pixel: how much of the mask around it is as bright as the pixel itself, and whether it is that of a corner.

use crate::geometry::GreyImage;

/// Columns to either side of the nucleus in each of the seven rows of the mask: 37 pixels.
const HALF_WIDTHS: [usize; 7] = [1, 2, 3, 3, 3, 2, 1];
/// Rows and columns between the nucleus and the border of the mask; closer to the border of the image nothing is found.
const REACH: usize = 3;
/// The likeness of the three pixels on the way to the centre of gravity, out of 300: Smith and Brady's value.
const CONTIGUOUS: u32 = 290;

/// How alike two pixels are, 0 to 100, by the difference of their grey levels.
pub(super) struct Similarity {
    table: [u8; 256],
    /// The largest difference that counts in full.
    full: u8,
}

impl Similarity {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 100")]
    pub(super) fn new(brightness: u8) -> Self {
        let mut table = [0; 256];
        for (difference, entry) in (0_u8..=255).zip(&mut table) {
            let share = f64::from(difference) / f64::from(brightness);
            *entry = (100.0 * (-share.powi(6)).exp()).round() as u8;
        }
        // The table falls from 100 at 0.
        let full = (0_u8..=255).zip(table).filter(|&(_, entry)| entry == 100).map(|(difference, _)| difference).max();
        Self { table, full: full.unwrap_or(0) }
    }

    fn of(&self, a: u8, b: u8) -> u16 {
        u16::from(self.table[usize::from(a.abs_diff(b))])
    }
}

/// A pixel with less than g of the mask like itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SmallUsan {
    /// Its number, row by row.
    pub(super) at: usize,
    /// n, below g.
    pub(super) size: u16,
}

/// All pixels whose USAN is below a limit.
pub(super) fn small(image: GreyImage<'_>, similarity: &Similarity, limit: u16) -> Vec<SmallUsan> {
    let mut found = Vec::new();
    let (width, height) = (image.width(), image.height());
    if width <= 2 * REACH || height <= 2 * REACH {
        return found;
    }
    // If this many pixels count in full the limit is reached: no need to look closer.
    let enough = u8::try_from(limit.div_ceil(100)).unwrap_or(u8::MAX);
    let mut counts = vec![0_u8; width - 2 * REACH];
    for y in REACH..height - REACH {
        count_full(image, y, similarity.full, &mut counts);
        for (column, _) in counts.iter().enumerate().filter(|&(_, &count)| count < enough) {
            let at = y * width + column + REACH;
            found.extend(size_below(image, similarity, limit, at).map(|size| SmallUsan { at, size }));
        }
    }
    found
}

/// The same for a larger brightness threshold, given those found for a smaller one.
pub(super) fn again(
    image: GreyImage<'_>,
    similarity: &Similarity,
    limit: u16,
    candidates: &[SmallUsan],
) -> Vec<SmallUsan> {
    let sizes = candidates.iter().map(|usan| (usan.at, size_below(image, similarity, limit, usan.at)));
    sizes.filter_map(|(at, size)| size.map(|size| SmallUsan { at, size })).collect()
}

/// For each nucleus of a row, how many pixels of its mask differ from it by at most `full`. Only bytes and no branches, so the
/// processor handles sixteen at a time.
fn count_full(image: GreyImage<'_>, y: usize, full: u8, counts: &mut [u8]) {
    let nuclei = &image.row(y)[REACH..];
    counts.fill(0);
    for (row, half) in (y - REACH..).zip(HALF_WIDTHS) {
        let others = image.row(row);
        for shift in REACH - half..=REACH + half {
            for ((count, &nucleus), &other) in counts.iter_mut().zip(nuclei).zip(&others[shift..]) {
                *count += u8::from(nucleus.abs_diff(other) <= full);
            }
        }
    }
}

/// n of a pixel at least REACH from the border, if it is below the limit.
fn size_below(image: GreyImage<'_>, similarity: &Similarity, limit: u16, at: usize) -> Option<u16> {
    let (pixels, width) = (image.pixels(), image.width());
    let nucleus = pixels[at];
    let mut size = 0;
    for (row, half) in HALF_WIDTHS.into_iter().enumerate() {
        let middle = at + row * width - REACH * width;
        size += pixels[middle - half..=middle + half].iter().map(|&pixel| similarity.of(nucleus, pixel)).sum::<u16>();
        if size >= limit {
            return None;
        }
    }
    Some(size)
}

/// Whether the USAN lies to one side of the nucleus and in one piece with it, and the rest is mostly brighter or mostly darker.
///
/// At t = 255 every pixel is at least 37 alike, and no USAN has its centre further than 0.70 from the nucleus: nothing is a corner.
pub(super) fn is_corner(image: GreyImage<'_>, similarity: &Similarity, at: usize) -> bool {
    let (pixels, width) = (image.pixels(), image.width());
    let nucleus = pixels[at];
    let (mut size, mut right, mut down, mut brighter, mut darker) = (0, 0, 0, 0, 0);
    for (row, half) in HALF_WIDTHS.into_iter().enumerate() {
        let middle = at + row * width - REACH * width;
        for (column, &pixel) in pixels[middle - half..=middle + half].iter().enumerate() {
            let alike = similarity.of(nucleus, pixel).cast_signed() as isize;
            size += alike;
            right += (column.cast_signed() - half.cast_signed()) * alike;
            down += (row.cast_signed() - REACH.cast_signed()) * alike;
            *(if pixel > nucleus { &mut brighter } else { &mut darker }) += 100 - alike;
        }
    }
    let on_a_slope = 2 * brighter.min(darker) > brighter.max(darker);
    if on_a_slope || 2 * (right * right + down * down) <= size * size {
        return false;
    }
    let on_the_way = (1..=REACH.cast_signed()).map(|step| {
        let (x, y) = step_towards(right, down, step);
        u32::from(similarity.of(nucleus, pixels[at.wrapping_add_signed(y * width.cast_signed() + x)]))
    });
    on_the_way.sum::<u32>() > CONTIGUOUS
}

/// The pixel that is `step` columns or rows, whichever is more, along a nonzero direction. Halves are rounded away from
/// zero, which treats all four directions alike.
fn step_towards(right: isize, down: isize, step: isize) -> (isize, isize) {
    let longer = right.abs().max(down.abs());
    let part = |along: isize| (2 * step * along.abs() + longer) / (2 * longer) * along.signum();
    (part(right), part(down))
}
