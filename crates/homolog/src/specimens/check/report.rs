//! What was found: a list of findings, surest first, as values, JSON, a table and words; and specimens with their names mended.

use super::shapes::Shapes;
use crate::data::dataset::NamedGraph;
use crate::{Result, counted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Two landmarks have each other's point.
    Swapped,
    /// Each landmark of a list has the point of another, a fixed number of places along.
    Rolled,
    /// A list of landmarks is labelled in the reverse order.
    Reversed,
    /// Landmarks have each other's points in some other way.
    Renamed,
    /// The specimen is a mirror image.
    Mirrored,
    /// The specimen is rotated from the orientation of the others.
    Rotated,
    /// A landmark is not where it should be.
    Displaced,
    /// Two landmarks have the same point.
    Doubled,
    /// Coordinates are larger or smaller than in other specimens by a factor.
    Scaled,
    /// The specimen fits nothing.
    Unlike,
    /// A specimen lacks landmarks that most have.
    Missing,
}

/// Something that looks wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Position of the specimen in the list that was given.
    pub index: usize,
    /// Its id.
    pub specimen: String,
    /// What is wrong.
    pub kind: Kind,
    /// The landmarks that are concerned; none if it is the whole specimen.
    pub landmarks: Vec<String>,
    /// Names at the wrong points: whose point each of the landmarks should have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points_of: Vec<String>,
    /// Rolled: by how many places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<usize>,
    /// Displaced: the distance from where it should be, in root-mean-square distances of this landmark from its mean place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spreads: Option<f64>,
    /// Displaced: where it should be, in the specimen's own coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_be: Option<Vec<f64>>,
    /// Scaled: how many times larger than usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// Rotated: by how much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// How odd it is: 1 is the threshold that few good specimens reach. `None` if the finding does not rest on that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oddness: Option<f64>,
}

/// Where a landmark should be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Should {
    /// Its name.
    pub landmark: String,
    /// The place, in the specimen's own coordinates.
    pub at: Vec<f64>,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// How many specimens there are.
    pub specimens: usize,
    /// How many of them have enough landmarks to be judged.
    pub judged: usize,
    /// How many landmarks.
    pub landmarks: usize,
    /// The share of good specimens listed by mistake in sets of this size, as measured on eight sets, not on this one; `None` if there were too few specimens to judge any.
    pub false_alarms: Option<f64>,
    /// What looks wrong, surest first.
    pub findings: Vec<Finding>,
    /// Where each landmark of a suspect should be, by the position of the specimen in the list that was given.
    pub expected: BTreeMap<usize, Vec<Should>>,
}

/// Which mistakes are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Landmarks that were swapped.
    Swaps,
    /// All mistakes in names: swapped, rolled, reversed and renamed landmarks.
    Names,
}

impl Finding {
    pub(super) fn new(index: usize, specimen: &str, kind: Kind) -> Self {
        Self {
            index,
            specimen: specimen.to_string(),
            kind,
            landmarks: Vec::new(),
            points_of: Vec::new(),
            by: None,
            spreads: None,
            should_be: None,
            factor: None,
            degrees: None,
            oddness: None,
        }
    }

    /// Whether exchanging names corrects it.
    #[must_use]
    pub fn is_mended_by_names(&self) -> bool {
        matches!(self.kind, Kind::Swapped | Kind::Rolled | Kind::Reversed | Kind::Renamed)
    }

    /// Places in the list: what is a fact comes before what is judged, what is only missing last.
    fn rank(&self) -> (bool, f64) {
        (self.kind == Kind::Missing, -self.oddness.unwrap_or(f64::INFINITY))
    }
}

impl Kind {
    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Swapped => "swapped",
            Self::Rolled => "rolled",
            Self::Reversed => "reversed",
            Self::Renamed => "renamed",
            Self::Mirrored => "mirrored",
            Self::Rotated => "rotated",
            Self::Displaced => "displaced",
            Self::Doubled => "doubled",
            Self::Scaled => "scaled",
            Self::Unlike => "unlike",
            Self::Missing => "missing",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.landmarks.join(", ");
        match self.kind {
            Kind::Swapped => {
                write!(formatter, "{} are swapped; exchanging the names corrects it", self.landmarks.join(" and "))
            }
            Kind::Rolled => {
                let (by, count) = (self.by.unwrap_or(0), self.landmarks.len());
                let places = by.min(count - by.min(count));
                let s = if places == 1 { "" } else { "s" };
                write!(
                    formatter,
                    "names rolled by {places} place{s}: {list} should have the points of {}",
                    self.points_of.join(", ")
                )
            }
            Kind::Reversed => write!(formatter, "names in reverse order: {list}"),
            Kind::Renamed => {
                write!(formatter, "names exchanged: {list} should have the points of {}", self.points_of.join(", "))
            }
            Kind::Mirrored => write!(formatter, "mirrored"),
            Kind::Rotated => write!(formatter, "rotated by {:.0} degrees from the others", self.degrees.unwrap_or(0.0)),
            Kind::Displaced => {
                let place: Vec<String> = self.should_be.iter().flatten().map(|x| rounded(*x)).collect();
                let far = self.spreads.unwrap_or(0.0);
                write!(formatter, "{list} displaced by {far:.1} spreads; should be near ({})", place.join(", "))
            }
            Kind::Doubled => write!(formatter, "{} have the same point", self.landmarks.join(" and ")),
            Kind::Scaled => {
                write!(formatter, "{} times as large as usual; other units?", rounded(self.factor.unwrap_or(1.0)))
            }
            Kind::Unlike => write!(formatter, "unlike the other specimens"),
            Kind::Missing => write!(formatter, "{list} missing"),
        }
    }
}

/// About four digits.
fn rounded(x: f64) -> String {
    let digits = [1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001].iter().take_while(|&&unit| x.abs() < unit).count();
    format!("{x:.digits$}")
}

impl CheckReport {
    pub(super) fn new(graphs: &[NamedGraph], shapes: &Shapes) -> Self {
        Self {
            specimens: graphs.len(),
            judged: 0,
            landmarks: shapes.names.len(),
            false_alarms: None,
            findings: Vec::new(),
            expected: BTreeMap::new(),
        }
    }

    pub(super) fn sort(&mut self) {
        let rank = |finding: &Finding| finding.rank();
        self.findings.sort_by(|a, b| {
            let ((a_last, a_odd), (b_last, b_odd)) = (rank(a), rank(b));
            a_last.cmp(&b_last).then(a_odd.total_cmp(&b_odd)).then(a.index.cmp(&b.index))
        });
    }

    /// The specimens in which something looks wrong, by position; one that only lacks landmarks is not among them.
    #[must_use]
    pub fn suspects(&self) -> Vec<usize> {
        let wrong = self.findings.iter().filter(|finding| finding.kind != Kind::Missing);
        let mut suspects: Vec<usize> = wrong.map(|finding| finding.index).collect();
        suspects.sort_unstable();
        suspects.dedup();
        suspects
    }

    /// The specimens with mistakes in names mended: landmarks get the points that they should have. Also, how many findings were mended.
    ///
    /// # Errors
    /// None for the graphs that were checked.
    pub fn mended(&self, graphs: &[NamedGraph], fix: Fix) -> Result<(Vec<NamedGraph>, usize)> {
        let mut mended = graphs.to_vec();
        let wanted = |finding: &&Finding| match fix {
            Fix::Swaps => finding.kind == Kind::Swapped,
            Fix::Names => finding.is_mended_by_names(),
        };
        let mut count = 0;
        for finding in self.findings.iter().filter(wanted) {
            let Some(one) = mended.get_mut(finding.index) else { continue };
            let Some(names) = one.graph.names().map(<[String]>::to_vec) else { continue };
            let place = |name: &String| names.iter().position(|own| own == name);
            let mut order: Vec<usize> = (0..names.len()).collect();
            for (name, from) in finding.landmarks.iter().zip(&finding.points_of) {
                if let (Some(to), Some(from)) = (place(name), place(from)) {
                    order[to] = from;
                }
            }
            one.graph = Arc::new(one.graph.subgraph(&order)?.with_names(names)?);
            count += 1;
        }
        Ok((mended, count))
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suspects = self.suspects().len();
        write!(formatter, "{}, {}: ", counted(self.specimens, "specimen"), counted(self.landmarks, "landmark"))?;
        let looks = format!("{suspects} {} wrong", if suspects == 1 { "looks" } else { "look" });
        match self.false_alarms {
            None => writeln!(
                formatter,
                "{}; mistakes other than swaps need at least {} specimens with enough landmarks, and there {} {}",
                if suspects == 0 { "no swaps found" } else { &looks },
                super::FEWEST_SPECIMENS,
                if self.judged == 1 { "is" } else { "are" },
                self.judged
            )?,
            Some(_) if suspects == 0 => match self.findings.iter().map(|finding| finding.landmarks.len()).sum() {
                0 => writeln!(formatter, "no mistakes found")?,
                missing => writeln!(formatter, "no mistakes found, {} missing", counted(missing, "landmark"))?,
            },
            Some(rate) => {
                writeln!(formatter, "{looks} (about 1 in {:.0} good ones is listed by mistake)", 1.0 / rate)?;
            }
        }
        let width = self.findings.iter().map(|finding| finding.specimen.chars().count()).max().unwrap_or(0).min(40);
        for finding in &self.findings {
            writeln!(formatter, "{:width$}  {finding}", finding.specimen)?;
        }
        Ok(())
    }
}
