//! How much each kind of evidence of an atlas counts: kept if there is nothing to gain, learned if the likelihoods are wrong, and
//! never worse on unseen specimens.

use crate::made_specimens;

use homolog::Control;
use homolog::atlas::{Atlas, AtlasSettings, Pose, Presence, Search};
use homolog::features::Instance;
use homolog::graph::{Attributes, Graph};
use homolog::learn::Evidence;
use homolog::matching::{Constraint, Matching, Workspace};
use homolog::model::Model;
use made_specimens::{Maker, refs};
use ndarray::Array2;
use rand::RngExt;
use std::sync::Arc;

/// The share of wrong names among those given to these specimens.
fn error(atlas: &Atlas, weights: &[f64], specimens: &[Graph]) -> f64 {
    let (mut wrong, mut all) = (0, 0);
    for specimen in specimens {
        let naming = atlas.name_with(specimen, weights, Search::Quick, &mut Workspace::new()).unwrap();
        let names = specimen.names().unwrap();
        all += names.len();
        wrong += names.len()
            - naming.calls.iter().filter(|call| names[call.point] == atlas.landmarks[call.landmark].name).count();
    }
    f64::from(u32::try_from(wrong).unwrap()) / f64::from(u32::try_from(all).unwrap())
}

/// One unreliable number repeated in many columns: the likelihoods count its error just as often.
fn with_echoes(maker: &mut Maker, specimens: Vec<Graph>) -> Vec<Graph> {
    let columns: Vec<String> = ('a'..='z').chain('A'..='Z').map(String::from).collect();
    let mut echo = |graph: Graph| {
        let off: Vec<f64> = (0..graph.node_count()).map(|_| maker.random().random_range(-4.0..4.0)).collect();
        let values = Array2::from_shape_fn((graph.node_count(), columns.len()), |(row, _)| {
            f64::from(u32::try_from(row).unwrap()) + off[row] + maker.random().random_range(-0.1..0.1)
        });
        graph.with_node_attributes(Attributes::new(columns.clone(), values).unwrap()).unwrap()
    };
    specimens.into_iter().map(&mut echo).collect()
}

#[test]
fn in_the_linear_problem_a_move_and_an_exchange_cost_what_they_cost_with_edges() {
    for (seed, dimension, presence) in
        [(1, 2, Presence::Complete), (2, 3, Presence::Partial), (3, 2, Presence::Partial)]
    {
        let mut maker = Maker::new(seed, dimension, 9);
        let specimens = maker.specimens(5);
        let settings =
            AtlasSettings { presence: Some(presence), pose: Some(Pose::Rotated), ..AtlasSettings::default() };
        let atlas = Atlas::learn(&refs(&specimens[1..]), &settings).unwrap();
        let truth = Matching::identity(9);
        let frame = atlas.frame_by_names(&specimens[0], &truth).unwrap();
        let with_edges = atlas.instance(&specimens[0], &frame).unwrap();
        let features = atlas.linear_features(12);
        let pair = atlas.linear_pair(&specimens[0], &truth, 12).unwrap();
        let describe = |graph: &Graph| Arc::new(features.describe(graph).unwrap());
        let linear = features.instance(&describe(&pair.left), &describe(&pair.right)).unwrap();
        let mut weights = atlas.start_weights();
        (weights[0], weights[1]) = (0.7, 1.9);
        let score = |instance: &Instance, matching: &Matching, weights: &[f64]| -> f64 {
            let features = instance.joint_features(matching).unwrap();
            features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
        };
        let drop = |matching: &Matching| {
            let [edges, plain] = [(&with_edges, &weights[..]), (&linear, &weights[..features.dim()])]
                .map(|(instance, weights)| score(instance, &truth, weights) - score(instance, matching, weights));
            assert!((edges - plain).abs() < 1e-6 * (1.0 + edges.abs()), "{seed}: {edges} {plain}");
        };
        for i in 0..9 {
            for j in 0..i {
                let mut places: Vec<Option<usize>> = (0..9).map(Some).collect();
                places.swap(i, j);
                drop(&Matching::new(places, 9, Constraint::OneToOne).unwrap());
            }
            if presence == Presence::Partial {
                let places = (0..9).map(|at| (at != i).then_some(at)).collect();
                drop(&Matching::new(places, 9, Constraint::OneToOne).unwrap());
            }
        }
    }
}

#[test]
fn where_no_name_is_wrong_the_weights_stay_those_of_the_likelihoods() {
    let mut maker = Maker::new(3, 2, 10);
    let specimens = maker.specimens(6);
    let atlas = Atlas::learn(&refs(&specimens), &AtlasSettings::default()).unwrap();
    let evidence = Evidence::learn(&atlas, &refs(&specimens), &AtlasSettings::default(), &Control::new()).unwrap();
    assert!(!evidence.is_learned);
    assert_eq!(evidence.weights, atlas.start_weights());
    // With two specimens, or if asked not to, nothing is tried.
    let plain = AtlasSettings { plain: true, ..AtlasSettings::default() };
    for (settings, count) in [(&plain, 6), (&AtlasSettings::default(), 2)] {
        let evidence = Evidence::learn(&atlas, &refs(&specimens[..count]), settings, &Control::new()).unwrap();
        assert!(evidence.errors.is_none() && evidence.weights == atlas.start_weights());
    }
}

#[test]
fn evidence_that_misleads_counts_for_less() {
    let mut maker = Maker::new(9, 2, 8);
    let specimens = maker.noisy_specimens(18, 0.15);
    let specimens = with_echoes(&mut maker, specimens);
    let others = maker.noisy_specimens(40, 0.15);
    let others = with_echoes(&mut maker, others);
    let settings = AtlasSettings::default();
    let atlas = Atlas::learn(&refs(&specimens), &settings).unwrap();
    let (model, evidence) = Model::fit_atlas(&refs(&specimens), &settings, &Control::new()).unwrap();
    let (before, after) = (error(&atlas, &atlas.start_weights(), &others), error(&atlas, &evidence.weights, &others));
    assert!(evidence.is_learned, "{before} {after} {evidence:?}");
    assert!(after < before, "{before} {after}");
    assert_eq!(model.weights(), evidence.weights);
    // The same bytes however many threads there are, and the model reads back unchanged.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = pool.install(|| Model::fit_atlas(&refs(&specimens), &settings, &Control::new())).unwrap();
    assert_eq!(again.0.to_json().unwrap(), model.to_json().unwrap());
    assert_eq!(Model::from_json(&model.to_json().unwrap()).unwrap(), model);
}

#[test]
fn what_is_learned_is_not_worse_on_specimens_that_were_not_seen() {
    let (mut before, mut after, mut worse) = (0.0, 0.0, 0);
    for seed in 0..12 {
        let mut maker = Maker::new(100 + seed, 2, 8);
        let specimens = maker.noisy_specimens(8, 0.3);
        let others = maker.noisy_specimens(20, 0.3);
        let atlas = Atlas::learn(&refs(&specimens), &AtlasSettings::default()).unwrap();
        let evidence = Evidence::learn(&atlas, &refs(&specimens), &AtlasSettings::default(), &Control::new()).unwrap();
        let (old, new) = (error(&atlas, &atlas.start_weights(), &others), error(&atlas, &evidence.weights, &others));
        before += old;
        after += new;
        worse += usize::from(new > old + 0.05);
    }
    assert!(worse == 0 && after <= before + 0.05, "{before} {after} {worse}");
}
