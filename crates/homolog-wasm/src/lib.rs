//! The learner behind the labelling page, as a WebAssembly module without imports.
//!
//! The page puts a request into the module's buffer and calls; the answer is then in the same buffer:
//!
//! ```text
//! at = reserve(length)          room for: length of the JSON (4 bytes, little-endian), the JSON, pixels where there are any
//! length = call()               the answer is JSON: {"ok": ...} or {"error": "..."}
//! at = reserve(0)               where it stands
//! ```
//!
//! Everything about matching is in the library; this crate only reads requests and writes answers (`requests.rs`).

mod requests;

use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
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
    let answer = answer_bytes(&request).into_bytes();
    let length = answer.len();
    BUFFER.with_borrow_mut(|buffer| *buffer = answer);
    length
}

/// Splits a request into its JSON and its pixels.
fn answer_bytes(request: &[u8]) -> String {
    let parts = request.split_first_chunk::<4>().and_then(|(length, rest)| {
        let (json, pixels) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((std::str::from_utf8(json).ok()?, pixels))
    });
    match parts {
        Some((json, pixels)) => answer(json, pixels),
        None => requests::failure("the request is cut off or is not UTF-8 text"),
    }
}

/// Answers one request; `pixels` are those of the picture that `detect` examines. Never panics, whatever it is given.
///
/// ```
/// let answer = homolog_wasm::answer(r#"{"op": "version"}"#, &[]);
/// assert_eq!(answer, format!(r#"{{"ok":{{"version":"{}"}}}}"#, env!("CARGO_PKG_VERSION")));
/// assert!(homolog_wasm::answer(r#"{"op": "fly"}"#, &[]).starts_with(r#"{"error":"#));
/// ```
#[must_use]
pub fn answer(json: &str, pixels: &[u8]) -> String {
    requests::answer(json, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_through_the_buffer() {
        let json = br#"{"op":"version"}"#;
        let mut request = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        request.extend_from_slice(json);
        assert!(answer_bytes(&request).starts_with(r#"{"ok":"#));
        for end in 0..request.len() {
            assert!(answer_bytes(&request[..end]).starts_with(r#"{"error":"#), "cut off at {end}");
        }
    }

    #[test]
    fn there_is_no_room_for_too_much() {
        assert!(reserve(MOST_BYTES + 1).is_null());
        assert!(!reserve(8).is_null());
        // Eight zeros are an empty JSON text: an error, not a panic.
        assert!(call() > 0);
    }
}
