//! Tries every known way out of the sandbox, for real, with canaries outside that no attempt may reach.
//!
//! If root starts it, it runs a second time as an ordinary user: what holds for one need not hold for the other.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test lays out folders, starts processes and listens"
)]

#[path = "escape/canaries.rs"]
mod canaries;
#[path = "escape/files.rs"]
mod files;
#[path = "escape/network.rs"]
mod network;
#[path = "survival/place.rs"]
#[expect(dead_code, reason = "another suite uses the rest")]
mod place;
#[path = "escape/privileges.rs"]
mod privileges;
#[path = "escape/prober.rs"]
mod prober;
#[path = "escape/unread.rs"]
mod unread;

use canaries::Cage;
use serde_json::Value;

/// One attempt: the command, and what its record must say.
struct Attempt {
    name: &'static str,
    command: String,
    /// What the output must never hold.
    never: Vec<String>,
    /// What the result must say of the denial, where there is one to explain.
    explained: Option<&'static str>,
}

impl Attempt {
    fn new(name: &'static str, command: impl Into<String>) -> Self {
        Self { name, command: command.into(), never: vec!["ESCAPED".to_owned()], explained: None }
    }

    fn never(mut self, text: &str) -> Self {
        self.never.push(text.to_owned());
        self
    }

    fn explained(mut self, words: &'static str) -> Self {
        self.explained = Some(words);
        self
    }
}

fn try_all(cage: &Cage, attempts: &[Attempt]) {
    for attempt in attempts {
        assert_held(cage, attempt, &cage.bash(&attempt.command));
    }
}

fn assert_held(cage: &Cage, attempt: &Attempt, record: &Value) {
    let (name, content) = (attempt.name, record["content"].as_str().unwrap_or_default());
    assert_eq!(record["status"], "ok", "{name}: {record:#}");
    assert_eq!(record["sandbox"], "full", "{name}: {record:#}");
    let all = record.to_string();
    for never in &attempt.never {
        assert!(!all.contains(never), "{name}: \"{never}\" in {record:#}");
    }
    if let Some(words) = attempt.explained {
        assert!(content.contains(words), "{name}: \"{words}\" is not said in {content}");
    }
    cage.assert_quiet(name);
}

/// Runs one attempt as it is written: the first one that the rules let through, without giving it the network.
fn try_one_as_written(cage: &Cage, suite: &str, attempts: &[Attempt]) {
    let goes_through = |attempt: &&Attempt| {
        let explained = cage.explained(&attempt.command);
        explained["decision"] != "deny" && explained["sandbox"]["network"] == false
    };
    let attempt = attempts.iter().find(goes_through);
    let attempt = attempt.unwrap_or_else(|| panic!("{suite}: the rules let none through"));
    assert_held(cage, attempt, &cage.bash_as_written(&attempt.command));
}

/// Runs the suite as the current user, and as an ordinary user where we can become one.
fn for_everybody(suite: &str, attempts: fn(&Cage) -> Vec<Attempt>) {
    let own = Cage::for_whoever_runs_this();
    let own_attempts = attempts(&own);
    try_all(&own, &own_attempts);
    try_one_as_written(&own, suite, &own_attempts);
    if let Some(cage) = Cage::for_an_ordinary_user() {
        try_all(&cage, &attempts(&cage));
    }
}

#[test]
fn no_file_outside_is_written_or_read() {
    for_everybody("files", files::attempts);
}

#[test]
fn nothing_is_heard_outside() {
    for_everybody("network", network::attempts);
}

#[test]
fn no_right_is_gained_and_no_other_process_is_touched() {
    for_everybody("privileges", privileges::attempts);
}

#[test]
fn a_fork_bomb_stays_under_its_limit_and_ends_with_its_time() {
    for cage in [Some(Cage::for_whoever_runs_this()), Cage::for_an_ordinary_user()].into_iter().flatten() {
        cage.settings("[sandbox]\nprocesses = 400\n");
        // A machine that is busy with something else may be late once.
        let bomb = || cage.bash_for("b() { b | b & }; b; while :; do :; done", 2);
        let is_in_time = |record: &Value| record["duration_ms"].as_u64().is_some_and(|took| took < 3_000);
        let record = Some(bomb()).filter(is_in_time).unwrap_or_else(bomb);
        assert_eq!(record["status"], "timed_out", "{record:#}");
        assert!(is_in_time(&record), "{record:#}");
        let after = cage.bash("echo alive");
        assert_eq!(after["data"]["stdout"], "alive\n", "{after:#}");
    }
}
