//! The table of the house in `docs/paper.md`, run again: every cell of every method, compared with the figure that is printed there. A row is
//! **method**, or **method, 1 pair** for learning from the first training pair alone. With `--orders` learned rows are run again with their
//! training pairs in random orders, which also changes every seed of the search (with 1 pair: from a random one of them).

use crate::house;
use anyhow::{Context, Result, bail};
use cpu_time::ProcessTime;
use homolog::Control;
use homolog::experiment::{Frames, SequenceMethod, Trial};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The page.
    #[arg(long, default_value = "docs/paper.md")]
    page: PathBuf,
    /// The folder with landmarks.csv.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only rows of these methods.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Only these baselines.
    #[arg(long, value_delimiter = ',')]
    baselines: Vec<usize>,
    /// So many random orders of the training pairs besides the given one.
    #[arg(long, default_value_t = 0)]
    orders: u64,
}

/// A figure of the page.
struct Cell {
    method: SequenceMethod,
    train_pairs: Option<usize>,
    baseline: usize,
    printed: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let page = std::fs::read_to_string(&arguments.page);
    let page = page.with_context(|| format!("reading {}", arguments.page.display()))?;
    let frames = house::frames(arguments.data.as_deref())?;
    let (mut same, mut different) = (0, 0);
    let is_wanted = |cell: &Cell| {
        (arguments.methods.is_empty() || arguments.methods.iter().any(|name| name == cell.method.name()))
            && (arguments.baselines.is_empty() || arguments.baselines.contains(&cell.baseline))
    };
    for cell in cells(&page)?.into_iter().filter(is_wanted) {
        let orders = if cell.method.is_learned() { arguments.orders } else { 0 };
        for order in 0..=orders {
            *if is_as_printed(&cell, &frames, order)? { &mut same } else { &mut different } += 1;
        }
    }
    println!("{same} figures as on the page, {different} different");
    if different > 0 {
        bail!("{} differs from what was measured", arguments.page.display());
    }
    Ok(())
}

/// Runs a cell, prints what came out and whether it is as on the page. Order 0 is the given one, others are seeds.
fn is_as_printed(cell: &Cell, frames: &Frames, order: u64) -> Result<bool> {
    let start = ProcessTime::now();
    let given = if order == 0 { cell.train_pairs } else { None };
    let mut trial = Trial::new(frames, cell.baseline, cell.method, given)?;
    if order > 0 {
        trial.splits[0].shuffle(&mut ChaCha8Rng::seed_from_u64(order));
        trial.splits[0].truncate(cell.train_pairs.unwrap_or(usize::MAX));
    }
    let learned = trial.weights(&Control::new())?;
    let seconds = start.elapsed().as_secs_f64();
    let tested = trial.test(&learned.weights, &Control::new())?;
    let found = figure(tested.mean(), tested.standard_error());
    let is_same = found == cell.printed;
    println!(
        "{} {}{}, baseline {}{}: {found}{}, λ {}, validation {:.4}, {} of {} test problems proven, {seconds:.1} s of processor time",
        if is_same { "  " } else { "≠ " },
        cell.method.name(),
        cell.train_pairs.map_or(String::new(), |count| format!(", {count} pair")),
        cell.baseline,
        if order == 0 { String::new() } else { format!(", order {order}") },
        if is_same { String::new() } else { format!(" (the page says {})", cell.printed) },
        learned.fit.map_or("-".to_string(), |fit| fit.minimum.lambda.to_string()),
        learned.validation_loss,
        tested.proven,
        tested.losses.len()
    );
    Ok(is_same)
}

/// A loss as the page prints it: `0`, or `.038 (.013)`.
fn figure(mean: f64, error: f64) -> String {
    let short = |value: f64| format!("{value:.3}").trim_start_matches('0').to_string();
    if mean == 0.0 { "0".to_string() } else { format!("{} ({})", short(mean), short(error)) }
}

/// The figures of the methods in the first table that has baselines.
fn cells(page: &str) -> Result<Vec<Cell>> {
    let row = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let mut lines = page.lines().skip_while(|line| !line.starts_with("| baseline |"));
    let head = row(lines.next().context("the page has no table with baselines")?);
    let baselines = head[1..].iter().map(|cell| cell.parse()).collect::<Result<Vec<usize>, _>>()?;
    let mut cells = Vec::new();
    for line in lines.take_while(|line| line.starts_with('|')) {
        let row = row(line);
        let Some(name) = row[0].strip_prefix("**").and_then(|name| name.strip_suffix("**")) else { continue };
        let (name, pairs) = name.split_once(", ").unwrap_or((name, ""));
        let method = SequenceMethod::named(name).with_context(|| format!("no method is called {name}"))?;
        let train_pairs = pairs.split(' ').next().filter(|count| !count.is_empty()).map(str::parse).transpose()?;
        for (&baseline, printed) in baselines.iter().zip(&row[1..]).filter(|(_, printed)| !printed.is_empty()) {
            cells.push(Cell { method, train_pairs, baseline, printed: printed.clone() });
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_figure_for_every_method_and_baseline() {
        let cells = cells(include_str!("../../../docs/paper.md")).unwrap();
        for method in SequenceMethod::ALL.into_iter().filter(|&method| method != SequenceMethod::QuadraticExact) {
            let of_all = |cell: &&Cell| cell.method == method && cell.train_pairs.is_none();
            assert_eq!(cells.iter().filter(of_all).count(), 10, "{}", method.name());
        }
        assert_eq!((figure(0.0, 0.0), figure(0.0376, 0.0131)), ("0".to_string(), ".038 (.013)".to_string()));
    }
}
