//! Whether learning ever hurts: every set of features on every data set, from 1, 3 and 10 labelled pairs and from all pairs of 3 and 5 specimens,
//! five times each, measured on pairs of specimens that training never saw, before and after learning. From specimens also with further
//! numbers for every point: one that tells nothing, and a direction that tells something. Columns that tell nothing are left out before
//! learning begins; before and after are both without them, so that leaving them out does not count as learning.

mod data;

use crate::asked::Asked;
use anyhow::Result;
use cpu_time::ProcessTime;
pub(crate) use data::{Columns, Data, all as all_data, given as given_data, table};
use homolog::Control;
use homolog::features::FeatureSet;
use homolog::learn::{LabelledPairs, LearnerName, Trainer, TrainingSet, evaluate};
use homolog::loss::LossKind;
use homolog::matching::{FrankWolfe, Linear, Method};
use serde::Serialize;

/// Learned beside unlearned on every data set, feature set and number of labelled pairs
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// Only these sets of features
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// How many pairs are learned from [default: 1, 3 and 10; none if specimens are given]
    #[arg(long, value_delimiter = ',')]
    pairs: Vec<usize>,
    /// Of how many specimens all pairs are learned from [default: 3 and 5; none if pairs are given]
    #[arg(long, value_delimiter = ',')]
    specimens: Vec<usize>,
    /// How many subsets of each size [default: 5]
    #[arg(long)]
    subsets: Option<usize>,
    /// Further numbers for every point, if specimens are learned from [default: nothing, noise and direction]
    #[arg(long, value_enum, value_delimiter = ',')]
    columns: Vec<Columns>,
    /// Training stops after so many seconds of processor time
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
}

/// One training.
#[derive(Serialize)]
struct Cell {
    data: String,
    features: &'static str,
    /// Which learner produced the chosen weights.
    learner: &'static str,
    /// Numbers that every point has besides its place.
    columns: Columns,
    /// How many specimens were learned from, if all their pairs were.
    specimens: Option<usize>,
    pairs: usize,
    subset: usize,
    /// The mean error on the test pairs before learning, without the columns that tell nothing: what learning begins at.
    unlearned: f64,
    /// The same with all columns, if some were left out.
    unscreened: Option<f64>,
    /// After.
    learned: f64,
    /// Of the mean of the paired differences.
    standard_error: f64,
    seconds: f64,
}

/// What a model is learned from.
#[derive(Clone, Copy)]
enum Lesson {
    /// Random pairs.
    Pairs(usize),
    /// All pairs of so many specimens.
    Specimens(usize),
}

/// An unlearned error above this leaves something to learn.
const WORTH: f64 = 0.03;

impl Cell {
    fn difference(&self) -> f64 {
        self.learned - self.unlearned
    }

    /// Whether few specimens had something to teach.
    fn has_to_learn(&self) -> bool {
        self.specimens.is_some_and(|count| count <= 5) && self.unlearned > WORTH
    }

    /// By more than 0.02 and two standard errors.
    fn is_worse(&self) -> bool {
        self.difference() > 0.02 && self.difference() > 2.0 * self.standard_error
    }

    /// By more than two standard errors.
    fn is_clearly_better(&self) -> bool {
        -self.difference() > 2.0 * self.standard_error
    }
}

/// Of the cells from 3 and 5 specimens with something to learn, how many learning made better.
#[derive(Serialize)]
struct FewSpecimens {
    /// With an unlearned error above this.
    unlearned_above: f64,
    cells: usize,
    better: usize,
    clearly_better: usize,
    worse: usize,
    share_better: f64,
    share_clearly_better: f64,
}

impl FewSpecimens {
    fn of(cells: &[Cell]) -> Self {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.has_to_learn()).collect();
        let count = |is: &dyn Fn(&Cell) -> bool| own.iter().filter(|cell| is(cell)).count();
        let better = count(&|cell| cell.difference() < 0.0);
        let clearly_better = count(&Cell::is_clearly_better);
        let share = |part: usize| part as f64 / own.len().max(1) as f64;
        Self {
            unlearned_above: WORTH,
            cells: own.len(),
            better,
            clearly_better,
            worse: count(&|cell| cell.difference() > 0.0),
            share_better: share(better),
            share_clearly_better: share(clearly_better),
        }
    }
}

/// What is written beside the cells.
#[derive(Serialize)]
struct Summary {
    few_specimens: FewSpecimens,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sets = arguments.asked.sets(all_data)?;
    let test_count = if arguments.asked.quick { 20 } else { 40 };
    let subsets = arguments.subsets.unwrap_or(if arguments.asked.quick { 1 } else { 5 });
    let (mut cells, budget) = (Vec::new(), arguments.asked.budget());
    write(arguments, &cells)?;
    println!(
        "{:26} {:16} {:9} {:>13}  {:>9} {:>9} {:>8}  cells",
        "data", "features", "columns", "from", "unlearned", "learned", "s.e."
    );
    for (lesson, columns) in lessons(arguments) {
        for data in &sets {
            let data = &data.with(columns)?;
            let test = data.pairs(test_count, true, 1000)?;
            if test.is_empty() {
                eprintln!("{}: too few specimens with names to test with", data.name);
                continue;
            }
            for set in FeatureSet::ALL {
                let is_wanted =
                    arguments.features.is_empty() || arguments.features.iter().any(|name| name == set.name());
                let fits = set.features(data.specimens.iter().map(|graph| &**graph)).is_ok();
                // The paper's sets use no attributes.
                let is_paper = matches!(set, FeatureSet::PaperLinear | FeatureSet::PaperQuadratic);
                let is_known = is_paper && columns != Columns::Nothing;
                let is_over = budget.is_spent();
                if !(is_wanted && fits) || is_known || is_over {
                    continue;
                }
                let at = cells.len();
                for subset in 0..subsets {
                    let training = match lesson {
                        Lesson::Pairs(count) => data.pairs(count, false, 10 * count as u64 + subset as u64)?,
                        Lesson::Specimens(count) => data.all_pairs_of(count, 10 * count as u64 + subset as u64)?,
                    };
                    let control = budget.control();
                    let cell = cell(arguments, data, set, (lesson, columns, subset), [&training, &test], &control);
                    cells.extend(budget.in_time(cell)?.flatten());
                    write(arguments, &cells)?;
                }
                print(&cells[at..]);
            }
        }
    }
    summary(&cells);
    Ok(())
}

fn write(arguments: &Arguments, cells: &[Cell]) -> Result<()> {
    arguments.asked.write_with(cells, Summary { few_specimens: FewSpecimens::of(cells) })
}

/// What is learned from, and the columns that go with it.
fn lessons(arguments: &Arguments) -> Vec<(Lesson, Columns)> {
    let (pairs, specimens) = match (&arguments.pairs[..], &arguments.specimens[..]) {
        ([], []) if arguments.asked.quick => (vec![], vec![3, 5]),
        ([], []) => (vec![1, 3, 10], vec![3, 5]),
        (pairs, specimens) => (pairs.to_vec(), specimens.to_vec()),
    };
    let all = [Columns::Nothing, Columns::Noise, Columns::Direction];
    let columns = if arguments.columns.is_empty() { &all[..] } else { &arguments.columns[..] };
    let plain = pairs.into_iter().map(|count| (Lesson::Pairs(count), Columns::Nothing));
    let with = columns.iter().flat_map(|&own| specimens.iter().map(move |&count| (Lesson::Specimens(count), own)));
    plain.chain(with).collect()
}

/// One training; `None` if the specimens drawn have no pair in common.
fn cell(
    arguments: &Arguments,
    data: &Data,
    set: FeatureSet,
    (lesson, columns, subset): (Lesson, Columns, usize),
    [training, test]: [&LabelledPairs; 2],
    control: &Control,
) -> Result<Option<Cell>> {
    if training.is_empty() {
        return Ok(None);
    }
    let loss = LossKind::default();
    let map = set.features(data.specimens.iter().map(|graph| &**graph))?;
    let matcher = match &map.edge[..] {
        [] => Method::Linear(Linear::default()),
        _ => Method::FrankWolfe(FrankWolfe::default()),
    };
    let examples = TrainingSet::new(&map, &loss, training, &LabelledPairs::new())?;
    let trainer = Trainer { matcher: Some(matcher.clone()), ..Trainer::default() };
    // Of the process: what others do on the machine must not decide what is learned.
    let (start, limit) = (ProcessTime::now(), arguments.seconds);
    let limited = control.clone().interrupted_by(move || start.elapsed().as_secs_f64() > limit);
    let trained = trainer.train(&examples, &limited)?;
    let seconds = start.elapsed().as_secs_f64();
    let held_out = test.examples(&examples.features, loss.loss())?;
    let losses = |weights: &[f64]| evaluate(&held_out, matcher.matcher(), weights, control);
    // The first candidate: leaving out columns that tell nothing is not what learning achieved.
    let screened = trained.candidates.first().filter(|first| first.learner == LearnerName::Unlearned);
    let screened = screened.map_or(&examples.unlearned, |first| &first.weights);
    let unscreened = (*screened != examples.unlearned).then(|| losses(&examples.unlearned)).transpose()?;
    let (before, after) = (losses(screened)?, losses(trained.weights())?);
    let differences: Vec<f64> = after.losses.iter().zip(&before.losses).map(|(after, before)| after - before).collect();
    Ok(Some(Cell {
        data: data.name.clone(),
        features: set.name(),
        learner: trained.best().learner.name(),
        columns,
        specimens: match lesson {
            Lesson::Specimens(count) => Some(count),
            Lesson::Pairs(_) => None,
        },
        pairs: training.len(),
        subset,
        unlearned: before.mean(),
        unscreened: unscreened.map(|losses| losses.mean()),
        learned: after.mean(),
        standard_error: standard_error(&differences),
        seconds,
    }))
}

pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    // From one value nothing is known about its error.
    if n < 2.0 { f64::INFINITY } else { (square / (n - 1.0) / n).sqrt() }
}

/// A row for the cells that differ only in their subset.
fn print(cells: &[Cell]) {
    let Some(first) = cells.first() else { return };
    let mean = |value: fn(&Cell) -> f64| cells.iter().map(value).sum::<f64>() / cells.len() as f64;
    let each: Vec<String> =
        cells.iter().map(|cell| format!("{:+.3} {}", cell.difference(), &cell.learner[..1])).collect();
    println!(
        "{:26} {:16} {:9} {:>13}  {:9.4} {:9.4} {:8.4}  {}",
        first.data,
        first.features,
        format!("{:?}", first.columns).to_lowercase(),
        first.specimens.map_or_else(|| format!("{} pairs", first.pairs), |count| format!("{count} specimens")),
        mean(|cell| cell.unlearned),
        mean(|cell| cell.learned),
        mean(|cell| cell.standard_error),
        each.join(", ")
    );
}

fn summary(cells: &[Cell]) {
    let count = |which: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| which(cell)).count();
    let mean = cells.iter().map(Cell::difference).sum::<f64>() / cells.len().max(1) as f64;
    println!(
        "{} cells: {} better, {} equal, {} worse ({} by more than 0.02 and two standard errors); mean difference {mean:+.4}",
        cells.len(),
        count(&|cell| cell.difference() < 0.0),
        count(&|cell| cell.difference() == 0.0),
        count(&|cell| cell.difference() > 0.0),
        count(&Cell::is_worse)
    );
    let few = FewSpecimens::of(cells);
    println!(
        "from 3 and 5 specimens, unlearned above {WORTH}: {} cells, {} better ({:.2}), {} of them by more than two standard errors ({:.2}), {} worse",
        few.cells, few.better, few.share_better, few.clearly_better, few.share_clearly_better, few.worse
    );
    let dropped: Vec<f64> = cells.iter().filter_map(|cell| Some(cell.unlearned - cell.unscreened?)).collect();
    println!(
        "columns that tell nothing left out before learning in {} cells: unlearned error {:+.4} on average by that alone",
        dropped.len(),
        dropped.iter().sum::<f64>() / dropped.len().max(1) as f64
    );
}
