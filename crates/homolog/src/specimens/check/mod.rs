//! [`check`]: what looks wrong in a table of labelled specimens, surest first, before anybody trusts it.
//!
//! Specimens are brought into one frame (`frame`), each landmark is predicted from its neighbours (`learning`), and a specimen with a
//! landmark odder than those of nearly all good specimens (`tail`) is listed with what would explain it (`explain`): names
//! swapped, rolled or reversed, a mirrored or rotated specimen, displaced landmarks, other units (`pose`). Mistakes do not teach: odd
//! landmarks are left out and everything is learned again, always without the specimen that is judged.
//!
//! Among fewer than 20 specimens swaps are also looked for in each specimen beside each other one (`few`); among fewer than eight only
//! these.
//!
//! Two landmarks that lie within their own spread of each other cannot be told apart, so their swap is not found.

mod explain;
mod few;
mod frame;
mod learning;
mod names;
mod neighbours;
mod pose;
mod regression;
mod report;
mod robust;
mod shapes;
mod tail;

pub(crate) use report::Should;
pub use report::{CheckReport, Finding, Fix, Kind};

use crate::atlas::MOST_LANDMARKS;
use crate::data::dataset::NamedGraph;
use crate::{Control, Error, Report, Result};
use explain::{Mistake, explain};
use frame::{Frame, Placed};
use learning::{Learned, learn};
use names::renamings;
use shapes::{Place, Shape, Shapes, difference, length};

/// With fewer specimens than this only swaps are found (`few`): what one differs in from so few is not known to be odd.
pub const FEWEST_SPECIMENS: usize = 8;
/// With fewer specimens than this swaps are also looked for in each specimen beside each other one.
const ENOUGH_SPECIMENS: usize = 20;
/// A landmark that fewer than this share of the specimens have is not judged; one that more than this share have is missed in others.
const JUDGED_SHARE: f64 = 0.25;
const MISSED_SHARE: f64 = 0.75;
/// Points closer than this share of the size of a specimen are the same point.
const SAME_POINT: f64 = 1e-9;
/// Landmarks whose mean places are closer than this share of the radius may share a point.
const USUALLY_APART: f64 = 1e-3;

/// The landmarks of a specimen are odd together if their oddness is this many times the usual one. Of good ones nine in ten have at most 1.5 times
/// as much, of bicycles that are mirrored, which vary most, none less than 2.9 times.
const TOGETHER: f64 = 2.0;

/// The share of good specimens that is listed by mistake, if there are at least 40; smaller sets have more.
pub const FALSE_ALARMS: f64 = 0.01;
/// The same for fewer than so many specimens, as measured on random parts of eight sets (docs/benchmarks.md).
const FALSE_ALARMS_OF_FEW: [(usize, f64); 3] = [(12, 0.06), (20, 0.03), (40, 0.02)];

/// Lists what looks wrong in labelled specimens. If `control` interrupts, by what was learned so far.
///
/// # Errors
/// A graph without points or names, or with points of another dimension than the first; too many landmarks; interrupted before specimens were
/// brought into one frame.
pub fn check(graphs: &[NamedGraph], control: &Control) -> Result<CheckReport> {
    let shapes = Shapes::new(graphs)?;
    if shapes.names.len() > MOST_LANDMARKS {
        let what = "landmarks to check, all pairs of which are compared";
        return Err(Error::TooLarge { what, limit: MOST_LANDMARKS, found: shapes.names.len() });
    }
    let mut report = CheckReport::new(graphs, &shapes);
    report.findings = missing(graphs, &shapes);
    let (judged, table) = judged(&shapes);
    report.judged = judged.len();
    if judged.len() >= FEWEST_SPECIMENS {
        let found = Checked::new(&table, control)?;
        let few = FALSE_ALARMS_OF_FEW.into_iter().find(|&(below, _)| judged.len() < below);
        report.false_alarms = Some(few.map_or(FALSE_ALARMS, |(_, share)| share));
        for (at, &specimen) in judged.iter().enumerate() {
            if at > 0 && control.interrupted() {
                report.judged = at;
                break;
            }
            found.add(at, specimen, &graphs[specimen].id, &table, &mut report)?;
        }
    }
    if judged.len() < ENOUGH_SPECIMENS {
        add_swaps(graphs, &judged, &table, &mut report, control)?;
    }
    report.sort();
    Ok(report)
}

/// Adds swaps that each specimen beside each other one shows; two landmarks that are swapped are not displaced.
fn add_swaps(
    graphs: &[NamedGraph],
    judged: &[usize],
    table: &Shapes,
    report: &mut CheckReport,
    control: &Control,
) -> Result<()> {
    for (pairs, &specimen) in few::swaps(table, control)?.into_iter().zip(judged) {
        for pair in pairs {
            let [a, b] = pair.map(|at| table.names[at].clone());
            let concerns =
                |finding: &Finding, name: &String| finding.index == specimen && finding.landmarks.contains(name);
            let is_known =
                |finding: &Finding| finding.is_mended_by_names() && concerns(finding, &a) && concerns(finding, &b);
            if report.findings.iter().any(is_known) {
                continue;
            }
            let is_part = |finding: &Finding| concerns(finding, &a) || concerns(finding, &b);
            report.findings.retain(|finding| finding.kind != Kind::Displaced || !is_part(finding));
            let finding = Finding::new(specimen, &graphs[specimen].id, Kind::Swapped);
            let (landmarks, points_of) = (vec![a.clone(), b.clone()], vec![b, a]);
            report.findings.push(Finding { landmarks, points_of, ..finding });
        }
    }
    Ok(())
}

/// The specimens and landmarks that can be judged: specimens by position, and a table of them.
fn judged(shapes: &Shapes) -> (Vec<usize>, Shapes) {
    let count = shapes.specimens.len();
    let least = if count < FEWEST_SPECIMENS { 2.0 } else { FEWEST_SPECIMENS as f64 - 2.0 };
    let fewest = (JUDGED_SHARE * count as f64).max(least);
    let common: Vec<bool> = (0..shapes.names.len()).map(|at| shapes.count(at) as f64 >= fewest).collect();
    let cut = |shape: &Shape| -> Shape {
        shape.iter().zip(&common).map(|(point, common)| point.filter(|_| *common)).collect()
    };
    let all: Vec<Shape> = shapes.specimens.iter().map(cut).collect();
    let enough = |shape: &Shape| shape.iter().flatten().count() >= shapes.dimension + 2;
    let judged: Vec<usize> = (0..count).filter(|&at| enough(&all[at])).collect();
    let specimens = judged.iter().map(|&at| all[at].clone()).collect();
    (judged, Shapes { dimension: shapes.dimension, names: shapes.names.clone(), specimens })
}

/// Landmarks that a specimen lacks though most have them.
fn missing(graphs: &[NamedGraph], shapes: &Shapes) -> Vec<Finding> {
    let total = shapes.specimens.len() as f64;
    let usual: Vec<bool> = (0..shapes.names.len()).map(|at| shapes.count(at) as f64 > MISSED_SHARE * total).collect();
    let of = |(index, shape): (usize, &Shape)| {
        let lacks = (0..shape.len()).filter(|&at| usual[at] && shape[at].is_none());
        let landmarks: Vec<String> = lacks.map(|at| shapes.names[at].clone()).collect();
        let finding = Finding::new(index, &graphs[index].id, Kind::Missing);
        (!landmarks.is_empty()).then_some(Finding { landmarks, ..finding })
    };
    shapes.specimens.iter().enumerate().filter_map(of).collect()
}

/// Specimens in their frame, mended as far as whole specimens can be, and what was learned from them.
struct Checked {
    frame: Frame,
    placed: Vec<Placed>,
    /// The points under the names that they should have, if all names of a specimen were exchanged.
    orders: Vec<Option<Vec<usize>>>,
    learned: Learned,
    sizes: Vec<Option<f64>>,
    rotations: Vec<Option<f64>>,
    /// The usual oddness of all landmarks of a specimen together.
    usual: f64,
}

impl Checked {
    fn new(table: &Shapes, control: &Control) -> Result<Self> {
        control.report(&Report::new("aligning specimens", 0, Some(3)));
        let (frame, mut placed) = frame::align(table, control)?;
        let (usual, angles) = pose::orientations(&placed);
        let (sizes, rotations) = (pose::odd_sizes(&placed), pose::odd_orientations(&angles));
        let usual = placed.get(usual).cloned();
        let mut orders = vec![None; placed.len()];
        let mut rename = |wrong: &dyn Fn(usize, &Placed) -> bool, placed: &mut [Placed]| -> Result<bool> {
            let mut any = false;
            for (at, own) in placed.iter_mut().enumerate() {
                if control.interrupted() {
                    break;
                }
                let Some(usual) = usual.as_ref().filter(|_| wrong(at, own) && orders[at].is_none()) else { continue };
                if let Some((order, again)) = names::mended(&frame, &table.specimens[at], own, usual)? {
                    (orders[at], *own, any) = (Some(order), again, true);
                }
            }
            Ok(any)
        };
        rename(&|_, placed| !frame.fits(placed.misfit), &mut placed)?;
        control.report(&Report::new("learning where landmarks lie", 1, Some(3)));
        let learn_from = |placed: &[Placed]| {
            learn(table.dimension, placed.iter().map(|placed| &placed.points).collect(), &frame.mean, control)
        };
        let mut learned = learn_from(&placed);
        control.report(&Report::new("learning where landmarks lie", 2, Some(3)));
        // A specimen that fits nothing may still have its names exchanged.
        if rename(&|at, placed| !placed.mirrored && learned.fits_nothing(at), &mut placed)? {
            learned = learn_from(&placed);
        }
        let together = |placed: &Placed| root_mean_square(&learned.oddness_of_all(&placed.points));
        let usual = robust::median(placed.iter().map(together).collect());
        Ok(Self { frame, placed, orders, learned, sizes, rotations, usual })
    }

    /// Adds what is wrong with a specimen to the report.
    fn add(&self, at: usize, index: usize, id: &str, table: &Shapes, report: &mut CheckReport) -> Result<()> {
        let (placed, shape) = (&self.placed[at], &table.specimens[at]);
        let mut mistakes = explain(&self.learned, at, &placed.points)?;
        if let Some(roll) = self.rolled(at, shape, &mistakes)? {
            mistakes = vec![roll];
        }
        let fits = mistakes.iter().all(|mistake| mistake.kind != Kind::Unlike);
        if fits && (placed.mirrored || self.orders[at].is_some()) {
            // A mirror image that fits better is no mistake if the specimen fits as given: a flat body is nearly its own.
            let odd = self.oddness_as_given(shape)?;
            if odd > self.learned.tail.threshold {
                mistakes.extend(placed.mirrored.then(|| Mistake::whole(Kind::Mirrored, odd)));
                let orders = self.orders[at].iter().flat_map(|order| renamings(order));
                mistakes.extend(orders.map(|renaming| Mistake::named(renaming, odd)));
            }
        }
        let finding = |kind: Kind| Finding::new(index, id, kind);
        let doubled = doubled(shape, &self.frame.mean);
        mistakes.retain(|mistake| {
            mistake.kind != Kind::Displaced || doubled.iter().all(|pair| !pair.contains(&mistake.landmarks[0]))
        });
        let names = |list: &[usize]| -> Vec<String> { list.iter().map(|&at| table.names[at].clone()).collect() };
        let own = |place: &Place| placed.back(place)[..table.dimension].to_vec();
        let before = report.findings.len();
        for mistake in &mistakes {
            report.findings.push(Finding {
                landmarks: names(&mistake.landmarks),
                points_of: names(&mistake.points_of),
                by: mistake.by,
                spreads: mistake.spreads,
                should_be: mistake.should_be.as_ref().map(own),
                oddness: Some(mistake.odd / self.learned.tail.threshold),
                ..finding(mistake.kind)
            });
        }
        let pairs = doubled.iter().map(|pair| Finding { landmarks: names(pair), ..finding(Kind::Doubled) });
        report.findings.extend(pairs);
        report.findings.extend(self.sizes[at].map(|factor| Finding { factor: Some(factor), ..finding(Kind::Scaled) }));
        let rotated = self.rotations[at].filter(|_| fits && !placed.mirrored);
        report.findings.extend(rotated.map(|degrees| Finding { degrees: Some(degrees), ..finding(Kind::Rotated) }));
        if report.findings.len() > before {
            let judged = &self.learned.specimens[at];
            let should = |landmark: usize| {
                let landmark_name = table.names[landmark].clone();
                self.frame.mean[landmark]
                    .map(|_| Should { landmark: landmark_name, at: own(&judged.expected[landmark]) })
            };
            let list = (0..shape.len()).filter_map(should).collect();
            report.expected.insert(index, list);
        }
        Ok(())
    }

    /// A contiguous part of the names rolled by one, if that explains all of what is odd about a specimen and leaves nearly as little as other names:
    /// a roll along a dense curve moves most of its landmarks so little that they are not odd, and single ones look displaced.
    fn rolled(&self, at: usize, shape: &Shape, mistakes: &[Mistake]) -> Result<Option<Mistake>> {
        let is_simple = |mistake: &Mistake| matches!(mistake.kind, Kind::Swapped | Kind::Rolled | Kind::Reversed);
        let placed = &self.placed[at];
        let is_explained = mistakes.len() == 1 && is_simple(&mistakes[0]);
        if mistakes.is_empty() || is_explained || placed.mirrored || self.orders[at].is_some() {
            return Ok(None);
        }
        let squares = |odd: &[f64]| odd.iter().map(|odd| odd * odd).sum::<f64>();
        let present: Vec<usize> = (0..shape.len()).filter(|&at| shape[at].is_some()).collect();
        let mut best: Option<(f64, Vec<usize>)> = None;
        for order in names::parts_rolled(&self.frame, &placed.points, &present) {
            let odd = self.learned.oddness_of_all(&self.frame.place(&names::ordered(shape, &order))?.points);
            let is_mended = odd.iter().all(|odd| *odd <= self.learned.tail.threshold);
            if is_mended && best.as_ref().is_none_or(|(least, _)| squares(&odd) < *least) {
                best = Some((squares(&odd), order));
            }
        }
        let Some((after, order)) = best else { return Ok(None) };
        let before = squares(&self.learned.specimens[at].odd);
        let is_of_names = mistakes.iter().all(|mistake| !mistake.points_of.is_empty());
        let others = if is_of_names {
            let mut order: Vec<usize> = (0..shape.len()).collect();
            let given = mistakes.iter().flat_map(|mistake| mistake.landmarks.iter().zip(&mistake.points_of));
            given.for_each(|(&landmark, &point)| order[landmark] = point);
            squares(&self.learned.oddness_of_all(&self.frame.place(&names::ordered(shape, &order))?.points))
        } else {
            f64::INFINITY
        };
        let is_clear = after <= explain::CLEARLY * before && after <= names::NEARLY * others + names::NEARLY_BY;
        let odd = self.learned.specimens[at].oddest();
        let of = |renaming| Mistake::named(renaming, odd);
        Ok(renamings(&order).into_iter().next().filter(|_| is_clear).map(of))
    }

    /// How odd a specimen was before it was mended: its oddest landmark or, in units in which the threshold is twice what is usual, all of them
    /// together. A mirror image predicts its own landmarks, so that in specimens that vary much none of them need be odd alone.
    fn oddness_as_given(&self, shape: &Shape) -> Result<f64> {
        let odd = self.learned.oddness_of_all(&self.frame.place(shape)?.points);
        let oddest = odd.iter().copied().fold(0.0, f64::max);
        let together = root_mean_square(&odd) / (TOGETHER * self.usual.max(f64::MIN_POSITIVE));
        Ok(oddest.max(together * self.learned.tail.threshold))
    }
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|x| x * x).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// Landmarks of a specimen that have the same point though their usual places differ.
fn doubled(shape: &Shape, mean: &Shape) -> Vec<[usize; 2]> {
    let (_, size) = shapes::centre_and_size(shape.iter().flatten());
    let mut pairs = Vec::new();
    for i in 0..shape.len() {
        for j in i + 1..shape.len() {
            let far = |a: &Option<Place>, b: &Option<Place>| Some(length(&difference(&(*a)?, &(*b)?)));
            let same = far(&shape[i], &shape[j]).is_some_and(|far| far <= SAME_POINT * size);
            if same && far(&mean[i], &mean[j]).is_some_and(|far| far > USUALLY_APART) {
                pairs.push([i, j]);
            }
        }
    }
    pairs
}
