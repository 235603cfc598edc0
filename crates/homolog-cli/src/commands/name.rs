//! `homolog name`: the names of the points of new specimens, by a model with an atlas; the points themselves, where all that is given is
//! pictures (`name_pictures`).

use super::name_output::{Answer, End, Texts, header};
use super::name_pictures;
use crate::counted::counted;
use crate::hints::advised;
use crate::inputs::{BUILT_IN, Input, extension};
use crate::progress::{Watch, note, stop_is_wanted};
use crate::reading::Reading;
use crate::stream::{Format, Resume, Sink, done};
use crate::{Ending, files};
use anyhow::{Context, Result, bail};
use homolog::Report;
use homolog::atlas::Atlas;
use homolog::data::dataset::NamedGraph;
use homolog::matching::Workspace;
use homolog::model::{Model, in_order};
use homolog_viz::{NamedPicture, NamedPoint, View, svg_to_png};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// So many specimens per thread are named before any is written: enough to keep all cores busy.
const PER_THREAD: usize = 8;

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
  homolog name wings.model.json thousands.jsonl -o named.jsonl --resume
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
    /// Write the named points to a table (.csv) or as JSON, one specimen per line (.jsonl); a take also to .trc [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Continue after the last specimen in the output file
    #[arg(long, requires = "output")]
    resume: bool,
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
    let reading = Reading::within(limit);
    let mut model = super::read_model(&arguments.model)?;
    if let (Some(presence), true) = (arguments.presence, model.atlas().is_some()) {
        model = model.with_presence(presence.presence())?;
    }
    if name_pictures::are_pictures(&arguments.specimens)? {
        if arguments.resume {
            bail!("--resume continues a table of specimens, and these are pictures");
        }
        drop(reading);
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
        let error = format!("{}: only a take is written as TRC", path.display());
        return Err(advised(error, "use `--take` if the specimens are frames"));
    }
    drop(reading);
    let watch = Watch::new(limit);
    if is_take || arguments.take {
        if arguments.resume {
            bail!("--resume continues a table of specimens, and a take is named as a whole");
        }
        let (table, picture) = (arguments.output.as_deref(), arguments.picture.as_deref());
        let outputs = super::name_take::Outputs { table, picture, json: arguments.json };
        super::name_take::run(&model, &specimens, &outputs, &watch)?;
        return Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done });
    }
    check_picture(arguments.picture.as_deref(), specimens.len())?;
    arguments.name_all(&model, atlas, &specimens, &places, &watch)?;
    Ok(if stop_is_wanted() { Ending::Stopped } else { Ending::Done })
}

impl Arguments {
    /// Names specimens in order on all cores and writes each as soon as it is named.
    fn name_all(
        &self,
        model: &Model,
        atlas: &Atlas,
        specimens: &[&NamedGraph],
        places: &[(&Input, usize)],
        watch: &Watch,
    ) -> Result<()> {
        let control = watch.control("");
        let header = header(atlas, self.candidates.is_some());
        let is_jsonl = self.output.as_deref().is_some_and(|path| extension(path) == "jsonl");
        let format = if is_jsonl { Format::Jsonl } else { Format::Csv };
        let twins = specimens.windows(2).find(|two| two[0].id == two[1].id);
        if let Some(two) = twins.filter(|_| self.resume) {
            bail!("--resume: two specimens in a row are called {:?}", two[0].id);
        }
        let expected = || specimens.iter().map(|one| [one.id.as_str()]);
        let resumed = |path: &Path| done(path, format, &header, ["specimen"], expected());
        let resumed: Resume<'_> = if self.resume { Some(&resumed) } else { None };
        // With --json and no file, there is no table.
        let is_table = self.output.is_some() || !self.json;
        let mut begun = 0;
        let mut table = None;
        if is_table {
            let (sink, done) = Sink::open(self.output.as_deref(), (format, "specimens"), &header, resumed)?;
            (table, begun) = (Some(sink), done);
        }
        let list = self.json.then(|| Sink::open(None, (Format::Json, "specimens"), "", None)).transpose()?;
        let mut list = list.map(|(sink, _)| sink);
        let name = |(): &mut (), &at: &usize| -> Result<Option<Texts>> {
            let specimen = specimens[at];
            if stop_is_wanted() {
                return Ok(None);
            }
            watch.say(format!("naming {}", specimen.id));
            let about = || format!("{:?}", specimen.id);
            let naming = model.name(&specimen.graph, &mut Workspace::with_control(&control)).with_context(about)?;
            // What Ctrl-C ended is not the answer that it would have been.
            if stop_is_wanted() {
                return Ok(None);
            }
            let words =
                naming.named_at(atlas, self.candidates).with_context(|| format!("--candidates: {}", about()))?;
            Answer { specimen, naming, words }.texts(atlas, self.picture.as_ref().map(|_| places[at])).map(Some)
        };
        let (mut taken, mut drawn, mut end) = (begun, BTreeSet::new(), End::default());
        if let Some(path) = &self.picture {
            for specimen in &specimens[..begun] {
                file_for(path, &specimen.id, &mut drawn)?;
            }
        }
        let count = specimens.len();
        let take = |texts: Texts| -> Result<ControlFlow<()>> {
            if let (Some(path), Some(picture)) = (&self.picture, &texts.picture) {
                write_picture(&file_for(path, &specimens[taken].id, &mut drawn)?, picture)?;
            }
            if let Some(table) = &mut table {
                table.answer(if is_jsonl { &texts.line } else { &texts.rows }, taken == 0)?;
            }
            if let Some(list) = &mut list {
                list.answer(&texts.value, taken == begun)?;
            } else if self.output.is_some() {
                files::print(texts.summary.as_bytes())?;
            }
            end.add(&specimens[taken].id, &texts);
            taken += 1;
            for sink in [&mut table, &mut list].into_iter().flatten() {
                sink.tell(&control, &Report::new("naming specimens", taken, Some(count)))?;
            }
            Ok(ControlFlow::Continue(()))
        };
        in_order(begun..count, PER_THREAD * rayon::current_num_threads(), || (), name, take)?;
        watch.end();
        table.map(|table| table.end(taken == 0)).transpose()?;
        if let Some(list) = list {
            list.end(taken == begun)?;
        } else if let Some(path) = &self.output {
            files::print(end.text(path)?.as_bytes())?;
        } else if !end.odd.is_empty() {
            note(&format!("unlike the training specimens, names are unreliable: {}", end.odd.join(", ")));
        }
        if taken < count {
            let hint = if self.output.is_some() { " Use --resume to continue." } else { "" };
            eprintln!("Stopped by Ctrl-C: {} of {count} specimens were not named.{hint}", count - taken);
        }
        Ok(())
    }
}

/// One file is for one specimen.
pub(super) fn check_picture(path: Option<&Path>, specimens: usize) -> Result<()> {
    if let Some(path) = path.filter(|path| is_one_file(path) && specimens != 1) {
        let path = path.display();
        let error = format!("--picture {path}: one file is for one specimen, and there are {specimens}");
        return Err(advised(error, "give a folder"));
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
            "{} from {}; ellipses of two deviations",
            counted(atlas.landmarks.len(), "landmark"),
            counted(atlas.specimens, "specimen")
        ),
        points: atlas.landmarks.iter().map(point).collect(),
        edges: atlas.edges.iter().map(|edge| (edge.ends[0], edge.ends[1])).collect(),
        ..View::default()
    };
    NamedPicture { title: "Atlas".to_string(), view, points: atlas.landmarks.iter().map(known).collect() }.to_svg()
}
