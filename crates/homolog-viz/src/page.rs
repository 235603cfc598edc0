//! A page with one view: the heading, the view with its picture and caption, names next to the points, and a key below.

use crate::labels::Side;
use crate::panel::{self, MARGIN};
use crate::svg::Canvas;
use crate::view::{self, Ink, Mark, Placed, View};

const WIDTH: f64 = 900.0;
const TALLEST: f64 = 640.0;
/// Height of the caption below the view.
const CAPTION: f64 = 34.0;
/// Height of the key below the caption.
const KEY: f64 = 42.0;

/// A page while it is drawn.
pub(crate) struct Page<'a> {
    pub(crate) canvas: Canvas,
    pub(crate) placed: Placed<'a>,
    pub(crate) ink: &'static Ink,
    is_dark: bool,
}

impl<'a> Page<'a> {
    /// The page with its view, on which points are still to be drawn. `more` are further points that it must show.
    pub(crate) fn new(title: &str, view: &'a View, more: &[[f64; 2]], has_key: bool) -> Self {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, title) + 8.0;
        let placed = Placed::new(view, more, (MARGIN, top), (WIDTH - 2.0 * MARGIN, TALLEST));
        let below = CAPTION + if has_key { KEY } else { 0.0 };
        let mut canvas = Canvas::new(WIDTH, top + placed.size.1 + below, title);
        panel::title(&mut canvas, WIDTH, title);
        let is_dark = view.picture.is_some();
        view::draw_ground(&mut canvas, placed.corner, placed.size, is_dark);
        placed.draw_picture(&mut canvas);
        placed.draw_caption(&mut canvas);
        Self { canvas, placed, ink: view::ink(is_dark), is_dark }
    }

    /// A point.
    pub(crate) fn dot(&mut self, at: (f64, f64), color: &str) {
        self.canvas.circle(at, 3.5, &format!(r##"fill="{color}" stroke="#000" stroke-width="0.6""##));
    }

    /// The page with names next to the points, if there is room, and a key that also says how many found none.
    pub(crate) fn named(mut self, names: &[String], mut key: Vec<(Mark, String)>) -> String {
        let (corner, size) = (self.placed.corner, self.placed.size);
        let inside = [corner.0, corner.1, corner.0 + size.0, corner.1 + size.1];
        let without = self.placed.draw_names(&mut self.canvas, names, Side::Right, inside, self.is_dark);
        if without > 0 {
            key.push((Mark::Words, format!("names without room: {without}")));
        }
        view::draw_key(&mut self.canvas, corner.1 + size.1 + KEY, WIDTH, self.is_dark, &key);
        self.canvas.finish()
    }
}
