//! The server of `homolog label`, asked as a browser would and as an attacker would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server; killed at the end, never asked to stop.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(input: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_homolog"))
            .args(["label".as_ref(), input.as_os_str(), "--no-open".as_ref()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let rest = address.trim().strip_prefix("http://127.0.0.1:").expect("the address is printed first");
        let (port, token) = rest.split_once("/#").unwrap();
        Self { child, port: port.parse().unwrap(), token: token.to_string() }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Status and body of a request with just these headers.
    fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request = request + name + ": " + value + "\r\n";
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    /// A request of our own page.
    fn ask(&self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> (u16, String) {
        let (host, token) = (self.host(), format!("Bearer {}", self.token));
        let origin = format!("http://{host}");
        let mut headers = vec![("Host", host.as_str()), ("Origin", origin.as_str()), ("Authorization", token.as_str())];
        headers.extend_from_slice(more);
        self.raw(method, path, &headers, body)
    }

    fn append(&self, seen: usize, entry: &str) -> u16 {
        let seen = format!("\"{seen}\"");
        let headers = [("If-Match", seen.as_str()), ("Content-Type", "application/json")];
        self.ask("POST", "/api/journal", &headers, entry).0
    }
}

fn pictures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "b.jpg"] {
        std::fs::write(folder.path().join(name), format!("bytes of {name}")).unwrap();
    }
    std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    folder
}

#[test]
fn only_our_own_page_is_let_in() {
    let folder = pictures();
    let server = Server::start(folder.path());
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let (host, token) = (("Host", host.as_str()), ("Authorization", token.as_str()));
    let own = format!("http://{}", server.host());
    let own = ("Origin", own.as_str());

    let (status, page) = server.raw("GET", "/", &[host], "");
    assert_eq!(status, 200);
    assert!(page.contains("content-security-policy: default-src 'none'"), "{}", &page[..600.min(page.len())]);
    assert!(page.contains("frame-ancestors 'none'") && page.contains("x-content-type-options: nosniff"));
    assert!(!page.contains(&server.token), "the token is never served");

    assert_eq!(server.raw("GET", "/", &[("Host", "evil.example")], "").0, 403);
    assert_eq!(server.raw("GET", "/api/project", &[host], "").0, 403);
    assert_eq!(server.raw("GET", "/api/project", &[host, ("Authorization", "Bearer 0")], "").0, 403);
    assert_eq!(server.raw("GET", "/api/project", &[("Host", "localhost"), token], "").0, 403);
    assert_eq!(server.raw("GET", "/api/project", &[host, token, ("Origin", "http://evil.example")], "").0, 403);
    assert_eq!(server.raw("GET", "/api/project", &[host, token, own], "").0, 200);
    let json = [("Content-Type", "application/json"), ("If-Match", "\"0\"")];
    assert_eq!(server.raw("POST", "/api/journal", &[&[host, token][..], &json].concat(), "{}").0, 403);
    assert_eq!(server.raw("POST", "/api/journal", &[&[host, token, own][..], &json].concat(), "{}").0, 200);
}

#[test]
fn pictures_come_by_number_and_nothing_else_does() {
    let folder = pictures();
    let server = Server::start(folder.path());
    let (status, answer) = server.ask("GET", "/api/pictures/1", &[], "");
    assert_eq!(status, 200);
    assert!(answer.contains("content-type: image/jpeg") && answer.ends_with("bytes of b.jpg"));
    for path in [
        "/api/pictures/2",
        "/api/pictures/-1",
        "/api/pictures/a.png",
        "/api/pictures/../../secret.txt",
        "/api/pictures/..%2f..%2fsecret.txt",
        "/../secret.txt",
        "/secret.txt",
        "/api/files/data.json",
    ] {
        let (status, answer) = server.ask("GET", path, &[], "");
        assert!([404, 405].contains(&status), "{path}: {status}");
        assert!(!answer.contains("secret"), "{path}");
    }
    let headers = [("If-Match", "\"0\""), ("Content-Type", "application/json")];
    for name in ["../evil.csv", "..%2fevil.csv", "journal.jsonl", "evil.csv"] {
        let (status, _) = server.ask("PUT", &format!("/api/files/{name}"), &headers, r#"{"text":"x"}"#);
        assert_eq!(status, 404, "{name}");
    }
}

#[test]
fn entries_are_taken_one_after_the_other_as_json_and_not_too_long() {
    let folder = pictures();
    let server = Server::start(folder.path());
    assert_eq!(server.append(0, r#"{"id":"a"}"#), 200);
    assert_eq!(server.append(0, r#"{"id":"b"}"#), 412, "somebody who has not seen the first");
    assert_eq!(server.append(1, r#"{"id":"b"}"#), 200);
    assert_eq!(server.append(2, "[1]"), 400);
    assert_eq!(server.append(2, "{"), 400);
    let (status, _) = server.ask("POST", "/api/journal", &[("Content-Type", "application/json")], "{}");
    assert_eq!(status, 428, "no version");
    let text = [("If-Match", "\"2\""), ("Content-Type", "text/plain")];
    assert_eq!(server.ask("POST", "/api/journal", &text, "{}").0, 415);
    assert_eq!(server.append(2, &format!(r#"{{"id":"{}"}}"#, "x".repeat(2 << 20))), 413);
    let (_, journal) = server.ask("GET", "/api/journal", &[], "");
    assert!(
        journal.contains("etag: \"2\"") && journal.ends_with(r#"{"entries":[{"id":"a"},{"id":"b"}],"version":2}"#),
        "{journal}"
    );
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    let folder = pictures();
    let mut acknowledged = 0;
    for round in 0..3 {
        let server = Server::start(folder.path());
        let (_, journal) = server.ask("GET", "/api/journal", &[], "");
        assert!(journal.contains(&format!("etag: \"{acknowledged}\"")), "round {round}: {journal}");
        for _ in 0..20 {
            assert_eq!(server.append(acknowledged, &format!(r#"{{"id":"{acknowledged}"}}"#)), 200);
            acknowledged += 1;
        }
        // Dropped: killed without being asked.
    }
    let text = std::fs::read_to_string(folder.path().join("labels/journal.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1 + acknowledged);
}

#[test]
fn results_are_written_whole_and_a_second_program_is_refused() {
    let folder = pictures();
    let server = Server::start(folder.path());
    let put = |name: &str, seen: &str, text: &str| {
        let headers = [("If-Match", seen), ("Content-Type", "application/json")];
        server.ask("PUT", &format!("/api/files/{name}"), &headers, &format!(r#"{{"text":{text:?}}}"#)).0
    };
    assert_eq!(put("landmarks.csv", "\"0\"", "frame,landmark,x,y\n"), 200);
    assert_eq!(put("landmarks.csv", "\"1\"", "other"), 412);
    assert_eq!(put("data.json", "\"0\"", "{}"), 422, "what is not a data set is not called one");
    let labels = folder.path().join("labels");
    assert_eq!(std::fs::read_to_string(labels.join("landmarks.csv")).unwrap(), "frame,landmark,x,y\n");
    assert!(!labels.join("data.json").exists());
    let second = Command::new(env!("CARGO_BIN_EXE_homolog"))
        .args(["label".as_ref(), folder.path().as_os_str(), "--no-open".as_ref()])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("is open in another `homolog label`"));
}

/// Waits for a server that was asked to end; a minute is far more than it may take.
#[cfg(unix)]
fn ends_when_asked(mut server: Server, signal: &str) {
    let asked = Command::new("kill").args([signal, &server.child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let _ = sender.send(server.child.wait());
        // The server is gone; dropping its handle does no harm.
        drop(server);
    });
    assert!(receiver.recv_timeout(std::time::Duration::from_secs(60)).is_ok(), "{signal} is not heard");
    waiting.join().unwrap();
}

#[cfg(unix)]
#[test]
fn half_a_request_keeps_nobody_from_ending_it() {
    for signal in ["-INT", "-TERM"] {
        let folder = pictures();
        let server = Server::start(folder.path());
        let mut half = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        half.write_all(b"POST /api/journal HTTP/1.1\r\nHost: 127").unwrap();
        let mut body = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let head = format!(
            "POST /api/journal HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nAuthorization: Bearer {1}\r\nContent-Length: 100\r\n\r\n{{",
            server.host(),
            server.token
        );
        body.write_all(head.as_bytes()).unwrap();
        assert_eq!(server.ask("GET", "/api/project", &[], "").0, 200, "others are served meanwhile");
        ends_when_asked(server, signal);
    }
}

#[cfg(unix)]
#[test]
fn results_are_not_written_through_links() {
    let folder = pictures();
    let outside = folder.path().join("outside.json");
    std::fs::write(&outside, "mine").unwrap();
    let labels = folder.path().join("labels");
    std::fs::create_dir(&labels).unwrap();
    std::os::unix::fs::symlink(&outside, labels.join("model.json")).unwrap();
    let server = Server::start(folder.path());
    let headers = [("If-Match", "\"0\""), ("Content-Type", "application/json")];
    let (status, answer) = server.ask("PUT", "/api/files/model.json", &headers, r#"{"text":"theirs"}"#);
    assert_eq!(status, 422, "{answer}");
    assert!(answer.contains("symbolic link"), "{answer}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
    drop(server);
    std::fs::remove_file(labels.join("journal.jsonl")).unwrap();
    std::os::unix::fs::symlink(&outside, labels.join("journal.jsonl")).unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_homolog"))
        .args(["label".as_ref(), folder.path().as_os_str(), "--no-open".as_ref()])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("symbolic link"));
}

#[cfg(unix)]
#[test]
fn the_browser_is_opened_with_a_private_file_and_a_code_for_one_use() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, tools) = (pictures(), tempfile::tempdir().unwrap());
    // A browser that keeps what it was opened with.
    let browser = tools.path().join("xdg-open");
    let script = format!(
        "#!/bin/sh\nls -l \"$1\" > {0}/mode\ncat \"$1\" > {0}/new && mv {0}/new {0}/page\n",
        tools.path().display()
    );
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_homolog"))
        .args(["label".as_ref(), folder.path().as_os_str()])
        .env("PATH", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    let (port, token) = address.trim().strip_prefix("http://127.0.0.1:").unwrap().split_once("/#").unwrap();
    let server = Server { child, port: port.parse().unwrap(), token: token.to_string() };
    let page = loop {
        if let Ok(page) = std::fs::read_to_string(tools.path().join("page")) {
            break page;
        }
        std::thread::yield_now();
    };
    assert!(std::fs::read_to_string(tools.path().join("mode")).unwrap().starts_with("-rw-------"));
    let code = page.split_once("/#").unwrap().1.split_once('"').unwrap().0;
    assert!(!page.contains(&server.token), "{page}");
    let (host, origin) = (server.host(), format!("http://{}", server.host()));
    let ask = |origin: &str| server.raw("POST", "/api/session", &[("Host", host.as_str()), ("Origin", origin)], code);
    assert_eq!(ask("http://evil.example").0, 403, "another page has no use for it");
    let (status, answer) = ask(&origin);
    assert!(status == 200 && answer.contains(&server.token), "{answer}");
    assert_eq!(ask(&origin).0, 403, "once");
}

#[test]
fn the_learner_answers_our_own_page_alone() {
    let folder = pictures();
    let server = Server::start(folder.path());
    let request = |json: &str| {
        let length = u32::try_from(json.len()).unwrap().to_le_bytes();
        String::from_utf8([&length[..], json.as_bytes()].concat()).unwrap()
    };
    let version = request(r#"{"version":{}}"#);
    for lane in ["quick", "slow"] {
        let (status, answer) = server.ask("POST", &format!("/api/ask/{lane}"), &[], &version);
        assert_eq!(status, 200, "{answer}");
        assert!(answer.ends_with(&format!(r#"{{"ok":{{"version":"{}"}}}}"#, env!("CARGO_PKG_VERSION"))), "{answer}");
    }
    let (status, answer) = server.ask("POST", "/api/ask/quick", &[], &request(r#"{"fly":{}}"#));
    assert!(status == 200 && answer.contains(r#"{"error":"#), "{answer}");
    assert_eq!(server.ask("POST", "/api/ask/other", &[], &version).0, 404);
    let host = server.host();
    assert_eq!(server.raw("POST", "/api/ask/quick", &[("Host", host.as_str())], &version).0, 403);
}
