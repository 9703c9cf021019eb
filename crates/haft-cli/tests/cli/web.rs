//! `fetch` and `web_search` from the command line, with servers on the loopback: the settings decide which hosts they reach.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::{Place, said};

const CONFIG: &str = "home/.config/haft/config.toml";

/// Answers every request with this page; returns the port, and how many requests came.
fn server(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
    let port = listener.local_addr().expect("it is bound").port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            let mut request = Vec::new();
            let mut piece = [0; 1024];
            while !request.ends_with(b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(length @ 1..) => request.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, count)
}

const PAGE: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<title>Here</title><p>Some <b>text</b>.";

#[test]
fn a_host_of_this_machine_is_fetched_from_only_where_the_settings_name_it() {
    let (port, count) = server(PAGE);
    let place = Place::new();
    let url = format!("url=http://127.0.0.1:{port}/");
    let refused = place.haft(&["call", "--yes=all", "fetch", &url], "");
    assert_eq!(refused.code, 3, "{}{}", refused.out, refused.err);
    let all = format!("{}{}", refused.out, refused.err);
    assert!(all.contains("127.0.0.1 was not contacted") && all.contains("[network] allow = [\"127.0.0.1\"]"), "{all}");
    assert_eq!(count.load(Ordering::SeqCst), 0);

    place.put(CONFIG, "[network]\nallow = [\"127.0.0.1\"]\n");
    let shown = place.haft(&["call", "fetch", &url], "");
    assert_eq!((shown.code, count.load(Ordering::SeqCst)), (0, 1), "{}", shown.err);
    assert!(shown.out.contains("# Here\n\nSome **text**.\n[end: 3 lines]"), "{}", shown.out);
    let record: Value =
        serde_json::from_str(&place.haft(&["--json", "call", "fetch", &url], "").out).expect("a record");
    assert_eq!(record["bits"], serde_json::json!(["untrusted"]), "a granted host is not sent to: {record}");
    assert_eq!(
        (&record["network"][0]["host"], &record["network"][0]["outcome"]),
        (&"127.0.0.1".into(), &"reached".into())
    );
}

#[test]
fn a_redirect_to_a_host_that_is_not_granted_is_not_followed_where_no_one_can_be_asked() {
    let redirect = "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.invalid/x\r\ncontent-length: 0\r\n\r\n";
    let (port, _) = server(redirect);
    let place = Place::new();
    place.put(CONFIG, "[network]\nallow = [\"localhost\"]\n");
    let refused = place.haft(&["call", "--yes", "fetch", &format!("url=http://localhost:{port}/")], "");
    let all = format!("{}{}", refused.out, refused.err);
    assert_eq!(refused.code, 3, "{all}");
    assert!(all.contains("redirected to elsewhere.invalid, which was not contacted"), "{all}");
}

#[test]
fn a_search_goes_to_the_own_service_that_the_environment_names() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
                  {\"results\":[{\"title\":\"A guide\",\"url\":\"https://docs.example/\",\"content\":\"How.\"}]}";
    let (port, count) = server(answer);
    let place = Place::new();
    let mut command = place.command(&["call", "--yes=all", "web_search", "query=guide"]);
    command.env("SEARXNG_URL", format!("http://localhost:{port}"));
    let found = said(command, "");
    assert!(found.out.starts_with("1. A guide\n   https://docs.example/\n   How.\n"), "{}{}", found.out, found.err);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let none = place.haft(&["call", "--yes=all", "web_search", "query=guide"], "");
    let all = format!("{}{}", none.out, none.err);
    assert!(none.code == 1 && all.contains("BRAVE_API_KEY") && all.contains("SEARXNG_URL"), "{all}");
}

#[test]
fn a_model_is_not_shown_the_tools_of_the_web_until_a_setting_lists_them() {
    let place = Place::new();
    let names = |place: &Place| place.haft(&["tools"], "").out;
    assert!(!names(&place).contains("fetch") && place.haft(&["tools", "--all"], "").out.contains("fetch"));
    place.put(CONFIG, "[tools]\nshow = [\"fetch\"]\n");
    assert!(names(&place).contains("fetch"));
}
