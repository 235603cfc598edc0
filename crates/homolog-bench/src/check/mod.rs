//! How many planted mistakes `homolog check` finds, and how many good specimens it lists by mistake: swaps, rolls, mirror images and
//! displacements of 2, 3, 5 and 10 spreads in none, a twentieth and a fifth of the specimens of every set.
//!
//! A mistake is found if the list says what it is: the two landmarks, the order of the names, the mirror image, the landmark. Swaps are
//! planted among landmarks that are further apart than their spreads. A false alarm is a good specimen with any finding but a missing
//! landmark. Specimens whose mistakes were there before (`KNOWN`) are neither planted in nor counted.

mod plant;

use crate::asked::Asked;
use crate::never_worse::{Data, all_data, table};
use anyhow::Result;
use homolog::Control;
use homolog::data::dataset::NamedGraph;
use homolog::specimens::check::{Finding, Kind, check};
use plant::{Plant, Usual, drawn, planted};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Mistakes planted in labelled specimens: how many `check` finds, and its false alarms
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// Only so many specimens of each set, drawn anew each time
    #[arg(long, value_name = "COUNT")]
    specimens: Option<usize>,
}

/// Mistakes that the sets have as they are, seen in the pictures or in the numbers.
const KNOWN: [(&str, &str); 4] = [
    // B_WheelEnd on the wheel of another bicycle; SeatBase outside of the picture.
    ("bikes", "2009_001255_2"),
    ("bikes", "2009_002119_1"),
    // p18 and p23 are the same point.
    ("hummingbirds", "s006"),
    // One marker stays behind for a frame.
    ("face3d", "s073"),
];

const SHARES: [f64; 3] = [0.0, 0.05, 0.2];

/// One kind of mistake in one share of the specimens of a set, over all draws.
#[derive(Serialize)]
struct Cell {
    data: String,
    kind: String,
    share: f64,
    planted: usize,
    found: usize,
    good: usize,
    false_alarms: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sets = arguments.asked.sets(given)?;
    let draws = if arguments.asked.quick { 3 } else { 20 };
    let (mut cells, budget) = (Vec::new(), arguments.asked.budget());
    arguments.asked.write(&cells)?;
    println!(
        "{:14} {:12} {:>5}  {:>7} {:>6} {:>6}  {:>6} {:>6}",
        "data", "kind", "share", "planted", "found", "recall", "good", "alarms"
    );
    for Data { name, ids, specimens, .. } in sets {
        let named = ids.into_iter().zip(specimens).map(|(id, graph)| NamedGraph { id, graph, image: None });
        let own: Vec<NamedGraph> = named.filter(|one| !KNOWN.contains(&(name.as_str(), one.id.as_str()))).collect();
        let mut unplanted: Option<[usize; 4]> = None;
        for kind in Plant::ALL {
            for share in SHARES {
                if budget.is_spent() {
                    continue;
                }
                let one = |draw: u64| cell(&own, kind, share, draw, arguments.specimens, &budget.control());
                let add = |a: [usize; 4], b: [usize; 4]| std::array::from_fn(|at| a[at] + b[at]);
                let measure = || (0..draws).into_par_iter().map(one).try_reduce(|| [0; 4], |a, b| Ok(add(a, b)));
                // If nothing is planted, all kinds are the same.
                let known = unplanted.filter(|_| share == 0.0);
                let Some(counts) = budget.in_time(known.map_or_else(measure, Ok))? else { continue };
                if share == 0.0 {
                    unplanted = Some(counts);
                }
                let [planted, found, good, false_alarms] = counts;
                let cell = Cell { data: name.clone(), kind: kind.name(), share, planted, found, good, false_alarms };
                print(&cell);
                cells.push(cell);
                arguments.asked.write(&cells)?;
            }
        }
    }
    Ok(())
}

fn print(cell: &Cell) {
    let Cell { data, kind, share, planted, found, good, false_alarms } = cell;
    let recall = *found as f64 / (*planted).max(1) as f64;
    let alarms = *false_alarms as f64 / (*good).max(1) as f64;
    println!("{data:14} {kind:12} {share:>5}  {planted:>7} {found:>6} {recall:>6.3}  {good:>6} {alarms:>6.4}");
}

/// Planted, found, good, false alarms.
fn cell(
    all: &[NamedGraph],
    kind: Plant,
    share: f64,
    draw: u64,
    count: Option<usize>,
    control: &Control,
) -> Result<[usize; 4]> {
    let mut rng = ChaCha8Rng::seed_from_u64(draw);
    let order = drawn(all.len(), 1.0, &mut rng);
    let mut specimens: Vec<NamedGraph> =
        order.iter().take(count.unwrap_or(all.len())).map(|&at| all[at].clone()).collect();
    let mut known = BTreeMap::new();
    if let Some(usual) = Usual::of(&specimens)? {
        for at in drawn(specimens.len(), share, &mut rng) {
            let Some((one, mistake)) = planted(&specimens[at], at, kind, &usual, &mut rng)? else { continue };
            specimens[at] = one;
            known.insert(at, mistake);
        }
    }
    let report = check(&specimens, control)?;
    let mut counts = [known.len(), 0, specimens.len() - known.len(), 0];
    for index in 0..specimens.len() {
        let own = report.findings.iter().filter(|finding| finding.index == index && finding.kind != Kind::Missing);
        let own: Vec<&Finding> = own.collect();
        match known.get(&index) {
            Some(mistake) => counts[1] += usize::from(mistake.is_found(&own)),
            None => counts[3] += usize::from(!own.is_empty()),
        }
    }
    Ok(counts)
}

/// The given sets; that of many points last, in case a quick run does not get to it.
fn given(folder: &Path) -> Result<Vec<Data>> {
    let mut sets = all_data(folder)?;
    sets.retain(|data| !data.spoiled);
    sets.push(table(&folder.join("house/landmarks.csv"), "house")?);
    sets.push(table(&folder.join("wings/wings.tps"), "wings")?);
    sets.sort_by_key(|data| data.name == "worms");
    Ok(sets)
}
