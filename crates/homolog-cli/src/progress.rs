//! Watching a run: a line of progress on a terminal, a time limit, and Ctrl-C.

use crate::commands::short;
use homolog::optimize::Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

/// From here on the first Ctrl-C asks to stop and the second ends the program at once.
pub(crate) fn catch_ctrl_c() {
    HANDLER.get_or_init(|| {
        // Where there can be no handler Ctrl-C ends the program, as everywhere.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                #[expect(clippy::exit, reason = "asked for twice")]
                std::process::exit(130);
            }
        });
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn stop_is_wanted() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Shows steps of training and says when to stop.
pub(crate) struct Watch {
    bar: ProgressBar,
    until: Option<Instant>,
}

impl Watch {
    /// With a limit of so many seconds, if given; without a line of progress where that is not wanted or there is no terminal.
    pub(crate) fn new(time_limit: Option<Duration>, quiet: bool) -> Self {
        catch_ctrl_c();
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg}") {
            bar.set_style(style);
        }
        Self { bar, until: time_limit.and_then(|limit| Instant::now().checked_add(limit)) }
    }

    /// Whether time is up or Ctrl-C was pressed.
    pub(crate) fn is_over(&self) -> bool {
        stop_is_wanted() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    pub(crate) fn say(&self, message: String) {
        self.bar.set_message(message);
        self.bar.tick();
    }

    pub(crate) fn step(&self, about: &str, step: &Step) -> ControlFlow<()> {
        self.say(format!(
            "{about}λ {}, step {}: objective {:.5}, bound {:.5}, gap {:.2} %",
            short(step.lambda),
            step.iteration,
            step.objective,
            step.bound,
            100.0 * step.gap
        ));
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
