//! The figures of the report.

use super::{ByPairs, Figure, Results};
use crate::commands::short;
use crate::figures;
use crate::pair_input::PairInput;
use crate::product::{TRAINED, UNTRAINED};
use crate::study::{BaselineResult, MethodResult};
use anyhow::Result;
use homolog::data::Split;
use homolog::experiment::SequenceMethod;
use homolog::matching::Matching;
use homolog::model::Model;
use homolog_viz::{LossChart, Measurement, Series, TimedMethod, TradeOffChart};

/// Ends of an error bar around a method's loss, as lengths.
fn error(method: &MethodResult) -> [f64; 2] {
    match method.test_interval {
        Some([low, high]) => [method.test_loss - low, high - method.test_loss],
        None => [method.test_stderr; 2],
    }
}

/// Loss against baseline, and against the number of labelled pairs.
pub(super) fn losses(results: &Results<'_>) -> Vec<Figure> {
    let series = results.approaches.iter().map(|&approach| {
        let point = |result: &BaselineResult| {
            let method = result.method(approach)?;
            Some(Measurement { x: result.baseline as f64, y: method.test_loss, error: error(method) })
        };
        let points = results.baselines.iter().filter_map(point).collect();
        Series { name: approach.name().to_string(), points, dashed: !approach.is_learned() }
    });
    let ticks = results.baselines.iter().map(|result| (result.baseline as f64, result.baseline.to_string()));
    let chart = LossChart {
        title: "The further apart, the harder".to_string(),
        x_ticks: ticks.collect(),
        series: series.chain(product_series(results)).collect(),
        colours: results.colours(),
        ..LossChart::default()
    };
    let mut figures = vec![Figure {
        name: "loss-by-baseline".to_string(),
        caption: "Share of wrongly matched landmarks against the number of frames between the two pictures. Dashed: without learning."
            .to_string(),
        svg: chart.to_svg(),
    }];
    figures.extend(by_pairs(results));
    figures
}

/// What `homolog train` and matching without a model reach at the largest baseline.
fn product_series<'a>(results: &'a Results<'_>) -> impl Iterator<Item = Series> + 'a {
    let last = results.baselines.last().zip(results.product.as_ref());
    let series = last.map(|(last, product)| {
        [(&product.after, false), (&product.before, true)].map(|(method, dashed)| {
            let point = Measurement { x: last.baseline as f64, y: method.test_loss, error: error(method) };
            Series { name: method.name.to_string(), points: vec![point], dashed }
        })
    });
    series.into_iter().flatten()
}

/// How many pairs must be labelled; methods that do not learn are level lines.
fn by_pairs(results: &Results<'_>) -> Option<Figure> {
    let mut counts: Vec<usize> =
        results.by_pairs.iter().flat_map(|one| one.results.iter().map(|(count, _)| *count)).collect();
    counts.sort_unstable();
    counts.dedup();
    let (all, baseline) = (*counts.last()?, results.baselines.last()?.baseline);
    let place = |count: usize| counts.iter().position(|&other| other == count).unwrap_or(0) as f64;
    let point = |count: usize, method: &MethodResult| Measurement {
        x: place(count),
        y: method.test_loss,
        error: error(method),
    };
    let learned = results.by_pairs.iter().map(|ByPairs { approach, results }| {
        let points = results.iter().map(|(count, method)| point(*count, method)).collect();
        Series { name: approach.name().to_string(), points, dashed: false }
    });
    let level = results.approaches.iter().filter(|approach| !approach.is_learned()).filter_map(|&approach| {
        let method = results.last(approach)?;
        let points = counts.iter().map(|&count| Measurement { error: [0.0; 2], ..point(count, method) }).collect();
        Some(Series { name: approach.name().to_string(), points, dashed: true })
    });
    let product = results.product.as_ref().map(|product| {
        let level = |&count: &usize| Measurement { error: [0.0; 2], ..point(count, &product.before) };
        let untrained =
            Series { name: UNTRAINED.to_string(), points: counts.iter().map(level).collect(), dashed: true };
        [Series { name: TRAINED.to_string(), points: vec![point(all, &product.after)], dashed: false }, untrained]
    });
    let tick = |&count: &usize| (place(count), format!("{}{count}", if count == all { "all " } else { "" }));
    let chart = LossChart {
        title: "How many pairs must I label?".to_string(),
        x_label: "labelled pairs that were learned from".to_string(),
        x_ticks: counts.iter().map(tick).collect(),
        series: learned.chain(level).chain(product.into_iter().flatten()).collect(),
        colours: results.colours(),
        ..LossChart::default()
    };
    let caption = format!(
        "Share of wrongly matched landmarks {baseline} frames apart against the number of labelled pairs. Dashed: without learning, whatever the number."
    );
    Some(Figure { name: "loss-by-pairs".to_string(), caption, svg: chart.to_svg() })
}

pub(super) fn times(results: &Results<'_>) -> Vec<Figure> {
    let Some(last) = results.baselines.last() else { return Vec::new() };
    let method = |method: &MethodResult| TimedMethod {
        name: method.name.to_string(),
        seconds: method.match_seconds,
        seconds_error: method.match_seconds_spread,
        loss: method.test_loss,
        loss_error: error(method),
    };
    let product = results.product.iter().flat_map(|product| [&product.after, &product.before]);
    let chart = TradeOffChart {
        title: format!("Time for a match against loss, {} frames apart", last.baseline),
        methods: last.methods.iter().chain(product).map(method).collect(),
        colours: results.colours(),
        ..TradeOffChart::default()
    };
    let caption = "Mean time to match two pictures, ± standard deviation, and share of wrongly matched landmarks. Left and low is best."
        .to_string();
    vec![Figure { name: "time-and-loss".to_string(), caption, svg: chart.to_svg() }]
}

/// The first test pair of rotated pictures, without a model and by that of `homolog train`.
pub(super) fn askew_match(results: &Results<'_>) -> Result<Option<Figure>> {
    let (Some(askew), Some(last)) = (&results.askew, results.baselines.last()) else { return Ok(None) };
    let product = &askew.product;
    let sequence = &results.frames.linear;
    let Some(frame) = sequence.frames_of(last.baseline, Split::Test).next() else { return Ok(None) };
    let mut input = PairInput::of(askew.input, frame, frame + last.baseline);
    for named in [&mut input.left, &mut input.right] {
        named.id = format!("frame {}", named.id);
    }
    let pair = input.pair();
    let solve = |model: &Model| -> Result<Matching> { Ok(model.solve(&pair)?.matching) };
    let (before, after) = (solve(&product.untrained)?, solve(&product.model)?);
    let title = format!("{} and {}", input.left.id, input.right.id);
    let rows = [("without a model", &before), ("with the model of homolog train", &after)];
    let identity = Matching::identity(input.left.graph.node_count());
    let input = PairInput { truth: Some(identity), ..input };
    let svg = figures::match_picture(&title, &input, &product.untrained.features, &rows, false)?;
    let caption = format!(
        "The first test pair, {} frames apart, which nothing was learned from. Each line joins a landmark on the left with the point on the right that it was matched to; red lines are wrong.",
        last.baseline
    );
    Ok(Some(Figure { name: "match".to_string(), caption, svg }))
}

/// The first test pair before and after learning, by each learned method, the best first.
pub(super) fn matches(results: &Results<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let Some(last) = results.baselines.last() else { return Ok(figures) };
    for (approach, method) in results.learned() {
        let Some(fit) = &method.fit else { continue };
        let sequence = results.frames.sequence(approach);
        let Some(frame) = sequence.frames_of(last.baseline, Split::Test).next() else { continue };
        let mut input = PairInput::of(results.input, frame, frame + last.baseline);
        for named in [&mut input.left, &mut input.right] {
            named.id = format!("frame {}", named.id);
        }
        let features = sequence.features();
        let solve = |model: Model| -> Result<Matching> { Ok(model.solve(&input.pair())?.matching) };
        let before = solve(Model::unlearned(features.clone(), approach.unlearned().matcher())?)?;
        let after = solve(Model::new(features.clone(), approach.matcher(), &fit.minimum.weights, None)?)?;
        let title = format!("{} and {}, matched by {}", input.left.id, input.right.id, approach.name());
        let rows = [("before learning", &before), ("after learning", &after)];
        let identity = Matching::identity(input.left.graph.node_count());
        let input = PairInput { truth: Some(identity), ..input };
        let svg = figures::match_picture(&title, &input, features, &rows, false)?;
        let caption = format!(
            "The first test pair, {} frames apart. Each line joins a landmark on the left with the point on the right that it was matched to; red lines are wrong.",
            last.baseline
        );
        figures.push(Figure { name: format!("match-{}", approach.name()), caption, svg });
    }
    Ok(figures)
}

pub(super) fn weights(results: &Results<'_>) -> Vec<Figure> {
    let figure = |(approach, method): (SequenceMethod, &MethodResult)| {
        let fit = method.fit.as_ref()?;
        let title = format!("Weights of {} at the largest baseline", approach.name());
        let svg = figures::weights(&title, results.frames.sequence(approach).features(), &fit.minimum.weights);
        let caption = format!(
            "How much each feature counts: the larger, the more a difference in it speaks against a match. λ = {}. {}",
            short(fit.minimum.lambda),
            fit.note()
        );
        Some(Figure { name: format!("weights-{}", approach.name()), caption, svg })
    };
    results.learned().into_iter().filter_map(figure).collect()
}

pub(super) fn bounds(results: &Results<'_>) -> Vec<Figure> {
    let figure = |(approach, method): (SequenceMethod, &MethodResult)| {
        let fit = method.fit.as_ref().filter(|fit| fit.certified || fit.relaxed.is_some())?;
        let title = format!("Training of {}: objective and bound", approach.name());
        let caption = format!(
            "Training lowers the objective; no weights can get below the bound. If they meet, no better weights exist. λ = {}, started from the weights of the next larger λ. {}",
            short(fit.minimum.lambda),
            fit.note()
        );
        Some(Figure { name: format!("bounds-{}", approach.name()), caption, svg: figures::bounds(&title, fit) })
    };
    results.learned().into_iter().filter_map(figure).collect()
}
