//! Data sets as text: what is written reads back equal; what makes no sense is refused, with its place and the reason; nothing panics.

use crate::common;
use crate::data_sets;

use common::rng;
use data_sets::random_data_set;
use homolog::data::Split;
use homolog::data::dataset::{DataSet, LabelledPair, NamedGraph};
use homolog::graph::Graph;
use homolog::matching::{Constraint, Matching};
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn what_is_written_reads_back_equal() {
    let mut rng = rng(61);
    for _ in 0..500 {
        let data = random_data_set(&mut rng);
        let (json, lines) = (data.to_json().unwrap(), data.to_json_lines().unwrap());
        assert_eq!(DataSet::from_json(&json).unwrap(), data, "{json}");
        assert_eq!(DataSet::from_json_lines(&lines).unwrap(), data, "{lines}");
        assert_eq!(DataSet::from_json(&json).unwrap().to_json().unwrap(), json);
    }
}

#[test]
fn names_and_numbers_of_nodes_mean_the_same() {
    let text = |matches: &str, edges: &str| {
        file(&format!(
            r#"{{"id":"a","points":[[0,0],[1,0],[0,1]],"names":["p","q","r"],"edges":{edges}}},{{"id":"b","nodes":2}}"#
        ))
        .replace("\"pairs\":[]", &format!(r#""pairs":[{{"left":"a","right":"b","matches":{matches}}}]"#))
    };
    let by_number = DataSet::from_json(&text("[[2,0],[0,1]]", "[[0,1],[2,1]]")).unwrap();
    let by_name = DataSet::from_json(&text(r#"[["p",1],["q",null],["r",0]]"#, r#"[["q","p"],[1,"r"]]"#)).unwrap();
    assert_eq!(by_number, by_name);
    assert_eq!(by_number.pairs()[0].truth.as_ref().unwrap().left_to_right(), [Some(1), None, Some(0)]);
    assert_eq!(by_number.graphs()[0].graph.edges().ends(), [[0, 1], [1, 0], [1, 2], [2, 1]]);
}

#[test]
fn matches_may_be_known_by_name_empty_or_unknown() {
    let graphs = r#"{"id":"a","names":["p","q"]},{"id":"b","names":["q","s"]},{"id":"c","names":["x"]}"#;
    let pair = |right: &str, matches: &str| {
        let pair = format!(r#""pairs":[{{"left":"a","right":"{right}"{matches}}}]"#);
        DataSet::from_json(&file(graphs).replace("\"pairs\":[]", &pair)).unwrap().pairs()[0].truth.clone()
    };
    let one = |map| Some(Matching::new(map, 2, Constraint::OneToOne).unwrap());
    assert_eq!(pair("b", ""), one(vec![None, Some(0)]), "shared names give the matches");
    assert_eq!(pair("b", r#","matches":null"#), one(vec![None, Some(0)]));
    assert_eq!(pair("b", r#","matches":[]"#), one(vec![None, None]), "known: nothing matches");
    assert_eq!(pair("b", r#","matches":"unknown""#), None);
    assert_eq!(pair("c", ""), None, "no name is shared");
}

/// A data set with these graphs.
fn file(graphs: &str) -> String {
    format!(r#"{{"format":{{"kind":"homolog-data","version":1}},"graphs":[{graphs}],"pairs":[]}}"#)
}

#[test]
fn graphs_that_make_no_sense_are_refused_with_place_and_reason() {
    let long = format!(r#"{{"id":"a","points":[{}]}}"#, vec!["[0,0]"; 262_145].join(","));
    for (graph, place, reason) in [
        (r#"{"id":"a"}"#, r#"graphs[0] (graph "a")"#, "nothing says how many nodes there are"),
        (r#"{"id":"","nodes":1}"#, "graphs[0].id", "may not be empty"),
        (r#"{"nodes":1}"#, "line 1, column", "missing field `id`"),
        (r#"{"id":7,"nodes":1}"#, "graphs[0].id)", "invalid type: integer `7`, expected a string"),
        (r#"{"id":"a","nodes":1,"colour":2}"#, "graphs[0].colour)", "unknown field `colour`, expected one of `id`"),
        (r#"{"id":"a","nodes":1},{"id":"a","nodes":1}"#, r#"graphs[1].id (graph "a")"#, "graphs[0] has it already"),
        (r#"{"id":"a","nodes":1,"nodes":1}"#, "graphs[0]", "duplicate field `nodes`"),
        (r#"["a",1]"#, "(graphs[0])", "invalid type: sequence, expected an object"),
        (
            r#"{"id":"a","points":[[0,1],["NaN",1]]}"#,
            "graphs[0].points[1][0])",
            "string \"NaN\", expected a finite number",
        ),
        (r#"{"id":"a","points":[[0,NaN]]}"#, "graphs[0].points[0]", "NaN and Infinity are no numbers of JSON"),
        (r#"{"id":"a","points":[[0,1e999]]}"#, "graphs[0].points[0][1])", "number out of range"),
        (r#"{"id":"a","points":[[0,null]]}"#, "graphs[0].points[0][1])", "null, expected a finite number"),
        (r#"{"id":"a","points":[[0,1],[0,1,2]]}"#, "graphs[0].points", "this point has 3 coordinates, the first has 2"),
        (r#"{"id":"a","points":[[0]]}"#, "graphs[0].points", "a point has two or three coordinates"),
        (r#"{"id":"a","points":[[0,1,2,3]]}"#, "graphs[0].points", "a point has two or three coordinates"),
        (&long, "graphs[0].points", "there are more than 262144"),
        (r#"{"id":"a","nodes":1000000000000}"#, "graphs[0].nodes", "more than the 262144 a graph may have"),
        (r#"{"id":"a","nodes":-1}"#, "graphs[0].nodes)", "invalid value: integer `-1`"),
        (r#"{"id":"a","points":[[0,1]],"names":["p","q"]}"#, "graphs[0].names", "for 2 nodes, but points is for 1"),
        (r#"{"id":"a","points":[[0,1]],"nodes":3}"#, "graphs[0].nodes", "for 3 nodes, but points is for 1"),
        (r#"{"id":"a","names":["p","p"]}"#, "graphs[0].names", "\"p\" occurs twice"),
        (
            r#"{"id":"a","nodes":2,"attributes":{"m":[1,2],"h":[1]}}"#,
            "graphs[0].attributes",
            "\"h\" has 1 values, but there are 2 nodes",
        ),
        (r#"{"id":"a","nodes":1,"attributes":{"m":[1],"m":[1]}}"#, "graphs[0].attributes", "\"m\" occurs twice"),
        (r#"{"id":"a","nodes":1,"attributes":{"m":["x"]}}"#, "graphs[0].attributes.m[0])", "expected a finite number"),
        (r#"{"id":"a","nodes":1,"context":[[0,0]]}"#, "graphs[0].context", "the graph has no points"),
        (
            r#"{"id":"a","nodes":2,"edges":[[0,1],[0,2]]}"#,
            "graphs[0].edges[1]",
            "there is no node 2: there are 2, counted from 0",
        ),
        (r#"{"id":"a","nodes":2,"edges":[[0,"p"]]}"#, "graphs[0].edges[0]", "the nodes of this graph have no names"),
        (r#"{"id":"a","names":["q"],"edges":[[0,"p"]]}"#, "graphs[0].edges[0]", "there is no node with the name \"p\""),
        (r#"{"id":"a","nodes":2,"edges":[[1,1]]}"#, "graphs[0].edges[0]", "an edge leads from node 1 to itself"),
        (r#"{"id":"a","nodes":2,"edges":[[1]]}"#, "graphs[0].edges[0]", "invalid length 1"),
        (
            r#"{"id":"a","nodes":2,"edges":[[0,1.5]]}"#,
            "graphs[0].edges[0][1])",
            "expected the number of a node, from 0, or its name",
        ),
        (
            r#"{"id":"a","nodes":2,"edges":[[0,1]],"edge_attributes":{"w":[1,2]}}"#,
            "graphs[0].edge_attributes",
            "\"w\" has 2 values, but there are 1 edges",
        ),
        (
            r#"{"id":"a","nodes":2,"edges":[[0,1],[1,0]],"edge_attributes":{"w":[1,2]}}"#,
            "graphs[0].edges",
            "given twice, with different attributes",
        ),
        (
            r#"{"id":"a","nodes":2,"image_size":[0,5]}"#,
            "graphs[0].image_size",
            "image width and height: 0 at position 0",
        ),
    ] {
        refused(&file(graph), place, reason);
    }
}

#[test]
fn pairs_that_make_no_sense_are_refused_with_place_and_reason() {
    let graphs = r#"{"id":"a","names":["p","q"]},{"id":"b","names":["q","s"]}"#;
    for (pair, place, reason) in [
        (r#"{"left":"a","right":"c"}"#, r#"pairs[0].right ("a" to "c")"#, "there is no graph with the id \"c\""),
        (r#"{"left":0,"right":"b"}"#, "(pairs[0].left)", "integer `0`, expected a string"),
        (r#"{"left":"a"}"#, "(pairs[0])", "missing field `right`"),
        (
            r#"{"left":"a","right":"b","matches":[[0,0],[2,1]]}"#,
            "pairs[0].matches[1]",
            "left: there is no node 2: there are 2",
        ),
        (r#"{"left":"a","right":"b","matches":[[0,7]]}"#, "pairs[0].matches[0]", "right: there is no node 7"),
        (
            r#"{"left":"a","right":"b","matches":[[0,"p"]]}"#,
            "pairs[0].matches[0]",
            "right: there is no node with the name \"p\"",
        ),
        (
            r#"{"left":"a","right":"b","matches":[[0,0],["p",1]]}"#,
            "pairs[0].matches[1]",
            "left node is in matches[0] already",
        ),
        (
            r#"{"left":"a","right":"b","matches":[[0,null],[0,1]]}"#,
            "pairs[0].matches[1]",
            "left node is in matches[0] already",
        ),
        (
            r#"{"left":"a","right":"b","matches":[[0,0],[1,"q"]]}"#,
            "pairs[0].matches[1]",
            "right node is in matches[0] already",
        ),
        (
            r#"{"left":"a","right":"b","matches":[[0,-1]]}"#,
            "pairs[0].matches[0]",
            "integer `-1`, expected the number of a node",
        ),
        (
            r#"{"left":"a","right":"b","matches":[[null,1]]}"#,
            "pairs[0].matches[0][0])",
            "null, expected the number of a node",
        ),
        (r#"{"left":"a","right":"b","matches":[[0,1,2]]}"#, "pairs[0].matches", "trailing characters"),
        (
            r#"{"left":"a","right":"b","matches":"all"}"#,
            "(pairs[0].matches)",
            "expected a list of [left, right], or \"unknown\"",
        ),
        (
            r#"{"left":"a","right":"b","split":"training"}"#,
            "(pairs[0].split)",
            "unknown variant `training`, expected one of `train`, `validation`, `test`",
        ),
        (r#"{"left":"a","right":"b","weight":2}"#, "(pairs[0].weight)", "unknown field `weight`"),
    ] {
        refused(&file(graphs).replace("\"pairs\":[]", &format!("\"pairs\":[{pair}]")), place, reason);
    }
}

#[test]
fn other_files_and_huge_counts_are_refused() {
    let model = r#"{"format":{"kind":"homolog-model","version":1},"features":{}}"#;
    refused(model, "format", "this is a \"homolog-model\" file, not a \"homolog-data\" file");
    refused(
        &file("").replace("\"version\":1", "\"version\":2"),
        "format",
        "version 2 is not known; this program reads up to 1",
    );
    refused(r#"{"graphs":[]}"#, "line 1", "there is no \"format\"");
    refused("", "line 1, column 0", "EOF while parsing a value");
    refused("[]", "line 1", "expected an object");
    refused("{\n\"format\": {\"kind\": \"homolog-data\",\n \"version\": 1,}}", "line 3, column", "trailing comma");
    refused(&(file("") + "x"), "line 1, column", "trailing characters");
    refused(&file("").replace(",\"graphs\":[]", ""), "line 1, column", "missing field `graphs`");
    let many: Vec<String> = (0..200).map(|id| format!(r#"{{"id":"{id}","nodes":100000}}"#)).collect();
    refused(&file(&many.join(",")), "graphs[167]", "more than 16777216 nodes");
    let pairs = vec![r#"{"left":"0","right":"0"}"#; 400].join(",");
    let text = file(&many[0]).replace("\"pairs\":[]", &format!("\"pairs\":[{pairs}]"));
    refused(&text, "pairs[335]", "more than 67108864 nodes in all pairs");
}

#[test]
fn lines_are_refused_by_their_number() {
    let good = "{\"id\":\"a\",\"nodes\":1}\n\n{\"left\":\"a\",\"right\":\"a\"}\n";
    assert_eq!(DataSet::from_json_lines(good).unwrap().pairs().len(), 1);
    for (more, place, reason) in [
        ("{\"id\":\"a\",\"nodes\":1}", "line 4, id (graph \"a\")", "this id is taken: line 1 has it already"),
        ("{\"left\":\"a\",\"right\":\"b\"}", "line 4, right (\"a\" to \"b\")", "no graph with the id \"b\""),
        ("{\"id\":\"b\",\"points\":[[0]]}", "line 4, column", "two or three coordinates"),
        ("{\"id\":\"b\",", "line 4, column 10", "EOF"),
        ("{\"name\":\"b\"}", "line 4", "neither a graph, which has \"id\", nor a pair"),
        ("{\"format\":{\"kind\":\"homolog-data\",\"version\":1}}", "line 4", "the head belongs on the first line"),
    ] {
        let error = DataSet::from_json_lines(&format!("{good}{more}\n")).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(reason), "{more} gave {error}");
    }
    let newer = "{\"format\":{\"kind\":\"homolog-data\",\"version\":9}}\n";
    assert!(DataSet::from_json_lines(newer).unwrap_err().to_string().contains("version 9 is not known"));
}

#[test]
fn a_data_set_is_checked_when_it_is_put_together() {
    let graph = |id: &str| NamedGraph { id: id.into(), graph: Arc::new(Graph::new(2)), image: None };
    let pair = |right, truth| LabelledPair { split: Some(Split::Test), ..LabelledPair::new(0, right, truth) };
    let twice = DataSet::new(vec![graph("a"), graph("a")], vec![]).unwrap_err();
    assert_eq!(twice.to_string(), "data set, graphs[1]: the id \"a\" is that of graphs[0] already");
    let outside = DataSet::new(vec![graph("a")], vec![pair(1, None)]).unwrap_err();
    assert_eq!(outside.to_string(), "graphs of a pair: index 1 is out of range, there are 1");
    let wrong = DataSet::new(vec![graph("a")], vec![pair(0, Some(Matching::identity(3)))]).unwrap_err();
    assert_eq!(wrong.to_string(), "left nodes of a truth: expected 2, found 3");
    let data = DataSet::new(vec![graph("a"), graph("b")], vec![pair(1, None)]).unwrap();
    assert_eq!((data.find("b"), data.find("c")), (Some(1), None));
}

fn refused(text: &str, place: &str, reason: &str) {
    let short: String = text.chars().take(300).collect();
    let error = DataSet::from_json(text).expect_err(&short).to_string();
    assert!(error.contains(place) && error.contains(reason), "{short}\ngave {error}");
}

#[test]
fn truncated_texts_are_refused() {
    let mut rng = rng(62);
    for _ in 0..20 {
        let data = random_data_set(&mut rng);
        let text = data.to_json().unwrap();
        let whole = text.trim_end().len();
        for end in (0..whole).filter(|&end| text.is_char_boundary(end)) {
            let error = DataSet::from_json(&text[..end]).expect_err("a part of a text");
            assert!(error.to_string().contains("line"), "{error}");
        }
    }
}

/// Words inserted to corrupt a text.
const SPOILERS: [&str; 16] = [
    "NaN",
    "-1",
    "1e999",
    "null",
    "\"\"",
    "[]",
    "{}",
    "99999999999999999999",
    "\"graph 0\"",
    "0",
    ",",
    "true",
    "[[0,0],[0,0]]",
    "1.5",
    "\u{0}",
    "-0",
];

proptest! {
    #[test]
    fn spoiled_texts_are_refused_or_read_and_never_panic(seed in 0_u64..1000, place in 0.0..1.0_f64, length in 0_usize..12, spoiler in 0_usize..17) {
        let data = random_data_set(&mut rng(seed));
        for lines in [false, true] {
            let text = if lines { data.to_json_lines().unwrap() } else { data.to_json().unwrap() };
            let parse = if lines { DataSet::from_json_lines } else { DataSet::from_json };
            let write = if lines { DataSet::to_json_lines } else { DataSet::to_json };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in a short text")]
            let start = (place * text.len() as f64) as usize;
            let boundary = |at: usize| (at.min(text.len())..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap();
            let (start, end) = (boundary(start), boundary(start + length));
            let middle = SPOILERS.get(spoiler).copied().unwrap_or_default();
            let spoiled = format!("{}{middle}{}", &text[..start], &text[end..]);
            // If it is read anyway, it is a data set like any other.
            if let Ok(read) = parse(&spoiled) {
                prop_assert_eq!(parse(&write(&read).unwrap()).unwrap(), read);
            }
        }
    }
}

#[test]
fn partners_may_be_unknown_and_pairs_given() {
    let graphs = r#"{"id":"a","names":["nose","chin","ear"]},{"id":"b","names":["nose","chin","ear"]}"#;
    let text = |pair: &str| {
        file(graphs).replace("\"pairs\":[]", &format!("\"pairs\":[{{\"left\":\"a\",\"right\":\"b\",{pair}}}]"))
    };
    let read = |pair: &str| DataSet::from_json(&text(pair)).unwrap().pairs()[0].clone();
    let by_name = read(r#""unknown":["ear",1]"#);
    assert_eq!(by_name.unknown, [1, 2]);
    assert_eq!(by_name.truth.unwrap().left_to_right(), [Some(0), None, None]);
    let listed =
        read(r#""matches":[["nose",1]],"unknown":["chin"],"seeds":[["nose","chin"]],"forbidden":[["chin","ear"]]"#);
    assert_eq!((listed.unknown, listed.given.seeds, listed.given.forbidden), (vec![1], vec![[0, 1]], vec![[1, 2]]));
    for (pair, reason) in [
        (r#""unknown":["tail"]"#, "unknown[0] (\"a\" to \"b\"): there is no node with the name \"tail\""),
        (
            r#""matches":[["nose","nose"]],"unknown":[0]"#,
            "matches[0] (\"a\" to \"b\"): the partner of this left node is marked as unknown",
        ),
        (r#""seeds":[[0,3]]"#, "seeds[0] (\"a\" to \"b\"): right: there is no node 3"),
        (r#""seeds":[[0,0],[0,1]]"#, "left node 0 has two seeds"),
        (r#""seeds":[[0,0],[1,0]]"#, "both matched to right node 0"),
        (r#""seeds":[[0,0]],"forbidden":[[0,0]]"#, "that pair is forbidden"),
        (r#""seeds":[[0,1]]"#, "given as a seed, but are not matched"),
        (r#""forbidden":[["chin","chin"]]"#, "that pair is forbidden"),
    ] {
        refused(&text(pair), "pairs[0]", reason);
    }
}
