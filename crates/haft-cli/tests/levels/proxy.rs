//! Without a network namespace, commands reach hosts by a proxy, with the same grants and records, and nothing else.

use std::net::TcpListener;

use haft_testkit::require::Need;
use haft_testkit::seccomp_filter::CallFilter;
use serde_json::{Value, json};

use super::workplace::Workplace;

const CONFIG: &str = "[sandbox]\nrequired = \"partial\"\n[network]\nallow = [\"granted.invalid\"]\n";

/// A workplace in a container whose kernel can keep commands from ports.
#[track_caller]
fn place() -> Option<Workplace> {
    let place = Workplace::new(CallFilter::container_default());
    place.home.put("config/haft/config.toml", CONFIG);
    let is_there = place.doctor("network").contains("through a proxy");
    Need::Partial.met(is_there).then_some(place)
}

fn record(place: &Workplace, flags: &[&str], script: &str) -> Value {
    let arguments = json!({ "command": script }).to_string();
    let said = place.haft(&[flags, &["--json", "call", "bash", &arguments]].concat());
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("one record: {}{}", said.out, said.err))
}

/// What bash alone can say to a proxy.
fn asks_proxy(host: &str) -> String {
    format!(
        "p=${{HTTP_PROXY#*@}}; c=${{HTTP_PROXY#http://}}; c=$(printf %s ${{c%@*}} | base64 -w0); \
         exec 3<>/dev/tcp/${{p%:*}}/${{p#*:}}; \
         printf 'GET http://{host}/ HTTP/1.1\\r\\nHost: {host}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' $c >&3; cat <&3"
    )
}

#[test]
fn a_granted_host_is_tried_and_recorded_and_another_one_is_refused() {
    let Some(place) = place() else { return };
    let tried = record(&place, &["--yes=all"], &asks_proxy("granted.invalid"));
    let reached = &tried["network"][0];
    // There is no such machine: it was allowed.
    assert_eq!(
        (&reached["host"], &reached["port"], &reached["outcome"]),
        (&json!("granted.invalid"), &json!(80), &json!("failed")),
        "{tried}"
    );
    assert!(tried["content"].as_str().is_some_and(|text| text.contains("502 Bad Gateway")), "{tried}");
    assert!(tried["content"].as_str().is_some_and(|text| text.contains("reach hosts only by a proxy")), "{tried}");

    // No person is there to ask.
    let refused = record(&place, &["--yes"], &format!("cat a.txt; {}", asks_proxy("other.invalid")));
    assert!(
        refused["network"].as_array().is_none_or(|hosts| hosts.iter().all(|host| host["outcome"] == "refused")),
        "{refused}"
    );
}

#[test]
fn past_the_proxy_there_is_no_way() {
    let Some(place) = place() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let script = format!(
        "(echo x > /dev/tcp/127.0.0.1/{port}) && echo REACHED; (echo x > /dev/udp/127.0.0.1/{port}) && echo REACHED; true"
    );
    let tried = record(&place, &["--yes=all"], &script);
    let said = tried["content"].as_str().unwrap_or_default();
    assert!(!said.contains("REACHED") && said.contains("Permission denied"), "{tried}");
    listener.set_nonblocking(true).expect("it is a socket");
    assert!(listener.accept().is_err(), "nobody came");
}
