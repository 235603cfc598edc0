//! Points in space on a page: seen from above at an angle, with all axes equal. z is up, x to the lower right, y to the lower left.

/// Where points in space are on the page (x to the right, y down), and how far away each is: 0 is the nearest, 1 the farthest.
///
/// ```
/// let (page, depths) = homolog_viz::isometric(&[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
/// assert!(page[1][1] < page[0][1] && page[2][0] > page[0][0] && page[2][1] > page[0][1]);
/// assert!(depths[0] == 1.0 && depths[2] == 0.0);
/// ```
#[must_use]
pub fn isometric(points: &[[f64; 3]]) -> (Vec<[f64; 2]>, Vec<f64>) {
    let half = 3.0_f64.sqrt() / 2.0;
    let page = points.iter().map(|&[x, y, z]| [(x - y) * half, 0.5 * (x + y) - z]).collect();
    let nearness: Vec<f64> = points.iter().map(|point| point.iter().sum()).collect();
    let finite = || nearness.iter().copied().filter(|value| value.is_finite());
    let (far, near) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let depth = |&value: &f64| {
        let share = (near - value) / (near - far);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    };
    let depths = nearness.iter().map(depth).collect();
    (page, depths)
}
