//! A picture with points and edges, placed into a rectangle of the page: the common part of match and scene pictures.

use crate::font::{self, Weight};
use crate::isometric::isometric;
use crate::labels::{self, Area, Side};
use crate::palette::{RIGHT, WRONG};
use crate::panel::MARGIN;
use crate::png::GreyPicture;
use crate::svg::{Anchor, Canvas, Font, SMALL};

/// Points in a picture, and the edges between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// What is written under it, for instance the frame's name.
    pub caption: String,
    /// The points, x to the right and y down; points that are not finite are left out.
    pub points: Vec<[f64; 2]>,
    /// Edges between points, for instance their triangulation; those of points that do not exist are ignored.
    pub edges: Vec<(usize, usize)>,
    /// The picture they were found in, pixel (x, y) at point (x, y).
    pub picture: Option<GreyPicture>,
    /// The names of the points, written next to them as far as there is room; may be empty.
    pub names: Vec<String>,
    /// How far away each point is, from 0 near to 1 far, for points in space; may be empty. Nearer points are drawn larger.
    pub depths: Vec<f64>,
    /// The points are a list in columns, without a meaning of their own: each name is level with its point.
    pub is_list: bool,
}

/// Colours on a dark background, which pictures have, or on a white one.
pub(crate) struct Ink {
    pub(crate) edge: &'static str,
    pub(crate) right: &'static str,
    pub(crate) wrong: &'static str,
    pub(crate) neutral: &'static str,
}

const ON_DARK: Ink = Ink { edge: "#ffffff", right: "#4cc3ff", wrong: "#ff5a52", neutral: "#ffd166" };
const ON_WHITE: Ink = Ink { edge: "#7b8591", right: RIGHT, wrong: WRONG, neutral: "#57606a" };
/// Background under pictures.
const DARK: &str = "#0e0f11";
/// Names next to points.
const NAME: Font = Font { size: 11.0, weight: Weight::Regular, color: "#30363d" };
const NAME_ON_DARK: Font = Font { color: "#f0f3f6", ..NAME };
/// How far from their points names may be.
const NAME_GAPS: [f64; 3] = [5.0, 9.0, 14.0];
/// The greatest width that a name may have.
const NAME_ROOM: f64 = 130.0;

/// The colours for views some of which may have pictures.
pub(crate) fn ink(dark: bool) -> &'static Ink {
    if dark { &ON_DARK } else { &ON_WHITE }
}

/// The background of a row of views.
pub(crate) fn draw_ground(canvas: &mut Canvas, at: (f64, f64), size: (f64, f64), dark: bool) {
    let style = if dark {
        format!(r#"fill="{DARK}" rx="4""#)
    } else {
        r##"fill="#fbfbfc" stroke="#e4e7eb" rx="4""##.to_owned()
    };
    canvas.rect(at, size, &style);
}

/// A view's position on the page: the corner of its frame, the frame's size, pixels per unit, and the point shown at the corner.
pub(crate) struct Placed<'a> {
    pub(crate) view: &'a View,
    pub(crate) corner: (f64, f64),
    pub(crate) size: (f64, f64),
    scale: f64,
    origin: (f64, f64),
}

impl<'a> Placed<'a> {
    /// Puts a view into a box, centred horizontally, as large as fits. `more` are further points it must show.
    pub(crate) fn new(view: &'a View, more: &[[f64; 2]], (left, top): (f64, f64), (width, height): (f64, f64)) -> Self {
        let [x0, y0, x1, y1] = extent(view, more);
        let scale = (width / (x1 - x0)).min(height / (y1 - y0));
        let size = ((x1 - x0) * scale, (y1 - y0) * scale);
        Self { view, corner: (left + (width - size.0) / 2.0, top), size, scale, origin: (x0, y0) }
    }

    /// Moves the frame down on the page.
    pub(crate) fn lowered(&self, by: f64) -> Self {
        Placed { corner: (self.corner.0, self.corner.1 + by), ..*self }
    }

    /// Where a point is on the page; `None` if it is not finite.
    pub(crate) fn at(&self, point: [f64; 2]) -> Option<(f64, f64)> {
        let [x, y] = point.map(|value| if usable(value) { Some(value) } else { None });
        Some((self.corner.0 + (x? - self.origin.0) * self.scale, self.corner.1 + (y? - self.origin.1) * self.scale))
    }

    /// Where the k-th point is; `None` if there is none.
    pub(crate) fn point(&self, k: usize) -> Option<(f64, f64)> {
        self.at(*self.view.points.get(k)?)
    }

    /// How large the k-th point is drawn: the nearer, the larger.
    pub(crate) fn radius(&self, k: usize) -> f64 {
        let depth = self.view.depths.get(k).copied().filter(|depth| depth.is_finite());
        depth.map_or(3.6, |depth| 5.2 - 3.0 * depth.clamp(0.0, 1.0))
    }

    /// Names next to the points, if there is room inside `area`; returns how many found none.
    pub(crate) fn draw_names(
        &self,
        canvas: &mut Canvas,
        names: &[String],
        side: Side,
        area: Area,
        dark: bool,
    ) -> usize {
        let (font, ground) = if dark { (NAME_ON_DARK, DARK) } else { (NAME, "#fff") };
        let mut taken: Vec<Area> = (0..self.view.points.len())
            .filter_map(|k| self.point(k).map(|(x, y)| (x, y, self.radius(k) + 1.0)))
            .map(|(x, y, r)| [x - r, y - r, x + r, y + r])
            .collect();
        let mut without = 0;
        for (k, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let Some(at) = self.point(k) else { continue };
            let name = font::fit(name, font.size, font.weight, NAME_ROOM);
            let size = (font::width(&name, font.size, font.weight) * 1.06, font.size);
            let (place, cost) = if self.view.is_list {
                (labels::level(at, size, side, NAME_GAPS[0]), 0.0)
            } else {
                labels::place(at, size, side, area, &taken, &NAME_GAPS)
            };
            if cost > 0.0 {
                without += 1;
                continue;
            }
            canvas.text_on_lines((place[0], place[3] - 2.0), Anchor::Start, font, ground, &name);
            taken.push(place);
        }
        without
    }

    /// The picture, dimmed so that bright lines stand out.
    pub(crate) fn draw_picture(&self, canvas: &mut Canvas) {
        if let Some(address) = self.view.picture.as_ref().and_then(GreyPicture::data_uri) {
            let picture = self.view.picture.as_ref().map_or((0, 0), |picture| (picture.width, picture.height));
            let size = (picture.0 as f64 * self.scale, picture.1 as f64 * self.scale);
            canvas.image(self.at([0.0, 0.0]).unwrap_or(self.corner), size, &address);
            canvas.rect(self.corner, self.size, &format!(r#"fill="{DARK}" fill-opacity="0.25""#));
        }
    }

    /// The caption below.
    pub(crate) fn draw_caption(&self, canvas: &mut Canvas) {
        let caption = font::fit(&self.view.caption, SMALL.size, Weight::Regular, self.size.0.max(120.0));
        canvas.text(
            (self.corner.0 + self.size.0 / 2.0, self.corner.1 + self.size.1 + 17.0),
            Anchor::Middle,
            SMALL,
            &caption,
        );
    }
}

/// The three axes of space as [`isometric`] shows them, with their origin at a given position on the page.
pub(crate) fn draw_axes(canvas: &mut Canvas, from: (f64, f64), dark: bool) {
    let (page, _) = isometric(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let (font, ground) = if dark { (NAME_ON_DARK, DARK) } else { (NAME, "#fff") };
    for (name, [x, y]) in ["x", "y", "z"].into_iter().zip(page) {
        let end = |length: f64| (from.0 + length * x, from.1 + length * y);
        canvas.line(from, end(16.0), &format!(r#"stroke="{}" stroke-width="1.2""#, ink(dark).edge));
        let at = end(23.0);
        canvas.text_on_lines((at.0, at.1 + 3.5), Anchor::Middle, font, ground, name);
    }
}

/// Edges between points, if both exist.
pub(crate) fn draw_edges(canvas: &mut Canvas, edges: &[(usize, usize)], points: &[Option<(f64, f64)>], style: &str) {
    for &(i, j) in edges {
        if let (Some(&Some(from)), Some(&Some(to))) = (points.get(i), points.get(j)) {
            canvas.line(from, to, style);
        }
    }
}

/// How a key shows what an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    /// A line of this colour.
    Line(&'static str),
    /// A thin line of this colour: an edge.
    Edge(&'static str),
    /// A hollow point of this colour.
    Hollow(&'static str),
    /// Points of this colour, large and small.
    Sizes(&'static str),
    /// Nothing: a sentence.
    Words,
}

/// A key: mark and name for each entry, in rows from the left. Marks that appear on a dark background have it here too. Returns the
/// total height.
pub(crate) fn draw_key(canvas: &mut Canvas, top: f64, width: f64, dark: bool, entries: &[(Mark, String)]) -> f64 {
    let (mut x, mut y) = (MARGIN, top);
    for (mark, name) in entries {
        let start = if *mark == Mark::Words { 0.0 } else { 28.0 };
        let needed = start + font::width(name, SMALL.size, Weight::Regular) * 1.06 + 18.0;
        if x > MARGIN && x + needed - 18.0 > width - MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        let middle = y - 4.0;
        let line = |canvas: &mut Canvas, color: &str, look: &str| {
            canvas.line((x, middle), (x + 20.0, middle), &format!(r#"stroke="{color}" {look}"#));
        };
        if dark && matches!(mark, Mark::Edge(_) | Mark::Hollow(_) | Mark::Sizes(_)) {
            canvas.rect((x - 3.0, middle - 8.0), (26.0, 16.0), &format!(r#"fill="{DARK}" rx="3""#));
        }
        match mark {
            Mark::Line(color) => line(canvas, color, r#"stroke-width="2.5""#),
            Mark::Edge(color) => line(canvas, color, r#"stroke-width="1""#),
            Mark::Hollow(color) => {
                canvas.circle((x + 10.0, middle), 3.6, &format!(r#"fill="none" stroke="{color}" stroke-width="1.4""#));
            }
            Mark::Sizes(color) => {
                for (dx, radius) in [(4.0, 5.2), (16.0, 2.2)] {
                    canvas.circle((x + dx, middle), radius, &format!(r#"fill="{color}""#));
                }
            }
            Mark::Words => {}
        }
        canvas.text((x + start, y), Anchor::Start, SMALL, name);
        x += needed;
    }
    y - top + 16.0
}

fn usable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e9
}

/// What a view shows: its picture with all points; without a picture, the points with a margin.
fn extent(view: &View, more: &[[f64; 2]]) -> [f64; 4] {
    let points = view.points.iter().chain(more).filter(|point| point.iter().all(|&value| usable(value)));
    let bounds = points.fold(None, |bounds: Option<[f64; 4]>, &[x, y]| {
        let [x0, y0, x1, y1] = bounds.unwrap_or([x, y, x, y]);
        Some([x0.min(x), y0.min(y), x1.max(x), y1.max(y)])
    });
    if let Some(picture) = view.picture.as_ref().filter(|picture| picture.data_uri().is_some()) {
        let [x0, y0, x1, y1] = bounds.unwrap_or([0.0; 4]);
        return [x0.min(0.0), y0.min(0.0), x1.max(picture.width as f64), y1.max(picture.height as f64)];
    }
    let [x0, y0, x1, y1] = bounds.unwrap_or([0.0, 0.0, 1.0, 1.0]);
    // If nearly all points are on a line or in one place, they still get a frame of a reasonable shape.
    let side = (x1 - x0).max(y1 - y0).max(1e-9);
    let (width, height) = ((x1 - x0).max(side * 0.5) * 1.12, (y1 - y0).max(side * 0.5) * 1.12);
    let (x, y) = (f64::midpoint(x0, x1), f64::midpoint(y0, y1));
    [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_point_lands_inside_its_frame() {
        let cases: [&[[f64; 2]]; 4] = [
            &[],
            &[[5.0, 5.0]],
            &[[0.0, 0.0], [100.0, 0.0]],
            &[[f64::NAN, 1.0], [-1e8, 3.0], [f64::INFINITY, 2.0], [7.0, 1e8]],
        ];
        for points in cases {
            let view = View { points: points.to_vec(), ..View::default() };
            let placed = Placed::new(&view, &[], (10.0, 20.0), (300.0, 200.0));
            for (x, y) in (0..points.len()).filter_map(|k| placed.point(k)) {
                assert!((10.0..=310.0).contains(&x) && (20.0..=220.0).contains(&y), "{points:?}: {x} {y}");
            }
            assert!(placed.size.0 <= 300.001 && placed.size.1 <= 200.001 && placed.size.0 > 0.0);
        }
    }

    #[test]
    fn points_beyond_the_picture_are_shown_too() {
        let picture = GreyPicture { width: 10, height: 10, pixels: vec![0; 100] };
        let view = View { points: vec![[20.0, -5.0]], picture: Some(picture), ..View::default() };
        let placed = Placed::new(&view, &[], (0.0, 0.0), (200.0, 200.0));
        let (x, y) = placed.point(0).unwrap();
        assert!(x <= 200.0 && y >= 0.0);
    }
}
