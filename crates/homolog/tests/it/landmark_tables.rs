//! Landmark tables, tables of matches and the authors' house files.

use crate::common;
use crate::data_sets;

use common::{data_folder, rng};
use data_sets::random_data_set;
use homolog::data::Split;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph, match_by_name};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::{house, matches};
use homolog::geometry::delaunay;
use homolog::graph::{Attributes, Graph};
use homolog::matching::{Constraint, Matching};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, RngExt};
use std::sync::Arc;

fn named(id: &str, graph: Graph) -> NamedGraph {
    NamedGraph { id: id.to_string(), graph: Arc::new(graph), image: None }
}

fn random_graphs(rng: &mut impl Rng) -> (Vec<NamedGraph>, LandmarkTable) {
    let dimension = rng.random_range(2..4);
    let attributes: Vec<String> = ["mass", "hue, or so"].map(String::from)[..rng.random_range(0..3)].to_vec();
    let names = ["tip", "a \"b\"", "é,è", "0", "two\nlines"];
    let with_names = rng.random_bool(0.7);
    let mut graph = |index: usize| {
        let count = rng.random_range(1..=names.len());
        let mut number = || rng.random_range(-1.0..1.0) * 10.0_f64.powi(rng.random_range(-15..16));
        let points = Array2::from_shape_simple_fn((count, dimension), &mut number);
        let values = Array2::from_shape_simple_fn((count, attributes.len()), &mut number);
        let mut graph = Graph::from_points(points).unwrap();
        if with_names {
            graph = graph.with_names(names[..count].iter().map(ToString::to_string).collect()).unwrap();
        }
        if !attributes.is_empty() {
            graph = graph.with_node_attributes(Attributes::new(attributes.clone(), values).unwrap()).unwrap();
        }
        named(&format!("frame {index}"), graph)
    };
    let graphs = (0..4).map(&mut graph).collect();
    (graphs, LandmarkTable { attributes, ..LandmarkTable::default() })
}

fn write(graphs: &[NamedGraph]) -> homolog::Result<String> {
    homolog::data::write(homolog::data::Format::Landmarks, graphs)
}

#[test]
fn landmarks_come_back_as_they_were_written() {
    let mut rng = rng(71);
    for _ in 0..100 {
        let (graphs, table) = random_graphs(&mut rng);
        let text = write(&graphs).unwrap();
        assert_eq!(table.read(&text, "table").unwrap(), graphs, "{text}");
    }
}

#[test]
fn columns_may_stand_in_any_order_and_rows_too() {
    let text = "Y;landmark; X ;image\n2;nose;1;b\n\n6;nose;5;a\n4;chin;3;b\n;eye;;a\n";
    let graphs = LandmarkTable::default().read(text, "table").unwrap();
    let expected = |points, names: &[&str]| {
        Graph::from_points(points).unwrap().with_names(names.iter().map(ToString::to_string).collect()).unwrap()
    };
    let b = expected(array![[1.0, 2.0], [3.0, 4.0]], &["nose", "chin"]);
    // The eye was not seen in a.
    let a = expected(array![[5.0, 6.0]], &["nose"]);
    assert_eq!(graphs, [named("b", b), named("a", a)]);
    let alone = LandmarkTable::default().read("x,y\n1,2\n", "wing").unwrap();
    assert_eq!(alone, [named("wing", Graph::from_points(array![[1.0, 2.0]]).unwrap())]);
    assert!(LandmarkTable::default().read("x,y\n", "wing").unwrap().is_empty());
}

#[test]
fn tables_that_make_no_sense_are_refused_with_line_and_reason() {
    let head = "frame,landmark,x,y\n1,nose,1,2\n";
    let cases = [
        (String::new(), 1, "there is no header"),
        (
            "1,2\n3,4\n".into(),
            1,
            "no columns x and y, nor columns such as nose_x and nose_y, nor an attribute; the columns are 1, 2",
        ),
        ("landmark,x\n".into(), 1, "no column \"y\"; the columns are landmark, x"),
        ("x,y,x\n".into(), 1, "duplicate column \"x\""),
        ("x,y,\n".into(), 1, "column 3 has no name"),
        ("x,y,likelihood\n".into(), 1, "unknown column \"likelihood\""),
        ("specimen,landmrak,x,y\n".into(), 1, "unknown column \"landmrak\"; did you mean \"landmark\"?"),
        ("frame,image,x,y\n".into(), 1, "each of frame, image may name the graph"),
        (format!("{head}1,chin,1\n"), 3, "this row has 3 fields, the first has 4"),
        (format!("{head}1,nose,3,4\n"), 3, "the landmark \"nose\" is in graph \"1\" twice"),
        (format!("{head}1,chin,NaN,4\n"), 3, "a coordinate is missing"),
        (format!("{head}1,chin,inf,4\n"), 3, "\"inf\" is not a finite number"),
        (format!("{head}1,chin,1e999,4\n"), 3, "\"1e999\" is not a finite number"),
        (format!("{head}1,chin,\"3,5\",4\n"), 3, "\"3,5\" is not a finite number; write it with a decimal point"),
        (format!("{head}1,chin,,4\n"), 3, "a coordinate is missing; if a landmark was not seen"),
        (format!("{head},chin,3,4\n"), 3, "the field that names the graph is empty"),
    ];
    for (text, line, reason) in cases {
        refused(&LandmarkTable::default(), &text, line, reason);
    }
    let columns = |graph: &str, attributes: &[&str]| LandmarkTable {
        graph: Some(graph.to_string()),
        attributes: attributes.iter().map(ToString::to_string).collect(),
        ..LandmarkTable::default()
    };
    refused(&columns("object", &[]), head, 1, "no column \"object\"; the columns are frame, landmark, x, y");
    refused(&columns("frame", &["mass"]), head, 1, "no column \"mass\"");
    refused(&columns("x", &["x"]), head, 1, "the column \"x\" was given two meanings");
    refused(&columns("frame", &["x"]), head, 1, "no column \"x\"");
    refused(&columns("frame", &["m"]), "frame,x,y,m\n1,2,3,\n", 2, "the attribute \"m\" is missing");
}

fn refused(table: &LandmarkTable, text: &str, line: usize, reason: &str) {
    let error = table.read(text, "table").expect_err(text).to_string();
    let start = format!("landmark table, line {line}: ");
    assert!(error.starts_with(&start) && error.contains(reason), "{text:?} gave {error}");
}

#[test]
fn missing_landmarks_attributes_alone_and_guessed_columns() {
    let read = |text: &str| LandmarkTable::default().read(text, "table").unwrap();
    // Words for "not seen".
    for word in ["", "NA", "NaN", "nan", "n/a", "NULL"] {
        let graphs = read(&format!("specimen,landmark,x,y\n1,nose,1,2\n1,chin,{word},{word}\n"));
        assert_eq!(graphs[0].graph.names().unwrap(), ["nose"], "{word}");
    }
    let unnamed = read("x,y\n1,2\nNA,NA\n3,4\n");
    assert_eq!(unnamed[0].graph.points().unwrap(), array![[1.0, 2.0], [3.0, 4.0]]);
    // Attributes alone.
    let bare = read("object,landmark,attribute:mass\na,p,1\na,q,2\n");
    assert_eq!((bare[0].graph.points(), bare[0].graph.node_count()), (None, 2));
    assert_eq!(read(&write(&bare).unwrap()), bare);
    // Tracks: the frame is the graph, the id is the node.
    let tracks = read("frame,id,x,y\n1,7,0,0\n1,8,1,1\n2,8,2,2\n");
    assert_eq!((tracks[0].id.as_str(), tracks[1].graph.names().unwrap()), ("1", &["8".to_string()][..]));
    let understood = |text: &str| LandmarkTable::default().understand(text).unwrap();
    let tracked = understood("frame,id,x,y\n");
    assert_eq!(
        (tracked.graph.as_deref(), tracked.landmark.as_deref(), tracked.wide),
        (Some("frame"), Some("id"), false)
    );
    let wide = understood("Name;X1;Y1;X2;Y2\n");
    assert_eq!((wide.graph.as_deref(), wide.landmark, wide.wide), (Some("Name"), None, true));
}

#[test]
fn an_attribute_called_z_does_not_become_a_coordinate() {
    for name in ["z", "X", "frame", "landmark", "id", "attribute:z", "mass"] {
        let attributes = Attributes::new(vec![name.to_string()], array![[0.5], [0.7]]).unwrap();
        let graph = Graph::from_points(array![[1.0, 2.0], [3.0, 4.0]]).unwrap();
        let graphs = [named("a", graph.with_node_attributes(attributes).unwrap())];
        let text = write(&graphs).unwrap();
        assert_eq!(LandmarkTable::default().read(&text, "table").unwrap(), graphs, "{text}");
    }
}

#[test]
fn one_specimen_a_row_is_the_same_as_one_landmark_a_row() {
    let read = |text: &str| LandmarkTable::default().read(text, "table").unwrap();
    let long = read("specimen,landmark,x,y,z\na,nose,1,2,3\na,left ear,4,5,6\nb,left ear,7,8,9\n");
    for header in [
        "specimen,nose_x,nose_y,nose_z,left ear_x,left ear_y,left ear_z",
        "beetle,x_nose,y_nose,z_nose,x_left ear,y_left ear,z_left ear",
        "ID,nose.X,nose.Y,nose.Z,left ear X,left ear Y,left ear Z",
    ] {
        assert_eq!(read(&format!("{header}\na,1,2,3,4,5,6\nb,NA,NA,NA,7,8,9\n")), long, "{header}");
    }
    let numbered = read("X1,Y1,X2,Y2\n1,2,3,4\n5,6,,\n");
    assert_eq!((numbered[1].id.as_str(), numbered[1].graph.names().unwrap()), ("2", &["1".to_string()][..]));
    let table = LandmarkTable::default();
    refused(&table, "id,a_x,a_y\n1,2,3\n1,4,5\n", 3, "duplicate specimen \"1\", first on line 2");
    refused(&table, "id,a_x,a_y\n1,2,\n", 2, "a coordinate is missing");
    refused(&table, "id,a_x,a_y,sex\n", 1, "unknown column \"sex\"");
    refused(&table, "id,a_x,a_y,b_x\n", 1, "unknown column \"b_x\"");
}

/// 200,000 columns took more than a minute when every name was compared with every other.
#[test]
fn tables_of_many_columns_are_read_and_refused_at_once() {
    let columns: Vec<String> = (0..100_000).flat_map(|n| [format!("p{n}_x"), format!("p{n}_y")]).collect();
    let row = vec!["1"; columns.len()].join(",");
    let graphs = LandmarkTable::default().read(&format!("id,{}\na,{row}\n", columns.join(",")), "t").unwrap();
    assert_eq!(graphs[0].graph.node_count(), 100_000);
    let others: Vec<String> = (0..200_000).map(|n| format!("c{n}")).collect();
    refused(&LandmarkTable::default(), &format!("x,y,{}\n", others.join(",")), 1, "unknown column \"c0\"");
}

#[test]
fn what_a_table_cannot_hold_is_not_written() {
    let graph = |names: &[&str]| {
        let points = Array2::zeros((names.len(), 2));
        Graph::from_points(points).unwrap().with_names(names.iter().map(ToString::to_string).collect()).unwrap()
    };
    let error = |graphs: &[NamedGraph]| write(graphs).unwrap_err().to_string();
    assert!(error(&[named("a", graph(&[" p"]))]).contains("the landmark \" p\" cannot be a field of a table"));
    assert!(error(&[named(" a", graph(&["p"]))]).contains("the id \" a\" cannot be a field"));
    assert!(error(&[named("a", Graph::new(2))]).contains("the graph has no points"));
    let spatial = Graph::from_points(Array2::zeros((1, 3))).unwrap();
    assert!(error(&[named("a", graph(&["p"])), named("b", spatial)]).contains("coordinates of a landmark"));
}

#[test]
fn matches_are_written_with_what_is_left_over() {
    let graph = |names: [&str; 2]| Graph::new(2).with_names(names.map(String::from).to_vec()).unwrap();
    let graphs = vec![named("a", graph(["p", "q"])), named("b", graph(["q", "r"])), named("c", Graph::new(2))];
    let by_name = match_by_name(&graphs[0].graph, &graphs[1].graph);
    let listed = Matching::new(vec![Some(1), Some(0)], 2, Constraint::OneToOne).unwrap();
    let pairs = vec![
        LabelledPair { split: Some(Split::Train), ..LabelledPair::new(0, 1, by_name) },
        LabelledPair::new(0, 2, Some(listed)),
        LabelledPair { split: Some(Split::Test), ..LabelledPair::new(1, 2, None) },
    ];
    let text = matches::write(&DataSet::new(graphs, pairs).unwrap()).unwrap();
    let expected =
        "left_graph,right_graph,left,right,split\na,b,p,,train\na,b,q,q,train\na,b,,r,train\na,c,p,1,\na,c,q,0,\n";
    assert_eq!(text, expected);
}

#[test]
fn the_house_labels_are_the_landmark_table() {
    let Some(folder) = data_folder("house") else { return };
    let read = |path: String| std::fs::read_to_string(folder.join(path)).unwrap();
    let table = LandmarkTable::default().read(&read("landmarks.csv".into()), "house").unwrap();
    assert_eq!(table.len(), 111);
    for (number, named) in (1..).zip(&table) {
        let adjacency = read(format!("house{number:03}.adj"));
        let frame = house::read_frame(number, &read(format!("label/house{number}")), Some(&adjacency)).unwrap();
        assert_eq!((&frame.id, frame.graph.points()), (&named.id, named.graph.points()));
        assert_eq!(frame.graph.names(), named.graph.names());
        assert!(folder.join(frame.image.unwrap()).is_file());
        // The authors' triangulations lack one or two edges of the hull.
        let own = frame.graph.edges();
        let triangulation = delaunay(named.graph.points().unwrap()).unwrap();
        let missing = triangulation.iter().filter(|&&[i, j]| own.find(i, j).is_none()).count();
        assert!((1..=2).contains(&missing) && own.len() == 2 * (triangulation.len() - missing), "frame {number}");
    }
}

#[test]
fn the_other_tables_are_read_with_their_columns_named() {
    if let Some(folder) = data_folder("faces") {
        let text = std::fs::read_to_string(folder.join("landmarks.csv")).unwrap();
        let faces = LandmarkTable::default().read(&text, "faces").unwrap();
        assert!(faces.len() == 108 && faces.iter().all(|face| face.graph.node_count() == 10));
    }
    if let Some(folder) = data_folder("bikes") {
        let text = std::fs::read_to_string(folder.join("landmarks.csv")).unwrap();
        let error = LandmarkTable::default().read(&text, "bikes").unwrap_err().to_string();
        assert!(error.starts_with("landmark table, line 1: each of image, object may name the graph"));
        let table = LandmarkTable {
            graph: Some("object".into()),
            landmark: Some("name".into()),
            attributes: Vec::new(),
            ignored: ["image", "facing", "landmark"].map(String::from).to_vec(),
        };
        let bikes = table.read(&text, "bikes").unwrap();
        assert_eq!(bikes.len(), 110);
        assert_eq!(bikes[0].graph.names().unwrap()[0], "L_HandleTip");
    }
}

#[test]
fn house_files_that_make_no_sense_are_refused_with_line_and_reason() {
    let labels = "1 2\n3 4\n";
    for (number, labels, adjacency, reason) in [
        (0, labels, None, "house labels, line 1: frames are counted from 1"),
        (1, "1 2\n\n3\n", None, "house labels, line 3: a landmark needs x and y, found 1 numbers"),
        (1, "1 2\n3 nan\n", None, "house labels, line 2: \"nan\" is not a finite number"),
        (1, labels, Some("0 1\n"), "house adjacency, line 1: there are 1 rows for 2 landmarks"),
        (1, labels, Some("0 1\n1 0 0\n"), "house adjacency, line 2: this row has 3 numbers for 2 landmarks"),
        (1, labels, Some("0 1\n0 0\n"), "house adjacency, line 1: landmarks 0 and 1 are joined one way only"),
        (1, labels, Some("0 2\n2 0\n"), "house adjacency, line 1: 2 is neither 0 nor 1"),
        (1, labels, Some("1 0\n0 0\n"), "an edge leads from node 0 to itself"),
    ] {
        let error = house::read_frame(number, labels, adjacency).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
    }
    assert_eq!(
        ["house7", "house007", "house0", "correct", "house"].map(house::frame_number),
        [Some(7), Some(7), None, None, None]
    );
}

proptest! {
    #[test]
    fn spoiled_tables_are_refused_or_read_and_never_panic(seed in 0_u64..1000, start in 0_usize..400, length in 0_usize..9, spoiler in "[\",;\n\t a0.é-]{0,6}|NaN|1e999|frame") {
        let mut rng = rng(seed);
        let (graphs, table) = random_graphs(&mut rng);
        let text = write(&graphs).unwrap();
        let boundary = |at: usize| (at.min(text.len())..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap();
        let (start, end) = (boundary(start), boundary(start + length));
        let spoiled = format!("{}{spoiler}{}", &text[..start], &text[end..]);
        if let Ok(read) = table.read(&spoiled, "table") {
            for graph in &read {
                prop_assert!(graph.graph.points().unwrap().iter().all(|value| value.is_finite()));
            }
        }
        let _ = house::read_frame(1, &spoiled, Some(&text[start..end]));
        let _ = matches::write(&random_data_set(&mut rng));
    }
}
