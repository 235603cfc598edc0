//! From your own points to a model: two labelled pairs, then a new one.
//!
//! `cargo run --example own_points`

use homolog::features::FeatureMap;
use homolog::graph::{Graph, Pair};
use homolog::learn::{LabelledPairs, Trainer};
use homolog::matching::Matching;
use homolog::model::Model;
use ndarray::{Array2, array};
use std::sync::Arc;

fn main() -> homolog::Result<()> {
    // Four specimens of a wing: base, tip, notch, vein, root, always in this order.
    let wing: Array2<f64> = array![[0.0, 0.0], [9.0, 1.0], [5.0, 4.0], [3.0, 1.5], [1.0, 3.0]];
    let specimen = |tilt: f64| Graph::from_points(wing.dot(&array![[1.0, tilt], [-tilt, 1.0 + tilt]])).map(Arc::new);
    let wings = [0.0, 0.1, -0.1, 0.2].map(specimen);
    let [first, second, third, fourth] = wings;
    let (first, second, third, fourth) = (first?, second?, third?, fourth?);

    let mut pairs = LabelledPairs::new();
    pairs.add(&first, &second, Matching::identity(5))?;
    pairs.add(&first, &third, Matching::identity(5))?;
    let features = FeatureMap::named("linear", [&*first])?;
    let model = Model::fit(&features, &pairs, &Trainer::default())?;

    let solution = model.solve(&Pair::new(first, fourth))?;
    assert_eq!(solution.matching, Matching::identity(5));
    Ok(())
}

#[test]
fn runs() -> homolog::Result<()> {
    main()
}
