//! What the page asks the learner: the library answers, on all cores and away from the server's thread.
//!
//! Two lanes, so that a suggestion need not wait until a model is learned. Each keeps a session of its own and answers one request at a
//! time; a page that hangs up stops the work on its request, and so does Ctrl-C.

use super::refuse;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as PathPart, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use homolog::{Control, labelling::Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

#[derive(Default)]
pub(super) struct Learner {
    quick: Arc<Mutex<Session>>,
    slow: Arc<Mutex<Session>>,
    stopped: Arc<AtomicBool>,
}

impl Learner {
    /// Ends what is under way.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

pub(super) fn routes(learner: Arc<Learner>) -> Router {
    Router::new().route("/api/ask/{lane}", post(answer)).with_state(learner)
}

/// Says stop when it is dropped: the server drops the answer of a page that has hung up.
struct Asked(Arc<AtomicBool>);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn answer(State(learner): State<Arc<Learner>>, PathPart(lane): PathPart<String>, request: Bytes) -> Response {
    let session = match lane.as_str() {
        "quick" => &learner.quick,
        "slow" => &learner.slow,
        _ => return refuse(StatusCode::NOT_FOUND, "there is no such lane"),
    };
    let asked = Asked(Arc::default());
    let (gone, stopped) = (Arc::clone(&asked.0), Arc::clone(&learner.stopped));
    let control =
        Control::new().interrupted_by(move || gone.load(Ordering::Relaxed) || stopped.load(Ordering::Relaxed));
    let mut session = Arc::clone(session).lock_owned().await;
    match spawn_blocking(move || session.answer(&request, &control)).await {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the learner failed; please report this"),
    }
}
