//! The labelling page's learner as a WebAssembly module without imports, for a page that no program serves.
//!
//! The page puts a request into the module's buffer and calls; the answer is then in the same buffer:
//!
//! ```text
//! at = reserve(length)          room for a request as `homolog::labelling::Session` reads it
//! length = call()               the answer is JSON: {"ok": ...} or {"error": "..."}
//! at = reserve(0)               where it is
//! ```
//!
//! The requests themselves are in the library.

use homolog::{Control, labelling::Session};
use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = RefCell::default();
}

/// No request is longer than this, in bytes: a picture of 16384 by 8192 pixels with room to spare.
const MOST_BYTES: usize = 256 << 20;

/// Makes room for a request of this many bytes and says where to write it; 0 asks where the answer is. A request that is
/// too long gets no room: the result is the null address.
#[expect(unsafe_code, reason = "a name for the page to call by; the function itself is safe")]
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        if length > MOST_BYTES {
            return std::ptr::null_mut();
        }
        if length > 0 {
            buffer.clear();
            buffer.resize(length, 0);
        }
        buffer.as_mut_ptr()
    })
}

/// Answers the request in the buffer, overwriting it. Returns the length of the answer in bytes.
#[expect(unsafe_code, reason = "a name for the page to call by; the function itself is safe")]
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let request = BUFFER.with_borrow_mut(std::mem::take);
    let answer = SESSION.with_borrow_mut(|session| session.answer(&request, &Control::new())).into_bytes();
    let length = answer.len();
    BUFFER.with_borrow_mut(|buffer| *buffer = answer);
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_room_for_too_much() {
        assert!(reserve(MOST_BYTES + 1).is_null());
        assert!(!reserve(8).is_null());
        // Eight zeros are an empty JSON text: an error, not a panic.
        assert!(call() > 0);
    }
}
