//! The report of a sequence experiment: tables and figures in one HTML file, and every figure as SVG and PNG.

use crate::commands::short;
use crate::inputs::Input;
use crate::pair_input::PairInput;
use crate::study::{Approach, BaselineResult, Frames, MethodResult};
use crate::{figures, files};
use anyhow::Result;
use homolog::experiment::Split;
use homolog::matching::{Matching, Workspace};
use homolog::model::Model;
use homolog_viz::{Block, LossChart, Measurement, Report, Section, Series, TimedMethod, TradeOffChart, svg_to_png};
use std::path::Path;

/// Results to report.
pub(crate) struct Results<'a> {
    pub(crate) title: String,
    pub(crate) introduction: String,
    pub(crate) input: &'a Input,
    pub(crate) frames: &'a Frames,
    pub(crate) approaches: Vec<Approach>,
    pub(crate) baselines: Vec<BaselineResult>,
    /// Some methods at the largest baseline.
    pub(crate) by_pairs: Vec<ByPairs>,
}

/// What a method makes of so many labelled pairs.
pub(crate) struct ByPairs {
    pub(crate) approach: Approach,
    /// Numbers of pairs that were learned from, and what came of it.
    pub(crate) results: Vec<(usize, MethodResult)>,
}

/// A figure with the name of its files.
struct Figure {
    name: String,
    caption: String,
    svg: String,
}

/// Writes the report and its figures into a folder.
pub(crate) fn write(results: &Results<'_>, folder: &Path) -> Result<()> {
    files::make_folder(folder)?;
    let mut sections = vec![Section { heading: "Loss".to_string(), blocks: vec![loss_table(results)] }];
    let groups: [(&str, Vec<Figure>); 4] = [
        ("Loss against baseline and time", loss_figures(results).into_iter().chain(time_figures(results)).collect()),
        ("Before and after learning", match_figures(results)?),
        ("What was learned", weight_figures(results)),
        ("How training went", bound_figures(results)),
    ];
    for (heading, figures) in groups {
        if figures.is_empty() {
            continue;
        }
        for figure in &figures {
            files::write(&folder.join(&figure.name).with_extension("svg"), figure.svg.as_bytes())?;
            files::write(&folder.join(&figure.name).with_extension("png"), &svg_to_png(&figure.svg, 1.5)?)?;
        }
        let blocks = figures.into_iter().map(|figure| Block::Figure { svg: figure.svg, caption: figure.caption });
        sections.push(Section { heading: heading.to_string(), blocks: blocks.collect() });
    }
    let report = Report { title: results.title.clone(), introduction: results.introduction.clone(), sections };
    files::write(&folder.join("report.html"), report.to_html().as_bytes())
}

/// Loss by method and baseline, as text cells.
pub(crate) fn loss_cells(approaches: &[Approach], baselines: &[BaselineResult]) -> Vec<Vec<String>> {
    let cell = |approach: &Approach, result: &BaselineResult| {
        let found = result.methods.iter().find(|method| method.name == approach.name());
        found.map_or("-".to_string(), |method| format!("{:.3} ± {:.3}", method.test_loss, method.test_stderr))
    };
    let row = |result: &BaselineResult| {
        let mut row = vec![result.baseline.to_string()];
        row.extend(approaches.iter().map(|approach| cell(approach, result)));
        row
    };
    baselines.iter().map(row).collect()
}

fn loss_table(results: &Results<'_>) -> Block {
    let mut header = vec!["baseline".to_string()];
    header.extend(results.approaches.iter().map(|approach| approach.name().to_string()));
    Block::Table {
        header,
        rows: loss_cells(&results.approaches, &results.baselines),
        caption: "Mean share of wrongly matched landmarks on the test pairs, ± standard error.".to_string(),
    }
}

fn loss_figures(results: &Results<'_>) -> Vec<Figure> {
    let series = results.approaches.iter().map(|approach| {
        let point = |result: &BaselineResult| {
            let method = result.methods.iter().find(|method| method.name == approach.name())?;
            Some(Measurement { x: result.baseline as f64, y: method.test_loss, error: method.test_stderr })
        };
        let points = results.baselines.iter().filter_map(point).collect();
        Series { name: approach.name().to_string(), points, dashed: !approach.is_learned() }
    });
    let ticks = results.baselines.iter().map(|result| (result.baseline as f64, result.baseline.to_string()));
    let chart = LossChart {
        title: "Test loss against baseline".to_string(),
        x_ticks: ticks.collect(),
        series: series.collect(),
        ..LossChart::default()
    };
    let mut figures = vec![Figure {
        name: "loss-by-baseline".to_string(),
        caption: "Share of wrongly matched landmarks against the number of frames between the two pictures."
            .to_string(),
        svg: chart.to_svg(),
    }];
    if let Some(ByPairs { results: first, .. }) = results.by_pairs.first() {
        let ticks = first.iter().enumerate().map(|(at, (count, _))| {
            let all = if at + 1 == first.len() { "all " } else { "" };
            (at as f64, format!("{all}{count}"))
        });
        let series = results.by_pairs.iter().map(|ByPairs { approach, results: counts }| {
            let point = |(at, (_, method)): (usize, &(usize, MethodResult))| Measurement {
                x: at as f64,
                y: method.test_loss,
                error: method.test_stderr,
            };
            let points = counts.iter().enumerate().map(point).collect();
            Series { name: approach.name().to_string(), points, dashed: false }
        });
        let chart = LossChart {
            title: "How many pairs must I label?".to_string(),
            x_label: "labelled training pairs".to_string(),
            x_ticks: ticks.collect(),
            series: series.collect(),
            ..LossChart::default()
        };
        let caption = "Test loss at the largest baseline against the number of labelled pairs that were learned from.";
        figures.push(Figure { name: "loss-by-pairs".to_string(), caption: caption.to_string(), svg: chart.to_svg() });
    }
    figures
}

fn time_figures(results: &Results<'_>) -> Vec<Figure> {
    let Some(last) = results.baselines.last() else { return Vec::new() };
    let method = |method: &MethodResult| TimedMethod {
        name: method.name.to_string(),
        seconds: method.match_seconds,
        seconds_error: method.match_seconds_spread,
        loss: method.test_loss,
        loss_error: method.test_stderr,
    };
    let chart = TradeOffChart {
        title: format!("Time for a match against loss, baseline {}", last.baseline),
        methods: last.methods.iter().map(method).collect(),
        ..TradeOffChart::default()
    };
    let caption = "Mean time to match two frames, ± standard deviation, and test loss, ± standard error.".to_string();
    vec![Figure { name: "time-and-loss".to_string(), caption, svg: chart.to_svg() }]
}

/// The learned methods of the largest baseline.
fn learned<'a>(results: &'a Results<'_>) -> impl Iterator<Item = (Approach, &'a MethodResult)> {
    let methods = results.baselines.last().map_or(&[][..], |last| &last.methods);
    results.approaches.iter().filter_map(move |&approach| {
        let method = methods.iter().find(|method| method.name == approach.name() && method.fit.is_some())?;
        Some((approach, method))
    })
}

fn match_figures(results: &Results<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let Some(last) = results.baselines.last() else { return Ok(figures) };
    for (approach, method) in learned(results) {
        let Some(fit) = &method.fit else { continue };
        let sequence = results.frames.sequence(approach);
        let Some(frame) = sequence.frames_of(last.baseline, Split::Test).next() else { continue };
        let mut input = PairInput::of(results.input, frame, frame + last.baseline);
        for named in [&mut input.left, &mut input.right] {
            named.id = format!("frame {}", named.id);
        }
        let features = sequence.features();
        let solve =
            |model: Model| -> Result<Matching> { Ok(model.solve(&input.pair(), &mut Workspace::new())?.matching) };
        let before = solve(Model::unlearned(features.clone(), approach.unlearned().method())?)?;
        let after = solve(Model::new(features.clone(), approach.method(), &fit.minimum.weights, None)?)?;
        let title = format!("{}: {} and {}", approach.name(), input.left.id, input.right.id);
        let rows = [("before learning", &before), ("after learning", &after)];
        let identity = Matching::identity(input.left.graph.node_count());
        let input = PairInput { truth: Some(identity), ..input };
        let svg = figures::match_picture(&title, &input, &results.frames.edges.features().clone(), &rows)?;
        let caption = "The first test pair at the largest baseline; wrong matches in red.".to_string();
        figures.push(Figure { name: format!("match-{}", approach.name()), caption, svg });
    }
    Ok(figures)
}

fn weight_figures(results: &Results<'_>) -> Vec<Figure> {
    let figure = |(approach, method): (Approach, &MethodResult)| {
        let fit = method.fit.as_ref()?;
        let title = format!("Weights of {} at the largest baseline", approach.name());
        let svg = figures::weights(&title, results.frames.sequence(approach).features(), &fit.minimum.weights);
        let caption = format!("λ = {}. {}", short(fit.minimum.lambda), fit.note());
        Some(Figure { name: format!("weights-{}", approach.name()), caption, svg })
    };
    learned(results).filter_map(figure).collect()
}

fn bound_figures(results: &Results<'_>) -> Vec<Figure> {
    let figure = |(approach, method): (Approach, &MethodResult)| {
        let fit = method.fit.as_ref().filter(|fit| fit.certified || fit.relaxed.is_some())?;
        let title = format!("Training of {}: objective and bound", approach.name());
        let caption =
            format!("At λ = {}, after what was learned at larger λ. {}", short(fit.minimum.lambda), fit.note());
        Some(Figure { name: format!("bounds-{}", approach.name()), caption, svg: figures::bounds(&title, fit) })
    };
    learned(results).filter_map(figure).collect()
}
