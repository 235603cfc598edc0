//! Figures of models and matches, from the values of this program.

use crate::pair_input::PairInput;
use anyhow::{Context, Result};
use homolog::features::{Descriptor, FeatureMap};
use homolog::graph::Graph;
use homolog::learn::Fit;
use homolog::matching::Matching;
use homolog_viz::{Bounds, BoundsChart, GreyPicture, MatchPicture, MatchRow, View, WeightsChart};

/// A graph with its picture. The edges are those that the features see.
fn view(caption: &str, graph: &Graph, features: &FeatureMap, picture: Option<GreyPicture>) -> Result<View> {
    let points = graph.points().context("a graph without points cannot be drawn")?;
    let points: Vec<[f64; 2]> = points.outer_iter().map(|row| [row[0], row[1]]).collect();
    let described = features.describe(graph)?;
    let edges = described.edges().ends().iter().filter(|[i, j]| i < j).map(|&[i, j]| (i, j)).collect();
    Ok(View { caption: caption.to_string(), points, edges, picture })
}

/// Two graphs and one or several matches between them.
pub(crate) fn match_picture(
    title: &str,
    input: &PairInput,
    features: &FeatureMap,
    rows: &[(&str, &Matching)],
) -> Result<String> {
    let [left, right] = input.read_pictures();
    let truth = input.truth.as_ref().map_or_else(Vec::new, |truth| truth.left_to_right().to_vec());
    let row = |(caption, matching): &(&str, &Matching)| MatchRow {
        caption: (*caption).to_string(),
        matching: matching.left_to_right().to_vec(),
    };
    let picture = MatchPicture {
        title: title.to_string(),
        left: view(&input.left.id, &input.left.graph, features, left)?,
        right: view(&input.right.id, &input.right.graph, features, right)?,
        truth,
        rows: rows.iter().map(row).collect(),
    };
    Ok(picture.to_svg())
}

/// The weights of a model: those of the shape context on their polar grid, the others as bars.
pub(crate) fn weights(title: &str, features: &FeatureMap, weights: &[f64]) -> String {
    let mut chart = WeightsChart { title: title.to_string(), ..WeightsChart::default() };
    let names = features.names();
    let mut at = 0;
    for feature in &features.node {
        let count = feature.feature_count();
        let range = at..at + count;
        match &feature.descriptor {
            Descriptor::ShapeContext(context) if chart.shape_context.is_empty() => {
                chart.shape_context = weights[range].to_vec();
                chart.sectors = context.angular_bins;
                chart.radii.clone_from(&context.radii);
            }
            _ => chart.nodes.extend(range.map(|index| (names[index].clone(), weights[index]))),
        }
        at += count;
    }
    chart.edges = (at..weights.len()).map(|index| (names[index].clone(), weights[index])).collect();
    chart.to_svg()
}

/// Objective and bound over the evaluations of a fit.
pub(crate) fn bounds(title: &str, fit: &Fit) -> String {
    let step =
        |step: &homolog::optimize::Step| Bounds { x: step.iteration as f64, upper: step.objective, lower: step.bound };
    BoundsChart {
        title: title.to_string(),
        steps: fit.minimum.history.iter().map(step).collect(),
        ..BoundsChart::default()
    }
    .to_svg()
}
