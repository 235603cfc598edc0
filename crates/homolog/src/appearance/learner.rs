//! [`Learner`]: what labelled pictures look like around their landmarks, added up picture by picture.
//!
//! Each picture is resampled by its own landmarks, so that the mean shape has the diameter of the level: rotation and scale do not matter.
//! Kept of it: the descriptors at its landmarks, and sums over random places; never the picture itself. Levels have diameters of 48, 96,
//! 192 and 400 pixels, none above that of the landmarks in the first picture (and begin lower in very large pictures).
//!
//! Confidences come from leaving out labelled pictures in turn: landmarks are found in each by what the others teach, and
//! [`Calibration`] turns the evidence for a place into the share of places that were within [`TOLERANCE`](super::TOLERANCE). (The sums over
//! random places, which know nothing of landmarks, are those of all pictures.)

use super::descriptor::{Fields, NUMBERS};
use super::picture::{Pyramid, Rectangle};
use super::pose::PosePrior;
use super::shape::{Place, Shape};
use super::templates::{Background, Templates};
use super::{Appearance, LevelTemplates};
use crate::atlas::Calibration;
use crate::geometry::GreyImage;
use crate::graph::Graph;
use crate::{Control, Error, Report, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Diameters of the levels; a picture in which the coarsest of those from 48 on has too many pixels begins lower.
const LEVELS: [f64; 6] = [12.0, 24.0, 48.0, 96.0, 192.0, 400.0];
const COARSEST: f64 = 48.0;
/// The most pixels of a whole picture at the coarsest level.
const MOST_PIXELS: f64 = 600_000.0;
/// What is seen around the landmarks, and where random places are drawn, beyond the landmarks.
const MARGIN: f64 = 50.0;
const NEAR: f64 = 20.0;
/// So many pictures are left out in turn, at most.
const MOST_LEFT_OUT: usize = 20;
/// Pictures that are looked at before their sums are added: bounds the memory.
const AT_A_TIME: usize = 16;

/// Learns what landmarks look like, one labelled picture after another.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    levels: Vec<f64>,
    backgrounds: Vec<Background>,
    views: Vec<View>,
}

/// What is kept of a labelled picture.
#[derive(Debug, Clone)]
struct View {
    size: [f64; 2],
    landmarks: BTreeMap<String, Place>,
    /// The descriptor of each landmark at each level.
    looks: BTreeMap<String, Vec<Vec<f32>>>,
}

impl Learner {
    /// Nothing learned yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many pictures were learned from.
    #[must_use]
    pub fn specimens(&self) -> usize {
        self.views.len()
    }

    /// Learns from all of these at once: as adding one after the other, but the mean shape is that of all from the start.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::Interrupted`].
    pub fn learn(specimens: &[(GreyImage<'_>, &Graph)], control: &Control) -> Result<Self> {
        let mut learner = Self::new();
        let labelled = specimens.iter().map(|(picture, graph)| check(*picture, graph)).collect::<Result<Vec<_>>>()?;
        let Some((first, _)) = specimens.first() else { return Err(Error::NoExamples) };
        let mean = Mean::of(labelled.iter())?;
        learner.begin(&mean, [first.width() as f64, first.height() as f64]);
        for (at, some) in specimens.chunks(AT_A_TIME).enumerate() {
            control.report(&Report::new("looking at labelled pictures", at * AT_A_TIME, Some(specimens.len())));
            let own = &labelled[at * AT_A_TIME..][..some.len()];
            let look = |((picture, _), landmarks): (&(GreyImage<'_>, &Graph), &BTreeMap<String, Place>)| {
                learner.look(&Pyramid::new(*picture, control)?, landmarks, &mean, control)
            };
            let views = some.par_iter().zip(own).map(look).collect::<Result<Vec<_>>>()?;
            views.into_iter().for_each(|(view, backgrounds)| learner.keep(view, &backgrounds));
        }
        Ok(learner)
    }

    /// Adds a picture with named points.
    ///
    /// # Errors
    /// A picture without pixels; points not in the plane; fewer than two named points at different places that the others have too.
    pub fn add(&mut self, picture: GreyImage<'_>, specimen: &Graph) -> Result<()> {
        let landmarks = check(picture, specimen)?;
        let mean = Mean::of(self.views.iter().map(|view| &view.landmarks).chain([&landmarks]))?;
        let never = Control::new();
        let pyramid = Pyramid::new(picture, &never)?;
        if self.views.is_empty() {
            self.begin(&mean, pyramid.size());
        }
        let (view, backgrounds) = self.look(&pyramid, &landmarks, &mean, &never)?;
        self.keep(view, &backgrounds);
        Ok(())
    }

    fn begin(&mut self, mean: &Mean, [width, height]: [f64; 2]) {
        let diameter = mean.shape.diameter();
        let fits = |level: f64| width * height * (level / diameter).powi(2) <= MOST_PIXELS;
        let first = LEVELS.iter().rposition(|&level| level <= COARSEST && fits(level)).unwrap_or(0);
        self.levels = LEVELS[first..].iter().map(|level| level.min(diameter)).collect();
        self.levels.dedup();
        self.backgrounds = vec![Background::none(); self.levels.len()];
    }

    fn keep(&mut self, view: View, backgrounds: &[Background]) {
        self.backgrounds.iter_mut().zip(backgrounds).for_each(|(sum, own)| sum.add(own));
        self.views.push(view);
    }

    fn look(
        &self,
        picture: &Pyramid,
        landmarks: &BTreeMap<String, Place>,
        mean: &Mean,
        control: &Control,
    ) -> Result<(View, Vec<Background>)> {
        let placement = mean.shape.place(&mean.row(landmarks))?;
        let mut looks: BTreeMap<String, Vec<Vec<f32>>> = BTreeMap::new();
        let mut backgrounds = Vec::new();
        for (level, &size) in self.levels.iter().enumerate() {
            let view = placement.in_units(mean.shape.diameter() / size);
            let back = view.inverse();
            let places: Vec<Place> = landmarks.values().map(|&place| back.apply(place)).collect();
            let near = Rectangle::around(&places, MARGIN);
            // The coarsest level searches whole pictures, the others look around the landmarks.
            let drawn =
                if level == 0 { Rectangle::whole(picture.size(), &view) } else { Rectangle::around(&places, NEAR) };
            let seen = if level == 0 { near.with(drawn) } else { near };
            if seen.width().saturating_mul(seen.height()) > super::pose::MOST_PIXELS {
                let reason = "the picture is too large for its landmarks".to_string();
                return Err(Error::DataSet { place: "picture".to_string(), reason });
            }
            let fields = Fields::new(&picture.seen(&view, seen, control)?, seen, control)?;
            backgrounds.push(Background::of(&fields, drawn, level as u64));
            for (name, place) in landmarks.keys().zip(places) {
                looks.entry(name.clone()).or_default().push(fields.describe(place));
            }
        }
        Ok((View { size: picture.size(), landmarks: landmarks.clone(), looks }, backgrounds))
    }

    /// What was learned, without confidences.
    ///
    /// # Errors
    /// Nothing was learned from.
    pub fn appearance(&self) -> Result<Appearance> {
        self.of(&self.views.iter().collect::<Vec<_>>())
    }

    /// What some of the pictures teach, by their numbers in the order of learning: for leaving some out.
    ///
    /// # Errors
    /// No picture, or one that does not exist.
    pub fn appearance_of(&self, numbers: &[usize]) -> Result<Appearance> {
        let view = |&index: &usize| {
            let count = self.views.len();
            self.views.get(index).ok_or(Error::OutOfRange { what: "labelled pictures", index, count })
        };
        self.of(&numbers.iter().map(view).collect::<Result<Vec<_>>>()?)
    }

    /// Forgets the landmarks of a picture; those after it move up. What random places look like is kept: it says nothing of landmarks.
    pub fn forget(&mut self, number: usize) {
        if number < self.views.len() {
            self.views.remove(number);
        }
    }

    fn of(&self, views: &[&View]) -> Result<Appearance> {
        let mean = Mean::of(views.iter().map(|view| &view.landmarks))?;
        let specimens: Vec<Vec<Option<Place>>> = views.iter().map(|view| mean.row(&view.landmarks)).collect();
        let (shape, placements) = Shape::learn(&specimens)?;
        let sizes: Vec<[f64; 2]> = views.iter().map(|view| view.size).collect();
        let level = |(number, &diameter): (usize, &f64)| {
            let mut looks = Array2::<f64>::zeros((mean.names.len(), NUMBERS));
            for (name, mut row) in mean.names.iter().zip(looks.rows_mut()) {
                let own: Vec<&Vec<f32>> =
                    views.iter().filter_map(|view| Some(&view.looks.get(name)?[number])).collect();
                for (at, value) in row.iter_mut().enumerate() {
                    *value = own.iter().map(|look| f64::from(look[at])).sum::<f64>() / own.len().max(1) as f64;
                }
            }
            LevelTemplates { diameter, templates: Templates::new(&self.backgrounds[number], &looks) }
        };
        let levels = self.levels.par_iter().enumerate().map(level).collect();
        let pose = PosePrior::learn(&placements, &sizes);
        Ok(Appearance { landmarks: mean.names, pose, shape, levels, calibration: None, specimens: views.len() })
    }

    /// What was learned, with confidences: at most twenty of the pictures are left out in turn. They are asked for again, by their number
    /// in the order of learning, since none was kept. With a single picture there are no confidences.
    ///
    /// # Errors
    /// As [`Self::appearance`] and `picture`; [`Error::Interrupted`].
    pub fn calibrated<'a>(
        &self,
        picture: &(dyn Fn(usize) -> Result<GreyImage<'a>> + Sync),
        control: &Control,
    ) -> Result<Appearance> {
        let count = self.views.len().min(MOST_LEFT_OUT);
        let mut appearance = self.appearance()?;
        if self.views.len() < 2 {
            return Ok(appearance);
        }
        let one = |number: usize| -> Result<Vec<(f64, bool)>> {
            Error::if_interrupted(control)?;
            control.report(&Report::new("leaving out each picture in turn", number, Some(count)));
            let out = number * self.views.len() / count;
            let others: Vec<&View> =
                self.views.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, view)| view).collect();
            // The others may share too few landmarks to learn from.
            let Ok(learned) = self.of(&others) else { return Ok(Vec::new()) };
            let view = &self.views[out];
            let near = learned.tolerance(&view.landmarks)?;
            let found = learned.find(picture(out)?, &[], control)?;
            // A search that was cut short says nothing about how often one is right.
            Error::if_interrupted(control)?;
            let told = found.iter().filter_map(|point| Some((point, view.landmarks.get(&point.name)?)));
            Ok(told.map(|(point, at)| (point.evidence, apart(point.at, *at) <= near)).collect())
        };
        let sample = (0..count).into_par_iter().map(one).collect::<Result<Vec<_>>>()?.concat();
        appearance.calibration = Calibration::of_margins(&sample);
        Ok(appearance)
    }
}

fn apart(a: Place, b: Place) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The landmarks of several specimens by name, and their mean shape.
struct Mean {
    names: Vec<String>,
    shape: Shape,
}

impl Mean {
    fn of<'a>(specimens: impl Iterator<Item = &'a BTreeMap<String, Place>> + Clone) -> Result<Self> {
        let names: BTreeSet<&String> = specimens.clone().flat_map(BTreeMap::keys).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let rows: Vec<Vec<Option<Place>>> =
            specimens.map(|own| names.iter().map(|name| own.get(name).copied()).collect()).collect();
        let (shape, _) = Shape::learn(&rows)?;
        Ok(Self { names, shape })
    }

    fn row(&self, landmarks: &BTreeMap<String, Place>) -> Vec<Option<Place>> {
        self.names.iter().map(|name| landmarks.get(name).copied()).collect()
    }
}

/// The named points of a specimen in a picture.
fn check(picture: GreyImage<'_>, specimen: &Graph) -> Result<BTreeMap<String, Place>> {
    picture.check_size()?;
    let points = specimen.need_points("a labelled picture")?;
    if points.ncols() != 2 {
        return Err(Error::Size { what: "coordinates of a point in a picture", expected: 2, found: points.ncols() });
    }
    let names = specimen.names().ok_or(Error::Missing { what: "names", needed_by: "a labelled picture" })?;
    let named = names.iter().zip(points.rows()).filter(|(name, _)| !name.is_empty());
    Ok(named.map(|(name, point)| (name.clone(), [point[0], point[1]])).collect())
}
