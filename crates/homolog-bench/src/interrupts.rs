//! How soon every long call answers once it is told to stop, on large inputs: the table of calls is the one that the tests stop by counting
//! questions (`tests/it/long_calls.rs`).
//!
//! Each call is told to stop at several moments; what counts is the longest wait for its answer, and the longest time between two questions:
//! by the clock, and as processor time, which a busy machine does not stretch.

#[path = "../../homolog/tests/it/long_calls.rs"]
mod long_calls;

use anyhow::Result;
use cpu_time::ProcessTime;
use homolog::{Control, ErrorKind};
use long_calls::{LongCall, Sizes, long_calls};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// When to stop each call, in seconds
    #[arg(long, value_delimiter = ',', default_value = "0.03,0.1,0.3,1")]
    after: Vec<f64>,
    /// Only calls whose names contain this
    #[arg(long)]
    only: Option<String>,
}

const LARGE: Sizes =
    Sizes { cells: 2000, nodes: 60, points: 6000, landmarks: 40, specimens: 40, frames: 2000, pixels: 600 };

/// When a call asked last, and the longest it did not ask.
struct Asked {
    last: (Instant, ProcessTime),
    longest: [f64; 2],
    /// When it was told to stop, by processor time.
    told: Option<ProcessTime>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!(
        "| call | told to stop | wait for the answer, s | of processor time | between two questions, s | of processor time |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for LongCall { name, run } in long_calls(LARGE)? {
        if arguments.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let (mut stopped, mut wait, mut silence) = (0, [0.0_f64; 2], [0.0_f64; 2]);
        for &after in &arguments.after {
            let start = Instant::now();
            let until = start + Duration::try_from_secs_f64(after)?;
            let asked = Asked { last: (start, ProcessTime::now()), longest: [0.0; 2], told: None };
            let asked = Arc::new(Mutex::new(asked));
            let heard = Arc::clone(&asked);
            let control = Control::new().interrupted_by(move || {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let now = (Instant::now(), ProcessTime::now());
                let gap = since(heard.last, now);
                heard.longest = largest(heard.longest, gap);
                if now.0 >= until && heard.told.is_none() {
                    // What it did since it was asked last counts as waiting, too.
                    heard.told = Some(heard.last.1);
                }
                heard.last = now;
                now.0 >= until
            });
            match run(&control) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => other?,
            }
            let end = (Instant::now(), ProcessTime::now());
            let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            silence = largest(silence, largest(asked.longest, since(asked.last, end)));
            if end.0 > until {
                stopped += 1;
                let worked = end.1.duration_since(asked.told.unwrap_or(asked.last.1)).as_secs_f64();
                wait = largest(wait, [(end.0 - until).as_secs_f64(), worked]);
            }
        }
        let [clock, worked, gap, silent] = [wait[0], wait[1], silence[0], silence[1]];
        println!(
            "| {name} | {stopped} of {} | {clock:.3} | {worked:.3} | {gap:.3} | {silent:.3} |",
            arguments.after.len()
        );
    }
    Ok(())
}

fn since(from: (Instant, ProcessTime), to: (Instant, ProcessTime)) -> [f64; 2] {
    [(to.0 - from.0).as_secs_f64(), to.1.duration_since(from.1).as_secs_f64()]
}

fn largest(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}
