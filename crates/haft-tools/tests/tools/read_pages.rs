//! A page ends where a result is full, and what does not fit is told with the way to go on.

use haft_contract::limits::Limits;
use haft_contract::outcome::result::{Status, ToolResult};
use haft_testkit::scene::Scene;
use serde_json::{Value, json};

/// What one result may hold in each profile, and in a small one: the whole, the head, the tail.
const PROFILES: [(&str, [usize; 3]); 4] = [
    ("haft, ally, wyrm", [32_000, 24_000, 8_000]),
    ("tunacode", [5_000, 2_500, 1_000]),
    ("nexau", [10_000, 5_000, 5_000]),
    ("small", [700, 500, 200]),
];

fn bound(limits: &mut Limits, [whole, head, tail]: [usize; 3]) {
    (limits.result_whole, limits.result_head, limits.result_tail) = (whole, head, tail);
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("{number} {}\n", "x".repeat(64))).collect()
}

/// The only offset that a text names, if it names one.
fn offset_in(result: &ToolResult) -> Option<u64> {
    let text = result.text();
    assert!(result.spilled.is_none() && !text.contains("left out"), "{text}");
    let offsets: Vec<&str> = text.split("offset=").skip(1).collect();
    assert!(offsets.len() <= 1, "{text}");
    let digits: String = offsets.first()?.chars().take_while(char::is_ascii_digit).collect();
    Some(digits.parse().expect("an offset is a number"))
}

/// Reads to the end as the text says, and returns what was shown of the lines.
async fn read_on(scene: &Scene, path: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut offset = 1;
    loop {
        let page = scene.call("read_file", json!({ "path": path, "offset": offset })).await;
        assert_eq!(page.status, Status::Ok, "{}", page.text());
        let text = page.text();
        lines.extend(text.lines().filter_map(|line| line.split_once('\t')).map(|(_, line)| line.to_owned()));
        match offset_in(&page) {
            Some(next) if next > offset => offset = next,
            Some(next) => panic!("{next} is no way to go on from {offset}"),
            None => return lines,
        }
    }
}

#[tokio::test]
async fn whoever_follows_the_offsets_reads_every_line_once_in_every_profile() {
    for (profile, bounds) in PROFILES {
        let scene = Scene::new().file("long.txt", numbered(2_500)).limits(|limits| bound(limits, bounds));
        let read = read_on(&scene, "long.txt").await;
        assert_eq!(read.join("\n") + "\n", numbered(2_500), "{profile}");
    }
}

#[tokio::test]
async fn a_page_is_as_long_as_a_result_may_be() {
    let scene = Scene::new().file("long.txt", numbered(2_000));
    let text = scene.call("read_file", json!({ "path": "long.txt" })).await.text();
    let length = text.chars().count();
    assert!((31_900..=32_000).contains(&length), "{length}");
    assert!(text.contains("\n[lines 1–421 of 2000; go on with offset=422]"), "{text}");
    let middle = scene.call("read_file", json!({ "path": "long.txt", "offset": 1_000 })).await.text();
    assert!(middle.contains("[lines 1000–1413 of 2000; ") && middle.contains("offset=1414]"), "{middle}");
}

#[tokio::test]
async fn a_line_that_fills_a_result_alone_is_cut_to_fit() {
    let scene = Scene::new()
        .file("wide.txt", format!("{}\nshort\n", "é".repeat(5_000)))
        .limits(|limits| bound(limits, [700, 500, 200]));
    let page = scene.call("read_file", json!({ "path": "wide.txt" })).await;
    assert_eq!(offset_in(&page), Some(2));
    let text = page.text();
    assert!((600..=700).contains(&text.chars().count()), "{text}");
    let shown = text.chars().filter(|c| *c == 'é').count();
    assert!(
        text.contains(&format!(
            " [… {} more characters in this line; go on with {{\"offset\": 1, \"column\": {}}}]",
            5_000 - shown,
            shown + 1
        )),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_hidden_counts_as_it_is_shown() {
    let scene = Scene::new().file("keys.txt", "hunter22\n".repeat(4_000)).secret("hunter22");
    assert_eq!(read_on(&scene, "keys.txt").await.len(), 4_000);
    let scene = Scene::new().file("keys.txt", "hunter2!\n".repeat(4_000)).secret("hunter2!");
    assert_eq!(read_on(&scene, "keys.txt").await, vec!["[secret]"; 4_000]);
}

#[tokio::test]
async fn small_files_leave_their_room_to_the_large_one() {
    let scene = Scene::new().file("a.txt", numbered(300)).file("b.txt", "b\n").file("c.txt", "c\n");
    let result = scene.call("read_file", json!({ "paths": ["a.txt", "b.txt", "c.txt"] })).await;
    assert_eq!(offset_in(&result), None, "everything fits");
    let scene = Scene::new().file("a.txt", numbered(900)).file("b.txt", "b\n").file("c.txt", numbered(900));
    let text = scene.call("read_file", json!({ "paths": ["a.txt", "b.txt", "c.txt"] })).await.text();
    assert!(!text.contains("left out") && text.chars().count() <= 32_000, "{text}");
    assert!(text.contains("[lines 1–211 of 900; go on") && !text.contains("[end of file"), "{text}");
}

#[tokio::test]
async fn files_that_do_not_fit_are_named_and_were_not_read() {
    let scene = (10..60).fold(Scene::new(), |scene, number| scene.file(&format!("f{number}.txt"), numbered(900)));
    let paths: Vec<Value> = (10..60).map(|number| json!(format!("f{number}.txt"))).collect();
    let result = scene.call("read_file", json!({ "paths": paths })).await;
    let text = result.text();
    assert!(result.spilled.is_none() && text.chars().count() <= 32_000, "{}", text.chars().count());
    let read = text.matches("=== f").count();
    assert!((20..40).contains(&read), "{read}");
    let last = text.lines().last().expect("there is a last line");
    let first_unread = 10 + read;
    let words = format!("[{} files were not read, because the result is full: f{first_unread}.txt, ", 50 - read);
    assert!(last.starts_with(&words) && last.ends_with(", f59.txt; go on with these as \"paths\"]"), "{last}");
    for (number, expected) in [(first_unread - 1, Status::Ok), (first_unread, Status::Failed)] {
        let write = json!({ "path": format!("f{number}.txt"), "content": "new" });
        let kind = scene.call("write_file", write).await;
        let is_unread =
            kind.error.as_ref().is_some_and(|error| error.kind == haft_contract::outcome::kinds::ErrorKind::NotRead);
        assert_eq!(is_unread, expected == Status::Failed, "f{number}.txt: {}", kind.text());
    }
}

#[tokio::test]
async fn the_line_behind_the_last_file_stays_the_last() {
    let scene = (0..40)
        .fold(Scene::new(), |scene, number| scene.file(&format!("f{number}.txt"), numbered(100)))
        .limits(|limits| {
            (limits.result_whole, limits.read_header) = (10_000, "--- {path} ---".into());
            limits.read_end = "--- End of content ---".into();
        });
    let result = scene.call("read_file", json!({ "paths": ["*.txt"] })).await;
    let text = result.text();
    assert!(result.spilled.is_none() && text.chars().count() <= 10_000, "{text}");
    assert!(text.ends_with("; go on with these as \"paths\"]\n--- End of content ---\n"), "{text}");
}

#[tokio::test]
async fn a_file_of_one_line_has_one_line() {
    let scene = Scene::new().file("one.txt", "one\n");
    let text = scene.call("read_file", json!({ "path": "one.txt", "offset": 9 })).await.text();
    assert_eq!(text, "[there is no line 9; the file has 1 line]\n");
}
