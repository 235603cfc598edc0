//! Two pictures side by side with their points and edges, and a match between them: right links in blue, wrong ones in red, on top.
//!
//! One row for each match, for instance before and after learning, over the same two views.

use crate::font::{self, Weight};
use crate::labels::Side;
use crate::panel::{self, MARGIN};
use crate::svg::{Anchor, Canvas, HEAD, LABEL};
use crate::view::{self, Ink, Mark, Placed, View};

const WIDTH: f64 = 900.0;
const GAP: f64 = 36.0;
const TALLEST: f64 = 330.0;
/// Room for names next to the outermost points.
const NAMES: f64 = 56.0;

/// A match to draw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MatchRow {
    /// What is written above it, for instance "before learning".
    pub caption: String,
    /// The right point of each left point.
    pub matching: Vec<Option<usize>>,
}

/// Two views and the matches between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatchPicture {
    /// Heading; may be empty.
    pub title: String,
    /// The left view.
    pub left: View,
    /// The right view.
    pub right: View,
    /// The true right point of each left point, `None` if it is not known; empty if none is. What is not known is called neither right
    /// nor wrong.
    pub truth: Vec<Option<usize>>,
    /// The matches, one row each.
    pub rows: Vec<MatchRow>,
}

/// The result for a left point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    Unknown,
    Unmatched,
}

impl MatchPicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title);
        let half = (WIDTH - 2.0 * MARGIN - GAP) / 2.0;
        let has_names = |view: &View| !view.names.is_empty();
        let pad = if has_names(&self.left) || has_names(&self.right) { NAMES } else { 0.0 };
        let place = |view, x: f64| Placed::new(view, &[], (x + pad, top + 24.0), (half - 2.0 * pad, TALLEST));
        let (left, right) = (place(&self.left, MARGIN), place(&self.right, MARGIN + half + GAP));
        let tall = left.size.1.max(right.size.1);
        let row_height = tall + 56.0;
        let bottom = top + row_height * self.rows.len() as f64 + 10.0;
        let dark = self.left.picture.is_some() || self.right.picture.is_some();
        let ink = view::ink(dark);
        let mut canvas = Canvas::new(WIDTH, 0.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        let mut without = 0;
        for (k, row) in self.rows.iter().enumerate() {
            let down = k as f64 * row_height;
            let (left, right) = (left.lowered(down), right.lowered(down));
            let ground = (MARGIN, top + down + 24.0);
            self.draw_head(&mut canvas, row, top + down + 14.0);
            view::draw_ground(&mut canvas, ground, (WIDTH - 2.0 * MARGIN, tall), dark);
            self.draw_row(&mut canvas, row, &left, &right, ink);
            let middle = WIDTH / 2.0;
            without = left.draw_names(
                &mut canvas,
                &self.left.names,
                Side::Left,
                [ground.0, ground.1, middle, ground.1 + tall],
                dark,
            ) + right.draw_names(
                &mut canvas,
                &self.right.names,
                Side::Right,
                [middle, ground.1, WIDTH - MARGIN, ground.1 + tall],
                dark,
            );
            if !self.left.depths.is_empty() || !self.right.depths.is_empty() {
                view::draw_axes(&mut canvas, (ground.0 + 30.0, ground.1 + tall - 24.0), dark);
            }
            for placed in [&left, &right] {
                placed.lowered(tall - placed.size.1).draw_caption(&mut canvas);
            }
        }
        let key = view::draw_key(&mut canvas, bottom, WIDTH, dark, &self.key(ink, without));
        canvas.finish_at(bottom + key)
    }

    /// What every mark that occurs means.
    fn key(&self, ink: &'static Ink, without: usize) -> Vec<(Mark, String)> {
        let mut key = Vec::new();
        let mut add = |is_there: bool, mark: Mark, name: &str| {
            if is_there {
                key.push((mark, name.to_owned()));
            }
        };
        let any = |verdict: Verdict| {
            self.rows.iter().any(|row| (0..self.left.points.len()).any(|i| self.verdict(row, i) == verdict))
        };
        let unused = |row: &MatchRow| (0..self.right.points.len()).any(|k| !row.matching.contains(&Some(k)));
        let knows = !self.truth.is_empty();
        add(knows, Mark::Line(ink.right), "right match");
        add(knows, Mark::Line(ink.wrong), "wrong match");
        let unknown = if knows { "match of a point whose partner is not known" } else { "match" };
        add(!knows || any(Verdict::Unknown), Mark::Line(ink.neutral), unknown);
        let alone = any(Verdict::Unmatched) || self.rows.iter().any(unused);
        add(alone, Mark::Hollow(ink.edge), "no partner");
        add(!self.left.edges.is_empty() || !self.right.edges.is_empty(), Mark::Edge(ink.edge), "edge");
        let in_space = !self.left.depths.is_empty() || !self.right.depths.is_empty();
        add(in_space, Mark::Sizes(ink.neutral), "near, far: points in space, seen from above at an angle");
        add(without > 0, Mark::Words, &format!("names without room: {without}"));
        key
    }

    fn draw_head(&self, canvas: &mut Canvas, row: &MatchRow, y: f64) {
        let caption = font::fit(&row.caption, HEAD.size, HEAD.weight, WIDTH / 2.0);
        canvas.text((MARGIN, y), Anchor::Start, HEAD, &caption);
        let known = self.truth.iter().flatten().count();
        if known > 0 {
            let right = (0..self.left.points.len()).filter(|&i| self.verdict(row, i) == Verdict::Right).count();
            // In a browser without the font of the pictures, another one is up to a fifth wider.
            let x = MARGIN
                + font::width(&caption, HEAD.size, Weight::Medium) * 1.2
                + if caption.is_empty() { 0.0 } else { 12.0 };
            canvas.text((x, y), Anchor::Start, LABEL, &format!("{right} of {known} right"));
        }
    }

    fn draw_row(&self, canvas: &mut Canvas, row: &MatchRow, left: &Placed<'_>, right: &Placed<'_>, ink: &Ink) {
        for placed in [left, right] {
            placed.draw_picture(canvas);
            let points: Vec<Option<(f64, f64)>> = (0..placed.view.points.len()).map(|k| placed.point(k)).collect();
            view::draw_edges(
                canvas,
                &placed.view.edges,
                &points,
                &format!(r#"stroke="{}" stroke-opacity="0.45""#, ink.edge),
            );
        }
        for (wanted, color, look) in [
            (Verdict::Unknown, ink.neutral, r#"stroke-width="1.2" stroke-opacity="0.75""#),
            (Verdict::Right, ink.right, r#"stroke-width="1.2" stroke-opacity="0.7""#),
            (Verdict::Wrong, ink.wrong, r#"stroke-width="1.6" stroke-opacity="0.95""#),
        ] {
            for i in (0..left.view.points.len()).filter(|&i| self.verdict(row, i) == wanted) {
                let to = row.matching.get(i).copied().flatten().and_then(|k| right.point(k));
                if let (Some(from), Some(to)) = (left.point(i), to) {
                    canvas.line(from, to, &format!(r#"stroke="{color}" {look}"#));
                    let to_radius = row.matching[i].map_or(3.6, |k| right.radius(k));
                    for (at, radius) in [(from, left.radius(i)), (to, to_radius)] {
                        canvas.circle(at, radius, &format!(r##"fill="{color}" stroke="#fff" stroke-width="0.9""##));
                    }
                }
            }
        }
        self.draw_unmatched(canvas, row, left, right, ink);
    }

    /// Points without a partner are hollow.
    fn draw_unmatched(&self, canvas: &mut Canvas, row: &MatchRow, left: &Placed<'_>, right: &Placed<'_>, ink: &Ink) {
        let style = format!(r#"fill="none" stroke="{}" stroke-width="1.4""#, ink.edge);
        let alone = (0..left.view.points.len()).filter(|&i| self.verdict(row, i) == Verdict::Unmatched);
        let unused = (0..right.view.points.len()).filter(|k| !row.matching.contains(&Some(*k)));
        let places = alone.map(|i| (left, i)).chain(unused.map(|k| (right, k)));
        for (placed, k) in places {
            if let Some(at) = placed.point(k) {
                canvas.circle(at, placed.radius(k), &style);
            }
        }
    }

    fn verdict(&self, row: &MatchRow, i: usize) -> Verdict {
        let matched = row.matching.get(i).copied().flatten();
        match (matched, self.truth.get(i).copied().flatten()) {
            (None, _) => Verdict::Unmatched,
            (Some(_), None) => Verdict::Unknown,
            (found, truth) if found == truth => Verdict::Right,
            _ => Verdict::Wrong,
        }
    }
}
