//! The Delaunay triangulation of points in the plane, as edges: no point lies inside the circle through any triangle's corners.
//! O(n log n) by spade, whose predicates are exact: there is no tolerance.
//!
//! What degenerate input gives, independent of the numbering of the points:
//!
//! * **collinear points**: the chain along the line;
//! * **four or more points on one circle**: the triangulation is not unique; the points are sorted by coordinates before they are
//!   inserted, so the choice depends on the points alone;
//! * **points that coincide**: all of them get the edges of their position, and are joined to each other.

use super::{check_finite, to_unit_range};
use crate::{Error, Result};
use ndarray::ArrayView2;
use spade::{DelaunayTriangulation, Point2, Triangulation};

/// The undirected edges {i, j}, i < j, sorted.
///
/// # Errors
/// Points that do not have two coordinates; a coordinate that is not finite.
pub fn delaunay(points: ArrayView2<'_, f64>) -> Result<Vec<[usize; 2]>> {
    if points.ncols() != 2 {
        return Err(Error::Size { what: "coordinates of a point, for Delaunay", expected: 2, found: points.ncols() });
    }
    check_finite("points", points)?;
    let places = places(points);
    let sites: Vec<Point2<f64>> = places.iter().map(|place| Point2::new(place.x, place.y)).collect();
    let triangulation = DelaunayTriangulation::<Point2<f64>>::bulk_load_stable(sites)
        .map_err(|_| Error::Unsupported { solver: "delaunay", what: "coordinates outside the unit range" })?;
    let mut edges = Vec::new();
    for edge in triangulation.undirected_edges() {
        let [a, b] = edge.vertices().map(|vertex| &places[vertex.fix().index()].nodes);
        edges.extend(a.iter().flat_map(|&i| b.iter().map(move |&j| [i.min(j), i.max(j)])));
    }
    for place in &places {
        for (at, &i) in place.nodes.iter().enumerate() {
            edges.extend(place.nodes[at + 1..].iter().map(|&j| [i, j]));
        }
    }
    edges.sort_unstable();
    Ok(edges)
}

/// A position and the points that are there, in order.
struct Place {
    x: f64,
    y: f64,
    nodes: Vec<usize>,
}

/// The distinct positions, sorted by x and then y, scaled to the range in which spade works.
fn places(points: ArrayView2<'_, f64>) -> Vec<Place> {
    let (unit, _) = to_unit_range(points);
    // Below this spade gives up; compared with a coordinate of 1 it is nothing.
    let flush = |x: f64| if x.abs() < spade::MIN_ALLOWED_VALUE { 0.0 } else { x };
    let mut sorted: Vec<(f64, f64, usize)> =
        (0..unit.nrows()).map(|i| (flush(unit[[i, 0]]), flush(unit[[i, 1]]), i)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut places: Vec<Place> = Vec::with_capacity(sorted.len());
    for (x, y, node) in sorted {
        match places.last_mut() {
            Some(last) if last.x == x && last.y == y => last.nodes.push(node),
            _ => places.push(Place { x, y, nodes: vec![node] }),
        }
    }
    places
}
