//! Runs all cases of `urls.jsonl` with a resolver and a dialler for tests.

use serde_json::Value;

use super::*;

const CASES: &str = include_str!("../../../../../tests/cases/urls.jsonl");

fn scene(case: &Value) -> FetchScene {
    let mut scene = FetchScene::new();
    for (name, answers) in case["dns"].as_object().into_iter().flatten() {
        scene.world.names.lock().unwrap().remove(name);
        for answer in answers.as_array().into_iter().flatten() {
            let answer: Vec<&str> = answer.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            scene = scene.name(name, &answer);
        }
    }
    for location in case["redirects"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        scene = scene.redirect(location);
    }
    match case["server"].as_str() {
        Some("gzip-bomb") => limits::gzip_bomb(scene),
        Some("brotli-bomb") => limits::brotli_bomb(scene),
        Some("chunked-endless") => limits::endless_chunks(scene),
        Some("slow-drip") => limits::slow_drip(scene),
        Some(other) => panic!("no server {other}"),
        None => scene.page("", "fine"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_cases_of_addresses_hold() {
    let cases: Vec<Value> = CASES.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    assert!(cases.len() >= 16);
    let mut wrong = Vec::new();
    for case in &cases {
        let scene = scene(case);
        let told = scene.told(case["url"].as_str().expect("it has an address")).await;
        let verdict = match told.split([' ', ':']).next() {
            Some("200") => "allow",
            Some("denied") => "deny",
            _ => "error",
        };
        let accepted = case["accept"].as_array().into_iter().flatten().any(|accepted| accepted == verdict);
        let private = scene.dialled().into_iter().find(|address| address != "93.184.215.14");
        if !accepted || private.is_some() {
            let short: String = told.chars().take(200).collect();
            wrong.push(format!("{}: {verdict} ({short}); dialled {private:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
