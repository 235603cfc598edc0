//! `homolog solve`: a matching problem from a file, by any matcher. Values are those of the file: costs are minimised.

use super::usage;
use crate::data_files::{ProblemFormat, read_problem};
use crate::inputs::extension;
use crate::progress::{catch_ctrl_c, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Result, bail};
use homolog::Control;
use homolog::data::cost_matrix::Sense;
use homolog::data::problem::{self, ProblemFile};
use homolog::matching::{
    Compatibility, Exact, Linear, Method, Restrictions, Shortage, Solution, Status, Workspace, verify,
};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Solves a matching problem: a cost matrix, a graph matching problem or a quadratic assignment problem
///
/// Prints the matching, its value, a bound on every matching's value, whether that proves it the best, and the time it took.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  homolog solve costs.csv
  homolog solve similarities.npy --maximize --json
  homolog solve motor1.dd --time-limit 10
  homolog solve nug30.dat --matcher frank-wolfe -o nug30.json
  homolog solve costs.csv --save-problem problem.json

Forbidden pairs of a cost matrix are empty or inf (-inf with --maximize). docs/formats.md has all formats.")]
pub(crate) struct Arguments {
    /// A cost matrix (.csv, .txt, .npy), a graph matching problem (.dd), a problem of QAPLIB (.dat) or a whole problem (.json); - for standard input
    problem: PathBuf,
    /// What the file is; by default what its name says
    #[arg(long, value_enum)]
    format: Option<ProblemFormat>,
    /// The solver [default: linear, or exact for problems with edges]
    #[arg(short, long, value_name = "NAME", value_parser = parse_matcher)]
    matcher: Option<Method>,
    /// The matrix has scores, and large ones are wanted
    #[arg(long)]
    maximize: bool,
    /// Stop after so many seconds with the best so far [default: 60]
    #[arg(long, value_name = "SECONDS", default_value = "60", hide_default_value = true, value_parser = parse_seconds)]
    time_limit: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the problem itself into a file, as JSON: everything that the solver sees
    #[arg(long, value_name = "FILE")]
    save_problem: Option<PathBuf>,
    /// Write the result into a file: .json for JSON, .csv for a table of the matching, anything else as it is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn parse_matcher(name: &str) -> Result<Method, String> {
    let all = Method::all();
    let names: Vec<&str> = all.iter().map(Method::name).collect();
    let found = all.iter().find(|method| method.name() == name).cloned();
    found.ok_or_else(|| format!("there are {}", names.join(", ")))
}

fn parse_seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "it must be a number of seconds, zero or more".to_string())
}

/// What is printed, as JSON has it.
#[derive(Serialize)]
struct Answer {
    problem: String,
    left: usize,
    right: usize,
    matcher: &'static str,
    sense: Sense,
    status: Status,
    value: f64,
    /// Absent where the solver proves nothing.
    bound: Option<f64>,
    iterations: usize,
    seconds: f64,
    /// The right node of each left node.
    matching: Vec<Option<usize>>,
    unmatched_left: Vec<usize>,
    unmatched_right: Vec<usize>,
    shortage: Option<Crowd>,
    #[serde(skip)]
    costs: Option<Vec<f64>>,
}

/// Left nodes that are too many for the right nodes they may go to.
#[derive(Serialize)]
struct Crowd {
    left: Vec<usize>,
    right: Vec<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let outputs: Vec<&Path> = arguments.output.iter().chain(&arguments.save_problem).map(PathBuf::as_path).collect();
    files::check_outputs(&[&arguments.problem], &outputs)?;
    let Some(format) = arguments.format.or_else(|| ProblemFormat::of(&arguments.problem)) else {
        usage(format!("what is {}? Its name does not say; say --format", arguments.problem.display()))
    };
    let sense = if arguments.maximize { Sense::Maximize } else { Sense::Minimize };
    if arguments.maximize && matches!(format, ProblemFormat::Dd | ProblemFormat::Qaplib | ProblemFormat::Json) {
        usage("--maximize is for matrices: the other formats say themselves what is wanted".to_string());
    }
    let (problem, sense) = read_problem(&arguments.problem, format, sense)?;
    if let Some(path) = &arguments.save_problem {
        let file = ProblemFile::new(problem.clone(), Restrictions::default(), sense);
        files::write(path, problem::write(&file)?.as_bytes())?;
    }
    let method = arguments.matcher.clone().unwrap_or_else(|| match problem.edge {
        None => Method::Linear(Linear::default()),
        Some(_) => Method::Exact(Exact::default()),
    });
    let start = Instant::now();
    let limit = arguments.time_limit;
    catch_ctrl_c();
    let mut work =
        Workspace::with_control(&Control::new().interrupted_by(move || stop_is_wanted() || start.elapsed() >= limit));
    let solution = method.matcher().solve(&problem, &mut work)?;
    let seconds = start.elapsed().as_secs_f64();
    check(&problem, &solution)?;
    let answer = answer(arguments.problem.display().to_string(), &problem, &method, sense, &solution, seconds);
    let by_name = arguments.output.as_deref().map(extension).unwrap_or_default();
    let text = match by_name.as_str() {
        _ if arguments.json => answer.json()?,
        "json" => answer.json()?,
        "csv" => answer.table(),
        _ => answer.text(),
    };
    match &arguments.output {
        None => files::print(text.as_bytes())?,
        Some(path) => files::write(path, text.as_bytes())?,
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// The proof of a linear answer, by other means than the solver's.
fn check(problem: &Compatibility, solution: &Solution) -> Result<()> {
    let (Some(certificate), Status::Optimal) = (&solution.certificate, solution.status) else { return Ok(()) };
    let finite = problem.node.iter().filter(|score| score.is_finite());
    let largest = finite.fold(0.0_f64, |largest, score| largest.max(score.abs()));
    let terms = (problem.left_count() + problem.right_count()) as f64;
    // An edge term without edges is as good as none, and a certificate is of node scores.
    let linear = Compatibility { edge: problem.edge.clone().filter(|edge| !edge.is_empty()), ..problem.clone() };
    let bound = verify(&linear, &solution.matching, certificate)?;
    let score = problem.score(&solution.matching)?;
    if bound - score > ROUNDING * largest * terms {
        bail!("the proof does not hold: the value is {score}, the bound {bound}. Please report this");
    }
    Ok(())
}

/// Of a sum, as a part of its largest term, for each term: a few units in the last place.
const ROUNDING: f64 = 1e-14;

fn answer(
    name: String,
    problem: &Compatibility,
    method: &Method,
    sense: Sense,
    solution: &Solution,
    seconds: f64,
) -> Answer {
    let matching = &solution.matching;
    let cost = |(i, k): (usize, &Option<usize>)| k.map_or(f64::NAN, |k| sense.turn(problem.node[[i, k]]));
    let linear = problem.edge.is_none();
    let crowd = |shortage: &Shortage| Crowd { left: shortage.left.clone(), right: shortage.right.clone() };
    Answer {
        problem: name,
        left: problem.left_count(),
        right: problem.right_count(),
        matcher: method.name(),
        sense,
        status: solution.status,
        value: sense.turn(solution.score),
        bound: solution.bound.is_finite().then(|| sense.turn(solution.bound)),
        iterations: solution.iterations,
        seconds,
        matching: matching.left_to_right().to_vec(),
        unmatched_left: matching.unmatched_left().collect(),
        unmatched_right: matching.unmatched_right().collect(),
        shortage: solution.shortage.as_ref().map(crowd),
        costs: linear.then(|| matching.left_to_right().iter().enumerate().map(cost).collect()),
    }
}

impl Answer {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Left, right and, in linear problems, the cost of every pair; unmatched nodes with an empty partner.
    fn rows(&self) -> Vec<[String; 3]> {
        let cost = |left: usize| self.costs.as_ref().map_or_else(String::new, |costs| number(costs[left]));
        let row = |(left, right): (usize, &Option<usize>)| match right {
            Some(right) => [left.to_string(), right.to_string(), cost(left)],
            None => [left.to_string(), String::new(), String::new()],
        };
        let over = self.unmatched_right.iter().map(|right| [String::new(), right.to_string(), String::new()]);
        self.matching.iter().enumerate().map(row).chain(over).collect()
    }

    /// The heads of the columns that there are.
    fn heads(&self) -> &'static [&'static str] {
        match (&self.costs, self.sense) {
            (None, _) => &["left", "right"],
            (Some(_), Sense::Minimize) => &["left", "right", "cost"],
            (Some(_), Sense::Maximize) => &["left", "right", "score"],
        }
    }

    fn table(&self) -> String {
        let mut text = self.heads().join(",") + "\n";
        for row in self.rows() {
            text += &(row[..self.heads().len()].join(",") + "\n");
        }
        text
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |row: [&str; 3]| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", format!("{:>6}  {:>6}  {}", row[0], row[1], row[2]).trim_end());
        };
        line([self.heads()[0], self.heads()[1], self.heads().get(2).copied().unwrap_or_default()]);
        for [left, right, cost] in self.rows() {
            let or_dash = |word: String| if word.is_empty() { "-".to_string() } else { word };
            line([&or_dash(left), &or_dash(right), &cost]);
        }
        let wanted = if self.sense == Sense::Minimize { "minimised" } else { "maximised" };
        let side = if self.sense == Sense::Minimize { "less" } else { "more" };
        let bound = match (self.status, self.bound) {
            (Status::Optimal, _) => "proven: no matching has a better value".to_string(),
            (_, Some(bound)) => format!("no matching has {side} than {}", number(bound)),
            (_, None) => "nothing is proven".to_string(),
        };
        let status = match self.status {
            Status::Optimal => "optimal",
            Status::Converged => "converged",
            Status::Limit => "stopped at a limit",
            _ => "not known",
        };
        let _ = writeln!(text, "\nvalue   {} ({wanted})\nbound   {bound}\nstatus  {status}", number(self.value));
        if let Some(Crowd { left, right }) = &self.shortage {
            let _ = writeln!(text, "note    left nodes {left:?} have only right nodes {right:?} to go to");
        }
        let _ = writeln!(text, "solver  {}, {:.6} s", self.matcher, self.seconds);
        text
    }
}

/// A number as short as it can be written.
fn number(value: f64) -> String {
    let usual = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if usual { value.to_string() } else { format!("{value:e}") }
}
