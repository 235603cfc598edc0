//! Learned weights: shape-context weights on the polar grid of their bins, next to a bar chart of all weights.
//!
//! Weight 12 r + a belongs to ring r (by default distances up to 1/8, 1/4, 1/2, 1, 2 mean distances; drawn at equal widths since they
//! are evenly spaced logarithmically) and to the directions from a * 30 to (a + 1) * 30 degrees, counted from the left as the authors do
//! (angle + pi) and clockwise, since y runs down in pictures. The grid shows every bin where it lies in the picture, seen from the point
//! in the middle. Further weights, such as those of edges, have their own panel and scale next to it.

use crate::axis::{self, Axis};
use crate::font::{self, Weight};
use crate::palette::{self, AXIS, GRID};
use crate::panel::{self, MARGIN};
use crate::svg::{Anchor, Canvas, HEAD, SMALL, number};
use std::f64::consts::PI;

/// More rings or sectors than these cannot be told apart on the grid.
const MOST_RINGS: usize = 16;
const MOST_SECTORS: usize = 72;

const WIDTH: f64 = 960.0;
const PLOT_TOP: f64 = 26.0;
const RADIUS: f64 = 150.0;

/// Weights of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightsChart {
    /// Heading; may be empty.
    pub title: String,
    /// The weights of the shape context in the order of its bins: ring by ring from the inside, in each ring the sectors. If their number
    /// is not rings times sectors, they are drawn only as bars.
    pub shape_context: Vec<f64>,
    /// How many sectors the shape context has; the paper's 12 by default.
    pub sectors: usize,
    /// Outer radius of each of its rings, in mean distances; the paper's five by default.
    pub radii: Vec<f64>,
    /// Weights of other node features, with their names.
    pub nodes: Vec<(String, f64)>,
    /// Weights of edge features, with their names.
    pub edges: Vec<(String, f64)>,
}

impl Default for WeightsChart {
    fn default() -> Self {
        Self {
            title: String::new(),
            shape_context: Vec::new(),
            sectors: 12,
            radii: vec![0.125, 0.25, 0.5, 1.0, 2.0],
            nodes: Vec::new(),
            edges: Vec::new(),
        }
    }
}

impl WeightsChart {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title) + 4.0;
        let bottom = top + PLOT_TOP + 2.0 * RADIUS;
        let mut canvas = Canvas::new(WIDTH, bottom + 48.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);

        let largest = largest(self.shape_context.iter().copied());
        let polar = self.has_grid();
        if polar {
            self.draw_polar(&mut canvas, top, largest);
        }
        let left = if polar { MARGIN + 2.0 * RADIUS + 104.0 } else { MARGIN };
        let split = WIDTH - MARGIN - self.width_of_named();
        if !self.shape_context.is_empty() || self.named().is_empty() {
            let bars: Vec<(&str, f64)> = self.shape_context.iter().map(|&weight| ("", weight)).collect();
            let head = if polar { "the same as bars, ring by ring" } else { "weights" };
            let color = |k: usize| palette::diverging(self.shape_context[k] / largest);
            let ends = draw_bars(&mut canvas, [left, top, split, bottom], head, &bars, color);
            if polar {
                self.draw_ring_names(&mut canvas, ends, (top + PLOT_TOP, bottom));
            }
        }
        if !self.named().is_empty() {
            let head =
                if self.nodes.is_empty() { "edge weights (own scale)" } else { "others, edges orange (own scale)" };
            let color = |k: usize| palette::series(if k < self.nodes.len() { 6 } else { 4 }).to_owned();
            draw_bars(&mut canvas, [split + 18.0, top, WIDTH - MARGIN, bottom], head, &self.named(), color);
        }
        canvas.finish()
    }

    fn has_grid(&self) -> bool {
        let fits = (1..=MOST_RINGS).contains(&self.radii.len()) && (2..=MOST_SECTORS).contains(&self.sectors);
        fits && self.shape_context.len() == self.radii.len() * self.sectors
    }

    fn named(&self) -> Vec<(&str, f64)> {
        self.nodes.iter().chain(&self.edges).map(|(name, weight)| (name.as_str(), *weight)).collect()
    }

    /// Room for the bars with names, as wide as the names need; all the room if they are alone.
    fn width_of_named(&self) -> f64 {
        let named = self.named();
        let widest = named.iter().map(|(name, _)| font::width(name, SMALL.size, Weight::Regular)).fold(0.0, f64::max);
        match named.len() {
            0 => 0.0,
            _ if self.shape_context.is_empty() => WIDTH - 2.0 * MARGIN + 18.0,
            count => (count as f64 * (widest + 12.0) + 52.0).clamp(210.0, 290.0),
        }
    }

    fn draw_polar(&self, canvas: &mut Canvas, top: f64, largest: f64) {
        canvas.text((MARGIN, top + 12.0), Anchor::Start, HEAD, "shape-context weights by direction and distance");
        let middle = (MARGIN + RADIUS + 8.0, top + PLOT_TOP + RADIUS);
        let ring_width = RADIUS / self.radii.len() as f64;
        for (bin, &weight) in self.shape_context.iter().enumerate() {
            let (ring, sector) = (bin / self.sectors, bin % self.sectors);
            let (inner, outer) = (ring_width * ring as f64, ring_width * (ring + 1) as f64);
            let color = palette::diverging(weight / largest);
            canvas.path(
                &sector_path(middle, (inner, outer), sector, self.sectors),
                &format!(r##"fill="{color}" stroke="#b6bdc5" stroke-width="0.7""##),
            );
        }
        for (ring, &radius) in self.radii.iter().enumerate() {
            // Along the line between two directions that has the most room: straight up.
            let y = middle.1 - ring_width * (ring + 1) as f64;
            canvas.text_on_lines((middle.0, y + 4.0), Anchor::Middle, SMALL, "#fff", &axis::short_label(radius));
        }
        canvas.circle(middle, 2.5, r##"fill="#1b1f24""##);
        canvas.text(
            (MARGIN, middle.1 + RADIUS + 36.0),
            Anchor::Start,
            SMALL,
            "rings by distance in mean distances; directions as in the picture",
        );
        draw_color_bar(canvas, (middle.0 + RADIUS + 22.0, top + PLOT_TOP + 30.0), 2.0 * RADIUS - 60.0, largest);
    }

    /// Below the bars: which ring each group belongs to.
    fn draw_ring_names(&self, canvas: &mut Canvas, (left, right): (f64, f64), (top, bottom): (f64, f64)) {
        let step = (right - left) / self.radii.len() as f64;
        for (ring, &radius) in self.radii.iter().enumerate() {
            let x = left + step * ring as f64;
            if ring > 0 {
                canvas.line(
                    (x, top),
                    (x, bottom + 4.0),
                    &format!(r#"stroke="{AXIS}" stroke-width="0.7" stroke-dasharray="2 3""#),
                );
            }
            let name = font::fit(&format!("< {}", axis::short_label(radius)), SMALL.size, Weight::Regular, step);
            canvas.text((x + step / 2.0, bottom + 18.0), Anchor::Middle, SMALL, &name);
        }
        let below = (f64::midpoint(left, right), bottom + 36.0);
        let text = format!("ring, in mean distances; {} directions each", self.sectors);
        canvas.text(below, Anchor::Middle, SMALL, &text);
    }
}

/// A piece of a ring as path data: out along the outer arc, back along the inner one.
fn sector_path((x, y): (f64, f64), (inner, outer): (f64, f64), sector: usize, sectors: usize) -> String {
    let at = |radius: f64, k: usize| {
        let direction = k as f64 * 2.0 * PI / sectors as f64 - PI;
        format!("{} {}", number(x + radius * direction.cos()), number(y + radius * direction.sin()))
    };
    let (r, q) = (number(inner), number(outer));
    let (from, to) = (at(outer, sector), at(outer, sector + 1));
    format!("M{from}A{q} {q} 0 0 1 {to}L{}A{r} {r} 0 0 0 {}Z", at(inner, sector + 1), at(inner, sector))
}

fn draw_color_bar(canvas: &mut Canvas, (x, y): (f64, f64), height: f64, largest: f64) {
    const SLICES: u32 = 60;
    let slice = height / f64::from(SLICES);
    for k in 0..SLICES {
        let value = 1.0 - 2.0 * (f64::from(k) + 0.5) / f64::from(SLICES);
        let style = format!(r#"fill="{}""#, palette::diverging(value));
        // Half a pixel of overlap hides the seams.
        canvas.rect((x, y + f64::from(k) * slice), (14.0, slice + if k + 1 < SLICES { 0.5 } else { 0.0 }), &style);
    }
    canvas.rect((x, y), (14.0, height), r##"fill="none" stroke="#b6bdc5" stroke-width="0.7""##);
    for (tick, label) in Axis::linear([-largest, largest], false).ticks {
        let at = y + height * (0.5 - 0.5 * tick / largest);
        if tick.abs() <= largest {
            canvas.line((x + 14.0, at), (x + 18.0, at), &format!(r#"stroke="{AXIS}""#));
            canvas.text((x + 22.0, at + 4.0), Anchor::Start, SMALL, &label);
        }
    }
}

/// Bars up and down from zero in an area (left, top, right, bottom); names, if there are any, are written at the bottom. Returns where
/// the first bar starts and the last ends.
fn draw_bars(
    canvas: &mut Canvas,
    area: [f64; 4],
    head: &str,
    bars: &[(&str, f64)],
    color: impl Fn(usize) -> String,
) -> (f64, f64) {
    let [left, top, right, bottom] = area;
    let axis = Axis::linear(bars.iter().map(|&(_, weight)| weight), true);
    let widest =
        axis.ticks.iter().map(|(_, label)| font::width(label, SMALL.size, Weight::Regular)).fold(0.0, f64::max);
    canvas.text((left, top + 12.0), Anchor::Start, HEAD, &font::fit(head, HEAD.size, HEAD.weight, right - left));
    let (left, top) = (left + widest + 8.0, top + PLOT_TOP);
    let height = |value: f64| bottom - (bottom - top) * axis.share(value);
    for (tick, label) in &axis.ticks {
        let line = if *tick == 0.0 { AXIS } else { GRID };
        canvas.line((left, height(*tick)), (right, height(*tick)), &format!(r#"stroke="{line}""#));
        canvas.text((left - 6.0, height(*tick) + 4.0), Anchor::End, SMALL, label);
    }
    if bars.is_empty() {
        canvas.text((f64::midpoint(left, right), f64::midpoint(top, bottom)), Anchor::Middle, SMALL, "no weights");
    }
    let step = (right - left) / bars.len().max(1) as f64;
    let bar = (step * 0.8).min(36.0);
    for (k, (name, weight)) in bars.iter().enumerate() {
        let x = left + step * (k as f64 + 0.5);
        if axis.shows(*weight) {
            let (zero, end) = (height(0.0), height(*weight));
            let style = format!(r##"class="bar" fill="{}" stroke="#6e7781" stroke-width="0.5""##, color(k));
            canvas.rect((x - bar / 2.0, zero.min(end)), (bar, (zero - end).abs()), &style);
        }
        if step > 30.0 {
            canvas.text((x, bottom + 18.0), Anchor::Middle, SMALL, &font::fit(name, SMALL.size, Weight::Regular, step));
        }
    }
    (left, right)
}

/// The largest magnitude among finite values; 1 if there is none.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.filter(|value| value.is_finite()).fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest > 0.0 { largest.min(1e300) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_drawn_where_its_neighbours_lie_in_the_picture() {
        // A neighbour a little below straight right: angle + pi is just over pi, which is bin 6. On the page y runs down too.
        assert_eq!(sector_path((0.0, 0.0), (0.0, 100.0), 6, 12), "M100 0A100 100 0 0 1 86.6 50L0 0A0 0 0 0 0 0 0Z");
        // Straight left and up a little: just over 0, bin 0.
        assert!(sector_path((0.0, 0.0), (50.0, 100.0), 0, 12).starts_with("M-100 0A100 100 0 0 1 -86.6 -50L"));
    }

    #[test]
    fn the_grid_needs_a_weight_for_every_bin() {
        let sectors = |count: usize| {
            let svg = WeightsChart { shape_context: vec![1.0; count], ..WeightsChart::default() }.to_svg();
            (svg.matches("<path").count(), svg.matches(r#"class="bar""#).count())
        };
        assert_eq!(sectors(60), (60, 60));
        assert_eq!(sectors(59), (0, 59));
        let other = WeightsChart {
            shape_context: vec![-1.0; 16],
            sectors: 8,
            radii: vec![0.5, 1.0],
            ..WeightsChart::default()
        };
        assert_eq!(other.to_svg().matches("<path").count(), 16);
        for (sectors, rings) in [(0, 3), (1, 3), (usize::MAX, 2), (3, 0)] {
            let odd = WeightsChart {
                shape_context: vec![1.0; 3],
                sectors,
                radii: vec![f64::NAN; rings],
                ..WeightsChart::default()
            };
            assert_eq!(odd.to_svg().matches("<path").count(), 0);
        }
    }
}
