//! Skills: found, listed, loaded on demand, trusted by their content, and held to what they declare.

use std::os::unix::fs::symlink;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::{Place, check, put};

const FORMS: &str = "---\nname: forms\ndescription: Fills in forms.\neffects:\n  - read: \"{arguments}\"\n  - change: out/\n---\n# Forms\n\nFill them in.\n";
const SCRIPT: &str =
    "cat \"$1\"\ncat secret.txt || true\ncat\nmkdir -p out\necho done > out/done.txt\necho no > elsewhere.txt\n";

/// A project with a skill, in the folder of another program, and a skill of the user.
fn with_skills() -> Place {
    let place = Place::new();
    put(&place, ".claude/skills/forms/SKILL.md", FORMS);
    put(&place, ".claude/skills/forms/reference.md", "The reference.\n");
    put(&place, ".claude/skills/forms/scripts/fill.sh", SCRIPT);
    put(&place, "a.txt", "form A\n");
    put(&place, "secret.txt", "SECRET\n");
    place.put(
        "home/.config/haft/skills/notes/SKILL.md",
        "---\nname: notes\ndescription: Takes notes.\n---\nWrite them.\n",
    );
    place
}

fn trusted() -> Place {
    let place = with_skills();
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    place
}

fn load(place: &Place, arguments: Value) -> (i32, String) {
    let said = place.haft(&["--yes", "call", "skill", &arguments.to_string()], "");
    (said.code, said.out + &said.err)
}

fn listed(place: &Place) -> String {
    place.haft(&["tools", "skill"], "").out
}

#[test]
fn without_skills_no_model_sees_the_tool() {
    let said = Place::new().haft(&["tools", "--all"], "");
    assert!(!said.out.contains("skill"), "{}", said.out);
}

#[test]
fn skills_of_the_user_are_listed_and_those_of_a_project_once_it_is_trusted() {
    let place = with_skills();
    assert!(listed(&place).contains("\n- notes: Takes notes.\n"), "{}", listed(&place));
    assert!(!listed(&place).contains("forms"));
    let (code, told) = load(&place, json!({ "name": "forms" }));
    assert!(code == 1 && told.contains("There is no skill \"forms\"."), "{told}");
    let trust = place.haft(&["trust", "."], "").out;
    assert!(trust.contains("\n  code   .claude/skills/forms/SKILL.md\n"), "{trust}");
    assert!(listed(&place).contains("\n- notes: Takes notes.\n- forms: Fills in forms.\n"), "{}", listed(&place));
}

#[test]
fn the_text_of_a_skill_and_its_files_are_loaded_on_demand() {
    let place = trusted();
    let (code, told) = load(&place, json!({ "name": "forms" }));
    assert!(
        code == 0 && told.starts_with("# Forms\n\nFill them in.\n\n[Skill \"forms\" from .claude/skills/forms]\n"),
        "{told}"
    );
    assert!(told.contains("They can read {arguments}, change out/, and nothing else."), "{told}");
    assert_eq!(load(&place, json!({ "name": "forms", "file": "reference.md" })).1, "The reference.\n");
}

#[test]
fn a_script_of_a_skill_touches_what_its_frontmatter_declares_and_nothing_else() {
    let place = trusted();
    let call = json!({ "name": "forms", "run": "scripts/fill.sh", "arguments": ["a.txt"], "input": "typed\n" });
    let said = place.haft(&["--yes", "call", "skill", &call.to_string()], "");
    if !Need::Full.met(said.err.contains("sandbox: full")) {
        return;
    }
    assert!(said.out.contains("form A\n") && said.out.contains("typed\n"), "{}{}", said.out, said.err);
    assert!(!said.out.contains("SECRET"), "{}", said.out);
    assert!(said.out.contains("did not declare that it changes it: elsewhere.txt"), "{}", said.out);
    assert_eq!(place.get("ws/out/done.txt").as_deref(), Some("done\n"));
    assert_eq!(place.get("ws/elsewhere.txt"), None);
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert_eq!(place.get("ws/out/done.txt"), None);
}

#[test]
fn a_script_that_declares_nothing_is_an_unknown_program_that_a_person_is_asked_about() {
    let place = Place::new();
    place.put("home/.config/haft/skills/notes/SKILL.md", "---\nname: notes\ndescription: Takes notes.\n---\nx\n");
    place.put("home/.config/haft/skills/notes/go.sh", "echo ran\n");
    let said = place.haft(&["call", "--json", "skill", r#"{"name":"notes","run":"go.sh"}"#], "");
    let record: Value = serde_json::from_str(&said.out).expect("one record");
    assert_eq!((said.code, record["error"]["kind"].as_str()), (3, Some("needs_approval")), "{record}");
    let asked = record["error"]["what"].as_str().unwrap_or_default();
    assert!(asked.contains("notes/go.sh"), "{asked}");
}

#[test]
fn a_skill_stops_counting_when_any_of_its_files_changes_appears_or_goes() {
    for (file, content) in [
        ("SKILL.md", Some("---\nname: forms\ndescription: Other.\n---\nx\n")),
        ("reference.md", Some("Other.\n")),
        ("scripts/fill.sh", None),
        ("scripts/new.sh", Some("echo new\n")),
    ] {
        let place = trusted();
        let path = format!("ws/.claude/skills/forms/{file}");
        match content {
            Some(content) => place.put(&path, content),
            None => std::fs::remove_file(place.path(&path)).expect("it was there"),
        }
        let (code, told) = load(&place, json!({ "name": "forms" }));
        assert!(code == 1 && told.contains("There is no skill \"forms\"."), "{file}: {told}");
        assert!(told.contains(".claude/skills/forms/SKILL.md changed since it was trusted"), "{file}: {told}");
        assert_eq!(place.haft(&["trust", "."], "").code, 0);
        assert_eq!(load(&place, json!({ "name": "forms" })).0, 0, "{file}");
    }
}

#[test]
fn a_skill_that_changes_while_haft_runs_is_withdrawn_before_the_next_turn() {
    let place = trusted();
    let input = "{\"name\":\"skill\",\"arguments\":{\"name\":\"forms\"}}\n\n\
        {\"name\":\"bash\",\"arguments\":{\"command\":\"true\"}}\n\n{\"name\":\"skill\",\"arguments\":{\"name\":\"forms\"}}\n";
    let records = place.lines(input);
    assert_eq!((records[0]["status"].as_str(), records[2]["status"].as_str()), (Some("ok"), Some("ok")));
    place.put("ws/.claude/skills/forms/reference.md", "Other.\n");
    assert_eq!(place.lines(input)[0]["status"], "failed");
}

#[test]
fn the_users_skill_goes_before_one_of_the_same_name_and_the_same_in_two_places_is_one() {
    let place = with_skills();
    put(&place, ".haft/skills/notes/SKILL.md", "---\nname: notes\ndescription: Another.\n---\nx\n");
    put(&place, ".agents/skills/forms/SKILL.md", FORMS);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = place.haft(&["call", "skill"], "");
    assert!(said.out.contains("- notes: Takes notes.") && !said.out.contains("Another."), "{}", said.out);
    assert_eq!(said.out.matches("- forms:").count(), 1);
    let note = "haft skips the skill .haft/skills/notes: there is a skill \"notes\" in ";
    assert!(said.err.contains(note) && !said.err.contains("skill .agents"), "{}", said.err);
}

#[test]
fn links_and_secrets_keep_a_skill_of_a_project_from_being_trusted() {
    for (name, why) in [("link.md", "/link.md is a link"), (".env", ".env may hold secrets")] {
        let place = with_skills();
        let path = place.path(&format!("ws/.claude/skills/forms/{name}"));
        match name {
            "link.md" => symlink("/etc/passwd", path).expect("a link can be made"),
            _ => std::fs::write(path, "KEY=1\n").expect("a file can be written"),
        }
        let said = place.haft(&["trust", "."], "");
        assert!((said.out + &said.err).contains(why), "{name}");
        assert_eq!(load(&place, json!({ "name": "forms" })).0, 1, "{name}");
    }
    let place = with_skills();
    symlink("../../src", place.path("ws/.claude/skills/linked")).expect("a link can be made");
    put(&place, "src/SKILL.md", FORMS);
    let said = place.haft(&["trust", "."], "");
    assert!((said.out + &said.err).contains(".claude/skills/linked"), "{}", "it is said");
    assert!(!listed(&place).contains("linked"));
}

#[test]
fn thousands_of_folders_cost_a_note_and_no_time() {
    let place = with_skills();
    for number in 0..10_000 {
        std::fs::create_dir_all(place.path(&format!("ws/.haft/skills/s{number}"))).expect("a folder can be made");
    }
    let said = place.haft(&["trust", "."], "");
    let why = ".haft/skills is not trusted: it has more than 200 names, so no skill in it is loaded";
    assert!((said.out.clone() + &said.err).contains(why), "{}{}", said.out, said.err);
    assert_eq!(load(&place, json!({ "name": "forms" })).0, 0);
}

#[test]
fn check_tells_what_is_wrong_with_a_skill_with_its_line() {
    let place = with_skills();
    put(&place, ".haft/skills/bad/SKILL.md", "---\nname: bad\ndescription: Bad.\nefects: []\n---\nx\n");
    put(&place, ".haft/skills/broken/SKILL.md", "---\nname: [\n---\n");
    std::fs::write(place.path("ws/.claude/skills/forms/SKILL.md"), b"---\nname: \xff\n---\n").expect("it is ours");
    let (out, code) = check(&place, ".");
    assert_eq!(code, 1);
    assert!(
        out.contains(".haft/skills/bad/SKILL.md:4: there is no key \"efects\"; did you mean \"effects\"?\n"),
        "{out}"
    );
    assert!(out.contains(".haft/skills/broken/SKILL.md:2: "), "{out}");
    assert!(out.contains(".claude/skills/forms/SKILL.md:1: cannot be read: line 2 is not text in UTF-8"), "{out}");
}

#[test]
fn check_advises_to_declare_what_scripts_touch() {
    let place = Place::new();
    put(&place, "skill/SKILL.md", "---\nname: skill\ndescription: d\n---\nx\n");
    put(&place, "skill/go.py", "");
    let (out, code) = check(&place, "skill");
    assert_eq!(code, 0);
    assert!(
        out.starts_with(
            "skill/SKILL.md:1: warning: the scripts declare no effects, so haft judges each run as an unknown program; "
        ),
        "{out}"
    );
}

#[test]
fn doctor_tells_each_skill_and_where_it_comes_from() {
    let said = trusted().haft(&["doctor", "skill"], "");
    assert!(
        said.out.contains("forms from .claude/skills/forms. They can read {arguments}, change out/, and nothing else."),
        "{}",
        said.out
    );
    assert!(said.out.contains("notes from "), "{}", said.out);
}

#[test]
fn a_tool_that_is_shown_in_short_can_be_asked_for_its_whole_text() {
    let place = Place::new();
    let words = "name: count\ndescription: Counts letters. The long words of it.\nskill_description: Letters.\n\
        binding: {command: [echo, x]}\neffects: []\ninput_schema: {}\n";
    put(&place, ".haft/tools/count.yaml", words);
    put(&place, ".haft/tools.yaml", "tools:\n  - {name: counting, yaml_path: tools/count.yaml, as_skill: true}\n");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert!(
        listed(&place).contains("It also has the whole description of these tools: counting."),
        "{}",
        listed(&place)
    );
    assert_eq!(load(&place, json!({ "name": "counting" })).1, "Counts letters. The long words of it.\n");
}
