//! [`Control`]: how a caller steers a long call. The one way in for time limits, Ctrl-C and progress.
//!
//! The library has no clock and prints nothing. Through a `Control` the caller says when to stop and hears how far the work is;
//! every long call takes one and hands it to every workspace, so it reaches the innermost loop.
//!
//! ```
//! use homolog::Control;
//! use std::time::{Duration, Instant};
//!
//! let until = Instant::now() + Duration::from_secs(2);
//! let control = Control::new().interrupted_by(move || Instant::now() >= until);
//! assert!(!control.interrupted());
//! ```

use std::fmt;
use std::sync::Arc;

/// When to stop, and whom to tell how far the work is. Cheap to clone; the default never stops and tells no one.
#[derive(Clone, Default)]
pub struct Control {
    interrupt: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    observe: Option<Arc<Observe>>,
    timed: bool,
}

type Observe = dyn Fn(&Report<'_>) + Send + Sync;

/// How far a long call is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Report<'a> {
    /// What is being done, in words for a person.
    pub stage: &'a str,
    /// How much of it is done.
    pub done: usize,
    /// Out of how much, if that is known.
    pub total: Option<usize>,
    /// The best value so far, if there is one: the objective of training, the score of a matching.
    pub value: Option<f64>,
    /// What is proven about that value: the bound that it is compared with.
    pub bound: Option<f64>,
    /// How much of the whole call is done, from 0 to 1, if that is known: see [`Control::part`].
    pub share: Option<f64>,
}

impl<'a> Report<'a> {
    /// Reports `done` out of `total`.
    #[must_use]
    pub fn new(stage: &'a str, done: usize, total: Option<usize>) -> Self {
        let share = total.map(|total| done as f64 / total.max(1) as f64);
        Self { stage, done, total, value: None, bound: None, share }
    }

    /// The same with the best value so far and the bound it is compared with.
    #[must_use]
    pub fn with_value(self, value: f64, bound: f64) -> Self {
        Self { value: Some(value), bound: Some(bound), ..self }
    }
}

impl Control {
    /// Never stops, tells no one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, but also stopping once `interrupt` says yes. It is called often, from every thread: it should be cheap.
    #[must_use]
    pub fn interrupted_by(self, interrupt: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let before = self.interrupt;
        let both = move || before.as_ref().is_some_and(|before| before()) || interrupt();
        Self { interrupt: Some(Arc::new(both)), ..self }
    }

    /// The same, by a caller who has a time limit, or not. With one, solvers continue until they are interrupted; without, some end after about a
    /// second.
    #[must_use]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { timed: self.timed || is_timed, ..self }
    }

    /// Whether the caller has a time limit.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// The same, telling `observe` now and then how far the work is, from any thread.
    #[must_use]
    pub fn observed_by(self, observe: impl Fn(&Report<'_>) + Send + Sync + 'static) -> Self {
        Self { observe: Some(Arc::new(observe)), ..self }
    }

    /// The same for part `at` of `of` parts that take about equally long: what it reports is a share of that part.
    ///
    /// ```
    /// use homolog::{Control, Report};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let heard = Arc::new(Mutex::new(Vec::new()));
    /// let list = Arc::clone(&heard);
    /// let control = Control::new().observed_by(move |report| list.lock().unwrap().push(report.share));
    /// control.part(1, 4).report(&Report::new("sets", 1, Some(2)));
    /// control.part(3, 4).part(1, 2).report(&Report::new("steps", 7, None));
    /// assert_eq!(*heard.lock().unwrap(), [Some(0.375), Some(0.875)]);
    /// ```
    #[must_use]
    pub fn part(&self, at: usize, of: usize) -> Self {
        let Some(observe) = self.observe.clone() else { return self.clone() };
        let share = move |inner: Option<f64>| (at as f64 + inner.unwrap_or(0.0)) / of.max(1) as f64;
        self.clone().observed_by(move |report| observe(&Report { share: Some(share(report.share)), ..*report }))
    }

    /// Whether the caller wants the work to stop with the best answer so far.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt())
    }

    /// Tells the caller how far the work is.
    pub fn report(&self, report: &Report<'_>) {
        if let Some(observe) = &self.observe {
            observe(report);
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = formatter.debug_struct("Control");
        parts.field("interrupt", &self.interrupt.is_some()).field("observe", &self.observe.is_some());
        parts.field("timed", &self.timed).finish()
    }
}
