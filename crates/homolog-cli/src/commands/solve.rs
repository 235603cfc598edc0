//! `homolog solve`: a matching problem from a file, by any matcher. Values are those of the file: costs are minimised.

use super::solve_output::{Answer, Named, Ranked};
use super::usage;
use crate::data_files::{Contents, Problem, ProblemFormat, problem_of};
use crate::given::Given;
use crate::inputs::extension;
use crate::progress::{catch_ctrl_c, stop_is_wanted};
use crate::reading::Reading;
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::Control;
use homolog::data::pair_costs::NamedPairs;
use homolog::data::problem::{self, ProblemFile};
use homolog::matching::Sense;
use homolog::matching::{
    Compatibility, Exact, Linear, Matcher, Method, Restrictions, Solution, Sparse, Status, Workspace, k_best, verify,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Solves a matching problem: a cost matrix, a graph matching problem or a quadratic assignment problem
///
/// Prints the matching, its value, a bound on every matching's value, whether that proves it the best, and the time it took.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  homolog solve costs.csv
  homolog solve similarities.npy --maximize --json
  homolog solve distances.csv --gate 50 --unmatched 30 -o matches.csv
  homolog solve costs.csv --best 5
  homolog solve pairs.csv --unmatched 2
  homolog solve motor1.dd --time-limit 10
  homolog solve nug30.dat --matcher frank-wolfe -o nug30.json
  homolog solve costs.csv --save-problem problem.json

Forbidden pairs of a cost matrix are empty or inf (-inf with --maximize). A matrix may have names in its first row and its first column.
A table with the columns left, right and cost (or score), or a Matrix Market file, lists the pairs that are allowed; it may be large. The
nodes of such a table are numbers from 0, or names.
docs/formats.md has all formats.")]
pub(crate) struct Arguments {
    /// A cost matrix (.csv, .txt, .npy), a list of allowed pairs (.csv, .mtx), a graph matching problem (.dd), a problem of QAPLIB (.dat) or a whole problem (.json); - for standard input
    problem: PathBuf,
    /// File format [default: from its name]
    #[arg(long, value_enum)]
    format: Option<ProblemFormat>,
    /// The solver [default: linear, or exact for problems with edges]
    #[arg(short, long, value_name = "NAME", value_parser = parse_matcher)]
    matcher: Option<Method>,
    /// Maximise: the values are scores, not costs
    #[arg(long)]
    maximize: bool,
    /// Allow left nodes to stay unmatched, each at this cost (with --maximize, for this score)
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, value_parser = parse_finite)]
    unmatched: Option<f64>,
    /// Forbid pairs that cost more than this (with --maximize: score less)
    #[arg(long, value_name = "MAX", allow_negative_numbers = true, value_parser = parse_finite)]
    gate: Option<f64>,
    /// List the K best matchings, best first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    best: Option<u32>,
    #[command(flatten)]
    given: Given,
    /// Stop after this many seconds with the best so far [default: 60]
    #[arg(long, value_name = "SECONDS", default_value = "60", hide_default_value = true, value_parser = parse_seconds)]
    time_limit: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the problem that the solver sees to a JSON file
    #[arg(long, value_name = "FILE")]
    save_problem: Option<PathBuf>,
    /// Write the result to a file: .json for JSON, .csv for a table of the matching, otherwise text as printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn parse_matcher(name: &str) -> Result<Method, String> {
    let all = Method::all();
    let names: Vec<&str> = all.iter().map(Method::name).collect();
    let found = all.iter().find(|method| method.name() == name).cloned();
    found.ok_or_else(|| format!("there are {}", names.join(", ")))
}

pub(super) fn parse_seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "it must be a number of seconds, zero or more".to_string())
}

pub(super) fn parse_finite(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "it must be a finite number".to_string())
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let named = arguments.format.or_else(|| ProblemFormat::of(&arguments.problem));
    if named.is_none() && !files::is_standard(&arguments.problem) {
        usage(format!("{}: unrecognised file type; give --format", arguments.problem.display()));
    }
    let reading = Reading::within(Some(arguments.time_limit));
    let bytes = files::read(&arguments.problem)?;
    let format = named.unwrap_or_else(|| ProblemFormat::of_bytes(&bytes));
    let sense = if arguments.maximize { Sense::Maximize } else { Sense::Minimize };
    if arguments.maximize && matches!(format, ProblemFormat::Dd | ProblemFormat::Qaplib | ProblemFormat::Json) {
        usage("--maximize applies to matrices only: the other formats define whether to maximise".to_string());
    }
    let Problem { mut problem, sense, left, right, given } = match problem_of(bytes, &arguments.problem, format, sense)?
    {
        Contents::Table(problem) => *problem,
        Contents::Pairs(named) if arguments.takes_pairs() => {
            drop(reading);
            return arguments.solve_pairs(named, sense);
        }
        Contents::Pairs(NamedPairs { pairs, left, right }) => {
            Problem { left, right, ..Problem::unnamed(as_table(&pairs)?, sense) }
        }
    };
    drop(reading);
    let names = Named { left, right };
    arguments.narrow(&mut problem, given, &names, sense)?;
    catch_ctrl_c();
    if let Some(path) = &arguments.save_problem {
        let file = ProblemFile::new(problem.clone(), Restrictions::default(), sense);
        files::write(path, problem::write(&file)?.as_bytes())?;
    }
    let method = arguments.matcher.clone().unwrap_or_else(|| match problem.edge {
        None => Method::Linear(Linear::default()),
        Some(_) => Method::Exact(Exact::default()),
    });
    let start = Instant::now();
    let mut work = arguments.workspace(start);
    let solution = method.matcher().solve_with(&problem, &mut work)?;
    let best = match arguments.best {
        Some(count) => Some(k_best(&problem, method.matcher(), count as usize, &mut work)?),
        None => None,
    };
    let seconds = start.elapsed().as_secs_f64();
    check(&problem, &solution)?;
    let tolerance = solution.tolerance(&problem);
    let ranked = best.map(|best| Ranked::new(best, sense));
    let costs = problem.edge.is_none().then(|| {
        let cost = |(i, k): (usize, &Option<usize>)| k.map_or(f64::NAN, |k| sense.turn(problem.node[[i, k]]));
        solution.matching.left_to_right().iter().enumerate().map(cost).collect()
    });
    let name = arguments.problem.display().to_string();
    arguments.put_out(&Answer::new(name, costs, &method, sense, (&solution, tolerance), seconds, names, ranked))
}

fn as_table(pairs: &Sparse) -> Result<Compatibility> {
    Compatibility::check_size(pairs.left_count(), pairs.right_count())
        .context("these options need a table of all pairs; without them the list is solved directly")?;
    Ok(pairs.to_dense())
}

impl Arguments {
    fn workspace(&self, start: Instant) -> Workspace {
        let limit = self.time_limit;
        catch_ctrl_c();
        let control = Control::new().interrupted_by(move || stop_is_wanted() || start.elapsed() >= limit);
        Workspace::with_control(&control.timed(true))
    }

    fn put_out(&self, answer: &Answer) -> Result<Ending> {
        let by_name = self.output.as_deref().map(extension).unwrap_or_default();
        let text = match by_name.as_str() {
            "csv" => answer.table()?,
            _ if self.json || by_name == "json" => answer.json()?,
            _ => answer.text(),
        };
        match &self.output {
            Some(path) => files::write(path, text.as_bytes())?,
            None if self.json => files::print_data(text.as_bytes())?,
            None => files::print(text.as_bytes())?,
        }
        Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
    }

    /// Whether a list of pairs can be solved as it stands: anything else needs a table.
    fn takes_pairs(&self) -> bool {
        let is_linear = self.matcher.as_ref().is_none_or(|method| matches!(method, Method::Linear(_)));
        is_linear && self.save_problem.is_none()
    }

    /// Memory and time are those of the pairs, not of a table.
    fn solve_pairs(&self, NamedPairs { mut pairs, left, right }: NamedPairs, sense: Sense) -> Result<Ending> {
        if let Some(gate) = self.gate {
            pairs = pairs.gated(sense.turn(gate));
        }
        if let Some(price) = self.unmatched {
            let prices = vec![sense.turn(price); pairs.left_count()];
            pairs = pairs.with_unmatched(prices)?;
        }
        let names = Named { left, right };
        let mut given = Restrictions::default();
        self.add_given(&mut given, &names, (pairs.left_count(), pairs.right_count()))?;
        if !given.is_empty() {
            pairs = pairs.restricted(&given)?;
        }
        let start = Instant::now();
        let (solver, mut work) = (Linear::default(), self.workspace(start));
        let solution = solver.solve_with(&pairs, &mut work)?;
        let best = self.best.map(|count| k_best(&pairs, &Linear::default(), count as usize, &mut work)).transpose()?;
        let seconds = start.elapsed().as_secs_f64();
        if let (Some(certificate), Status::Optimal) = (&solution.certificate, solution.status) {
            verify(&pairs, &solution.matching, certificate)?;
        }
        let score = |i: usize, k: usize| pairs.pair_score(i, k).map_or(f64::NAN, |score| sense.turn(score));
        let cost = |(i, k): (usize, &Option<usize>)| k.map_or(f64::NAN, |k| score(i, k));
        let costs = solution.matching.left_to_right().iter().enumerate().map(cost).collect();
        let (name, method) = (self.problem.display().to_string(), Method::Linear(solver));
        let ranked = best.map(|best| Ranked::new(best, sense));
        let proven = (&solution, solution.tolerance(&pairs));
        self.put_out(&Answer::new(name, Some(costs), &method, sense, proven, seconds, names, ranked))
    }

    /// Gate, price, seeds and forbidden pairs, on top of those that the file gives.
    fn narrow(&self, problem: &mut Compatibility, mut given: Restrictions, names: &Named, sense: Sense) -> Result<()> {
        if let Some(gate) = self.gate {
            let least = sense.turn(gate);
            problem.node.mapv_inplace(|score| if score < least { f64::NEG_INFINITY } else { score });
        }
        if let Some(price) = self.unmatched {
            problem.unmatched = Some(ndarray::Array1::from_elem(problem.left_count(), sense.turn(price)));
        }
        self.add_given(&mut given, names, (problem.left_count(), problem.right_count()))?;
        Ok(given.apply(problem)?)
    }

    /// Seeds and forbidden pairs of the command line, by name or number.
    fn add_given(&self, given: &mut Restrictions, names: &Named, (left, right): (usize, usize)) -> Result<()> {
        let find = |names: &Option<Vec<String>>, count: usize, word: &str| match names {
            Some(names) => names.iter().position(|name| name == word),
            None => word.parse().ok().filter(|&node| node < count),
        };
        self.given.add_to(given, |word| find(&names.left, left, word), |word| find(&names.right, right, word))
    }
}

/// The proof of a linear answer, by other means than the solver's.
fn check(problem: &Compatibility, solution: &Solution) -> Result<()> {
    let (Some(certificate), Status::Optimal) = (&solution.certificate, solution.status) else { return Ok(()) };
    // A certificate is of node scores; where there are edges too, it is of their exact solver's first step.
    if problem.edge.as_ref().is_some_and(|edge| !edge.is_empty()) {
        return Ok(());
    }
    let prices = problem.unmatched.iter().chain(&problem.right_unmatched).flatten();
    let finite = problem.node.iter().chain(prices).filter(|score| score.is_finite());
    let largest = finite.fold(0.0_f64, |largest, score| largest.max(score.abs()));
    let terms = (problem.left_count() + problem.right_count()) as f64;
    let bound = verify(&problem.without_edges(), &solution.matching, certificate)?;
    let score = problem.score(&solution.matching)?;
    if bound - score > ROUNDING * largest * terms {
        bail!("the proof does not hold: the value is {score}, the bound {bound}. Please report this");
    }
    Ok(())
}

/// Of a sum, as a part of its largest term, for each term: a few units in the last place.
const ROUNDING: f64 = 1e-14;
