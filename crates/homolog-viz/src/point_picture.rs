//! Points in one picture, for instance the corners that were found in it.

use crate::page::Page;
use crate::view::{self, View};

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
        let mut page = Page::new(&self.title, &self.view, &[], false);
        let color = page.ink.neutral;
        let points: Vec<Option<(f64, f64)>> = (0..self.view.points.len()).map(|k| page.placed.point(k)).collect();
        let style = format!(r#"stroke="{color}" stroke-width="1.5""#);
        view::draw_edges(&mut page.canvas, &self.view.edges, &points, &style);
        points.into_iter().flatten().for_each(|at| page.dot(at, color));
        page.canvas.finish()
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
