//! The results: the table on stdout and the same as JSON.

use super::instances::{Kind, Size};
use crate::clock::Elapsed;
use serde::Serialize;
use std::collections::BTreeMap;

/// One row of the table: one kind of costs at one size.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    #[serde(flatten)]
    pub(crate) size: Size,
    /// How many different matrices.
    pub(crate) matrices: usize,
    /// Seconds for reading each number of a matrix once.
    pub(crate) one_read: f64,
    /// For each solver, ours first: seconds per matrix and the number of rounds. `None` if it does not take this size.
    pub(crate) times: Vec<Option<Time>>,
    /// The fastest peer by processor time.
    pub(crate) fastest_peer: Option<&'static str>,
    /// Its processor time divided by ours: above 1 we are ahead.
    pub(crate) ratio: Option<f64>,
}

/// What one solver took for one matrix: the mean over batches of the median over rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Time {
    pub(crate) solver: &'static str,
    #[serde(flatten)]
    pub(crate) seconds: Elapsed,
    pub(crate) rounds: usize,
}

impl Row {
    /// Finds the fastest peer; the first of `times` is ours.
    pub(crate) fn new(kind: Kind, size: Size, matrices: usize, times: Vec<Option<Time>>) -> Self {
        let (ours, peers) = times.split_first().map_or((&None, &[][..]), |parts| parts);
        let fastest = peers.iter().flatten().min_by(|a, b| a.seconds.cpu.total_cmp(&b.seconds.cpu));
        let fastest_peer = fastest.map(|time| time.solver);
        let ratio = ours.as_ref().zip(fastest).map(|(ours, fastest)| fastest.seconds.cpu / ours.seconds.cpu);
        Self { kind, size, matrices, one_read: 0.0, times, fastest_peer, ratio }
    }
}

/// All results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) quick: bool,
    pub(crate) processor: Option<String>,
    pub(crate) versions: BTreeMap<String, String>,
    /// The geometric mean of the ratios of all rows.
    pub(crate) geometric_mean: Option<f64>,
    pub(crate) lowest_ratio: Option<f64>,
    pub(crate) rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(quick: bool, versions: BTreeMap<String, String>, rows: Vec<Row>) -> Self {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
        let mean_log = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
        let geometric_mean = (!ratios.is_empty()).then(|| mean_log.exp());
        let lowest_ratio = ratios.iter().copied().reduce(f64::min);
        Self { quick, processor: processor(), versions, geometric_mean, lowest_ratio, rows }
    }

    /// The lines under the table.
    pub(crate) fn summary(&self) -> String {
        let processor = self.processor.as_deref().unwrap_or("unknown processor");
        let versions: Vec<String> = self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let versions = versions.join(", ");
        let lowest = self.rows.iter().find(|row| row.ratio.is_some() && row.ratio == self.lowest_ratio);
        let ratios = match (self.geometric_mean, self.lowest_ratio, lowest) {
            (Some(mean), Some(ratio), Some(Row { kind, size, .. })) => {
                format!("geometric mean {mean:.2}, lowest {ratio:.2} ({} {size})", kind.name())
            }
            _ => "no peer was measured".to_owned(),
        };
        format!("fastest peer / ours: {ratios}\n{processor}; {versions}")
    }
}

/// The head of the table, as Markdown.
pub(crate) fn head(solvers: &[&str]) -> String {
    let solvers = solvers.iter().map(|name| format!("{name:>8}"));
    let names = cells("kind", "size", solvers.clone(), "fastest peer", "ratio", "reads");
    let bar = |width| "-".repeat(width);
    let rule =
        cells(&bar(16), &(bar(8) + ":"), solvers.map(|_| bar(7) + ":"), &bar(12), &(bar(4) + ":"), &(bar(4) + ":"));
    format!("{names}\n{rule}")
}

/// One line of the table.
pub(crate) fn line(row: &Row) -> String {
    let missing = || "-".to_owned();
    let times = row.times.iter().map(|time| time.as_ref().map_or_else(missing, |time| duration(time.seconds.cpu)));
    let ratio = row.ratio.map_or_else(missing, |ratio| format!("{ratio:.2}"));
    let times = times.map(|time| format!("{time:>8}"));
    let ours = row.times.first().and_then(Option::as_ref);
    let reads = ours.map_or_else(missing, |time| format!("{:.1}", time.seconds.cpu / row.one_read));
    cells(row.kind.name(), &row.size.to_string(), times, row.fastest_peer.unwrap_or("-"), &ratio, &reads)
}

fn cells(
    kind: &str,
    size: &str,
    times: impl Iterator<Item = String>,
    fastest: &str,
    ratio: &str,
    reads: &str,
) -> String {
    let times: Vec<String> = times.collect();
    format!("| {kind:16} | {size:>9} | {} | {fastest:12} | {ratio:>5} | {reads:>5} |", times.join(" | "))
}

/// Three digits and a unit.
pub(crate) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        ..1e-3 => (seconds * 1e6, "µs"),
        ..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// The name of the processor, if the system reports it as Linux does.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(times: &[Option<f64>]) -> Row {
        let time = |(index, cpu): (usize, &Option<f64>)| {
            let solver = ["homolog", "a", "b"][index];
            cpu.map(|cpu| Time { solver, seconds: Elapsed { cpu, wall: cpu }, rounds: 1 })
        };
        Row::new(Kind::Uniform, Size::new(2, 2), 1, times.iter().enumerate().map(time).collect())
    }

    #[test]
    fn the_ratio_is_that_of_the_fastest_peer() {
        let ahead = row(&[Some(2.0), Some(8.0), Some(4.0)]);
        assert_eq!((ahead.fastest_peer, ahead.ratio), (Some("b"), Some(2.0)));
        let behind = row(&[Some(2.0), Some(1.0), None]);
        assert_eq!((behind.fastest_peer, behind.ratio), (Some("a"), Some(0.5)));
        let alone = row(&[Some(2.0), None]);
        assert_eq!((alone.fastest_peer, alone.ratio), (None, None));
        let report = Report::new(true, BTreeMap::new(), vec![ahead, behind, alone]);
        assert_eq!(report.geometric_mean, Some(1.0));
        assert_eq!(report.lowest_ratio, Some(0.5));
        assert!(report.summary().contains("geometric mean 1.00, lowest 0.50 (uniform 2)"));
    }

    #[test]
    fn durations_have_three_digits() {
        for (seconds, text) in [(1.234e-6, "1.23 µs"), (45.67e-6, "45.7 µs"), (0.1234, "123 ms"), (2.0, "2.00 s")] {
            assert_eq!(duration(seconds), text);
        }
    }
}
