//! Watching a run: a line of progress, a time limit, and Ctrl-C, all through one [`Control`]; and how much the program says.
//!
//! On a terminal the line is drawn over itself. Elsewhere a line is written every ten seconds to standard error: a log stays short and still
//! shows that something happens.

use crate::files::visible;
use homolog::{Control, Report};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();
static LOUDNESS: AtomicU8 = AtomicU8::new(NORMAL);

const QUIET: u8 = 0;
const NORMAL: u8 = 1;
const VERBOSE: u8 = 2;

/// A line of progress is no longer than this.
const COLUMNS: usize = 80;
/// Without a terminal a line is written this often.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Nothing is said about the time that is left before so much is done, and so much time has passed.
const LEAST_SHARE: f64 = 0.02;
const LEAST_TIME: Duration = Duration::from_secs(1);

/// How much is said from here on.
pub(crate) fn set_loudness(quiet: bool, verbose: bool) {
    let loudness = match (quiet, verbose) {
        (true, _) => QUIET,
        (_, true) => VERBOSE,
        _ => NORMAL,
    };
    LOUDNESS.store(loudness, Ordering::SeqCst);
}

fn is_at_least(loudness: u8) -> bool {
    LOUDNESS.load(Ordering::SeqCst) >= loudness
}

/// Says something that a user should know, unless nothing is wanted.
pub(crate) fn note(message: &str) {
    say(&format!("note: {message}"));
}

/// Whether nothing but results is wanted.
pub(crate) fn is_quiet() -> bool {
    !is_at_least(NORMAL)
}

/// Whether every step is reported.
pub(crate) fn is_verbose() -> bool {
    is_at_least(VERBOSE)
}

/// Says something on standard error, unless nothing is wanted.
pub(crate) fn say(message: &str) {
    if is_at_least(NORMAL) {
        eprintln!("{}", visible(message));
    }
}

/// Says what is done along the way, if that is wanted.
pub(crate) fn detail(message: &str) {
    if is_at_least(VERBOSE) {
        eprintln!("{}", visible(message));
    }
}

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
#[derive(Clone)]
pub(crate) struct Watch {
    bar: ProgressBar,
    start: Instant,
    limit: Option<Duration>,
    /// What was said last.
    last: Arc<Mutex<Last>>,
    /// Where in the whole run this part begins, and how much of it it is.
    part: (f64, f64),
}

/// What was said last.
struct Last {
    when: Instant,
    stage: String,
    /// How much was done then: it never falls.
    share: f64,
}

impl Watch {
    /// With a limit, if given.
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        catch_ctrl_c();
        let bar = if is_at_least(NORMAL) { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        let start = Instant::now();
        let last = Last { when: start, stage: String::new(), share: 0.0 };
        Self { bar, start, limit, last: Arc::new(Mutex::new(last)), part: (0.0, 1.0) }
    }

    /// The same for part `at` of `of` parts of the run.
    pub(crate) fn part(&self, at: usize, of: usize) -> Self {
        let (from, size) = self.part;
        let size = size / of.max(1) as f64;
        Self { part: (from + size * at as f64, size), ..self.clone() }
    }

    /// The same with a limit of its own, counted from now.
    pub(crate) fn limited(&self, limit: Option<Duration>) -> Self {
        Self { limit: limit.map(|limit| self.start.elapsed().saturating_add(limit)), ..self.clone() }
    }

    /// Whether time is up or Ctrl-C was pressed.
    pub(crate) fn is_over(&self) -> bool {
        stop_is_wanted() || self.limit.is_some_and(|limit| self.start.elapsed() >= limit)
    }

    /// Who ended the run early: "Ctrl-C" or "the time limit"; `None` if no one did.
    pub(crate) fn ended_by(&self) -> Option<&'static str> {
        match (stop_is_wanted(), self.is_over()) {
            (true, _) => Some("Ctrl-C"),
            (_, true) => Some("the time limit"),
            _ => None,
        }
    }

    /// What the library is given: it hears the time limit and Ctrl-C, and tells how far it is.
    pub(crate) fn control(&self, about: &str) -> Control {
        let (watch, other, about) = (self.clone(), self.clone(), about.to_string());
        let observe = move |report: &Report<'_>| watch.show(&about, report.stage, &words(report), report.share);
        Control::new().interrupted_by(move || other.is_over()).timed(self.limit.is_some()).observed_by(observe)
    }

    /// Hears the time limit and Ctrl-C, and tells nothing.
    pub(crate) fn stop_control(&self) -> Control {
        let (watch, is_timed) = (self.clone(), self.limit.is_some());
        Control::new().interrupted_by(move || watch.is_over()).timed(is_timed)
    }

    /// Says what is being done now.
    pub(crate) fn say(&self, message: String) {
        self.show("", &message, &message, Some(0.0));
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, about: &str, stage: &str, words: &str, share: Option<f64>) {
        let elapsed = self.start.elapsed();
        let Ok(mut last) = self.last.lock() else { return };
        let share = share.map_or(0.0, |share| self.part.0 + self.part.1 * share.clamp(0.0, 1.0));
        last.share = last.share.max(share);
        let share = last.share;
        let line = || line(&format!("{about}{words}"), elapsed, share, self.limit);
        let is_new = last.stage != format!("{about}{stage}");
        if is_new {
            last.stage = format!("{about}{stage}");
        }
        if is_new && is_at_least(VERBOSE) {
            self.bar.suspend(|| detail(&line()));
            last.when = Instant::now();
        } else if self.bar.is_hidden() {
            if last.when.elapsed() >= BETWEEN_LINES {
                last.when = Instant::now();
                say(&line());
            }
        } else {
            self.bar.set_message(visible(&line()));
            self.bar.tick();
        }
    }
}

/// What is being done, how long it has taken, how much of it is done and about how long the rest will take, in one line.
fn line(words: &str, elapsed: Duration, share: f64, limit: Option<Duration>) -> String {
    let share = Some(share).filter(|share| (LEAST_SHARE..1.0).contains(share) && elapsed >= LEAST_TIME);
    let left = share.map(|share| elapsed.mul_f64((1.0 - share) / share));
    let until = limit.map(|limit| limit.saturating_sub(elapsed));
    let left = match (left, until) {
        (Some(left), Some(until)) => Some(left.min(until)),
        (left, until) => left.or(until),
    };
    let done = share.map_or(String::new(), |share| format!("{:.0} %, ", 100.0 * share));
    let left = left.map_or(String::new(), |left| format!(" ({done}about {} left)", duration(left)));
    let start = format!("{:>6}  ", duration(elapsed));
    // The spinner and the space after it take two columns.
    let room = COLUMNS.saturating_sub(2 + start.chars().count() + left.chars().count());
    let words: String = if words.chars().count() > room {
        words.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    } else {
        words.to_string()
    };
    format!("{start}{words}{left}")
}

/// A length of time as people say it.
fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h", (seconds + 1800) / 3600),
    }
}

fn words(report: &Report<'_>) -> String {
    let Report { stage, done, total, value, bound, .. } = report;
    let count = match total {
        Some(total) => format!("{done} of {total}"),
        None => format!("step {done}"),
    };
    let to_gain = value.zip(*bound).filter(|(value, bound)| *value > 0.0 && value >= bound);
    let to_gain = to_gain.map(|(value, bound)| 100.0 * ((value - bound) / value).min(1.0));
    let to_gain = to_gain.map_or(String::new(), |percent| format!(", may still improve by {percent:.1} %"));
    format!("{stage}: {count}{to_gain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_much_is_done_and_how_long_the_rest_takes_within_80_columns() {
        let seconds = Duration::from_secs;
        assert_eq!(
            line("matching pairs: 25 of 100", seconds(10), 0.25, None),
            "  10 s  matching pairs: 25 of 100 (25 %, about 30 s left)"
        );
        // A time limit is the end whatever is left to do.
        assert_eq!(line("learning", seconds(50), 0.1, Some(seconds(60))), "  50 s  learning (10 %, about 10 s left)");
        assert_eq!(line("learning", seconds(200), 0.0, None), " 3 min  learning");
        let long = line(&"x".repeat(300), seconds(10_000), 0.5, None);
        assert_eq!(long.chars().count() + 2, COLUMNS, "{long}");
        assert!(long.ends_with("… (50 %, about 3 h left)"), "{long}");
    }

    #[test]
    fn steps_of_learning_say_what_is_left_to_gain() {
        let report = Report::new("learning", 12, None).with_value(0.5, 0.4);
        assert_eq!(words(&report), "learning: step 12, may still improve by 20.0 %");
        assert_eq!(words(&Report::new("matching pairs", 3, Some(9))), "matching pairs: 3 of 9");
    }
}
