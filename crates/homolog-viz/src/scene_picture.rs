//! A template's points found in a scene: the template on the left; in the scene the true outline in green and the found one in red.
//!
//! One row for each result, for instance before and after learning.

use crate::font;
use crate::palette::{FOUND_OUTLINE, TRUE_OUTLINE};
use crate::panel::{self, MARGIN};
use crate::svg::{Anchor, Canvas, HEAD};
use crate::view::{self, Mark, Placed, View};

const WIDTH: f64 = 900.0;
const GAP: f64 = 24.0;
const TALLEST: f64 = 360.0;

/// A result to draw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SceneRow {
    /// What is written above it, for instance "before learning" with its loss.
    pub caption: String,
    /// Where each template point was found; `None` if it was not.
    pub found: Vec<Option<[f64; 2]>>,
}

/// A template, a scene, and where the template's points were found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScenePicture {
    /// Heading; may be empty.
    pub title: String,
    /// The template: its points, and its outline as edges.
    pub template: View,
    /// The scene: its points are all the candidates. Its edges are not drawn.
    pub scene: View,
    /// Where each template point really is in the scene; `None` or missing if it is not known.
    pub truth: Vec<Option<[f64; 2]>>,
    /// The results, one row each.
    pub rows: Vec<SceneRow>,
}

impl ScenePicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title);
        let narrow = (WIDTH - 2.0 * MARGIN - GAP) * 0.42;
        let wide = WIDTH - 2.0 * MARGIN - GAP - narrow;
        let more: Vec<[f64; 2]> =
            self.truth.iter().chain(self.rows.iter().flat_map(|row| &row.found)).flatten().copied().collect();
        let template = Placed::new(&self.template, &[], (MARGIN, top + 24.0), (narrow, TALLEST));
        let scene = Placed::new(&self.scene, &more, (MARGIN + narrow + GAP, top + 24.0), (wide, TALLEST));
        let tall = template.size.1.max(scene.size.1);
        let row_height = tall + 56.0;
        let mut canvas = Canvas::new(WIDTH, top + row_height * self.rows.len() as f64 + 26.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        let dark = self.template.picture.is_some() || self.scene.picture.is_some();
        for (k, row) in self.rows.iter().enumerate() {
            let down = k as f64 * row_height;
            let caption = font::fit(&row.caption, HEAD.size, HEAD.weight, WIDTH - 2.0 * MARGIN);
            canvas.text((MARGIN, top + down + 14.0), Anchor::Start, HEAD, &caption);
            for placed in [&template, &scene] {
                let placed = placed.lowered(down);
                view::draw_ground(&mut canvas, placed.corner, placed.size, dark);
                placed.draw_picture(&mut canvas);
                placed.draw_caption(&mut canvas);
            }
            draw_template(&mut canvas, &template.lowered(down), dark);
            self.draw_scene(&mut canvas, row, &scene.lowered(down), dark);
        }
        view::draw_key(&mut canvas, top + row_height * self.rows.len() as f64 + 10.0, WIDTH, dark, &self.key(dark));
        canvas.finish()
    }

    /// What every mark means.
    fn key(&self, dark: bool) -> Vec<(Mark, String)> {
        let outline = if self.template.edges.is_empty() { "" } else { " outline" };
        let mut key = vec![
            (Mark::Line(view::ink(dark).neutral), format!("template{outline}")),
            (Mark::Line(TRUE_OUTLINE), format!("true{outline}")),
            (Mark::Line(FOUND_OUTLINE), format!("found{outline}")),
        ];
        if !self.scene.points.is_empty() {
            key.push((Mark::Hollow(view::ink(dark).edge), "corner: where a point may be found".to_owned()));
        }
        key
    }

    fn draw_scene(&self, canvas: &mut Canvas, row: &SceneRow, scene: &Placed<'_>, dark: bool) {
        let candidate = format!(r#"fill="none" stroke="{}" stroke-opacity="0.8""#, view::ink(dark).edge);
        for at in (0..scene.view.points.len()).filter_map(|k| scene.point(k)) {
            canvas.circle(at, 2.0, &candidate);
        }
        let places = |points: &[Option<[f64; 2]>]| {
            points.iter().map(|point| point.and_then(|p| scene.at(p))).collect::<Vec<_>>()
        };
        let (truth, found) = (places(&self.truth), places(&row.found));
        let outline = &self.template.edges;
        view::draw_edges(canvas, outline, &truth, &format!(r#"stroke="{TRUE_OUTLINE}" stroke-width="2.5""#));
        view::draw_edges(
            canvas,
            outline,
            &found,
            &format!(r#"stroke="{FOUND_OUTLINE}" stroke-width="2.5" stroke-dasharray="7 3""#),
        );
        for (points, color, radius) in [(&truth, TRUE_OUTLINE, 5.0), (&found, FOUND_OUTLINE, 4.0)] {
            for &at in points.iter().flatten() {
                canvas.circle(at, radius, &format!(r##"fill="{color}" stroke="#fff" stroke-width="1""##));
            }
        }
    }
}

fn draw_template(canvas: &mut Canvas, template: &Placed<'_>, dark: bool) {
    let color = view::ink(dark).neutral;
    let points: Vec<Option<(f64, f64)>> = (0..template.view.points.len()).map(|k| template.point(k)).collect();
    view::draw_edges(canvas, &template.view.edges, &points, &format!(r#"stroke="{color}" stroke-width="2""#));
    for at in points.into_iter().flatten() {
        canvas.circle(at, 4.5, &format!(r##"fill="{color}" stroke="#fff" stroke-width="1""##));
    }
}
