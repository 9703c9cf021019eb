//! What flags and `config.toml` say about how a model is used, and what it costs.

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, records};
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn, Usage};
use serde_json::{Value, json};

use crate::place::{Place, said};

const CONFIG: &str = "home/.config/haft/config.toml";

/// Runs a task of one reply with this configuration; returns what was said, and the request.
fn run(config: &str, wire: Wire, flags: &[&str]) -> (CapturedOutput, Value) {
    let place = Place::new();
    place.put(CONFIG, config);
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Done.").usage(USAGE)]));
    let said = said(place.with(&model, wire, &[&["run"], flags, &["say done"]].concat()));
    let body = model.requests().first().map(|asked| asked.body.clone()).unwrap_or_default();
    (said, body)
}

/// In each form said in its own way: some count what came from the cache into the request, some beside it.
const USAGE: Usage = Usage { input: 10_000, output: 200, cache_read: 6_000, cache_written: 0 };

#[test]
fn how_much_to_think_reaches_the_model_in_each_form() {
    let cases = [
        (Wire::Anthropic, "/output_config/effort", json!("high")),
        (Wire::Responses, "/reasoning/effort", json!("high")),
        (Wire::Chat, "/reasoning_effort", json!("high")),
        (Wire::Gemini, "/generationConfig/thinkingConfig/thinkingLevel", json!("HIGH")),
    ];
    for (wire, place, expected) in cases {
        let (said, body) = run("", wire, &["--effort", "high"]);
        assert_eq!((said.code, body.pointer(place)), (0, Some(&expected)), "{}", said.err);
        let (_, body) = run("[model]\neffort = \"high\"\n", wire, &[]);
        assert_eq!(body.pointer(place), Some(&expected), "{wire:?} from the file");
        let (_, body) = run("[model]\neffort = \"low\"\n", wire, &["--effort", "high"]);
        assert_eq!(body.pointer(place), Some(&expected), "the flag is stronger");
        let (_, body) = run("", wire, &[]);
        assert_eq!(body.pointer(place), None, "nothing is sent where nothing is said");
        let (_, body) = run("[model]\nname = \"another\"\neffort = \"high\"\n", wire, &[]);
        assert_eq!(body.pointer(place), None, "what is said about another model does not count");
    }
    let (said, _) = run("", Wire::Chat, &["--effort", "huge"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("use low, medium or high"), "{}", said.err);
}

#[test]
fn how_long_a_reply_may_be_is_said_and_leaves_room() {
    let (said, body) = run("[model]\nwindow = 8192\nreply_tokens = 2000\n", Wire::Chat, &[]);
    assert_eq!((said.code, &body["max_tokens"]), (0, &json!(2000)), "{}", said.err);
    let (said, body) = run("[model]\nreply_tokens = 100000\n", Wire::Chat, &[]);
    assert_eq!((said.code, body), (2, Value::Null));
    assert!(said.err.contains("set window under [model]"), "{}", said.err);
}

#[test]
fn a_small_window_is_kept_to() {
    let place = Place::new();
    place.put(CONFIG, "[model]\nwindow = 6000\n");
    place.put("ws/long.txt", &"a line that is read again and again\n".repeat(400));
    let read =
        |offset: u64| ScriptedTurn::call("read_file", json!({ "path": "long.txt", "offset": offset, "limit": 150 }));
    let model = ScriptedModel::start(ModelScript::of([read(1), read(151), ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["run", "--json", "read it"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(records(&said.out).iter().any(|record| record["event"] == "compacted"), "{}", said.out);
}

#[test]
fn only_the_first_reply_must_call() {
    for (config, flags) in [("", &["--call-first"][..]), ("[model]\ncall_first = true\n", &[])] {
        let place = Place::new();
        place.put(CONFIG, config);
        let read = ScriptedTurn::call("read_file", json!({ "path": "a.txt" }));
        let model = ScriptedModel::start(ModelScript::of([read, ScriptedTurn::text("Done.")]));
        let said = place.haft(&model, &[&["run"], flags, &["how long is a.txt?"]].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        let choices: Vec<Value> = model.requests().iter().map(|asked| asked.body["tool_choice"].clone()).collect();
        assert_eq!(choices, [json!("required"), Value::Null]);
    }
}

/// The price of the scripted model, and that of another one.
fn priced() -> String {
    let another = "[prices.another]\ninput = 100\noutput = 100\n";
    format!("{another}[prices.{:?}]\ninput = 3\noutput = 15\ncache_read = 0.3\n", ScriptedModel::NAME)
}

#[test]
fn the_cost_is_right_in_each_form() {
    for wire in Wire::ALL {
        let (said, _) = run(&priced(), wire, &["--json"]);
        let end = records(&said.out).pop().expect("it ends");
        assert_eq!(end["usage"]["input"], json!(10_000), "{wire:?}");
        // 4,000 × 3 + 6,000 × 0.3 + 200 × 15, for a million.
        assert_eq!(end["cost"], json!({ "amount": "0.0168", "currency": "USD" }), "{wire:?}");
        let (said, _) = run(&priced(), wire, &[]);
        assert!(said.err.contains(" 200 out, 0.0168 USD; "), "{}", said.err);
    }
    let written = Usage { cache_written: 1_000, ..USAGE };
    for wire in [Wire::Anthropic, Wire::Responses] {
        let place = Place::new();
        place.put(CONFIG, &format!("{}cache_written = 3.75\ncurrency = \"€\"\n", priced()));
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Done.").usage(written)]));
        let said = said(place.with(&model, wire, &["run", "--json", "say done"]));
        let end = records(&said.out).pop().expect("it ends");
        assert_eq!(end["cost"], json!({ "amount": "0.01755", "currency": "€" }), "{wire:?}");
    }
}

#[test]
fn no_cost_is_shown_without_a_price_of_this_model() {
    for config in ["", "[prices.another]\ninput = 1\noutput = 1\n"] {
        let (said, _) = run(config, Wire::Chat, &["--json"]);
        assert_eq!(records(&said.out).pop().expect("it ends").get("cost"), None);
        let (said, _) = run(config, Wire::Chat, &[]);
        assert!(said.err.contains(" 200 out; ") && !said.err.contains("USD"), "{}", said.err);
    }
}

#[test]
fn a_run_ends_when_it_has_cost_as_much_as_it_may() {
    let read = || ScriptedTurn::call("read_file", json!({ "path": "a.txt" })).usage(USAGE);
    let place = Place::new();
    place.put(CONFIG, &priced());
    let model = ScriptedModel::start(ModelScript::of([read(), read(), read()]));
    let said = place.haft(&model, &["run", "--json", "--max-cost", "0.02", "look"]);
    let end = records(&said.out).pop().expect("it ends");
    assert_eq!((&end["how"], &end["steps"], said.code), (&json!("out_of_money"), &json!(2), 1));
    let words = "Stopped after 0.0336 USD; the budget is 0.0200 USD. Next: resume the session, or allow a higher cost.";
    assert_eq!(end["error"], words);
}

#[test]
fn a_limit_of_money_needs_a_price_and_an_amount() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([]));
    let said = place.haft(&model, &["run", "--max-cost", "1", "look"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--max-cost needs the price of") && said.err.contains("[prices."), "{}", said.err);
    assert_eq!((model.requests().len(), place.sessions().len()), (0, 0), "nothing was begun");
    for amount in ["0", "-1", "much", "0.0000000001"] {
        let said = place.haft(&model, &["run", &format!("--max-cost={amount}"), "look"]);
        assert_eq!(said.code, 2, "{amount}: {}", said.err);
    }
}

#[test]
fn what_is_thought_aloud_is_no_part_of_the_answer() {
    let place = Place::new();
    let aloud = "<think>\nThey want\n<tool_call>\n{\"name\":\"write_file\",\"arguments\":{\"path\":\"b.txt\",\"content\":\"x\"}}\n</tool_call>\n</think>\n\nDone.";
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(aloud)]));
    let said = place.haft(&model, &["run", "--yes", "say done"]);
    assert_eq!((said.out.as_str(), said.code), ("Done.\n", 0), "{}", said.err);
    assert!(!place.has("b.txt"), "nothing was done");
}

#[test]
fn a_provider_that_counts_nonsense_ends_nothing() {
    let place = Place::new();
    place.put(CONFIG, &priced());
    let most = i64::MAX as u64;
    let nonsense = Usage { input: most, output: 0, cache_read: 0, cache_written: 0 };
    let read = || ScriptedTurn::call("read_file", json!({ "path": "a.txt" })).usage(nonsense);
    let model =
        ScriptedModel::start(ModelScript::of([read(), read(), read(), ScriptedTurn::text("Done.").usage(nonsense)]));
    let said = place.haft(&model, &["run", "read a.txt"]);
    assert_eq!((said.out.as_str(), said.code), ("Done.\n", 0), "{}", said.err);
    assert_eq!(place.sessions()[0]["input_tokens"], json!(u64::MAX));
}

#[test]
fn a_task_over_the_window_is_refused_with_nothing_sent() {
    let place = Place::new();
    place.put(CONFIG, "[model]\nwindow = 16000\n");
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Done.")]));
    let task = "Words and words. ".repeat(5_000);
    let said = said(place.with(&model, Wire::Chat, &["run", &task]));
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("The task has about 24,286 tokens"), "{}", said.err);
    assert!(said.err.contains("the model accepts 16,000. Nothing was sent."), "{}", said.err);
    assert!(model.requests().is_empty());
}
