//! A stopwatch that reads this thread's processor time and wall time together.
//!
//! On a shared machine processor time is the steadier of the two: it leaves out the time when others ran.

use anyhow::{Result, ensure};
use cpu_time::{ProcessTime, ThreadTime};
use homolog::Control;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// The processor time that a quick run may take, on any data: nothing new is begun after most of three minutes, and what is under way then is
/// stopped before they are over, and not reported.
#[derive(Clone)]
pub(crate) struct Budget {
    start: ProcessTime,
    is_limited: bool,
    /// Milliseconds that other processes took for this one.
    elsewhere: Arc<AtomicU64>,
}

/// Seconds after which nothing is begun.
const QUICK: f64 = 130.0;
/// Seconds after which everything stops; what is left is for what does not look at the clock.
const OVER: f64 = 165.0;

impl Budget {
    pub(crate) fn new(is_quick: bool) -> Self {
        Self { start: ProcessTime::now(), is_limited: is_quick, elsewhere: Arc::default() }
    }

    /// Whether the run is a quick one.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    fn exceeds(&self, seconds: f64) -> bool {
        let elsewhere = self.elsewhere.load(Ordering::Relaxed) as f64 / 1e3;
        self.is_limited && self.start.elapsed().as_secs_f64() + elsewhere > seconds
    }

    /// Whether nothing new should be begun.
    pub(crate) fn is_spent(&self) -> bool {
        self.exceeds(QUICK)
    }

    /// Counts what another process took, in seconds since it began.
    pub(crate) fn took_elsewhere(&self, seconds: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
        self.elsewhere.store((1e3 * seconds.max(0.0)) as u64, Ordering::Relaxed);
    }

    /// Stops what it is given to when the time is over.
    pub(crate) fn control(&self) -> Control {
        let own = self.clone();
        Control::new().interrupted_by(move || own.exceeds(OVER))
    }

    /// Ends what does not look at a control, once the time is over.
    pub(crate) fn stop(&self) -> Result<()> {
        ensure!(!self.exceeds(OVER), "the time of a quick run is over");
        Ok(())
    }

    /// A result that was reached in time: what was stopped is none, whatever came of it.
    pub(crate) fn in_time<T>(&self, result: Result<T>) -> Result<Option<T>> {
        if self.exceeds(OVER) { Ok(None) } else { result.map(Some) }
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

    #[test]
    fn a_quick_run_ends_and_counts_what_others_took() {
        let (budget, unlimited) = (Budget::new(true), Budget::new(false));
        let control = budget.control();
        assert!(!budget.is_spent() && !control.interrupted());
        budget.took_elsewhere(140.0);
        assert!(budget.is_spent() && !control.interrupted());
        assert!(matches!(budget.in_time(Ok(1)), Ok(Some(1))));
        budget.took_elsewhere(170.0);
        unlimited.took_elsewhere(1e6);
        assert!(control.interrupted() && !unlimited.is_spent() && !unlimited.control().interrupted());
        // Whatever it came to.
        assert!(matches!(budget.in_time(Err::<(), _>(anyhow::anyhow!("interrupted"))), Ok(None)));
    }
}
