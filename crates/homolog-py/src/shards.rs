//! Training from shards. The run is a thread that asks and waits; Python carries its questions to wherever they are answered.

use crate::errors::{plain, raise};
use crate::run;
use crate::train::Trained;
use homolog::data::shards::{Manifest, answer};
use homolog::learn::shards::Worker;
use homolog::learn::{Checkpoint, NoKeeper};
use homolog::task::FromShards;
use homolog::{Control, Error, Report};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What a run says: orders to carry, each with the name of its file, or how it ended.
enum Said {
    Orders(Vec<(String, String)>),
    Ended(homolog::Result<Trained>),
}

/// The last report: stage, evaluations, objective and bound.
type Latest = Arc<Mutex<Option<(String, usize, Option<f64>, Option<f64>)>>>;

/// A run of training that asks its shards step by step.
#[pyclass(frozen, module = "homolog._core")]
pub(crate) struct ShardRun {
    said: Mutex<Receiver<Said>>,
    replies: Mutex<Sender<Vec<String>>>,
    stop: Arc<AtomicBool>,
    latest: Latest,
    trained: Mutex<Option<Trained>>,
}

#[pymethods]
impl ShardRun {
    /// Starts a run on the shards of a manifest.
    #[new]
    #[pyo3(signature = (manifest, settings))]
    fn new(py: Python<'_>, manifest: &str, settings: &str) -> PyResult<Self> {
        let manifest = Manifest::from_json(manifest).map_err(|error| raise(py, &error))?;
        let settings = crate::train::settings(py, settings)?;
        let task = FromShards::new(manifest, settings).map_err(|error| raise(py, &error))?;
        let ((say, said), (reply, replies)) = (channel(), channel());
        let (stop, latest) = (Arc::new(AtomicBool::new(false)), Latest::default());
        let (stopped, told) = (Arc::clone(&stop), Arc::clone(&latest));
        let control = Control::new().interrupted_by(move || stopped.load(Ordering::Relaxed)).observed_by(
            move |report: &Report<'_>| {
                let report = (report.stage.to_string(), report.done, report.value, report.bound);
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            },
        );
        std::thread::spawn(move || {
            let ended = work(&task, &control, &say, &replies);
            // Nobody is listening if the caller gave up.
            let _ = say.send(Said::Ended(ended));
        });
        Ok(Self { said: Mutex::new(said), replies: Mutex::new(reply), stop, latest, trained: Mutex::new(None) })
    }

    /// What to answer next: the name of a shard's file and the order for it, for each; `None` if the run has ended.
    fn ask(&self, py: Python<'_>) -> PyResult<Option<Vec<(String, String)>>> {
        let said = py.detach(|| self.said.lock().unwrap_or_else(PoisonError::into_inner).recv());
        match said {
            Ok(Said::Orders(orders)) => Ok(Some(orders)),
            Ok(Said::Ended(Ok(trained))) => {
                *self.trained.lock().unwrap_or_else(PoisonError::into_inner) = Some(trained);
                Ok(None)
            }
            Ok(Said::Ended(Err(error))) => Err(raise(py, &error)),
            Err(_) => Err(plain(py, "the run has ended already, or it panicked, which is a bug: please report it")),
        }
    }

    /// The replies to what was asked, in the same order.
    fn tell(&self, py: Python<'_>, replies: Vec<String>) -> PyResult<()> {
        let sender = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        sender.send(replies).map_err(|_| plain(py, "nothing was asked"))
    }

    /// From here on the run ends with the best so far at its next question.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the run is, if there is news.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((stage, done, objective, bound)) = latest else { return Ok(None) };
        let report = PyDict::new(py);
        report.set_item("stage", stage)?;
        report.set_item("done", done)?;
        report.set_item("total", None::<usize>)?;
        report.set_item("objective", objective)?;
        report.set_item("bound", bound)?;
        Ok(Some(report))
    }

    /// The result of a run that has ended.
    fn result(&self, py: Python<'_>) -> PyResult<Trained> {
        let trained = self.trained.lock().unwrap_or_else(PoisonError::into_inner).take();
        trained.ok_or_else(|| plain(py, "the run has not ended"))
    }
}

fn work(
    task: &FromShards,
    control: &Control,
    say: &Sender<Said>,
    replies: &Receiver<Vec<String>>,
) -> homolog::Result<Trained> {
    let mut carry = |orders: &[(String, String)]| {
        // If nobody is listening there is nothing left to do.
        say.send(Said::Orders(orders.to_vec())).map_err(|_| Error::Interrupted)?;
        let replies = replies.recv().map_err(|_| Error::Interrupted)?;
        if control.interrupted() { Err(Error::Interrupted) } else { Ok(replies) }
    };
    Trained::of(&task.run(&mut Checkpoint::default(), &mut carry, control, &mut NoKeeper)?)
}

/// The reply to an order, from the files in a folder. Examples and what searches remember stay in this process for the next order, up
/// to this many bytes.
#[pyfunction]
#[pyo3(signature = (folder, order, most_bytes, jobs))]
pub(crate) fn answer_order(
    py: Python<'_>,
    folder: PathBuf,
    order: &str,
    most_bytes: usize,
    jobs: Option<usize>,
) -> PyResult<String> {
    type Workers = Vec<(PathBuf, usize, Arc<Mutex<Worker>>)>;
    static WORKERS: Mutex<Workers> = Mutex::new(Vec::new());
    let order = order.to_string();
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = workers.iter().position(|(place, most, _)| *place == folder && *most == most_bytes);
    let at = known.unwrap_or_else(|| {
        // One folder at a time: what is held for another would add to the limit.
        *workers = vec![(folder.clone(), most_bytes, Arc::new(Mutex::new(Worker::new(most_bytes))))];
        0
    });
    let worker = Arc::clone(&workers[at].2);
    drop(workers);
    run::run(py, jobs, move |control| {
        let mut worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = |file: &str| {
            let path = Path::new(&folder).join(file);
            std::fs::read(&path).map_err(|error| {
                let reason = format!("cannot read {}: {error}", path.display());
                Error::Shard { file: file.to_string(), reason }
            })
        };
        answer(&mut worker, &order, &mut read, control)
    })
}

/// Splits a data set: its labelled pairs into this many files to learn from, and a manifest. Returns names and texts.
#[pyfunction]
pub(crate) fn cut(py: Python<'_>, data: &crate::data::DataSet, count: usize) -> PyResult<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut write = |name: &str, text: &str| {
        files.push((name.to_string(), text.to_string()));
        Ok(())
    };
    let manifest = Manifest::cut(&data.inner, count, &mut write).and_then(|manifest| manifest.to_json());
    let manifest = manifest.map_err(|error| raise(py, &error))?;
    files.push((homolog::data::shards::MANIFEST.to_string(), manifest));
    Ok(files)
}
