//! What pictures show around points, for features that look at pictures: computed when the graphs are read.

use crate::inputs::{Input, Picture};
use crate::pair_input::PairInput;
use anyhow::{Context, Result, bail};
use homolog::data::dataset::{DataSet, NamedGraph};
use homolog::features::{ImageDescriptor, describe_points};
use homolog::geometry::GreyImage;
use std::sync::Arc;

impl Input {
    /// The same graphs with the numbers that these descriptors see in their pictures.
    pub(crate) fn seen_by(mut self, descriptors: &[ImageDescriptor]) -> Result<Self> {
        if !descriptors.is_empty() {
            let graphs = self.data.graphs().iter().enumerate();
            let graphs = graphs.map(|(number, named)| seen(named, &self.picture_of(number), descriptors));
            self.data = DataSet::new(graphs.collect::<Result<_>>()?, self.data.pairs().to_vec())?;
        }
        Ok(self)
    }
}

impl PairInput {
    /// The same two graphs with the numbers that these descriptors see in their pictures.
    pub(crate) fn seen_by(mut self, descriptors: &[ImageDescriptor]) -> Result<Self> {
        if !descriptors.is_empty() {
            self.left = seen(&self.left, &self.pictures[0], descriptors)?;
            self.right = seen(&self.right, &self.pictures[1], descriptors)?;
        }
        Ok(self)
    }
}

fn seen(named: &NamedGraph, picture: &Picture, descriptors: &[ImageDescriptor]) -> Result<NamedGraph> {
    let about = || format!("{:?}", named.id);
    let Some(picture) = picture.read().with_context(about)? else {
        bail!("no image for {:?}: these features need images/{}.png next to the table", named.id, named.id);
    };
    let grey = GreyImage::new(picture.width, picture.height, &picture.pixels)?;
    let points = named.graph.points().with_context(|| format!("{:?} has no points", named.id))?;
    let numbers = describe_points(grey, points, descriptors).with_context(about)?;
    let graph = (*named.graph).clone().with_more_node_attributes(&numbers).with_context(about)?;
    Ok(NamedGraph { graph: Arc::new(graph), ..named.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use homolog::data::landmarks::LandmarkTable;
    use homolog::features::Gradients;
    use std::path::{Path, PathBuf};

    #[test]
    fn graphs_with_pictures_get_numbers_and_graphs_without_are_named() {
        let gradients = ImageDescriptor::Gradients(Gradients::default());
        let plain = Input::turntable().unwrap();
        let count = plain.data.graphs().len();
        let seen = plain.seen_by(&[gradients]).unwrap();
        assert_eq!(seen.data.graphs().len(), count);
        for named in seen.data.graphs() {
            let numbers = named.graph.node_attributes().expect("computed");
            assert_eq!(numbers.names(), gradients.names());
            assert!(numbers.values().iter().any(|&number| number != 0.0));
        }
        let table = "specimen,landmark,x,y\na,nose,1,2\na,chin,2,3\n";
        let graphs = LandmarkTable { graph: Some("specimen".to_string()), ..LandmarkTable::default() };
        let bare = DataSet::new(graphs.read(table, "t").unwrap(), vec![]).unwrap();
        let refused = seen_named(&bare.graphs()[0], gradients).unwrap_err();
        assert_eq!(refused.to_string(), "no image for \"a\": these features need images/a.png next to the table");
    }

    /// How much the picture of each graph changes around its points, on average, and around as many places drawn at random: landmarks are
    /// where something is to be seen.
    fn changes(input: &Input) -> [f64; 2] {
        let (mut sums, mut count) = ([0.0; 2], 0.0);
        let mut state = 1_u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        for (number, named) in input.data.graphs().iter().enumerate() {
            let picture = input.picture(number).unwrap().expect("a picture");
            let pixel = |x: usize, y: usize| f64::from(picture.pixels[y * picture.width + x]);
            // The largest change over seven pixels in either direction: veins are a few pixels wide.
            let change = |x: usize, y: usize| {
                let clamped = |at: usize, side: usize| at.clamp(4, side - 5);
                let (x, y) = (clamped(x, picture.width), clamped(y, picture.height));
                let around = (x - 3..=x + 3).flat_map(|x| (y - 3..=y + 3).map(move |y| (x, y)));
                let steps =
                    around.map(|(x, y)| (pixel(x + 1, y) - pixel(x - 1, y)).hypot(pixel(x, y + 1) - pixel(x, y - 1)));
                steps.fold(0.0, f64::max)
            };
            for point in named.graph.points().unwrap().rows() {
                // The pixel that a point lies in, without a cast from a float.
                let within = |place: f64, side: usize| (0..side).take_while(|&at| at as f64 + 0.5 < place).count();
                sums[0] += change(within(point[0], picture.width), within(point[1], picture.height));
                sums[1] += change(below(picture.width), below(picture.height));
                count += 1.0;
            }
        }
        sums.map(|sum| sum / count)
    }

    #[test]
    fn tps_landmarks_are_where_their_pictures_show_something() {
        let folder = tempfile::tempdir().unwrap();
        // White squares on black; their corners, counted from the bottom edge as tpsDig does.
        let mut picture = image::GrayImage::new(200, 100);
        let mut text = "LM=8\n".to_string();
        for (x, y) in [(20, 10), (150, 5)] {
            for (column, row) in (x..x + 12).flat_map(|column| (y..y + 12).map(move |row| (column, row))) {
                picture.put_pixel(column, row, image::Luma([255]));
            }
            for (x, y) in [(x, y), (x + 12, y), (x, y + 12), (x + 12, y + 12)] {
                text.push_str(&[x.to_string(), (100 - y).to_string()].join(" "));
                text.push('\n');
            }
        }
        picture.save(folder.path().join("squares.png")).unwrap();
        std::fs::write(folder.path().join("a.tps"), text + "IMAGE=squares.png\nID=0\nSCALE=0.01\n").unwrap();
        let input = Input::load(&folder.path().join("a.tps")).unwrap();
        assert_eq!(input.data.graphs()[0].id, "squares");
        let [here, anywhere] = changes(&input);
        assert!(here > 200.0 && here > 2.0 * anywhere, "{here} and {anywhere}");
    }

    #[test]
    fn landmarks_of_fly_wings_lie_on_their_veins() {
        let shared = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let place = std::env::var_os("HOMOLOG_DATA").map_or_else(shared, PathBuf::from).join("wings/wings.tps");
        if !place.is_file() {
            println!("skipped: no data at {}", place.display());
            return;
        }
        let input = Input::load(&place).unwrap();
        assert_eq!((input.data.graphs().len(), input.data.graphs()[0].id.as_str()), (24, "63001"));
        let [here, anywhere] = changes(&input);
        // Upside down it is 1.6 times.
        assert!(here > 2.2 * anywhere, "{here} and {anywhere}");
    }

    fn seen_named(named: &NamedGraph, of: ImageDescriptor) -> Result<NamedGraph> {
        seen(named, &Picture::None, &[of])
    }
}
