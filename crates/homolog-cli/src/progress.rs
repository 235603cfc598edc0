//! Watching a run: a line of progress on a terminal, a time limit, and Ctrl-C, all through one [`Control`].

use homolog::{Control, Report};
use indicatif::{ProgressBar, ProgressStyle};
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

/// Shows how far a run is and says when to stop.
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
        is_over(self.until)
    }

    /// What the library is given: it hears the time limit and Ctrl-C, and tells how far it is.
    pub(crate) fn control(&self, about: &str) -> Control {
        let (bar, until, about) = (self.bar.clone(), self.until, about.to_string());
        let observe = move |report: &Report<'_>| {
            bar.set_message(format!("{about}{}", words(report)));
            bar.tick();
        };
        Control::new().interrupted_by(move || is_over(until)).observed_by(observe)
    }

    pub(crate) fn say(&self, message: String) {
        self.bar.set_message(message);
        self.bar.tick();
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn is_over(until: Option<Instant>) -> bool {
    stop_is_wanted() || until.is_some_and(|until| Instant::now() >= until)
}

fn words(report: &Report<'_>) -> String {
    let Report { stage, done, total, value, bound, .. } = report;
    let total = total.map_or(String::new(), |total| format!(" of {total}"));
    let numbers = value.zip(*bound).map(|(value, bound)| format!(": objective {value:.5}, bound {bound:.5}"));
    format!("{stage}, step {done}{total}{}", numbers.unwrap_or_default())
}
