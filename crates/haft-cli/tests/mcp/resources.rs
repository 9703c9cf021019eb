//! What can be read besides files: the log, and outputs that were too long to show.

use serde_json::{Value, json};

use crate::client::{Place, code, record, text};

#[test]
fn a_long_output_is_bounded_and_can_be_read_whole() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let result = server.call("bash", json!({ "command": "seq 1 30000" }));
    assert!(text(&result).len() < 40_000, "{}", text(&result).len());
    let uri = record(&result)["spill"].as_str().expect("it is kept").to_owned();
    let list = server.request("resources/list", json!({}));
    let listed = list["result"]["resources"].as_array().expect("a list");
    assert!(listed.iter().any(|resource| resource["uri"] == uri), "{list}");
    assert_eq!(listed[0]["uri"], "haft://log");
    let mut page = uri.clone();
    let (mut lines, mut pages) = (Vec::new(), 0);
    loop {
        let answer = server.request("resources/read", json!({ "uri": page }));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        pages += 1;
        assert!(text.len() < 300_000 && pages < 100, "it is bounded");
        let (body, more) = match text.trim_end().rsplit_once("[more at ") {
            Some((body, next)) => (body.to_owned(), Some(next.trim_end_matches(']').to_owned())),
            None => (text.clone(), None),
        };
        lines.extend(body.lines().map(str::to_owned));
        match more {
            Some(next) => page = next,
            None => break,
        }
    }
    assert!(
        lines.iter().any(|line| line == "15000") && lines.iter().any(|line| line == "30000"),
        "{} lines",
        lines.len()
    );
    assert!(pages > 1);
    let templates = server.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "haft://spill/{id}{?line}");
    // The same through the tool, as the result says.
    let id = uri.rsplit('/').next().expect("an id");
    let read = server.call("read_file", json!({ "path": format!("spill:{id}"), "offset": 15_000, "limit": 1 }));
    assert!(text(&read).contains("15000"), "{read}");
}

#[test]
fn what_is_not_there_is_an_error_in_every_form() {
    let place = Place::new();
    place.put("secret", "secret");
    let mut server = place.shaken(&[], json!({}));
    for uri in [
        "",
        "haft://",
        "haft://log/",
        "haft://spill/",
        "haft://spill/0123",
        "haft://spill/../../secret",
        "haft://spill/0?line=0",
        "haft://spill/0?line=x",
        "haft://spill/0?line=99999999999999999999",
        "haft://spill/0?other=1",
        "file:///etc/passwd",
    ] {
        assert_eq!(code(&server.request("resources/read", json!({ "uri": uri }))), -32602, "{uri}");
    }
    assert_eq!(code(&server.request("resources/read", json!({}))), -32602);
}

#[test]
fn the_user_s_own_commands_are_prompts_with_their_arguments() {
    let place = Place::new();
    place.put(
        "config/haft/commands/fix.md",
        "---\ndescription: Fixes an issue\nargument-hint: [number]\n---\nFix issue $1.\n",
    );
    place.put("config/haft/commands/git/commit.md", "Write a commit.\n");
    for mut server in [place.shaken(&[], json!({})), place.modern(&[], json!({}))] {
        let list = server.request("prompts/list", json!({}));
        let names: Vec<&Value> =
            list["result"]["prompts"].as_array().expect("a list").iter().map(|prompt| &prompt["name"]).collect();
        assert_eq!(names, ["fix", "git:commit"], "{list}");
        assert_eq!(list["result"]["prompts"][0]["arguments"][0]["description"], "[number]", "{list}");
        let got = server.request("prompts/get", json!({ "name": "fix", "arguments": { "arguments": "47" } }));
        let message = &got["result"]["messages"][0];
        assert_eq!((&message["role"], &message["content"]["text"]), (&json!("user"), &json!("Fix issue 47.")), "{got}");
        let unknown = server.request("prompts/get", json!({ "name": "fxi" }));
        assert_eq!(code(&unknown), -32602, "{unknown}");
        assert!(unknown["error"]["message"].as_str().is_some_and(|words| words.contains("did you mean \"fix\"?")));
    }
    let mut server = place.serve(&[]);
    let answer = server.shake_hands("2025-11-25", json!({}));
    assert_eq!(answer["result"]["capabilities"]["prompts"], json!({}), "{answer}");
}
