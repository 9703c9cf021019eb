//! A journal that is full, as the settings say: no flag answers for the loss of old changes.

use super::Place;

const SETTINGS: &str = "[journal]\nsize = \"1 MiB\"\nage = \"2 weeks\"\n";

fn content(number: u32) -> String {
    (0..2_000_u32).map(|line| format!("{:08x} of version {number}\n", line.wrapping_mul(number + 7))).collect()
}

#[test]
fn no_yes_answers_for_the_loss_of_old_changes() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", SETTINGS);
    let write = |number: u32| {
        let arguments = serde_json::json!({ "path": "a", "content": content(number), "write_mode": "overwrite" });
        serde_json::json!({ "name": "write_file", "arguments": arguments }).to_string()
    };
    let lines: Vec<String> = (0..20).map(write).collect();
    let said = place.haft(&["--yes=all", "call", "-"], &lines.join("\n"));
    let refused: Vec<&str> = said.out.lines().filter(|line| line.contains("full journal")).collect();
    let done = lines.len() - refused.len();
    assert!((8..19).contains(&done), "{done} of 20");
    assert!(refused[0].contains("haft gc") && refused[0].contains("oldest change sets"), "{}", refused[0]);
    let log = place.haft(&["log", "-n", "1"], "");
    assert!(log.err.contains(&format!("[{} older ones", done - 1)), "{}", log.err);
    assert!(place.haft(&["call", "read_file", "path=a", "limit=1"], "").out.contains("of version"));
    assert_eq!(place.haft(&["undo"], "").code, 0);
    // After freeing space, the user can continue.
    assert_eq!(place.haft(&["--yes", "gc", "--journal"], "").code, 0);
    let again = place.haft(&["--yes", "call", "-"], &write(21));
    assert_eq!(again.code, 0, "{}", again.err);
}

#[test]
fn a_size_that_is_none_is_a_mistake_with_its_fix() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", "[journal]\nsize = \"huge\"\n");
    let said = place.haft(&["call", "read_file", "path=a"], "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("config.toml:2: "), "{}", said.err);
    assert!(said.err.contains("must be a size between \"1 MiB\" and \"1 TiB\", such as \"2 GiB\""), "{}", said.err);
}
