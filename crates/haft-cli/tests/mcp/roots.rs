//! Whose workspace: the user's, unless the user lets the client name it.

use serde_json::{Value, json};

use crate::client::{Place, Server, text};

fn roots(server: &mut Server, roots: Value) {
    let asked = server.told("roots/list");
    server.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
}

fn other(place: &Place) -> String {
    std::fs::create_dir(place.path("other folder")).expect("it is new");
    place.put("other folder/here.txt", "here\n");
    format!("file://{}", place.path("other folder").to_string_lossy().replace(' ', "%20"))
}

#[test]
fn the_root_of_a_client_is_the_workspace_where_the_user_allows_it() {
    let place = Place::new();
    let uri = other(&place);
    let mut server = place.serve_behind(&["--roots"]);
    server.shake_hands("2025-11-25", json!({ "roots": {} }));
    let id = server.begin_call("list_dir", json!({}));
    roots(&mut server, json!([{ "uri": uri }]));
    let answer = server.answer(id);
    assert!(text(&answer["result"]).contains("here.txt"), "{answer}");
}

#[test]
fn it_is_not_even_asked_for_where_the_user_does_not() {
    let place = Place::new();
    let mut server = place.serve(&[]);
    server.shake_hands("2025-11-25", json!({ "roots": {} }));
    assert!(text(&server.call("list_dir", json!({}))).contains("src"));
    assert!(server.heard.is_empty(), "{:?}", server.heard);
    let (_, said) = server.end();
    assert_eq!(said.matches("--roots").count(), 1, "{said}");
}

#[test]
fn what_cannot_be_a_workspace_is_said_and_the_users_own_choice_holds() {
    let place = Place::new();
    let (one, two) = (other(&place), "file:///".to_owned());
    let odd = [
        json!([]),
        json!([{ "uri": one }, { "uri": two }]),
        json!([{ "uri": "https://example.com/" }]),
        json!([{ "uri": "file:///a/../b" }]),
        json!([{ "uri": "file:///no/such/folder" }]),
        json!("none"),
    ];
    for named in odd {
        let mut server = place.serve_behind(&["--roots"]);
        server.shake_hands("2025-11-25", json!({ "roots": {} }));
        let id = server.begin_call("list_dir", json!({}));
        roots(&mut server, named.clone());
        let answer = server.answer(id);
        assert!(text(&answer["result"]).contains("src"), "{named}: {answer}");
        let (_, said) = server.end();
        let is_said = said.contains("names no workspace") || said.contains("root is not used");
        assert!(is_said, "{named}: {said}");
    }
}

#[test]
fn a_client_without_roots_is_served_in_the_folder_of_the_command() {
    let place = Place::new();
    let mut server = place.serve_behind(&["--roots"]);
    server.shake_hands("2025-11-25", json!({}));
    assert!(text(&server.call("list_dir", json!({}))).contains("src"));
}
