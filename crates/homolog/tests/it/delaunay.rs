//! The Delaunay triangulation against its definition, in exact integer arithmetic, on random and on degenerate points.
//!
//! An edge is *possible* if some circle through its ends has no point strictly inside, and *certain* if some such circle has no
//! other point on it either. A Delaunay triangulation has all certain edges, only possible ones, no two that cross, and as many as
//! any triangulation: 3 N - 3 - h for N places, h of them on the hull.

use crate::made;

use homolog::geometry::delaunay;
use made::{permutation, rng};
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

type Point = [i128; 2];
/// Numerator and positive denominator.
type Fraction = (i128, i128);

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: Point, b: Point) -> i128 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: Point, b: Point) -> i128 {
    a[0] * b[0] + a[1] * b[1]
}

/// (possible, certain). The circle through i and j has its centre at the midpoint of ij plus t times the normal; every other point k
/// bounds t from one side: with u = j - i and k relative to i, t · 2 cross(u, k) <= k·(k - u).
fn edge_status(points: &[Point], i: usize, j: usize) -> (bool, bool) {
    let u = minus(points[j], points[i]);
    let [mut low, mut high]: [Option<Fraction>; 2] = [None, None];
    let less = |(a, b): Fraction, (c, d): Fraction| a * d < c * b;
    for (_, &point) in points.iter().enumerate().filter(|&(k, _)| k != i && k != j) {
        let k = minus(point, points[i]);
        let (slope, bound) = (2 * cross(u, k), dot(k, minus(k, u)));
        match slope.signum() {
            0 if bound < 0 => return (false, false),
            1 if high.is_none_or(|high| less((bound, slope), high)) => high = Some((bound, slope)),
            -1 if low.is_none_or(|low| less(low, (-bound, -slope))) => low = Some((-bound, -slope)),
            _ => {}
        }
    }
    match (low, high) {
        (Some(low), Some(high)) => (!less(high, low), less(low, high)),
        _ => (true, true),
    }
}

/// Points on the boundary of the convex hull, including those inside its sides; the points are distinct and not all on a line.
fn hull_count(points: &[Point]) -> usize {
    let on_hull = |p: Point| {
        // p is on the hull if some line through it and another point has nothing on one of its sides.
        points.iter().any(|&q| {
            let sides = points.iter().map(|&r| cross(minus(q, p), minus(r, p)).signum());
            q != p && (sides.clone().all(|side| side >= 0) || sides.clone().all(|side| side <= 0))
        })
    };
    points.iter().filter(|&&p| on_hull(p)).count()
}

fn properly_cross(points: &[Point], [a, b]: [usize; 2], [c, d]: [usize; 2]) -> bool {
    let side = |p: usize, q: usize, r: usize| cross(minus(points[q], points[p]), minus(points[r], points[p])).signum();
    side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

fn to_array(points: &[Point]) -> Array2<f64> {
    Array2::from_shape_fn((points.len(), 2), |(row, axis)| points[row][axis] as f64)
}

fn check_distinct(points: &[Point]) {
    let edges = delaunay(to_array(points).view()).unwrap();
    assert!(edges.is_sorted() && edges.iter().all(|[i, j]| i < j));
    for i in 0..points.len() {
        for j in i + 1..points.len() {
            let (possible, certain) = edge_status(points, i, j);
            let there = edges.binary_search(&[i, j]).is_ok();
            assert!(!there || possible, "edge {i} {j} of {points:?} has no empty circle");
            assert!(there || !certain, "edge {i} {j} of {points:?} is missing");
        }
    }
    for (at, &e) in edges.iter().enumerate() {
        assert!(!edges[..at].iter().any(|&f| properly_cross(points, e, f)), "{points:?}");
    }
    let n = points.len();
    let on_a_line = points.iter().all(|&p| cross(minus(points[n - 1], points[0]), minus(p, points[0])) == 0);
    let expected = if on_a_line { n - 1 } else { 3 * n - 3 - hull_count(points) };
    assert_eq!(edges.len(), expected, "{points:?}");
}

fn distinct(rng: &mut ChaCha8Rng, n: usize, range: i128) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for _ in 0..n {
        let point = [rng.random_range(-range..=range), rng.random_range(-range..=range)];
        if !points.contains(&point) {
            points.push(point);
        }
    }
    points
}

#[test]
fn random_points() {
    for seed in 0..40 {
        let rng = &mut rng(seed);
        let n = rng.random_range(1..40);
        check_distinct(&distinct(rng, n, 1 << 30));
    }
}

#[test]
fn points_on_a_small_grid_have_many_circles_and_lines_in_common() {
    for seed in 0..120 {
        let rng = &mut rng(seed);
        let (n, range) = (rng.random_range(1..25), rng.random_range(1..5));
        check_distinct(&distinct(rng, n, range));
    }
    let grid: Vec<Point> = (0..36).map(|at| [at / 6, at % 6]).collect();
    check_distinct(&grid);
}

#[test]
fn points_on_a_circle() {
    // All integer points with x² + y² = 5² · 13² · 17².
    let radius = 5 * 13 * 17;
    let mut circle = Vec::new();
    for x in -radius..=radius {
        for y in -radius..=radius {
            if x * x + y * y == radius * radius {
                circle.push([x, y]);
            }
        }
    }
    assert!(circle.len() >= 36);
    check_distinct(&circle);
    circle.push([0, 0]);
    check_distinct(&circle);
}

#[test]
fn points_on_a_line_give_the_chain() {
    for direction in [[1, 0], [0, 1], [3, 7], [-5, 2]] {
        let order = permutation(&mut rng(1), 9);
        let points: Vec<Point> = order.iter().map(|&t| direction.map(|d: i128| d * t as i128)).collect();
        check_distinct(&points);
        let mut chain: Vec<[usize; 2]> = (0..8)
            .map(|t| {
                let mut ends = [t, t + 1].map(|t| order.iter().position(|&o| o == t).unwrap());
                ends.sort_unstable();
                ends
            })
            .collect();
        chain.sort_unstable();
        assert_eq!(delaunay(to_array(&points).view()).unwrap(), chain);
    }
}

#[test]
fn few_points() {
    assert_eq!(delaunay(Array2::zeros((0, 2)).view()).unwrap(), Vec::<[usize; 2]>::new());
    check_distinct(&[[5, 5]]);
    check_distinct(&[[5, 5], [6, 7]]);
    check_distinct(&[[5, 5], [6, 7], [5, 8]]);
}

#[test]
fn points_that_coincide_share_the_edges_of_their_place() {
    for seed in 0..30 {
        let rng = &mut rng(500 + seed);
        let places = distinct(rng, 8, 5);
        let copies: Vec<usize> = (0..15).map(|_| rng.random_range(0..places.len())).collect();
        let used: Vec<usize> = (0..places.len()).filter(|place| copies.contains(place)).collect();
        let points: Vec<Point> = copies.iter().map(|&place| places[place]).collect();
        let between = delaunay(to_array(&used.iter().map(|&place| places[place]).collect::<Vec<_>>()).view()).unwrap();
        let edges = delaunay(to_array(&points).view()).unwrap();
        for i in 0..points.len() {
            for j in i + 1..points.len() {
                let [a, b] = [i, j].map(|node| used.iter().position(|&place| place == copies[node]).unwrap());
                let expected = a == b || between.contains(&[a.min(b), a.max(b)]);
                assert_eq!(edges.contains(&[i, j]), expected);
            }
        }
    }
}

#[test]
fn the_numbering_does_not_matter_even_on_a_grid() {
    let grid: Vec<Point> = (0..25).map(|at| [at / 5, at % 5]).collect();
    let edges = delaunay(to_array(&grid).view()).unwrap();
    for seed in 0..10 {
        let order = permutation(&mut rng(seed), grid.len());
        let moved: Vec<Point> = order.iter().map(|&old| grid[old]).collect();
        let mut back: Vec<[usize; 2]> = delaunay(to_array(&moved).view()).unwrap();
        for ends in &mut back {
            *ends = ends.map(|node| order[node]);
            ends.sort_unstable();
        }
        back.sort_unstable();
        assert_eq!(back, edges);
    }
}

#[test]
fn any_scale_gives_the_same_edges() {
    let points = to_array(&distinct(&mut rng(2), 20, 1000));
    let edges = delaunay(points.view()).unwrap();
    for exponent in [-1000, -300, 300, 1000] {
        assert_eq!(delaunay((&points * 2_f64.powi(exponent)).view()).unwrap(), edges, "2^{exponent}");
    }
    // A coordinate that is negligible compared with the others.
    let tiny = ndarray::array![[0.0, 1e-300], [1.0, 0.0], [0.0, 1.0], [-1e-200, 0.0]];
    assert_eq!(delaunay(tiny.view()).unwrap(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    assert!(delaunay(ndarray::array![[0.0, f64::NAN]].view()).is_err());
    assert!(delaunay(Array2::zeros((3, 3)).view()).is_err());
}
