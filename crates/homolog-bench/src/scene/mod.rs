//! The paper's second and third experiments on photographs: a template's known points among the corners of another picture.
//!
//! Prints tables in Markdown: endpoint loss (standard error) for training, validation and test, with every weight 1 and with learned
//! weights, λ by validation. `--part templates` says how much the choice of the template matters; `--part speed` times corners and matches.
//! Pictures of matches: `homolog experiment scene --out`.

mod data;
mod speed;
mod tables;
mod variants;

pub(crate) use data::Photo;

use crate::house;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Arguments of `homolog-bench scene`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder with house, faces and bikes.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Which sets.
    #[arg(long, value_delimiter = ',', default_value = "house,faces,bikes")]
    sets: Vec<String>,
    /// What to do.
    #[arg(long, value_enum, default_value = "tables")]
    part: Part,
    /// The template of faces and bikes, by name; by default the first, and then the best of the training photographs.
    #[arg(long)]
    template: Option<String>,
    /// The most corners in a picture.
    #[arg(long, default_value_t = 200)]
    at_most: usize,
    /// Baselines of the house sequence.
    #[arg(long, value_delimiter = ',', default_value = "0,10,20,30,40,50,60,70,80,90")]
    baselines: Vec<usize>,
    /// How often each step is timed.
    #[arg(long, default_value_t = 101)]
    rounds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Tables,
    Templates,
    Speed,
}

/// The photographs of a set by its name, as other benchmarks use them.
pub(crate) fn read_set(folder: &Path, name: &str) -> Result<Vec<Photo>> {
    Ok(data::read(folder, name)?.photos)
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let beside = || house::default_directory().parent().map(PathBuf::from).context("a folder of data");
    let folder = arguments.data.clone().map_or_else(beside, Ok)?;
    if arguments.part == Part::Speed {
        return speed::run(&data::read(&folder, "house")?, arguments.rounds);
    }
    for name in &arguments.sets {
        let set = data::read(&folder, name)?;
        let corners = tables::corners(&set, arguments.at_most)?;
        let counts: Vec<usize> = corners.iter().map(ndarray::ArrayBase::nrows).collect();
        let (least, most) =
            (counts.iter().min().context("a photograph")?, counts.iter().max().context("a photograph")?);
        println!("\n{name}: {} photographs, {least} to {most} corners each", set.photos.len());
        let find = |id: &String| set.photos.iter().position(|photo| photo.name == *id).context("no such template");
        let given = arguments.template.as_ref().map(find).transpose()?;
        match (arguments.part, given) {
            (Part::Templates, _) => tables::all_templates(&set, &corners)?,
            (_, None) if name == "house" => tables::sequence(&set, &corners, &arguments.baselines)?,
            (_, Some(template)) => tables::fixed(&set, &corners, template, "chosen by hand")?,
            (_, None) => {
                tables::fixed(&set, &corners, 0, "the first")?;
                let best = tables::best_template(&set, &corners)?;
                tables::fixed(&set, &corners, best, "best on the training set before learning")?;
            }
        }
    }
    Ok(())
}
