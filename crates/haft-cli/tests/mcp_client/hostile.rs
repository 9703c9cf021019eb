//! Servers that hurt: none of them hangs a call, floods memory, or leaves a process behind.

use std::time::{Duration, Instant};

use haft_testkit::scratch_home::said;
use serde_json::{Value, json};

use crate::place::{Place, tool};

/// How long a call may take that must not hang.
const PATIENCE: Duration = Duration::from_secs(20);

fn with(behaviour: &str) -> Value {
    json!({ "behaviour": behaviour, "tools": [tool("echo", "Repeats.")] })
}

/// Adds a well-behaved server, then lets it behave otherwise; returns the record of a call.
fn called(place: &Place, behaviour: &str) -> Value {
    let added = place.add(behaviour, &json!({ "tools": [tool("echo", "Repeats.")] }));
    assert_eq!(added.code, 0, "{}{}", added.out, added.err);
    place.script(behaviour, &with(behaviour));
    let began = Instant::now();
    let record = place.call(&format!("{behaviour}__echo"));
    assert!(began.elapsed() < PATIENCE, "{behaviour}: {:?}", began.elapsed());
    record
}

#[test]
fn noise_wrong_ids_and_a_storm_of_notices_change_no_result() {
    let Some(place) = Place::new() else { return };
    for behaviour in ["noise", "wrong-ids", "storm"] {
        let record = called(&place, behaviour);
        assert_eq!(record["content"], "\"echo\" {}", "{behaviour}: {record}");
    }
    let doctor = place.run(&["mcp", "doctor", "noise"]);
    assert!(
        doctor.out.contains("lines to its standard output that are not messages") && !doctor.out.contains('\u{1b}'),
        "{}",
        doctor.out
    );
}

#[test]
fn a_server_that_exits_says_why_in_the_error_and_is_not_started_again_at_once() {
    let Some(place) = Place::new() else { return };
    place.add("exit", &json!({ "tools": [tool("echo", "Repeats.")] }));
    place.script("exit", &with("exit"));
    let both =
        said(place.command(&["call", "--yes=all", "-"]), "{\"name\":\"exit__echo\"}\n\n{\"name\":\"exit__echo\"}\n");
    let results: Vec<Value> = both.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let what = |number: usize| results[number]["error"]["what"].as_str().unwrap_or_default().to_owned();
    assert!(what(0).contains("ended with status 3") && what(0).contains("no configuration found"), "{}", both.out);
    assert!(what(1).contains("is not started again yet"), "{}", both.out);
    assert!(!both.out.contains('\u{1b}') && results[0]["error"]["kind"] == "unavailable", "{}", both.out);
}

#[test]
fn a_server_that_dies_in_a_call_leaves_the_effect_unknown_and_starts_again() {
    let Some(place) = Place::new() else { return };
    let record = called(&place, "die");
    assert!(
        record["error"]["what"]
            .as_str()
            .is_some_and(|what| what.contains("ended while \"echo\" ran") && what.contains("status 70")),
        "{record}"
    );
    assert_eq!((&record["status"], &record["did"]), (&json!("failed"), &json!("unknown")));
    place.script("die", &json!({ "tools": [tool("echo", "Repeats.")] }));
    assert_eq!(place.call("die__echo")["status"], "ok");
}

#[test]
fn a_call_that_is_never_answered_ends_at_its_limit_and_the_server_is_told() {
    let Some(place) = Place::new() else { return };
    place.add("never", &json!({ "tools": [tool("echo", "Repeats.")] }));
    place.script("never", &with("never"));
    let config = place.get("config/haft/config.toml").expect("it was written");
    place.put("config/haft/config.toml", &format!("{config}timeout = 0.5\n"));
    let call = "{\"name\":\"never__echo\"}\n";
    let both = said(place.command(&["call", "--yes=all", "-"]), format!("{call}\n{call}"));
    let records: Vec<Value> = both.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(
        (&records[0]["status"], &records[1]["status"]),
        (&json!("timed_out"), &json!("timed_out")),
        "{}",
        both.out
    );
    let what = records[0]["error"]["what"].as_str().unwrap_or_default();
    assert!(what.contains("within 0.5 s without progress"), "{what}");
    // The server was still there for the second call.
    assert!(place.heard("never").contains("notifications/cancelled"), "{}", place.heard("never"));
}

#[test]
fn half_a_message_and_a_result_of_another_shape_are_errors_and_no_call_hangs() {
    let Some(place) = Place::new() else { return };
    let half = called(&place, "half");
    assert!(half["error"]["what"].as_str().is_some_and(|what| what.contains("status 70")), "{half}");
    assert_eq!(half["did"], "unknown", "{half}");
    let odd = called(&place, "no-result");
    assert_eq!((&odd["status"], &odd["did"]), (&json!("failed"), &json!("unknown")), "{odd}");
}

#[test]
fn a_server_that_asks_with_long_ids_is_ended_and_the_error_says_why() {
    let Some(place) = Place::new() else { return };
    let record = called(&place, "long-ids");
    let what = record["error"]["what"].as_str().unwrap_or_default();
    assert!(what.contains("longer than 1 KiB"), "{record}");
}

#[test]
fn a_list_without_end_or_without_an_answer_ends_the_start() {
    let Some(place) = Place::new() else { return };
    for (behaviour, why) in [("endless-list", "pages"), ("silent-list", "did not list its tools in time")] {
        place.add(behaviour, &json!({ "tools": [tool("echo", "Repeats.")] }));
        place.script(behaviour, &with(behaviour));
        let config = place.get("config/haft/config.toml").expect("it was written");
        place.put("config/haft/config.toml", &format!("{config}start_timeout = 2\n"));
        let began = Instant::now();
        let record = place.call(&format!("{behaviour}__echo"));
        assert!(record["error"]["what"].as_str().is_some_and(|what| what.contains(why)), "{behaviour}: {record}");
        assert!(began.elapsed() < PATIENCE, "{behaviour}: {:?}", began.elapsed());
    }
}

#[test]
fn a_result_of_50_mb_is_an_error_that_says_so() {
    let Some(place) = Place::new() else { return };
    let record = called(&place, "huge");
    assert!(record["error"]["what"].as_str().is_some_and(|what| what.contains("more than 16 MiB")), "{record}");
}

#[test]
fn a_silent_server_ends_at_the_time_for_the_start() {
    let Some(place) = Place::new() else { return };
    place.add("silent", &json!({ "tools": [tool("echo", "Repeats.")] }));
    place.script("silent", &with("silent"));
    let config = place.get("config/haft/config.toml").expect("it was written");
    place.put("config/haft/config.toml", &format!("{config}start_timeout = 1\n"));
    let record = place.call("silent__echo");
    let what = record["error"]["what"].as_str().unwrap_or_default();
    assert!(what.contains("It did not answer within 1.0 s"), "{record}");
    assert_eq!((&record["status"], &record["error"]["kind"]), (&json!("failed"), &json!("unavailable")));
}

#[test]
fn no_process_of_a_server_outlives_haft() {
    let Some(place) = Place::new() else { return };
    let record = called(&place, "fork");
    assert_eq!(record["content"], "\"echo\" {}", "{record}");
    assert!(place.heard("fork").contains("child "));
    let marker = place.root().to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").expect("there is one").flatten();
    let is_left = |path: &std::path::Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&format!("HAFT_SCRIPTED_SERVER={marker}"))
    };
    let until = Instant::now() + Duration::from_secs(5);
    let all: Vec<_> = processes.map(|process| process.path()).collect();
    while all.iter().any(|path| is_left(path)) {
        assert!(Instant::now() < until, "a process of the server is left");
        std::thread::yield_now();
    }
}

#[test]
fn twenty_dead_servers_cost_the_start_nothing() {
    let Some(place) = Place::new() else { return };
    place.add("good", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let mut config = place.get("config/haft/config.toml").expect("it was written");
    for number in 0..20 {
        config.push_str(&format!("\n[mcp.servers.dead{number}]\ncommand = [\"/no/such/program\"]\n"));
    }
    place.put("config/haft/config.toml", &config);
    let time = |arguments: &[&str]| {
        let began = Instant::now();
        place.run(arguments);
        began.elapsed()
    };
    let best = |arguments: &[&str]| (0..5).map(|_| time(arguments)).min().expect("it ran");
    let (with_servers, without) = (best(&["tools"]), best(&["rules", "list"]));
    assert!(with_servers < without + Duration::from_millis(150), "{with_servers:?} against {without:?}");
}

#[test]
fn names_with_escape_codes_and_those_of_haft_s_own_tools_are_safe() {
    let Some(place) = Place::new() else { return };
    let odd = "wri\u{1b}[2Jte\u{200b}";
    let tools = json!([
        tool("write_file", "Adds."),
        tool("bash", "Adds."),
        tool(odd, "Hides\u{202e}.\u{1b}]0;x\u{7}"),
        tool(&"x".repeat(120), "Long.")
    ]);
    let added = place.add("s", &json!({ "tools": tools }));
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(!added.out.contains('\u{1b}') && !added.out.contains('\u{202e}'), "{}", added.out);
    let tools = place.run(&["tools", "--json"]);
    let tools: Value = serde_json::from_str(&tools.out).expect("it is JSON");
    let names: Vec<&str> = tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    let of_server: Vec<&&str> = names.iter().filter(|name| name.starts_with("s__")).collect();
    assert_eq!(of_server.len(), 4, "{names:?}");
    assert!(
        names.iter().all(|name| name.len() <= 64 && haft_contract::description::schema_rules::is_safe_name(name)),
        "{names:?}"
    );
    // haft's own tool is still haft's own.
    assert_eq!(names.iter().filter(|name| **name == "bash").count(), 1);
    assert_eq!(place.run(&["call", "bash", "echo own"]).code, 0);
    let called = place.call(of_server.iter().find(|name| name.contains("wri")).expect("it is listed"));
    assert_eq!(called["status"], "ok", "{called}");
}
