//! Repositories of the workspace among themselves: clones, remotes and settings, over several calls of one session.

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::session::{Session, text};

const ORIGIN: &str = "mkdir a && cd a && git init -q -b main && git config user.name A && git config user.email a@b.c && \
    echo 1 > f && git add f && git commit -qm one";

fn works(session: &mut Session, command: &str) -> Value {
    let record = session.call("bash", &json!({ "command": command }));
    assert_eq!((&record["status"], &record["exit_code"]), (&json!("ok"), &json!(0)), "{command}: {record:#}");
    assert!(!text(&record).contains("Refused"), "{command}: {record:#}");
    record
}

fn with_git(work: &dyn Fn(&Ground, &mut Session)) {
    for_everybody(&|ground| {
        if ground.has_git() {
            ground.lay_out(ORIGIN);
            let mut session = Session::of(ground);
            work(ground, &mut session);
            session.end();
        }
    });
}

#[test]
fn a_repository_is_cloned_and_pushed_to_without_leaving_the_workspace() {
    with_git(&|ground, session| {
        works(session, "git clone -q a b");
        works(session, "cd b && git config user.name B && git config user.email b@b.c");
        works(session, "cd b && echo 2 >> f && git commit -qam two && git push -q origin HEAD:refs/heads/two");
        ground.lay_out("test \"$(git -C a log --format=%s two | head -1)\" = two && git -C a fsck --full --strict");
        works(session, "cd b && git switch -qc three origin/main && git push -q -u origin three");
        ground.lay_out("test \"$(git -C b config branch.three.remote)\" = origin");
        let undone = ground.haft(&["undo"]);
        assert!(undone.status.success(), "{undone:?}");
        ground.lay_out("git -C a fsck --full --strict; ! git -C a rev-parse -q --verify three");
    });
}

#[test]
fn everyday_settings_of_the_repository_of_the_workspace_are_kept() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        ground.lay_out(&ORIGIN.replace("mkdir a && cd a && ", ""));
        let mut session = Session::of(ground);
        works(&mut session, "git config user.name B && git remote add up ./elsewhere");
        works(
            &mut session,
            "git switch -qc feature && git branch --set-upstream-to=main && git branch -m feature other",
        );
        ground.lay_out(
            "test \"$(git config user.name)\" = B && git config remote.up.url && git config branch.other.merge",
        );
        let refused = session.run(ground, "git config core.hooksPath .");
        assert!(text(&refused).contains("Refused") && text(&refused).contains(".git/config"), "{refused:#}");
        ground.lay_out("! git config core.hooksPath");
        session.end();
        for _ in 0..2 {
            assert!(ground.haft(&["undo"]).status.success());
        }
        ground
            .lay_out("test \"$(git config user.name)\" = A && ! git config remote.up.url && git fsck --full --strict");
    });
}

#[test]
fn a_push_to_another_machine_or_to_a_remote_that_the_command_itself_changes_is_publishing() {
    // Only there are connections known by name.
    if !haft_testkit::require::Need::Full.met(crate::ground::level() == "full") {
        return;
    }
    with_git(&|ground, session| {
        ground.lay_out("git clone -q a b; cd b; git remote add far https://git.example/a.git");
        let mut refused = |command: &str| {
            let record = session.call("bash", &json!({ "command": command }));
            assert_eq!(record["error"]["rule"], "publishing", "{command}: {record:#}");
        };
        refused("cd b && git push far main");
        refused("cd b && git push");
        ground.lay_out("cd b; git remote remove far");
        refused("cd b && git config remote.origin.url https://git.example/a.git && git push origin main");
        refused("cd b && python3 -c 'import os; os.rename(\"x\", \"y\")'; git push origin main");
    });
}

#[test]
fn settings_that_run_programs_are_refused_also_beside_harmless_ones() {
    with_git(&|ground, session| {
        for command in [
            "git config user.name B; git config core.fsmonitor ./x",
            "git config user.name B; git config remote.origin.url ../other",
            "git config core.hooksPath x",
        ] {
            ground.lay_out("rm -rf b; git clone -q a b; cp b/.git/config before");
            session.run(ground, &format!("cd b; {command}"));
            ground.lay_out("cmp before b/.git/config");
        }
    });
}
