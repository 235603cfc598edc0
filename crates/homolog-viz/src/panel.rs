//! The frame of a chart: plot area with grid, ticks and axis labels, error bars, a legend that wraps.

use crate::axis::Axis;
use crate::font::{self, Weight};
use crate::palette::{self, AXIS, GRID};
use crate::svg::{Anchor, Canvas, LABEL, SMALL, TITLE};

/// Width of charts in pixels, and their outer margin.
pub(crate) const WIDTH: f64 = 720.0;
pub(crate) const MARGIN: f64 = 20.0;

/// A plot area with its two axes, in pixels.
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel {
    /// A plot area that fills a figure's width from `left` on, leaving room for the labels of the vertical axis.
    pub(crate) fn new(left: f64, right: f64, top: f64, height: f64, x: Axis, y: Axis) -> Self {
        let widest =
            y.ticks.iter().map(|(_, label)| font::width(label, SMALL.size, Weight::Regular)).fold(0.0, f64::max);
        let left = left + widest + 34.0;
        Self { left, top, width: right - left, height, x, y }
    }

    /// Where a value pair is on the page.
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.x.share(x) * self.width, self.top + (1.0 - self.y.share(y)) * self.height)
    }

    /// Whether both axes can show the pair.
    pub(crate) fn shows(&self, x: f64, y: f64) -> bool {
        self.x.shows(x) && self.y.shows(y)
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Grid, ticks and labels; draw it before the data.
    pub(crate) fn draw(&self, canvas: &mut Canvas, x_label: &str, y_label: &str) {
        let (left, right, bottom) = (self.left, self.left + self.width, self.bottom());
        canvas.rect((left, self.top), (self.width, self.height), r#"class="plot" fill="none""#);
        for (tick, label) in &self.y.ticks {
            let y = self.at(0.0, *tick).1;
            let color = if *tick == 0.0 { "#c4cad1" } else { GRID };
            canvas.line((left, y), (right, y), &format!(r#"stroke="{color}""#));
            canvas.text((left - 7.0, y + 4.0), Anchor::End, SMALL, label);
        }
        canvas.line((left, bottom), (right, bottom), &format!(r#"stroke="{AXIS}""#));
        let mut free_from = f64::NEG_INFINITY;
        for (tick, label) in &self.x.ticks {
            let x = self.at(*tick, 0.0).0;
            canvas.line((x, bottom), (x, bottom + 4.0), &format!(r#"stroke="{AXIS}""#));
            // A label that would run into the previous one is left out; its tick stays.
            let half = font::width(label, SMALL.size, Weight::Regular) / 2.0;
            if x - half >= free_from {
                canvas.text((x, bottom + 19.0), Anchor::Middle, SMALL, label);
                free_from = x + half + 4.0;
            }
        }
        let x_label = font::fit(x_label, LABEL.size, Weight::Regular, self.width);
        canvas.text((left + self.width / 2.0, bottom + 40.0), Anchor::Middle, LABEL, &x_label);
        let y_label = font::fit(y_label, LABEL.size, Weight::Regular, self.height + 40.0);
        let widest =
            self.y.ticks.iter().map(|(_, label)| font::width(label, SMALL.size, Weight::Regular)).fold(0.0, f64::max);
        canvas.text_upwards((left - widest - 18.0, self.top + self.height / 2.0), LABEL, &y_label);
    }

    /// Says so in the middle of an empty plot.
    pub(crate) fn say_empty(&self, canvas: &mut Canvas) {
        let middle = (self.left + self.width / 2.0, self.top + self.height / 2.0);
        canvas.text(middle, Anchor::Middle, LABEL, "no data");
    }
}

/// A bar with end caps between two points on one vertical or horizontal line.
pub(crate) fn error_bar(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), color: &str) {
    let style = format!(r#"class="error-bar" stroke="{color}" stroke-width="1.4""#);
    canvas.line(from, to, &style);
    let (dx, dy) = if from.0 == to.0 { (3.5, 0.0) } else { (0.0, 3.5) };
    for (x, y) in [from, to] {
        canvas.line((x - dx, y - dy), (x + dx, y + dy), &style);
    }
}

/// Writes the title; returns the height where the next thing may start.
pub(crate) fn title(canvas: &mut Canvas, width: f64, text: &str) -> f64 {
    if text.is_empty() {
        return MARGIN;
    }
    let text = font::fit(text, TITLE.size, TITLE.weight, width - 2.0 * MARGIN);
    canvas.text((MARGIN, 31.0), Anchor::Start, TITLE, &text);
    46.0
}

/// A legend entry: name, number of the series (colour and marker), dashed line or not.
pub(crate) type Entry<'a> = (&'a str, usize, bool);

/// Writes a legend in rows across the page; returns the height where the next thing may start.
pub(crate) fn legend(canvas: &mut Canvas, width: f64, top: f64, entries: &[Entry<'_>]) -> f64 {
    let (mut x, mut y) = (MARGIN, top + 12.0);
    for &(name, k, dashed) in entries {
        let name = font::fit(name, LABEL.size, Weight::Regular, width - 2.0 * MARGIN - 40.0);
        // A little more than its width: the reader's font may be wider than ours.
        let needed = 29.0 + font::width(&name, LABEL.size, Weight::Regular) * 1.06 + 18.0;
        if x > MARGIN && x + needed - 18.0 > width - MARGIN {
            (x, y) = (MARGIN, y + 21.0);
        }
        canvas.line((x, y), (x + 22.0, y), &line_style(k, dashed));
        palette::marker(canvas, k, (x + 11.0, y));
        canvas.text((x + 28.0, y + 4.5), Anchor::Start, LABEL, &name);
        x += needed;
    }
    if entries.is_empty() { top } else { y + 12.0 }
}

/// The line of the k-th series.
pub(crate) fn line_style(k: usize, dashed: bool) -> String {
    let dashes = if dashed { r#" stroke-dasharray="6 4""# } else { "" };
    format!(r#"stroke="{}" stroke-width="2" stroke-linejoin="round"{dashes}"#, palette::series(k))
}
