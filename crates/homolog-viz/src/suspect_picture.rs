//! A specimen in which something looks wrong: its points with their names, and where those that are wrong should be.

use crate::page::Page;
use crate::view::{Mark, View};

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
        let places: Vec<[f64; 2]> = self.points.iter().filter_map(|point| point.should_be).collect();
        let mut page = Page::new(&self.title, &self.view, &places, true);
        let ink = page.ink;
        for (k, point) in self.points.iter().enumerate() {
            let Some(should_be) = point.should_be.and_then(|place| page.placed.at(place)) else { continue };
            if let Some(at) = page.placed.point(k).filter(|_| point.wrong) {
                page.canvas.line(at, should_be, &format!(r#"stroke="{}" stroke-width="1.5""#, ink.wrong));
            }
            let (radius, width) = if point.wrong { (6.0, 2.0) } else { (5.0, 1.0) };
            let style = format!(r#"fill="none" stroke="{}" stroke-width="{width}""#, ink.right);
            page.canvas.circle(should_be, radius, &style);
        }
        for (k, point) in self.points.iter().enumerate() {
            if let Some(at) = page.placed.point(k) {
                page.dot(at, if point.wrong { ink.wrong } else { ink.right });
            }
        }
        let names: Vec<String> = self.points.iter().map(|point| point.name.clone()).collect();
        let fits = (Mark::Line(ink.right), "fits; ring: where it should be".to_owned());
        page.named(&names, vec![fits, (Mark::Line(ink.wrong), "looks wrong".to_owned())])
    }
}
