//! Peers written in Python, each in its own process that times itself (`python/peers.py`).
//!
//! The packages go into a virtual environment next to the built program, created on first use. If Python, pip or the package
//! registry is missing, the benchmark goes on without these peers.

use super::instances::Size;
use super::solvers::{Assignment, Solver};
use crate::clock::Elapsed;
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../../python/peers.py");
/// What pip is asked for: the series of lapx that the tables name, and the current scipy and scikit-learn.
const REQUIREMENTS: [&str; 3] = ["lapx==0.11.*", "scipy", "scikit-learn"];

/// Starts the named peers, in an environment that is created if it does not exist yet.
pub(crate) fn start(packages: &[&'static str]) -> Result<Vec<PythonSolver>> {
    let python = environment()?;
    packages.iter().map(|package| PythonSolver::start(&python, package)).collect()
}

/// The Python interpreter of the environment next to the running program (`target/bench-python`).
pub(crate) fn environment() -> Result<PathBuf> {
    environment_with("bench-python", &REQUIREMENTS)
}

/// The same for other packages, in a folder of their own.
pub(crate) fn environment_with(name: &str, requirements: &[&str]) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.parent().and_then(Path::parent).context("the program lies in no target folder")?;
    let folder = target.join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    // Written last, so an interrupted installation is repeated.
    let done = folder.join("installed.txt");
    let wanted = requirements.join("\n");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    eprintln!("installing {} into {}", requirements.join(", "), folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    run(Command::new(&python).args(quiet).args(requirements))?;
    fs::write(done, wanted)?;
    Ok(python)
}

/// Runs a command to completion; if it fails, the last line of its output is the reason.
fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("starting {name}"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        bail!("{name}: {}", said.trim().lines().next_back().unwrap_or("failed without a word"));
    }
    Ok(())
}

/// A Python process that answers lines of JSON, each with one.
pub(crate) struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Runs a script, on one thread.
    pub(crate) fn start(python: &Path, script: &str) -> Result<Self> {
        let mut command = Command::new(python);
        command.args(["-c", script]).env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("starting {}", python.display()))?;
        let answers = child.stdout.take().map(BufReader::new).context("no pipe from Python")?;
        Ok(Self { child, answers })
    }

    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the Python process ended");
        Ok(serde_json::from_str(&line)?)
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, request: &serde_json::Value) -> Result<T> {
        writeln!(self.child.stdin.as_mut().context("no pipe to Python")?, "{request}")?;
        self.receive()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends with its input; if it does not, nothing more can be done.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A peer in its Python process.
pub(crate) struct PythonSolver {
    package: &'static str,
    /// Versions of Python, numpy and the package.
    pub(crate) versions: BTreeMap<String, String>,
    matrices: usize,
    child: Child,
    /// Dropped to let the process end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

#[derive(Serialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
enum Request {
    Load { rows: usize, columns: usize, count: usize },
    Assign,
    Time { batch: usize },
}

impl PythonSolver {
    fn start(python: &Path, package: &'static str) -> Result<Self> {
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT, package]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("starting {}", python.display()))?;
        let requests = child.stdin.take();
        let answers = child.stdout.take().map(BufReader::new).context("no pipe from Python")?;
        let mut solver = Self { package, versions: BTreeMap::new(), matrices: 0, child, requests, answers };
        solver.versions = solver.receive()?;
        Ok(solver)
    }

    fn send(&mut self, request: &Request, matrices: &[Vec<f64>]) -> Result<()> {
        let requests = self.requests.as_mut().context("no pipe to Python")?;
        writeln!(requests, "{}", serde_json::to_string(request)?)?;
        for matrix in matrices {
            let bytes: Vec<u8> = matrix.iter().flat_map(|cost| cost.to_ne_bytes()).collect();
            requests.write_all(&bytes)?;
        }
        Ok(requests.flush()?)
    }

    fn receive<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the Python process with {} ended", self.package);
        serde_json::from_str(&line)
            .with_context(|| format!("the Python process with {} answered nonsense", self.package))
    }
}

impl Solver for PythonSolver {
    fn name(&self) -> &'static str {
        self.package
    }

    fn load(&mut self, size: Size, costs: &[Vec<f64>]) -> Result<()> {
        self.matrices = costs.len();
        self.send(&Request::Load { rows: size.rows, columns: size.columns, count: costs.len() }, costs)?;
        let count: usize = self.receive()?;
        ensure!(count == costs.len(), "{} took {count} of {} matrices", self.package, costs.len());
        Ok(())
    }

    fn assignments(&mut self) -> Result<Vec<Assignment>> {
        self.send(&Request::Assign, &[])?;
        let columns: Vec<Vec<i64>> = self.receive()?;
        // A negative column is no column.
        let assignment = |columns: Vec<i64>| columns.into_iter().map(|column| usize::try_from(column).ok()).collect();
        Ok(columns.into_iter().map(assignment).collect())
    }

    fn time(&mut self, batch: usize) -> Result<Vec<Elapsed>> {
        self.send(&Request::Time { batch }, &[])?;
        let elapsed: Vec<Elapsed> = self.receive()?;
        ensure!(elapsed.len() == self.matrices.div_ceil(batch), "{} timed another number of batches", self.package);
        Ok(elapsed)
    }
}

impl Drop for PythonSolver {
    fn drop(&mut self) {
        // Without its pipe the process ends by itself; how it ended no longer matters.
        self.requests = None;
        let _ = self.child.wait();
    }
}
