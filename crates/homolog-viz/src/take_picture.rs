//! How certain the names of a take are over time: a row for each marker, from red (doubtful) to blue (sure), white for gaps; swaps as marks.

use crate::axis::Axis;
use crate::font::{self, Weight};
use crate::palette;
use crate::panel;
use crate::svg::{Anchor, Canvas, LABEL, SMALL};

const WIDTH: f64 = 900.0;
const ROW: f64 = 12.0;
const MARGIN: f64 = 16.0;

/// A picture of confidence over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TakePicture {
    /// Heading; may be empty.
    pub title: String,
    /// The markers, from top to bottom.
    pub markers: Vec<String>,
    /// For each marker and frame how certain its name is; `None` if the frame does not have it.
    pub confidence: Vec<Vec<Option<f64>>>,
    /// The number of the first frame.
    pub first_frame: f64,
    /// Marker and frame (from 0) of names that changed.
    pub swaps: Vec<(usize, usize)>,
}

impl TakePicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let frames = self.confidence.iter().map(Vec::len).max().unwrap_or(0);
        let name_width = |name: &String| font::width(name, SMALL.size, Weight::Regular);
        let left = MARGIN + self.markers.iter().map(name_width).fold(40.0, f64::max).min(200.0) + 8.0;
        let (right, mut top) =
            (WIDTH - MARGIN, panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title) + 22.0);
        let height = top + ROW * self.markers.len() as f64 + 50.0;
        let mut canvas = Canvas::new(WIDTH, height, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        legend(&mut canvas, (left, top - 16.0));
        top += 4.0;
        let x = |frame: f64| left + (right - left) * frame / frames.max(1) as f64;
        for (row, (name, values)) in self.markers.iter().zip(&self.confidence).enumerate() {
            let y = top + ROW * row as f64;
            let shown = font::fit(name, SMALL.size, Weight::Regular, left - MARGIN - 8.0);
            canvas.text((left - 6.0, y + ROW - 2.5), Anchor::End, SMALL, &shown);
            let mut start = 0;
            while start < values.len() {
                let level = values[start].map(level);
                let length = values[start..].iter().take_while(|value| value.map(self::level) == level).count();
                if let Some(level) = level {
                    let (from, to) = (x(start as f64), x((start + length) as f64));
                    canvas.rect((from, y + 1.0), (to - from, ROW - 2.0), &format!(r#"fill="{}""#, color(level)));
                }
                start += length;
            }
        }
        for &(marker, frame) in self.swaps.iter().filter(|(marker, _)| *marker < self.markers.len()) {
            let (at, y) = (x(frame as f64), top + ROW * marker as f64);
            canvas.line((at, y - 1.0), (at, y + ROW + 1.0), r##"stroke="#1b1f24" stroke-width="2""##);
        }
        let bottom = top + ROW * self.markers.len() as f64;
        let axis = Axis::linear([self.first_frame, self.first_frame + frames.max(2) as f64 - 1.0], false);
        for (value, label) in &axis.ticks {
            let frame = value - self.first_frame;
            if frame >= 0.0 && frame < frames as f64 {
                let at = x(frame + 0.5);
                canvas.line((at, bottom), (at, bottom + 4.0), &format!(r#"stroke="{}""#, palette::AXIS));
                canvas.text((at, bottom + 18.0), Anchor::Middle, SMALL, label);
            }
        }
        canvas.text((f64::midpoint(left, right), bottom + 36.0), Anchor::Middle, LABEL, "frame");
        canvas.finish()
    }
}

/// Four levels: below .5, .9 and .99, and above.
fn level(confidence: f64) -> usize {
    [0.5, 0.9, 0.99].into_iter().filter(|&bound| confidence >= bound).count()
}

fn color(level: usize) -> String {
    palette::diverging([1.0, 0.6, -0.35, -0.75][level.min(3)])
}

fn legend(canvas: &mut Canvas, (mut x, y): (f64, f64)) {
    for (level, name) in ["below 0.5", "0.5 to 0.9", "0.9 to 0.99", "above 0.99"].into_iter().enumerate() {
        canvas.rect((x, y), (14.0, 10.0), &format!(r#"fill="{}""#, color(level)));
        canvas.text((x + 18.0, y + 9.0), Anchor::Start, SMALL, name);
        x += 30.0 + font::width(name, SMALL.size, Weight::Regular);
    }
    canvas.text((x, y + 9.0), Anchor::Start, SMALL, "confidence; white: gap");
}
