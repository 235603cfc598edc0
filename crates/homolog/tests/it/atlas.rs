//! Laws of the atlas: its scores are the log-likelihoods, its features obey the identity law, its proofs hold, and specimens generated
//! from a known shape get their names back, wherever they lie.

use crate::made_specimens;

use homolog::Error;
use homolog::atlas::{Atlas, AtlasSettings, Pose, Presence, Search};
use homolog::experiment::{Tally, Truth, names_of};
use homolog::geometry::Similarity;
use homolog::graph::{Attributes, Graph};
use homolog::matching::{BruteForce, Constraint, Matcher, Matching, Status, Workspace};
use made_specimens::{Maker, refs};
use ndarray::{Array1, Array2, array};
use rand::RngExt;

fn settings(pose: Pose, presence: Presence) -> AtlasSettings {
    AtlasSettings { pose: Some(pose), presence: Some(presence), ..AtlasSettings::default() }
}

/// log N(x; mean, covariance) without (d/2) log 2π, by Gaussian elimination.
fn log_density(x: &Array1<f64>, mean: &[f64], covariance: &Array2<f64>) -> f64 {
    let d = mean.len();
    let off = x - &Array1::from_vec(mean.to_vec());
    let mut rows: Vec<Vec<f64>> = (0..d).map(|p| covariance.row(p).iter().copied().chain([off[p]]).collect()).collect();
    let mut log_det = 0.0;
    for p in 0..d {
        log_det += rows[p][p].ln();
        for q in 0..d {
            if q != p {
                let factor = rows[q][p] / rows[p][p];
                (p..=d).for_each(|c| rows[q][c] -= factor * rows[p][c]);
            }
        }
    }
    let square: f64 = (0..d).map(|p| off[p] * rows[p][d] / rows[p][p]).sum();
    -0.5 * (square + log_det)
}

#[test]
fn scores_are_log_likelihood_ratios_and_the_features_keep_their_law() {
    for (dimension, presence) in [(2, Presence::Complete), (2, Presence::Partial), (3, Presence::Partial)] {
        let mut maker = Maker::new(7, dimension, 6);
        let specimens = maker.specimens(5);
        let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::AsGiven, presence)).unwrap();
        let specimen = maker.specimen();
        let frame = Similarity::identity(dimension);
        let instance = atlas.instance(&specimen, &frame).unwrap();
        let matching =
            Matching::new(vec![Some(2), Some(1), None, Some(0), Some(5), Some(4)], 6, Constraint::OneToOne).unwrap();
        let problem = instance.compatibility(&atlas.start_weights()).unwrap();
        let points = specimen.points().unwrap();
        let background = |x: &Array1<f64>, mean: &[f64]| match presence {
            Presence::Auto | Presence::Complete => 0.0,
            Presence::Partial => log_density(x, mean, &atlas.background.covariance()),
        };
        let mut expected = 0.0;
        for (i, k) in matching.pairs() {
            let (x, position) = (points.row(k).to_owned(), &atlas.landmarks[i].position);
            expected +=
                log_density(&x, &position.mean, &position.covariance()) - background(&x, &atlas.background.mean);
        }
        for edge in &atlas.edges {
            if let [Some(k), Some(l)] = edge.ends.map(|end| matching.right_of(end)) {
                let x = &points.row(l) - &points.row(k);
                let own = log_density(&x, &edge.displacement.mean, &edge.displacement.covariance());
                expected += 2.0 * (own - background(&x, &vec![0.0; dimension]));
            }
        }
        let score = problem.score(&matching).unwrap();
        assert!((score - expected).abs() < 1e-7 * expected.abs(), "{score} is not {expected}");
        let weights = [1.7, 0.3, -2.0];
        let law: f64 = instance.joint_features(&matching).unwrap().iter().zip(weights).map(|(f, w)| f * w).sum();
        let score = instance.compatibility(&weights).unwrap().score(&matching).unwrap();
        assert!((score - law).abs() < 1e-8 * law.abs(), "{score} is not {law}");
    }
}

#[test]
fn specimens_are_named_as_they_were_made_in_every_pose() {
    for (dimension, count) in [(2, 12), (3, 10)] {
        for (pose, turned, mirrored) in
            [(Pose::AsGiven, false, false), (Pose::Rotated, true, false), (Pose::Any, true, true)]
        {
            let mut maker = Maker::new(3, dimension, count);
            let specimens = maker.specimens(6);
            let atlas = Atlas::learn(&refs(&specimens), &settings(pose, Presence::Complete)).unwrap();
            for _ in 0..3 {
                let specimen = maker.moved(turned, mirrored);
                let naming = atlas.name(&specimen, &mut Workspace::new()).unwrap();
                let names: Vec<&str> = names_of(&atlas, &naming).into_iter().flatten().collect();
                assert_eq!(names, specimen.names().unwrap(), "{dimension} {pose:?}");
                assert_eq!(naming.status, Status::Optimal);
                assert_eq!(naming.frame.is_mirrored(), mirrored);
            }
        }
    }
}

#[test]
fn missing_landmarks_and_foreign_points_are_left_out() {
    let mut maker = Maker::new(5, 2, 14);
    let specimens = maker.specimens(8);
    let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::AsGiven, Presence::Partial)).unwrap();
    let mut tally = Tally::default();
    for _ in 0..6 {
        let (specimen, truth) = maker.spoiled(3);
        let naming = atlas.name_with(&specimen, &atlas.start_weights(), Search::Quick, &mut Workspace::new()).unwrap();
        tally = tally.plus(Tally::of(&names_of(&atlas, &naming), &truth));
    }
    assert!(tally.f1() > 0.9, "{tally:?}");
    assert!(tally.given < 6 * 14, "everything got a name");
    // If the number of points is not that of the landmarks, a specimen is never complete, whatever the atlas expects.
    let complete = Atlas::learn(&refs(&specimens), &AtlasSettings::default()).unwrap();
    assert_eq!(complete.presence, Presence::Auto);
    let first: Vec<usize> = (0..9).collect();
    let few = Graph::from_points(specimens[0].points().unwrap().select(ndarray::Axis(0), &first)).unwrap();
    let naming = complete.name(&few, &mut Workspace::new()).unwrap();
    let correct = (0..9).filter(|&k| naming.matching.left_of(k) == Some(k)).count();
    assert!(correct >= 8, "{correct} of 9");
}

#[test]
fn the_order_of_the_points_does_not_matter() {
    let mut maker = Maker::new(11, 2, 9);
    let specimens = maker.specimens(4);
    let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::Rotated, Presence::Complete)).unwrap();
    let specimen = maker.specimen();
    let order = [3, 8, 0, 1, 7, 2, 6, 5, 4];
    let one = atlas.name(&specimen, &mut Workspace::new()).unwrap();
    let other = atlas.name(&specimen.renumbered(&order).unwrap(), &mut Workspace::new()).unwrap();
    let carried: Vec<Option<usize>> = other.matching.left_to_right().iter().map(|k| k.map(|k| order[k])).collect();
    assert_eq!(carried, one.matching.left_to_right());
    assert!((one.score - other.score).abs() < 1e-6 * one.score.abs());
}

#[test]
fn a_proof_is_one_and_margins_are_attained() {
    for presence in [Presence::Complete, Presence::Partial] {
        let mut maker = Maker::new(13, 2, 5);
        let specimens = maker.noisy_specimens(4, 0.4);
        let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::AsGiven, presence)).unwrap();
        for specimen in maker.noisy_specimens(10, 0.4) {
            let naming = atlas.name(&specimen, &mut Workspace::new()).unwrap();
            let instance = atlas.instance(&specimen, &naming.frame).unwrap();
            let mut problem = instance.compatibility(&atlas.start_weights()).unwrap();
            if presence == Presence::Complete {
                problem.unmatched = None;
            }
            let best = BruteForce::default().solve(&problem).unwrap();
            assert_eq!(naming.status, Status::Optimal);
            if presence == Presence::Complete {
                let shares: f64 = naming.calls.iter().map(|call| call.share).sum();
                assert!((shares - naming.score).abs() < 1e-8 * (1.0 + naming.score.abs()));
            }
            assert!((naming.score - best.score).abs() < 1e-8 * (1.0 + best.score.abs()));
            for call in &naming.calls {
                let mut without = problem.clone();
                without.node[[call.landmark, call.point]] = f64::NEG_INFINITY;
                let second = BruteForce::default().solve(&without).unwrap();
                assert!(call.margin >= naming.score - second.score - 1e-7 * (1.0 + best.score.abs()));
            }
        }
    }
}

#[test]
fn two_unnamed_specimens_are_joined_by_their_names() {
    let mut maker = Maker::new(17, 2, 10);
    let specimens = maker.specimens(5);
    let atlas = Atlas::learn(&refs(&specimens), &AtlasSettings::default()).unwrap();
    let left = maker.specimen();
    let order: Vec<usize> = (0..10).rev().collect();
    let right = maker.specimen().renumbered(&order).unwrap();
    let mut work = Workspace::new();
    let joined = atlas.name(&left, &mut work).unwrap().join(&atlas.name(&right, &mut work).unwrap()).unwrap();
    assert_eq!(joined.left_to_right(), order.iter().map(|&k| Some(k)).collect::<Vec<_>>());
}

#[test]
fn attributes_tell_apart_what_positions_cannot() {
    // Two points of different sizes that swap places from specimen to specimen.
    let mut maker = Maker::new(19, 2, 6);
    let with_sizes = |graph: Graph, maker: &mut Maker| {
        let sizes =
            Array2::from_shape_fn((6, 1), |(i, _)| 1000.0 * (i as f64 + 0.1 * maker.random().random_range(-1.0..1.0)));
        graph.with_node_attributes(Attributes::new(vec!["size".to_string()], sizes).unwrap()).unwrap()
    };
    let specimens: Vec<Graph> =
        maker.noisy_specimens(8, 0.8).into_iter().map(|graph| with_sizes(graph, &mut maker)).collect();
    let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::AsGiven, Presence::Complete)).unwrap();
    assert_eq!(
        atlas.features().names(),
        ["attributes position", "attributes attribute size", "edge displacement", "unmatched"]
    );
    for specimen in maker.noisy_specimens(5, 0.8) {
        let specimen = with_sizes(specimen, &mut maker);
        let naming = atlas.name(&specimen, &mut Workspace::new()).unwrap();
        assert_eq!(naming.matching, Matching::identity(6));
        let bare = Graph::from_points(specimen.points().unwrap().to_owned()).unwrap();
        assert!(matches!(atlas.name(&bare, &mut Workspace::new()), Err(Error::NoAttribute { .. })));
    }
}

#[test]
fn confidences_come_from_leaving_specimens_out() {
    let mut maker = Maker::new(23, 2, 8);
    let specimens = maker.noisy_specimens(10, 0.35);
    let atlas = Atlas::learn(&refs(&specimens), &AtlasSettings::default()).unwrap();
    let weights = atlas.start_weights();
    let (settings, control) = (AtlasSettings::default(), homolog::Control::new());
    let atlas = atlas.calibrated(&refs(&specimens), &settings, &weights, &control).unwrap();
    let calibration = atlas.calibration.unwrap();
    assert!(calibration.names == 80 && calibration.right > 20 && calibration.slope >= 0.0, "{calibration:?}");
    let naming = atlas.name(&maker.specimen(), &mut Workspace::new()).unwrap();
    assert!(naming.calls.iter().all(|call| call.confidence.is_some_and(|c| (0.0..=1.0).contains(&c))));
    let alone = Atlas::learn(&[&specimens[0]], &AtlasSettings::default()).unwrap();
    let alone = alone.calibrated(&[&specimens[0]], &settings, &weights, &control).unwrap();
    assert_eq!(alone.calibration, None);
}

fn named(points: Array2<f64>, names: &[&str]) -> Graph {
    Graph::from_points(points).unwrap().with_names(names.iter().map(ToString::to_string).collect()).unwrap()
}

fn triangle() -> Graph {
    named(array![[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]], &["a", "b", "c"])
}

/// Learns with the usual settings, and checks that the atlas is valid.
fn learned(graphs: &[Graph]) -> Atlas {
    let atlas = Atlas::learn(&refs(graphs), &AtlasSettings::default()).unwrap();
    atlas.check().unwrap();
    atlas
}

fn name(atlas: &Atlas, specimen: &Graph) -> Matching {
    let naming = atlas.name(specimen, &mut Workspace::new()).unwrap();
    assert!(naming.score.is_finite() && naming.frame.shift.iter().all(|x| x.is_finite()));
    naming.matching
}

#[test]
fn specimens_that_cannot_be_learned_from_are_refused_with_the_reason() {
    let learn = |graphs: &[Graph]| Atlas::learn(&refs(graphs), &AtlasSettings::default());
    assert_eq!(learn(&[]), Err(Error::NoExamples));
    assert!(matches!(learn(&[Graph::new(3)]), Err(Error::Missing { what: "points", .. })));
    assert!(matches!(learn(&[named(array![[0.0, 0.0]], &[""])]), Err(Error::Missing { what: "names", .. })));
    let space = named(array![[0.0, 0.0, 1.0]], &["a"]);
    assert!(matches!(learn(&[triangle(), space.clone()]), Err(Error::Size { .. })));
    assert!(matches!(learned(&[triangle()]).name(&space, &mut Workspace::new()), Err(Error::Size { .. })));
}

#[test]
fn one_specimen_is_enough() {
    let atlas = learned(&[triangle()]);
    assert_eq!(name(&atlas, &triangle()), Matching::identity(3));
    let larger = named(triangle().points().unwrap().mapv(|x| 3.0 * x + 5.0), &["a", "b", "c"]);
    assert_eq!(name(&atlas, &larger), Matching::identity(3));
}

#[test]
fn specimens_that_are_all_equal_vary_all_the_same() {
    let atlas = learned(&vec![triangle(); 4]);
    assert_eq!(name(&atlas, &triangle()), Matching::identity(3));
    let spread = atlas.landmarks[0].position.covariance();
    assert!(spread[[0, 0]] > 0.0 && spread[[1, 1]] > 0.0);
}

#[test]
fn a_landmark_in_a_single_specimen_is_known() {
    let more = named(array![[0.1, 0.0], [4.0, 0.1], [1.0, 2.9], [5.0, 4.0]], &["a", "b", "c", "d"]);
    let atlas = learned(&[triangle(), triangle(), more.clone()]);
    assert_eq!((atlas.landmarks.len(), atlas.presence), (4, Presence::Partial));
    assert_eq!(atlas.landmarks[3].position.specimens, 1);
    assert_eq!(name(&atlas, &more), Matching::identity(4));
    assert_eq!(name(&atlas, &triangle()).matched_count(), 3);
}

#[test]
fn points_on_a_line_or_in_one_place_are_named() {
    let line = array![[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]];
    let graphs = [named(line.clone(), &["a", "b", "c"]), named(line * 2.0, &["a", "b", "c"])];
    assert_eq!(name(&learned(&graphs), &graphs[0]), Matching::identity(3));
    let place = named(array![[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]], &["a", "b", "c"]);
    assert_eq!(name(&learned(&[place.clone(), place.clone()]), &place).matched_count(), 3);
    // Nothing in one place looks like a triangle; it is named if that is forced.
    let atlas = learned(&[triangle()]);
    assert_eq!(name(&atlas, &place).matched_count(), 0);
    let work = &mut Workspace::new();
    let forced = atlas.name_as(&place, Presence::Complete, &atlas.start_weights(), Search::Quick, work).unwrap();
    assert_eq!(forced.matching.matched_count(), 3);
    for pose in [Pose::Rotated, Pose::Any] {
        let atlas = Atlas::learn(&[&graphs[0], &graphs[1]], &settings(pose, Presence::Partial)).unwrap();
        name(&atlas, &place);
    }
}

#[test]
fn more_names_than_points_and_no_points_at_all_are_answered() {
    for atlas in [learned(&[triangle()]), learned(&vec![triangle(); 4])] {
        let two = name(&atlas, &Graph::from_points(array![[0.0, 0.0], [4.0, 0.0]]).unwrap());
        assert_eq!((two.left_count(), two.right_count()), (3, 2));
        assert_eq!(name(&atlas, &Graph::from_points(array![[1.0, 1.0]]).unwrap()).right_count(), 1);
        assert_eq!(name(&atlas, &Graph::from_points(Array2::zeros((0, 2))).unwrap()).matched_count(), 0);
    }
}

#[test]
fn names_that_never_occur_together_make_an_atlas() {
    let parts = [
        named(array![[0.0, 0.0], [1.0, 0.0]], &["a", "b"]),
        named(array![[0.0, 1.0], [1.0, 5.0], [2.0, 0.0]], &["c", "d", ""]),
    ];
    let atlas = learned(&parts);
    assert_eq!((atlas.landmarks.len(), atlas.presence), (4, Presence::Partial));
    assert_eq!(name(&atlas, &parts[1]).right_count(), 3);
}

#[test]
fn an_atlas_is_data_that_comes_back_bit_for_bit_and_is_checked() {
    let mut maker = Maker::new(29, 3, 7);
    let atlas = Atlas::learn(&refs(&maker.specimens(3)), &AtlasSettings::default()).unwrap();
    let text = serde_json::to_string_pretty(&atlas).unwrap();
    assert_eq!(serde_json::from_str::<Atlas>(&text).unwrap(), atlas);
    let spoil = |change: &dyn Fn(&mut Atlas)| {
        let mut spoiled = atlas.clone();
        change(&mut spoiled);
        spoiled.check()
    };
    assert!(spoil(&|_| ()).is_ok());
    assert!(spoil(&|atlas| atlas.version = 99).is_err());
    assert!(spoil(&|atlas| atlas.dimension = 4).is_err());
    assert!(spoil(&|atlas| atlas.landmarks[1].name = atlas.landmarks[0].name.clone()).is_err());
    assert!(spoil(&|atlas| atlas.landmarks[1].position.precision[0] = -1.0).is_err());
    assert!(spoil(&|atlas| atlas.edges[0].ends = [0, 70]).is_err());
    assert!(spoil(&|atlas| atlas.edges[0].displacement.mean[0] = f64::NAN).is_err());
    assert!(spoil(&|atlas| atlas.background.precision.clear()).is_err());
}

#[test]
fn how_specimens_lie_and_what_they_lack_is_found_from_them() {
    let mut maker = Maker::new(31, 2, 8);
    let alike = maker.specimens(5);
    let atlas = Atlas::learn(&refs(&alike), &AtlasSettings::default()).unwrap();
    assert_eq!((atlas.pose, atlas.presence), (Pose::AsGiven, Presence::Auto));
    assert!(
        Atlas::suits(&refs(&alike))
            && !Atlas::suits(&refs(&alike[..2]))
            && !Atlas::suits(&[&alike[0], &alike[1], &Graph::new(2)])
    );
    let turned: Vec<Graph> = (0..5).map(|_| maker.moved(true, false)).collect();
    assert_eq!(Atlas::learn(&refs(&turned), &AtlasSettings::default()).unwrap().pose, Pose::Rotated);
    let truth = [Truth::Name("a".to_string()), Truth::Nobody, Truth::Unknown, Truth::Name("b".to_string())];
    let tally = Tally::of(&[Some("a"), Some("c"), Some("d"), None], &truth);
    assert_eq!(tally, Tally { named: 2, correct: 1, given: 2 });
    assert_eq!((tally.found(), tally.precision(), tally.f1()), (0.5, 0.5, 0.5));
}

#[test]
fn more_points_than_can_be_compared_are_refused() {
    let mut maker = Maker::new(8, 2, 6);
    let atlas = Atlas::learn(&refs(&maker.specimens(5)), &settings(Pose::AsGiven, Presence::Partial)).unwrap();
    let crowd = Graph::from_points(Array2::from_shape_fn((2501, 2), |(i, axis)| (i * (axis + 1)) as f64)).unwrap();
    let refused = atlas.name(&crowd, &mut Workspace::new()).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { limit: 2500, found: 2501, .. }), "{refused}");
}

#[test]
fn a_time_limit_cuts_short_the_proof_and_not_the_search() {
    let mut maker = Maker::new(53, 2, 12);
    let specimens: Vec<Graph> = (0..6).map(|_| maker.moved(true, false)).collect();
    let atlas = Atlas::learn(&refs(&specimens), &settings(Pose::Rotated, Presence::Partial)).unwrap();
    for _ in 0..4 {
        let specimen = maker.moved(true, false);
        let over = homolog::Control::new().interrupted_by(|| true);
        let hurried = atlas.name(&specimen, &mut Workspace::with_control(&over)).unwrap();
        let quick = atlas.name_with(&specimen, &atlas.start_weights(), Search::Quick, &mut Workspace::new()).unwrap();
        assert_eq!(hurried.matching, quick.matching);
    }
}
