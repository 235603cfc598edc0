//! `homolog name`: the names of the points of new specimens, by a model with an atlas; the points themselves, where all that is given is
//! pictures (`name_pictures`).

use super::name_pictures;
use crate::inputs::{BUILT_IN, Input, extension};
use crate::progress::{Watch, note, stop_is_wanted};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::atlas::{Atlas, Named as Words, NamedSet, Naming};
use homolog::data::dataset::NamedGraph;
use homolog::matching::{Status, Workspace};
use homolog_viz::{NamedPicture, NamedPoint, View, svg_to_png};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Names less sure than this are to be looked at.
pub(super) const SURE: f64 = 0.9;

/// Names the points of new specimens
#[derive(clap::Args)]
#[command(after_help = "\
The model comes from `homolog train --features atlas`. Names already in the table are ignored. In the output,
`landmark` is empty for a point that is not a landmark, `confidence` is the chance that the name is right (empty if the model was learned from
one specimen alone), and `runner_up` is the second choice. With --candidates 0.95, `candidates` lists names that include the
true one 95 % of the time, most likely first (none: no landmark).

The frames of a take (.trc, .c3d, or any file with --take) are named as a whole: points are followed from frame to frame, names are
consistent over time, doubtful stretches and swaps are listed, and --picture shows confidence over time.

Examples:
  homolog name wings.model.json new.csv -o named.csv
  homolog name wings.model.json new.csv --picture named.png
  homolog name wings.model.json new.csv w17 w23 --picture pictures/
  homolog name wings.model.json new.csv --candidates 0.95
  homolog name wings.model.json field.csv --presence partial
  homolog name wings.model.json monday.csv tuesday.csv -o named.csv --json
  homolog name walker.model.json take7.trc -o take7-named.trc --picture confidence.png

Pictures (.png, .jpg) need no points: a model from `train --pictures` finds them. `confidence` is then the chance that a point is within 2 %
of the size of the whole.

  homolog train wings.tps -o wings.model.json --features atlas --pictures
  homolog name wings.model.json new/*.jpg -o found.csv --picture pictures/")]
pub(crate) struct Arguments {
    /// The model file
    pub(super) model: PathBuf,
    /// Landmark tables (.csv), data sets (.json, .jsonl) or one take (.trc, .c3d) with the points; after them ids, to name only these. Or pictures
    /// (.png, .jpg) without any points
    #[arg(required = true)]
    pub(super) specimens: Vec<PathBuf>,
    /// Write the named points to a table (.csv); a take also to .trc [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Whether the specimens have every landmark and no other point [default: the model's setting; auto: decided for each]
    #[arg(long, value_enum)]
    presence: Option<super::PresenceOption>,
    /// List candidate names for each point that include the true one with this probability, such as 0.95
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    candidates: Option<f64>,
    /// Draw the specimens: one as FILE.svg or FILE.png, any number into a folder as ID.png; for a take, confidence over time as one FILE
    #[arg(long, value_name = "FILE")]
    pub(super) picture: Option<PathBuf>,
    /// Treat the specimens, in the order of the file, as the frames of one take
    #[arg(long)]
    take: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Stop after this many seconds with the best so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Threads to use [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending> {
    super::use_threads(arguments.threads)?;
    let limit = arguments.time_limit.map(super::seconds).transpose()?;
    let mut model = super::read_model(&arguments.model)?;
    if let (Some(presence), true) = (arguments.presence, model.atlas().is_some()) {
        model = model.with_presence(presence.presence())?;
    }
    if name_pictures::are_pictures(&arguments.specimens)? {
        return name_pictures::run(arguments, &model, limit);
    }
    let atlas = model.atlas().with_context(|| {
        format!("{} has no atlas, so it cannot name points; train one with --features atlas", arguments.model.display())
    })?;
    let load = |path: &PathBuf| Input::load(path)?.seen_by(&model.image_descriptors());
    let is_input = |path: &&PathBuf| path.exists() || files::is_standard(path) || path.as_os_str() == BUILT_IN;
    let (files, ids): (Vec<&PathBuf>, Vec<&PathBuf>) = arguments.specimens.iter().partition(is_input);
    // If nothing is a file, the first one is missed, not looked for as an id.
    let (files, ids) = if files.is_empty() { (ids, files) } else { (files, ids) };
    let loaded = files.into_iter().map(load).collect::<Result<Vec<_>>>()?;
    let graphs =
        loaded.iter().flat_map(|input| input.data.graphs().iter().enumerate().map(move |(at, one)| (input, at, one)));
    let is_wanted = |one: &NamedGraph| ids.is_empty() || ids.iter().any(|id| id.as_os_str() == one.id.as_str());
    let (places, specimens): (Vec<(&Input, usize)>, Vec<&NamedGraph>) =
        graphs.filter(|(.., one)| is_wanted(one)).map(|(input, at, one)| ((input, at), one)).unzip();
    if let Some(id) = ids.iter().find(|id| specimens.iter().all(|one| id.as_os_str() != one.id.as_str())) {
        bail!("{}: no such file, and no specimen has this id", id.display());
    }
    let is_take = loaded.len() == 1 && ids.is_empty() && specimens.len() > 1 && loaded[0].data.take().is_some();
    if arguments.take && loaded.len() != 1 {
        bail!("--take: the frames of a take are in one file, and {} were given", loaded.len());
    }
    if let Some(path) =
        arguments.output.as_ref().filter(|path| extension(path) == "trc" && !(is_take || arguments.take))
    {
        bail!("{}: only a take is written as TRC; use --take if the specimens are frames", path.display());
    }
    let watch = Watch::new(limit);
    if is_take || arguments.take {
        let (table, picture) = (arguments.output.as_deref(), arguments.picture.as_deref());
        let outputs = super::name_take::Outputs { table, picture, json: arguments.json };
        super::name_take::run(&model, &specimens, &outputs, &watch)?;
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    }
    check_picture(arguments.picture.as_deref(), specimens.len())?;
    let control = watch.control("");
    let name = |specimen: &&NamedGraph| -> Result<Naming> {
        watch.say(format!("naming {}", specimen.id));
        model
            .name(&specimen.graph, &mut Workspace::with_control(&control))
            .with_context(|| format!("{:?}", specimen.id))
    };
    let namings = specimens.par_iter().map(name).collect::<Result<Vec<_>>>()?;
    watch.end();
    let listed = |(specimen, naming): (&NamedGraph, &Naming)| {
        naming.named_at(atlas, arguments.candidates).with_context(|| format!("--candidates: {:?}", specimen.id))
    };
    let words = specimens.iter().copied().zip(&namings).map(listed).collect::<Result<Vec<Words>>>()?;
    let named: Vec<Answer<'_>> = specimens
        .into_iter()
        .zip(namings)
        .zip(words)
        .map(|((specimen, naming), words)| Answer { specimen, naming, words })
        .collect();
    if let Some(path) = &arguments.picture {
        let mut taken = BTreeSet::new();
        for (answer, place) in named.iter().zip(&places) {
            let file = file_for(path, &answer.specimen.id, &mut taken)?;
            draw(&file, atlas, answer, *place)?;
        }
    }
    let table = table(atlas, &named)?;
    if let Some(path) = &arguments.output {
        files::write(path, table.as_bytes())?;
    }
    if arguments.json {
        let list = named.iter().map(value).collect::<Result<Vec<Value>>>()?;
        files::print_data((serde_json::to_string_pretty(&json!({ "specimens": list }))? + "\n").as_bytes())?;
    } else if let Some(path) = &arguments.output {
        files::print(summary(atlas, &named, path)?.as_bytes())?;
    } else {
        files::print_data(table.as_bytes())?;
        let is_odd = |one: &&Answer<'_>| one.words.fits_badly;
        let odd: Vec<&str> = named.iter().filter(is_odd).map(|one| &*one.specimen.id).collect();
        if !odd.is_empty() {
            note(&format!("unlike the training specimens, names are unreliable: {}", odd.join(", ")));
        }
    }
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

/// A specimen and its names.
struct Answer<'a> {
    specimen: &'a NamedGraph,
    naming: Naming,
    words: Words,
}

/// The names that a point may have, in words.
fn candidates(set: &NamedSet) -> Vec<&str> {
    set.names.iter().map(String::as_str).chain(set.none.then_some("none")).collect()
}

/// The table that went in, with names.
fn table(atlas: &Atlas, named: &[Answer<'_>]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let axes = &["x", "y", "z"][..atlas.dimension];
    let lists = named.iter().any(|one| one.words.sets.is_some()).then_some("candidates");
    let header = ["specimen", "landmark"].into_iter().chain(axes.iter().copied()).chain(["confidence", "runner_up"]);
    writer.write_record(header.chain(lists))?;
    for Answer { specimen, naming, words } in named {
        let Some(points) = specimen.graph.points() else { continue };
        for (row, point) in points.rows().into_iter().enumerate() {
            let call = naming.calls.iter().find(|call| call.point == row);
            let name = |landmark: usize| atlas.landmarks[landmark].name.clone();
            let mut record = vec![specimen.id.clone(), call.map(|call| name(call.landmark)).unwrap_or_default()];
            record.extend(point.iter().map(f64::to_string));
            record.push(call.and_then(|call| call.confidence).map_or_else(String::new, |share| format!("{share:.4}")));
            record.push(call.and_then(|call| call.runner_up).map(name).unwrap_or_default());
            record.extend(words.sets.iter().map(|sets| candidates(&sets.points[row]).join(";")));
            writer.write_record(record)?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn summary(atlas: &Atlas, named: &[Answer<'_>], path: &Path) -> Result<String> {
    let mut text = String::new();
    for Answer { specimen, naming, words } in named {
        let given = naming.matching.matched_count();
        write!(text, "{}: {given} of {} points named", specimen.id, naming.matching.right_count())?;
        let absent: Vec<&str> = naming.matching.unmatched_left().map(|at| atlas.landmarks[at].name.as_str()).collect();
        if !absent.is_empty() {
            write!(text, ", not found: {}", absent.join(", "))?;
        }
        let unsure: Vec<&str> = naming
            .calls
            .iter()
            .filter(|call| call.confidence.is_some_and(|confidence| confidence < SURE))
            .map(|call| atlas.landmarks[call.landmark].name.as_str())
            .collect();
        if !unsure.is_empty() {
            write!(text, ", check first: {}", unsure.join(", "))?;
        }
        if let Some(sets) = &words.sets {
            let open = sets.points.iter().filter(|set| candidates(set).len() > 1).count();
            write!(text, ", several candidates for {open}")?;
        }
        if let (true, Some(fit)) = (words.fits_badly, words.fit) {
            write!(text, ", unlike the training specimens (fit {fit:.2}): names are unreliable")?;
        }
        writeln!(text, "; {}", status(naming))?;
    }
    let sets = named.iter().filter_map(|one| one.words.sets.as_ref());
    if let Some(sets) = sets.min_by(|a, b| a.guaranteed.total_cmp(&b.guaranteed)) {
        let (level, guaranteed, count) = (100.0 * sets.level, 100.0 * sets.guaranteed, sets.specimens);
        write!(text, "Candidates hold the true name {level:.0} % of the time, as {count} left-out specimens show")?;
        if sets.guaranteed < sets.level {
            write!(text, "; so few guarantee only {guaranteed:.0} %")?;
        }
        writeln!(text, ".")?;
    }
    writeln!(text, "Wrote {}.", path.display())?;
    Ok(text)
}

/// What is proven of a naming.
fn status(naming: &Naming) -> String {
    match (naming.status, naming.candidates) {
        (Status::Optimal, None) => "proven best in this pose".to_string(),
        (Status::Optimal, Some(count)) => format!("proven best in this pose among each landmark's {count} candidates"),
        _ => "not proven".to_string(),
    }
}

fn value(answer: &Answer<'_>) -> Result<Value> {
    let mut named = serde_json::to_value(&answer.words)?;
    named["specimen"] = json!(answer.specimen.id);
    Ok(named)
}

/// One file is for one specimen.
pub(super) fn check_picture(path: Option<&Path>, specimens: usize) -> Result<()> {
    if let Some(path) = path.filter(|path| is_one_file(path) && specimens != 1) {
        let path = path.display();
        bail!("--picture {path}: one file is for one specimen, and there are {specimens}; give a folder");
    }
    Ok(())
}

/// The file that a specimen is drawn to.
pub(super) fn file_for(path: &Path, id: &str, taken: &mut BTreeSet<String>) -> Result<PathBuf> {
    if is_one_file(path) { Ok(path.to_path_buf()) } else { picture_file(path, id, taken) }
}

/// Whether a place for pictures is a single file.
fn is_one_file(path: &Path) -> bool {
    !path.is_dir() && matches!(extension(path).as_str(), "svg" | "png")
}

/// A file for a specimen in a folder, named by its id as far as that can be the name of a file.
pub(super) fn picture_file(folder: &Path, id: &str, taken: &mut BTreeSet<String>) -> Result<PathBuf> {
    files::make_folder(folder)?;
    let plain =
        |character: char| if character.is_alphanumeric() || "-_ ".contains(character) { character } else { '_' };
    let stem: String = id.chars().map(plain).collect();
    let names = (1..).map(|number: usize| if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
    let name = names.into_iter().find(|name| taken.insert(name.to_lowercase())).unwrap_or_default();
    Ok(folder.join(name + ".png"))
}

fn draw(path: &Path, atlas: &Atlas, answer: &Answer<'_>, (input, at): (&Input, usize)) -> Result<()> {
    let Answer { specimen, naming, words } = answer;
    let points = specimen.graph.points().context("there are no points to draw")?;
    let mut known = vec![NamedPoint::default(); points.nrows()];
    for call in &naming.calls {
        known[call.point].name.clone_from(&atlas.landmarks[call.landmark].name);
        known[call.point].confidence = call.confidence;
    }
    for (known, set) in known.iter_mut().zip(words.sets.iter().flat_map(|sets| &sets.points)) {
        let names = candidates(set);
        if names.len() > 1 {
            known.name = names.join(" or ");
        }
    }
    let picture = input.picture(at)?;
    let points = points.rows().into_iter().map(|point| [point[0], point[1]]).collect();
    let view = View { caption: specimen.id.clone(), points, picture, ..View::default() };
    write_picture(path, &NamedPicture { title: String::new(), view, points: known }.to_svg())
}

/// Writes a figure as what the name of the file ends in.
pub(super) fn write_picture(path: &Path, svg: &str) -> Result<()> {
    match extension(path).as_str() {
        "svg" => files::write(path, svg.as_bytes()),
        "png" => files::write(path, &svg_to_png(svg, 1.5)?),
        other => bail!("--picture {}: a picture ends in .svg or .png, not in {other:?}", path.display()),
    }
}

/// The atlas itself: mean shape, the spread of each landmark, its edges.
pub(super) fn atlas_picture(atlas: &Atlas) -> String {
    let point = |landmark: &homolog::atlas::Landmark| [landmark.position.mean[0], landmark.position.mean[1]];
    let known = |landmark: &homolog::atlas::Landmark| {
        let covariance = landmark.position.covariance();
        let spread = Some([covariance[[0, 0]], covariance[[0, 1]], covariance[[1, 1]]]);
        NamedPoint { name: landmark.name.clone(), confidence: None, spread }
    };
    let view = View {
        caption: format!(
            "{} landmarks from {} specimens; ellipses of two deviations",
            atlas.landmarks.len(),
            atlas.specimens
        ),
        points: atlas.landmarks.iter().map(point).collect(),
        edges: atlas.edges.iter().map(|edge| (edge.ends[0], edge.ends[1])).collect(),
        ..View::default()
    };
    NamedPicture { title: "Atlas".to_string(), view, points: atlas.landmarks.iter().map(known).collect() }.to_svg()
}
