//! Files of the workspace that trusted code names are protected names.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::terminal::Terminal;
use super::{Place, put};

const GOOD: &str = "cat > /dev/null; echo good\n";

/// A project with a tool whose program lies among the sources.
fn project() -> Place {
    let place = Place::new();
    let definition = "name: greet\ndescription: Greets.\nbinding: {command: [sh, scripts/greet.sh]}\neffects: []\ninput_schema: {}\n";
    put(&place, ".haft/tools/greet.yaml", definition);
    put(&place, "scripts/greet.sh", GOOD);
    put(&place, "scripts/other.sh", "echo other\n");
    place
}

impl Place {
    fn trusts(self) -> Self {
        assert_eq!(self.haft(&["trust", "."], "").code, 0);
        self
    }

    /// Writes a file as a model would whom everything ordinary is allowed.
    fn overwrites(&self, path: &str) -> Value {
        let arguments = json!({ "path": path, "content": "evil\n", "write_mode": "overwrite" }).to_string();
        let said = self.haft(&["--yes", "--json", "call", "write_file", &arguments], "");
        serde_json::from_str(&said.out).expect("one record")
    }

    fn runs(&self, command: &str) -> Value {
        let arguments = json!({ "command": command }).to_string();
        let said = self.haft(&["--yes", "--json", "call", "bash", &arguments], "");
        serde_json::from_str(&said.out).expect("one record")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path("ws").join(name)).expect("it is there")
    }
}

#[test]
fn a_file_tool_asks_each_time_before_it_changes_one_and_yes_is_no_answer() {
    let place = project();
    assert_eq!(place.overwrites("scripts/greet.sh")["status"], "ok", "nobody trusts it yet");
    put(&place, "scripts/greet.sh", GOOD);
    let place = place.trusts();
    let record = place.overwrites("scripts/greet.sh");
    assert_eq!(
        (&record["status"], &record["error"]["kind"]),
        (&json!("refused"), &json!("needs_approval")),
        "{record}"
    );
    assert_eq!(record["error"]["rule"], "protected names");
    let words = "Trusted tools or hooks run that file";
    assert!(record["error"]["what"].as_str().is_some_and(|what| what.contains(words)), "{record}");
    assert_eq!(place.text("scripts/greet.sh"), GOOD);
    assert_eq!(place.overwrites("scripts/other.sh")["status"], "ok");
}

#[test]
fn somebody_who_says_yes_changes_it_and_the_tool_waits_for_trust() {
    let place = project().trusts();
    let arguments = json!({ "path": "scripts/greet.sh", "edits": [{ "old_text": "good", "new_text": "better" }] });
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &arguments.to_string()]);
    terminal.shows("\n>").types("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
    assert!(terminal.screen().contains("dangerous: "), "{}", terminal.screen());
    assert!(!terminal.screen().contains("don't ask again"), "{}", terminal.screen());
    assert!(place.haft(&["call", "greet"], "").err.contains("changed since it was trusted (in scripts/greet.sh)"));
    let place = place.trusts();
    assert_eq!(place.haft(&["call", "greet"], "").out, "better\n");
}

#[test]
fn a_command_that_names_one_is_refused_with_the_way_that_is_open() {
    let place = project().trusts();
    for command in
        ["echo evil > scripts/greet.sh", "rm -r scripts", "mv scripts/greet.sh x", "sed -i s/o/u/ scripts/greet.sh"]
    {
        let record = place.runs(command);
        assert_eq!(record["error"]["rule"], "protected names in commands", "{command}: {record}");
        assert!(record["error"]["next"].as_str().is_some_and(|next| next.contains("edit_file")), "{record}");
    }
    assert_eq!(place.text("scripts/greet.sh"), GOOD);
    assert_eq!(place.runs("echo fine > scripts/other.sh")["status"], "ok");
    let explained = place.haft(&["rules", "explain", "--json", "echo evil > scripts/greet.sh"], "").out;
    assert!(explained.contains("\"decision\":\"deny\""), "{explained}");
}

#[test]
fn what_a_command_turns_out_to_change_of_them_is_not_kept() {
    let place = project().trusts();
    put(&place, "build.sh", "for f in scripts/*.sh; do echo changed >> $f; done\n");
    let record = place.runs("sh build.sh");
    assert_eq!(record["status"], "ok", "{record}");
    let words = "Refused, because trusted tools or hooks run it: scripts/greet.sh.";
    assert!(record["content"].as_str().is_some_and(|content| content.contains(words)), "{record}");
    assert_eq!(
        (place.text("scripts/greet.sh").as_str(), place.text("scripts/other.sh").as_str()),
        (GOOD, "echo other\nchanged\n")
    );
    assert_eq!(place.haft(&["call", "greet"], "").out, "good\n");
}

#[test]
fn a_link_protects_what_it_leads_to() {
    let place = project();
    std::fs::rename(place.path("ws/scripts/greet.sh"), place.path("ws/real.sh")).expect("it was there");
    symlink("../real.sh", place.path("ws/scripts/greet.sh")).expect("a link can be made");
    let place = place.trusts();
    for path in ["real.sh", "scripts/greet.sh"] {
        assert_eq!(place.overwrites(path)["error"]["rule"], "protected names", "{path}");
    }
}

#[test]
fn modules_of_python_tools_and_scripts_of_hooks_are_among_them() {
    let place = Place::new();
    put(&place, ".haft/tools/go.yaml", "name: go\nbinding: pkg.mod:go\nlazy: true\neffects: []\ninput_schema: {}\n");
    put(&place, "pkg/__init__.py", "");
    put(&place, "pkg/mod.py", "def go(): return 1\n");
    put(&place, "check.sh", "exit 0\n");
    put(&place, ".haft/config.toml", "[[hooks.PreToolUse]]\nmatcher = \"grep\"\ncommand = \"sh check.sh\"\n");
    let place = place.trusts();
    for path in ["pkg/__init__.py", "pkg/mod.py", "check.sh", ".haft/tools/go.yaml"] {
        assert_eq!(place.overwrites(path)["error"]["rule"], "protected names", "{path}");
    }
    assert_eq!(place.overwrites("pkg/other.py")["status"], "ok");
}
