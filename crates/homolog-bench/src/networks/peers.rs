//! scipy's FAQ, graspologic and pygmtools in a Python process, as far as they are installed.

use super::families::Network;
use crate::linear::python;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../../python/network_peers.py");

const REQUIREMENTS: [&str; 4] = ["scipy", "networkx", "graspologic", "pygmtools"];

/// The Python process.
pub(super) struct Peers {
    child: Child,
    answers: BufReader<ChildStdout>,
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
        let mut command = Command::new(program);
        command.args(["-c", SCRIPT]).env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = child.stdout.take().map(BufReader::new).context("no pipe from Python")?;
        let mut peers = Self { child, answers, networks: BTreeMap::new() };
        let hello: Hello = serde_json::from_str(&peers.line()?)?;
        eprintln!("peers: {:?}", hello.versions);
        peers.networks = hello.networks;
        Ok(peers)
    }

    /// What all of them make of two networks, given some pairs.
    pub(super) fn solve(&mut self, left: &Network, right: &Network, seeds: &[[usize; 2]]) -> Result<Vec<Answer>> {
        let request = json!({"nodes": left.nodes, "left": left.edges, "right": right.edges, "seeds": seeds});
        let stdin = self.child.stdin.as_mut().context("no pipe to Python")?;
        writeln!(stdin, "{request}")?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the Python process ended");
        Ok(line)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It ends with its input; if it does not, nothing more can be done.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
