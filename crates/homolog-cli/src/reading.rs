//! What is read before the work begins: until a command catches Ctrl-C and SIGTERM they end the program at once, and here the time limit does too.
//! Nothing is written before everything is read, so nothing is lost.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A shorter time limit leaves so much to read: a limit of 0 asks for an answer without a search.
const LEAST: Duration = Duration::from_secs(1);

/// As long as it lives, the time limit ends the program.
pub(crate) struct Reading {
    /// Dropped with it, which ends the thread that waits.
    _done: Option<Sender<()>>,
}

impl Reading {
    /// With no limit it does nothing.
    pub(crate) fn within(limit: Option<Duration>) -> Self {
        let Some(limit) = limit else { return Self { _done: None } };
        let (done, is_done) = channel::<()>();
        std::thread::spawn(move || {
            if is_done.recv_timeout(limit.max(LEAST)) == Err(RecvTimeoutError::Timeout) {
                eprintln!(
                    "error: the time limit was over before everything was read\nhint: allow more with --time-limit"
                );
                #[expect(clippy::exit, reason = "readers are not asked, and nothing has been written")]
                std::process::exit(1);
            }
        });
        Self { _done: Some(done) }
    }
}
