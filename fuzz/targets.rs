//! What every file reader must survive, as plain functions of bytes: whatever they are, an answer or an error, never a panic; and what
//! was read can be written and read again.
//!
//! Used by the cargo-fuzz targets in this folder, by `homolog-bench fuzz`, which mutates without instrumentation, and by an ordinary
//! test of the library, which runs the seeds and a few mutations of each.

use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::data::landmarks::LandmarkTable;
use homolog::data::{Format, Reader, cost_matrix, dd, house, npy, pair_costs, problem, qaplib, read, tracks, write};
use homolog::features::FeatureMap;
use homolog::learn::Checkpoint;
use homolog::matching::Sense;
use homolog::model::Model;

/// A reader's name, which is also its folder of seeds, and what to do with bytes.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every reader.
pub(crate) const TARGETS: [Target; 22] = [
    ("any_graphs", any_graphs),
    ("c3d", |bytes| graphs(Format::C3d, bytes)),
    ("checkpoint", checkpoint),
    ("coco", |bytes| graphs(Format::Coco, bytes)),
    ("cost_matrix", cost_matrix_text),
    ("dataset", dataset),
    ("dataset_lines", |bytes| with_text(bytes, |text| _ = DataSet::from_json_lines(text))),
    ("dd", |bytes| with_text(bytes, |text| _ = dd::read(text))),
    ("deeplabcut", |bytes| graphs(Format::DeepLabCut, bytes)),
    ("edge_table", edges),
    ("features", features),
    ("graphml", |bytes| graphs(Format::Graphml, bytes)),
    ("house", house_frame),
    ("landmarks", landmarks),
    ("model", model),
    ("npy", |bytes| _ = npy::read(bytes)),
    ("pair_costs", pairs),
    ("pair_table", |bytes| graphs(Format::PairTable, bytes)),
    ("problem", whole_problem),
    ("qaplib_tps", qaplib_tps),
    ("tracks", detections),
    ("trc", trc_text),
];

/// Text readers are given text: anything that is not UTF-8 is refused before it reaches them.
fn with_text(bytes: &[u8], read: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        read(text);
    }
}

/// As what it should be, and as what it looks like.
fn graphs(format: Format, bytes: &[u8]) {
    let _ = Reader { format: Some(format), ..Reader::default() }.read("g", bytes, &|_, _| None);
    any_graphs(bytes);
}

fn qaplib_tps(bytes: &[u8]) {
    with_text(bytes, |text| _ = qaplib::read(text));
    graphs(Format::Tps, bytes);
}

/// A file without a name, which may be anything: its own bytes also lie beside it.
fn any_graphs(bytes: &[u8]) {
    let _ = read("-", bytes, &|_, most| Some(bytes[..bytes.len().min(most)].to_vec()));
}

fn detections(bytes: &[u8]) {
    with_text(bytes, |text| {
        for tracks in [tracks::read_mot(text), tracks::read_table(text, None)].into_iter().flatten() {
            let _ = (tracks.joined(&tracks), tracks.pairs(2));
        }
    });
}

fn trc_text(bytes: &[u8]) {
    with_text(bytes, |text| {
        let trc = |text: &str| read("g.trc", text.as_bytes(), &|_, _| None).map(|read| read.data.graphs().to_vec());
        let Ok(frames) = trc(text) else { return };
        let Ok(written) = write(Format::Trc, &frames) else { panic!("what was read cannot be written") };
        let Ok(again) = trc(&written) else { panic!("what was written cannot be read: {written}") };
        // Columns may come in another order; times, units and points are the same.
        let sorted = |frame: &NamedGraph| {
            let graph = &frame.graph;
            let row = |node: usize| {
                let point = graph.points().map(|points| points.row(node).to_vec());
                format!("{:?} {point:?}", graph.names().map(|names| &names[node]))
            };
            let mut rows: Vec<String> = (0..graph.node_count()).map(row).collect();
            rows.sort_unstable();
            (frame.id.clone(), graph.time(), graph.unit().map(str::to_string), rows)
        };
        let [before, after] = [&frames, &again].map(|frames| frames.iter().map(sorted).collect::<Vec<_>>());
        assert_eq!(after, before, "{written}");
    });
}

fn checkpoint(bytes: &[u8]) {
    with_text(bytes, |text| {
        if let Ok(checkpoint) = serde_json::from_str::<Checkpoint>(text) {
            assert!(serde_json::to_string(&checkpoint).is_ok());
        }
    });
}

fn cost_matrix_text(bytes: &[u8]) {
    with_text(bytes, |text| {
        for sense in [Sense::Minimize, Sense::Maximize] {
            let _ = cost_matrix::read_csv(text, sense);
            if let Ok(named) = cost_matrix::read_named(text, sense) {
                let _ = cost_matrix::problem(named.values, sense);
            }
        }
    });
}

fn dataset(bytes: &[u8]) {
    with_text(bytes, |text| {
        let Ok(data) = DataSet::from_json(text) else { return };
        let Ok(written) = data.to_json() else { panic!("what was read cannot be written") };
        let Ok(again) = DataSet::from_json(&written) else { panic!("what was written cannot be read: {written}") };
        assert_eq!(again.to_json().ok(), Some(written));
    });
}

/// The text before a line of dashes has the edges, the text after it the nodes.
fn edges(bytes: &[u8]) {
    with_text(bytes, |text| {
        let (edges, nodes) = text.split_once("\n---\n").map_or((text, None), |(edges, nodes)| (edges, Some(nodes)));
        let _ = read("g.edges", edges.as_bytes(), &|_, _| nodes.map(|nodes| nodes.as_bytes().to_vec()));
    });
}

fn features(bytes: &[u8]) {
    with_text(bytes, |text| {
        if let Ok(features) = serde_json::from_str::<FeatureMap>(text)
            && features.check().is_ok()
        {
            let _ = features.names();
        }
    });
}

/// The same for labels and adjacency.
fn house_frame(bytes: &[u8]) {
    with_text(bytes, |text| {
        let (labels, edges) = text.split_once("\n---\n").map_or((text, None), |(labels, edges)| (labels, Some(edges)));
        let _ = house::read_frame(1, labels, edges);
    });
}

fn landmarks(bytes: &[u8]) {
    with_text(bytes, |text| {
        let table = LandmarkTable::default();
        let _ = table.understand(text);
        let _ = table.read(text, "g");
    });
}

fn model(bytes: &[u8]) {
    with_text(bytes, |text| {
        let Ok(model) = Model::from_json(text) else { return };
        let Ok(written) = model.to_json() else { panic!("what was read cannot be written") };
        assert_eq!(Model::from_json(&written).ok(), Some(model));
    });
}

fn pairs(bytes: &[u8]) {
    with_text(bytes, |text| {
        for sense in [Sense::Minimize, Sense::Maximize] {
            let _ = (pair_costs::read_csv(text, sense), pair_costs::read_market(text, sense));
        }
    });
}

fn whole_problem(bytes: &[u8]) {
    with_text(bytes, |text| {
        let Ok(file) = problem::read(text) else { return };
        let _ = file.restricted();
        let Ok(written) = problem::write(&file) else { return };
        assert!(problem::read(&written).is_ok(), "what was written cannot be read: {written}");
    });
}
