//! TPS, DeepLabCut, COCO, GraphML and edge lists: what is read, what reads back, what is refused and why.

use crate::common;
use crate::data_sets;

use common::{data_folder, rng};
use data_sets::random_data_set;
use homolog::data::dataset::NamedGraph;
use homolog::data::{Format, Reader, read, write};
use homolog::graph::{Attributes, Graph};
use ndarray::{Array2, array};
use rand::RngExt;
use std::sync::Arc;

fn named(id: &str, graph: Graph) -> NamedGraph {
    NamedGraph { id: id.to_string(), graph: Arc::new(graph), image: None }
}

/// The graphs in a file called "net".
fn read_as(format: Format, text: &str) -> homolog::Result<Vec<NamedGraph>> {
    let reader = Reader { format: Some(format), ..Reader::default() };
    reader.read("net", text.as_bytes(), &|_, _| None).map(|loaded| loaded.data.graphs().to_vec())
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn specimens_of_a_tps_file() {
    let text = "LM=3\r\n1 2\r\n3.5\t-4\r\nNA NA\r\nCURVES=1\r\nPOINTS=2\r\n0 0\r\n1 1\r\nCOMMENT=left wing = ok\r\nIMAGE=w1.jpg\r\nID=0\r\nSCALE=2\r\n\r\nlm=3\r\n1 2\r\n3 4\r\n5 6\r\nIMAGE=w2.jpg\r\nID=1\r\n";
    let wings = read_as(Format::Tps, text).unwrap();
    // Ids that only count say less than the pictures.
    assert_eq!((wings[0].id.as_str(), wings[1].id.as_str()), ("w1", "w2"));
    // The file counts y upwards, a graph downwards; the scale is kept beside the points.
    assert_eq!(wings[0].graph.points().unwrap(), array![[1.0, -2.0], [3.5, 4.0]]);
    assert_eq!(wings[0].graph.context().unwrap(), array![[0.0, 0.0], [1.0, -1.0]]);
    assert_eq!((wings[0].graph.scale(), wings[1].graph.scale()), (Some(2.0), None));
    let by_id = read_as(Format::Tps, &text.replace("ID=1", "ID=right wing")).unwrap();
    assert_eq!((by_id[0].id.as_str(), by_id[1].id.as_str()), ("0", "right wing"));
    assert_eq!(wings[0].graph.names().unwrap(), ["1", "2"]);
    assert_eq!((wings[0].image.as_deref(), wings[1].graph.node_count()), (Some("w1.jpg"), 3));
    // Ids that are all the same say nothing; then the pictures count, then numbers.
    let by_image = read_as(Format::Tps, &text.replace("ID=1", "ID=0")).unwrap();
    assert_eq!((by_image[0].id.as_str(), by_image[1].id.as_str()), ("w1", "w2"));
    let numbered = read_as(Format::Tps, &text.replace("ID=1", "ID=0").replace("w2", "w1")).unwrap();
    assert_eq!((numbered[0].id.as_str(), numbered[1].id.as_str()), ("1", "2"));
    let spatial = read_as(Format::Tps, "LM3=1\n1 2 3\n").unwrap();
    assert_eq!(spatial[0].graph.points().unwrap(), array![[1.0, 2.0, 3.0]]);
    for (text, line, reason) in [
        ("1 2\n", 1, "is neither KEY=value nor expected coordinates"),
        ("ID=1\n", 1, "a specimen begins with LM="),
        ("LM=x\n", 1, "\"x\" is not a whole number"),
        ("LM=2\n1 2\n", 2, "the text ends before 1 more points"),
        ("LM=1\n1 2 3\n", 2, "a point needs 2 coordinates, found 3"),
        ("LM=1\n1 NA\n", 2, "\"NA\" is not a finite number"),
        ("LM=1\n1 2\n3 4\n", 3, "is neither KEY=value"),
        ("LM=99999999999999\n", 1, "more points"),
    ] {
        let error = read_as(Format::Tps, text).expect_err(text).to_string();
        assert!(error.starts_with(&format!("net, line {line}: ")) && error.contains(reason), "{text:?} gave {error}");
    }
}

#[test]
fn tps_files_come_back_as_they_were_written() {
    let mut rng = rng(101);
    for _ in 0..100 {
        let dimension = rng.random_range(2..4);
        let mut number = || rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-9..10));
        let points = Array2::from_shape_simple_fn((4, dimension), &mut number);
        let context = Array2::from_shape_simple_fn((2, dimension), &mut number);
        let whole = Graph::from_points(points.clone()).unwrap().with_names(words(&["1", "2", "3", "4"])).unwrap();
        let part = Graph::from_points(points.select(ndarray::Axis(0), &[0, 2])).unwrap();
        let part = part.with_names(words(&["1", "3"])).unwrap().with_context(context).unwrap();
        let graphs = [named("a", whole), named("b", part)];
        assert_eq!(read_as(Format::Tps, &write(Format::Tps, &graphs).unwrap()).unwrap(), graphs);
    }
    assert!(write(Format::Tps, &[named("a", Graph::new(1))]).unwrap_err().to_string().contains("no points"));
    // A landmark keeps its number, also if the first specimen does not have it.
    let text = "LM=3\nNA NA\n1.00000 2.00000\n3.00000 4.00000\nID=a\nSCALE=0.25\nLM=3\n1.00000 1.00000\n1.00000 2.00000\nNA NA\nID=b\n";
    assert_eq!(write(Format::Tps, &read_as(Format::Tps, text).unwrap()).unwrap(), text);
}

/// The beginning of a picture: enough to tell its size.
fn png(width: u32, height: u32) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes()].concat()
}

#[test]
fn points_of_a_tps_file_are_put_onto_their_picture_and_written_as_they_were() {
    let text = "LM=2\n10.10000 20.30000\n600.00000 479.90000\nIMAGE=C:\\wings\\a.jpg\nID=0\nSCALE=0.0125\nLM=2\n10.00000 20.00000\n30.00000 500.00000\nIMAGE=b.jpg\nID=1\nLM=1\n5.00000 5.00000\nIMAGE=c.jpg\nID=2\n";
    let beside = |name: &str, _: usize| ["a.jpg", "b.jpg"].contains(&name).then(|| png(640, 480));
    let wings = read("some/wings.tps", text.as_bytes(), &beside).unwrap();
    let graphs = wings.data.graphs();
    assert_eq!(graphs.iter().map(|named| named.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((graphs[0].image.as_deref(), graphs[0].graph.image_size()), (Some("a.jpg"), Some([640.0, 480.0])));
    assert_eq!(graphs[0].graph.points().unwrap(), array![[10.1, 480.0 - 20.3], [600.0, 480.0 - 479.9]]);
    assert_eq!(graphs[0].graph.scale(), Some(0.0125));
    let notes: Vec<String> = wings.notes.iter().map(ToString::to_string).collect();
    let expected = [
        "picture \"c.jpg\" not found: y is counted down from the bottom edge, so it is negative",
        "graph \"b\" has points outside of its picture",
    ];
    assert_eq!(notes, expected);
    let written = write(Format::Tps, graphs).unwrap();
    assert!(
        written.starts_with("LM=2\n10.10000 20.30000\n600.00000 479.90000\nIMAGE=a.jpg\nID=a\nSCALE=0.0125\n"),
        "{written}"
    );
    let again = read("wings.tps", written.as_bytes(), &beside).unwrap();
    assert_eq!(again.data, wings.data);
    assert_eq!(write(Format::Tps, again.data.graphs()).unwrap(), written);
    // With and without pictures the shapes are the same, not mirror images.
    let bare = read("wings.tps", text.as_bytes(), &|_, _| None).unwrap();
    let shape = |graph: &Graph| {
        let points = graph.points().unwrap();
        [points[[1, 0]] - points[[0, 0]], points[[1, 1]] - points[[0, 1]]].map(|side| (side * 1e6).round())
    };
    assert_eq!(shape(&bare.data.graphs()[0].graph), shape(&graphs[0].graph));
}

#[test]
fn what_a_file_is_follows_from_its_name_and_its_beginning() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/any_graphs");
    let bytes = |name: &str| std::fs::read(seeds.join(name)).unwrap();
    let alone = |_: &str, _: usize| None;
    for name in [
        "small.trc",
        "floats.c3d",
        "a.tps",
        "a.json",
        "a.graphml",
        "everything.json",
        "dlc.csv",
        "edges.csv",
        "long.csv",
    ] {
        let named = read(&format!("folder/{name}"), &bytes(name), &alone).unwrap().data;
        let unnamed = read("-", &bytes(name), &alone).unwrap().data;
        // A graph that is called after its file is the only difference.
        assert_eq!(named.graphs().len(), unnamed.graphs().len(), "{name}");
        let same = |(one, other): (&NamedGraph, &NamedGraph)| one.graph == other.graph;
        assert!(!named.graphs().is_empty() && named.graphs().iter().zip(unnamed.graphs()).all(same), "{name}");
        // What has a beginning of its own is known by it under any name.
        let renamed = read("file.data", &bytes(name), &alone);
        if ["dlc.csv", "edges.csv", "long.csv"].contains(&name) {
            let error = renamed.unwrap_err().to_string();
            assert!(error.starts_with("file.data: unrecognised file type; expected .json, .jsonl"), "{error}");
        } else {
            assert_eq!(renamed.unwrap().data.graphs().len(), named.graphs().len(), "{name}");
        }
    }
    for (name, text, expected) in [
        ("bad.csv", "frame,x,y,foo\n1,2,3,4\n", "bad.csv, line 1: unknown column \"foo\""),
        ("-", "frame,x,y\n1,2,3\n1,2\n", "standard input, line 3: this row has 2 fields, the first has 3"),
        (
            "a.json",
            "{\"format\": 1}",
            "a.json, line 1, column 12 (format): invalid type: integer `1`, expected an object {...}",
        ),
        ("a.tps", "LM=1\n", "a.tps, line 1: the text ends before 1 more points"),
    ] {
        assert_eq!(read(name, text.as_bytes(), &alone).unwrap_err().to_string(), expected);
    }
    let latin = read("a.csv", b"landmark,x,y\nr\xe9,1,2\n", &alone).unwrap_err();
    assert_eq!(latin.to_string(), "a.csv, line 2: not UTF-8 text; save the file as UTF-8");
}

#[test]
fn a_network_is_read_with_the_table_of_nodes_beside_it() {
    let nodes =
        |text: &'static str| move |name: &str, _: usize| (name == "net.nodes.csv").then(|| text.as_bytes().to_vec());
    let edges = b"source,target\na,b\n";
    let net = read("in/net.csv", edges, &nodes("node,size\nb,2\na,1\n")).unwrap();
    assert_eq!(net.data.graphs()[0].graph.node_attributes().unwrap().values(), array![[2.0], [1.0]]);
    let error = read("in/net.csv", edges, &nodes("node,size\nb,2\na,big\n")).unwrap_err();
    assert_eq!(error.to_string(), "net.nodes.csv, line 3: \"big\" is not a finite number");
}

#[test]
fn an_edge_without_a_weight_is_noted() {
    // As networkx writes it after `graph.add_edge("b", "c")`; no edge but the first has a colour.
    let text = r#"<graphml><key id="d0" for="edge" attr.name="weight" attr.type="double"/>
<key id="d1" for="edge" attr.name="colour" attr.type="long"/><key id="d2" for="node" attr.name="unused" attr.type="long"/>
<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d0">0.5</data><data key="d1">3</data></edge><edge source="b" target="c"/></graph></graphml>"#;
    let net = read("net.graphml", text.as_bytes(), &|_, _| None).unwrap();
    let weights = net.data.graphs()[0].graph.edge_attributes().unwrap();
    assert_eq!(
        (weights.names(), weights.values().column(0).to_vec()),
        (words(&["weight"]).as_slice(), vec![0.5, 0.5, 1.0, 1.0])
    );
    let notes: Vec<String> = net.notes.iter().map(ToString::to_string).collect();
    let expected = [
        "1 of 2 edges have no \"weight\", counted as 1",
        "1 of 2 edges have no \"colour\", so the attribute was left out",
    ];
    assert_eq!(notes, expected);
}

/// 60,000 attributes of one node are read in a time that grows with the text, not with its square.
#[test]
fn many_attributes_are_looked_up_and_not_searched_for() {
    let count = 60_000;
    let key = |at: usize| format!("<key id=\"k{at}\" for=\"node\" attr.name=\"a{at}\" attr.type=\"int\"/>\n");
    let keys: String = (0..count).map(key).collect();
    let data = |at: usize| format!("<data key=\"k{at}\">{at}</data>\n");
    let data: String = (0..count).map(data).collect();
    let text = format!("<graphml>{keys}<graph><node id=\"a\">{data}</node></graph></graphml>");
    let graphs = read_as(Format::Graphml, &text).unwrap();
    assert_eq!(graphs[0].graph.node_attributes().unwrap().values()[[0, count - 1]], 59_999.0);
    // Values that are only defaults must not fill the memory.
    let keys = keys.replace("/>", "><default>0</default></key>");
    let node = |node: usize| format!("<node id=\"{node}\"/>");
    let nodes: String = (0..3000).map(node).collect();
    let error = read_as(Format::Graphml, &format!("<graphml>{keys}<graph>{nodes}</graph></graphml>"));
    assert!(error.unwrap_err().to_string().contains("there are more than 134217728 values of attributes"));
}

#[test]
fn frames_of_a_trc_file() {
    let seed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/trc/small.trc");
    let text = std::fs::read_to_string(seed).unwrap();
    let data = read("walk.trc", text.as_bytes(), &|_, _| None).unwrap().data;
    let frames = data.graphs();
    assert_eq!(frames.iter().map(|named| named.id.as_str()).collect::<Vec<_>>(), ["1", "2", "5"]);
    assert_eq!(frames[0].graph.names().unwrap(), ["R.Heel", ""]);
    assert_eq!(frames[1].graph.names().unwrap(), ["R.Heel", "L.Heel"]);
    assert_eq!(frames[2].graph.points().unwrap(), array![[4.0, 5.25, -60.0], [7.0, 8.0, 9.0]]);
    let take = data.take().unwrap();
    assert_eq!((take.times, take.unit.as_deref()), (vec![0.0, 0.01, 0.04], Some("mm")));
    assert_eq!(read_as(Format::Trc, &write(Format::Trc, frames).unwrap()).unwrap(), frames);
    // Times and units survive a data set.
    assert_eq!(homolog::data::dataset::DataSet::from_json(&data.to_json().unwrap()).unwrap(), data);
    for (from, to, expected) in [
        ("PathFileType", "Path", "line 1: a TRC file begins with PathFileType"),
        ("\t100\t3\t3\t", "\t100\t3\t4\t", "line 7: "),
        ("\t100\t3\t3\t", "\t100\t9\t3\t", "line 9: the text ends after 3 of 9 frames"),
        ("L.Heel", "R.Heel", "line 4: duplicate marker \"R.Heel\""),
        ("5.25", "", "line 9: marker 2 has only some of its three coordinates"),
        ("5.25", "x", "line 9: \"x\" is not a finite number"),
        ("\n5\t", "\n2\t", "line 9: duplicate frame 2"),
        ("\n5\t", "\nfive\t", "line 9: \"five\" is not a whole number"),
        ("\t9\n", "\t9\t1\n", "line 9: \"1\" is beyond the 11 columns of 3 markers"),
    ] {
        let changed = text.replacen(from, to, 1);
        match read_as(Format::Trc, &changed) {
            Ok(_) => assert_eq!(expected, "line 7: ", "{from:?} to {to:?}"),
            Err(error) => assert!(error.to_string().contains(expected), "{from:?} to {to:?}: {error}"),
        }
    }
}

#[test]
fn a_recorded_walk_comes_back_as_it_was_written() {
    let Some(place) = data_folder("mocap") else { return };
    let bytes = std::fs::read(place.join("walk.trc")).unwrap();
    let data = read("walk.trc", &bytes, &|_, _| None).unwrap().data;
    assert_eq!((data.graphs().len(), data.graphs()[0].graph.node_count()), (238, 41));
    assert_eq!(data.graphs()[237].graph.names().unwrap()[40], "L.Toe");
    assert_eq!(read_as(Format::Trc, &write(Format::Trc, data.graphs()).unwrap()).unwrap(), data.graphs());
    let take = data.take().unwrap();
    assert!((take.rate.unwrap() - 100.0).abs() < 1e-6 && take.unit.as_deref() == Some("mm"));
}

#[test]
fn frames_of_deeplabcut() {
    let text = "scorer,m,m,m,m,m,m\nbodyparts,nose,nose,nose,tail,tail,tail\ncoords,x,y,likelihood,x,y,likelihood\n0,1,2,0.9,3,4,0.8\n1,,,0.1,5,6,0.7\n";
    let frames = read_as(Format::DeepLabCut, text).unwrap();
    assert_eq!(frames[0].graph.points().unwrap(), array![[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(frames[1].graph.names().unwrap(), ["tail"]);
    assert_eq!(frames[1].graph.node_attributes().unwrap().values(), array![[0.7]]);
    // Labelled frames of several animals.
    let text = "scorer,,,m,m,m,m\nindividuals,,,one,one,two,two\nbodyparts,,,nose,nose,nose,nose\ncoords,,,x,y,x,y\nlabeled-data,film,img1.png,1,2,3,4\n";
    let animals = read_as(Format::DeepLabCut, text).unwrap();
    assert_eq!(
        (animals[0].id.as_str(), animals[1].id.as_str()),
        ("labeled-data/film/img1.png/one", "labeled-data/film/img1.png/two")
    );
    assert_eq!(
        (animals[1].graph.points().unwrap(), animals[1].graph.node_attributes()),
        (array![[3.0, 4.0]].view(), None)
    );
    for (text, reason) in [
        ("scorer,a\nbodyparts,b\n", "line 2: there is no row \"coords\""),
        ("scorer,a\nnonsense,b\n", "line 2: \"nonsense\" is not a row of the header"),
        ("scorer,a,a\nbodyparts,b,b\ncoords,x,x\n", "line 3: column 3: duplicate coordinate of \"b\""),
        ("scorer,a\nbodyparts,b\ncoords,x\n0,1\n", "line 4: the body part \"b\" has no columns x and y"),
        ("scorer,a,a\nbodyparts,b,b\ncoords,x,y\n0,1,\n", "line 4: a coordinate of \"b\" is missing"),
        ("scorer,a,a\nbodyparts,b,b\ncoords,x,y\n0,1,z\n", "line 4: \"z\" is not a finite number"),
    ] {
        let error = read_as(Format::DeepLabCut, text).expect_err(text).to_string();
        assert!(error.starts_with("net, ") && error.contains(reason), "{text:?} gave {error}");
    }
}

#[test]
fn annotations_of_coco() {
    let text = r#"{"info": {}, "images": [{"id": 7, "file_name": "a.jpg", "width": 64, "height": 48}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4], "keypoints": [10, 20, 2, 0, 0, 0, 30, 40, 1]},
                        {"id": 2, "image_id": 7, "category_id": 1}],
        "categories": [{"id": 1, "name": "fly", "keypoints": ["head", "wing", "tail"], "skeleton": [[1, 2], [1, 3]]}]}"#;
    let graphs = read_as(Format::Coco, text).unwrap();
    assert_eq!((graphs.len(), graphs[0].id.as_str(), graphs[0].image.as_deref()), (1, "1", Some("a.jpg")));
    assert_eq!(graphs[0].graph.edges().ends(), [[0, 1], [1, 0]]);
    assert_eq!(graphs[0].graph.image_size(), Some([64.0, 48.0]));
    for (from, to, reason) in [
        ("\"category_id\": 1, \"b", "\"category_id\": 9, \"b", "annotation 1: there is no category 9"),
        (
            "\"image_id\": 7, \"category_id\": 1, \"b",
            "\"image_id\": 8, \"category_id\": 1, \"b",
            "annotation 1: there is no image 8",
        ),
        ("40, 1]", "40]", "annotation 1: 3 keypoints take 9 numbers, there are 8"),
        ("[1, 3]]", "[0, 3]]", "annotation 1: the skeleton has the edge [0, 3]"),
        ("[1, 3]]", "[3, 3]]", "from node 1 to itself"),
        ("\"annotations\"", "\"anotations\"", "missing field `annotations`"),
    ] {
        let error = read_as(Format::Coco, &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("net: ") && error.contains(reason), "{error}");
    }
}

#[test]
fn networks_of_networkx() {
    // As networkx 3 writes it.
    let text = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <key id="d3" for="edge" attr.name="weight" attr.type="double" />
  <key id="d2" for="node" attr.name="colour" attr.type="string" />
  <key id="d1" for="node" attr.name="y" attr.type="double" />
  <key id="d0" for="node" attr.name="x" attr.type="long"><default>7</default></key>
  <key id="d4" for="node" attr.name="big" attr.type="boolean"><default>false</default></key>
  <graph edgedefault="undirected">
    <node id="a &amp; b"><data key="d0">1</data><data key="d1">0.5</data><data key="d2">red</data><data key="d4">true</data></node>
    <node id="c"><data key="d1">-1</data></node>
    <edge source="a &amp; b" target="c"><data key="d3">2.5</data></edge>
  </graph>
</graphml>"#;
    let graphs = read_as(Format::Graphml, text).unwrap();
    let graph = &graphs[0].graph;
    assert_eq!((graphs[0].id.as_str(), graph.names().unwrap()), ("net", &words(&["a & b", "c"])[..]));
    assert_eq!(graph.points().unwrap(), array![[1.0, 0.5], [7.0, -1.0]]);
    let attributes = graph.node_attributes().unwrap();
    assert_eq!(attributes.names(), words(&["big", "colour=red"]));
    assert_eq!(attributes.values(), array![[1.0, 1.0], [0.0, 0.0]]);
    assert_eq!(graph.edge_attributes().unwrap().values(), array![[2.5], [2.5]]);
    for (from, to, reason) in [
        ("target=\"c\"", "target=\"d\"", "line 11: the target \"d\" of an edge is not a node"),
        ("target=\"c\"", "target=\"a &amp; b\"", "line 11: an edge leads from node 0 to itself"),
        ("id=\"c\"", "id=\"a &amp; b\"", "line 10: duplicate node \"a & b\""),
        (">2.5<", ">heavy<", "line 11: \"heavy\" is not a finite number"),
        ("</graph>", "", "line"),
        ("<edge ", "<hyperedge/><edge ", "line 11: hyperedges are not read"),
    ] {
        let error = read_as(Format::Graphml, &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("net, ") && error.contains(reason), "{to} gave {error}");
    }
    assert!(read_as(Format::Graphml, "<svg/>").unwrap_err().to_string().contains("<svg> is not <graphml>"));
}

#[test]
fn networks_come_back_as_they_were_written() {
    let mut rng = rng(102);
    let mut tried = 0;
    for _ in 0..200 {
        let data = random_data_set(&mut rng);
        for named in data.graphs() {
            // Names that XML cannot hold, context points and pictures have no place there; nor do nodes without names.
            let graph = &named.graph;
            if graph.names().is_none()
                || graph.context().is_some()
                || graph.image_size().is_some()
                || graph.node_count() == 0
            {
                continue;
            }
            // A table without columns is the same as no attributes.
            let bare = |table: Option<&Attributes>| table.is_some_and(|table| table.names().is_empty());
            if bare(graph.node_attributes())
                || bare(graph.edge_attributes())
                || graph.names().unwrap().contains(&String::new())
            {
                continue;
            }
            tried += 1;
            let expected = NamedGraph { id: "net".to_string(), image: None, ..named.clone() };
            let text = write(Format::Graphml, std::slice::from_ref(&expected)).unwrap();
            let read = read_as(Format::Graphml, &text).unwrap();
            assert_eq!(read.len(), 1);
            // Edge attributes of a graph without edges cannot be written.
            if graph.edges().is_empty() {
                assert_eq!((read[0].graph.names(), read[0].graph.points()), (graph.names(), graph.points()), "{text}");
            } else {
                assert_eq!(read[0], expected, "{text}");
            }
        }
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn edge_lists_with_and_without_header_and_nodes() {
    let read_by = |reader: Reader, text: &str, nodes: Option<&str>| {
        let beside =
            |name: &str, _: usize| nodes.filter(|_| name == "net.nodes.csv").map(|text| text.as_bytes().to_vec());
        reader.read("net.edges", text.as_bytes(), &beside).map(|loaded| loaded.data.graphs()[0].clone())
    };
    let read = |text: &str, nodes: Option<&str>| read_by(Reader::default(), text, nodes);
    let weighted = |text: &str| {
        let net = read(text, None).unwrap();
        assert_eq!(net.graph.names().unwrap(), ["a", "b", "c"], "{text}");
        assert_eq!(net.graph.edge_attributes().unwrap().values(), array![[0.5], [0.5], [2.0], [2.0]], "{text}");
    };
    weighted("source,target,weight\na,b,0.5\nb,c,2\n");
    weighted("# made by hand\nTarget;Source;weight\nb;a;0.5\nc;b;2\n");
    weighted("a b 0.5\nb c 2\n");
    weighted("% header\na\tb\t0.5\nb\tc\t2\n");
    let nodes = "node,x,y,size\nc,0,1,5\na,1,1,6\nb,2,2,7\nlonely,3,3,8\n";
    let net = read("source,target\na,b\nb,c\n", Some(nodes)).unwrap();
    assert_eq!(net.graph.names().unwrap(), ["c", "a", "b", "lonely"]);
    assert_eq!(net.graph.points().unwrap().row(1), array![1.0, 1.0]);
    assert_eq!(net.graph.node_attributes().unwrap().names(), ["size"]);
    assert_eq!(net.graph.edges().len(), 4);
    let bare = read("source,target\na,b\n", Some("id\nb\na\n")).unwrap();
    assert_eq!(bare.graph.names().unwrap(), ["b", "a"]);
    let one_way = read_by(Reader { directed: true, ..Reader::default() }, "a,b\nb,c\n", None).unwrap();
    assert_eq!(one_way.graph.edges().ends(), [[0, 1], [1, 2]]);
    for (text, nodes, reason) in [
        ("source,target\na,a\n", None, "line 2: an edge leads from node 0 to itself"),
        ("source,target,w\na,b,x\n", None, "line 2: \"x\" is not a finite number"),
        ("source,target\na,\n", None, "line 2: an end of the edge has no name"),
        ("source,target\na,z\n", Some(nodes), "line 2: the node table has no node \"z\""),
        ("a b c d\n", None, "line 1: 4 columns need a header"),
        ("a b\nc\n", None, "line 2: this row has 1 fields, the first has 2"),
        ("source,target,w\na,b,1\nb,a,2\n", None, "given twice, with different attributes"),
    ] {
        let error = read(text, nodes).expect_err(text).to_string();
        assert!(error.starts_with("net.edges, ") && error.contains(reason), "{text:?} gave {error}");
    }
}
