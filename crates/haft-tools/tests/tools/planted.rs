//! File tools that complete a git repository ask a person, whatever the order of its parts.

use haft_policy::grant::GrantScope;
use haft_runtime::asking::approval::{ApprovalRequest, Verdict};
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::file_tools::Rename;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use serde_json::json;

/// Parts of repositories whose settings or hooks run programs.
const REPOSITORIES: [&[&str]; 5] = [
    &["HEAD", "objects/a", "refs/a", "config"],
    &["HEAD", "objects/info/a", "refs/heads/a", "hooks/post-index-change"],
    &["HEAD", "objects/a", "refs/a", "config.worktree"],
    &["HEAD", "commondir"],
    &["HEAD", "objects/a", "refs/a", "info/attributes"],
];

/// Returns every order of some parts.
fn orders<'p>(parts: &[&'p str]) -> Vec<Vec<&'p str>> {
    if parts.is_empty() {
        return vec![Vec::new()];
    }
    let behind = |first: usize| {
        let rest = [&parts[..first], &parts[first + 1..]].concat();
        orders(&rest).into_iter().map(move |order| [vec![parts[first]], order].concat())
    };
    (0..parts.len()).flat_map(behind).collect()
}

/// A scene in which all ordinary changes are granted and other questions get no answer.
fn granted(scene: Scene) -> Scene {
    scene.session().grant(GrantScope::ChangesInside);
    scene
}

fn has_all(scene: &Scene, folder: &str, parts: &[&str]) -> bool {
    parts.iter().all(|part| scene.root().join(folder).join(part).exists())
}

#[tokio::test]
async fn whoever_writes_the_last_part_of_a_repository_is_asked() {
    for (folder, repositories) in
        [("docs", &REPOSITORIES[..]), ("target/x", &REPOSITORIES[..1]), (".", &REPOSITORIES[3..4])]
    {
        let all = repositories.iter().flat_map(|parts| orders(parts).into_iter().map(move |order| (parts, order)));
        for (parts, order) in all {
            let scene = granted(Scene::new().file(".gitignore", "target\n"));
            let mut refused = 0;
            for part in &order {
                let result =
                    scene.call("write_file", json!({ "path": format!("{folder}/{part}"), "content": "x" })).await;
                let rule = result.error.map(|error| (error.kind.code(), error.rule.clone()));
                refused += usize::from(rule == Some(("needs_approval", Some("protected names".into()))));
            }
            assert!(refused > 0 && !has_all(&scene, folder, parts), "{folder}: {order:?}");
        }
    }
}

#[tokio::test]
async fn the_parts_that_come_in_one_message_complete_nothing() {
    for parts in REPOSITORIES {
        let scene = granted(Scene::new());
        let call = |part: &&str| ("write_file", json!({ "path": format!("docs/{part}"), "content": "x" }));
        scene.turn(&parts.iter().map(call).collect::<Vec<_>>()).await;
        assert!(!has_all(&scene, "docs", parts), "{parts:?}");
    }
}

#[tokio::test]
async fn a_part_that_gets_its_name_by_a_rename_counts() {
    for parts in REPOSITORIES {
        for last in parts {
            let (mut scene, name) = (Scene::new().tool(Rename), last.split('/').next().expect("it has a name"));
            for part in parts.iter().filter(|part| *part != last) {
                scene = scene.file(&format!("docs/{part}"), "x");
            }
            let scene = granted(scene.file(&last.replacen(name, "docs/other", 1), "x"));
            let result = scene.call("rename", json!({ "from": "docs/other", "to": format!("docs/{name}") })).await;
            // Each new repository has a folder of that name; attributes in it only choose among configured programs.
            let is_attributes = name == "info";
            assert_eq!(result.error.is_some(), !is_attributes, "{parts:?}, {name} last");
        }
    }
}

#[tokio::test]
async fn the_question_says_what_git_would_do_and_a_yes_is_enough() {
    let script = ScriptedApprover::of([Verdict::AllowOnce]);
    let repository =
        Scene::new().file("docs/HEAD", "ref: refs/heads/a\n").file("docs/refs/a", "").file("docs/objects/a", "");
    let scene = granted(repository.approver(script.clone()));
    let config = json!({ "path": "docs/config", "content": "[core]\n\tfsmonitor = ./a.sh\n" });
    snapshot!(scene.told("write_file", config).await, @"
    ok: Created docs/config (27 bytes; +2 −0 lines).
    did: changed docs/config
    ");
    let asked = script.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].ruling.reason.contains("make git treat docs as a repository"), "{}", asked[0].ruling.reason);
    let edit = json!({ "path": "docs/config", "edits": [{ "old_text": "a.sh", "new_text": "b.sh" }] });
    snapshot!(scene.told("edit_file", edit).await, @r#"
    refused at authorize (needs_approval): The rule "protected names" asks first, and there is no one to ask. It would make git treat docs as a repository, whose settings and hooks run programs.
    next: add an answer to the script
    did: nothing
    "#);
}

#[tokio::test]
async fn a_command_without_a_layer_is_judged_by_its_words() {
    let words = "mkdir -p docs/objects docs/refs; cp a docs/config; cp a docs/HEAD";
    for (command, is_asked) in
        [(ScriptedCommand::default(), false), (ScriptedCommand::default().uncovered("no user namespaces"), true)]
    {
        let script = ScriptedApprover::of([Verdict::AllowOnce]);
        let scene = Scene::new().file("a", "x").command(&command).approver(script.clone());
        scene.call("bash", json!({ "command": words })).await;
        let is_protected = |asked: &ApprovalRequest| asked.ruling.rule == "protected names";
        assert_eq!(script.asked().iter().any(is_protected), is_asked, "{:?}", script.asked());
    }
}

#[tokio::test]
async fn folders_that_look_a_little_like_a_repository_are_changed_without_a_question() {
    let scene = granted(Scene::new());
    let paths = [
        "config",
        "hooks/useState.ts",
        "src/objects/a.rs",
        "src/refs/b.rs",
        "src/HEAD",
        "src/description",
        "app/config",
        "app/objects/a.ts",
        "app/hooks/b.ts",
    ];
    for path in paths {
        let result = scene.call("write_file", json!({ "path": path, "content": "x" })).await;
        assert!(result.error.is_none(), "{path}: {:?}", result.error);
    }
}

/// What leads to another file: files of the workspace, a link in it, and the file.
type Lead = (&'static [(&'static str, &'static str)], Option<(&'static str, &'static str)>, &'static str);

const LEADS: [Lead; 7] = [
    (&[(".git/config", "[core]\n\thooksPath = tools\n")], None, "tools/pre-commit"),
    (&[(".git/config", "[include]\n\tpath = ../more\n")], None, "more"),
    (&[(".git/config", "[alias]\n\tx = !scripts/x.sh\n")], None, "scripts/x.sh"),
    (&[("sub/.git/config", "[core]\n\thooksPath = ../shared\n")], None, "shared/post-commit"),
    (&[("cfg/a", "")], Some((".vscode", "cfg")), "cfg/tasks.json"),
    (&[("cfg/a", "")], Some((".vscode", "cfg")), ".vscode/tasks.json"),
    (&[(".git/hooks/a", ""), ("s", "")], Some((".git/hooks/pre-commit", "../../s")), "s"),
];

fn lay_out(scene: &Scene, (files, link, _): Lead) {
    for (path, text) in files {
        let path = scene.root().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    if let Some((link, to)) = link {
        std::os::unix::fs::symlink(to, scene.root().join(link)).expect("a link can be made");
    }
}

#[tokio::test]
async fn a_change_of_what_a_protected_name_leads_to_is_asked_about_each_time() {
    for lead in LEADS {
        let scene = granted(Scene::new());
        lay_out(&scene, lead);
        for _ in 0..2 {
            let arguments = json!({ "path": lead.2, "content": "x", "write_mode": "overwrite" });
            let error = scene.call("write_file", arguments).await.error.expect("nobody is there to answer");
            assert_eq!(
                (error.kind.code(), error.rule.as_deref()),
                ("needs_approval", Some("protected names")),
                "{lead:?}"
            );
        }
        let other = scene.call("write_file", json!({ "path": "src/other.sh", "content": "x" })).await;
        assert!(other.error.is_none(), "{lead:?}: {:?}", other.error);
    }
}

#[tokio::test]
async fn taking_a_change_back_is_asked_about_where_a_protected_name_leads_by_then() {
    for lead in LEADS.into_iter().filter(|lead| !lead.2.starts_with(".vscode")) {
        let scene = granted(Scene::new());
        for text in ["one", "two"] {
            let arguments = json!({ "path": lead.2, "content": text, "write_mode": "overwrite" });
            assert!(scene.call("write_file", arguments).await.error.is_none(), "{lead:?}");
        }
        lay_out(&scene, (lead.0, lead.1, ""));
        std::fs::write(scene.root().join(lead.2), "two").expect("a file can be written");
        let error =
            scene.call("undo", json!({ "action": "take_back" })).await.error.expect("nobody is there to answer");
        assert_eq!(error.rule.as_deref(), Some("protected names"), "{lead:?}: {error:?}");
    }
}

#[tokio::test]
async fn the_question_says_what_leads_there_and_a_yes_is_enough() {
    let script = ScriptedApprover::of([Verdict::AllowOnce]);
    let scene = Scene::new().file(".git/config", "[core]\n\thooksPath = tools\n").approver(script.clone());
    let result = scene.call("write_file", json!({ "path": "tools/pre-commit", "content": "x" })).await;
    assert!(result.error.is_none(), "{:?}", result.error);
    let reason = &script.asked()[0].ruling.reason;
    let words = "to which core.hookspath in .git/config leads (it belongs to version control";
    assert!(reason.contains(words), "{reason}");
}
