//! Files of version 1, kept as they were written: every later version reads them, and an old model matches as it did then.

use homolog::data::Split;
use homolog::data::dataset::DataSet;
use homolog::matching::{Constraint, Workspace};
use homolog::model::Model;
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    left: String,
    right: String,
    score: f64,
    matches: Vec<(usize, usize)>,
}

fn matches_as_then(model: &str, expected: &str) {
    let data = DataSet::from_json(include_str!("golden/v1/faces.json")).unwrap();
    let model = Model::from_json(model).unwrap();
    let expected: Vec<Expected> = serde_json::from_str(expected).unwrap();
    assert_eq!(expected.len(), 6);
    for then in expected {
        let of = |id: &str| data.find(id).unwrap();
        let index =
            data.pairs().iter().position(|pair| (pair.left, pair.right) == (of(&then.left), of(&then.right))).unwrap();
        let now = model.solve(&data.pair(index).unwrap(), &mut Workspace::new()).unwrap();
        assert_eq!(now.matching.pairs().collect::<Vec<_>>(), then.matches, "{} {}", then.left, then.right);
        assert!((now.score - then.score).abs() <= 1e-9 * then.score.abs(), "{} and {}", now.score, then.score);
    }
}

#[test]
fn a_linear_model_of_version_1_matches_as_it_did() {
    matches_as_then(include_str!("golden/v1/linear.model.json"), include_str!("golden/v1/linear.expected.json"));
}

#[test]
fn a_model_with_edges_of_version_1_matches_as_it_did() {
    matches_as_then(include_str!("golden/v1/edges.model.json"), include_str!("golden/v1/edges.expected.json"));
}

#[test]
fn a_data_set_of_version_1_means_what_it_meant() {
    let data = DataSet::from_json(include_str!("golden/v1/everything.json")).unwrap();
    let wing = &data.graphs()[0];
    assert_eq!(
        (wing.id.as_str(), wing.image.as_deref(), wing.graph.image_size()),
        ("wing 1", Some("wing1.png"), Some([640.0, 480.0]))
    );
    assert_eq!(wing.graph.points().unwrap().row(1).to_vec(), [2.0, 0.1]);
    assert_eq!(wing.graph.node_attributes().unwrap().values().column(0).to_vec(), [0.5, 0.25, 1e-3]);
    assert_eq!(wing.graph.context().unwrap().nrows(), 1);
    assert_eq!(wing.graph.edges().ends(), [[0, 1], [1, 0], [1, 2], [2, 1]]);
    assert_eq!(wing.graph.edge_attributes().unwrap().values().column(0).to_vec(), [2.0, 2.0, 2.1, 2.1]);
    assert_eq!(data.graphs()[1].graph.edges().ends(), [[0, 1]]);
    assert_eq!(data.graphs()[2].graph.node_count(), 3);
    let truth = |pair: usize| data.pairs()[pair].truth.as_ref().map(|truth| truth.left_to_right().to_vec());
    assert_eq!(truth(0), Some(vec![Some(0), None, Some(1)]));
    assert_eq!(truth(1), Some(vec![Some(1), None, Some(0)]));
    assert_eq!(truth(2), None);
    assert_eq!(truth(3), Some(vec![Some(1), Some(1), None]));
    assert_eq!(data.pairs()[3].truth.as_ref().unwrap().constraint(), Constraint::ManyToOne);
    let splits: Vec<_> = data.pairs().iter().map(|pair| pair.split).collect();
    assert_eq!(splits, [Some(Split::Train), Some(Split::Test), None, Some(Split::Validation)]);
    assert_eq!(DataSet::from_json(&data.to_json().unwrap()).unwrap(), data);
    assert_eq!(DataSet::from_json_lines(&data.to_json_lines().unwrap()).unwrap(), data);
}
