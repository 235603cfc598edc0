//! Who may ask: only the page that this program served, in the browser of the person who started it.
//!
//! * The server listens on 127.0.0.1 alone, and answers only to exactly that name and port: a foreign name that leads here (DNS
//!   rebinding) is refused.
//! * A request that says which page it comes from must come from ours; one that changes something must say it.
//! * The programming interface takes a token that is drawn at every start. The page gets it from the fragment of the address, which no
//!   browser sends anywhere, or for a code that is good for one use: that is what the browser is opened with, as other users can see the
//!   arguments of a program, and a browser keeps addresses.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the body of a request may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(60);

/// What a code for one use begins with, so that the page can tell it from the token.
pub(super) const ONCE: &str = "once-";
/// Where a code is exchanged for the token.
const SESSION: &str = "/api/session";

/// What a request must bring.
pub(super) struct Guard {
    host: String,
    origin: String,
    authorization: String,
    /// The token, and the code for it until it is used.
    token: String,
    code: Mutex<Option<String>>,
    policy: HeaderValue,
}

/// Draws a token: 128 random bits.
pub(super) fn draw_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("cannot draw a token: {error}"))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

impl Guard {
    pub(super) fn new(port: u16, token: &str, code: &str, policy: HeaderValue) -> Self {
        let host = format!("127.0.0.1:{port}");
        let (origin, authorization) = (format!("http://{host}"), format!("Bearer {token}"));
        Self { host, origin, authorization, token: token.to_string(), code: Mutex::new(Some(code.to_string())), policy }
    }

    /// The token for the code, once.
    fn redeem(&self, code: &[u8]) -> Option<&str> {
        let mut kept = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take_if(|kept| same(kept.as_bytes(), code)).map(|_| self.token.as_str())
    }

    /// Why a request is refused; `None`: it is let in.
    fn refuses(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<&'static str> {
        let only = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            (values.next().map(HeaderValue::as_bytes), values.next().is_some())
        };
        if only(header::HOST) != (Some(self.host.as_bytes()), false) {
            return Some("this server answers to its own address only");
        }
        let changes = method != Method::GET && method != Method::HEAD;
        match only(header::ORIGIN) {
            (None, _) if !changes => {}
            (Some(origin), false) if origin == self.origin.as_bytes() => {}
            _ => return Some("this request comes from another page"),
        }
        let needs_token = path != "/" && path != SESSION;
        let (given, more) = only(header::AUTHORIZATION);
        if needs_token && (more || !same(given.unwrap_or_default(), self.authorization.as_bytes())) {
            return Some("the token is missing or wrong: open the address that `homolog label` printed");
        }
        None
    }
}

/// Answers the code with the token.
pub(super) async fn open_session(State(guard): State<Arc<Guard>>, code: axum::body::Bytes) -> Response {
    match guard.redeem(&code) {
        Some(token) => axum::Json(json!({ "token": token })).into_response(),
        None => (StatusCode::FORBIDDEN, "this address was used before: open the one that `homolog label` printed")
            .into_response(),
    }
}

/// Takes the same time wherever the first difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// Lets a request in or answers 403; every answer gets the headers that keep others out.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let refusal = guard.refuses(request.method(), request.uri().path(), request.headers());
    let mut response = match refusal {
        Some(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
        None => match whole(request).await {
            Ok(request) => next.run(request).await,
            Err(status) => status.into_response(),
        },
    };
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (header::CONTENT_SECURITY_POLICY, guard.policy.clone()),
    ];
    response.headers_mut().extend(fixed);
    response.map(Body::new)
}

/// The request once its body is here: no answer waits for half a body.
async fn whole(request: Request) -> Result<Request, StatusCode> {
    let (head, body) = request.into_parts();
    let bytes = tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, super::LARGEST_BODY)).await;
    let bytes = bytes.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(Request::from_parts(head, Body::from(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard::new(4000, "secret", "once-code", HeaderValue::from_static("default-src 'none'"))
    }

    #[test]
    fn a_code_is_good_once() {
        let guard = guard();
        assert_eq!(guard.redeem(b"once-other"), None);
        assert_eq!(guard.redeem(b"once-code"), Some("secret"));
        assert_eq!(guard.redeem(b"once-code"), None);
    }

    fn refused(method: &Method, path: &str, headers: &[(&str, &str)]) -> bool {
        let guard = guard();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        guard.refuses(method, path, &map).is_some()
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:4000");
    const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:4000");
    const TOKEN: (&str, &str) = ("authorization", "Bearer secret");

    #[test]
    fn our_own_page_is_let_in() {
        assert!(!refused(&Method::GET, "/", &[HOST]));
        assert!(!refused(&Method::GET, "/api/project", &[HOST, TOKEN]));
        assert!(!refused(&Method::POST, "/api/journal", &[HOST, ORIGIN, TOKEN]));
    }

    #[test]
    fn nobody_else_is() {
        for host in ["localhost:4000", "127.0.0.1", "127.0.0.1:4001", "evil.example", "127.0.0.1:4000.evil.example"] {
            assert!(refused(&Method::GET, "/", &[("host", host)]), "{host}");
        }
        assert!(refused(&Method::GET, "/", &[]), "no host");
        assert!(refused(&Method::GET, "/", &[HOST, HOST]), "two hosts");
        for origin in ["null", "http://evil.example", "http://localhost:4000", "https://127.0.0.1:4000"] {
            assert!(refused(&Method::GET, "/api/project", &[HOST, TOKEN, ("origin", origin)]), "{origin}");
        }
        assert!(refused(&Method::POST, "/api/journal", &[HOST, TOKEN]), "a change that says no origin");
        for token in ["", "Bearer ", "Bearer secre", "Bearer secrets", "secret", "Basic secret"] {
            assert!(refused(&Method::GET, "/api/project", &[HOST, ("authorization", token)]), "{token}");
        }
        assert!(refused(&Method::GET, "/api/project", &[HOST]), "no token");
        assert!(refused(&Method::GET, "/../etc/passwd", &[HOST]), "no token elsewhere either");
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (draw_token().unwrap(), draw_token().unwrap());
        assert!(a.len() == 32 && a != b);
    }
}
