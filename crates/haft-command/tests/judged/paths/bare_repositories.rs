//! Folders that git takes for a repository of its own, whatever lies behind the names in them.

use haft_command::{CommandReader, CommandScene, Locate, PathLocation};
use haft_contract::doors::door::FileKind;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_policy::decision::Decision::{self, Allow, Ask};
use haft_policy::effect_kind::EffectKind;
use haft_policy::examples::{HOME, WORKSPACE, decision_beside};
use haft_policy::policy::{Policy, Situation};

/// Commands of git that follow the settings of a repository.
const READS: &[&str] = &["status", "diff", "log --oneline", "show", "branch", "rev-parse HEAD", "ls-files"];

/// A workspace with a folder `v3`, whose entries are links: what they lead to is not there, or outside.
struct Links<'a> {
    names: &'a [&'a str],
    lists: bool,
}

impl Locate for Links<'_> {
    fn locate(&self, path: &str) -> PathLocation {
        let Some(inside) = path.strip_prefix(WORKSPACE).map(|rest| rest.trim_start_matches('/')) else {
            return PathLocation { target: Target::Outside(FileLocation::new(path, Extent::Entry)), kind: None };
        };
        let is_link = inside.strip_prefix("v3/").is_some_and(|name| self.names.contains(&name));
        let is_folder = matches!(inside, "" | "v3" | ".git");
        let kind = is_folder.then_some(FileKind::Folder);
        let path = if is_link { "v3/nowhere" } else { inside };
        PathLocation { target: Target::Inside(FileLocation::new(path, Extent::Entry)), kind }
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let is_v3 = folder.trim_end_matches('/') == format!("{WORKSPACE}/v3") && self.lists;
        self.names.iter().filter(|_| is_v3).map(ToString::to_string).collect()
    }
}

fn decision_among_links(names: &[&str], command: &str) -> Decision {
    decision_among(&Links { names, lists: true }, command)
}

fn decision_among(links: &Links<'_>, command: &str) -> Decision {
    let workspace = WORKSPACE.to_owned();
    let (home, user) = (HOME.to_owned(), "somebody".to_owned());
    let scene = CommandScene { home, user, folder: workspace.clone(), workspace };
    let reader = CommandReader { scene: &scene, locate: links, is_refused: EffectKind::refuses_step };
    Policy::default().judge("bash", &reader.steps(command), Situation::default()).decision
}

#[test]
fn a_repository_of_links_that_lead_nowhere_is_one() {
    for read in READS {
        for command in [format!("cd v3 && git {read}"), format!("git -C v3 {read}"), format!("env -C v3 git {read}")] {
            for names in [["HEAD", "objects", "refs", "config"].as_slice(), &["HEAD", "commondir"]] {
                assert_eq!(decision_among_links(names, &command), Ask, "{command} with {names:?}");
            }
            for names in [["objects", "refs", "config"].as_slice(), &["HEAD"], &["README.md"], &[]] {
                assert_eq!(decision_among_links(names, &command), Allow, "{command} with {names:?}");
            }
        }
    }
    // A folder with more names than are listed is none for that.
    let many: Vec<String> = (0..2_000).map(|number| format!("{number}.txt")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(decision_among_links(&many, "cd v3 && git status"), Allow);
}

#[test]
fn links_are_seen_where_no_names_are_listed() {
    for names in [["HEAD", "objects", "refs"].as_slice(), &["HEAD", "commondir"]] {
        assert_eq!(decision_among(&Links { names, lists: false }, "cd v3 && git status"), Ask, "{names:?}");
    }
}

#[test]
fn a_repository_that_the_command_makes_is_one() {
    let planted = ["v4/HEAD", "v4/config", "v4/objects/a", "v4/refs/a"];
    let makers = [
        "cp -r v4/. q/",
        "cp -r v4 q",
        "cp -a v4/ q",
        "rsync -a v4/ q",
        "mkdir q && cp -r v4/* q",
        "mkdir -p q/objects q/refs && cp v4/HEAD v4/config q",
        "mkdir -p q/objects q/refs && cp v4/HEAD q/HEAD && cp v4/config q/config",
        "mkdir -p q/objects q/refs; cp -t q v4/HEAD v4/config",
        "mkdir -p q/objects/x q/refs; ln -s refs/heads/zz q/HEAD; cp v4/config q/config",
        "mkdir q; ln -s ../v4/HEAD ../v4/objects ../v4/refs ../v4/config q",
        "ln -s v4 q",
        "install -D v4/HEAD q/HEAD; install -D v4/config q/config; mkdir q/objects q/refs",
    ];
    for maker in makers {
        for git in ["cd q; git status", "cd q && git diff", "git -C q log", "(cd q && git show)", "pushd q; git branch"]
        {
            let command = format!("{maker}; {git}");
            assert_eq!(decision_beside(&planted, &command), Ask, "{command}");
        }
    }
    for harmless in ["mkdir q; cd q; git status", "mkdir -p q/objects; cd q; git status", "cd docs && git log"] {
        assert_eq!(decision_beside(&planted, harmless), Allow, "{harmless}");
    }
}

#[test]
fn an_empty_git_folder_is_no_repository() {
    let planted = ["q/.git/a", "q/HEAD", "q/config", "q/objects/a", "q/refs/a"];
    assert_eq!(decision_beside(&planted, "cd q && git status"), Ask);
    assert_eq!(decision_beside(&["q/.git/HEAD", "q/HEAD", "q/objects/a"], "cd q && git status"), Allow);
    assert_eq!(decision_beside(&["q/.git", "q/HEAD", "q/objects/a"], "cd q && git status"), Allow);
    assert_eq!(decision_beside(&[], "git clone src q && cd q && git log"), Allow);
}
