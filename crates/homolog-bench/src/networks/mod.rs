//! Two networks of which one is a changed and shuffled copy of the other, matched by `--features graph` with its default matcher and by
//! Frank–Wolfe from one start, beside scipy's FAQ, graspologic and pygmtools.
//!
//! Objective: Σ A B[p][:, p], of ranks if the networks are weighted. Times are processor times, of one thread; memory is the most that the
//! process needed meanwhile.

mod families;
mod peers;

use crate::clock::Stopwatch;
use crate::files;
use anyhow::{Context, Result};
use cpu_time::ProcessTime;
use families::{FAMILIES, Network};
use homolog::Control;
use homolog::features::FeatureSet;
use homolog::graph::{Attributes, Direction, Graph, Pair};
use homolog::learn::default_matcher;
use homolog::matching::{FrankWolfe, Method, Restrictions, Workspace};
use homolog::model::Model;
use ndarray::Array2;
use peers::Peers;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `homolog-bench networks`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Two edge lists with the same node numbers, as a further row
    #[arg(num_args = 0..=2)]
    lists: Vec<PathBuf>,
    /// Only small networks and few changes
    #[arg(long)]
    quick: bool,
    /// Write the cells as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Without the Python peers
    #[arg(long)]
    alone: bool,
    /// The Python that has the peers [default: an environment made for benchmarks]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Only so many nodes; may be repeated
    #[arg(long)]
    size: Vec<usize>,
    /// Only this share of the edges changed; may be repeated
    #[arg(long)]
    changed: Vec<f64>,
    /// Only so many seeds; may be repeated
    #[arg(long)]
    seeds: Vec<usize>,
    /// Only networks of this name (mouse-brains, karate, erdos-renyi, ...); may be repeated
    #[arg(long)]
    family: Vec<String>,
}

/// One method on one problem.
#[derive(Serialize)]
struct Cell {
    data: String,
    nodes: usize,
    changed: f64,
    seeds: usize,
    method: String,
    right: usize,
    /// Also those matched to a node with the same neighbours as the right one, or matched as such a node of their own network should be.
    or_twin: usize,
    objective: f64,
    seconds: f64,
    megabytes: f64,
}

#[derive(Default, Serialize)]
struct Table {
    cells: Vec<Cell>,
}

/// Two networks; left node i is right node `place[i]`.
struct Problem {
    data: String,
    changed: f64,
    left: Network,
    right: Network,
    place: Vec<usize>,
}

/// After so many seconds of processor time the default matcher stops looking for a proof. In networks of more than [`SMALL`] nodes the search
/// itself takes longer than that, and nothing is proven.
const LIMIT: f64 = 2.0;
const LARGE_LIMIT: f64 = 60.0;
const SMALL: usize = 500;

/// Larger networks are matched without peers, whose times grow with the cube of the nodes.
const MOST_FOR_PEERS: usize = 2000;

/// Prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut peers = match (!arguments.alone).then(|| Peers::start(arguments.python.as_ref())) {
        Some(Err(error)) => {
            eprintln!("without peers: {error:#}");
            None
        }
        peers => peers.transpose()?,
    };
    println!("| data | nodes | changed | seeds | method | right | or twin | objective | seconds | MB |");
    println!("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    let mut table = Table::default();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (problem, seeds) in problems(arguments, peers.as_ref())? {
        let given: Vec<[usize; 2]> =
            (0..seeds).map(|seed| seed * problem.left.nodes / seeds).map(|i| [i, problem.place[i]]).collect();
        // On one thread, whose processor time is then all there is.
        let mut cells = alone.install(|| ours(&problem, &given))?;
        if let Some(peers) = peers.as_mut().filter(|_| problem.left.nodes <= MOST_FOR_PEERS) {
            for peer in peers.solve(&problem.left, &problem.right, &given)? {
                cells.push(problem.cell(peer.method, &peer.places, given.len(), [peer.seconds, peer.megabytes]));
            }
        }
        for cell in &cells {
            let Cell { data, nodes, changed, seeds, method, right, or_twin, objective, seconds, megabytes } = cell;
            println!(
                "| {data} | {nodes} | {changed} | {seeds} | {method} | {right} | {or_twin} | {objective:.6} | {seconds:.3} | {megabytes:.0} |"
            );
        }
        table.cells.extend(cells);
    }
    if let Some(path) = &arguments.json {
        files::write_json(path, &table)?;
    }
    Ok(())
}

/// All problems, with how many seeds each.
fn problems(arguments: &Arguments, peers: Option<&Peers>) -> Result<Vec<(Problem, usize)>> {
    let mut problems = Vec::new();
    let shared = std::env::var_os("HOMOLOG_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let mouse = ["mouse-54776.edges", "mouse-54777.edges"].map(|name| shared.join("networks").join(name));
    let mut lists = vec![("mouse-brains".to_string(), mouse.to_vec())];
    if let [left, right] = &arguments.lists[..] {
        lists.push((format!("{} {}", left.display(), right.display()), arguments.lists.clone()));
        for path in [left, right] {
            fs::metadata(path).with_context(|| path.display().to_string())?;
        }
    }
    for (data, paths) in lists {
        if paths.iter().any(|path| !path.exists()) {
            eprintln!("without {data}: there is no {}", paths[0].display());
            continue;
        }
        let (mut left, mut right) = (read(&paths[0])?, read(&paths[1])?);
        let nodes = left.nodes.max(right.nodes);
        (left.nodes, right.nodes) = (nodes, nodes);
        for seeds in chosen(&arguments.seeds, &[0, 10, 30]) {
            let place = shuffled(nodes, 7);
            let right = right.reordered(&place);
            problems.push((Problem { data: data.clone(), changed: 0.0, left: left.clone(), right, place }, seeds));
        }
    }
    let known = peers.map(|peers| peers.networks.clone()).unwrap_or_default();
    let known = known.into_iter().map(|(name, edges)| {
        let nodes = edges.iter().map(|edge| edge.0.max(edge.1) + 1).max().unwrap_or(0);
        (name, Network { nodes, edges })
    });
    let sizes = chosen(&arguments.size, if arguments.quick { &[50, 200] } else { &[50, 200, 500, 1000, 2000] });
    let random = FAMILIES.into_iter().flat_map(|family| {
        sizes.iter().map(move |&nodes| (family.to_string(), Network::random(family, nodes, nodes as u64)))
    });
    for (data, left) in known.chain(random) {
        let is_small = left.nodes <= 500 && !arguments.quick;
        let changes: &[f64] = if arguments.quick { &[0.01, 0.05] } else { &[0.0, 0.01, 0.05, 0.1, 0.2] };
        let seed_counts: &[usize] = match (arguments.quick, is_small) {
            (true, _) => &[0],
            (false, true) => &[0, 10, 30],
            (false, false) => &[0, 30],
        };
        for changed in chosen(&arguments.changed, changes) {
            for seeds in chosen(&arguments.seeds, seed_counts) {
                if seeds < left.nodes {
                    let place = shuffled(left.nodes, 7);
                    let right = left.changed(changed, &place, 11);
                    problems.push((Problem { data: data.clone(), changed, left: left.clone(), right, place }, seeds));
                }
            }
        }
    }
    let is_wanted = |data: &String| arguments.family.is_empty() || arguments.family.contains(data);
    problems.retain(|(problem, _)| is_wanted(&problem.data));
    Ok(problems)
}

/// What was asked for, or else the usual.
fn chosen<T: Copy>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() { usual.to_vec() } else { asked.to_vec() }
}

fn shuffled(nodes: usize, seed: u64) -> Vec<usize> {
    let mut place: Vec<usize> = (0..nodes).collect();
    place.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    place
}

/// An edge list `i j weight`.
fn read(path: &Path) -> Result<Network> {
    let mut network = Network::default();
    for line in
        fs::read_to_string(path)?.lines().filter(|line| !line.starts_with(['#', '%']) && !line.trim().is_empty())
    {
        let fields: Vec<&str> = line.split([' ', '\t', ',']).filter(|field| !field.is_empty()).collect();
        let about = || format!("{}: {line:?}", path.display());
        let (i, j): (usize, usize) = (fields[0].parse().with_context(about)?, fields[1].parse().with_context(about)?);
        let weight = fields.get(2).map_or(Ok(1.0), |field| field.parse()).with_context(about)?;
        if i != j {
            network.edges.push((i.min(j), i.max(j), weight));
            network.nodes = network.nodes.max(i.max(j) + 1);
        }
    }
    network.edges.sort_by_key(|&(i, j, _)| (i, j));
    network.edges.dedup_by_key(|&mut (i, j, _)| (i, j));
    Ok(network)
}

impl Network {
    fn is_weighted(&self) -> bool {
        self.edges.iter().any(|edge| edge.2 != 1.0)
    }

    fn graph(&self, is_weighted: bool) -> Result<Arc<Graph>> {
        let ends = self.edges.iter().map(|&(i, j, _)| [i, j]).collect();
        let graph = Graph::new(self.nodes);
        if !is_weighted {
            return Ok(Arc::new(graph.with_edges(ends, Direction::Undirected)?));
        }
        let weights = Array2::from_shape_fn((self.edges.len(), 1), |(e, _)| self.edges[e].2);
        let weights = Attributes::new(vec!["weight".to_string()], weights)?;
        Ok(Arc::new(graph.with_attributed_edges(ends, &weights, Direction::Undirected)?))
    }

    /// The weights of the edges, or their ranks.
    fn values(&self, by_rank: bool) -> BTreeMap<(usize, usize), f64> {
        let mut sorted: Vec<f64> = self.edges.iter().map(|edge| edge.2).collect();
        sorted.sort_by(f64::total_cmp);
        let rank = |weight: f64| {
            let (below, upto) = (sorted.partition_point(|&w| w < weight), sorted.partition_point(|&w| w <= weight));
            0.5 * (below + upto + 1) as f64 / sorted.len() as f64
        };
        let value = |weight: f64| if by_rank { rank(weight) } else { weight };
        self.edges.iter().map(|&(i, j, weight)| ((i.min(j), i.max(j)), value(weight))).collect()
    }
}

/// Our answers.
fn ours(problem: &Problem, given: &[[usize; 2]]) -> Result<Vec<Cell>> {
    let is_weighted = problem.left.is_weighted() || problem.right.is_weighted();
    let given = Restrictions { seeds: given.to_vec(), forbidden: Vec::new() };
    let pair = Pair { given, ..Pair::new(problem.left.graph(is_weighted)?, problem.right.graph(is_weighted)?) };
    let features = FeatureSet::Graph.features([&*pair.left, &*pair.right])?;
    let one = Method::FrankWolfe(FrankWolfe { starts: 1, kicks: 0, ..FrankWolfe::default() });
    let several = Method::FrankWolfe(FrankWolfe::default());
    let limit = if problem.left.nodes > SMALL { LARGE_LIMIT } else { LIMIT };
    let mut cells = Vec::new();
    for (name, method) in
        [("homolog", default_matcher(&features)), ("homolog, several starts", several), ("homolog, one start", one)]
    {
        let model = Model::unlearned_for(features.clone(), Some(method), None, std::slice::from_ref(&pair))?;
        let start = ProcessTime::now();
        let control = Control::new().interrupted_by(move || start.elapsed().as_secs_f64() > limit);
        reset_peak();
        let stopwatch = Stopwatch::start();
        let solution = model.solve_with(&pair, &mut Workspace::with_control(&control))?;
        let seconds = stopwatch.stop().cpu;
        let places: Vec<usize> =
            solution.matching.left_to_right().iter().map(|right| right.unwrap_or(usize::MAX)).collect();
        cells.push(problem.cell(name.to_string(), &places, pair.given.seeds.len(), [seconds, peak()]));
    }
    Ok(cells)
}

impl Problem {
    fn right_or_twin(&self, places: &[usize]) -> usize {
        let (left, right) = (self.left.twins(), self.right.twins());
        let mut node_of = vec![0; self.place.len()];
        self.place.iter().enumerate().for_each(|(i, &k)| node_of[k] = i);
        let are_twins = |twins: &[[usize; 2]], a: usize, b: usize| (0..2).any(|kind| twins[a][kind] == twins[b][kind]);
        let is_fine = |&(i, &k): &(usize, &usize)| {
            k < node_of.len() && (are_twins(&right, k, self.place[i]) || are_twins(&left, i, node_of[k]))
        };
        places.iter().enumerate().filter(is_fine).count()
    }

    fn cell(&self, method: String, places: &[usize], seeds: usize, [seconds, megabytes]: [f64; 2]) -> Cell {
        let by_rank = self.left.is_weighted() || self.right.is_weighted();
        let (left, right) = (self.left.values(by_rank), self.right.values(by_rank));
        let kept = |(&(i, j), value): (&(usize, usize), &f64)| {
            let (k, l) = (places[i].min(places[j]), places[i].max(places[j]));
            2.0 * value * right.get(&(k, l)).copied().unwrap_or(0.0)
        };
        let objective = left.iter().map(kept).sum();
        Cell {
            data: self.data.clone(),
            nodes: self.left.nodes,
            changed: self.changed,
            seeds,
            method,
            right: places.iter().zip(&self.place).filter(|(found, truth)| found == truth).count(),
            or_twin: self.right_or_twin(places),
            objective,
            seconds,
            megabytes,
        }
    }
}

/// Forgets how much memory the process needed so far.
fn reset_peak() {
    // Without the right to do so, the figure is the largest so far.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most megabytes that the process needed since then.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
