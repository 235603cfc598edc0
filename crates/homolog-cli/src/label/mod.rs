//! The server behind `homolog label`: serves the page, hands out the project and its pictures, keeps the journal, writes the results,
//! and passes what the page asks the learner on to the library (`learner.rs`). It knows nothing of labels or matching itself.
//!
//! ```text
//! GET  /                     the page
//! POST /api/session          the token, for a one-time code
//! GET  /api/project          title, specimens, the data set that was there before
//! GET  /api/journal          all entries; ETag: their number
//! POST /api/journal          one more entry; If-Match: the number the page has seen; 412 if it is not the newest
//! GET  /api/pictures/NUMBER  the picture of a specimen
//! POST /api/ask/LANE         a request to the learner, quick or slow; a lane answers one at a time, until the page hangs up
//! PUT  /api/files/NAME       {"text": ...} into a file of the project, whole or not at all; If-Match as above
//! ```

mod guard;
mod journal;
mod learner;
mod project;

use anyhow::{Context, Result};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path as PathPart, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router, middleware};
use guard::Guard;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use journal::{Journal, LONGEST_ENTRY, Refusal};
use learner::Learner;
use project::Project;
use serde::Deserialize;
use serde_json::{Value, json};
use std::future::Future;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The page as `page/build` made it: script and style in one file.
const PAGE: &str = include_str!("page.html");
/// What the page sends to be kept or answered, at most, in bytes: a picture of 16384 by 8192 pixels with room to spare.
const LARGEST_BODY: usize = 256 << 20;
/// Connections at the same time; a browser opens six.
const MOST_CONNECTIONS: usize = 64;
/// How long the head of a request may take to arrive, ...
const HEAD_TIME: Duration = Duration::from_secs(10);
/// ... and how long requests that have arrived may take once the server is told to end.
const ENDING_TIME: Duration = Duration::from_millis(300);
/// The results that may be written.
const FILES: [&str; 5] = ["data.json", "landmarks.csv", "landmarks.tps", "matches.csv", "model.json"];

/// A server that is ready to be asked.
pub(crate) struct Server {
    listener: TcpListener,
    router: Router,
    learner: Arc<Learner>,
    /// Where the page is, with the token.
    pub(crate) address: String,
    /// The same with a code that is good for one use.
    once: String,
    /// Where journal and results go.
    pub(crate) labels: std::path::PathBuf,
    /// How many specimens there are.
    pub(crate) specimens: usize,
}

struct Desk {
    project: Project,
    journal: Mutex<Journal>,
}

impl Desk {
    fn journal(&self) -> MutexGuard<'_, Journal> {
        // Nothing that holds the lock leaves the journal half changed.
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Opens a project and a port; 0: any that is free.
    pub(crate) async fn open(path: &Path, labels: Option<&Path>, port: u16) -> Result<Self> {
        let project = Project::open(path, labels)?;
        let journal = Journal::open(&project.labels.join("journal.jsonl"))?;
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = listener.await.with_context(|| format!("cannot listen on port {port} of 127.0.0.1"))?;
        let port = listener.local_addr()?.port();
        let (token, code) = (guard::draw_token()?, format!("{}{}", guard::ONCE, guard::draw_token()?));
        let guard = Arc::new(Guard::new(port, &token, &code, policy()?));
        let (labels, specimens) = (project.labels.clone(), project.specimens.len());
        let desk = Arc::new(Desk { project, journal: Mutex::new(journal) });
        let learner = Arc::new(Learner::default());
        let router = Router::new()
            .route("/", get(async || ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE)))
            .route("/api/session", post(guard::open_session).with_state(Arc::clone(&guard)))
            .route("/api/project", get(send_project))
            .route("/api/journal", get(send_journal))
            .route("/api/journal", post(append).layer(DefaultBodyLimit::max(LONGEST_ENTRY)))
            .route("/api/pictures/{number}", get(send_picture))
            .route("/api/files/{name}", put(write_file).layer(DefaultBodyLimit::max(LARGEST_BODY)))
            .with_state(desk)
            .merge(learner::routes(Arc::clone(&learner)).layer(DefaultBodyLimit::max(LARGEST_BODY)))
            .layer(middleware::from_fn_with_state(guard, guard::check));
        let place = format!("http://127.0.0.1:{port}/#");
        let address = format!("{place}{token}");
        let once = format!("{place}{code}");
        Ok(Self { listener, router, learner, address, once, labels, specimens })
    }

    /// A file for a browser to open, which only this user can read: it leads to the page. The token itself would be seen in the list of
    /// processes and in the browser's history; the code in this file is good for one use. The file is gone when it is dropped.
    pub(crate) fn door(&self) -> Result<NamedTempFile> {
        let mut file = tempfile::Builder::new().prefix(".open-").suffix(".html").tempfile_in(&self.labels)?;
        let address = &self.once;
        write!(
            file,
            "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>Homolog</title>"
        )?;
        file.flush()?;
        Ok(file)
    }

    /// Answers until `end`, and then no longer than what has arrived takes.
    pub(crate) async fn run(self, end: impl Future<Output = ()>) {
        let open = Arc::new(GracefulShutdown::new());
        let accepting = tokio::spawn(accept(self.listener, self.router, Arc::clone(&open)));
        end.await;
        self.learner.stop();
        accepting.abort();
        let _ = accepting.await;
        // Whoever holds half a request is not waited for.
        if let Some(open) = Arc::into_inner(open) {
            let _ = tokio::time::timeout(ENDING_TIME, open.shutdown()).await;
        }
    }
}

async fn accept(listener: TcpListener, router: Router, open: Arc<GracefulShutdown>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, say: others may be closed soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let mut settings = http1::Builder::new();
        settings.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
        let service = TowerToHyperService::new(router.clone());
        let connection = open.watcher().watch(settings.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A connection that breaks off concerns no one else.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// The page says itself what it may load, by digest; the same is in the header, which nothing can precede.
fn policy() -> Result<HeaderValue> {
    let start = "http-equiv=\"Content-Security-Policy\" content=\"";
    let policy = PAGE.split_once(start).and_then(|(_, rest)| rest.split_once('"')).map(|(policy, _)| policy);
    let policy = policy.context("the page was built without a policy")?;
    Ok(HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"))?)
}

async fn send_project(State(desk): State<Arc<Desk>>) -> Response {
    let Project { title, specimens, data, labels, .. } = &desk.project;
    let files = labels.display().to_string();
    Json(json!({ "title": title, "specimens": specimens, "data": data, "files": files })).into_response()
}

async fn send_journal(State(desk): State<Arc<Desk>>) -> Response {
    let journal = desk.journal();
    let version = journal.version();
    (tag(version), Json(json!({ "version": version, "entries": journal.entries() }))).into_response()
}

async fn append(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Response {
    let (seen, entry) = match (seen(&headers), json_of::<Value>(&headers, &body)) {
        (Err((status, reason)), _) | (_, Err((status, reason))) => return refuse(status, &reason),
        (Ok(seen), Ok(entry)) => (seen, entry),
    };
    if !entry.is_object() {
        return refuse(StatusCode::BAD_REQUEST, "an entry is a JSON object");
    }
    let mut journal = desk.journal();
    match journal.append(seen, entry) {
        Ok(version) => (tag(version), Json(json!({ "version": version }))).into_response(),
        Err(Refusal::Conflict) => conflict(journal.version()),
        Err(Refusal::Failed(reason)) => refuse(StatusCode::INSUFFICIENT_STORAGE, &reason),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    text: String,
}

async fn write_file(
    State(desk): State<Arc<Desk>>,
    PathPart(name): PathPart<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !FILES.contains(&name.as_str()) {
        return refuse(StatusCode::NOT_FOUND, "there is no such file");
    }
    let (seen, file) = match (seen(&headers), json_of::<FileText>(&headers, &body)) {
        (Err((status, reason)), _) | (_, Err((status, reason))) => return refuse(status, &reason),
        (Ok(seen), Ok(file)) => (seen, file),
    };
    // Held while writing: no one changes the labels that this file is made of in between.
    let journal = desk.journal();
    if seen != journal.version() {
        return conflict(journal.version());
    }
    match desk.project.write(&name, &file.text) {
        Ok(path) => Json(json!({ "path": path.display().to_string() })).into_response(),
        Err(project::Unwritten::Refused(reason)) => refuse(StatusCode::UNPROCESSABLE_ENTITY, &reason),
        Err(project::Unwritten::Failed(reason)) => refuse(StatusCode::INSUFFICIENT_STORAGE, &reason),
    }
}

async fn send_picture(State(desk): State<Arc<Desk>>, PathPart(number): PathPart<String>) -> Response {
    let picture = number.parse().ok().map(|number| desk.project.picture(number));
    match picture {
        None | Some(Ok(None)) => refuse(StatusCode::NOT_FOUND, "there is no such picture"),
        Some(Ok(Some((kind, bytes)))) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        Some(Err(error)) => refuse(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:#}")),
    }
}

/// What is answered instead, and why.
type Refused = (StatusCode, String);

/// The version that the page has seen.
fn seen(headers: &HeaderMap) -> Result<usize, Refused> {
    let text = headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    let number = text.and_then(|text| text.strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    let reason = || (StatusCode::PRECONDITION_REQUIRED, "If-Match must say which version was seen".to_string());
    number.ok_or_else(reason)
}

fn json_of<T: serde::de::DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Refused> {
    if headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) != Some(b"application/json") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "only application/json is taken".to_string()));
    }
    serde_json::from_slice(body).map_err(|error| (StatusCode::BAD_REQUEST, format!("not understood: {error}")))
}

fn tag(version: usize) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, format!("\"{version}\""))]
}

fn conflict(version: usize) -> Response {
    let answer = json!({ "error": "someone else changed this project in the meantime", "version": version });
    (StatusCode::PRECONDITION_FAILED, tag(version), Json(answer)).into_response()
}

fn refuse(status: StatusCode, reason: &str) -> Response {
    (status, Json(json!({ "error": reason }))).into_response()
}
