//! Points in one picture, for instance the corners that were found in it.

use crate::panel::{self, MARGIN};
use crate::svg::Canvas;
use crate::view::{self, Placed, View};

const WIDTH: f64 = 900.0;
const TALLEST: f64 = 640.0;

/// A picture with points.
///
/// ```
/// use homolog_viz::{PointPicture, View};
/// let view = View { points: vec![[1.0, 2.0], [5.0, 4.0]], ..View::default() };
/// assert_eq!(PointPicture { title: "Two points".into(), view }.to_svg().matches("<circle").count(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointPicture {
    /// Heading; may be empty.
    pub title: String,
    /// The points, the edges between them, and the picture.
    pub view: View,
}

impl PointPicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title) + 8.0;
        let placed = Placed::new(&self.view, &[], (MARGIN, top), (WIDTH - 2.0 * MARGIN, TALLEST));
        let mut canvas = Canvas::new(WIDTH, top + placed.size.1 + 34.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        let dark = self.view.picture.is_some();
        view::draw_ground(&mut canvas, placed.corner, placed.size, dark);
        placed.draw_picture(&mut canvas);
        placed.draw_caption(&mut canvas);
        let color = view::ink(dark).neutral;
        let points: Vec<Option<(f64, f64)>> = (0..self.view.points.len()).map(|k| placed.point(k)).collect();
        view::draw_edges(&mut canvas, &self.view.edges, &points, &format!(r#"stroke="{color}" stroke-width="1.5""#));
        for at in points.into_iter().flatten() {
            canvas.circle(at, 3.5, &format!(r##"fill="{color}" stroke="#000" stroke-width="0.8""##));
        }
        canvas.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg_to_png;

    #[test]
    fn no_points_and_odd_points_are_drawn_all_the_same() {
        for points in [vec![], vec![[f64::NAN, 0.0], [1.0, 1.0]], vec![[3.0, 3.0]]] {
            let view = View { caption: "<&>".into(), points, ..View::default() };
            let svg = PointPicture { title: String::new(), view }.to_svg();
            assert!(svg_to_png(&svg, 1.0).is_ok(), "{svg}");
        }
    }
}
