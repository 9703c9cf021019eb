//! Sessions that are listed, resumed, damaged, or in use elsewhere.

use std::io::Write;
use std::process::Stdio;

use haft_model::wire::Wire;
use haft_testkit::scratch_home::CapturedOutput;
use haft_testkit::scripted::scripted_model::{
    ConversationEntry as Spoken, Expect, ModelScript, ScriptedModel, ScriptedTurn,
};
use serde_json::json;

use crate::place::{Place, said};

fn ran(place: &Place, prompt: &str) {
    let look = ScriptedTurn::call("read_file", json!({ "path": "a.txt" }));
    let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("It has two lines.")]));
    let said = place.haft(&model, &["run", prompt]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn sessions_are_listed_newest_first_with_their_first_words() {
    let place = Place::new();
    let none = said(place.bare(&["sessions"]));
    assert_eq!((none.out.as_str(), none.code), ("", 0));
    assert!(none.err.contains("haft run"), "{}", none.err);
    ran(&place, "the\nfirst task");
    ran(&place, "the second task");
    let listed = said(place.bare(&["sessions"])).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].contains("the second task") && lines[1].contains("the first task"), "{listed}");
    assert!(lines[0].contains("2 steps, "), "{listed}");
    let sessions = place.sessions();
    assert_eq!((&sessions[0]["words"], &sessions[0]["steps"]), (&json!("the second task"), &json!(2)));
    assert!(said(place.bare(&["sessions", "-n", "1"])).err.contains("1 older"));
}

#[test]
fn a_session_goes_on_with_everything_that_was_said_whatever_the_form() {
    for wire in Wire::ALL {
        let place = Place::new();
        ran(&place, "how long is it?");
        let model = ScriptedModel::start(ModelScript::of([
            ScriptedTurn::text("Still two.").expect(Expect::user_says("and now?"))
        ]));
        let resumed = said(place.with(&model, wire, &["resume", "and now?"]));
        assert_eq!((resumed.out.as_str(), resumed.code), ("Still two.\n", 0), "{}", resumed.err);
        let requests = model.requests();
        let said = &requests[0].conversation.said;
        let kinds: Vec<&str> = said
            .iter()
            .map(|said| match said {
                Spoken::User(_) => "user",
                Spoken::Model(..) => "model",
                Spoken::Results(_) => "tools",
            })
            .collect();
        assert_eq!(kinds, ["user", "model", "tools", "model", "user"], "{said:?}");
        assert_eq!(place.sessions()[0]["steps"], 3);
    }
}

#[test]
fn a_session_is_found_by_its_name_and_a_message_may_come_from_stdin() {
    let place = Place::new();
    ran(&place, "the first matter");
    let id = place.sessions()[0]["id"].as_str().expect("it has a name").to_owned();
    ran(&place, "the other matter");
    let model =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.").expect(Expect::user_says("from a pipe"))]));
    let mut child =
        place.with(&model, Wire::Chat, &["resume", &id]).stdin(Stdio::piped()).spawn().expect("it can be started");
    child.stdin.take().expect("it is piped").write_all(b"from a pipe\n").expect("it reads");
    let resumed = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert_eq!((resumed.out.as_str(), resumed.code), ("Yes.\n", 0), "{}", resumed.err);
    assert!(model.requests()[0].text.contains("first matter") && !model.requests()[0].text.contains("other matter"));
    assert_eq!(place.sessions()[0]["id"], id.as_str());

    let missing = said(place.bare(&["resume", "0000-0000", "x"]));
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no session 0000-0000"), "{}", missing.err);
    let nothing = said(Place::new().bare(&["resume", "go on"]));
    assert_eq!((nothing.code, nothing.err.contains("there is no session in this workspace yet")), (2, true));
}

#[test]
fn the_model_of_the_session_is_used_again_and_its_key_is_not_kept() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]));
    assert_eq!(place.haft(&model, &["run", "x"]).code, 0);
    let resumed = said(place.bare(&["resume", "and y"]));
    assert_eq!((resumed.out.as_str(), resumed.code), ("Two.\n", 0), "{}", resumed.err);
    assert_eq!(model.requests()[1].header("authorization"), None);
    assert_eq!(model.requests()[1].model(), ScriptedModel::NAME);
}

#[test]
fn two_cannot_be_at_work_in_one_session() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Held.").held()]));
    let mut child = place.with(&model, Wire::Chat, &["run", "x"]).spawn().expect("it can be started");
    model.wait_until_asked(1);
    let busy = place.haft(&model, &["resume", "and y"]);
    assert_eq!(busy.code, 2);
    assert!(busy.err.contains("is in use by another haft"), "{}", busy.err);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

#[test]
fn a_torn_or_damaged_session_says_so_and_goes_on() {
    let place = Place::new();
    ran(&place, "how long is it?");
    let file = place.session_file();
    let whole = std::fs::read(&file).expect("it is there");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    for (bytes, words) in [(&whole[..whole.len() - 7], "is incomplete"), (&damaged, "so its content is lost")] {
        std::fs::write(&file, bytes).expect("it is ours");
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Here.")]));
        let resumed = place.haft(&model, &["resume", "go on"]);
        assert_eq!((resumed.out.as_str(), resumed.code), ("Here.\n", 0), "{}", resumed.err);
        assert!(resumed.err.contains(words), "{}", resumed.err);
        let asked = &model.requests()[0].text;
        assert_eq!(asked.contains("a part of this conversation is lost"), bytes.len() == whole.len(), "{asked}");
    }
}

#[test]
fn undo_of_the_session_takes_back_what_all_of_its_processes_did() {
    let place = Place::new();
    let write = |name: &str| ScriptedTurn::call("write_file", json!({ "path": name, "content": "new\n" }));
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), write("c.txt"), ScriptedTurn::text("Done.")]));
    assert_eq!(place.haft(&model, &["run", "--yes", "--max-steps", "1", "write"]).code, 1);
    assert_eq!(said(place.bare(&["call", "--yes", "write_file", "path=d.txt", "content=mine"])).code, 0);
    assert_eq!(place.haft(&model, &["resume", "--yes", "go on"]).code, 0);
    let undone = said(place.bare(&["undo", "--session"]));
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(!place.has("b.txt") && !place.has("c.txt") && place.has("d.txt"), "{}", undone.out);
}

#[test]
fn a_name_that_is_nearly_that_of_a_session_is_no_message_to_another() {
    let place = Place::new();
    ran(&place, "the first matter");
    let id = place.sessions()[0]["id"].as_str().expect("it has a name").to_ascii_uppercase();
    let model =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.").expect(Expect::user_says("and now?"))]));
    let resumed = place.haft(&model, &["resume", &id, "and now?"]);
    assert_eq!((resumed.out.as_str(), resumed.code), ("Yes.\n", 0), "{}", resumed.err);
    assert!(!model.requests()[0].text.contains(&id), "{}", model.requests()[0].text);
    let refused = place.haft(&model, &["resume", "k3f9-l2ox", "delete it all"]);
    assert_eq!(
        (refused.code, refused.err.contains("is neither the ID nor the name of a session")),
        (2, true),
        "{}",
        refused.err
    );
}

#[test]
fn a_word_is_a_session_or_an_error_and_a_beginning_that_no_other_has_is_enough() {
    let place = Place::new();
    ran(&place, "the first matter");
    let file = place.session_file();
    let ending = file.extension().expect("it has one").to_owned();
    for name in ["k3f9-q2bx", "k3f9-zzzz", "w000-0000"] {
        std::fs::copy(&file, file.with_file_name(name).with_extension(&ending)).expect("it can be copied");
    }
    std::fs::remove_file(&file).expect("it is ours");
    let before = place.sessions();
    for word in ["proceed", "go-on", "ok!", "k3f9-l2ox", "k3f9-q2bxx"] {
        let refused = said(place.bare(&["resume", word]));
        assert_eq!(refused.code, 2, "{word}: {}", refused.err);
        assert!(
            refused.err.contains(&format!("\"{word}\" is neither the ID nor the name of a session")),
            "{}",
            refused.err
        );
        assert!(refused.err.contains("haft sessions"), "{}", refused.err);
    }
    let several = said(place.bare(&["resume", "k3", "go on"]));
    assert_eq!(several.code, 2, "{}", several.err);
    assert!(several.err.contains("k3f9-q2bx") && several.err.contains("k3f9-zzzz"), "{}", several.err);
    assert!(!several.err.contains("w000-0000"), "{}", several.err);
    assert_eq!(place.sessions(), before);

    for beginning in ["w", "K3F9-Q", "k3f9-zzzz"] {
        let model =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.").expect(Expect::user_says("and now?"))]));
        let resumed = place.haft(&model, &["resume", beginning, "and now?"]);
        assert_eq!((resumed.out.as_str(), resumed.code), ("Yes.\n", 0), "{}", resumed.err);
        let used = place.sessions()[0]["id"].as_str().unwrap_or_default().to_owned();
        assert!(used.starts_with(&beginning.to_ascii_lowercase()), "{used}");
    }
}
