//! Corners of drawn and real images: where they must be, where there must be none, and compared with plain code.

use crate::common;
use crate::drawing;

use common::{data_folder, rng};
use drawing::Picture;
use homolog::geometry::{Corners, GreyImage, Susan};
use ndarray::Array2;
use rand::RngExt;
use std::f64::consts::PI;

fn detect(picture: &Picture) -> Corners {
    Susan::default().detect(picture.grey()).unwrap()
}

/// Every known corner is found within 1.5 px, and nothing else is.
fn assert_corners(corners: &Corners, known: &[[f64; 2]], what: &str) {
    let near = |a: &[f64; 2], x: f64, y: f64| (a[0] - x).hypot(a[1] - y) <= 1.5;
    for point in known {
        let found = corners.points.rows().into_iter().filter(|row| near(point, row[0], row[1])).count();
        assert!(found >= 1, "{what}: nothing at {point:?} in {}", corners.points);
    }
    for row in corners.points.rows() {
        assert!(known.iter().any(|point| near(point, row[0], row[1])), "{what}: a corner at {row} that is none");
    }
}

#[test]
fn squares_in_every_position() {
    for turn in 0..18 {
        for (ground, ink) in [(40, 200), (220, 130), (255, 0)] {
            let angle = f64::from(turn) * PI / 36.0 + 0.01;
            let corner = |k: i32| {
                let (sin, cos) = (angle + f64::from(k) * PI / 2.0).sin_cos();
                [50.3 + 24.0 * cos, 49.6 + 24.0 * sin]
            };
            let known: Vec<[f64; 2]> = (0..4).map(corner).collect();
            let mut picture = Picture::flat(100, 100, ground);
            picture.fill(&known, ink);
            assert_corners(&detect(&picture), &known, &format!("square at {angle}, {ground} and {ink}"));
        }
    }
}

#[test]
fn stars_have_their_tips_and_notches() {
    for (tips, notch) in [(5, 20.0), (6, 22.0), (7, 28.0)] {
        for shift in [0.0, 0.25, 0.5] {
            let corner = |k: i32| {
                let (sin, cos) = (f64::from(k) * PI / f64::from(tips) + 0.2).sin_cos();
                let radius = if k % 2 == 0 { 48.0 } else { notch };
                [60.0 + shift + radius * cos, 60.0 - shift + radius * sin]
            };
            let known: Vec<[f64; 2]> = (0..2 * tips).map(corner).collect();
            let mut picture = Picture::flat(120, 120, 30);
            picture.fill(&known, 180);
            assert_corners(&detect(&picture), &known, &format!("star of {tips} moved by {shift}"));
        }
    }
}

#[test]
fn chessboards_have_their_crossings() {
    for shift in [0.0, 0.25, 0.75] {
        let (side, cells) = (12.0, 6_i32);
        let line = |k: i32| 8.0 + shift + side * f64::from(k);
        let mut picture = Picture::flat(88, 88, 40);
        for (row, column) in (0..cells * cells).map(|at| (at / cells, at % cells)).filter(|(r, c)| (r + c) % 2 == 0) {
            let (x, y) = (line(column), line(row));
            picture.fill(&[[x, y], [x + side, y], [x + side, y + side], [x, y + side]], 210);
        }
        // All crossings inside, and on the border those that are corners of a filled square.
        let filled = |r: i32, c: i32| (0..cells).contains(&r) && (0..cells).contains(&c) && (r + c) % 2 == 0;
        let is_crossing = |r: i32, c: i32| [(r, c), (r - 1, c), (r, c - 1), (r - 1, c - 1)].map(|(r, c)| filled(r, c));
        let places = (0..=cells).flat_map(|r| (0..=cells).map(move |c| (r, c)));
        let known: Vec<[f64; 2]> =
            places.filter(|&(r, c)| is_crossing(r, c).contains(&true)).map(|(r, c)| [line(c), line(r)]).collect();
        let corners = detect(&picture);
        assert_corners(&corners, &known, &format!("chessboard moved by {shift}"));
        assert_eq!(known.len(), 47);
    }
}

#[test]
fn nothing_on_flat_noisy_and_straight() {
    let mut rng = rng(1);
    let flat = Picture::flat(64, 48, 128);
    assert_eq!(detect(&flat).count(), 0);
    assert_eq!(Susan::default().at_most(200, flat.grey()).unwrap().count(), 0);
    for noise in [1, 4, 6] {
        let mut picture = Picture::flat(128, 128, 128);
        picture.pixels.iter_mut().for_each(|pixel| *pixel = rng.random_range(128 - noise..=128 + noise));
        assert_eq!(detect(&picture).count(), 0, "noise of {noise}");
    }
    for case in 0..100 {
        let (angle, offset) = (rng.random_range(0.0..PI), rng.random_range(-15.0..15.0));
        let (ground, ink) = (rng.random_range(0..=255), rng.random_range(0..=255));
        let (sin, cos) = angle.sin_cos();
        let along = |t: f64, s: f64| [40.0 + (offset + s) * cos - t * sin, 40.0 + (offset + s) * sin + t * cos];
        let mut picture = Picture::flat(80, 80, ground);
        picture.fill(&[along(-200.0, 0.0), along(200.0, 0.0), along(200.0, 400.0), along(-200.0, 400.0)], ink);
        for blur in 0..3 {
            let corners = detect(&picture);
            assert_eq!(
                corners.count(),
                0,
                "edge {case} at {angle}, {ground} to {ink}, blurred {blur} times: {corners:?}"
            );
            picture.blur();
        }
    }
}

#[test]
fn turning_the_image_turns_the_corners() {
    let mut rng = rng(2);
    for case in 0..20 {
        let picture = Picture::random(&mut rng, 70 + case, 50);
        let turned = picture.turned();
        let (upright, lying) = (detect(&picture), detect(&turned));
        // Column x and row y go to column height - 1 - y and row x.
        let expected: Vec<(f64, f64, u16)> = sorted(
            upright
                .points
                .rows()
                .into_iter()
                .zip(&upright.responses)
                .map(|(point, &response)| (picture.height as f64 - 1.0 - point[1], point[0], response)),
        );
        let found = lying.points.rows().into_iter().zip(&lying.responses).map(|(point, &r)| (point[0], point[1], r));
        let found = sorted(found);
        assert_eq!(found.len(), expected.len());
        assert!(!found.is_empty());
        for (a, b) in found.iter().zip(&expected) {
            assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9 && a.2 == b.2, "{a:?} and {b:?}");
        }
    }
}

fn sorted(corners: impl Iterator<Item = (f64, f64, u16)>) -> Vec<(f64, f64, u16)> {
    // Rounded, since a third of a pixel counted from the other side differs in its last digit.
    let key = |c: &(f64, f64, u16)| ((c.1 * 1e6).round() as i64, (c.0 * 1e6).round() as i64);
    let mut corners: Vec<_> = corners.collect();
    corners.sort_by_key(key);
    corners
}

#[test]
fn the_same_as_by_the_formulas() {
    let mut rng = rng(3);
    for _ in 0..12 {
        let picture = Picture::random(&mut rng, 40, 33);
        for brightness in [1, 5, 20, 60, 255] {
            let susan = Susan { brightness, refine: false, geometric: 0.5, ..Susan::default() };
            let corners = susan.detect(picture.grey()).unwrap();
            assert_eq!(corners.points, plain(&picture, brightness), "brightness {brightness}");
        }
    }
}

/// SUSAN pixel by pixel, without tables or shortcuts.
fn plain(picture: &Picture, brightness: u8) -> Array2<f64> {
    let (width, height) = (picture.width as i32, picture.height as i32);
    let level = |x: i32, y: i32| f64::from(picture.pixels[(y * width + x) as usize]);
    let alike = |x: i32, y: i32, dx: i32, dy: i32| {
        let share = (level(x, y) - level(x + dx, y + dy)) / f64::from(brightness);
        (100.0 * (-share.powi(6)).exp()).round()
    };
    // The circle of radius 3.4 has 37 pixels.
    let mask: Vec<(i32, i32)> =
        (-3..=3).flat_map(|dy| (-3..=3).map(move |dx| (dx, dy))).filter(|(x, y)| x * x + y * y <= 11).collect();
    assert_eq!(mask.len(), 37);
    let response = |x: i32, y: i32| {
        if !(3..width - 3).contains(&x) || !(3..height - 3).contains(&y) {
            return 0.0;
        }
        let sum = |weight: fn(i32, i32) -> i32| {
            mask.iter().map(|&(dx, dy)| f64::from(weight(dx, dy)) * alike(x, y, dx, dy)).sum::<f64>()
        };
        let (n, right, down) = (sum(|_, _| 1), sum(|dx, _| dx), sum(|_, dy| dy));
        let unlike = |sign: f64| {
            let side = |&&(dx, dy): &&(i32, i32)| (level(x + dx, y + dy) - level(x, y)) * sign > 0.0;
            mask.iter().filter(side).map(|&(dx, dy)| 100.0 - alike(x, y, dx, dy)).sum::<f64>()
        };
        let (brighter, darker) = (unlike(1.0), unlike(-1.0));
        if brighter.min(darker) / brighter.max(darker) > 0.5 {
            return 0.0;
        }
        if n >= 1850.0 || right.hypot(down) / n <= 0.5_f64.sqrt() {
            return 0.0;
        }
        let longer = right.abs().max(down.abs());
        let at = |step: f64, part: f64| (step * part / longer).round() as i32;
        let way: f64 = [1.0, 2.0, 3.0].iter().map(|&step| alike(x, y, at(step, right), at(step, down))).sum();
        if way > 290.0 { 1850.0 - n } else { 0.0 }
    };
    let map: Vec<f64> = (0..width * height).map(|at| response(at % width, at / width)).collect();
    let mut found = Vec::new();
    for (y, x) in (3..height - 3).flat_map(|y| (3..width - 3).map(move |x| (y, x))) {
        let own = map[(y * width + x) as usize];
        let around: Vec<(i32, i32, f64)> = (-3..=3)
            .flat_map(|dy| (-3..=3).map(move |dx| (x + dx, y + dy)))
            .map(|(x, y)| (x, y, map[(y * width + x) as usize]))
            .collect();
        if own > 0.0 && around.iter().all(|other| other.2 <= own) {
            let equal: Vec<_> = around.iter().filter(|other| other.2 == own).collect();
            let mean = |part: fn(&(i32, i32, f64)) -> i32| {
                f64::from(equal.iter().map(|&e| part(e)).sum::<i32>()) / equal.len() as f64
            };
            found.push((mean(|e| e.1), mean(|e| e.0)));
        }
    }
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    found.dedup();
    Array2::from_shape_fn((found.len(), 2), |(row, axis)| [found[row].1, found[row].0][axis])
}

#[test]
fn at_most_is_the_threshold_where_the_count_passes() {
    let mut rng = rng(4);
    for most in [0, 1, 5, 20, 100, 10_000] {
        let picture = Picture::random(&mut rng, 120, 90);
        let corners = Susan::default().at_most(most, picture.grey()).unwrap();
        let at = |brightness| Susan { brightness, ..Susan::default() }.detect(picture.grey()).unwrap();
        assert_eq!(corners, at(corners.brightness));
        assert!(corners.count() <= most);
        // 4 is the least that is tried.
        assert!(corners.brightness == 4 || at(corners.brightness - 1).count() > most);
    }
    // Black on white at random: many corners at most thresholds, and none at 255 whatever the settings.
    let mut picture = Picture::flat(80, 80, 0);
    picture.pixels.iter_mut().for_each(|pixel| *pixel = 255 * u8::from(rng.random_bool(0.5)));
    let susan = Susan { geometric: 1.0, ..Susan::default() };
    assert!(susan.at_most(3, picture.grey()).unwrap().count() <= 3);
    assert_eq!(Susan { brightness: 255, ..susan }.detect(picture.grey()).unwrap().count(), 0);
}

#[test]
fn small_images_and_bad_settings() {
    for (width, height) in [(0, 0), (1, 5), (6, 6), (7, 7), (7, 100)] {
        let pixels = vec![9; width * height];
        let image = GreyImage::new(width, height, &pixels).unwrap();
        assert_eq!(Susan::default().detect(image).unwrap().points.dim(), (0, 2));
        assert_eq!(Susan::default().at_most(3, image).unwrap().count(), 0);
    }
    assert!(GreyImage::new(3, 3, &[0; 8]).is_err());
    assert!(GreyImage::new(usize::MAX, 2, &[0; 8]).is_err());
    let image = GreyImage::new(1, 1, &[0]).unwrap();
    assert!(Susan { brightness: 0, ..Susan::default() }.detect(image).is_err());
    assert!(Susan { geometric: f64::NAN, ..Susan::default() }.at_most(1, image).is_err());
    // A single dark pixel is its own USAN, whose centre is the pixel itself: not a corner.
    let mut dot = Picture::flat(7, 7, 200);
    dot.pixels[24] = 0;
    assert_eq!(detect(&dot).count(), 0);
}

/// Real frames turn by a degree or so each: most corners are found again.
#[test]
fn house_frames_repeat_their_corners() {
    let Some(folder) = data_folder("house/images") else { return };
    let frames: Vec<Picture> =
        (0..111).step_by(10).map(|n| Picture::read_png(&folder.join(format!("house.seq{n}.png")))).collect();
    let next: Vec<Picture> =
        (1..111).step_by(10).map(|n| Picture::read_png(&folder.join(format!("house.seq{n}.png")))).collect();
    let (mut again, mut all) = (0, 0_usize);
    for (first, second) in frames.iter().zip(&next) {
        let corners = [first, second].map(|frame| Susan::default().at_most(200, frame.grey()).unwrap());
        assert!(corners.iter().all(|found| (100..=200).contains(&found.count())), "{}", corners[0].count());
        for a in corners[0].points.rows() {
            let near = |b: ndarray::ArrayView1<'_, f64>| (a[0] - b[0]).hypot(a[1] - b[1]) <= 3.0;
            all += 1;
            again += usize::from(corners[1].points.rows().into_iter().any(near));
        }
    }
    let share = again as f64 / all as f64;
    println!("house: {again} of {all} corners ({share:.3}) are found again within 3 px in the next frame");
    assert!(share > 0.7, "{share}");
}
