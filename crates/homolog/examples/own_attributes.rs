//! From your own records to a model: no geometry, only numbers that describe each thing. Learning finds which of them matter.
//!
//! `cargo run --example own_attributes`

use homolog::features::FeatureMap;
use homolog::graph::{Attributes, Graph, Pair};
use homolog::learn::{LabelledPairs, Trainer};
use homolog::matching::Matching;
use homolog::model::Model;
use ndarray::Array2;
use std::sync::Arc;

fn main() -> homolog::Result<()> {
    // Eight tracks, seen twice: their size stays, their brightness does not.
    let columns = ["size", "brightness"].map(String::from).to_vec();
    let seen = |night: usize| {
        let value = |(track, column): (usize, usize)| match column {
            0 => track as f64,
            _ => ((7 * track + 3 * night) % 8) as f64,
        };
        let attributes = Attributes::new(columns.clone(), Array2::from_shape_fn((8, 2), value))?;
        Graph::new(8).with_node_attributes(attributes).map(Arc::new)
    };
    let mut pairs = LabelledPairs::new();
    for night in 0..6 {
        pairs.add(&seen(2 * night)?, &seen(2 * night + 1)?, Matching::identity(8))?;
    }
    let features = FeatureMap::named("attributes", [&*seen(0)?])?;
    let model = Model::fit(&features, &pairs, &Trainer::default())?;
    let new = Pair::new(seen(20)?, seen(23)?);
    assert_eq!(model.solve(&new)?.matching, Matching::identity(8));
    Ok(())
}

#[test]
fn runs() -> homolog::Result<()> {
    main()
}
