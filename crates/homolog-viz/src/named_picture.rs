//! Points with their names: an atlas with the spread of each landmark as an ellipse, or a specimen whose points were named, over its
//! picture.

use crate::page::Page;
use crate::view::{self, Ink, Mark, View};
use std::f64::consts::TAU;

/// Corners of the polygon that approximates an ellipse.
const CORNERS: usize = 48;
/// Ellipses are drawn at this many standard deviations: 86 % of a normal distribution in the plane.
const DEVIATIONS: f64 = 2.0;
/// Names less certain than this are drawn in the colour for wrong.
const SURE: f64 = 0.9;

/// A point's name and what is known about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedPoint {
    /// Its name; empty if it has none.
    pub name: String,
    /// The probability that the name is right, if that is known.
    pub confidence: Option<f64>,
    /// The covariance of its position (xx, xy, yy), drawn as an ellipse of two deviations.
    pub spread: Option<[f64; 3]>,
}

/// Points with names.
///
/// ```
/// use homolog_viz::{NamedPicture, NamedPoint, View};
/// let view = View { points: vec![[1.0, 2.0], [5.0, 4.0]], edges: vec![(0, 1)], ..View::default() };
/// let point = |name: &str| NamedPoint { name: name.into(), spread: Some([0.1, 0.0, 0.2]), ..NamedPoint::default() };
/// let svg = NamedPicture { title: "A wing".into(), view, points: vec![point("tip"), point("root")] }.to_svg();
/// assert!(svg.contains("tip") && svg.matches("<polygon").count() == 2);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedPicture {
    /// Heading; may be empty.
    pub title: String,
    /// The points, the edges between them, and the picture.
    pub view: View,
    /// What is known about each point, in the order of the view; points without an entry are drawn as unnamed.
    pub points: Vec<NamedPoint>,
}

impl NamedPicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let outlines: Vec<Vec<[f64; 2]>> = self.outlines();
        let more: Vec<[f64; 2]> = outlines.iter().flatten().copied().collect();
        let mut page = Page::new(&self.title, &self.view, &more, true);
        let ink = page.ink;
        for outline in &outlines {
            let corners: Vec<(f64, f64)> = outline.iter().filter_map(|&point| page.placed.at(point)).collect();
            page.canvas.polygon(
                &corners,
                &format!(r#"fill="{0}" fill-opacity="0.15" stroke="{0}" stroke-opacity="0.5""#, ink.right),
            );
        }
        let places: Vec<Option<(f64, f64)>> = (0..self.view.points.len()).map(|k| page.placed.point(k)).collect();
        let style = format!(r#"stroke="{}" stroke-width="1" stroke-opacity="0.5""#, ink.edge);
        view::draw_edges(&mut page.canvas, &self.view.edges, &places, &style);
        for (k, at) in places.iter().enumerate() {
            let (Some(at), known) = (*at, self.points.get(k)) else { continue };
            let color = match known {
                Some(point) if point.name.is_empty() => ink.neutral,
                Some(point) if point.confidence.is_some_and(|confidence| confidence < SURE) => ink.wrong,
                Some(_) => ink.right,
                None => ink.neutral,
            };
            page.dot(at, color);
        }
        let names: Vec<String> = self.points.iter().map(|point| point.name.clone()).collect();
        page.named(&names, self.key(ink))
    }

    /// What the colours mean.
    fn key(&self, ink: &Ink) -> Vec<(Mark, String)> {
        let unsure = |point: &NamedPoint| point.confidence.is_some_and(|confidence| confidence < SURE);
        let mut key = Vec::new();
        if self.points.iter().any(|point| !point.name.is_empty()) {
            key.push((Mark::Line(ink.right), "named".to_owned()));
        }
        if self.points.iter().any(|point| !point.name.is_empty() && unsure(point)) {
            key.push((Mark::Line(ink.wrong), format!("named, less than {:.0} % sure", 100.0 * SURE)));
        }
        if self.points.len() < self.view.points.len() || self.points.iter().any(|point| point.name.is_empty()) {
            key.push((Mark::Line(ink.neutral), "no name".to_owned()));
        }
        if self.points.iter().any(|point| point.spread.is_some()) {
            key.push((Mark::Words, "ellipse: where 86 % of specimens have the point".to_owned()));
        }
        key
    }

    /// The ellipses as polygons.
    fn outlines(&self) -> Vec<Vec<[f64; 2]>> {
        let outline = |(point, known): (&[f64; 2], &NamedPoint)| {
            let [xx, xy, yy] = known.spread.filter(|spread| spread.iter().all(|value| value.is_finite()))?;
            // The square root of the covariance by Cholesky; a negative remainder is rounding.
            let a = xx.max(0.0).sqrt();
            let b = if a > 0.0 { xy / a } else { 0.0 };
            let c = (yy - b * b).max(0.0).sqrt();
            let corner = |step: usize| {
                let (sine, cosine) = (TAU * step as f64 / CORNERS as f64).sin_cos();
                [point[0] + DEVIATIONS * a * cosine, point[1] + DEVIATIONS * (b * cosine + c * sine)]
            };
            Some((0..CORNERS).map(corner).collect())
        };
        self.view.points.iter().zip(&self.points).filter_map(outline).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg_to_png;

    #[test]
    fn odd_points_and_spreads_are_drawn_all_the_same() {
        let view = View { points: vec![[f64::NAN, 0.0], [1.0, 1.0], [2.0, 3.0]], ..View::default() };
        let point = |spread| NamedPoint { name: "<&>".into(), confidence: Some(0.2), spread };
        let points =
            vec![point(Some([1.0, 0.0, 1.0])), point(Some([0.0, 0.0, 0.0])), point(Some([f64::NAN, 0.0, 1.0]))];
        for points in [vec![], points] {
            let svg = NamedPicture { title: "A & B".into(), view: view.clone(), points }.to_svg();
            assert!(svg_to_png(&svg, 1.0).is_ok(), "{svg}");
        }
    }
}
