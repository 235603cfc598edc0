//! `homolog check`: what looks wrong in labelled specimens.

use super::name::{picture_file, write_picture};
use crate::inputs::{Input, extension};
use crate::progress::{Watch, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::data::dataset::NamedGraph;
use homolog::data::{self, Format};
use homolog::specimens::check::{CheckReport, Finding, Fix, Kind, check};
use homolog_viz::{SuspectPicture, SuspectPoint, View};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Lists what looks wrong in labelled specimens: swapped, displaced or mirrored landmarks
#[derive(clap::Args)]
#[command(after_help = "\
Every landmark is predicted from its neighbours, as learned from the other specimens; suspected mistakes are left out of the learning. The
list is sorted, surest first: names swapped, rolled or reversed; specimens mirrored, rotated or in other units; landmarks displaced, duplicate
or missing; specimens that fit nothing. It needs at least 8 specimens. About 1 in 100 good specimens is listed by mistake among 40 or more,
1 in 50 among 20, 1 in 17 among 8.

Examples:
  homolog check wings.csv
  homolog check wings.tps --picture suspects/
  homolog check monday.csv tuesday.csv -o mistakes.csv
  homolog check wings.csv --fix swaps -o corrected.csv")]
pub(crate) struct Arguments {
    /// Files of labelled specimens: tables (.csv), .tps, DeepLabCut, COCO, .trc, .c3d, data sets (.json, .jsonl)
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Write the list to a table (.csv); with --fix, the corrected specimens (.csv, .tps, .trc, .json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write corrected specimens to the output: swapped landmarks exchanged (swaps), or all mistakes in names corrected (names)
    #[arg(long, value_enum, value_name = "swaps|names", hide_possible_values = true, requires = "output")]
    fix: Option<FixChoice>,
    /// Draw each suspect into a folder, with the expected place of each landmark
    #[arg(long, value_name = "FOLDER")]
    picture: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FixChoice {
    Swaps,
    Names,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    let inputs = arguments.inputs.iter().map(|path| Input::load(path)).collect::<Result<Vec<_>>>()?;
    let all = inputs.iter().flat_map(|input| (0..input.data.graphs().len()).map(move |at| (input, at)));
    let places: Vec<(&Input, usize)> = all.collect();
    let graphs: Vec<NamedGraph> = places.iter().map(|(input, at)| input.data.graphs()[*at].clone()).collect();
    let watch = Watch::new(None);
    let report = check(&graphs, &watch.control(""))?;
    watch.end();
    if let Some(folder) = &arguments.picture {
        draw_all(folder, &graphs, &places, &report)?;
    }
    let mut said = report.to_string();
    if let Some(path) = &arguments.output {
        let text = if let Some(fix) = arguments.fix {
            let fix = if fix == FixChoice::Swaps { Fix::Swaps } else { Fix::Names };
            let (mended, count) = report.mended(&graphs, fix)?;
            writeln!(said, "Mended {count} of them.")?;
            specimens(path, &mended)?
        } else {
            table(&report)?
        };
        files::write(path, text.as_bytes())?;
        writeln!(said, "Wrote {}.", path.display())?;
    }
    if arguments.json {
        files::print_data((serde_json::to_string_pretty(&report)? + "\n").as_bytes())?;
    } else {
        files::print(said.as_bytes())?;
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// The list as a table.
fn table(report: &CheckReport) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header =
        ["specimen", "kind", "landmarks", "points_of", "spreads", "should_be", "factor", "degrees", "oddness", "text"];
    writer.write_record(header)?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
    for finding in &report.findings {
        let place: Vec<String> = finding.should_be.iter().flatten().map(ToString::to_string).collect();
        writer.write_record([
            finding.specimen.clone(),
            finding.kind.name().to_string(),
            finding.landmarks.join(" "),
            finding.points_of.join(" "),
            number(finding.spreads),
            place.join(" "),
            number(finding.factor),
            number(finding.degrees),
            number(finding.oddness),
            finding.to_string(),
        ])?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Specimens as what the name of the file ends in.
fn specimens(path: &Path, graphs: &[NamedGraph]) -> Result<String> {
    let format = match extension(path).as_str() {
        "csv" => Format::Landmarks,
        "tps" => Format::Tps,
        "trc" => Format::Trc,
        "json" => Format::DataSet,
        other => {
            bail!(
                "-o {}: corrected specimens are written as .csv, .tps, .trc or .json, not as {other:?}",
                path.display()
            )
        }
    };
    Ok(data::write(format, graphs)?)
}

/// A picture of each suspect.
fn draw_all(folder: &Path, graphs: &[NamedGraph], places: &[(&Input, usize)], report: &CheckReport) -> Result<()> {
    files::make_folder(folder)?;
    let mut taken = BTreeSet::new();
    for index in report.suspects() {
        let file = picture_file(folder, &graphs[index].id, &mut taken)?;
        let (input, at) = places[index];
        let findings: Vec<&Finding> = report.findings.iter().filter(|finding| finding.index == index).collect();
        let should_be = |name: &str| {
            let list = report.expected.get(&index)?;
            let place = &list.iter().find(|should| should.landmark == name)?.at;
            Some([place[0], place[1]])
        };
        let wrong = |name: &str| {
            let whole = |kind: Kind| matches!(kind, Kind::Mirrored | Kind::Unlike);
            findings.iter().any(|finding| whole(finding.kind) || finding.landmarks.iter().any(|own| own == name))
        };
        let one = &graphs[index];
        let points = one.graph.points().context("there are no points to draw")?;
        let names = one.graph.names().unwrap_or_default();
        let known = names.iter().map(|name| SuspectPoint {
            name: name.clone(),
            wrong: wrong(name),
            should_be: should_be(name),
        });
        let known = known.collect();
        let points = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
        let view = View { caption: one.id.clone(), points, picture: input.picture(at)?, ..View::default() };
        let title: Vec<String> = findings.iter().map(ToString::to_string).collect();
        write_picture(&file, &SuspectPicture { title: title.join("; "), view, points: known }.to_svg())?;
    }
    Ok(())
}
