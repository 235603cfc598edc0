//! `homolog experiment atlas`: how well points are named from so many labelled specimens.

use super::name::{atlas_picture, write_picture};
use crate::inputs::Input;
use crate::progress::{Watch, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::Control;
use homolog::atlas::{Atlas, AtlasSettings, Pose, Presence, Search};
use homolog::experiment::{NamingMethod, Spoiling, Tally, names_of, split};
use homolog::graph::Graph;
use homolog::learn::{Evaluation, Evidence};
use homolog::matching::{Status, Workspace};
use homolog_viz::{LossChart, Measurement, Series};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Names the points of specimens by an atlas of others
#[derive(clap::Args)]
#[command(after_help = "\
For each number N of specimens, an atlas learned from N specimens drawn at random names the others; it is compared with linear assignment to
the mean positions and with rigid alignment to the mean shape. Specimens are named as given and rotated at random (training specimens too),
and with a share of their points removed and as many extra points added anywhere in their bounding box. As given, the atlas finds from the
training specimens whether they are oriented alike. `error` is the share of labelled points that did not get their name; a name given to
an unlabelled point is not counted. To see only how the error falls with the number of specimens: --poses as-given --missing 0.

Examples:
  homolog experiment atlas wings.csv --out report
  homolog experiment atlas hummingbirds.csv --specimens 5,10 --missing 0,0.2,0.3
  homolog experiment atlas worms.csv --leave-one-out -o worms.json")]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command")]
pub(super) struct Arguments {
    /// A landmark table (.csv), a folder with landmarks.csv, or a data set; every specimen with names
    data: PathBuf,
    /// Numbers of specimens to learn from
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,5,10,20")]
    specimens: Vec<usize>,
    /// Poses of the specimens
    #[arg(long, value_enum, value_delimiter = ',', default_value = "as-given,rotated")]
    poses: Vec<PoseName>,
    /// Shares of missing points, with as many extra ones
    #[arg(long, value_delimiter = ',', default_value = "0,0.2,0.3")]
    missing: Vec<f64>,
    /// Random splits
    #[arg(long, default_value_t = 5)]
    splits: u64,
    /// Largest number of specimens to name per split
    #[arg(long, default_value_t = 30)]
    at_most: usize,
    /// Learn from all specimens but one and name that one, in turn
    #[arg(long, conflicts_with_all = ["specimens", "splits"])]
    leave_one_out: bool,
    /// Weight all evidence by its likelihood, without learning the weights
    #[arg(long)]
    plain: bool,
    /// Search only, without proof
    #[arg(long)]
    quick: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Write the JSON to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the figures into a folder: the atlas of all specimens, error against number of specimens
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PoseName {
    AsGiven,
    Rotated,
}

impl PoseName {
    fn name(self) -> &'static str {
        if self == Self::AsGiven { "as-given" } else { "rotated" }
    }
}

/// One cell of the table.
struct Case {
    method: NamingMethod,
    specimens: usize,
    pose: PoseName,
    missing: f64,
}

/// What came of naming one specimen.
struct Trial {
    tally: Tally,
    proven: bool,
    seconds: f64,
}

pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let input = Input::load(&arguments.data)?;
    let graphs: Vec<&Graph> = input.data.graphs().iter().map(|named| &*named.graph).collect();
    if graphs.len() < 2 {
        bail!(
            "{}: need at least two specimens, one to learn from and one to name, found {}",
            arguments.data.display(),
            graphs.len()
        );
    }
    let watch = Watch::new(None);
    let mut rows = Vec::new();
    let counts = if arguments.leave_one_out { vec![graphs.len() - 1] } else { arguments.specimens.clone() };
    for &pose in &arguments.poses {
        for &missing in &arguments.missing {
            for &specimens in counts.iter().filter(|&&count| count > 0 && count < graphs.len()) {
                for method in NamingMethod::ALL {
                    if stop_is_wanted() {
                        break;
                    }
                    let case = Case { method, specimens, pose, missing };
                    watch.say(format!("{} from {specimens}, {}, {missing} missing", method.name(), pose.name()));
                    let trials = trials(&graphs, &case, arguments)?;
                    rows.push(row(&case, &trials));
                }
            }
        }
    }
    watch.end();
    let value = json!({ "rows": rows });
    if let Some(folder) = &arguments.out {
        files::make_folder(folder)?;
        let atlas = Atlas::learn(&graphs, &AtlasSettings::default())?;
        write_picture(&folder.join("atlas.svg"), &atlas_picture(&atlas))?;
        write_picture(&folder.join("error.svg"), &chart(&rows))?;
    }
    super::give(&table(&rows)?, &value, arguments.json, arguments.output.as_deref())?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// Names every test specimen of every split.
fn trials(graphs: &[&Graph], case: &Case, arguments: &Arguments) -> Result<Vec<Trial>> {
    let splits: Vec<(u64, Vec<usize>, Vec<usize>)> = if arguments.leave_one_out {
        let others = |out: usize| (0..graphs.len()).filter(|&other| other != out).collect();
        (0..graphs.len()).map(|out| (out as u64, others(out), vec![out])).collect()
    } else {
        let one = |seed: u64| {
            let (train, test) = split(graphs.len(), case.specimens, arguments.at_most, seed);
            (seed, train, test)
        };
        (0..arguments.splits).map(one).collect()
    };
    let mut all = Vec::new();
    for (seed, train, test) in splits {
        let (atlas, weights) = learn(graphs, &train, case, (seed, arguments.plain))?;
        let spoiling =
            Spoiling { turned: case.pose == PoseName::Rotated, missing: case.missing, ..Spoiling::default() };
        let search = if arguments.quick { Search::Quick } else { Search::Proof };
        let weights = &weights;
        let one = |&at: &usize| -> Result<Trial> {
            let unnamed = spoiling.spoil(graphs[at], seed * 10_000 + at as u64)?;
            let start = Instant::now();
            let naming = atlas.name_with(&unnamed.graph, weights, search, &mut Workspace::new())?;
            let seconds = start.elapsed().as_secs_f64();
            let tally = Tally::of(&names_of(&atlas, &naming), &unnamed.truth);
            Ok(Trial { tally, proven: naming.status == Status::Optimal, seconds })
        };
        all.extend(test.par_iter().map(one).collect::<Result<Vec<_>>>()?);
    }
    Ok(all)
}

/// The atlas of the training specimens, which are turned where the others are. That, and that points will be missing, is told to it; all
/// else it finds itself. The atlas of another method is reduced, and counts everything as its likelihood says.
fn learn(graphs: &[&Graph], train: &[usize], case: &Case, (seed, plain): (u64, bool)) -> Result<(Atlas, Vec<f64>)> {
    let turned = Spoiling { turned: case.pose == PoseName::Rotated, ..Spoiling::default() };
    let turn = |&at: &usize| -> Result<Graph> {
        let names = graphs[at].names().context("a specimen has no names")?.to_vec();
        Ok(turned.spoil(graphs[at], seed * 20_000 + at as u64)?.graph.with_names(names)?)
    };
    let specimens = train.iter().map(turn).collect::<Result<Vec<_>>>()?;
    let settings = AtlasSettings {
        pose: (case.pose == PoseName::Rotated).then_some(Pose::Rotated),
        presence: (case.missing > 0.0).then_some(Presence::Partial),
        plain: plain || case.method != NamingMethod::Atlas,
        ..AtlasSettings::default()
    };
    let specimens: Vec<&Graph> = specimens.iter().collect();
    let atlas = case.method.reduced(&Atlas::learn(&specimens, &settings)?);
    let evidence = Evidence::learn(&atlas, &specimens, &settings, &Control::new())?;
    Ok((atlas, evidence.weights))
}

fn row(case: &Case, trials: &[Trial]) -> Value {
    let tally = trials.iter().fold(Tally::default(), |sum, trial| sum.plus(trial.tally));
    let errors =
        Evaluation { losses: trials.iter().map(|trial| 1.0 - trial.tally.found()).collect(), ..Evaluation::default() };
    let count = trials.len().max(1) as f64;
    json!({
        "method": case.method.name(),
        "specimens": case.specimens,
        "pose": case.pose.name(),
        "missing": case.missing,
        "error": 1.0 - tally.found(),
        "standard_error": errors.standard_error(),
        "precision": tally.precision(),
        "recall": tally.found(),
        "f1": tally.f1(),
        "found": tally.found(),
        "proven": trials.iter().filter(|trial| trial.proven).count() as f64 / count,
        "seconds": trials.iter().map(|trial| trial.seconds).sum::<f64>() / count,
    })
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or(f64::NAN)
}

fn text(row: &Value, field: &str) -> String {
    row[field].as_str().unwrap_or_default().to_string()
}

fn table(rows: &[Value]) -> Result<String> {
    let mut lines =
        "pose      missing  specimens  method   error ± s.e.     precision  f1     proven  seconds\n".to_string();
    for row in rows {
        let n = |field: &str| number(row, field);
        writeln!(
            lines,
            "{:9} {:>7.2}  {:>9}  {:7}  {:.4} ± {:.4}  {:>9.3}  {:.3}  {:>5.0} %  {:.4}",
            text(row, "pose"),
            n("missing"),
            n("specimens"),
            text(row, "method"),
            n("error"),
            n("standard_error"),
            n("precision"),
            n("f1"),
            100.0 * n("proven"),
            n("seconds")
        )?;
    }
    Ok(lines)
}

/// How many must I label? Error against the number of labelled specimens, in the first pose, nothing missing.
fn chart(rows: &[Value]) -> String {
    let first = rows.first().map(|row| (text(row, "pose"), number(row, "missing")));
    let shown = |row: &&Value| first == Some((text(row, "pose"), number(row, "missing")));
    let series = NamingMethod::ALL.map(|method| {
        let own = rows.iter().filter(shown).filter(|row| text(row, "method") == method.name());
        let point = |row: &Value| Measurement {
            x: number(row, "specimens"),
            y: number(row, "error"),
            error: [number(row, "standard_error"); 2],
        };
        Series {
            name: method.name().to_string(),
            points: own.map(point).collect(),
            dashed: method != NamingMethod::Atlas,
        }
    });
    LossChart {
        title: "How many must I label?".to_string(),
        x_label: "labelled specimens".to_string(),
        y_label: "share of points not named right".to_string(),
        series: series.into(),
        ..LossChart::default()
    }
    .to_svg()
}
