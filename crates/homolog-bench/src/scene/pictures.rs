//! The paper's pictures: template points on the left, the target on the right with the true and the found outline, before and after learning.

use super::data::Set;
use super::tables;
use super::variants::Variant;
use anyhow::{Context, Result};
use homolog::data::Split;
use homolog::experiment::Scenes;
use homolog::learn::Example;
use homolog::loss::Endpoint;
use homolog::matching::{Linear, Matcher, RightOrder, Workspace};
use homolog_viz::{ScenePicture, SceneRow, View, svg_to_png};
use ndarray::{Array2, ArrayView2};
use std::fs;
use std::path::Path;

/// Draws the test photographs with the smallest, middle and largest loss after learning.
pub(super) fn fixed(set: &Set, corners: &[Array2<f64>], template: usize, gap: f64, out: &Path) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("creating {}", out.display()))?;
    for (label, variant) in [("shape", Variant::ShapeContext), ("both", Variant::Both)] {
        let scenes = tables::scenes(set, corners, &variant.settings())?;
        let outcome = tables::outcome(scenes.features(), &scenes.fixed_template(template, &Endpoint::default())?, gap)?;
        let ones = scenes.features().unlearned_weights();
        let mut targets: Vec<(f64, usize)> =
            outcome.learned[2].losses.iter().copied().zip(scenes.targets_of(template, Split::Test)).collect();
        targets.sort_by(|a, b| a.0.total_cmp(&b.0));
        for at in [0, targets.len() / 2, targets.len() - 1] {
            let target = targets[at].1;
            let rows = [("before learning", &ones), ("after learning", &outcome.trained.best().weights)];
            let picture = draw(set, corners, &scenes, (template, target), rows)?;
            let path = out.join(format!("{}-{label}-{at}.png", set.name));
            let png = svg_to_png(&picture.to_svg(), 1.0)?;
            fs::write(&path, png).with_context(|| format!("writing {}", path.display()))?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

fn draw(
    set: &Set,
    corners: &[Array2<f64>],
    scenes: &Scenes,
    (template, target): (usize, usize),
    rows: [(&str, &Vec<f64>); 2],
) -> Result<ScenePicture> {
    let view = |scene: usize, points: ArrayView2<'_, f64>| View {
        caption: set.photos[scene].name.clone(),
        points: list(points),
        edges: set.outline.to_vec(),
        picture: Some(set.photos[scene].picture.clone()),
        ..View::default()
    };
    let example = scenes.example(template, target, &Endpoint::default())?;
    let candidates = list(scenes.target(target).and_then(|graph| graph.points()).context("candidates")?);
    let mut drawn = Vec::new();
    for (name, weights) in rows {
        let (found, loss) = find(&example, weights)?;
        let found = found.into_iter().map(|at| at.map(|k| candidates[k])).collect();
        drawn.push(SceneRow { caption: format!("{name}: loss {loss:.3}"), found });
    }
    Ok(ScenePicture {
        title: format!("{} in {}", set.photos[template].name, set.photos[target].name),
        template: view(template, set.photos[template].landmarks.view()),
        scene: view(target, corners[target].view()),
        truth: list(set.photos[target].landmarks.view()).into_iter().map(Some).collect(),
        rows: drawn,
    })
}

/// Which candidate each template point goes to, and the loss of that.
fn find(example: &Example, weights: &[f64]) -> Result<(Vec<Option<usize>>, f64)> {
    let problem = example.instance().compatibility(weights)?;
    let order = RightOrder::random(problem.right_count(), 0);
    let mut shuffled = problem.clone();
    order.shuffle_into(&problem, &mut shuffled)?;
    let mut solution = Linear::default().solve(&shuffled, &mut Workspace::new())?;
    order.carry_back_solution(&mut solution)?;
    Ok((solution.matching.left_to_right().to_vec(), example.loss(&solution.matching)))
}

fn list(points: ArrayView2<'_, f64>) -> Vec<[f64; 2]> {
    points.rows().into_iter().map(|point| [point[0], point[1]]).collect()
}
