//! Writes every figure into the directory given as an argument, as SVG and PNG, and a report that contains them all. The match and scene
//! pictures show the built-in turntable sequence; the numbers in the charts are made up, and say so.
//!
//! `cargo run -p homolog-viz --example gallery -- out/gallery`

use homolog::data::turntable::Turntable;
use homolog::features::{NodeDescriptor, ShapeContext};
use homolog::geometry::delaunay;
use homolog::graph::Graph;
use homolog::matching::{Compatibility, Linear, Matcher, Workspace};
use homolog_viz::{
    Block, Bounds, BoundsChart, GreyPicture, LossChart, MatchPicture, MatchRow, Measurement, Report, ScenePicture,
    SceneRow, Section, Series, TimedMethod, TradeOffChart, View, WeightsChart, svg_to_png,
};
use ndarray::{Array2, Axis};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: gallery DIRECTORY")?;
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let figures = [
        ("loss-by-baseline", loss_by_baseline()),
        ("loss-by-pairs", loss_by_pairs()),
        ("weights", weights()),
        ("time-and-loss", time_and_loss()),
        ("training-bounds", training_bounds()),
        ("search-bounds", search_bounds()),
        ("match", match_picture(true)?),
        ("match-plain", match_picture(false)?),
        ("scene", scene_picture()?),
    ];
    for (name, svg) in &figures {
        std::fs::write(directory.join(name).with_extension("svg"), svg)?;
        std::fs::write(directory.join(name).with_extension("png"), svg_to_png(svg, 1.0)?)?;
    }
    std::fs::write(directory.join("report.html"), report(&figures).to_html())?;
    Ok(())
}

fn report(figures: &[(&str, String)]) -> Report {
    let figure = |(name, svg): &(&str, String)| Block::Figure {
        svg: svg.clone(),
        caption: format!("The figure \u{201c}{name}\u{201d}."),
    };
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let table = Block::Table {
        header: row(["method", "test loss", "time"]),
        rows: vec![row(["linear", "0.500", "21 µs"]), row(["linear, learned", "0.090", "22 µs"])],
        caption: "Made-up numbers.".to_owned(),
    };
    let code = Block::Code("cargo run -p homolog-viz --example gallery -- out/gallery".to_owned());
    let text = Block::Text("Every figure that there is, a table, and the command that made them.".to_owned());
    Report {
        title: "Gallery".to_owned(),
        introduction: "What the figures of Homolog look like.".to_owned(),
        sections: vec![
            Section { heading: "Table and text".to_owned(), blocks: vec![text, code, table] },
            Section { heading: "Figures".to_owned(), blocks: figures.iter().map(figure).collect() },
        ],
    }
}

fn loss_by_baseline() -> String {
    let methods = [
        ("linear", 0.5, 3.0, true),
        ("linear, learned", 0.14, 4.0, false),
        ("graduated assignment", 0.41, 2.2, true),
        ("quadratic, learned", 0.0, 1.0, false),
        ("bistochastic", 0.66, 1.5, true),
    ];
    let series = methods.map(|(name, last, power, dashed)| {
        let point = |k: u8| {
            let y = last * (f64::from(k) / 9.0).powf(power);
            Measurement { x: 10.0 * f64::from(k), y, error: [0.15 * y * (1.0 - y); 2] }
        };
        Series { name: name.to_owned(), points: (0..10).map(point).collect(), dashed }
    });
    LossChart {
        title: "Test loss against baseline (made-up numbers)".to_owned(),
        x_ticks: (0..10_u8).map(|k| (f64::from(k) * 10.0, format!("{}", k * 10))).collect(),
        series: series.to_vec(),
        ..LossChart::default()
    }
    .to_svg()
}

fn loss_by_pairs() -> String {
    let series = [("linear, learned", 0.3), ("quadratic, learned", 0.05)].map(|(name, first)| {
        let point = |k: u8| Measurement { x: f64::from(k), y: first / f64::from(k + 1), error: [0.02; 2] };
        Series { name: name.to_owned(), points: (0..5).map(point).collect(), dashed: false }
    });
    LossChart {
        title: "How many pairs must I label? (made-up numbers)".to_owned(),
        x_label: "labelled training pairs".to_owned(),
        x_ticks: (0..5_u8).map(f64::from).zip(["1", "2", "3", "5", "all (37)"].map(String::from)).collect(),
        series: series.to_vec(),
        ..LossChart::default()
    }
    .to_svg()
}

fn weights() -> String {
    let weight =
        |bin: u8| (f64::from(bin) * 0.7).sin() * f64::from(bin / 12 + 1) * 0.4 + (f64::from(bin) * 2.3).cos() * 0.5;
    WeightsChart {
        title: "Learned weights (made-up numbers)".to_owned(),
        shape_context: (0..60).map(weight).collect(),
        edges: vec![("adjacency".to_owned(), 6.2), ("length".to_owned(), -1.4)],
        ..WeightsChart::default()
    }
    .to_svg()
}

fn time_and_loss() -> String {
    let method = |(name, seconds, seconds_error, loss, loss_error): (&str, f64, f64, f64, f64)| TimedMethod {
        name: name.to_owned(),
        seconds,
        seconds_error,
        loss,
        loss_error: [loss_error; 2],
    };
    let methods = [
        ("linear", 21e-6, 2e-6, 0.5, 0.04),
        ("linear, learned", 22e-6, 2e-6, 0.09, 0.03),
        ("graduated assignment", 4e-3, 1e-3, 0.41, 0.02),
        ("quadratic, learned", 6e-3, 2e-3, 0.0, 0.0),
        ("bistochastic", 0.9, 0.2, 0.43, 0.03),
        ("exact", 0.5, 0.6, 0.02, 0.01),
    ];
    TradeOffChart {
        title: "Running time against loss (made-up numbers)".to_owned(),
        methods: methods.map(method).to_vec(),
        ..TradeOffChart::default()
    }
    .to_svg()
}

fn training_bounds() -> String {
    let step = |k: u8| {
        let x = f64::from(k);
        Bounds { x, upper: 0.15 + 2.0 * (-0.16 * x).exp(), lower: 0.15 - 0.9 * (-0.13 * x).exp() }
    };
    BoundsChart {
        title: "Training: the objective and its bound (made-up numbers)".to_owned(),
        steps: (1..=50).map(step).collect(),
        ..BoundsChart::default()
    }
    .to_svg()
}

fn search_bounds() -> String {
    let step = |k: u8| {
        let gap = if k > 30 { 0.0 } else { 40.0 * (-0.2 * f64::from(k)).exp() };
        let upper = if k == 0 { f64::INFINITY } else { 170.6 + gap };
        Bounds { x: 0.05 * f64::from(k), upper, lower: 170.6 - 8.0 * f64::from(3_u8.saturating_sub(k / 4)) }
    };
    BoundsChart {
        title: "Search: bound and best score over time (made-up numbers)".to_owned(),
        x_label: "time (s)".to_owned(),
        y_label: "score".to_owned(),
        upper_name: "proven bound".to_owned(),
        lower_name: "best match so far".to_owned(),
        steps: (0..40).map(step).collect(),
    }
    .to_svg()
}

/// Frames 6 and 96 of the turntable, matched by shape contexts without learning and by position in the picture.
fn match_picture(with_pictures: bool) -> Result<String, Box<dyn Error>> {
    let sequence = Turntable::default();
    let labels = sequence.landmarks()?;
    let view = |frame: usize| -> Result<View, Box<dyn Error>> {
        let points: Vec<[f64; 2]> = labels[frame].outer_iter().map(|row| [row[0], row[1]]).collect();
        let edges = delaunay(labels[frame].view())?.into_iter().map(|[i, j]| (i, j)).collect();
        let picture = if with_pictures { Some(picture(&sequence, frame)?) } else { None };
        Ok(View { caption: format!("frame {}", frame + 1), edges, points, picture, ..View::default() })
    };
    let (left, right) = (&labels[5], &labels[95]);
    Ok(MatchPicture {
        title: "Two frames of the turntable sequence".to_owned(),
        left: view(5)?,
        right: view(95)?,
        truth: (0..30).map(Some).collect(),
        rows: vec![
            MatchRow {
                caption: "by shape contexts, unlearned".to_owned(),
                matching: nearest(&shape_contexts(left)?, &shape_contexts(right)?)?,
            },
            MatchRow { caption: "by position in the picture".to_owned(), matching: nearest(left, right)? },
        ],
    }
    .to_svg())
}

/// The front of the building, known in one frame and searched for among the landmarks of another by position.
fn scene_picture() -> Result<String, Box<dyn Error>> {
    let sequence = Turntable::default();
    let labels = sequence.landmarks()?;
    let outline = [0, 1, 4, 7, 6, 3];
    let rows = |frame: usize| labels[frame].select(Axis(0), &outline);
    let (template, scene) = (rows(10), &labels[90]);
    let points = |table: &Array2<f64>| table.outer_iter().map(|row| [row[0], row[1]]).collect::<Vec<_>>();
    let found = nearest(&template, scene)?;
    let at = |k: &Option<usize>| k.map(|k| [scene[[k, 0]], scene[[k, 1]]]);
    Ok(ScenePicture {
        title: "The front of the building found in another frame".to_owned(),
        template: View {
            caption: "template, frame 11".to_owned(),
            points: points(&template),
            edges: (0..6).map(|k| (k, (k + 1) % 6)).chain([(2, 5)]).collect(),
            picture: Some(picture(&sequence, 10)?),
            ..View::default()
        },
        scene: View {
            caption: "scene, frame 91".to_owned(),
            points: points(scene),
            picture: Some(picture(&sequence, 90)?),
            ..View::default()
        },
        truth: points(&rows(90)).into_iter().map(Some).collect(),
        rows: vec![SceneRow { caption: "by position alone".to_owned(), found: found.iter().map(at).collect() }],
    }
    .to_svg())
}

fn picture(sequence: &Turntable, frame: usize) -> Result<GreyPicture, Box<dyn Error>> {
    let drawn = sequence.render(frame)?;
    Ok(GreyPicture { width: drawn.width, height: drawn.height, pixels: drawn.pixels })
}

/// The match with the least sum of squared distances.
fn nearest(left: &Array2<f64>, right: &Array2<f64>) -> Result<Vec<Option<usize>>, Box<dyn Error>> {
    let score = |(i, k): (usize, usize)| -(&left.row(i) - &right.row(k)).mapv(|d| d * d).sum();
    let scores = Array2::from_shape_fn((left.nrows(), right.nrows()), score);
    let solution = Linear::default().solve(&Compatibility::linear(scores), &mut Workspace::new())?;
    Ok(solution.matching.left_to_right().to_vec())
}

fn shape_contexts(points: &Array2<f64>) -> homolog::Result<Array2<f64>> {
    ShapeContext::paper().describe(&Graph::from_points(points.clone())?)
}
