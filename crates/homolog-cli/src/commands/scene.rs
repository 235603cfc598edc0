//! `homolog experiment scene`: a few known points of a template are to be found among all corners of other pictures.

use super::experiment::columns;
use super::short;
use crate::inputs::{BUILT_IN, Input};
use crate::progress::{Watch, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::experiment::{
    Effect, Scene, ScenePairs, SceneSettings, Scenes, TargetPoints, by_appearance, learn_and_compare,
};
use homolog::geometry::{GreyImage, Susan};
use homolog::learn::{Evaluation, Trained};
use homolog::loss::Endpoint;
use homolog::matching::{Linear, Matcher, RightOrder};
use homolog_viz::{Block, GreyPicture, Report, ScenePicture, SceneRow, Section, View, svg_to_png};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Finds the known points of a template among the corners of other pictures
#[derive(clap::Args)]
#[command(after_help = "\
Every picture with its labelled points is a scene. The points of the template are matched to the corners of a target (SUSAN) by linear
assignment; the loss is the distance to their true places, in widths of the picture. A third of the scenes is for training, a third for
choosing λ, a third for testing. The row `appearance` finds the points by what the pictures look like around them, without corners: from the
template alone, and from all training pictures.

Examples:
  homolog experiment scene faces.json --template anna --out report
  homolog experiment scene faces -o faces-result.json
  homolog experiment scene --baselines 30,60,90 --landmarks 'ridge, left' --landmarks 'ridge, right'")]
pub(super) struct Arguments {
    /// A data set with pictures, a landmark table with pictures in images/ next to it, or the built-in sequence
    #[arg(default_value = BUILT_IN)]
    data: PathBuf,
    /// The id of the template [default: the first picture]
    #[arg(long, value_name = "ID", conflicts_with = "baselines")]
    template: Option<String>,
    /// Treat the pictures as a sequence: each is the template for the one this many frames later
    #[arg(long, value_delimiter = ',')]
    baselines: Vec<usize>,
    /// Landmarks to find: names separated by commas (repeatable) [default: all]
    #[arg(long, value_name = "NAMES")]
    landmarks: Vec<String>,
    /// Largest number of corners per picture
    #[arg(long, default_value_t = 200)]
    at_most: usize,
    /// Search only among corners: the nearest corner within this many pixels represents a labelled point
    #[arg(long, value_name = "PIXELS")]
    corners_only: Option<f64>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Write the results to a file as JSON
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write report.html and its pictures into a folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

/// A picture with its labelled points and the corners found in it.
struct Photo {
    id: String,
    picture: GreyPicture,
    landmarks: Array2<f64>,
    /// Edges of the data between those landmarks.
    edges: Vec<(usize, usize)>,
    corners: Array2<f64>,
}

/// The last one matches nothing.
const KINDS: [&str; 3] = ["shape context", "with image descriptors", "appearance"];

/// What one kind of features gives on one choice of pairs.
struct Row {
    features: &'static str,
    baseline: Option<usize>,
    unlearned: [Evaluation; 3],
    learned: [Evaluation; 3],
    /// The candidates, if there are weights.
    trained: Option<Trained>,
    figures: Vec<(String, String)>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let input = Input::load(&arguments.data)?;
    let watch = Watch::new(None);
    watch.say("corners".to_string());
    let photos = photos(&input, arguments)?;
    let template = arguments.template.as_deref().map_or(Ok(0), |id| input.find(id))?;
    let mut choices: Vec<Option<usize>> = arguments.baselines.iter().copied().map(Some).collect();
    if choices.is_empty() {
        choices.push(None);
    }
    let mut rows = Vec::new();
    // A single point has no shape.
    let kinds = if photos[0].landmarks.nrows() > 1 { &KINDS[..] } else { &KINDS[..2] };
    let count = kinds.len() * choices.len();
    'all: for &features in kinds {
        watch.part(rows.len(), count).say(format!("{features}: describing"));
        let scenes = scenes(&photos, &settings(arguments, features == KINDS[1]))?;
        for &baseline in &choices {
            let part = watch.part(rows.len(), count);
            let pairs = baseline.map_or_else(|| scenes.pairs_with(template), |baseline| scenes.pairs_at(baseline));
            if pairs.iter().any(Vec::is_empty) {
                bail!("{} pictures are too few: training, the choice of λ and the test need a pair each", photos.len());
            }
            let row = if features == KINDS[2] {
                seen(&photos, &scenes, baseline, &pairs, &part)?
            } else {
                Some(compare(&photos, &scenes, features, baseline, &pairs, arguments.out.is_some(), &part)?)
            };
            rows.extend(row);
            if stop_is_wanted() {
                break 'all;
            }
        }
    }
    watch.end();
    if rows.len() < count {
        eprintln!(
            "Stopped by Ctrl-C: {} of {count} comparisons were left out; the last may be of a model that was not learned to its end.",
            count - rows.len()
        );
    }
    let template = arguments.baselines.is_empty().then(|| photos[template].id.clone());
    let value = json!({"template": template, "rows": rows.iter().map(value).collect::<Vec<_>>()});
    let value = serde_json::to_string_pretty(&value)? + "\n";
    // What is asked for as a file is written before anything is printed: who prints may be gone.
    if let Some(path) = &arguments.output {
        files::write(path, value.as_bytes())?;
    }
    if let Some(folder) = &arguments.out {
        write_report(folder, arguments, &photos, &rows)?;
    }
    if arguments.json {
        files::print_data(value.as_bytes())?;
    } else {
        files::print(format!("Endpoint loss ± standard error\n{}", columns(&cells(&rows))).as_bytes())?;
        if let Some(folder) = &arguments.out {
            files::print(format!("Wrote {}.\n", folder.join("report.html").display()).as_bytes())?;
        }
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

fn settings(arguments: &Arguments, image: bool) -> SceneSettings {
    SceneSettings {
        at_most: arguments.at_most,
        candidates: arguments
            .corners_only
            .map_or(TargetPoints::WithLabels, |radius| TargetPoints::CornersOnly { radius }),
        image: if image { SceneSettings::gradients() } else { Vec::new() },
        ..SceneSettings::default()
    }
}

/// Reads the pictures and finds their corners; every picture must have the landmarks asked for.
fn photos(input: &Input, arguments: &Arguments) -> Result<Vec<Photo>> {
    let graphs = input.data.graphs();
    if graphs.len() < 4 {
        bail!(
            "{}: need a template and at least three other pictures, found {} in all",
            arguments.data.display(),
            graphs.len()
        );
    }
    let read = |number: usize| -> Result<Photo> {
        let named = &graphs[number];
        let points = named.graph.points().with_context(|| format!("graph {:?} has no points", named.id))?;
        let wanted: Vec<usize> = if arguments.landmarks.is_empty() {
            (0..points.nrows()).collect()
        } else {
            let names = named.graph.names().unwrap_or_default();
            let position = |name: &str| names.iter().position(|other| other == name);
            // A name may have commas itself.
            let words = arguments.landmarks.iter().flat_map(|word| match position(word) {
                Some(_) => vec![word.as_str()],
                None => word.split(',').map(str::trim).collect(),
            });
            let find =
                |name: &str| position(name).with_context(|| format!("graph {:?} has no landmark {name:?}", named.id));
            words.map(find).collect::<Result<_>>()?
        };
        let picture = input.picture(number)?.with_context(|| format!("there is no picture of graph {:?}", named.id))?;
        let grey = GreyImage::new(picture.width, picture.height, &picture.pixels)?;
        let corners = Susan::default().at_most(arguments.at_most, grey)?.points;
        let landmarks = points.select(ndarray::Axis(0), &wanted);
        let position = |node: usize| wanted.iter().position(|&other| other == node);
        let ends = named.graph.edges().ends().iter().filter(|[i, j]| i < j);
        let edges = ends.filter_map(|&[i, j]| Some((position(i)?, position(j)?))).collect();
        Ok(Photo { id: named.id.clone(), picture, landmarks, edges, corners })
    };
    (0..graphs.len()).into_par_iter().map(read).collect()
}

impl Photo {
    fn grey(&self) -> Result<GreyImage<'_>> {
        Ok(GreyImage::new(self.picture.width, self.picture.height, &self.picture.pixels)?)
    }
}

fn scenes(photos: &[Photo], settings: &SceneSettings) -> Result<Scenes> {
    let make = |photo: &Photo| -> Result<Scene> {
        Ok(Scene::with_corners(photo.grey()?, photo.landmarks.clone(), photo.corners.clone(), settings)?)
    };
    let scenes: Vec<Scene> = photos.par_iter().map(make).collect::<Result<_>>()?;
    Ok(Scenes::new(settings.features(), scenes)?)
}

fn compare(
    photos: &[Photo],
    scenes: &Scenes,
    features: &'static str,
    baseline: Option<usize>,
    pairs: &ScenePairs,
    draws: bool,
    watch: &Watch,
) -> Result<Row> {
    let splits = scenes.examples(pairs, &Endpoint::default())?;
    let about = about(features, baseline);
    let Effect { unlearned, learned, trained } = learn_and_compare(scenes.features(), &splits, &watch.control(&about))?;
    let mut figures = Vec::new();
    if draws {
        let pairs = &pairs[2];
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|&a, &b| learned[2].losses[a].total_cmp(&learned[2].losses[b]));
        for (at, what) in [(0, "best"), (order.len() / 2, "median"), (order.len() - 1, "worst")] {
            let ones = scenes.features().unlearned_weights();
            let weights = [("before learning", &ones), ("after learning", &trained.best().weights)];
            let name = about.trim_end_matches(": ").replace(", ", "-").replace(' ', "-");
            figures.push((format!("{name}-{what}"), draw(photos, scenes, pairs[order[at]], weights)?));
        }
    }
    Ok(Row { features, baseline, unlearned, learned, trained: Some(trained), figures })
}

/// The same pairs by what the pictures look like around the points; `None` if it was stopped.
fn seen(
    photos: &[Photo],
    scenes: &Scenes,
    baseline: Option<usize>,
    pairs: &ScenePairs,
    watch: &Watch,
) -> Result<Option<Row>> {
    let pictures = photos.iter().map(Photo::grey).collect::<Result<Vec<_>>>()?;
    let found = by_appearance(scenes, &pictures, pairs, &watch.control(&about(KINDS[2], baseline)));
    if found.is_err() && stop_is_wanted() {
        return Ok(None);
    }
    let [unlearned, learned] = found?;
    Ok(Some(Row { features: KINDS[2], baseline, unlearned, learned, trained: None, figures: Vec::new() }))
}

fn about(features: &str, baseline: Option<usize>) -> String {
    baseline.map_or(format!("{features}: "), |baseline| format!("{features}, baseline {baseline}: "))
}

fn draw(
    photos: &[Photo],
    scenes: &Scenes,
    (template, target): (usize, usize),
    rows: [(&str, &Vec<f64>); 2],
) -> Result<String> {
    let view = |scene: usize, points: ArrayView2<'_, f64>| View {
        caption: photos[scene].id.clone(),
        points: list(points),
        edges: photos[template].edges.clone(),
        picture: Some(photos[scene].picture.clone()),
        ..View::default()
    };
    let example = scenes.example(template, target, &Endpoint::default())?;
    let candidates = list(scenes.target(target).and_then(|graph| graph.points()).context("a target without points")?);
    // Landmarks that have no partner in the target are not in the example.
    let truth: Vec<Option<[f64; 2]>> =
        example.truth().left_to_right().iter().map(|at| at.map(|k| candidates[k])).collect();
    let complete = truth.len() == photos[target].landmarks.nrows();
    let mut drawn = Vec::new();
    for (name, weights) in rows {
        let problem = example.instance().compatibility(weights)?;
        let order = RightOrder::random(problem.right_count(), 0);
        let mut shuffled = problem.clone();
        order.shuffle_into(&problem, &mut shuffled)?;
        let solution = Linear::default().solve(&shuffled)?;
        let matching = order.carry_back(&solution.matching)?;
        let found = matching.left_to_right().iter().map(|at| at.map(|k| candidates[k])).collect();
        drawn.push(SceneRow { caption: format!("{name}: loss {:.3}", example.loss(&matching)), found });
    }
    let mut template_view = view(template, photos[template].landmarks.view());
    if !complete {
        template_view.edges.clear();
    }
    let picture = ScenePicture {
        title: format!("The points of {} found in {}", photos[template].id, photos[target].id),
        template: template_view,
        scene: view(target, photos[target].corners.view()),
        truth,
        rows: drawn,
    };
    Ok(picture.to_svg())
}

fn list(points: ArrayView2<'_, f64>) -> Vec<[f64; 2]> {
    points.rows().into_iter().map(|point| [point[0], point[1]]).collect()
}

fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let mut table =
        vec![["features", "baseline", "λ", "weights", "train", "validation", "test"].map(String::from).to_vec()];
    for row in rows {
        let lambda = row.trained.as_ref().and_then(|trained| trained.best().lambda()).map_or("-".to_string(), short);
        for (name, lambda, three) in [("unlearned", "-", &row.unlearned), ("learned", lambda.as_str(), &row.learned)] {
            let mut line = vec![row.features.to_string()];
            line.push(row.baseline.map_or("-".to_string(), |baseline| baseline.to_string()));
            line.extend([lambda.to_string(), name.to_string()]);
            line.extend(three.iter().map(|part| format!("{:.3} ± {:.3}", part.mean(), part.standard_error())));
            table.push(line);
        }
    }
    table
}

fn value(row: &Row) -> Value {
    let part =
        |part: &Evaluation| json!({"loss": part.mean(), "stderr": part.standard_error(), "pairs": part.losses.len()});
    let three = |[train, validation, test]: &[Evaluation; 3]| json!({"train": part(train), "validation": part(validation), "test": part(test)});
    let fit = row.trained.as_ref().and_then(Trained::fit);
    json!({
        "features": row.features,
        "baseline": row.baseline,
        "lambda": fit.map(|fit| fit.minimum.lambda),
        "certified": fit.map(|fit| fit.certified),
        "gap": fit.map(|fit| fit.minimum.gap),
        "unlearned": three(&row.unlearned),
        "learned": three(&row.learned),
    })
}

/// What came out, in a sentence: by the features that did best on the validation pictures.
fn news(rows: &[Row]) -> String {
    let best = rows.iter().min_by(|a, b| a.learned[1].mean().total_cmp(&b.learned[1].mean()));
    let Some(Row { features, unlearned, learned, .. }) = best else { return String::new() };
    let (before, after, count) = (unlearned[2].mean(), learned[2].mean(), learned[2].losses.len());
    let change = if after < before {
        "Learning brought points closer to their true places"
    } else {
        "Learning did not help here"
    };
    format!(
        "{change}: found on average {:.1} % of a picture's width from their true places before it and {:.1} % after, in {count} held-out pictures ({features}).",
        100.0 * before,
        100.0 * after
    )
}

fn write_report(folder: &Path, arguments: &Arguments, photos: &[Photo], rows: &[Row]) -> Result<()> {
    files::make_folder(folder)?;
    let mut figures: Vec<Block> = Vec::new();
    for (name, svg) in rows.iter().flat_map(|row| &row.figures) {
        files::write(&folder.join(name).with_extension("svg"), svg.as_bytes())?;
        files::write(&folder.join(name).with_extension("png"), &svg_to_png(svg, 1.0)?)?;
        figures.push(Block::Figure { svg: svg.clone(), caption: name.replace('-', " ") });
    }
    // Of best, median and worst of the last features, the one in the middle.
    let first = figures.len().checked_sub(2).map(|at| figures.remove(at));
    let candidates = match arguments.corners_only {
        Some(radius) => format!(
            "The true places are not among the candidates: a point counts as found at the nearest corner, and one without a corner within {radius} pixels is left out."
        ),
        None => "The true places are among the candidates: they were added to the corners that were found, so every point can be found exactly. --corners-only leaves them out."
            .to_string(),
    };
    let read = [
        "A few points are marked in one picture, the template. The task is to find them in another picture among its corners: places where the brightness changes in two directions, found by the detector SUSAN.".to_string(),
        candidates,
        "The loss of a picture is the mean distance between where its points were found and where they are, in widths of the picture. A third of the pictures is learned from, a third (validation) chooses λ, which says how far learning may go, and a third (test) is only counted on. After ± stands the standard error: how much the mean would vary with other pictures.".to_string(),
        "Shape context: how the corners around a corner are spread. Image descriptors: how the brightness around it changes. Appearance: any place of the picture, by how it looks around the points of the template alone (unlearned) or of all training pictures (learned); no corners are used, and no point can be found exactly.".to_string(),
    ];
    let mut table = cells(rows);
    let header = table.remove(0);
    let caption = "Distance from the true point in widths of the picture, ± standard error.".to_string();
    let section = |heading: &str, blocks: Vec<Block>| Section { heading: heading.to_string(), blocks };
    let mut sections = vec![
        section("Before and after learning", first.into_iter().collect()),
        section("How to read the rest", read.into_iter().map(Block::Text).collect()),
        section("How far off", vec![Block::Table { header, rows: table, caption }]),
        section("The best, the median and the worst test picture", figures),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    let introduction =
        format!("{} {} pictures with {} marked points each.", news(rows), photos.len(), photos[0].landmarks.nrows());
    let report = Report { title: "Finding marked points in other pictures".to_string(), introduction, sections };
    files::write(&folder.join("report.html"), report.to_html().as_bytes())
}
