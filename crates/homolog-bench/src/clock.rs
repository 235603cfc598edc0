//! A stopwatch that reads this thread's processor time and wall time together.
//!
//! On a shared machine processor time is the steadier of the two: it leaves out the time when others ran.

use cpu_time::{ProcessTime, ThreadTime};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How long something took, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Elapsed {
    /// Processor time of the thread.
    pub(crate) cpu: f64,
    /// Wall time.
    pub(crate) wall: f64,
}

/// A running measurement.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: ThreadTime,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: ThreadTime::now() }
    }

    pub(crate) fn stop(self) -> Elapsed {
        let cpu = self.cpu.elapsed().as_secs_f64();
        Elapsed { cpu, wall: self.wall.elapsed().as_secs_f64() }
    }
}

/// The middle value; for an even number the mean of the two middle ones. `None` if there are none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The processor time that a quick run may take: nothing new is begun after most of three minutes.
pub(crate) struct Budget {
    start: ProcessTime,
    is_limited: bool,
}

/// What is left of three minutes is for what is under way.
const QUICK: f64 = 130.0;

impl Budget {
    pub(crate) fn new(is_quick: bool) -> Self {
        Self { start: ProcessTime::now(), is_limited: is_quick }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.is_limited && self.start.elapsed().as_secs_f64() > QUICK
    }
}

/// The peak of resident memory so far, if the system reports it as Linux does.
pub(crate) fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
