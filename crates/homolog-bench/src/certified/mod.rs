//! Certified learning with edges: training against the linear relaxation on the house data, with what is proven about it; and how long a
//! relaxation takes, cold and warm, at 30 nodes and more.

mod growth;
mod house;
mod solves;

use anyhow::Result;
use homolog::learn::{MaxMargin, Oracle};
use homolog::matching::LpRelaxation;
use homolog::optimize::Bundle;
use std::path::PathBuf;

/// Arguments of `homolog-bench certified`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this part; may be repeated.
    #[arg(long)]
    part: Vec<Part>,
    /// The folder with landmarks.csv.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Baselines of the house experiment.
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30,40,50,60,70,80,90")]
    baselines: Vec<usize>,
    /// λ to choose from.
    #[arg(long, value_delimiter = ',', default_value = "1,0.1,0.01")]
    lambdas: Vec<f64>,
    /// Train until objective and bound are within this part of the objective.
    #[arg(long, default_value_t = 0.01)]
    gap: f64,
    /// Nodes of the point sets.
    #[arg(long, value_delimiter = ',', default_value = "30,50,100")]
    sizes: Vec<usize>,
    /// Print every step of training to stderr.
    #[arg(long)]
    steps: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The paper's house experiment.
    House,
    /// Relaxations of the house problems, cold and warm.
    Solves,
    /// Point sets of growing size: relaxations and training.
    Growth,
}

impl Arguments {
    /// Training against the relaxation.
    fn learner(&self, lambda: f64) -> MaxMargin {
        MaxMargin {
            bundle: Bundle { lambda, gap_tolerance: self.gap, ..Bundle::default() },
            oracle: Oracle::Relaxation(LpRelaxation::default()),
            ..MaxMargin::default()
        }
    }
}

/// Prints the tables, part by part.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let wanted = |part: Part| arguments.part.is_empty() || arguments.part.contains(&part);
    if wanted(Part::House) {
        house::report(arguments)?;
    }
    if wanted(Part::Solves) {
        solves::report(arguments)?;
    }
    if wanted(Part::Growth) {
        growth::report(arguments)?;
    }
    Ok(())
}
