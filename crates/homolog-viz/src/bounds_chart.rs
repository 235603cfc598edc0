//! Two bounds approaching each other, over iterations or over time: the bounds at the top, their gap on a logarithmic axis below.
//!
//! For training: the objective reached (upper) and the bound of the cutting planes (lower). For a search that maximises: the bound
//! (upper) and the best score (lower). Bounds hold until the next step, so they are drawn as stairs. Infinite bounds are left out; a gap
//! of zero is marked at the bottom.

use crate::axis::{self, Axis};
use crate::palette;
use crate::panel::{self, MARGIN, Panel, WIDTH};
use crate::svg::{Anchor, Canvas, SMALL};

/// Bounds from one step on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Iteration or time.
    pub x: f64,
    /// The upper bound.
    pub upper: f64,
    /// The lower bound.
    pub lower: f64,
}

/// A chart of bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundsChart {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis of the bounds.
    pub y_label: String,
    /// Name of the upper bound in the legend.
    pub upper_name: String,
    /// Name of the lower bound in the legend.
    pub lower_name: String,
    /// The bounds, in the order of steps.
    pub steps: Vec<Bounds>,
}

impl Default for BoundsChart {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: "iteration".to_owned(),
            y_label: "objective".to_owned(),
            upper_name: "best objective so far".to_owned(),
            lower_name: "proven lower bound".to_owned(),
            steps: Vec::new(),
        }
    }
}

/// If the ratio of largest to smallest reaches this, positive bounds get a logarithmic axis.
const WIDE: f64 = 100.0;

impl BoundsChart {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let (above, below) = self.panels();
        let mut canvas = Canvas::new(WIDTH, below.bottom() + 56.0, &self.title);
        self.head(&mut canvas);
        above.draw(&mut canvas, "", &self.y_label);
        below.draw(&mut canvas, &self.x_label, "gap");

        let upper = stairs(&above, self.steps.iter().map(|step| (step.x, step.upper)));
        let lower = stairs(&above, self.steps.iter().map(|step| (step.x, step.lower)));
        let both =
            || self.steps.iter().filter(|step| above.shows(step.x, step.upper) && above.shows(step.x, step.lower));
        let mut between = stairs(&above, both().map(|step| (step.x, step.upper)));
        between.extend(stairs(&above, both().map(|step| (step.x, step.lower))).into_iter().rev());
        canvas.polygon(&between, &format!(r#"fill="{}" fill-opacity="0.09""#, palette::series(0)));
        for (k, line) in [&upper, &lower].into_iter().enumerate() {
            canvas.polyline(line, &panel::line_style(k, false));
            if let Some(&last) = line.last() {
                palette::marker(&mut canvas, k, last);
            }
        }
        if upper.is_empty() && lower.is_empty() {
            above.say_empty(&mut canvas);
        }
        self.draw_gap(&mut canvas, &below);
        canvas.finish()
    }

    fn head(&self, canvas: &mut Canvas) -> f64 {
        let top = panel::title(canvas, WIDTH, &self.title);
        panel::legend(canvas, WIDTH, top, &[(&self.upper_name, 0, false), (&self.lower_name, 1, false)]) + 10.0
    }

    /// The two plots, one above the other, on the same horizontal axis.
    fn panels(&self) -> (Panel, Panel) {
        let top = self.head(&mut Canvas::new(WIDTH, 0.0, ""));
        let bounds = || self.steps.iter().flat_map(|step| [step.upper, step.lower]).filter(|bound| bound.is_finite());
        let (least, most) =
            bounds().fold((f64::INFINITY, 0.0_f64), |(least, most), bound| (least.min(bound), most.max(bound)));
        let wide = least > 0.0 && most / least > WIDE;
        let y = if wide { Axis::logarithmic(bounds(), axis::power_label) } else { Axis::linear(bounds(), false) };
        let x = Axis::linear(self.steps.iter().map(|step| step.x), false);
        let gap = Axis::logarithmic(self.steps.iter().map(|step| step.upper - step.lower), axis::power_label);
        let mut above = Panel::new(MARGIN - 6.0, WIDTH - MARGIN, top, 210.0, x.clone(), y);
        let mut below = Panel::new(MARGIN - 6.0, WIDTH - MARGIN, above.bottom() + 38.0, 120.0, x, gap);
        let (left, right) = (above.left.max(below.left), WIDTH - MARGIN);
        for panel in [&mut above, &mut below] {
            (panel.left, panel.width) = (left, right - left);
        }
        (above, below)
    }

    fn draw_gap(&self, canvas: &mut Canvas, below: &Panel) {
        let gaps = || self.steps.iter().map(|step| (step.x, step.upper - step.lower));
        let line = stairs(below, gaps().filter(|&(_, gap)| gap > 0.0));
        canvas.polyline(&line, &panel::line_style(2, false));
        if let Some(&last) = line.last() {
            palette::marker(canvas, 2, last);
        }
        if let Some((x, _)) = gaps().find(|&(x, gap)| below.x.shows(x) && gap <= 0.0) {
            let at = (below.at(x, 1.0).0, below.bottom());
            canvas.circle(at, 4.0, &format!(r##"fill="#fff" stroke="{}" stroke-width="2""##, palette::series(2)));
            // The gap falls from the left, so the upper right corner is free.
            let corner = (below.left + below.width - 4.0, below.top + 12.0);
            canvas.text(corner, Anchor::End, SMALL, &format!("closed at {}", axis::short_label(x)));
        }
    }
}

/// The points as stairs: level up to the next step, then up or down.
fn stairs(panel: &Panel, steps: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (x, y) in steps.filter(|&(x, y)| panel.shows(x, y)).map(|(x, y)| panel.at(x, y)) {
        if let Some(&(_, level)) = line.last() {
            line.push((x, level));
        }
        line.push((x, y));
    }
    line
}
