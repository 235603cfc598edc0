//! Complete or partial, decided for each specimen; how well it fits; how far names can be believed; the names that a point may have.

use crate::made_specimens::{Maker, refs};
use homolog::atlas::{Atlas, AtlasSettings, NameSet, Naming, Pose, Presence, Search};
use homolog::experiment::{Spoiling, Tally, names_of};
use homolog::graph::Graph;
use homolog::matching::{Constraint, Matching, Workspace};
use homolog::model::Model;
use homolog::{Control, Error};
use ndarray::Array2;
use rand::RngExt;

fn learned(specimens: &[Graph], settings: &AtlasSettings) -> Atlas {
    let (model, _) = Model::fit_atlas(&refs(specimens), settings, &Control::new()).unwrap();
    model.atlas().unwrap().clone()
}

fn named(atlas: &Atlas, specimen: &Graph, presence: Presence) -> Naming {
    atlas.name_as(specimen, presence, &atlas.start_weights(), Search::Quick, &mut Workspace::new()).unwrap()
}

#[test]
fn presence_is_decided_for_each_specimen() {
    let mut maker = Maker::new(5, 2, 14);
    let atlas = learned(&maker.specimens(8), &AtlasSettings::default());
    assert_eq!((atlas.presence, atlas.partial.as_ref().unwrap().presence), (Presence::Auto, Presence::Partial));
    let (mut auto, mut complete) = (Tally::default(), Tally::default());
    let (mut sure, mut forced_sure) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let whole = named(&atlas, &maker.specimen(), Presence::Auto);
        assert_eq!((whole.presence, whole.matching.matched_count()), (Presence::Complete, 14));
        assert!(!whole.fits_badly() && whole.fit.unwrap() > 0.7, "{:?}", whole.fit);
        let (specimen, truth) = maker.spoiled(4);
        let naming = named(&atlas, &specimen, Presence::Auto);
        assert_eq!(naming.presence, Presence::Partial);
        assert_eq!(naming, named(&atlas, &specimen, Presence::Partial));
        let forced = named(&atlas, &specimen, Presence::Complete);
        auto = auto.plus(Tally::of(&names_of(&atlas, &naming), &truth));
        complete = complete.plus(Tally::of(&names_of(&atlas, &forced), &truth));
        sure.extend(whole.calls.iter().filter_map(|call| call.confidence));
        forced_sure.extend(forced.calls.iter().filter_map(|call| call.confidence));
    }
    assert!(auto.f1() > 0.9 && complete.f1() < auto.f1() - 0.1, "{auto:?} {complete:?}");
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    assert!(mean(&sure) > 0.95 && mean(&forced_sure) < mean(&sure) - 0.2, "{} {}", mean(&sure), mean(&forced_sure));
}

#[test]
fn few_specimens_are_no_reason_to_leave_points_out() {
    let (mut left_out, mut forced) = (0, Tally::default());
    for seed in 0..12 {
        let mut maker = Maker::new(20 + seed, 2, 14);
        let atlas = learned(&maker.noisy_specimens(3, 0.03), &AtlasSettings::default());
        // New ones vary more than three show.
        let whole = maker.noisy_specimens(2, 0.06).remove(1);
        left_out += 14 - named(&atlas, &whole, Presence::Auto).matching.matched_count();
        let (specimen, truth) = maker.spoiled(4);
        forced = forced.plus(Tally::of(&names_of(&atlas, &named(&atlas, &specimen, Presence::Auto)), &truth));
    }
    assert!(left_out <= 2 && forced.f1() > 0.8, "{left_out} of 168 points left out; foreign points: {forced:?}");
}

#[test]
fn specimens_oriented_alike_only_roughly_are_found_with_points_missing() {
    let mut maker = Maker::new(31, 3, 14);
    let tilted = |graph: &Graph, degrees: f64| {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let turn = ndarray::array![[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]];
        let points = graph.points().unwrap().dot(&turn);
        let turned = Graph::from_points(points).unwrap();
        graph.names().map_or(turned.clone(), |names| turned.clone().with_names(names.to_vec()).unwrap())
    };
    let angles = [-40.0, -28.0, -10.0, 0.0, 5.0, 12.0, 27.0, 38.0];
    let specimens: Vec<Graph> = maker.specimens(8).iter().zip(angles).map(|(one, angle)| tilted(one, angle)).collect();
    let settings = AtlasSettings { pose: Some(Pose::AsGiven), ..AtlasSettings::default() };
    let atlas = learned(&specimens, &settings);
    assert_eq!((atlas.pose, atlas.partial.as_ref().unwrap().pose), (Pose::AsGiven, Pose::Tilted));
    let mut tally = Tally::default();
    for angle in [-38.0, -25.0, 0.0, 25.0, 38.0] {
        let (specimen, truth) = maker.spoiled(3);
        let naming = named(&atlas, &tilted(&specimen, angle), Presence::Auto);
        tally = tally.plus(Tally::of(&names_of(&atlas, &naming), &truth));
    }
    assert!(tally.f1() > 0.9, "{tally:?}");
}

#[test]
fn a_specimen_of_another_kind_fits_badly() {
    let mut maker = Maker::new(6, 2, 14);
    let atlas = learned(&maker.specimens(8), &AtlasSettings::default());
    let (mut bad, mut sure) = (0, 0.0);
    for _ in 0..10 {
        let noise = Array2::from_shape_fn((14, 2), |_| maker.random().random_range(-1.5..1.5));
        let naming = named(&atlas, &Graph::from_points(noise).unwrap(), Presence::Auto);
        bad += usize::from(naming.fits_badly());
        let confidences: Vec<f64> = naming.calls.iter().filter_map(|call| call.confidence).collect();
        sure += confidences.iter().sum::<f64>() / confidences.len().max(1) as f64 / 10.0;
    }
    assert!(bad >= 8 && sure < 0.5, "{bad} of 10 fit badly; confidence {sure}");
}

#[test]
fn what_another_name_costs_is_the_difference_of_two_scores() {
    for (seed, presence) in [(1, Presence::Complete), (2, Presence::Partial)] {
        let mut maker = Maker::new(seed, 2, 7);
        let settings = AtlasSettings { presence: Some(presence), ..AtlasSettings::default() };
        let atlas = Atlas::learn(&refs(&maker.noisy_specimens(6, 0.1)), &settings).unwrap();
        let specimen = if presence == Presence::Complete { maker.specimen() } else { maker.spoiled(2).0 };
        let naming = named(&atlas, &specimen, presence);
        let mut problem = atlas
            .instance_as(&specimen, &naming.frame, presence)
            .unwrap()
            .compatibility(&atlas.start_weights())
            .unwrap();
        if presence == Presence::Complete {
            problem.unmatched = None;
        }
        let score = problem.score(&naming.matching).unwrap();
        let falls = naming.falls.as_ref().unwrap();
        assert_eq!(falls.dim(), (8, 7));
        let now = naming.matching.left_to_right();
        for landmark in 0..7 {
            for point in 0..7 {
                let mut swapped = now.to_vec();
                let owner = naming.matching.left_of(point);
                swapped[landmark] = Some(point);
                let mut best = f64::INFINITY;
                let mut consider = |other: Option<Option<usize>>| {
                    let mut moved = swapped.clone();
                    if let (Some(owner), Some(place)) = (owner.filter(|&owner| owner != landmark), other) {
                        moved[owner] = place;
                    }
                    let moved = Matching::new(moved, 7, Constraint::OneToOne).unwrap();
                    if presence == Presence::Partial || moved.matched_count() == 7 {
                        best = best.min(score - problem.score(&moved).unwrap());
                    }
                };
                consider(Some(now[landmark]));
                if owner.is_some() {
                    consider(Some(None));
                }
                let found = falls[[landmark, point]];
                let same = if owner == Some(landmark) { found == 0.0 } else { (found - best).abs() < 1e-8 };
                assert!(same, "{landmark} at {point}: {found}, {best}");
            }
        }
        // No margin is larger than the cheapest alternative.
        for call in &naming.calls {
            let others = (0..8).filter(|&row| row != call.landmark).map(|row| falls[[row, call.point]]);
            assert!(call.margin <= others.fold(f64::INFINITY, f64::min) + 1e-9);
        }
    }
}

#[test]
fn name_sets_hold_the_true_name_as_often_as_asked_for() {
    let mut maker = Maker::new(23, 2, 8);
    let levels = [0.8, 0.9, 0.95];
    let (mut held, mut size) = ([0; 3], [0; 3]);
    // Coverage is an average over training sets too.
    for _ in 0..10 {
        let atlas = learned(&maker.noisy_specimens(10, 0.25), &AtlasSettings::default());
        for specimen in maker.noisy_specimens(8, 0.25) {
            let naming = named(&atlas, &specimen, Presence::Auto);
            let wider = atlas.name_sets(&naming, 0.99).unwrap();
            for (at, level) in levels.into_iter().enumerate() {
                let found = atlas.name_sets(&naming, level).unwrap();
                assert_eq!((found.specimens, found.sets.len()), (10, 8));
                assert!(found.guaranteed <= 10.0 / 11.0);
                held[at] += found.sets.iter().enumerate().filter(|(point, set)| set.names.contains(point)).count();
                size[at] += found.sets.iter().map(NameSet::len).sum::<usize>();
                // A wider level has all that a narrower one has, and the name that was given is always the first.
                let is_within =
                    |(set, wide): (&NameSet, &NameSet)| set.names.iter().all(|name| wide.names.contains(name));
                assert!(found.sets.iter().zip(&wider.sets).all(is_within));
                assert!(naming.calls.iter().all(|call| found.sets[call.point].names.first() == Some(&call.landmark)));
            }
        }
    }
    for (at, level) in levels.into_iter().enumerate() {
        let share = held[at] as f64 / 640.0;
        assert!(share >= level - 0.03 && size[at] < 8 * 640, "{level}: {share}, {} names", size[at]);
    }
    let atlas = learned(&maker.specimens(5), &AtlasSettings::default());
    let naming = named(&atlas, &maker.specimen(), Presence::Auto);
    for bad in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(matches!(atlas.name_sets(&naming, bad), Err(Error::BadSetting { name: "candidates", .. })));
    }
    let alone = learned(&maker.specimens(1), &AtlasSettings::default());
    let naming = named(&alone, &maker.specimen(), Presence::Auto);
    assert!(matches!(alone.name_sets(&naming, 0.9), Err(Error::Missing { .. })));
}

#[test]
fn an_atlas_without_a_part_for_partial_specimens_names_them_by_what_it_has() {
    let mut maker = Maker::new(9, 2, 12);
    let specimens = maker.specimens(8);
    let settings = AtlasSettings { presence: Some(Presence::Complete), ..AtlasSettings::default() };
    let mut old = learned(&specimens, &settings);
    assert!(old.partial.is_none());
    // As an older version wrote it.
    old.version = 1;
    old.coverage = None;
    if let Some(calibration) = &mut old.calibration {
        calibration.trust = None;
    }
    old.check().unwrap();
    let (specimen, truth) = maker.spoiled(3);
    assert_eq!(named(&old, &specimen, old.presence).presence, Presence::Complete);
    let naming = named(&old, &specimen, Presence::Auto);
    let tally = Tally::of(&names_of(&old, &naming), &truth);
    assert!(naming.presence == Presence::Partial && tally.f1() > 0.8, "{tally:?}");
    assert!(naming.fit.is_none() && naming.calls.iter().all(|call| call.confidence.is_some()));
    let mut mixed = learned(&specimens, &AtlasSettings::default());
    mixed.check().unwrap();
    mixed.partial.as_mut().unwrap().landmarks[0].name = "other".to_string();
    assert!(mixed.check().is_err());
}

#[test]
fn tilted_means_up_to_45_degrees() {
    let mut maker = Maker::new(12, 2, 10);
    let tilted = |specimen: &Graph, angle: f64, seed: u64| {
        Spoiling { tilted: angle, ..Spoiling::default() }.spoil(specimen, seed).unwrap().graph
    };
    let training: Vec<Graph> = maker
        .specimens(8)
        .iter()
        .enumerate()
        .map(|(at, one)| tilted(one, 0.09 * at as f64, at as u64).with_names(one.names().unwrap().to_vec()).unwrap())
        .collect();
    let settings = AtlasSettings { pose: Some(Pose::Tilted), ..AtlasSettings::default() };
    let atlas = Atlas::learn(&refs(&training), &settings).unwrap();
    assert_eq!(atlas.pose, Pose::Tilted);
    for seed in 0..6 {
        let specimen = tilted(&maker.specimen(), 0.7, seed);
        for presence in [Presence::Complete, Presence::Partial] {
            let naming = named(&atlas, &specimen, presence);
            let right = naming.matching.pairs().filter(|&(landmark, point)| landmark == point).count();
            assert!(right >= 9, "{presence:?} {seed}: {right} of 10");
            let cosine = naming.frame.rotation[[0, 0]];
            assert!(cosine.acos() < 0.9, "turned by {}", cosine.acos());
        }
        let upside_down = named(&atlas, &tilted(&maker.specimen(), std::f64::consts::PI, seed), Presence::Complete);
        assert!(upside_down.frame.rotation[[0, 0]].acos() < 0.9);
    }
}

#[test]
fn a_few_tilted_training_specimens_do_not_widen_the_others() {
    let mut maker = Maker::new(15, 2, 12);
    let mut specimens = maker.specimens(20);
    let settings =
        AtlasSettings { pose: Some(Pose::AsGiven), presence: Some(Presence::Complete), ..AtlasSettings::default() };
    let spread = |atlas: &Atlas| -> f64 {
        atlas.landmarks.iter().map(|landmark| landmark.position.covariance().diag().sum()).sum()
    };
    let before = spread(&Atlas::learn(&refs(&specimens), &settings).unwrap());
    for (at, angle) in [(3, 0.35), (11, 0.8)] {
        let names = specimens[at].names().unwrap().to_vec();
        let spoiled = Spoiling { tilted: angle, ..Spoiling::default() }.spoil(&specimens[at], at as u64).unwrap();
        specimens[at] = spoiled.graph.with_names(names).unwrap();
    }
    let after = spread(&Atlas::learn(&refs(&specimens), &settings).unwrap());
    assert!(after < 1.5 * before, "{before} {after}");
}

#[test]
fn confidences_rank_names_also_after_bad_training_specimens() {
    let mut maker = Maker::new(41, 2, 12);
    let mut specimens = maker.noisy_specimens(12, 0.15);
    // The names of three are one off.
    for bad in specimens.iter_mut().take(3) {
        let mut names = bad.names().unwrap().to_vec();
        names.rotate_left(1);
        *bad = bad.clone().with_names(names).unwrap();
    }
    let atlas = learned(&specimens, &AtlasSettings::default());
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for specimen in maker.noisy_specimens(20, 0.3) {
        for call in named(&atlas, &specimen, Presence::Auto).calls {
            let is_right = specimen.names().unwrap()[call.point] == atlas.landmarks[call.landmark].name;
            (if is_right { &mut right } else { &mut wrong }).push(call.confidence.unwrap());
        }
    }
    // How often a right name has a higher confidence than a wrong one: a half if all are alike.
    let wins: f64 = right
        .iter()
        .flat_map(|own| {
            wrong.iter().map(move |other| if own > other { 1.0 } else { 0.5 * f64::from(u8::from(own == other)) })
        })
        .sum();
    let share = wins / (right.len() * wrong.len()) as f64;
    assert!(right.len() > 50 && wrong.len() > 20 && share > 0.7, "{} {} {share}", right.len(), wrong.len());
}
