//! Secrets that a command or a search would read along with everything else: the guard cannot hide them, so it asks.

use std::path::Path;
use std::process::Command;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::super::Place;

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
    place.put("ws/.gitignore", "/.env\n");
    place.put("ws/conf/prod.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/src/lib.rs", "");
    place.put("ws/links/a.md", "");
    std::os::unix::fs::symlink("../.env", place.path("ws/links/plain")).expect("there is room");
    place
}

#[test]
fn commands_that_read_secrets_along_with_the_rest_are_asked_about() {
    let place = place();
    for command in [
        "grep -rn API .",
        "grep -rh --include=.env '' .",
        "grep -rn API conf",
        "rg --hidden API",
        "rg -uu API",
        "rg API",
        "find . -type f -exec cat {} +",
        "find -name '[.]env' -exec cat {} +",
        "find . -type f | xargs grep API",
        "cat $(ls -a | grep env)",
        "tar cf - . | tar xOf -",
        "diff -r . /usr/share",
        "git grep --no-index API",
        "git grep --untracked API",
        "git diff --no-index src conf",
        "git add -N . && git add -p",
        "git status -vv",
        "git add -A -f",
        "git add -f .",
        "git add --forc --all",
        "git stage -vf src/..",
        "cat links/*",
        "head -n1 links/pl*",
        "find links -type l -exec cat {} +",
        "grep -R API links",
        "shopt -s extglob\ncat @(.env|x)",
        "shopt -s nocaseglob\ncat .E*",
        "docker compose config",
        "ls -d .e* | xargs cat",
        "ls .e* | head -1 | xargs head",
        "ls .env | xargs cat",
        "cat $(ls -d .e*)",
        "cat -- \"$(ls -d ./.[a-z]* | head -1)\"",
        "cat < $(ls -d .e*)",
        "ls -d .e* | xargs -I% sh -c 'cat %'",
        "ls -d .e* | while read f; do cat \"$f\"; done",
        "read f < <(ls -d .e*); cat $f",
        "mapfile -t f < <(ls -d .e*); cat \"${f[@]}\"",
        "printf '.e%s' nv | xargs cat",
        "find . -maxdepth 1 -name '.e*' | xargs head",
        "ls -a | grep env | xargs -I{} cat {}",
        "while read f; do cat \"$f\"; done < <(ls -a)",
        "for f in .*; do cat $f; done",
        "find . -regex '.*env' | xargs cat",
        "sed 's,^/,,' .gitignore | xargs cat",
        "git check-ignore .e* | xargs cat",
        "ls conf | xargs -I{} cat conf/{}",
        "for f in $(ls conf); do cat conf/$f; done",
        "ls conf | while read -r f; do head \"conf/$f\"; done",
        "tree -i conf | xargs -I{} cat conf/{}",
        "ls con* | xargs -I{} cat conf/{}",
        "git grep --untr API",
        "git grep --no-ind API",
        "git diff --no-ind src conf",
        "git status --verb",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
        assert!(!reason.contains("canary"), "{reason}");
    }
}

#[test]
fn git_commands_that_name_an_object_which_is_no_commit_are_asked_about() {
    if !Need::Git.met(std::process::Command::new("git").arg("--version").output().is_ok()) {
        return;
    }
    let place = place();
    std::fs::remove_dir_all(place.path("ws/.git")).expect("it is there");
    place.put("ws/.gitignore", "*.env\n");
    let workspace = place.path("ws");
    let git = |line: &str| {
        let settings = "git config user.name u; git config user.email u@example.com;";
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("{settings} {line}")])
            .current_dir(&workspace)
            .output();
        String::from_utf8(output.expect("sh starts").stdout).expect("git prints ASCII").trim().to_owned()
    };
    git("git init -q -b main; git add .gitignore src; git commit -qm first; git tag -am said v1");
    let stored = git("git hash-object -w .env");
    let tree = git(&format!("printf '100644 blob {stored}\\tx\\n' | git mktree"));
    git(&format!("git tag k {stored}; git tag -am said held {tree}"));
    let commit = git("git rev-parse HEAD");
    let short = &stored[..7];
    for packed in ["true", "git gc -q"] {
        git(packed);
        for command in [
            format!("git show {stored}"),
            format!("git show {short}"),
            format!("git show {}", stored.to_uppercase()),
            format!("git cat-file -p {stored}"),
            format!("git cat-file blob {short}"),
            format!("git diff {short} {}", &tree[..8]),
            format!("git diff {commit}..{short}"),
            format!("git show {tree}:x"),
            format!("git archive {tree}"),
            format!("git grep . {tree}"),
            format!("git diff-tree -p {tree} {tree}"),
            format!("git blame {tree} -- x"),
            format!("git merge-file -p --object-id {stored} {stored} {stored}"),
            "git show k".to_owned(),
            "git show tags/k".to_owned(),
            "git cat-file blob refs/tags/k".to_owned(),
            "git archive held".to_owned(),
        ] {
            let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
            assert_ne!(decision, "allow", "after {packed}: {command}: {reason}");
        }
        for command in [
            format!("git show {commit}"),
            format!("git show {}", &commit[..7]),
            format!("git log -p {}..main", &commit[..9]),
            format!("git cat-file -p {commit}"),
            format!("git cat-file -t {stored}"),
            "git show v1".to_owned(),
            "git diff v1..HEAD".to_owned(),
            "git log -p main".to_owned(),
            format!("git ls-tree {tree}"),
        ] {
            let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
            assert_eq!(decision, "allow", "after {packed}: {command}: {reason}");
        }
    }
}

/// Commands that give secrets a name elsewhere, or read files whose names a file says.
const OTHER_WAYS: &[&str] = &[
    "cp -r . /tmp/x1",
    "cp -a . /tmp/x1",
    "cp -t /tmp -r .",
    "cp -r conf /tmp/x1",
    "cp -r \"$PWD\" /tmp/x1",
    "rsync -a ./ /tmp/x1",
    "rsync -a conf/ /tmp/x1/",
    "mv ./* /tmp",
    "mv conf /tmp/x1",
    "ln -s \"$PWD\" /tmp/w",
    "ln -s . /tmp/w",
    "find . -name '*' -exec cp {} /tmp/x1 \\;",
    "while read f; do cat $f; done < list",
    "xargs cat < list",
    "xargs -a list cat",
    "cat $(cat list)",
    "read f < list; cat \"$f\"",
    "cpio -o < list",
    "tar -T list -cf -",
    "rsync --files-from=list . /tmp/o",
    "sort --files0-from=list",
    "zip - -@ < list",
    "pax -w < list",
    "awk '{while((getline l < $0)>0) print l}' list",
    "sed 's/.*/cat &/e' list",
    "sed -n 's/\\(.*\\)/cat \\1/ep' list",
    "sed -E 's/(.)(.*)/head -n 9 \\1\\2/e' list",
    "yq .env",
    "yq -p props -o json .env",
    "yq e -P .env",
    "git stash -a",
    "git stash push --all",
    "git stash -u",
];

#[test]
fn other_names_for_secrets_and_names_from_files_are_questions_that_no_yes_answers() {
    let place = place();
    place.put("ws/list", ".env\n");
    let mut allowed = Vec::new();
    for command in OTHER_WAYS {
        for flags in [&[][..], &["--yes"][..], &["--yes=all"][..]] {
            let (decision, reason) = place.guarded_with(flags, "Bash", &json!({ "command": command }));
            allowed.extend((decision == "allow").then(|| format!("{flags:?} {command}: {reason}")));
        }
    }
    assert!(allowed.is_empty(), "{}", allowed.join("\n"));
    std::fs::remove_file(place.path("ws/.env")).expect("it is there");
    std::fs::remove_dir_all(place.path("ws/conf")).expect("it is there");
    for command in ["cp -r . /tmp/x1", "ln -s . /tmp/w", "cat $(cat list)", "git stash -u"] {
        let (decision, reason) = place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn copies_that_git_makes_of_a_tracked_secret_elsewhere_are_questions_that_no_yes_answers() {
    if !Need::Git.met(std::process::Command::new("git").arg("--version").output().is_ok()) {
        return;
    }
    let place = place();
    std::fs::remove_dir_all(place.path("ws/.git")).expect("it is there");
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(place.path("ws")).status();
    assert!(made.expect("git starts").success());
    let judged = |command: &str| place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command })).0;
    let copies = ["git clone . /tmp/q2", "git worktree add /tmp/q3", "git worktree add --detach /tmp/q3 HEAD"];
    copies.iter().for_each(|command| assert_eq!(judged(command), "allow", "nothing is tracked: {command}"));
    let added = std::process::Command::new("git").args(["add", "-f", ".env"]).current_dir(place.path("ws")).status();
    assert!(added.expect("git starts").success());
    copies.iter().for_each(|command| assert_ne!(judged(command), "allow", "{command}"));
}

#[test]
fn a_patch_of_another_name_of_a_secret_is_judged_as_one_of_the_secret() {
    let place = place();
    std::fs::hard_link(place.path("ws/.env"), place.path("ws/hard.txt")).expect("there is room");
    for path in ["hard.txt", ".env"] {
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
        let event = json!({
            "session_id": "s", "turn_id": "t", "model": "m", "cwd": place.path("ws"), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": { "command": patch },
        });
        let said = place.guard(&[], &[], event.to_string().as_bytes());
        assert!(said.out.contains("\"deny\"") && !said.out.contains("canary"), "{path}: {}", said.out);
    }
}

#[test]
fn commands_that_leave_them_out_are_not_asked_about() {
    let place = place();
    for command in [
        "grep -rn API src",
        "grep -rn --include='*.rs' API .",
        "grep -rn --exclude='*.env' --exclude='.env*' API .",
        "rg API src",
        "git log -p",
        "git diff",
        "git status",
        "ls -la",
        "ls -la .e*",
        "cat src/*.rs",
        "ls src | xargs -I{} cat src/{}",
        "for f in $(ls src); do cat \"src/$f\"; done",
        "ls src/*.rs | xargs grep -n fn",
        "ls ./src/*.rs | xargs cat",
        "ls | xargs wc -l",
        "find . -name '*.rs' | xargs grep foo",
        "for f in *.txt; do cat \"$f\"; done",
        "git ls-files src | xargs wc -l",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_search_that_takes_in_what_is_ignored_is_asked_about() {
    let place = place();
    std::fs::remove_dir_all(place.path("ws/conf")).expect("it is there");
    for command in [
        "rg -g .env API",
        "rg -g '*' API",
        "rg --iglob '.ENV' API",
        "rg --type-add 'x:.env' -tx API",
        "rg -nuu API",
        "rg -n. --no-ignore API",
        "rg --no-ignore-files --hidden API .",
        "ag -U --hidden API",
        "ack API",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
    for command in ["rg API", "rg -g '*.rs' API", "rg -t rust API", "rg -g '!.env' API", "ag API src"] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

/// Settings of git that hold a password or a token.
const GIT_SECRETS: &[&str] = &[
    "[remote \"origin\"]\n\turl = https://me:canary-4f9d27ab@x.example/a.git\n",
    "[remote \"origin\"]\n\tpushurl = https://ghp_canary4f9d27abcanary4f9d27ab@x.example/a.git\n",
    "[http]\n\textraheader = AUTHORIZATION: basic canary-4f9d27ab\n",
    "[http \"https://x.example/\"]\n\textraHeader = AUTHORIZATION: bearer canary-4f9d27ab\n",
    "[sendemail]\n\tsmtpPass = canary-4f9d27ab\n",
    "[url \"https://me:canary-4f9d27ab@x.example/\"]\n\tinsteadOf = https://x.example/\n",
    "[include]\n\tpath = more\n",
];

#[test]
fn commands_that_show_settings_of_git_are_asked_about_where_these_hold_a_token() {
    const SHOWN: &[&str] = &[
        "git remote -v",
        "git -C . remote --verbose",
        "git remote get-url origin",
        "git config -l",
        "git config --list --show-origin",
        "git config list",
        "git config --get remote.origin.url",
        "git config --get-regexp '^remote'",
        "git config --get-regexp '.*'",
        "git var -l",
        "cat .git/config",
        "grep -n url .git/config",
        "head .git/conf*",
        "grep -r url .git",
        "grep -rn url .",
        "rg --hidden url",
    ];
    const OTHERS: &[&str] = &[
        "git remote",
        "git config --get user.name",
        "git config user.email",
        "git status",
        "git log --oneline -3",
        "git branch -vv",
        "rg url",
        "cat .git/HEAD",
        "ls .git",
    ];
    for settings in GIT_SECRETS {
        let place = Place::new();
        place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
        place.put("ws/.git/more", GIT_SECRETS[0]);
        place.put("ws/.git/config", settings);
        place.put("ws/src/lib.rs", "");
        // What is included lies in another file.
        let is_included = settings.contains("[include]");
        for command in SHOWN.iter().filter(|command| !is_included || !command.contains(".git/")) {
            let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
            assert_ne!(decision, "allow", "{settings}: {command}: {reason}");
            assert!(!reason.contains("canary"), "{reason}");
        }
        for command in OTHERS {
            let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
            assert_eq!(decision, "allow", "{settings}: {command}: {reason}");
        }
    }
}

#[test]
fn settings_of_git_without_a_token_are_shown_without_a_question() {
    let place = Place::new();
    place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
    let plain = "[remote \"origin\"]\n\turl = git@x.example:a.git\n\tpushurl = https://me@x.example/a.git\n";
    place.put("ws/.git/config", plain);
    for command in
        ["git remote -v", "git config --list", "git config --get remote.origin.url", "cat .git/config", "grep -r url ."]
    {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_search_of_an_agent_finds_what_git_does_not_ignore() {
    let place = place();
    let ask = |input| place.guarded("Grep", &input).0;
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content" })), "ask");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "glob": "*.env" })), "ask");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "glob": "*.rs" })), "allow");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "path": "src" })), "allow");
    // Names among many show nothing; among few they tell what is in a file, letter by letter.
    assert_eq!(ask(json!({ "pattern": "API" })), "allow");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "count", "glob": "*.env" })), "ask");
    for glob in ["{.env,x}", ".e*", ".*", "*", "**", ".?nv", "*env", "**/.e*"] {
        assert_eq!(ask(json!({ "pattern": "^API_KEY=c", "glob": glob })), "ask", "{glob}");
    }
    assert_eq!(ask(json!({ "pattern": "API", "glob": "*.rs" })), "allow");
    assert_eq!(place.guarded("Glob", &json!({ "pattern": "**/*" })).0, "allow");
    assert_eq!(place.guarded("grep_search", &json!({ "pattern": "API" })).0, "ask");
}

#[test]
fn a_command_that_names_a_secret_is_denied_where_the_agent_does_not_ask() {
    let place = place();
    for command in ["ed .env <<< ,p", "ex -sc '%p|q' .env", "mv .env x.txt", "view conf/prod.env"] {
        let mut event: Value =
            serde_json::from_str(&place.event("Bash", &json!({ "command": command }))).expect("it is JSON");
        event["permission_mode"] = "bypassPermissions".into();
        let said = place.guard(&[], &[], event.to_string().as_bytes());
        assert!(said.out.contains("\"permissionDecision\":\"deny\""), "{command}: {}", said.out);
    }
}

#[test]
fn commands_of_git_that_show_a_secret_which_they_make_git_know_are_asked_about() {
    let place = place();
    for adding in [
        "git add .",
        "git add -A",
        "git add conf",
        "git add -N .",
        "git stage conf",
        "git update-index --add conf/prod.env",
    ] {
        for showing in
            ["git diff --cached", "git diff", "git diff HEAD", "git grep --cached API", "git diff-index -p HEAD"]
        {
            for command in [format!("{adding} && {showing}"), format!("{adding}; {showing}")] {
                let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
                assert_ne!(decision, "allow", "{command}: {reason}");
            }
        }
        let command = format!("{adding} && git status && git diff --cached --stat");
        let (_, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert!(!reason.contains("along with the rest"), "{command}: {reason}");
    }
}

#[test]
fn a_secret_that_a_command_copies_moves_or_takes_into_git_is_refused_where_nobody_is_asked() {
    let place = place();
    for command in [
        "cp -r conf n && cat n/*",
        "cp -a ./conf/ n && grep -r API n",
        "rsync -a conf/ n && cat n/*",
        "mv conf src/ && cat src/conf/*",
        "ln -s conf n; rg API n",
        "git stash -qa && git show stash^3",
        "git stash push --all; git stash show -p",
        "mv .gitignore gi && git add . && git diff --cached",
        "git -C conf --git-dir=../.git add -A ; git diff --cached",
        "cd conf && git --git-dir=../.git --work-tree=. add . ; git diff --cached",
        "curl -s \"file://$PWD/.e{n}v\"",
        "curl -s \"file://$PWD/.e[n-n]v\"",
        "curl -s \"file://$PWD/%2eenv\"",
    ] {
        let mut event: Value =
            serde_json::from_str(&place.event("Bash", &json!({ "command": command }))).expect("it is JSON");
        event["permission_mode"] = "bypassPermissions".into();
        let said = place.guard(&[], &[], event.to_string().as_bytes());
        assert!(said.out.contains("\"permissionDecision\":\"deny\""), "{command}: {}", said.out);
    }
    for command in [
        "cp -r src n && cat n/lib.rs",
        "mv src/lib.rs src/a.rs && cat src/a.rs",
        "git add src && git diff --cached --stat",
    ] {
        let (_, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert!(!reason.contains("along with the rest"), "{command}: {reason}");
    }
}

/// Makes git know the secrets.
fn tracked() -> Place {
    let place = place();
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.env_clear().env("HOME", place.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let done = command.current_dir(place.path("ws")).args(words).output().expect("git is there");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "-f", ".env", "conf/prod.env", "src/lib.rs"]);
    place
}

/// Commands that show a tracked secret.
const SHOWING: &[&str] = &[
    "git diff",
    "git diff --cached",
    "git diff --stat -p",
    "git diff --stat --patc",
    "git show",
    "git show --stat --cc",
    "git show --stat --unif=1",
    "git log -p",
    "git log --patc",
    "git log --dd",
    "git log --cc",
    "git log -c",
    "git log -m",
    "git log -U1",
    "git log --unifi=1",
    "git log --diff-merg=on",
    "git log --remerge",
    "git log --word-d",
    "git log --color-w",
    "git log --binar",
    "git log --patch-with-s",
    "git log -L 1,5:src/lib.rs",
    "git log -S API",
    "git log -wp",
    "git diff --stat -GAPI",
    "git reflog -p",
    "git reflog --dd",
    "git stash show -p",
    "git stash show --patc",
    "git stash list -p",
    "git bisect visualize -p",
    "git whatchanged",
    "git format-patch -1 --stdout",
    "git archive HEAD",
    "git grep API",
    "git am --show-current-patch",
    "git merge-tree main work",
    "git commit -av",
    "git status -sv",
];

#[test]
fn commands_of_git_that_show_a_tracked_secret_are_asked_about_however_options_are_cut() {
    let place = tracked();
    for command in SHOWING {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_value_of_an_option_before_the_subcommand_hides_no_command_of_git() {
    let place = tracked();
    let mut allowed = Vec::new();
    for options in ["-C .", "-C src", "--git-dir .git", "--work-tree . --no-pager", "-C . --namespace x"] {
        for command in SHOWING {
            let command = command.replacen("git", &format!("git {options}"), 1);
            if place.guarded("Bash", &json!({ "command": command })).0 == "allow" {
                allowed.push(command);
            }
        }
    }
    assert_eq!(allowed, Vec::<String>::new());
}

#[test]
fn commands_of_git_that_show_names_and_messages_alone_are_not_asked_about() {
    let place = tracked();
    for command in [
        "git log",
        "git log --oneline --graph",
        "git log --stat",
        "git log --format=%H -n 3",
        "git log --name-only --author=x",
        "git diff --stat",
        "git diff --name-only",
        "git show --stat HEAD",
        "git show --name-status",
        "git reflog",
        "git stash list",
        "git stash show",
        "git status --short",
        "git status -uall",
        "git branch -vv",
        "git add src/lib.rs",
        "git rev-list --all --objects",
        "git rev-list --count HEAD",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

/// Commands of git that show a tracked secret of a repository below the workspace.
const SHOWING_NESTED: &[&str] = &[
    "git -C api diff",
    "cd api && git diff",
    "cd api && git show HEAD",
    "cd api; git log -p",
    "git -C api grep K",
    "pushd api; git diff",
    "for d in */; do git -C $d diff; done",
    "git --git-dir=api/.git show HEAD",
    "git -C api for-each-ref --format='%(raw)'",
    "git -C api tag -l --format='%(raw)'",
    "git -C api branch --format \"%(raw:size)%(raw)\"",
    "git -C api tag --format=\"$X\"",
];

#[test]
fn tracked_secrets_of_repositories_in_and_above_the_workspace_are_asked_about() {
    let git = |folder: &Path, line: &str| {
        let settings = "git config user.name u; git config user.email u@example.com;";
        let status = Command::new("sh").args(["-c", &format!("{settings} {line}")]).current_dir(folder).status();
        assert!(status.expect("sh starts").success(), "{line}");
    };
    let place = Place::new();
    place.put("ws/api/config/secrets.yml", "K: canary-4f9d27ab\n");
    git(&place.path("ws/api"), "git init -q; git add -f .; git commit -qm a");
    std::fs::remove_file(place.path("ws/api/config/secrets.yml")).expect("it is there");
    let asked = |command: &str| place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command })).0 != "allow";
    let allowed: Vec<_> = SHOWING_NESTED.iter().filter(|command| !asked(command)).collect();
    assert_eq!(allowed, Vec::<&&str>::new());
    for command in ["git -C api status", "cd api && git log --oneline", "git branch --format='%(refname)'"] {
        assert!(!asked(command), "{command}");
    }
    let place = Place::new();
    place.put("ws/src/lib.rs", "");
    place.put(".env", "K=canary-4f9d27ab\n");
    git(&place.path(""), "git init -q; git add -f .env ws; git commit -qm a");
    for command in ["git diff", "git show HEAD", "git log -p", "git grep K -- :/", "git diff -- :/"] {
        let (decision, reason) = place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}");
        assert!(reason.contains("../.env"), "{command}: {reason}");
    }
}

#[test]
fn settings_in_files_that_make_git_print_patches_are_questions_where_git_obeys_them() {
    let place = tracked();
    let asked = |command: &str| place.guarded_with(&["--yes=all"], "Bash", &json!({ "command": command })).0 != "allow";
    for (text, command) in [
        ("[stash]\n\tshowPatch = true\n", "git stash show"),
        ("[stash]\n\tshowPatch\n", "git stash show stash@{0}"),
        ("[commit]\n\tverbose = true\n", "git commit --dry-run -am x"),
        ("[commit]\n\tverbose = 1\n", "git commit --long -m x"),
    ] {
        place.put("home/.gitconfig", "");
        assert!(!asked(command), "{command}");
        place.put("home/.gitconfig", text);
        assert!(asked(command), "{text}: {command}");
        assert!(!asked("git commit -m x"), "{text}");
    }
}

/// Patterns without quotes that stand where a program takes no path: the shell puts several names there, and the program
/// reads all but the first.
const FURTHER_NAMES: &[&str] = &[
    "grep .e* src/lib.rs",
    "grep -n .e*",
    "grep -e .e* src/lib.rs",
    "grep -m 1 -e .?nv* src/lib.rs",
    "grep --color=never .en[uv]* src/lib.rs",
    "grep -r -e . --exclude .env* .",
    "grep -r -e . --exclude .e* src .",
    "grep -r . --exclude=.env* .",
    "grep -r . --exclude-dir=conf* .",
    "rg -e .e*",
    "rg .e*",
    "nl -s .e* src/lib.rs",
    "tac -s .e* src/lib.rs",
    "paste -d .e* src/lib.rs",
    "pr -h .e* src/lib.rs",
    "jq --arg a .e* src/lib.rs",
    "head -n .e* src/lib.rs",
    "sort -t .e* src/lib.rs",
    "diff -I .e* src/lib.rs src/lib.rs",
    "cd conf && grep prod* ../src/lib.rs",
    "X='.e*'; grep $X src/lib.rs",
    "for f in .e*; do grep $f src/lib.rs; done; grep .e* src/lib.rs",
];

#[test]
fn names_that_a_pattern_puts_behind_the_first_are_read() {
    let place = place();
    place.put("ws/.env.local", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/.envrc.md", "");
    place.put("ws/conf/prod.env.md", "");
    let mut allowed = Vec::new();
    for command in FURTHER_NAMES {
        if place.guarded("Bash", &json!({ "command": command })).0 == "allow" {
            allowed.push(command);
        }
    }
    assert_eq!(allowed, Vec::<&&str>::new());
}

#[test]
fn patterns_in_quotes_and_those_that_find_no_secret_read_nothing_else() {
    let place = place();
    place.put("ws/data.json", "[]");
    for command in [
        "grep '.e*' src/lib.rs",
        "grep -e \".e*\" src/lib.rs",
        "grep -r --include=*.rs x src",
        "grep -rn x --exclude='.env*' --exclude='*.env' .",
        "grep fn.* src/lib.rs",
        "ls .e*",
        "echo .e*",
        "jq .[0] data.json",
        "jq .items[0].name data.json",
        "nl -s : src/*.rs",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
    // What stands in brackets behind a name is no other name.
    for command in ["pip install -e .[dev]", "pip install -e .[dev,test]"] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "deny", "{command}: {reason}");
    }
}

#[test]
fn a_path_with_white_space_around_it_is_judged_without_it_too() {
    let place = place();
    let blanks = ["\n", "\r", "\t", " ", "\u{b}", "\u{c}", "\u{a0}", "\u{3000}", "\u{feff}"];
    for blank in blanks {
        for (before, behind) in [(blank, ""), ("", blank)] {
            for path in [".env", "links/plain"] {
                let path = format!("{before}{path}{behind}");
                let (decision, reason) = place.guarded_with(&["--yes=all"], "Read", &json!({ "file_path": path }));
                assert_ne!(decision, "allow", "{path:?}: {reason}");
            }
            for path in [".git/hooks/x", ".git/config", ".envrc", ".vscode/tasks.json"] {
                let path = format!("{before}{path}{behind}");
                let input = json!({ "file_path": path, "content": "x" });
                let (decision, reason) = place.guarded_with(&["--yes=all"], "Write", &input);
                assert_ne!(decision, "allow", "{path:?}: {reason}");
            }
            let search = json!({ "pattern": ".", "output_mode": "content", "path": format!("{before}.{behind}") });
            assert_ne!(place.guarded("Grep", &search).0, "allow", "{blank:?}");
        }
    }
    assert_eq!(place.guarded("Read", &json!({ "file_path": " src/lib.rs\n" })).0, "allow");
}

#[test]
fn a_secret_by_another_name_is_asked_about_in_every_later_call() {
    let place = place();
    place.put("ws/docs/plain.md", "");
    let link = |from: &str, to: &str| std::fs::hard_link(place.path(from), place.path(to)).expect("there is room");
    link("ws/docs/plain.md", "ws/docs/same.md");
    for command in ["cat docs/plain.md", "cat docs/*", "grep -r x docs"] {
        assert_eq!(place.guarded("Bash", &json!({ "command": command })).0, "allow", "{command}");
    }
    link("ws/.env", "ws/docs/notes.md");
    for command in [
        "cat docs/notes.md",
        "cat < docs/notes.md",
        "cp docs/notes.md x",
        "cd docs && head *.md",
        "cat docs/*",
        "grep -r API docs",
        "ls docs | xargs -I{} cat docs/{}",
        "find docs -type f -exec cat {} +",
        "sed -n p docs/notes.md",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
    assert_eq!(place.guarded("Bash", &json!({ "command": "cat docs/plain.md" })).0, "allow");
    let notes = place.path("ws/docs/notes.md");
    let (decision, reason) = place.guarded("Read", &json!({ "file_path": notes }));
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("another name of .env"), "{reason}");
    for input in [
        json!({ "pattern": ".", "output_mode": "content", "path": "docs/notes.md" }),
        json!({ "pattern": ".", "output_mode": "content", "path": "docs" }),
        json!({ "pattern": ".", "path": "docs", "glob": "note*" }),
        json!({ "pattern": "API_KEY=c", "path": notes }),
    ] {
        let (decision, reason) = place.guarded("Grep", &input);
        assert_eq!(decision, "ask", "{input}: {reason}");
    }
    assert_eq!(place.guarded("Read", &json!({ "file_path": place.path("ws/docs/plain.md") })).0, "allow");
}

#[test]
fn a_folder_that_a_pattern_finds_is_read_by_programs_that_enter_folders() {
    let place = Place::new();
    place.put("ws/conf/deep/prod.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/a.txt", "");
    for command in
        ["grep -r API *", "grep -rn API ./*", "ls | xargs grep -r API", "tar cf - c*", "diff -r * src", "rg API *"]
    {
        assert_ne!(place.guarded("Bash", &json!({ "command": command })).0, "allow", "{command}");
    }
    for command in ["grep API *", "cat *", "head -n 1 *", "wc -l *", "ls *", "ls | xargs cat"] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_star_finds_no_hidden_names_unless_something_says_so() {
    let place = Place::new();
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/src/lib.rs", "");
    place.put("ws/a.txt", "");
    for command in ["cat *", "cat ./*", "head *", "head -n 1 -- *", "grep foo *", "grep -n 'foo bar' *", "cat * && ls"]
    {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
    for command in [
        "cat .*",
        "cat * .*",
        "grep -r foo .",
        "shopt -s dotglob; cat *",
        "shopt -s dotglob\ncat *",
        "bash -O dotglob -c 'cat *'",
        "GLOBIGNORE=x; cat *",
        "find . -type f -exec cat {} +",
        "cat ./*; find . -type f -exec cat {} +",
        "fd -H . -x cat",
        "x=$(cat a.txt); cat \"./$x\"",
        "cat ./*; ls -A | xargs cat",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_program_that_is_asked_for_its_help_does_not_read_the_folder() {
    let place = Place::new();
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    for command in ["python3 -m http.server --help", "gcc -B. --version"] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "ask", "{command}: {reason}");
        assert!(!reason.contains("along with the rest"), "{command}: {reason}");
    }
}

#[test]
fn ignore_files_of_search_programs_may_take_back_what_git_ignores() {
    let ignored = |rules: Option<&str>| {
        let place = Place::new();
        place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
        place.put("ws/.gitignore", ".env\n");
        place.put("ws/sub/.env", "API_KEY=canary-4f9d27ab\n");
        rules.iter().for_each(|rules| place.put(rules, "!.env\n"));
        place
    };
    let judged = |place: &Place, command: &str| place.guarded("Bash", &json!({ "command": command })).0;
    assert_eq!(judged(&ignored(None), "rg API"), "allow");
    for rules in ["ws/.rgignore", "ws/sub/.rgignore", "ws/.agignore"] {
        assert_eq!(judged(&ignored(Some(rules)), "rg API"), "ask", "{rules}");
    }
}

#[test]
fn a_command_with_thousands_of_parts_looks_at_the_workspace_once() {
    let place = place();
    for folder in 0..200 {
        place.put(&format!("ws/many/d{folder}/a.txt"), "");
    }
    for part in ["rg x;", "git diff;", "grep -r x many;", "cat many/*/*;"] {
        let begun = std::time::Instant::now();
        place.guarded("Bash", &json!({ "command": part.repeat(2_000) }));
        // A new search for each part takes minutes.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{part}: {:?}", begun.elapsed());
    }
}
