//! scipy's FAQ, graspologic and pygmtools in a Python process, as far as they are installed.

use super::families::Network;
use crate::linear::python::{self, Process};
use anyhow::Result;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const SCRIPT: &str = include_str!("../../python/network_peers.py");

const REQUIREMENTS: [&str; 4] = ["scipy", "networkx", "graspologic", "pygmtools"];

/// The Python process.
pub(super) struct Peers {
    process: Process,
    /// Networks that come with networkx.
    pub(super) networks: BTreeMap<String, Vec<(usize, usize, f64)>>,
}

#[derive(Deserialize)]
struct Hello {
    versions: BTreeMap<String, String>,
    networks: BTreeMap<String, Vec<(usize, usize, f64)>>,
}

/// What a peer answered: where each left node goes, processor seconds, megabytes.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) method: String,
    pub(super) places: Vec<usize>,
    pub(super) seconds: f64,
    pub(super) megabytes: f64,
}

impl Peers {
    pub(super) fn start(given: Option<&PathBuf>) -> Result<Self> {
        // graspologic and pygmtools do not install everywhere; scipy does.
        let own = || python::environment_with("bench-networks", &REQUIREMENTS).or_else(|_| python::environment());
        let program = given.cloned().map_or_else(own, Ok)?;
        let mut process = Process::start(&program, SCRIPT)?;
        let hello: Hello = process.receive()?;
        eprintln!("peers: {:?}", hello.versions);
        Ok(Self { process, networks: hello.networks })
    }

    /// What all of them make of two networks, given some pairs.
    pub(super) fn solve(&mut self, left: &Network, right: &Network, seeds: &[[usize; 2]]) -> Result<Vec<Answer>> {
        self.process.ask(&json!({"nodes": left.nodes, "left": left.edges, "right": right.edges, "seeds": seeds}))
    }
}
