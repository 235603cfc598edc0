//! A specimen in which something looks wrong: its points with their names, and where those that are wrong should be.

use crate::labels::Side;
use crate::panel::{self, MARGIN};
use crate::svg::Canvas;
use crate::view::{self, Mark, Placed, View};

const WIDTH: f64 = 900.0;
const TALLEST: f64 = 640.0;

/// A point of a suspect.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuspectPoint {
    /// Its name.
    pub name: String,
    /// Whether something is wrong with it.
    pub wrong: bool,
    /// Where the landmark of this name should be.
    pub should_be: Option<[f64; 2]>,
}

/// A specimen with its suspect points.
///
/// ```
/// use homolog_viz::{SuspectPicture, SuspectPoint, View};
/// let view = View { points: vec![[1.0, 2.0], [5.0, 4.0]], ..View::default() };
/// let good = SuspectPoint { name: "tip".into(), wrong: false, should_be: Some([1.1, 2.0]) };
/// let wrong = SuspectPoint { name: "root".into(), wrong: true, should_be: Some([4.0, 1.0]) };
/// let svg = SuspectPicture { title: "root displaced".into(), view, points: vec![good, wrong] }.to_svg();
/// assert!(svg.contains("root displaced") && svg.contains("where it should be"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SuspectPicture {
    /// What is wrong.
    pub title: String,
    /// The points and the picture.
    pub view: View,
    /// What is known about each point, in the order of the view.
    pub points: Vec<SuspectPoint>,
}

impl SuspectPicture {
    /// The figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let top = panel::title(&mut Canvas::new(WIDTH, 0.0, ""), WIDTH, &self.title) + 8.0;
        let places: Vec<[f64; 2]> = self.points.iter().filter_map(|point| point.should_be).collect();
        let placed = Placed::new(&self.view, &places, (MARGIN, top), (WIDTH - 2.0 * MARGIN, TALLEST));
        let mut canvas = Canvas::new(WIDTH, top + placed.size.1 + 76.0, &self.title);
        panel::title(&mut canvas, WIDTH, &self.title);
        let dark = self.view.picture.is_some();
        let ink = view::ink(dark);
        view::draw_ground(&mut canvas, placed.corner, placed.size, dark);
        placed.draw_picture(&mut canvas);
        placed.draw_caption(&mut canvas);
        for (k, point) in self.points.iter().enumerate() {
            let Some(should_be) = point.should_be.and_then(|place| placed.at(place)) else { continue };
            if let Some(at) = placed.point(k).filter(|_| point.wrong) {
                canvas.line(at, should_be, &format!(r#"stroke="{}" stroke-width="1.5""#, ink.wrong));
            }
            let (radius, width) = if point.wrong { (6.0, 2.0) } else { (5.0, 1.0) };
            let style = format!(r#"fill="none" stroke="{}" stroke-width="{width}""#, ink.right);
            canvas.circle(should_be, radius, &style);
        }
        for (k, point) in self.points.iter().enumerate() {
            let Some(at) = placed.point(k) else { continue };
            let color = if point.wrong { ink.wrong } else { ink.right };
            canvas.circle(at, 3.5, &format!(r##"fill="{color}" stroke="#000" stroke-width="0.6""##));
        }
        let names: Vec<String> = self.points.iter().map(|point| point.name.clone()).collect();
        let inside =
            [placed.corner.0, placed.corner.1, placed.corner.0 + placed.size.0, placed.corner.1 + placed.size.1];
        let without = placed.draw_names(&mut canvas, &names, Side::Right, inside, dark);
        let mut key = vec![
            (Mark::Line(ink.right), "fits; ring: where it should be".to_owned()),
            (Mark::Line(ink.wrong), "looks wrong".to_owned()),
        ];
        if without > 0 {
            key.push((Mark::Words, format!("names without room: {without}")));
        }
        view::draw_key(&mut canvas, placed.corner.1 + placed.size.1 + 42.0, WIDTH, dark, &key);
        canvas.finish()
    }
}
