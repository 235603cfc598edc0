//! A panic is a mistake of ours, or of a decoder that met a file it did not expect. No user sees a trace: it becomes an error.

use anyhow::{Result, anyhow};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

/// What the last panic said, and where.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From here on a panic prints nothing.
pub(crate) fn keep_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map(|place| format!(" ({}, line {})", place.file(), place.line())).unwrap_or_default();
        let payload = panic.payload();
        let word =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        if let Ok(mut last) = LAST.lock() {
            *last = Some(format!("{}{place}", word.unwrap_or("it did not say why")));
        }
    }));
}

/// Does the work; if it panics, that is an error.
pub(crate) fn contained<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let reason = LAST.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
        Err(anyhow!("{what}: {reason}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A malformed JPEG of 712 bytes made the decoder panic; whichever decoder does, it is an error.
    #[test]
    fn a_panic_is_an_error_that_says_where() {
        keep_quiet();
        let numbers: Vec<i32> = Vec::new();
        let error = contained("the decoder gave up", || Ok(numbers[7])).unwrap_err().to_string();
        assert!(
            error.starts_with("the decoder gave up: index out of bounds") && error.contains("panics.rs"),
            "{error}"
        );
        assert_eq!(contained("nothing", || Ok(1)).unwrap(), 1);
    }
}
