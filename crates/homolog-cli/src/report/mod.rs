//! The report of a sequence experiment in one HTML file: the news and one picture, how to read the rest, then the figures; and every
//! figure as SVG and PNG.

mod charts;
mod words;

pub(crate) use words::share;

use crate::files;
use crate::inputs::Input;
use crate::product::{Product, TRAINED, UNTRAINED};
use crate::study::{BaselineResult, MethodResult};
use anyhow::Result;
use homolog::experiment::{Frames, SequenceMethod};
use homolog_viz::{Block, Report, Section, svg_to_png};
use std::path::Path;

/// Results to report.
pub(crate) struct Results<'a> {
    /// What was matched, in a sentence or two for somebody who has never seen it.
    pub(crate) data: String,
    pub(crate) input: &'a Input,
    pub(crate) frames: &'a Frames,
    pub(crate) approaches: Vec<SequenceMethod>,
    pub(crate) baselines: Vec<BaselineResult>,
    /// Some methods at the largest baseline.
    pub(crate) by_pairs: Vec<ByPairs>,
    /// `homolog train` from the same pairs at the largest baseline; `None` if only the paper's methods were run.
    pub(crate) product: Option<Product>,
    /// `homolog train` on rotated pictures.
    pub(crate) askew: Option<Askew<'a>>,
    /// What a reader may look for and not find, and why.
    pub(crate) absent: Vec<String>,
}

/// What `homolog train` makes of pictures that are rotated.
pub(crate) struct Askew<'a> {
    pub(crate) input: &'a Input,
    /// Labelled pairs that were learned from.
    pub(crate) pairs: usize,
    pub(crate) product: Product,
}

/// What a method makes of so many labelled pairs.
pub(crate) struct ByPairs {
    pub(crate) approach: SequenceMethod,
    /// Numbers of pairs that were learned from, and what came of it.
    pub(crate) results: Vec<(usize, MethodResult)>,
}

/// A figure with the name of its files.
struct Figure {
    name: String,
    caption: String,
    svg: String,
}

impl Results<'_> {
    /// All methods, in the order of colours: one has the same in every chart.
    fn colours(&self) -> Vec<String> {
        let names = self.approaches.iter().map(|approach| approach.name());
        names.chain([TRAINED, UNTRAINED]).map(str::to_string).collect()
    }

    /// What a method did at the largest baseline.
    fn last(&self, approach: SequenceMethod) -> Option<&MethodResult> {
        self.baselines.last()?.method(approach)
    }

    /// The same without learning; where that was not run, the paper's way with edges.
    fn before(&self, approach: SequenceMethod) -> Option<&MethodResult> {
        let paper = matches!(approach, SequenceMethod::QuadraticLearned | SequenceMethod::QuadraticCertified);
        let paper = paper.then_some(SequenceMethod::Quadratic);
        self.last(approach.unlearned()).or_else(|| self.last(paper?))
    }

    /// The learned methods, the best on the validation pairs first: the test pairs choose nothing.
    fn learned(&self) -> Vec<(SequenceMethod, &MethodResult)> {
        let method = |&approach: &SequenceMethod| {
            self.last(approach).filter(|method| method.fit.is_some()).map(|m| (approach, m))
        };
        let mut learned: Vec<(SequenceMethod, &MethodResult)> = self.approaches.iter().filter_map(method).collect();
        learned.sort_by(|(_, a), (_, b)| a.validation_loss.total_cmp(&b.validation_loss));
        learned
    }
}

/// Writes the report and its figures into a folder.
pub(crate) fn write(results: &Results<'_>, folder: &Path) -> Result<()> {
    files::make_folder(folder)?;
    let mut matches = charts::matches(results)?;
    let first = match charts::askew_match(results)? {
        Some(figure) => vec![figure],
        None => matches.drain(..matches.len().min(1)).collect(),
    };
    let text = |text: String| Block::Text(text);
    let mut sections = vec![section(folder, "Before and after learning", Vec::new(), first)?];
    let explained = words::how_to_read(results).into_iter().map(text).collect();
    sections.push(Section { heading: "How to read the rest".to_string(), blocks: explained });
    sections.push(section(folder, "How often it is wrong", vec![words::table(results)], charts::losses(results))?);
    sections.push(section(folder, "How long a match takes", Vec::new(), charts::times(results))?);
    let others = if results.product.is_none() { "The other learned methods" } else { "The paper's learned methods" };
    sections.push(section(folder, others, Vec::new(), matches)?);
    sections.push(section(folder, "What was learned", Vec::new(), charts::weights(results))?);
    sections.push(section(folder, "How training went", words::training(results), charts::bounds(results))?);
    let absent = results.absent.iter().cloned().map(text).collect();
    sections.push(Section { heading: "What is not here".to_string(), blocks: absent });
    sections.retain(|section| !section.blocks.is_empty());
    let report = Report { title: words::title(results), introduction: words::news(results), sections };
    files::write(&folder.join("report.html"), report.to_html().as_bytes())
}

/// A section; its figures are written as files too.
fn section(folder: &Path, heading: &str, mut blocks: Vec<Block>, figures: Vec<Figure>) -> Result<Section> {
    for Figure { name, caption, svg } in figures {
        files::write(&folder.join(&name).with_extension("svg"), svg.as_bytes())?;
        files::write(&folder.join(&name).with_extension("png"), &svg_to_png(&svg, 1.5)?)?;
        blocks.push(Block::Figure { svg, caption });
    }
    Ok(Section { heading: heading.to_string(), blocks })
}
