//! The toy building of the turntable sequence: flat faces for the pictures and thirty landmarks on them.
//!
//! A gabled house with a door, windows, a dormer and a chimney, and a tower behind its right gable. x runs along the front to the
//! right, y up, z out of the front towards the viewer; a unit is about a metre of a small house. Faces are convex and may
//! intersect each other: the depth buffer sorts that out. Window panes float a little in front of their wall so that they are visible.

/// A point of the building.
pub(super) type Point = [f64; 3];

/// A flat convex polygon of one colour.
pub(super) struct Face {
    /// Corners in order.
    pub(super) corners: Vec<Point>,
    /// How much light it reflects, 0 to 1.
    pub(super) albedo: f64,
}

/// The thirty landmarks with their names, in the order of the rows of every frame. All are on faces visible in every frame.
pub(super) const LANDMARKS: [(&str, Point); 30] = [
    ("front wall, bottom left", [-3.0, 0.0, 1.5]),
    ("front wall, bottom right", [1.5, 0.0, 1.5]),
    ("gable wall, bottom back", [1.5, 0.0, -1.5]),
    ("front eave, left", [-3.15, 2.05, 1.75]),
    ("front eave, right", [1.65, 2.05, 1.75]),
    ("back eave, right", [1.65, 2.05, -1.75]),
    ("ridge, left", [-3.15, 4.2, 0.0]),
    ("ridge, right", [1.65, 4.2, 0.0]),
    ("chimney, top front right", [-0.75, 5.0, 0.65]),
    ("dormer window, bottom left", [-1.9, 2.7, 1.4]),
    ("dormer roof, tip", [-1.6, 3.75, 1.5]),
    ("door, bottom left", [-0.4, 0.0, 1.5]),
    ("door, top left", [-0.4, 1.2, 1.5]),
    ("door, top right", [0.2, 1.2, 1.5]),
    ("front window, top left", [-2.4, 1.5, 1.5]),
    ("front window, top right", [-1.8, 1.5, 1.5]),
    ("front window, bottom left", [-2.4, 0.8, 1.5]),
    ("front window, bottom right", [-1.8, 0.8, 1.5]),
    ("gable window, top front", [1.5, 1.5, 0.9]),
    ("gable window, top back", [1.5, 1.5, 0.2]),
    ("gable window, bottom front", [1.5, 0.8, 0.9]),
    ("gable window, bottom back", [1.5, 0.8, 0.2]),
    ("attic window, top back", [1.5, 3.1, -0.3]),
    ("attic window, bottom back", [1.5, 2.4, -0.3]),
    ("tower roof, tip", [2.0, 7.6, -2.7]),
    ("tower eave, left", [1.1, 5.9, -1.8]),
    ("tower eave, front", [2.9, 5.9, -1.8]),
    ("tower eave, back", [2.9, 5.9, -3.6]),
    ("tower window, top front", [2.7, 5.3, -2.4]),
    ("tower window, bottom front", [2.7, 4.6, -2.4]),
];

const STONE: f64 = 0.7;
const PLASTER: f64 = 0.95;
const TILES: f64 = 0.45;
const GLASS: f64 = 0.18;
const WOOD: f64 = 0.3;
const TABLE: f64 = 0.16;

/// How far panes and doors float in front of their wall.
pub(super) const PANE_OFFSET: f64 = 0.03;

/// All faces, in any order.
pub(super) fn faces() -> Vec<Face> {
    let mut faces = vec![face(TABLE, &disc(5.0, -0.02))];
    house(&mut faces);
    dormer(&mut faces);
    // Chimney and tower.
    walls(&mut faces, STONE, [-1.15, 3.0, 0.25], [-0.75, 5.0, 0.65]);
    faces.push(face(WOOD, &[[-1.15, 5.0, 0.25], [-0.75, 5.0, 0.25], [-0.75, 5.0, 0.65], [-1.15, 5.0, 0.65]]));
    walls(&mut faces, STONE, [1.3, 0.0, -3.4], [2.7, 6.0, -2.0]);
    pyramid(&mut faces, [2.0, 7.6, -2.7], 0.9, 5.9);
    panes(&mut faces);
    faces
}

fn house(faces: &mut Vec<Face>) {
    walls(faces, PLASTER, [-3.0, 0.0, -1.5], [1.5, 2.3, 1.5]);
    for x in [-3.0, 1.5] {
        faces.push(face(PLASTER, &[[x, 2.3, 1.5], [x, 2.3, -1.5], [x, 4.14, 0.0]]));
    }
    for z in [-1.75, 1.75] {
        faces.push(face(TILES, &[[-3.15, 2.05, z], [1.65, 2.05, z], [1.65, 4.2, 0.0], [-3.15, 4.2, 0.0]]));
    }
}

fn dormer(faces: &mut Vec<Face>) {
    walls(faces, PLASTER, [-2.05, 2.0, 0.0], [-1.15, 3.3, 1.4]);
    faces.push(face(PLASTER, &[[-2.05, 3.3, 1.4], [-1.15, 3.3, 1.4], [-1.6, 3.71, 1.4]]));
    for x in [-2.2, -1.0] {
        faces.push(face(TILES, &[[x, 3.2, 1.5], [-1.6, 3.75, 1.5], [-1.6, 3.75, 0.2], [x, 3.2, 0.2]]));
    }
}

fn panes(faces: &mut Vec<Face>) {
    // On walls that look along z: left, bottom, right, top, z.
    for (shade, [x0, y0, x1, y1, z]) in [
        (WOOD, [-0.4, 0.0, 0.2, 1.2, 1.5]),
        (GLASS, [-2.4, 0.8, -1.8, 1.5, 1.5]),
        (GLASS, [-1.4, 0.8, -0.8, 1.5, 1.5]),
        (GLASS, [0.6, 0.8, 1.2, 1.5, 1.5]),
        (GLASS, [-1.9, 2.7, -1.3, 3.2, 1.4]),
        (GLASS, [1.7, 4.6, 2.3, 5.3, -2.0]),
    ] {
        let z = z + PANE_OFFSET;
        faces.push(face(shade, &[[x0, y0, z], [x1, y0, z], [x1, y1, z], [x0, y1, z]]));
    }
    // On walls that look along x: back, bottom, front, top, x.
    for (shade, [z0, y0, z1, y1, x]) in [
        (GLASS, [0.2, 0.8, 0.9, 1.5, 1.5]),
        (GLASS, [-0.9, 0.8, -0.2, 1.5, 1.5]),
        (GLASS, [-0.3, 2.4, 0.3, 3.1, 1.5]),
        (GLASS, [-3.0, 4.6, -2.4, 5.3, 2.7]),
        (GLASS, [-3.0, 2.2, -2.4, 2.9, 2.7]),
    ] {
        let x = x + PANE_OFFSET;
        faces.push(face(shade, &[[x, y0, z0], [x, y0, z1], [x, y1, z1], [x, y1, z0]]));
    }
}

fn face(albedo: f64, corners: &[Point]) -> Face {
    Face { corners: corners.to_vec(), albedo }
}

/// The four upright sides of a box between two opposite corners.
fn walls(faces: &mut Vec<Face>, albedo: f64, [x0, y0, z0]: Point, [x1, y1, z1]: Point) {
    let ground = [[x0, z0], [x1, z0], [x1, z1], [x0, z1]];
    for side in 0..4 {
        let ([ax, az], [bx, bz]) = (ground[side], ground[(side + 1) % 4]);
        faces.push(face(albedo, &[[ax, y0, az], [bx, y0, bz], [bx, y1, bz], [ax, y1, az]]));
    }
}

/// The four sides of a pyramid over a square of the given half width at height `base`.
fn pyramid(faces: &mut Vec<Face>, tip: Point, half: f64, base: f64) {
    let [x, _, z] = tip;
    let ring = [[x - half, z - half], [x + half, z - half], [x + half, z + half], [x - half, z + half]];
    for side in 0..4 {
        let ([ax, az], [bx, bz]) = (ring[side], ring[(side + 1) % 4]);
        faces.push(face(TILES, &[[ax, base, az], [bx, base, bz], tip]));
    }
}

/// The turntable: a regular 48-gon at height `y`.
fn disc(radius: f64, y: f64) -> Vec<Point> {
    (0..48)
        .map(|k| (f64::from(k) * std::f64::consts::PI / 24.0).sin_cos())
        .map(|(s, c)| [radius * c, y, radius * s])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_landmark_is_a_corner_of_the_building() {
        for (name, landmark) in LANDMARKS {
            let near = |corner: &Point| (0..3).all(|axis| (corner[axis] - landmark[axis]).abs() < PANE_OFFSET + 1e-9);
            assert!(faces().iter().flat_map(|face| &face.corners).any(near), "{name}");
        }
    }

    #[test]
    fn faces_are_flat_and_convex() {
        for face in faces() {
            let normals: Vec<Point> = (0..face.corners.len())
                .map(|k| {
                    let at = |i: usize| face.corners[(k + i) % face.corners.len()];
                    let (a, b, c) = (at(0), at(1), at(2));
                    let (u, v) = ([b[0] - a[0], b[1] - a[1], b[2] - a[2]], [c[0] - b[0], c[1] - b[1], c[2] - b[2]]);
                    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
                })
                .collect();
            let dot = |p: Point, q: Point| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
            for &normal in &normals {
                let cosine = dot(normal, normals[0]) / (dot(normal, normal) * dot(normals[0], normals[0])).sqrt();
                assert!((cosine - 1.0).abs() < 1e-9, "{:?}", face.corners);
            }
        }
    }
}
