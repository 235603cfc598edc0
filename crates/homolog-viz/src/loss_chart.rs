//! Lines with error bars: loss against baseline for each method, or against the number of labelled pairs.
//!
//! The axes contain every point with its whole error bar. Series are offset sideways by a few pixels so that bars at the same x
//! can all be seen; the offset affects only the drawing, and each is smaller than a marker.

use crate::axis::Axis;
use crate::palette;
use crate::panel::{self, MARGIN, Panel, WIDTH};
use crate::svg::Canvas;

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Where on the horizontal axis.
    pub x: f64,
    /// The value; a point that is not finite is left out.
    pub y: f64,
    /// How far the error bar extends below and above, for instance twice the standard error; 0 or NaN for none.
    pub error: [f64; 2],
}

/// A method's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, joined in this order.
    pub points: Vec<Measurement>,
    /// A dashed line, for instance for methods without learning.
    pub dashed: bool,
}

/// A chart of several series.
///
/// ```
/// use homolog_viz::{LossChart, Measurement, Series};
/// let points = [0.0, 10.0, 20.0].map(|x| Measurement { x, y: x / 50.0, error: [0.02; 2] }).to_vec();
/// let chart = LossChart { series: vec![Series { name: "linear".into(), points, dashed: false }], ..LossChart::default() };
/// assert!(chart.to_svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LossChart {
    /// Heading; may be empty.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis, which always includes zero.
    pub y_label: String,
    /// Ticks of the horizontal axis with their labels; if empty, round numbers.
    pub x_ticks: Vec<(f64, String)>,
    /// The methods, in the order of colours and legend.
    pub series: Vec<Series>,
    /// All methods of a report: each has the colour and the marker of its place here, in every chart; those not listed, and all if it is
    /// empty, of their place in this chart.
    pub colours: Vec<String>,
}

impl Default for LossChart {
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: "baseline (frames between the two pictures)".to_owned(),
            y_label: "test loss (share of wrong matches)".to_owned(),
            x_ticks: Vec::new(),
            series: Vec::new(),
            colours: Vec::new(),
        }
    }
}

impl LossChart {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let heights =
            self.series.iter().flat_map(|series| &series.points).flat_map(|point| [point.low(), point.high()]);
        let places = self
            .series
            .iter()
            .flat_map(|series| &series.points)
            .filter(|point| point.y.is_finite())
            .map(|point| point.x);
        let y = Axis::linear(heights, true);
        let x =
            if self.x_ticks.is_empty() { Axis::linear(places, false) } else { Axis::with_ticks(&self.x_ticks, places) };

        // The legend's height is known only once it is laid out: lay it out on a page that is thrown away.
        let entries: Vec<panel::Entry<'_>> = self
            .series
            .iter()
            .enumerate()
            .map(|(k, series)| (series.name.as_str(), self.number(k), series.dashed))
            .collect();
        let layout = |canvas: &mut Canvas| {
            let top = panel::title(canvas, WIDTH, &self.title);
            panel::legend(canvas, WIDTH, top, &entries) + 10.0
        };
        let top = layout(&mut Canvas::new(WIDTH, 0.0, ""));
        let frame = Panel::new(MARGIN - 6.0, WIDTH - MARGIN, top, 300.0, x, y);
        let mut canvas = Canvas::new(WIDTH, frame.bottom() + 56.0, &self.title);
        layout(&mut canvas);
        frame.draw(&mut canvas, &self.x_label, &self.y_label);
        if !self.series.iter().any(|series| series.points.iter().any(|point| frame.shows(point.x, point.y))) {
            frame.say_empty(&mut canvas);
        }
        for k in 0..self.series.len() {
            self.draw_series(&mut canvas, &frame, k);
        }
        canvas.finish()
    }

    fn number(&self, k: usize) -> usize {
        palette::number(&self.colours, &self.series[k].name, k)
    }

    fn draw_series(&self, canvas: &mut Canvas, frame: &Panel, k: usize) {
        let series = &self.series[k];
        // At most 6 pixels to either side: the room at the ends of the axis is wider.
        let middle = (self.series.len() - 1) as f64 / 2.0;
        let offset = (k as f64 - middle) * (3.0_f64).min(12.0 / (2.0 * middle).max(1.0));
        let shown: Vec<&Measurement> = series.points.iter().filter(|point| frame.shows(point.x, point.y)).collect();
        let place = |x: f64, y: f64| {
            let (x, y) = frame.at(x, y);
            (x + offset, y)
        };
        let line: Vec<(f64, f64)> = shown.iter().map(|point| place(point.x, point.y)).collect();
        let number = self.number(k);
        canvas.polyline(&line, &panel::line_style(number, series.dashed));
        for point in &shown {
            if point.high() > point.low() {
                panel::error_bar(
                    canvas,
                    place(point.x, point.low()),
                    place(point.x, point.high()),
                    palette::series(number),
                );
            }
        }
        for at in line {
            palette::marker(canvas, number, at);
        }
    }
}

impl Measurement {
    fn low(&self) -> f64 {
        self.y - length(self.error[0])
    }

    fn high(&self) -> f64 {
        self.y + length(self.error[1])
    }
}

/// The length of a part of an error bar.
pub(crate) fn length(error: f64) -> f64 {
    if error.is_finite() { error.abs() } else { 0.0 }
}
