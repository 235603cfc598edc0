//! The tests of the library, as one program: a module per subject. `cargo test -p homolog --test it linear::` runs one.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    unreachable_pub,
    reason = "a panic is a test's report, a line its word; small numbers are drawn; helpers are shared"
)]

mod allocation;
mod appearance;
mod atlas;
mod auto;
mod certified;
mod certified_house;
mod certified_minimum;
mod columns;
mod common;
mod cost_files;
mod data_sets;
mod dataset;
mod dataset_schema;
mod delaunay;
mod drawing;
mod evidence;
mod exact;
mod examples;
mod explain;
mod feature_settings;
mod features;
mod golden_files;
mod graph_files;
mod graphs;
mod house;
mod house_data;
mod interrupts;
mod join;
mod json_schema;
mod k_best;
mod labelling;
mod landmark_tables;
mod large;
mod laws;
mod laws_of_matching;
mod layers;
mod learn_house;
mod learning;
mod likelihood;
mod linear;
mod linear_costs;
mod long_calls;
mod losses;
mod made;
mod made_specimens;
mod margins;
mod matchers;
mod memory;
mod model_files;
mod networks;
mod node_texts;
mod optimize;
mod optimize_house;
mod optimize_runs;
mod page_honesty;
mod pair_features;
mod pairing;
mod paper;
mod paper_page;
mod partial_networks;
mod polyhedral;
mod pose;
mod presence;
mod problem_files;
mod procrustes;
mod proofs;
mod proposals;
mod prose;
mod public_api;
mod quadratic;
mod quadratic_terms;
mod readers;
mod reference;
mod relaxation;
mod relaxed_reference;
mod restrictions;
mod same_problem;
mod scale;
mod scene;
mod searches;
mod shape_context;
mod shards;
mod soft_features;
mod sparse;
mod specimen_check;
mod stand_ins;
mod streamed;
mod susan;
mod takes;
mod task;
mod timed;
mod training;
mod turntable;
mod whole_problems;
