//! The built-in turntable sequence: the same bytes every time, in the picture, and as hard for unlearned matching as the house data.

use homolog::data::turntable::Turntable;
use homolog::features::{NodeDescriptor, ShapeContext};
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Linear, Matcher, Workspace};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn settings_and_seed_fix_every_label() {
    let labels = Turntable::default().landmarks().unwrap();
    assert_eq!(labels, Turntable::default().landmarks().unwrap());
    // A frame's labels depend on its number and angle, not on how many others there are.
    let first = Turntable { frames: 1, ..Turntable::default() }.landmarks().unwrap();
    assert_eq!(labels[0], first[0]);

    let other = Turntable { seed: 2, ..Turntable::default() }.landmarks().unwrap();
    let moved: Vec<f64> = labels.iter().zip(&other).flat_map(|(a, b)| a - b).collect();
    assert!(moved.iter().filter(|&&change| change == 0.0).count() < 5);
    // The difference of two independent errors of 1 pixel has variance 2.
    let variance = moved.iter().map(|change| change * change).sum::<f64>() / moved.len() as f64;
    assert!((variance - 2.0).abs() < 0.15, "{variance}");
}

/// Numbers in documents and reports come from this sequence, so any change to it must be intended.
#[test]
fn the_sequence_is_the_published_one() {
    let labels = Turntable::default().landmarks().unwrap();
    let text = labels.iter().flatten().map(|value| format!("{value:.5}")).collect::<Vec<String>>().join(" ") + " ";
    let digest = text.bytes().fold(0_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(digest, 0xfed6_828d_b6fb_fa27, "{digest:#x}");
}

#[test]
fn thirty_landmarks_in_the_picture_in_every_frame() {
    let labels = Turntable::default().landmarks().unwrap();
    assert_eq!(labels.len(), 111);
    assert_eq!(Turntable::names().len(), 30);
    for frame in &labels {
        assert_eq!(frame.dim(), (30, 2));
        assert!(frame.outer_iter().all(|p| (5.0..571.0).contains(&p[0]) && (5.0..379.0).contains(&p[1])));
    }
}

#[test]
fn pictures_show_a_building_and_are_the_same_every_time() {
    let picture = Turntable::default().render(40).unwrap();
    assert_eq!(picture, Turntable::default().render(40).unwrap());
    assert_eq!(picture, Turntable { seed: 9, ..Turntable::default() }.render(40).unwrap());
    assert_ne!(picture, Turntable::default().render(41).unwrap());
    assert_eq!((picture.width, picture.height, picture.pixels.len()), (576, 384, 576 * 384));
    let greys: std::collections::BTreeSet<u8> = picture.pixels.iter().copied().collect();
    assert!(greys.len() > 30 && *greys.last().unwrap() > 180, "{}", greys.len());
}

#[test]
fn unlearned_matching_fails_as_on_the_house_data() {
    // The authors' program on the house data, linear matching without learning, baselines 0, 10, ..., 90.
    let house = [0.0, 0.002, 0.009, 0.017, 0.052, 0.160, 0.310, 0.354, 0.417, 0.500];
    for seed in 1..4 {
        let losses = unlearned_losses(&Turntable { seed, ..Turntable::default() }.landmarks().unwrap());
        println!("seed {seed}: {losses:.3?}");
        assert_eq!(losses[0], 0.0);
        assert!(losses[1] < 0.05 && losses[9] > 0.3);
        for (ours, theirs) in losses.iter().zip(house) {
            assert!((ours - theirs).abs() < 0.1, "{losses:.3?}");
        }
    }
}

/// Mean loss of unlearned linear matching on the test pairs of the paper's protocol, at baselines 0, 10, ..., 90.
fn unlearned_losses(labels: &[Array2<f64>]) -> Vec<f64> {
    let contexts: Vec<Array2<f64>> = labels.iter().map(shape_contexts).collect();
    let mut work = Workspace::new();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut losses = Vec::new();
    for baseline in (0..100).step_by(10) {
        let pairs: Vec<usize> = (0..labels.len() - baseline).filter(|i| i % 3 == 2).collect();
        let total: f64 =
            pairs.iter().map(|&i| loss(&contexts[i], &contexts[i + baseline], &mut random, &mut work)).sum();
        losses.push(total / pairs.len() as f64);
    }
    losses
}

/// The truth is the identity; the right side is shuffled so that a solver cannot find it by doing nothing.
fn loss(left: &Array2<f64>, right: &Array2<f64>, random: &mut ChaCha8Rng, work: &mut Workspace) -> f64 {
    let n = left.nrows();
    let mut order: Vec<usize> = (0..n).collect();
    for k in (1..n).rev() {
        order.swap(k, random.random_range(0..=k));
    }
    let score = |i: usize, k: usize| -(&left.row(i) - &right.row(order[k])).mapv(|d| d * d).sum() / n as f64;
    let problem = Compatibility::linear(Array2::from_shape_fn((n, n), |(i, k)| score(i, k)));
    let matching = Linear::default().solve_with(&problem, work).expect("a plain problem").matching;
    let wrong = matching.left_to_right().iter().enumerate().filter(|&(i, k)| k.map(|k| order[k]) != Some(i)).count();
    wrong as f64 / n as f64
}

fn shape_contexts(points: &Array2<f64>) -> Array2<f64> {
    let graph = Graph::from_points(points.clone()).expect("finite points");
    ShapeContext::paper().describe(&graph).expect("a graph with points")
}
