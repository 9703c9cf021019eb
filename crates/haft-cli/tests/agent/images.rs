//! Images that a model is shown by its tools, through the command.

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, records};
use haft_testkit::scripted::scripted_model::{Expect, Fault, ModelScript, ScriptedModel, ScriptedTurn, StatusFault};
use serde_json::json;

use crate::place::{Place, said};

const CONFIG: &str = "home/.config/haft/config.toml";
const SEEN: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAA";

/// A place with a small image.
fn place() -> Place {
    let place = Place::new();
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0"[..], &[0; 27]].concat();
    std::fs::write(place.path("ws/logo.png"), png).expect("a file can be written");
    place
}

fn look() -> ScriptedTurn {
    ScriptedTurn::call("read_file", json!({ "path": "logo.png" }))
}

fn images(count: usize) -> Expect {
    Expect { images: Some(count), ..Expect::default() }
}

fn not_shown(why: &str) -> Expect {
    let words = format!("[1 image is not shown: {why}]");
    Expect { images: Some(0), tool_result_contains: vec![words], ..Expect::default() }
}

fn run(place: &Place, wire: Wire, model: &ScriptedModel) -> CapturedOutput {
    let said = said(place.with(model, wire, &["run", "--json", "what is on the logo?"]));
    assert_eq!(said.code, 0, "{wire:?}: {}{}", said.out, said.err);
    said
}

/// Refuses as a server does whose model has no eyes.
fn is_blind() -> Fault {
    let message = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
    Fault::Status(StatusFault { code: 500, message: Some(message.into()), ..StatusFault::default() })
}

#[test]
fn a_model_sees_what_it_reads_in_each_form_and_still_when_it_is_taken_up_again() {
    for wire in Wire::ALL {
        let place = place();
        let turns = [look().expect(images(0)), ScriptedTurn::text("Nothing.").expect(images(1))];
        let model = ScriptedModel::start(ModelScript::of(turns));
        let ran = run(&place, wire, &model);
        let shown = model.requests()[1].conversation.images.clone();
        assert!(shown[0].starts_with(SEEN), "{wire:?}: {shown:?}");
        let results: Vec<_> = records(&ran.out).into_iter().filter(|record| record["event"] == "result").collect();
        assert!(results.iter().all(|record| record["images"][0]["media_type"] == "image/png"), "{results:?}");

        for wire in Wire::ALL {
            let again = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Still nothing.").expect(images(1))]));
            let resumed = said(place.with(&again, wire, &["resume", "and now?"]));
            assert_eq!((resumed.out.as_str(), resumed.code), ("Still nothing.\n", 0), "{}", resumed.err);
            assert_eq!(again.requests()[0].conversation.images, shown, "{wire:?}");
        }
    }
}

#[test]
fn who_takes_no_images_is_asked_again_without_once() {
    for wire in Wire::ALL {
        let place = place();
        let takes_none = || not_shown("this model accepts none");
        let turns = [
            look(),
            ScriptedTurn::call("read_file", json!({ "path": "a.txt" })).fault(is_blind()),
            look().expect(images(0)),
            ScriptedTurn::text("I cannot see it.").expect(takes_none()),
        ];
        let model = ScriptedModel::start(ModelScript::of(turns));
        let ran = run(&place, wire, &model);
        let shown: Vec<usize> = model.requests().iter().map(|asked| asked.conversation.images.len()).collect();
        assert_eq!(shown, [0, 1, 0, 0, 0], "{wire:?}");
        assert!(model.requests()[2].text.contains("[1 image is not shown: this model accepts none]"));
        let again = records(&ran.out).into_iter().filter(|record| record["event"] == "again").count();
        assert_eq!(again, 1, "who watches is told: {}", ran.out);

        // On disk it is whole, for a model that sees.
        let sees = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("A logo.").expect(images(2))]));
        let resumed = said(place.with(&sees, wire, &["resume", "and you?"]));
        assert_eq!((resumed.out.as_str(), resumed.code), ("A logo.\n", 0), "{}", resumed.err);
    }
}

#[test]
fn images_can_be_turned_off() {
    for wire in Wire::ALL {
        let place = place();
        place.put(CONFIG, "[model]\nimages = false\n");
        let off = not_shown("images are turned off");
        let model = ScriptedModel::start(ModelScript::of([look(), ScriptedTurn::text("I cannot see it.").expect(off)]));
        run(&place, wire, &model);

        place.put(CONFIG, "[model]\nname = \"another\"\nimages = false\n");
        let model = ScriptedModel::start(ModelScript::of([look(), ScriptedTurn::text("A logo.").expect(images(1))]));
        run(&place, wire, &model);
    }
    let place = place();
    place.put(CONFIG, "[model]\nimages = \"no\"\n");
    let model = ScriptedModel::start(ModelScript::of([]));
    let wrong = said(place.with(&model, Wire::Chat, &["run", "look"]));
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}

#[test]
fn a_session_with_images_is_replayed() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([look(), ScriptedTurn::text("A logo.").expect(images(1))]));
    run(&place, Wire::Chat, &model);
    let id = place.sessions()[0]["id"].as_str().expect("it has a name").to_owned();
    let replayed = said(place.bare(&["replay", &id]));
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
}

#[test]
fn an_image_that_the_user_names_is_shown_in_each_form_and_again_later() {
    for wire in Wire::ALL {
        let place = place();
        let named = || Expect { images: Some(1), ..Expect::default() };
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("A logo.").expect(named())]));
        let ran = said(place.with(&model, wire, &["run", "what is on @logo.png?"]));
        assert_eq!((ran.out.as_str(), ran.code), ("A logo.\n", 0), "{wire:?}: {}", ran.err);
        assert!(model.requests()[0].conversation.images[0].starts_with(SEEN), "{wire:?}");

        let again = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Not now.").fault(is_blind())]));
        let resumed = said(place.with(&again, wire, &["resume", "and now?"]));
        assert_eq!((resumed.out.as_str(), resumed.code), ("Not now.\n", 0), "{wire:?}: {}", resumed.err);
        let requests = again.requests();
        let shown: Vec<usize> = requests.iter().map(|asked| asked.conversation.images.len()).collect();
        assert_eq!(shown, [1, 0], "{wire:?}: who sees nothing is asked again without");
        assert!(requests[1].text.contains("[1 image is not shown: this model accepts none]"), "{wire:?}");
    }
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([]));
    let wrong = said(place.with(&model, Wire::Chat, &["run", "what is on @a.png?"]));
    assert!(wrong.code != 0 && wrong.err.contains("the image a.png cannot be shown"), "{}", wrong.err);
}
