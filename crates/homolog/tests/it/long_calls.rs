//! Every long call of the library on made data of a given size: `interrupts.rs` stops them by the number of questions they ask,
//! `homolog-bench interrupts` by the clock.

use homolog::atlas::AtlasSettings;
use homolog::data::dataset::{DataSet, NamedGraph, Pairing, SplitBy};
use homolog::features::{
    Comparison, Decay, Descriptor, FeatureMap, Instance, NodeAttributes, NodeFeature, Rotation, Turns,
};
use homolog::geometry::GreyImage;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::LabelledPairs;
use homolog::matching::{
    Compatibility, Constraint, EdgeList, EdgeTerm, Exact, FrankWolfe, Linear, LpRelaxation, Matcher, Matching, Method,
    Sense, Sparse, Workspace, found_again, k_best, margins,
};
use homolog::model::Model;
use homolog::specimens::check::check;
use homolog::specimens::join::join;
use homolog::specimens::unlabelled::fit as fit_with_unlabelled;
use homolog::task::{Settings, Task, losses};
use homolog::{Control, Result};
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// How large the inputs are.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Nodes on each side of a problem without edges.
    pub(crate) cells: usize,
    /// Nodes on each side of a problem with edges.
    pub(crate) nodes: usize,
    /// Points of a graph to describe.
    pub(crate) points: usize,
    /// Landmarks of a specimen.
    pub(crate) landmarks: usize,
    /// Specimens to learn from.
    pub(crate) specimens: usize,
    /// Frames of a take.
    pub(crate) frames: usize,
    /// The width of a picture.
    pub(crate) pixels: usize,
}

type Run = Box<dyn Fn(&Control) -> Result<()> + Send + Sync>;

/// A call by what a person would call it.
pub(crate) struct LongCall {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
}

/// The table.
pub(crate) fn long_calls(sizes: Sizes) -> Result<Vec<LongCall>> {
    let mut calls = matching(sizes)?;
    calls.extend(graphs(sizes)?);
    calls.extend(learning(sizes)?);
    calls.extend(specimens(sizes)?);
    Ok(calls)
}

fn call(name: &'static str, run: impl Fn(&Control) -> Result<()> + Send + Sync + 'static) -> LongCall {
    LongCall { name, run: Box::new(run) }
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(5)
}

fn random(rows: usize, columns: usize) -> Array2<f64> {
    let mut rng = rng();
    Array2::from_shape_simple_fn((rows, columns), || rng.random())
}

fn matching(sizes: Sizes) -> Result<Vec<LongCall>> {
    let linear = Arc::new(Compatibility::linear(random(sizes.cells, sizes.cells)));
    let cells = linear.node.indexed_iter().map(|((i, k), &score)| (i, k, score)).collect();
    let list = Arc::new(Sparse::from_pairs(sizes.cells, sizes.cells, cells, Sense::Maximize)?);
    let n = sizes.nodes;
    let ends = (0..n).flat_map(|i| [[i, (i + 1) % n], [(i + 1) % n, i], [i, (i + 3) % n], [(i + 3) % n, i]]);
    let edges = Arc::new(EdgeList::new(n, ends.collect())?);
    let factors = random(edges.len(), 2).mapv(|value| value - 0.5);
    let edge = EdgeTerm::factored(Arc::clone(&edges), Arc::clone(&edges), factors.clone(), -factors)?;
    let quadratic = Arc::new(Compatibility::linear(random(n, n)).with_edges(edge));
    let solved = Arc::new(Linear::default().solve(&linear)?);
    let quick = Arc::new(FrankWolfe::default().solve(&quadratic)?);
    let by = |name: &'static str, problem: &Arc<Compatibility>, method: Method| {
        let problem = Arc::clone(problem);
        call(name, move |control| {
            method.matcher().solve_with(&problem, &mut Workspace::with_control(control)).map(|_| ())
        })
    };
    let (ranked, listed, ranked_list) = (Arc::clone(&linear), Arc::clone(&list), list);
    let (relaxed, again) = (Arc::clone(&quadratic), Arc::clone(&quadratic));
    let (unsure, edged, quick_too) = (Arc::clone(&linear), Arc::clone(&quadratic), Arc::clone(&quick));
    Ok(vec![
        by("linear problem", &linear, Method::Linear(Linear::default())),
        by("quadratic problem, exact", &quadratic, Method::Exact(Exact::default())),
        by("quadratic problem, frank-wolfe", &quadratic, Method::FrankWolfe(FrankWolfe::default())),
        call("list of pairs", move |control| {
            Linear::default().solve_with(&listed, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("five best matchings", move |control| {
            k_best(&ranked, &Linear::default(), 5, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("five best matchings of a list", move |control| {
            k_best(&ranked_list, &Linear::default(), 5, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("relaxation", move |control| {
            LpRelaxation::default().solve_with(&relaxed, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("margins", move |control| margins(&unsure, &solved, None, control).map(|_| ())),
        call("margins with edges", move |control| {
            margins(&edged, &quick_too, Some(&Exact::default()), control).map(|_| ())
        }),
        call("found again", move |control| found_again(&again, &quick, 5, control).map(|_| ())),
    ])
}

fn graphs(sizes: Sizes) -> Result<Vec<LongCall>> {
    let mut rng = rng();
    let mut graph = |count: usize| -> Result<Arc<Graph>> {
        let points = Array2::from_shape_simple_fn((count, 2), || rng.random::<f64>());
        Ok(Arc::new(Graph::from_points(points)?))
    };
    let many = (0..3).map(|_| graph(sizes.points)).collect::<Result<Vec<_>>>()?;
    // Rotations are tried on tables, 24 of them.
    let few = (0..2).map(|_| graph(sizes.points / 4)).collect::<Result<Vec<_>>>()?;
    let plain = FeatureMap::named("linear", many.iter().map(|graph| &**graph))?;
    let mut rotated = plain.clone();
    rotated.pose = Rotation { turns: Turns::Any, mirror: false };
    let model = |features: FeatureMap| Model::unlearned(features, Method::Linear(Linear::default())).map(Arc::new);
    let (plain, rotated) = (model(plain)?, model(rotated)?);
    let (large, pair) =
        (Pair::new(Arc::clone(&many[0]), Arc::clone(&many[1])), Pair::new(Arc::clone(&few[0]), Arc::clone(&few[1])));
    let (describing, explaining, posing, posed) =
        (Arc::clone(&plain), Arc::clone(&plain), Arc::clone(&rotated), pair.clone());
    let explained = pair.clone();
    let decays = expensive(many.iter().take(2))?;
    let ones = vec![1.0; decays.dim()];
    Ok(vec![
        call("building a problem", move |control| decays.compatibility_watched(&ones, control).map(|_| ())),
        call("describing graphs", move |control| describing.prepare(&many, control).map(|_| ())),
        call("matching two graphs", move |control| {
            plain.solve_with(&large, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("matching two rotated graphs", move |control| {
            posing.solve_with(&posed, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("the problem of two rotated graphs", move |control| {
            rotated.problem(&pair, &mut Workspace::with_control(control)).map(|_| ())
        }),
        call("explaining a match", move |control| explaining.explain(&explained, control).map(|_| ())),
    ])
}

/// Nodes compared by decays of thirty numbers.
fn expensive<'a>(graphs: impl Iterator<Item = &'a Arc<Graph>>) -> Result<Instance> {
    let columns: Vec<String> = (0..30).map(|at| format!("a{at}")).collect();
    let descriptor = Descriptor::Attributes(NodeAttributes { columns: columns.clone() });
    let node = vec![NodeFeature { descriptor, comparison: Comparison::Decay(Decay::default()) }];
    let map = FeatureMap { node, ..FeatureMap::nothing() };
    let described = |graph: &Arc<Graph>| -> Result<_> {
        let attributes = Attributes::new(columns.clone(), random(graph.node_count(), columns.len()))?;
        Ok(Arc::new(map.describe(&Graph::new(graph.node_count()).with_node_attributes(attributes)?)?))
    };
    let both = graphs.map(described).collect::<Result<Vec<_>>>()?;
    map.instance(&both[0], &both[1])
}

/// Specimens with named landmarks: one shape, moved a little, in 2 or 3 dimensions.
fn made(count: usize, landmarks: usize, dimension: usize) -> Result<Vec<NamedGraph>> {
    let (mut rng, shape) = (rng(), random(landmarks, dimension));
    let names: Vec<String> = (0..landmarks).map(|at| format!("p{at}")).collect();
    let mut specimen = |number: usize| -> Result<NamedGraph> {
        let points = shape.mapv(|value| value + rng.random_range(-0.06..0.06));
        let graph = Arc::new(Graph::from_points(points)?.with_names(names.clone())?);
        Ok(NamedGraph { id: format!("s{number}"), graph, image: None })
    };
    (0..count).map(&mut specimen).collect()
}

fn learning(sizes: Sizes) -> Result<Vec<LongCall>> {
    let data = DataSet::new(made(sizes.specimens, sizes.landmarks, 2)?, Vec::new())?;
    let task = |name: &'static str, settings: &str| -> Result<LongCall> {
        let task = Task { data: data.clone(), settings: Settings::from_json(settings)? };
        Ok(call(name, move |control| task.run(control, None).map(|_| ())))
    };
    let truth = Matching::new((0..sizes.landmarks).map(Some).collect(), sizes.landmarks, Constraint::OneToOne)?;
    let mut pairs = LabelledPairs::new();
    for ends in data.graphs().windows(2) {
        pairs.add(&ends[0].graph, &ends[1].graph, truth.clone())?;
    }
    let features = FeatureMap::named("quadratic", data.graphs().iter().map(|named| &*named.graph))?;
    let model = Model::unlearned(features, Method::FrankWolfe(FrankWolfe::default()))?;
    let many = made(sizes.frames, sizes.landmarks, 2)?;
    let count = (sizes.frames * (sizes.frames - 1) / 2).min(150_000);
    let pairing = Pairing::Random { count, seed: 1 };
    let settings = Settings::from_json(r#"{"features":"linear"}"#)?;
    let written = Task { data: DataSet::paired(many.clone(), pairing, SplitBy::None)?, settings };
    Ok(vec![
        call("pairing specimens", move |control| {
            DataSet::paired_watched(many.clone(), pairing, SplitBy::None, control).map(|_| ())
        }),
        call("the fingerprint of a task", move |control| written.fingerprint(control).map(|_| ())),
        task("training, linear", r#"{"features":"linear"}"#)?,
        task("training, quadratic", r#"{"features":"quadratic"}"#)?,
        task("training, certified", r#"{"features":"quadratic","lambdas":[0.1],"oracle":{"name":"relaxation"}}"#)?,
        task("training, auto", r#"{"features":"auto"}"#)?,
        task("training, atlas", r#"{"features":"atlas"}"#)?,
        call("losses of a model", move |control| losses(&model, &pairs, control).map(|_| ())),
    ])
}

fn specimens(sizes: Sizes) -> Result<Vec<LongCall>> {
    let all = made(sizes.specimens, sizes.landmarks, 2)?;
    let graphs: Vec<Graph> = all.iter().map(|named| (*named.graph).clone()).collect();
    let fit = |graphs: &[&Graph]| Model::fit_atlas(graphs, &AtlasSettings::default(), &Control::new());
    let (model, _) = fit(&graphs[..3].iter().collect::<Vec<_>>())?;
    let walk = made(sizes.frames, sizes.landmarks, 3)?;
    let (walker, _) = fit(&walk[..3].iter().map(|named| &*named.graph).collect::<Vec<_>>())?;
    let without_names = |graph: &Graph| graph.clone().with_names(vec![String::new(); graph.node_count()]);
    let frames = walk.iter().map(|named| without_names(&named.graph)).collect::<Result<Vec<_>>>()?;
    let pixels: Vec<u8> =
        random(sizes.pixels, sizes.pixels).iter().map(|value| if *value < 0.5 { 20 } else { 230 }).collect();
    let scaled = |named: &NamedGraph| -> Result<Graph> {
        let points = named.graph.points().map(|points| (&points * 0.7 + 0.15) * sizes.pixels as f64);
        let names = named.graph.names().map(<[String]>::to_vec).unwrap_or_default();
        Graph::from_points(points.unwrap_or_default())?.with_names(names)
    };
    let in_pictures = all.iter().take(4).map(scaled).collect::<Result<Vec<_>>>()?;
    let (atlas, _) = fit(&in_pictures.iter().collect::<Vec<_>>())?;
    let image = GreyImage::new(sizes.pixels, sizes.pixels, &pixels)?;
    let seen: Vec<_> = in_pictures.iter().map(|graph| (image, graph)).collect();
    let finder = atlas.clone().seeing(&seen, &Control::new())?;
    // Few are only compared with each other, which takes a moment.
    let checked = made(3 * sizes.specimens, sizes.landmarks, 2)?;
    let (own, named, joined) = (pixels.clone(), model.clone(), graphs.clone());
    let new = graphs[graphs.len() - 1].clone();
    let taught = |name: &'static str, count: usize| {
        let graphs = graphs.clone();
        call(name, move |control| {
            let (labelled, others): (Vec<_>, Vec<_>) = (0..graphs.len()).partition(|&at| at < count);
            let of = |which: &[usize]| which.iter().map(|&at| &graphs[at]).collect::<Vec<_>>();
            fit_with_unlabelled(&of(&labelled), &of(&others), &AtlasSettings::default(), control).map(|_| ())
        })
    };
    Ok(vec![
        taught("learning from unlabelled specimens", 3),
        taught("learning from one labelled specimen", 1),
        call("checking specimens", move |control| check(&checked, control).map(|_| ())),
        call("joining specimens", move |control| {
            join(&joined.iter().collect::<Vec<_>>(), &AtlasSettings::default(), None, control).map(|_| ())
        }),
        call("naming a specimen", move |control| named.name(&new, &mut Workspace::with_control(control)).map(|_| ())),
        call("naming a take", move |control| walker.name_take(&frames.iter().collect::<Vec<_>>(), control).map(|_| ())),
        call("learning from pictures", move |control| {
            let image = GreyImage::new(sizes.pixels, sizes.pixels, &pixels)?;
            let seen: Vec<_> = in_pictures.iter().map(|graph| (image, graph)).collect();
            atlas.clone().seeing(&seen, control).map(|_| ())
        }),
        call("finding points in a picture", move |control| {
            let image = GreyImage::new(sizes.pixels, sizes.pixels, &own)?;
            finder.find(image, control).map(|_| ())
        }),
    ])
}
