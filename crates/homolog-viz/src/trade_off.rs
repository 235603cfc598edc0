//! Running time against loss: a labelled point for each method, time on a logarithmic axis, error bars both ways.
//!
//! A time's error bar may extend to zero or below, which a logarithmic axis does not have: such a bar is drawn down to a tenth of the
//! time and has no cap there. All other bars are shown in full.

use crate::axis::{self, Axis};
use crate::font::{self, Weight};
use crate::labels::{self, Area, Side};
use crate::loss_chart::length;
use crate::palette;
use crate::panel::{self, MARGIN, Panel, WIDTH};
use crate::svg::{Anchor, Canvas, LABEL};

/// A method's time and loss.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimedMethod {
    /// Its name, written next to the point.
    pub name: String,
    /// Time in seconds; a method without a positive time is left out.
    pub seconds: f64,
    /// Half the length of the time's error bar; 0 or NaN for none.
    pub seconds_error: f64,
    /// Loss.
    pub loss: f64,
    /// How far the loss's error bar extends below and above; 0 or NaN for none.
    pub loss_error: [f64; 2],
}

/// A chart of methods by time and loss.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffChart {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the time axis.
    pub x_label: String,
    /// Label of the loss axis, which always includes zero.
    pub y_label: String,
    /// The methods, in the order of colours.
    pub methods: Vec<TimedMethod>,
    /// All methods of a report: each has the colour and the marker of its place here, in every chart; those not listed, and all if it is
    /// empty, of their place in this chart.
    pub colours: Vec<String>,
}

impl Default for TradeOffChart {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: "time for one match (logarithmic)".to_owned(),
            y_label: "test loss (share of wrong matches)".to_owned(),
            methods: Vec::new(),
            colours: Vec::new(),
        }
    }
}

impl TradeOffChart {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let shown: Vec<(usize, &TimedMethod)> = self
            .methods
            .iter()
            .enumerate()
            .map(|(k, method)| (palette::number(&self.colours, &method.name, k), method))
            .filter(|(_, method)| method.seconds > 0.0 && method.loss.is_finite())
            .collect();
        let times = shown.iter().flat_map(|(_, method)| [method.time_range().0, method.time_range().1]);
        let losses = shown.iter().flat_map(|(_, method)| [method.loss_range().0, method.loss_range().1]);
        let (x, y) = (Axis::logarithmic(times, axis::time_label), Axis::linear(losses, true));

        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title) + 6.0;
        let frame = Panel::new(MARGIN - 6.0, WIDTH - MARGIN, top, 320.0, x, y);
        let mut canvas = Canvas::new(WIDTH, frame.bottom() + 56.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        frame.draw(&mut canvas, &self.x_label, &self.y_label);
        let shown: Vec<(usize, &TimedMethod)> =
            shown.into_iter().filter(|(_, method)| frame.shows(method.seconds, method.loss)).collect();
        if shown.is_empty() {
            frame.say_empty(&mut canvas);
        }
        let mut taken: Vec<Area> = Vec::new();
        for &(k, method) in &shown {
            taken.extend(draw_point(&mut canvas, &frame, k, method));
        }
        for &(_, method) in &shown {
            let name = font::fit(&method.name, LABEL.size, Weight::Regular, frame.width / 2.0);
            let size = (font::width(&name, LABEL.size, Weight::Regular) * 1.06, LABEL.size);
            let inside = [frame.left, frame.top, frame.left + frame.width, frame.bottom()];
            let at = frame.at(method.seconds, method.loss);
            let (area, _) = labels::place(at, size, Side::Right, inside, &taken, &[8.0, 16.0, 28.0]);
            canvas.text_on_lines((area[0], area[3] - 2.5), Anchor::Start, LABEL, "#fff", &name);
            taken.push(area);
        }
        canvas.finish()
    }
}

/// Draws point and bars; returns the areas they take.
fn draw_point(canvas: &mut Canvas, frame: &Panel, k: usize, method: &TimedMethod) -> [Area; 3] {
    let color = palette::series(k);
    let (x, y) = frame.at(method.seconds, method.loss);
    let (fast, slow, open) = method.time_range();
    let (from, to) = (frame.at(fast, method.loss), frame.at(slow, method.loss));
    if open {
        let style = format!(r#"class="error-bar" stroke="{color}" stroke-width="1.4""#);
        canvas.line(from, (x, y), &style);
        panel::error_bar(canvas, (x, y), to, color);
    } else if slow > fast {
        panel::error_bar(canvas, from, to, color);
    }
    let (low, high) = method.loss_range();
    let (bottom, top) = (frame.at(method.seconds, low), frame.at(method.seconds, high));
    if high > low {
        panel::error_bar(canvas, bottom, top, color);
    }
    palette::marker(canvas, k, (x, y));
    [
        [x - 6.0, y - 6.0, x + 6.0, y + 6.0],
        [from.0 - 1.0, y - 4.0, to.0 + 1.0, y + 4.0],
        [x - 4.0, top.1 - 1.0, x + 4.0, bottom.1 + 1.0],
    ]
}

impl TimedMethod {
    /// Ends of the time's bar, and whether its lower end is open.
    fn time_range(&self) -> (f64, f64, bool) {
        let half = if self.seconds_error.is_finite() { self.seconds_error.abs() } else { 0.0 };
        let open = half > 0.9 * self.seconds;
        (if open { self.seconds / 10.0 } else { self.seconds - half }, self.seconds + half, open)
    }

    fn loss_range(&self) -> (f64, f64) {
        (self.loss - length(self.loss_error[0]), self.loss + length(self.loss_error[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_that_reaches_zero_time_is_open() {
        let method = TimedMethod { seconds: 1.0, seconds_error: 2.0, ..TimedMethod::default() };
        assert_eq!(method.time_range(), (0.1, 3.0, true));
        let method = TimedMethod { seconds: 1.0, seconds_error: f64::NAN, ..TimedMethod::default() };
        assert_eq!(method.time_range(), (1.0, 1.0, false));
    }
}
