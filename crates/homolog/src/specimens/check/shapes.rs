//! Labelled specimens as one table: the point of each landmark in each specimen, or none.

use crate::data::dataset::NamedGraph;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A point; the third coordinate is 0 in the plane.
pub(super) type Place = [f64; 3];

/// The points of a specimen by landmark.
pub(super) type Shape = Vec<Option<Place>>;

/// All specimens.
pub(super) struct Shapes {
    pub(super) dimension: usize,
    /// The landmarks, in order of first appearance.
    pub(super) names: Vec<String>,
    pub(super) specimens: Vec<Shape>,
}

impl Shapes {
    /// Points without a name are left out.
    pub(super) fn new(graphs: &[NamedGraph]) -> Result<Self> {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names: Vec<String> = Vec::new();
        let mut named = Vec::with_capacity(graphs.len());
        let mut dimension = None;
        for one in graphs {
            let at = |error: Error| Error::At { place: format!("{:?}", one.id), error: Box::new(error) };
            let points = one.graph.points().ok_or(Error::Missing { what: "points", needed_by: "check" }).map_err(at)?;
            let own = one.graph.names().ok_or(Error::Missing { what: "names", needed_by: "check" }).map_err(at)?;
            let expected = *dimension.get_or_insert(points.ncols());
            if points.ncols() != expected {
                let error = Error::Size { what: "coordinates of a point", expected, found: points.ncols() };
                return Err(at(error));
            }
            let mut places = Vec::new();
            for (name, point) in own.iter().zip(points.rows()).filter(|(name, _)| !name.is_empty()) {
                let number = *numbers.entry(name).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() - 1
                });
                let mut place = [0.0; 3];
                place.iter_mut().zip(point).for_each(|(own, &x)| *own = x);
                places.push((number, place));
            }
            named.push(places);
        }
        let shape = |places: Vec<(usize, Place)>| {
            let mut shape = vec![None; names.len()];
            places.into_iter().for_each(|(number, place)| shape[number] = Some(place));
            shape
        };
        let specimens = named.into_iter().map(shape).collect();
        Ok(Self { dimension: dimension.unwrap_or(2), specimens, names })
    }

    /// How many specimens have a landmark.
    pub(super) fn count(&self, landmark: usize) -> usize {
        self.specimens.iter().filter(|shape| shape[landmark].is_some()).count()
    }
}

pub(super) fn difference(a: &Place, b: &Place) -> Place {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn sum(a: &Place, b: &Place) -> Place {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn length(a: &Place) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The centre and the root-mean-square distance from it.
pub(super) fn centre_and_size<'a>(points: impl Iterator<Item = &'a Place> + Clone) -> (Place, f64) {
    let count = points.clone().count().max(1) as f64;
    let centre = points.clone().fold([0.0; 3], |centre, point| sum(&centre, &point.map(|x| x / count)));
    let squares: f64 = points.map(|point| length(&difference(point, &centre)).powi(2)).sum();
    (centre, (squares / count).sqrt())
}
