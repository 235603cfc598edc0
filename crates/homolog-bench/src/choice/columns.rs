//! The laws of further numbers: with a column that tells nothing the error on new pairs stays what it is without, and with a column that names the
//! nodes it is 0. From a few specimens of every data set, by an atlas and by sets of features, as `homolog train` learns them.

use super::models::{Made, Test};
use super::{draw, mean};
use crate::asked::Asked;
use crate::never_worse::{Columns, given_data};
use anyhow::Result;
use serde::Serialize;

/// What a column that tells nothing costs, and what one that names the nodes brings
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// Sets of features
    #[arg(long, value_delimiter = ',', default_value = "atlas,linear,quadratic")]
    features: Vec<String>,
    /// From how many specimens
    #[arg(long, value_delimiter = ',', default_value = "3,5,10")]
    specimens: Vec<usize>,
    /// How many random draws of each number of specimens
    #[arg(long, default_value_t = 2)]
    draws: usize,
    /// Training stops after so many seconds
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

/// Errors on new pairs without a column, with one that tells nothing, and with one that names the nodes.
#[derive(Serialize)]
struct Cell {
    data: String,
    features: String,
    specimens: usize,
    draw: usize,
    plain: f64,
    noise: f64,
    name: f64,
}

/// Aims: how much noise may change, and what a name leaves.
const MOST_CHANGE: f64 = 0.01;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (mut cells, budget) = (Vec::new(), arguments.asked.budget());
    let draws = if arguments.asked.quick { 1 } else { arguments.draws };
    println!(
        "{:18} {:10} {:>9} {:>4}  {:>6} {:>6} {:>6}",
        "data", "features", "specimens", "draw", "plain", "noise", "name"
    );
    arguments.asked.write(&cells)?;
    let control = budget.control();
    for data in arguments.asked.sets(given_data)? {
        let with = [Columns::Nothing, Columns::Noise, Columns::Name].map(|columns| data.with(columns));
        for &specimens in &arguments.specimens {
            for number in 0..draws {
                for features in &arguments.features {
                    let mut errors = Vec::new();
                    for own in with.iter().filter(|_| !budget.is_spent()) {
                        let own = own.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
                        let Some((drawn, pairs)) = draw(own, (specimens, number), 40) else { continue };
                        let test = Test::new(own.matched(&pairs)?)?;
                        let made = Made::new(features, &drawn, arguments.seconds, &control);
                        let losses = made.and_then(|made| test.losses(&made, &control));
                        errors.extend(budget.in_time(losses)?.as_deref().map(mean));
                    }
                    let [plain, noise, name] = errors[..] else { continue };
                    let cell = Cell {
                        data: data.name.clone(),
                        features: features.clone(),
                        specimens,
                        draw: number,
                        plain,
                        noise,
                        name,
                    };
                    println!(
                        "{:18} {:10} {specimens:9} {number:4}  {plain:6.3} {noise:6.3} {name:6.3}",
                        cell.data, cell.features
                    );
                    cells.push(cell);
                    arguments.asked.write(&cells)?;
                }
            }
        }
    }
    let changed = |cell: &&Cell| (cell.noise - cell.plain).abs() >= MOST_CHANGE;
    let most = cells.iter().map(|cell| (cell.noise - cell.plain).abs()).fold(0.0, f64::max);
    println!(
        "{} cells: noise changes the error by {MOST_CHANGE} or more in {}, by {most:.3} at most; a name leaves an error in {}, {:.3} at most",
        cells.len(),
        cells.iter().filter(changed).count(),
        cells.iter().filter(|cell| cell.name > 0.0).count(),
        cells.iter().map(|cell| cell.name).fold(0.0, f64::max),
    );
    Ok(())
}
