//! Text about nodes of networks: kinds tell nodes apart, names are left out with a note.

use homolog::data::{Loaded, Note};
use homolog::features::{Common, FeatureSet};
use homolog::graph::{Graph, Pair};
use homolog::model::Model;
use std::fmt::Write;
use std::sync::Arc;

/// A ring, whose nodes nothing but their kinds tells apart.
fn ring(kinds: &[&str], turn: usize) -> (String, String, String) {
    let count = kinds.len();
    let (mut nodes, mut edges, mut graphml) =
        (String::from("node,kind,label\n"), String::from("source,target\n"), String::new());
    for (i, kind) in kinds.iter().enumerate() {
        let (name, next) = ((i + turn) % count, (i + 1 + turn) % count);
        writeln!(nodes, "n{name},{kind},label {name}").unwrap();
        writeln!(edges, "n{name},n{next}").unwrap();
        let data = format!("<data key=\"k\">{kind}</data><data key=\"l\">label {name}</data>");
        write!(graphml, "<node id=\"n{name}\">{data}</node>").unwrap();
    }
    for i in 0..count {
        let (name, next) = ((i + turn) % count, (i + 1 + turn) % count);
        write!(graphml, "<edge source=\"n{name}\" target=\"n{next}\"><data key=\"t\">road</data></edge>").unwrap();
    }
    let keys = "<key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\
        <key id=\"l\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\
        <key id=\"t\" for=\"edge\" attr.name=\"type\" attr.type=\"string\"/>";
    let graphml = format!("<graphml>{keys}<graph id=\"G\" edgedefault=\"undirected\">{graphml}</graph></graphml>");
    (nodes, edges, graphml)
}

fn graph_of(loaded: &Loaded) -> Arc<Graph> {
    loaded.data.graphs()[0].graph.clone()
}

#[test]
fn kinds_of_nodes_are_compared_and_names_are_left_out_with_a_note() {
    let left = ["a", "b", "b", "c", "b", "c", "c", "a", "c", "b"];
    // One kind that the left network has not.
    let right = ["d", "b", "b", "c", "b", "c", "c", "d", "c", "b"];
    let read = |kinds: &[&str], turn: usize, by_table: bool| {
        let (nodes, edges, graphml) = ring(kinds, turn);
        if !by_table {
            return homolog::data::read("ring.graphml", graphml.as_bytes(), &|_, _| None).unwrap();
        }
        let beside = |name: &str, _: usize| (name == "ring.nodes.csv").then(|| nodes.clone().into_bytes());
        homolog::data::read("ring.csv", edges.as_bytes(), &beside).unwrap()
    };
    for by_table in [false, true] {
        let (one, other) = (read(&left, 0, by_table), read(&right, 3, by_table));
        let note = |attribute: &str, of, levels| Note::Texts { of, attribute: attribute.to_string(), levels };
        assert!(one.notes.contains(&note("label", "nodes", Some(10))), "{:?}", one.notes);
        assert_eq!(one.notes.contains(&note("type", "edges", None)), !by_table);
        let (one, other) = (graph_of(&one), graph_of(&other));
        let common = Common::of([&*one, &*other]).unwrap();
        assert_eq!(common.node_attributes, ["kind=a", "kind=b", "kind=c", "kind=d"]);
        let features = FeatureSet::Graph.features_for(&common).unwrap();
        assert!(features.unused_attributes(&common).is_empty());
        let pair = Pair::new(Arc::clone(&one), Arc::clone(&other));
        let model = Model::unlearned_for(features, None, None, std::slice::from_ref(&pair)).unwrap();
        let found = model.solve(&pair).unwrap().matching;
        let (from, to) = (one.names().unwrap(), other.names().unwrap());
        for (i, k) in found.pairs() {
            let number = |name: &str| name[1..].parse::<usize>().unwrap();
            assert_eq!((number(&from[i]) + 3) % 10, number(&to[k]));
        }
        // A model made for these knows what to do with other kinds.
        let third = graph_of(&read(&["b", "e", "b", "c", "b", "c", "c", "e", "c", "b"], 0, by_table));
        assert!(model.solve(&Pair::new(one, third)).is_ok());
    }
}

#[test]
fn a_column_of_numbers_with_a_slip_is_an_error_with_its_line() {
    let read = |table: &str| {
        let beside = |_: &str, _: usize| Some(table.as_bytes().to_vec());
        homolog::data::read("ring.csv", b"source,target\na,b\n", &beside)
    };
    let error = read("node,size\na,1\nb,big\n").err().unwrap().to_string();
    assert!(error.contains("line 3") && error.contains("big"), "{error}");
    let loaded = read("node,kind,size\na,x,1\nb,,2\nc,x,3\nd,y,4\n").unwrap();
    let graph = graph_of(&loaded);
    let own = graph.node_attributes().unwrap();
    assert_eq!(own.names(), ["size", "kind=x", "kind=y"]);
    assert_eq!(own.values().row(1).to_vec(), [2.0, 0.0, 0.0]);
}
