//! What graphs accept and refuse, how edges are stored, and what renumbering does.

use crate::made;

use homolog::Error;
use homolog::geometry::{Complete, Delaunay, EdgeRule, Nearest, Within};
use homolog::graph::{Attributes, Direction, Graph};
use made::{permutation, rng};
use ndarray::{Array2, array};

fn square() -> Graph {
    Graph::from_points(array![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]).unwrap()
}

#[test]
fn undirected_edges_stand_both_ways() {
    let graph = square().with_edges(vec![[2, 0], [0, 1], [1, 0]], Direction::Undirected).unwrap();
    assert_eq!(graph.edges().ends(), [[0, 1], [0, 2], [1, 0], [2, 0]]);
    let graph = graph.with_edges(vec![[2, 0], [0, 1]], Direction::Directed).unwrap();
    assert_eq!(graph.edges().ends(), [[0, 1], [2, 0]]);
}

#[test]
fn attributes_follow_their_edges() {
    let values = Attributes::numbered(array![[5.0], [7.0]]).unwrap();
    let graph = square().with_attributed_edges(vec![[3, 1], [0, 2]], &values, Direction::Undirected).unwrap();
    assert_eq!(graph.edges().ends(), [[0, 2], [1, 3], [2, 0], [3, 1]]);
    assert_eq!(graph.edge_attributes().unwrap().values(), array![[7.0], [5.0], [7.0], [5.0]]);
    let graph = square().with_attributed_edges(vec![[3, 1], [0, 2]], &values, Direction::Directed).unwrap();
    assert_eq!(graph.edge_attributes().unwrap().values(), array![[7.0], [5.0]]);
    // New edges have different attributes, or none.
    assert!(graph.with_edges(vec![[0, 1]], Direction::Directed).unwrap().edge_attributes().is_none());
}

#[test]
fn an_edge_given_twice_must_agree_with_itself() {
    let values = Attributes::numbered(array![[5.0], [7.0]]).unwrap();
    let conflict = Error::ConflictingEdge { source_node: 1, target_node: 0 };
    let twice = square().with_attributed_edges(vec![[0, 1], [1, 0]], &values, Direction::Undirected);
    assert_eq!(twice.unwrap_err(), conflict);
    assert!(square().with_attributed_edges(vec![[0, 1], [1, 0]], &values, Direction::Directed).is_ok());
    let same = Attributes::numbered(array![[5.0], [5.0]]).unwrap();
    let graph = square().with_attributed_edges(vec![[0, 1], [1, 0]], &same, Direction::Undirected).unwrap();
    assert_eq!(graph.edges().len(), 2);
}

#[test]
fn every_rule_draws_edges() {
    let edges = |rule| square().with_edges_by(&rule).unwrap().edges().ends().to_vec();
    assert_eq!(edges(EdgeRule::Delaunay(Delaunay {})).len(), 10);
    assert_eq!(edges(EdgeRule::Nearest(Nearest { count: 1 })), [[0, 3], [1, 2], [2, 1], [3, 0]]);
    assert_eq!(edges(EdgeRule::Within(Within { radius: 2.0 })).len(), 8);
    assert_eq!(edges(EdgeRule::Complete(Complete {})).len(), 12);
    // All pairs need no points.
    assert_eq!(Graph::new(3).with_edges_by(&EdgeRule::Complete(Complete {})).unwrap().edges().len(), 6);
    let missing = Error::Missing { what: "points", needed_by: "edges from points" };
    assert_eq!(Graph::new(3).with_edges_by(&EdgeRule::Delaunay(Delaunay {})).unwrap_err(), missing);
    let space = Graph::from_points(Array2::zeros((3, 3))).unwrap();
    assert!(matches!(space.with_edges_by(&EdgeRule::Delaunay(Delaunay {})), Err(Error::Size { expected: 2, .. })));
}

#[test]
fn refuses_what_makes_no_sense() {
    let nan = Graph::from_points(array![[0.0, 1.0], [f64::NAN, 0.0]]).unwrap_err();
    assert!(matches!(nan, Error::BadCell { what: "points", row: 1, column: 0, .. }));
    assert!(matches!(Graph::from_points(Array2::zeros((2, 4))), Err(Error::Size { found: 4, .. })));
    assert!(matches!(Graph::new(2).with_context(array![[0.0, 0.0]]), Err(Error::Missing { what: "points", .. })));
    assert!(matches!(square().with_context(array![[0.0, 0.0, 0.0]]), Err(Error::Size { expected: 2, .. })));
    let infinite = square().with_context(array![[0.0, f64::INFINITY]]);
    assert!(matches!(infinite, Err(Error::BadCell { what: "context points", .. })));
    let rows = Attributes::numbered(Array2::zeros((3, 1))).unwrap();
    assert!(matches!(square().with_node_attributes(rows), Err(Error::Size { expected: 4, found: 3, .. })));
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let twice = Error::Repeated { what: "names of attributes", name: "a".to_string() };
    assert_eq!(Attributes::new(names(&["a", "a"]), Array2::zeros((1, 2))).unwrap_err(), twice);
    assert!(matches!(Attributes::new(names(&["a"]), Array2::zeros((1, 2))), Err(Error::Size { .. })));
    assert!(matches!(Attributes::numbered(array![[f64::NAN]]), Err(Error::BadCell { what: "attributes", .. })));
    assert!(matches!(square().with_names(names(&["a"])), Err(Error::Size { expected: 4, found: 1, .. })));
    assert!(matches!(square().with_names(names(&["a", "b", "c", "a"])), Err(Error::Repeated { .. })));
    assert!(matches!(square().with_image_size(640.0, 0.0), Err(Error::BadEntry { index: 1, .. })));
    let edges = |edges| square().with_edges(edges, Direction::Undirected).unwrap_err();
    assert!(matches!(edges(vec![[0, 4]]), Error::OutOfRange { index: 4, count: 4, .. }));
    assert_eq!(edges(vec![[1, 1]]), Error::SelfLoop { node: 1 });
    let values = Attributes::numbered(array![[5.0]]).unwrap();
    let short = square().with_attributed_edges(vec![[0, 1], [0, 2]], &values, Direction::Directed);
    assert!(matches!(short, Err(Error::Size { expected: 2, found: 1, .. })));
    assert!(matches!(square().renumbered(&[0, 1, 2]), Err(Error::Size { .. })));
    assert!(matches!(square().renumbered(&[0, 1, 2, 4]), Err(Error::OutOfRange { .. })));
    let twice = Error::NotAPermutation { what: "order of nodes", index: 2 };
    assert_eq!(square().renumbered(&[0, 2, 2, 1]).unwrap_err(), twice);
}

#[test]
fn renumbering_there_and_back_changes_nothing() {
    for seed in 0..20 {
        let rng = &mut rng(seed);
        let names: Vec<String> = (0..7).map(|node| format!("node {node}")).collect();
        let graph = made::graph(rng, 7).with_names(names).unwrap().with_image_size(100.0, 80.0).unwrap();
        let order = permutation(rng, 7);
        let mut back = vec![0; 7];
        order.iter().enumerate().for_each(|(new, &old)| back[old] = new);
        let moved = graph.renumbered(&order).unwrap();
        assert_eq!(moved.names().unwrap()[0], format!("node {}", order[0]));
        assert_eq!(moved.points().unwrap().row(0), graph.points().unwrap().row(order[0]));
        for (at, &[i, j]) in moved.edges().ends().iter().enumerate() {
            let there = graph.edges().find(order[i], order[j]).unwrap();
            let [new, old] = [&moved, &graph].map(|graph| graph.edge_attributes().unwrap().values());
            assert_eq!(new.row(at), old.row(there));
        }
        assert_eq!(moved.renumbered(&back).unwrap(), graph);
    }
}

#[test]
fn a_node_that_nobody_named_is_the_same_as_nothing() {
    use homolog::data::dataset::{DataSet, match_by_name};
    use homolog::data::{self, landmarks::LandmarkTable};
    let named = |names: [&str; 4]| square().with_names(names.map(String::from).to_vec());
    let (left, right) = (named(["", "tip", "", "base"]).unwrap(), named(["base", "", "", "tip"]).unwrap());
    assert_eq!(match_by_name(&left, &right).unwrap().left_to_right(), [None, Some(3), None, Some(0)]);
    assert_eq!(match_by_name(&named([""; 4]).unwrap(), &named([""; 4]).unwrap()), None);
    assert_eq!((left.name_or_number(0), left.name_or_number(1)), ("0".to_string(), "tip".to_string()));
    let twice = named(["", "tip", "", "tip"]).unwrap_err();
    assert_eq!(twice, Error::Repeated { what: "names of nodes", name: "tip".to_string() });
    // Written to tables and data sets, and read back.
    let table = "specimen,landmark,x,y\n1,,0.0,0.0\n1,tip,2.0,0.0\n1,,2.0,1.0\n1,base,0.0,1.0\n";
    let graphs = LandmarkTable::default().read(table, "wings").unwrap();
    assert_eq!(*graphs[0].graph, left);
    assert_eq!(data::write(data::Format::Landmarks, &graphs).unwrap(), table);
    let text = r#"{"format":{"kind":"homolog-data","version":1},"graphs":[
        {"id":"a","nodes":3,"names":["","tip",""]},{"id":"b","nodes":2,"names":["","tip"]}],
        "pairs":[{"left":"a","right":"b"},{"left":"a","right":"b","matches":[[0,0],["tip",null]]}]}"#;
    let data = DataSet::from_json(text).unwrap();
    let truths: Vec<_> = data.pairs().iter().map(|pair| pair.truth.clone().unwrap()).collect();
    assert_eq!(truths[0].left_to_right(), [None, Some(1), None]);
    assert_eq!(truths[1].left_to_right(), [Some(0), None, None]);
    assert_eq!(DataSet::from_json(&data.to_json().unwrap()).unwrap(), data);
}
