//! Long calls: the work runs on its own threads while the calling thread, without the GIL, waits. Every 50 ms it lets Python check
//! for Ctrl-C and hears how far the work is; all Python code runs on the calling thread.
//!
//! After Ctrl-C the work is told to stop and has a moment to answer with its best so far; work that does not answer is left to end by itself.

use crate::errors::raise;
use homolog::{Control, Report};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);
/// How long to wait for work that was told to stop.
const GRACE: Duration = Duration::from_millis(120);

/// The result of long work.
pub(crate) struct Outcome<T> {
    pub(crate) value: T,
    /// Ctrl-C was pressed (or the callback raised something): the value is the best so far.
    pub(crate) interrupted: Option<PyErr>,
}

impl<T> Outcome<T> {
    /// The value, if the work was not interrupted.
    pub(crate) fn whole(self) -> PyResult<T> {
        self.interrupted.map_or(Ok(self.value), Err)
    }
}

/// How far the work is, kept until the calling thread asks.
struct Said {
    stage: String,
    done: usize,
    total: Option<usize>,
    value: Option<f64>,
    bound: Option<f64>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    latest: Mutex<Option<Said>>,
}

/// Runs work on `jobs` threads (all cores if `None`).
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    jobs: Option<usize>,
    work: impl FnOnce(&Control) -> homolog::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_observed(py, jobs, None, false, work)?.whole()
}

/// Runs work, reporting its progress to the callback; a callback that returns true ends the work with its best so far, as does Ctrl-C.
/// With `patient` it waits for that best however long it takes, until Ctrl-C is pressed again.
pub(crate) fn run_observed<T: Send + 'static>(
    py: Python<'_>,
    jobs: Option<usize>,
    callback: Option<&Bound<'_, PyAny>>,
    patient: bool,
    work: impl FnOnce(&Control) -> homolog::Result<T> + Send + 'static,
) -> PyResult<Outcome<T>> {
    let shared = Arc::new(Shared::default());
    let control = control(&shared, callback.is_some());
    let (sender, receiver) = channel();
    let pool = pool(jobs)?;
    pool.spawn(move || {
        let answer = catch_unwind(AssertUnwindSafe(|| work(&control)));
        // Nobody is waiting if the caller was interrupted long ago.
        let _ = sender.send(answer);
    });
    let receiver = Mutex::new(receiver);
    let mut interrupted: Option<PyErr> = None;
    let mut stopped_at = None;
    loop {
        let answer = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
        match answer {
            Ok(Ok(Ok(value))) => return Ok(Outcome { value, interrupted }),
            Ok(Ok(Err(error))) => return Err(interrupted.unwrap_or_else(|| raise(py, &error))),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(bug()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.is_some() {
            py.check_signals()?;
        } else {
            match py.check_signals().and_then(|()| tell(py, &shared, callback)) {
                Ok(wants_to_stop) => {
                    if wants_to_stop {
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(error) => {
                    shared.stop.store(true, Ordering::Relaxed);
                    stopped_at = Some(Instant::now());
                    interrupted = Some(error);
                }
            }
        }
        if !patient && stopped_at.is_some_and(|at| at.elapsed() > GRACE) {
            // The next call must not wait behind work that nobody waits for.
            forget(&pool);
            return Err(interrupted.unwrap_or_else(bug));
        }
    }
}

/// Runs work that borrows from the caller and listens to its control, on one other thread; `None` if Ctrl-C stopped it.
pub(crate) fn run_borrowed<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Control) -> homolog::Result<T> + Send,
) -> PyResult<homolog::Result<T>> {
    let shared = Arc::new(Shared::default());
    let control = control(&shared, false);
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let answer = catch_unwind(AssertUnwindSafe(|| work(&control)));
            let _ = sender.send(answer);
        });
        let mut interrupted = None;
        loop {
            let answer = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
            match (answer, interrupted.take()) {
                (Ok(_), Some(error)) => return Err(error),
                (Ok(Ok(answer)), None) => return Ok(answer),
                (Ok(Err(_)) | Err(RecvTimeoutError::Disconnected), _) => return Err(bug()),
                (Err(RecvTimeoutError::Timeout), before) => interrupted = before,
            }
            if interrupted.is_none()
                && let Err(error) = py.check_signals()
            {
                shared.stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }
    })
}

fn control(shared: &Arc<Shared>, observed: bool) -> Control {
    let stop = Arc::clone(shared);
    let control = Control::new().interrupted_by(move || stop.stop.load(Ordering::Relaxed));
    if !observed {
        return control;
    }
    let latest = Arc::clone(shared);
    control.observed_by(move |report: &Report<'_>| {
        let said = Said {
            stage: report.stage.to_string(),
            done: report.done,
            total: report.total,
            value: report.value,
            bound: report.bound,
        };
        *latest.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    })
}

/// Tells the callback the latest progress; whether it wants the work to stop.
fn tell(py: Python<'_>, shared: &Shared, callback: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    let latest = shared.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Some(said), Some(callback)) = (latest, callback) else { return Ok(false) };
    let report = PyDict::new(py);
    report.set_item("stage", said.stage)?;
    report.set_item("done", said.done)?;
    report.set_item("total", said.total)?;
    report.set_item("objective", said.value)?;
    report.set_item("bound", said.bound)?;
    callback.call1((report,))?.is_truthy()
}

fn bug() -> PyErr {
    PyRuntimeError::new_err("homolog panicked, which is a bug: please report it with what you called")
}

type Pools = Vec<(u32, usize, Arc<ThreadPool>)>;
static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
/// Pools of different sizes that are kept; of more, the oldest ends.
const MOST_POOLS: usize = 4;

/// Threads that outlive a call. A forked process has none of its parent's threads, so it creates its own.
pub(crate) fn pool(jobs: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let count = jobs.unwrap_or(0);
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, pool)) = pools.iter().find(|(owner, threads, _)| (*owner, *threads) == (process, count)) {
        return Ok(Arc::clone(pool));
    }
    let built = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("homolog {number}")).build();
    let pool = Arc::new(built.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?);
    if pools.len() >= MOST_POOLS {
        pools.remove(0);
    }
    pools.push((process, count, Arc::clone(&pool)));
    Ok(pool)
}

/// Leaves a pool to the work that still occupies it; its threads end with that work.
fn forget(pool: &Arc<ThreadPool>) {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, _, kept)| !Arc::ptr_eq(kept, pool));
}
