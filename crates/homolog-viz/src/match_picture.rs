//! Two pictures side by side with their points and edges, and a match between them: right links blue, wrong ones red, on top.
//!
//! One row for each match, for instance before and after learning, over the same two views.

use crate::font::{self, Weight};
use crate::panel::{self, MARGIN};
use crate::svg::{Anchor, Canvas, HEAD, LABEL};
use crate::view::{self, Ink, Placed, View};

const WIDTH: f64 = 900.0;
const GAP: f64 = 36.0;
const TALLEST: f64 = 330.0;

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
    /// The true right point of each left point; empty where it is not known, then no link is called right or wrong.
    pub truth: Vec<Option<usize>>,
    /// The matches, one row each.
    pub rows: Vec<MatchRow>,
}

/// What became of a left point.
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
        let left = Placed::new(&self.left, &[], (MARGIN, top + 24.0), (half, TALLEST));
        let right = Placed::new(&self.right, &[], (MARGIN + half + GAP, top + 24.0), (half, TALLEST));
        let tall = left.size.1.max(right.size.1);
        let row_height = tall + 56.0;
        let mut canvas = Canvas::new(WIDTH, top + row_height * self.rows.len() as f64 + 26.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        let dark = self.left.picture.is_some() || self.right.picture.is_some();
        let ink = view::ink(dark);
        for (k, row) in self.rows.iter().enumerate() {
            let down = k as f64 * row_height;
            let (left, right) = (left.lowered(down), right.lowered(down));
            self.draw_head(&mut canvas, row, top + down + 14.0);
            view::draw_ground(&mut canvas, (MARGIN, top + down + 24.0), (WIDTH - 2.0 * MARGIN, tall), dark);
            self.draw_row(&mut canvas, row, &left, &right, ink);
            for (placed, bottom) in [(&left, tall), (&right, tall)] {
                placed.lowered(bottom - placed.size.1).draw_caption(&mut canvas);
            }
        }
        let y = top + row_height * self.rows.len() as f64 + 10.0;
        if self.truth.is_empty() {
            view::draw_key(&mut canvas, y, &[(ink.neutral, "match")]);
        } else {
            view::draw_key(&mut canvas, y, &[(ink.right, "right match"), (ink.wrong, "wrong match")]);
        }
        canvas.finish()
    }

    fn draw_head(&self, canvas: &mut Canvas, row: &MatchRow, y: f64) {
        let caption = font::fit(&row.caption, HEAD.size, HEAD.weight, WIDTH / 2.0);
        canvas.text((MARGIN, y), Anchor::Start, HEAD, &caption);
        let known = self.truth.iter().flatten().count();
        if known > 0 {
            let right = (0..self.left.points.len()).filter(|&i| self.verdict(row, i) == Verdict::Right).count();
            let x = MARGIN
                + font::width(&caption, HEAD.size, Weight::Medium) * 1.06
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
                    for at in [from, to] {
                        canvas.circle(at, 3.6, &format!(r##"fill="{color}" stroke="#fff" stroke-width="0.9""##));
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
        for at in alone.filter_map(|i| left.point(i)).chain(unused.filter_map(|k| right.point(k))) {
            canvas.circle(at, 3.6, &style);
        }
    }

    fn verdict(&self, row: &MatchRow, i: usize) -> Verdict {
        let matched = row.matching.get(i).copied().flatten();
        match (matched, self.truth.get(i).copied().flatten()) {
            (None, _) => Verdict::Unmatched,
            (Some(_), None) if self.truth.is_empty() => Verdict::Unknown,
            (found, truth) if found == truth => Verdict::Right,
            _ => Verdict::Wrong,
        }
    }
}
