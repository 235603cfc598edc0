//! The answer of `homolog solve` as text, as CSV and as JSON. Values are those of the file: costs are minimised.

use super::match_output::WIDEST;
use anyhow::Result;
use homolog::matching::{KBest, Matching, Method, Sense, Shortage, Solution, Status, proof_in_words};
use serde::Serialize;
use std::fmt::Write;

/// What is printed, as JSON has it.
#[derive(Serialize)]
pub(super) struct Answer {
    problem: String,
    left: usize,
    right: usize,
    matcher: &'static str,
    sense: Sense,
    status: Status,
    /// What a proof is true up to, if that is not negligible.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    left_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Ranked>,
    #[serde(skip)]
    costs: Option<Vec<f64>>,
}

/// Left nodes that are too many for the right nodes they may go to.
#[derive(Serialize)]
struct Crowd {
    left: Vec<usize>,
    right: Vec<usize>,
}

/// The names of nodes, where the file has them.
pub(super) struct Named {
    pub(super) left: Option<Vec<String>>,
    pub(super) right: Option<Vec<String>>,
}

/// The best matchings, best first.
#[derive(Serialize)]
pub(super) struct Ranked {
    /// Whether there are none better between them.
    proven: bool,
    matchings: Vec<One>,
}

#[derive(Serialize)]
struct One {
    value: f64,
    matching: Vec<Option<usize>>,
}

impl Ranked {
    pub(super) fn new(best: KBest, sense: Sense) -> Self {
        let one = |(matching, score): (Matching, f64)| One {
            value: sense.turn(score),
            matching: matching.left_to_right().to_vec(),
        };
        Self { proven: best.proven, matchings: best.matchings.into_iter().map(one).collect() }
    }
}

impl Answer {
    #[expect(clippy::too_many_arguments, reason = "all that there is to say, in one place")]
    pub(super) fn new(
        name: String,
        costs: Option<Vec<f64>>,
        method: &Method,
        sense: Sense,
        (solution, tolerance): (&Solution, Option<f64>),
        seconds: f64,
        names: Named,
        best: Option<Ranked>,
    ) -> Self {
        let matching = &solution.matching;
        let crowd = |shortage: &Shortage| Crowd { left: shortage.left.clone(), right: shortage.right.clone() };
        Self {
            problem: name,
            left: matching.left_count(),
            right: matching.right_count(),
            matcher: method.name(),
            sense,
            status: solution.status,
            tolerance,
            value: sense.turn(solution.score),
            bound: solution.bound.is_finite().then(|| sense.turn(solution.bound)),
            iterations: solution.iterations,
            seconds,
            matching: matching.left_to_right().to_vec(),
            unmatched_left: matching.unmatched_left().collect(),
            unmatched_right: matching.unmatched_right().collect(),
            shortage: solution.shortage.as_ref().map(crowd),
            left_names: names.left,
            right_names: names.right,
            best,
            costs,
        }
    }

    pub(super) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    fn left_name(&self, node: usize) -> String {
        self.left_names.as_ref().map_or_else(|| node.to_string(), |names| names[node].clone())
    }

    fn right_name(&self, node: usize) -> String {
        self.right_names.as_ref().map_or_else(|| node.to_string(), |names| names[node].clone())
    }

    /// Left, right and, in linear problems, the cost of every pair; unmatched nodes with an empty partner.
    fn rows(&self) -> Vec<[String; 3]> {
        let cost = |left: usize| self.costs.as_ref().map_or_else(String::new, |costs| number(costs[left]));
        let row = |(left, right): (usize, &Option<usize>)| match right {
            Some(right) => [self.left_name(left), self.right_name(*right), cost(left)],
            None => [self.left_name(left), String::new(), String::new()],
        };
        let over = self.unmatched_right.iter().map(|&right| [String::new(), self.right_name(right), String::new()]);
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

    /// The matching as CSV; with several matchings, each with its rank and its value.
    pub(super) fn table(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        if let Some(best) = &self.best {
            writer.write_record(["rank", "value", "left", "right"])?;
            for (rank, one) in best.matchings.iter().enumerate() {
                for (left, right) in one.matching.iter().enumerate() {
                    let right = right.map_or_else(String::new, |right| self.right_name(right));
                    writer.write_record([
                        &(rank + 1).to_string(),
                        &number(one.value),
                        &self.left_name(left),
                        &right,
                    ])?;
                }
            }
        } else {
            writer.write_record(self.heads())?;
            for row in self.rows() {
                writer.write_record(&row[..self.heads().len()])?;
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let rows: Vec<[String; 3]> = self.rows();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).clamp(6, WIDEST);
        let (left_width, right_width) = (width(0), width(1));
        let mut line = |row: [&str; 3]| {
            // Writing to a string cannot fail.
            let whole = format!("{:>left_width$}  {:>right_width$}  {}", row[0], row[1], row[2]);
            let _ = writeln!(text, "{}", whole.trim_end());
        };
        line([self.heads()[0], self.heads()[1], self.heads().get(2).copied().unwrap_or_default()]);
        for [left, right, cost] in rows {
            let or_dash = |word: String| if word.is_empty() { "-".to_string() } else { word };
            line([&or_dash(left), &or_dash(right), &cost]);
        }
        let wanted = if self.sense == Sense::Minimize { "minimised" } else { "maximised" };
        let side = if self.sense == Sense::Minimize { "less" } else { "more" };
        let bound = match (self.status, self.bound) {
            (Status::Optimal, _) if self.tolerance.is_none() => "proven: no matching has a better value".to_string(),
            (Status::Optimal, _) => proof_in_words(self.tolerance),
            (_, Some(bound)) => format!("no matching has {side} than {}", number(bound)),
            (_, None) => "nothing is proven".to_string(),
        };
        let status = match self.status {
            Status::Optimal => "optimal",
            Status::Converged if self.matcher == "exact" => {
                "searched to the end, but no proof: the scores are too large compared with their differences"
            }
            Status::Converged => "ran to its end, which for this solver is not a proof",
            Status::Limit => "stopped at a limit",
            _ => "not known",
        };
        let _ = writeln!(text, "\nvalue   {} ({wanted})\nbound   {bound}\nstatus  {status}", number(self.value));
        if let Some(Crowd { left, right }) = &self.shortage {
            let left = left.iter().map(|&i| self.left_name(i)).collect::<Vec<_>>().join(", ");
            let right = right.iter().map(|&k| self.right_name(k)).collect::<Vec<_>>().join(", ");
            let _ = match right.as_str() {
                "" => writeln!(text, "note    nothing on the right is allowed for left {left}"),
                right => writeln!(text, "note    left {left} can only go to right {right}"),
            };
        }
        let _ = writeln!(text, "solver  {}, {:.6} s", self.matcher, self.seconds);
        if let Some(best) = &self.best {
            self.add_ranks(best, &mut text);
        }
        text
    }

    fn add_ranks(&self, best: &Ranked, text: &mut String) {
        let proof = if best.proven { "proven: none is better than one listed above it" } else { "not proven" };
        let _ = writeln!(text, "\nThe {} best ({proof}):", best.matchings.len());
        for (rank, one) in best.matchings.iter().enumerate() {
            let pair = |(left, right): (usize, &Option<usize>)| {
                let right = right.map_or_else(|| "-".to_string(), |right| self.right_name(right));
                format!("{}={right}", self.left_name(left))
            };
            let pairs: Vec<String> = one.matching.iter().enumerate().map(pair).collect();
            let _ = writeln!(text, "{:>4}  {:>12}  {}", rank + 1, number(one.value), pairs.join(" "));
        }
    }
}

/// A number as short as it can be written.
fn number(value: f64) -> String {
    let usual = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if usual { value.to_string() } else { format!("{value:e}") }
}
