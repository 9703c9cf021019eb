//! Tools that are bound to a request, against a real server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::{Place, check, put};

/// A server that answers by the path, and keeps what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(stream, port, &kept));
            }
        });
        Self { port, asked }
    }

    /// Returns everything that was asked so far: the first lines, headers and bodies.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody broke").clone()
    }
}

fn serve(stream: TcpStream, port: u16, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    asked.lock().ok()?.push(format!("{head}{}", String::from_utf8_lossy(&body)));
    let path = head.split(' ').nth(1)?.split('?').next()?.to_owned();
    let (status, more, answer) = match path.as_str() {
        "/json" => ("200 OK", "Content-Type: application/json\r\n".to_owned(), r#"{"n": 3}"#.to_owned()),
        "/gone" => ("404 Not Found", String::new(), "no such thing".to_owned()),
        "/busy" => ("429 Too Many Requests", "Retry-After: 7\r\n".to_owned(), String::new()),
        "/away" => ("302 Found", "Location: http://elsewhere.example/x?key=1\r\n".to_owned(), String::new()),
        "/near" => ("302 Found", format!("Location: http://127.0.0.1:{port}/json\r\n"), String::new()),
        "/round" => ("302 Found", "Location: /round\r\n".to_owned(), String::new()),
        "/huge" => ("200 OK", String::new(), "x".repeat(9_000_000)),
        "/bytes" => ("200 OK", "Content-Type: image/png\r\n".to_owned(), "a\0b".to_owned()),
        "/never" => return reader.read_line(&mut head).ok().map(|_| ()),
        _ => ("200 OK", "Content-Type: text/plain\r\n".to_owned(), "fine".to_owned()),
    };
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{answer}", answer.len())
        .ok()
}

/// A place with a tool of the user's own that is bound to this request.
fn with_tool(server: &Server, http: &str, more: &str) -> Place {
    let place = Place::new();
    let http = http.replace("HERE", &format!("http://127.0.0.1:{}", server.port));
    let schema = "input_schema:\n  type: object\n  properties:\n    id: {type: string, description: Which.}\n    tags: {type: array, items: {type: string}, description: Tags.}\n    n: {type: integer, description: How many., default: 2}\n    key: {type: string, description: The key.}\n";
    let definition = format!("name: ask\ndescription: Asks.\nbinding:\n  http: {http}\n{more}\n{schema}");
    put(&place, "../home/.config/haft/tools/ask.yaml", &definition);
    place
}

fn call(place: &Place, arguments: Value) -> Value {
    let said = place.haft(&["--yes=all", "--json", "call", "ask", &arguments.to_string()], "");
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
}

#[test]
fn json_is_data_and_text_is_text() {
    let server = Server::start();
    let record = call(&with_tool(&server, "{url: HERE/json}", ""), json!({}));
    assert_eq!(
        (&record["status"], &record["data"], &record["did"]),
        (&json!("ok"), &json!({ "n": 3 }), &json!("nothing"))
    );
    let record = call(&with_tool(&server, "{url: 'HERE/text'}", ""), json!({}));
    assert_eq!((&record["content"], record.get("data")), (&json!("fine"), None));
    let record = call(&with_tool(&server, "{url: 'HERE/bytes'}", ""), json!({}));
    assert_eq!(record["content"], "(image/png, 3 bytes, which are not text)");
    let promised =
        call(&with_tool(&server, "{url: 'HERE/json'}", "output_schema: {properties: {n: {type: string}}}"), json!({}));
    assert_eq!(promised["status"], "failed");
}

#[test]
fn arguments_stay_in_their_places() {
    let server = Server::start();
    let http = "{url: 'HERE/items/{id}/x?fixed=a%20b', query: {tag: '{tags}', n: '{n}', gone: '{key}'}, headers: {X-Id: 'id {n}'}}";
    let place = with_tool(&server, http, "");
    call(&place, json!({ "id": "a/b?c=d#e f%2F..", "tags": ["x&y", "ü"] }));
    let asked = server.asked().pop().expect("it was asked");
    let first = "GET /items/a%2Fb%3Fc%3Dd%23e%20f%252F../x?fixed=a%20b&tag=x%26y&tag=%C3%BC&n=2 HTTP/1.1\r\n";
    assert!(asked.starts_with(first), "{asked}");
    assert!(asked.contains("\r\nx-id: id 2\r\n"), "{asked}");
    for step in ["..", ".", ""] {
        let refused = call(&place, json!({ "id": step }));
        assert_eq!(refused["error"]["kind"], "bad_arguments", "{refused}");
    }
    assert_eq!(server.asked().len(), 1, "nothing else was sent");
}

#[test]
fn a_header_never_becomes_two() {
    let server = Server::start();
    let place = with_tool(&server, "{url: HERE/, headers: {X-Key: '{key}'}}", "");
    let refused = call(&place, json!({ "key": "a\r\nX-Evil: 1" }));
    assert_eq!((&refused["error"]["kind"], &refused["did"]), (&json!("bad_arguments"), &json!("nothing")), "{refused}");
    assert!(server.asked().is_empty());
}

#[test]
fn a_body_is_filled_value_by_value_and_what_it_did_there_is_not_known() {
    let server = Server::start();
    let place = with_tool(
        &server,
        "{method: post, url: HERE/, body: {id: '{id}', n: '{n}', words: 'got {id}', list: ['{tags}'], key: '{key}'}}",
        "",
    );
    let record = call(&place, json!({ "id": "a\"b", "tags": ["x"] }));
    assert_eq!((&record["status"], &record["did"]), (&json!("ok"), &json!("unknown")), "{record}");
    let asked = server.asked().pop().expect("it was asked");
    assert!(
        asked.starts_with("POST / HTTP/1.1\r\n") && asked.contains("content-type: application/json\r\n"),
        "{asked}"
    );
    assert!(asked.ends_with(r#"{"id":"a\"b","n":2,"words":"got a\"b","list":[["x"]]}"#), "{asked}");
}

#[test]
fn a_status_of_an_error_is_an_error_with_advice() {
    let server = Server::start();
    let gone = call(&with_tool(&server, "{url: HERE/gone}", ""), json!({}));
    assert_eq!(gone["error"]["what"], "127.0.0.1 answered with status 404 (not found): no such thing.");
    assert_eq!(gone["error"]["next"], "check the names in the call; the server has nothing there");
    let busy = call(&with_tool(&server, "{url: HERE/busy}", ""), json!({}));
    assert_eq!(busy["error"]["next"], "try again once, later (after 7 s)");
}

#[test]
fn redirects_stay_on_the_host() {
    let server = Server::start();
    let away = call(&with_tool(&server, "{url: HERE/away}", ""), json!({}));
    let what = away["error"]["what"].as_str().unwrap_or_default();
    assert_eq!(
        what,
        "127.0.0.1 answered with status 302 and redirects to elsewhere.example, which haft does not follow."
    );
    assert_eq!(call(&with_tool(&server, "{url: HERE/near}", ""), json!({}))["data"], json!({ "n": 3 }));
    assert_eq!(call(&with_tool(&server, "{url: HERE/round}", ""), json!({}))["status"], "failed");
}

#[test]
fn an_answer_is_bounded_in_size_and_time() {
    let server = Server::start();
    let huge = call(&with_tool(&server, "{url: HERE/huge}", ""), json!({}));
    let content = huge["content"].as_str().unwrap_or_default();
    assert!(huge["status"] == "ok" && content.len() < 40_000, "{}", content.len());
    let never = call(&with_tool(&server, "{url: HERE/never}", "timeout: 0.3"), json!({}));
    assert_eq!(
        (&never["status"], &never["error"]["what"]),
        (&json!("timed_out"), &json!("127.0.0.1 did not answer within 0.3 s."))
    );
}

#[test]
fn a_request_is_asked_about_by_its_host_and_rules_decide() {
    let server = Server::start();
    let place = with_tool(&server, "{url: HERE/json}", "");
    let said = place.haft(&["--json", "call", "ask", "{}"], "");
    let refused: Value = serde_json::from_str(&said.out).expect("one record");
    assert_eq!((&refused["error"]["kind"], said.code), (&json!("needs_approval"), 3), "{refused}");
    let denied = place.haft(&["--plan", "--yes=all", "--json", "call", "ask", "{}"], "");
    assert_eq!(denied.code, 3, "{}", denied.out);
    put(
        &place,
        "../home/.config/haft/rules.toml",
        "[[rule]]\nname = \"ours\"\ndecision = \"allow\"\nhost = \"127.0.0.1\"\n",
    );
    let allowed = place.haft(&["--json", "call", "ask", "{}"], "");
    assert_eq!((allowed.code, server.asked().len()), (0, 1), "{}{}", allowed.out, allowed.err);
}

#[test]
fn a_key_of_the_environment_is_sent_and_never_shown() {
    let server = Server::start();
    let place = with_tool(&server, "{url: 'HERE/items/{id}', headers: {Authorization: 'Bearer {key}'}}", "");
    let list = "tools:\n  - name: ask\n    yaml_path: tools/ask.yaml\n    extra_kwargs: {key: '${env.DEPLOY_TOKEN}'}\n";
    put(&place, "../home/.config/haft/tools.yaml", list);
    let record = call(&place, json!({ "id": "1" }));
    assert_eq!(record["status"], "ok", "{record}");
    assert!(server.asked()[0].contains("\r\nauthorization: Bearer correct-horse-battery\r\n"), "{:?}", server.asked());
    assert!(!record.to_string().contains("correct-horse") && !place.haft(&["tools", "ask"], "").out.contains("key"));
    assert!(!super::holds(&place.path("home/.local"), "correct-horse-battery"));
}

#[test]
fn a_name_that_leads_into_ones_own_network_is_not_asked() {
    let server = Server::start();
    let here = call(&with_tool(&server, &format!("{{url: 'http://localhost:{}/json'}}", server.port), ""), json!({}));
    assert_eq!(here["data"], json!({ "n": 3 }), "{here}");
    // The machine's own name leads to this machine, by its file of names, and was not named as such.
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default().trim().to_lowercase();
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let is_known = name.starts_with(char::is_alphabetic) && hosts.split_whitespace().any(|word| word == name);
    if !Need::HostName.met(is_known) {
        return;
    }
    let own = call(&with_tool(&server, &format!("{{url: 'http://{name}:{}/json'}}", server.port), ""), json!({}));
    assert_eq!((&own["status"], &own["error"]["rule"]), (&json!("refused"), &json!("net:private")), "{own}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_check_sends_nothing_and_a_trial_sends_the_examples_once() {
    let server = Server::start();
    let place = with_tool(&server, "{url: 'HERE/items/{id}'}", "examples: [{arguments: {id: a}, contains: fine}]");
    let file = place.path("home/.config/haft/tools/ask.yaml").display().to_string();
    assert_eq!((place.haft(&["check", &file], "").code, server.asked().len()), (0, 0));
    let said = place.haft(&["check", "--run", &file], "");
    assert_eq!((said.code, server.asked().len()), (0, 1), "{}{}", said.out, said.err);
}

#[test]
fn what_is_wrong_with_a_request_is_told_with_the_fix() {
    let place = Place::new();
    let told = |http: &str| {
        put(
            &place,
            "t.yaml",
            &format!(
                "name: t\ndescription: d\nbinding:\n  http: {http}\ninput_schema: {{properties: {{id: {{type: string, description: i}}}}}}\n"
            ),
        );
        check(&place, "t.yaml").0
    };
    assert_eq!(told("{url: 'https://api.example.com/{id}'}"), "");
    assert!(told("{url: 'https://{id}.example.com/'}").contains("the host cannot contain an argument"));
    assert!(told("{url: 'https://a.example:{id}/'}").contains("the host cannot contain an argument"));
    assert!(told("{url: 'https://u:p@a.example/'}").contains("is not a host"));
    assert!(
        told("{url: 'http://0x7f.1/'}").contains("is not a host")
            && told("{url: 'http://127.1/'}").contains("is not a host")
    );
    assert!(told("{url: 'ftp://a.example/'}").contains("does not begin with https:// or http://"));
    assert!(
        told("{url: 'https://a.example/{idd}'}").contains("{idd} is not an argument of the tool; did you mean {id}?")
    );
    assert!(told("{url: 'https://a.example/', headers: {Host: b}}").contains("\"Host\" belongs to the connection"));
    assert!(told("{url: 'https://a.example/', headers: {'a b': c}}").contains("cannot be the name of a header"));
    assert!(told("{url: 'https://a.example/', headers: {A: '${env.KEY}'}}").contains("tools.yaml (extra_kwargs)"));
    assert!(told("{url: 'https://a.example/', body: x}").contains("a request that only reads has no \"body\""));
    assert!(told("{url: 'https://a.example/', method: FETCH}").contains("write one of GET, HEAD, POST"));
    assert!(told("{url: 'https://a.example/', metod: GET}").contains("did you mean \"method\"?"));
    assert!(told("{method: GET}").contains("\"http\" has no \"url\"") && told("[]").contains("but it is a map"));
}
