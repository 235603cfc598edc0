//! Figures of models and matches, from the values of this program.

use crate::pair_input::PairInput;
use anyhow::{Result, bail};
use homolog::features::{Descriptor, FeatureMap};
use homolog::graph::Graph;
use homolog::learn::Fit;
use homolog::matching::Matching;
use homolog_viz::{Bounds, BoundsChart, GreyPicture, MatchPicture, MatchRow, View, WeightsChart, isometric, layout};

/// No more nodes without points are laid out: more would be a blot.
const MOST_LAID_OUT: usize = 1000;
/// So many nodes without points and edges stand under each other.
const COLUMN: usize = 30;

/// A graph as it can be drawn: points as they are, in space, or laid out by the edges. `near` are places to start a layout from.
fn view(
    caption: &str,
    graph: &Graph,
    features: &FeatureMap,
    picture: Option<GreyPicture>,
    near: &[[f64; 2]],
) -> Result<View> {
    let once = |ends: &[[usize; 2]]| -> Vec<(usize, usize)> {
        let mut edges: Vec<(usize, usize)> = ends.iter().map(|&[i, j]| (i.min(j), i.max(j))).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    };
    // Edges that the features see; else those of the data.
    let seen = if features.edge.is_empty() { Vec::new() } else { once(features.describe(graph)?.edges().ends()) };
    let own = once(graph.edges().ends());
    let edges = if seen.is_empty() { own.clone() } else { seen };
    let view = View { caption: caption.to_string(), edges, picture, ..View::default() };
    let count = graph.node_count();
    Ok(match graph.points() {
        Some(points) if points.ncols() == 3 => {
            let points: Vec<[f64; 3]> = points.outer_iter().map(|row| [row[0], row[1], row[2]]).collect();
            let (points, depths) = isometric(&points);
            View { points, depths, ..view }
        }
        Some(points) => View { points: points.outer_iter().map(|row| [row[0], row[1]]).collect(), ..view },
        None if count > MOST_LAID_OUT => {
            bail!("{caption} has {count} nodes without points; at most {MOST_LAID_OUT} can be drawn")
        }
        None if own.is_empty() => {
            let place = |node: usize| [3.0 * (node / COLUMN) as f64, (node % COLUMN) as f64];
            View { points: (0..count).map(place).collect(), is_list: true, ..view }
        }
        None => View { points: layout(count, &own, near), ..view },
    })
}

/// Two graphs and one or several matches between them, with the names of nodes or without.
pub(crate) fn match_picture(
    title: &str,
    input: &PairInput,
    features: &FeatureMap,
    rows: &[(&str, &Matching)],
    with_names: bool,
) -> Result<String> {
    let [left_picture, right_picture] = input.read_pictures();
    let truth = input.truth.as_ref().map_or_else(Vec::new, |truth| truth.left_to_right().to_vec());
    let row = |(caption, matching): &(&str, &Matching)| MatchRow {
        caption: (*caption).to_string(),
        matching: matching.left_to_right().to_vec(),
    };
    let names = |graph: &Graph| match graph.names() {
        Some(names) if with_names => names.to_vec(),
        _ => Vec::new(),
    };
    let left = view(&input.left.id, &input.left.graph, features, left_picture, &[])?;
    let near = rows.last().map_or_else(Vec::new, |(_, matching)| beside(&left.points, matching));
    let right = view(&input.right.id, &input.right.graph, features, right_picture, &near)?;
    let picture = MatchPicture {
        title: title.to_string(),
        left: View { names: names(&input.left.graph), ..left },
        right: View { names: names(&input.right.graph), ..right },
        truth,
        rows: rows.iter().map(row).collect(),
    };
    Ok(picture.to_svg())
}

/// Where the partners of right nodes are; the middle of all for those that have none.
fn beside(left: &[[f64; 2]], matching: &Matching) -> Vec<[f64; 2]> {
    let sum = left.iter().fold([0.0; 2], |sum, place| [sum[0] + place[0], sum[1] + place[1]]);
    let middle = sum.map(|value| value / left.len().max(1) as f64);
    let mut near = vec![middle; matching.right_count()];
    for (i, k) in matching.pairs() {
        if let Some(place) = left.get(i) {
            near[k] = *place;
        }
    }
    near
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
