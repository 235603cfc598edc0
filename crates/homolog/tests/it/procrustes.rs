//! Laws of the Procrustes fit: it finds the similarity that generated the points, nothing near it is better, and what the points leave
//! open is settled by not turning.

use homolog::Error;
use homolog::geometry::Similarity;
use ndarray::{Array1, Array2, ArrayView2, array};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random_points(rng: &mut impl Rng, count: usize, dimension: usize) -> Array2<f64> {
    Array2::from_shape_fn((count, dimension), |_| rng.random_range(-1.0..1.0))
}

/// A product of turns in the coordinate planes, mirrored on request.
fn random_rotation(rng: &mut impl Rng, dimension: usize, mirrored: bool) -> Array2<f64> {
    let mut rotation = Array2::eye(dimension);
    for p in 0..dimension {
        for q in p + 1..dimension {
            let (sine, cosine) = rng.random_range(0.0..std::f64::consts::TAU).sin_cos();
            let mut turn = Array2::eye(dimension);
            (turn[[p, p]], turn[[q, q]], turn[[p, q]], turn[[q, p]]) = (cosine, cosine, -sine, sine);
            rotation = rotation.dot(&turn);
        }
    }
    if mirrored {
        rotation.row_mut(0).mapv_inplace(|x| -x);
    }
    rotation
}

fn misfit(found: &Similarity, from: ArrayView2<'_, f64>, to: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> f64 {
    let moved = found.apply(from);
    let square = |i: usize| (&moved.row(i) - &to.row(i)).mapv(|x| x * x).sum();
    (0..from.nrows()).map(|i| weights.map_or(1.0, |w| w[i]) * square(i)).sum()
}

fn is_orthogonal(found: &Similarity) -> bool {
    let product = found.rotation.dot(&found.rotation.t());
    (product - Array2::<f64>::eye(found.rotation.nrows())).iter().all(|x| x.abs() < 1e-12)
}

#[test]
fn finds_the_similarity_that_made_the_points() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..400 {
        let dimension = 2 + round % 2;
        let mirrored = round % 3 == 0;
        let from = random_points(&mut rng, dimension + 2 + round % 5, dimension);
        let made = Similarity {
            rotation: random_rotation(&mut rng, dimension, mirrored),
            scale: 10_f64.powf(rng.random_range(-3.0..3.0)),
            shift: Array1::from_shape_fn(dimension, |_| rng.random_range(-5.0..5.0)),
        };
        let to = made.apply(from.view());
        let found = Similarity::fit(from.view(), to.view(), None, true).unwrap();
        assert!((&found.rotation - &made.rotation).iter().all(|x| x.abs() < 1e-8), "{found:?} is not {made:?}");
        assert!((found.scale / made.scale - 1.0).abs() < 1e-9);
        assert_eq!(found.is_mirrored(), mirrored);
        let unmirrored = Similarity::fit(from.view(), to.view(), None, false).unwrap();
        assert!(!unmirrored.is_mirrored());
        let (with, without) =
            (misfit(&found, from.view(), to.view(), None), misfit(&unmirrored, from.view(), to.view(), None));
        assert!(with <= without + 1e-9);
        assert!(mirrored || without < 1e-9 * made.scale.max(1.0).powi(2));
    }
}

#[test]
fn nothing_near_it_or_far_from_it_is_better() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for round in 0..100 {
        let dimension = 2 + round % 2;
        let count = round % 7;
        let (from, to) = (random_points(&mut rng, count, dimension), random_points(&mut rng, count, dimension));
        let weights: Vec<f64> = (0..count).map(|_| rng.random_range(0.0..3.0)).collect();
        for mirror in [false, true] {
            let found = Similarity::fit(from.view(), to.view(), Some(&weights), mirror).unwrap();
            assert!(is_orthogonal(&found) && found.scale >= 0.0 && (mirror || !found.is_mirrored()));
            let best = misfit(&found, from.view(), to.view(), Some(&weights));
            for step in 0..60_usize {
                let size = 10_f64.powf(-((step % 6) as f64));
                let turned = mirror && step % 2 == 0;
                let rotation = if step < 20 {
                    random_rotation(&mut rng, dimension, turned)
                } else {
                    let (sine, cosine) = (size * rng.random_range(-1.0..1.0_f64)).sin_cos();
                    let mut turn = Array2::eye(dimension);
                    let q = 1 + step % (dimension - 1);
                    (turn[[0, 0]], turn[[q, q]], turn[[0, q]], turn[[q, 0]]) = (cosine, cosine, -sine, sine);
                    found.rotation.dot(&turn)
                };
                let other = Similarity {
                    rotation,
                    scale: (found.scale + size * rng.random_range(-1.0..1.0)).max(0.0),
                    shift: &found.shift + &Array1::from_shape_fn(dimension, |_| size * rng.random_range(-1.0..1.0)),
                };
                assert!(misfit(&other, from.view(), to.view(), Some(&weights)) >= best - 1e-9);
            }
        }
    }
}

#[test]
fn weights_count_as_repetitions() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (from, to) = (random_points(&mut rng, 5, 3), random_points(&mut rng, 5, 3));
    let rows = [0, 0, 0, 1, 2, 2, 4];
    let repeated = |points: &Array2<f64>| points.select(ndarray::Axis(0), &rows);
    let weighted = Similarity::fit(from.view(), to.view(), Some(&[3.0, 1.0, 2.0, 0.0, 1.0]), false).unwrap();
    let listed = Similarity::fit(repeated(&from).view(), repeated(&to).view(), None, false).unwrap();
    assert!((&weighted.rotation - &listed.rotation).iter().all(|x| x.abs() < 1e-10));
    assert!((weighted.scale - listed.scale).abs() < 1e-10);
    assert!((&weighted.shift - &listed.shift).iter().all(|x| x.abs() < 1e-10));
}

#[test]
fn what_points_leave_open_is_settled_without_turning() {
    let none = Array2::zeros((0, 3));
    assert_eq!(Similarity::fit(none.view(), none.view(), None, true).unwrap(), Similarity::identity(3));
    let (one, there) = (array![[1.0, 2.0]], array![[4.0, 6.0]]);
    let moved = Similarity::fit(one.view(), there.view(), None, false).unwrap();
    assert_eq!(moved, Similarity { shift: array![3.0, 4.0], ..Similarity::identity(2) });
    // On a line in space the turn about the line is open: a line onto itself is not turned.
    let line = array![[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 4.0]];
    for mirror in [false, true] {
        let found = Similarity::fit(line.view(), line.view(), None, mirror).unwrap();
        assert!((&found.rotation - &Array2::<f64>::eye(3)).iter().all(|x| x.abs() < 1e-12), "{found:?}");
    }
    // All of the target in one place: nothing but scale 0 reaches it.
    let flat =
        Similarity::fit(array![[0.0, 0.0], [1.0, 0.0]].view(), array![[7.0, 7.0], [7.0, 7.0]].view(), None, false);
    assert_eq!(flat.unwrap().scale, 0.0);
}

#[test]
fn an_orientation_that_is_known_is_kept() {
    let from = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let to = array![[3.0, 3.0], [5.0, 3.1], [2.9, 5.0]];
    let found = Similarity::fit_unturned(from.view(), to.view(), None).unwrap();
    assert_eq!(found.rotation, Array2::<f64>::eye(2));
    let best = misfit(&found, from.view(), to.view(), None);
    for (scale, x, y) in [(1e-4, 0.0, 0.0), (-1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, -1e-4)] {
        let other = Similarity { scale: found.scale + scale, shift: &found.shift + &array![x, y], ..found.clone() };
        assert!(misfit(&other, from.view(), to.view(), None) > best);
    }
}

#[test]
fn scales_far_from_one_and_bad_input() {
    let from = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    for size in [1e-150, 1e150] {
        let found = Similarity::fit(from.view(), (&from * size).view(), None, false).unwrap();
        assert!((found.scale / size - 1.0).abs() < 1e-12);
    }
    let bad = Similarity::fit(from.view(), array![[0.0, 0.0]].view(), None, false);
    assert_eq!(bad, Err(Error::Size { what: "points to fit to", expected: 3, found: 1 }));
    let bad = Similarity::fit(from.view(), from.view(), Some(&[1.0, -1.0, 0.0]), false);
    assert_eq!(bad, Err(Error::BadEntry { what: "weights of points", index: 1, value: -1.0 }));
    let nan = array![[0.0, 0.0], [f64::NAN, 0.0], [0.0, 1.0]];
    assert!(matches!(Similarity::fit(from.view(), nan.view(), None, false), Err(Error::BadCell { row: 1, .. })));
}
