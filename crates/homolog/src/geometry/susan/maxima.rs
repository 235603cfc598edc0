//! Local maxima of a sparse map of responses. Equal ones in one neighbourhood, such as the four sides of a crossing, give one corner at
//! their centre, so the result does not depend on the order in which pixels are visited.

use crate::geometry::GreyImage;
use ndarray::Array2;

/// Points (x, y) of the maxima and their responses, row by row, from (pixel number, response).
pub(super) fn find(image: GreyImage<'_>, responses: Vec<(usize, u16)>, radius: usize) -> (Array2<f64>, Vec<u16>) {
    let mut map = vec![0_u16; image.pixels().len()];
    for &(at, response) in &responses {
        map[at] = response;
    }
    let tops = |at| top_of(&map, image, at, radius);
    let mut corners: Vec<(f64, f64, u16)> = responses.iter().filter_map(|&(at, _)| tops(at)).collect();
    corners.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
    corners.dedup_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let points = Array2::from_shape_fn((corners.len(), 2), |(row, axis)| [corners[row].0, corners[row].1][axis]);
    (points, corners.into_iter().map(|corner| corner.2).collect())
}

/// The mean position of the largest responses around a pixel, with the response, if the pixel's own is one of them.
fn top_of(map: &[u16], image: GreyImage<'_>, at: usize, radius: usize) -> Option<(f64, f64, u16)> {
    let (x, y, own) = (at % image.width(), at / image.width(), map[at]);
    let (mut right, mut down, mut count) = (0, 0, 0);
    for row in y.saturating_sub(radius)..image.height().min(y.saturating_add(radius + 1)) {
        for column in x.saturating_sub(radius)..image.width().min(x.saturating_add(radius + 1)) {
            let other = map[row * image.width() + column];
            if other > own {
                return None;
            }
            if other == own {
                (right, down, count) = (right + column, down + row, count + 1);
            }
        }
    }
    Some((right as f64 / f64::from(count), down as f64 / f64::from(count), own))
}
