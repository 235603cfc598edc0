//! Figures for Homolog: numbers in, SVG, PNG and HTML out.
//!
//! Every figure is a struct with public fields and `to_svg`; [`svg_to_png`] draws the SVG with an embedded font, so no system fonts
//! are needed, and [`Report`] puts figures, tables and text into one HTML file. The same input gives the same bytes.
//!
//! | figure | shows |
//! |---|---|
//! | [`LossChart`] | loss against baseline, or against the number of labelled pairs, with error bars |
//! | [`WeightsChart`] | learned weights on the polar grid of the shape context, and as bars |
//! | [`TradeOffChart`] | running time against loss |
//! | [`BoundsChart`] | bounds closing over iterations or time, and their gap |
//! | [`MatchPicture`] | two pictures with their graphs and the match between them |
//! | [`ScenePicture`] | a template's points found in a scene |
//! | [`PointPicture`] | points in one picture |
//! | [`NamedPicture`] | points with names, and the spread of each |
//! | [`TakePicture`] | how certain the names of markers are over the frames of a take |
//! | [`SuspectPicture`] | a specimen in which something looks wrong, and where its points should be |
//!
//! Values that are not finite are left out of a figure, an empty figure says so, and any text is shown as it is: no input gives a broken
//! document or a panic. Axes contain every error bar in full.
//!
//! ```
//! use homolog_viz::{Bounds, BoundsChart, svg_to_png};
//! let steps = vec![Bounds { x: 1.0, upper: 2.0, lower: -1.0 }, Bounds { x: 2.0, upper: 0.5, lower: 0.4 }];
//! let svg = BoundsChart { steps, ..BoundsChart::default() }.to_svg();
//! let png = svg_to_png(&svg, 2.0)?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), homolog_viz::Error>(())
//! ```

mod axis;
mod bounds_chart;
mod font;
mod isometric;
mod labels;
mod layout;
mod loss_chart;
mod match_picture;
mod named_picture;
mod page;
mod palette;
mod panel;
mod png;
mod point_picture;
mod report;
mod scene_picture;
mod suspect_picture;
mod svg;
mod take_picture;
mod trade_off;
mod view;
mod weights_chart;

pub use bounds_chart::{Bounds, BoundsChart};
pub use isometric::isometric;
pub use layout::layout;
pub use loss_chart::{LossChart, Measurement, Series};
pub use match_picture::{MatchPicture, MatchRow};
pub use named_picture::{NamedPicture, NamedPoint};
pub use png::{Error, GreyPicture, svg_to_png};
pub use point_picture::PointPicture;
pub use report::{Block, Report, Section};
pub use scene_picture::{ScenePicture, SceneRow};
pub use suspect_picture::{SuspectPicture, SuspectPoint};
pub use take_picture::TakePicture;
pub use trade_off::{TimedMethod, TradeOffChart};
pub use view::View;
pub use weights_chart::WeightsChart;
