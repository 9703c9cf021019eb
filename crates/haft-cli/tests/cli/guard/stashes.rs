//! Secrets that git keeps in stashes, where neither the index nor the workspace shows them.

use haft_testkit::require::Need;
use serde_json::json;

use super::super::Place;

/// A workspace with a commit and an untracked secret that git does not ignore.
fn repository() -> Option<Place> {
    if !Need::Git.met(std::process::Command::new("git").arg("--version").output().is_ok()) {
        return None;
    }
    let place = Place::new();
    place.put("ws/src/lib.rs", "");
    git(&place, "git init -q -b main; git add src; git commit -qm first");
    Some(place)
}

fn git(place: &Place, line: &str) {
    let settings = "git config user.name u; git config user.email u@example.com; git config gc.auto 0;";
    let status = std::process::Command::new("sh")
        .args(["-c", &format!("{settings} {line}")])
        .current_dir(place.path("ws"))
        .status();
    assert!(status.expect("sh starts").success(), "{line}");
}

fn decision(place: &Place, command: &str) -> (String, String) {
    let (decision, reason) = place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command }));
    (decision, format!("{command}: {reason}"))
}

/// Commands that show what a stash keeps of untracked files.
const SHOWING: &[&str] = &[
    "git show stash^3",
    "git show 'stash@{0}^3'",
    "git show refs/stash^3",
    "git show kept^3",
    "git show ':/untracked files on'",
    "git diff stash^3",
    "git diff main..stash^3",
    "git log -p stash",
    "git log --all -p",
    "git log -p --reflog",
    "git log -gp stash",
    "git stash show -u -p",
    "git stash show -p --include-untr",
    "git stash show --only-untracked -p",
    "git archive stash^3",
    "git grep KEY stash^3",
];

#[test]
fn commands_that_show_untracked_secrets_of_a_stash_are_questions_that_no_yes_answers() {
    let Some(place) = repository() else { return };
    place.put("ws/conf/.env", "API_KEY=canary-4f9d27ab\n");
    git(&place, "git stash -qu; git branch kept stash");
    for packed in ["true", "git gc -q"] {
        git(&place, packed);
        let allowed: Vec<String> = SHOWING
            .iter()
            .map(|command| decision(&place, command))
            .filter(|(decision, _)| decision == "allow")
            .map(|(_, why)| why)
            .collect();
        assert!(allowed.is_empty(), "after {packed}: {}", allowed.join("\n"));
        for command in
            ["git stash list", "git stash show -p", "git log -p main", "git show HEAD", "git ls-tree stash^3"]
        {
            let (decision, why) = decision(&place, command);
            assert_eq!(decision, "allow", "after {packed}: {why}");
        }
    }
}

#[test]
fn a_stash_without_a_secret_is_shown_without_a_question() {
    let Some(place) = repository() else { return };
    place.put("ws/notes/a.txt", "text\n");
    git(&place, "git stash -qu");
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    for command in
        SHOWING.iter().filter(|command| !command.contains("kept") && !command.contains("-u") && !command.contains(":/"))
    {
        let (decision, why) = decision(&place, command);
        assert_eq!(decision, "allow", "{why}");
    }
}

#[test]
fn a_stash_of_tracked_files_takes_no_untracked_secret() {
    let Some(place) = repository() else { return };
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    for command in ["git stash", "git stash push -m later", "git stash && git stash pop", "git stash; git diff HEAD"] {
        let (decision, why) = decision(&place, command);
        assert_eq!(decision, "allow", "{why}");
    }
    for command in ["git stash -u", "git stash push --include-untracked", "git stash -a; git stash show -p"] {
        let (decision, why) = decision(&place, command);
        assert_ne!(decision, "allow", "{why}");
    }
}
