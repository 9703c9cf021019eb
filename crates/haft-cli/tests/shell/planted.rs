//! Parts of a git repository come through every door, in any order and by any means: git never runs what they name.
//!
//! After each sequence the user's own git looks at every folder. A program that it starts leaves a file behind.
//! `HAFT_TEST_SEQUENCES` says how many sequences run (24 without it), `HAFT_TEST_SEED` which one is the first.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};

const SEQUENCES: u64 = 24;
/// The parts of a repository that runs a program, and the names under which they are ready.
const PARTS: [(&str, &str); 4] = [("HEAD", "h"), ("objects", "o"), ("refs", "r"), ("config", "c")];
/// Where it is put, and the link that leads there.
const FOLDERS: [(&str, Option<&str>); 6] = [
    ("docs", None),
    (".git/lfs/x", Some("docs")),
    (".git/x", Some("src/link")),
    ("target/x", None),
    ("target/deep/y", Some("docs")),
    ("sub/.git/lfs/x", None),
];
/// How a command makes a part: `@D` is its folder, `@P` its name, `@S` its name among what is ready.
const MEANS: [&str; 8] = [
    "cp -r ready/@S @D/@P",
    "cp -r ready/@S tmp-@S && mv tmp-@S @D/@P",
    "cp -al ready/@S @D/@P",
    "ln -s \"$PWD/ready/@S\" @D/@P",
    "tar cf - -C ready --transform 's,^@S,@P,' @S | tar xf - -C @D",
    "mkdir -p @D-x && cp -r ready/@S @D-x/@P && cp -r @D-x/. @D && rm -r @D-x",
    "if [ -d ready/@S ]; then mkdir -p @D/@P && echo > @D/@P/a; else cat ready/@S > @D/@P; fi",
    "mkdir -p moved/y && cp -r ready/@S moved/y/@P && cp -r moved/y/@P @D && rm -r moved",
];

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("it has 31 bits") % bound
    }

    fn shuffled<T>(&mut self, mut things: Vec<T>) -> Vec<T> {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
        things
    }
}

/// Folders of a repository in which none is made.
const DATA: [&str; 5] = ["objects", "refs", "hooks", "info", "branches"];

fn canary(ground: &Ground) -> PathBuf {
    ground.place.root().join("canary")
}

/// Returns settings that make `git status` run a program.
fn config(ground: &Ground) -> String {
    let program = format!("touch {}; false", canary(ground).display());
    format!("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"{program}\"\n")
}

fn lay_out(ground: &Ground) {
    ground.lay_out(
        "git init -q .; git init -q sub; mkdir -p src ready/o ready/r target; echo target > .gitignore; \
         echo 'ref: refs/heads/x' > ready/h; echo > ready/o/a; echo > ready/r/a; echo > target/built",
    );
    ground.place.put("ready/c", &config(ground));
}

/// Lets the user's own git look at every folder; returns whether it ran a program.
fn is_run(ground: &Ground) -> bool {
    let mut folders = vec![ground.place.path("")];
    while let Some(folder) = folders.pop() {
        let mut command = Command::new("git");
        command.arg("status").current_dir(&folder).env("HOME", ground.place.root().join("home"));
        let _ = command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            .output();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            // Links are entered as the user would enter them, once.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let leads_inside = || entry.path().canonicalize().is_ok_and(|real| real.starts_with(ground.place.path("")));
            if is_folder && !DATA.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            } else if entry.path().is_dir() && leads_inside() {
                let _ = Command::new("git").arg("status").current_dir(entry.path()).output();
            }
        }
    }
    canary(ground).exists()
}

/// One call of a sequence.
enum Step {
    Command(String),
    Write(String, String),
}

/// Returns the calls of one sequence.
fn sequence(ground: &Ground, dice: &mut Dice) -> (String, Vec<Step>) {
    let (folder, link) = FOLDERS[dice.below(FOLDERS.len())];
    let (calls, parts) = (1 + dice.below(4), dice.shuffled(PARTS.to_vec()));
    let mut steps: Vec<Step> = Vec::new();
    for (index, (part, source)) in parts.into_iter().enumerate() {
        let means = dice.below(MEANS.len() + 2);
        if let Some(means) = MEANS.get(means) {
            let command = means.replace("@P", part).replace("@S", source).replace("@D", folder);
            let command = format!("mkdir -p {folder} && {{ {command}; }}");
            match steps.last_mut() {
                Some(Step::Command(before)) if index >= calls => *before = format!("{before}; {command}"),
                _ => steps.push(Step::Command(command)),
            }
        } else {
            let (path, content) = match part {
                "HEAD" => (part.to_owned(), "ref: refs/heads/x\n".to_owned()),
                "config" => (part.to_owned(), config(ground)),
                folder => (format!("{folder}/a"), String::new()),
            };
            steps.push(Step::Write(format!("{folder}/{path}"), content));
        }
    }
    if let Some(link) = link {
        let up = "../".repeat(Path::new(link).components().count() - 1);
        steps.insert(dice.below(steps.len() + 1), Step::Command(format!("ln -sfn {up}{folder} {link}")));
    }
    (folder.to_owned(), steps)
}

impl Step {
    fn make(&self, ground: &Ground) -> Value {
        match self {
            Step::Command(command) => ground.bash_unread(command, 60.0),
            Step::Write(path, content) => {
                let call = json!({ "name": "write_file", "arguments": { "path": path, "content": content } });
                ground.call(&call)
            }
        }
    }

    fn shown(&self) -> &str {
        match self {
            Step::Command(text) | Step::Write(text, _) => text,
        }
    }
}

#[test]
fn no_sequence_of_calls_plants_a_repository_that_runs_a_program() {
    let number = |name: &str, other: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(other);
    let (sequences, seed) = (number("HAFT_TEST_SEQUENCES", SEQUENCES), number("HAFT_TEST_SEED", 1));
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        for seed in seed..seed + sequences {
            let ground = ground.another();
            lay_out(&ground);
            let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let (folder, steps) = sequence(&ground, &mut dice);
            let records: Vec<Value> = steps.iter().map(|step| step.make(&ground)).collect();
            // An undo or a redo completes nothing either.
            for arguments in [&["undo", "1"][..], &["redo"], &["undo", "2"], &["redo"]] {
                ground.haft(arguments);
                assert!(!is_run(&ground), "seed {seed}, {folder}, {arguments:?}");
            }
            let shown: Vec<&str> = steps.iter().map(Step::shown).collect();
            assert!(!is_run(&ground), "seed {seed}, {folder}: {shown:#?} {records:#?}");
        }
    });
}

#[test]
fn what_is_planted_without_haft_is_run_which_shows_that_the_test_would_see_it() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    lay_out(&ground);
    assert!(!is_run(&ground));
    ground.lay_out("mkdir -p .git/lfs/x; cd .git/lfs/x; for p in 'h HEAD' 'o objects' 'r refs' 'c config'; do cp -r ../../../ready/${p% *} ${p#* }; done; cd ../../..; ln -s .git/lfs/x docs");
    assert!(is_run(&ground));
}

/// Ordinary work that needs no question, and a command that must succeed for the user afterwards.
const ORDINARY: [(&str, &str); 12] = [
    ("git init -q new", "git -C new status"),
    ("git init -q --bare new.git", "git -C new.git rev-parse --is-bare-repository"),
    ("git init -q --bare target/new.git", "git -C target/new.git rev-parse --is-bare-repository"),
    ("git init -q target/new && cd target/new && echo a > a && git add a", "git -C target/new status"),
    ("git clone -q --no-hardlinks . target/copy", "git -C target/copy log -1"),
    ("git clone -q --no-hardlinks --bare . copy.git", "git -C copy.git log -1"),
    ("git worktree add -q tree", "git -C tree log -1"),
    (
        "git init -q --bare one.git; git push -q one.git HEAD:refs/heads/b; git -C one.git symbolic-ref HEAD refs/heads/b",
        "git -C one.git log -1 b",
    ),
    (
        "mkdir -p .git/lfs/objects/aa .git/lfs/tmp && echo x > .git/lfs/objects/aa/x && echo y > .git/lfs/tmp/y",
        "test -f .git/lfs/objects/aa/x",
    ),
    ("mkdir -p src/hooks config && echo x > src/hooks/a.ts && echo y > config/b.yml", "test -f src/hooks/a.ts"),
    ("git -c protocol.file.allow=always submodule add -q file://$PWD/sub module; test -e module/.git", "git log -1"),
    (
        "git init -q --bare two.git && rm -rf two.git && git init -q --bare two.git",
        "git -C two.git rev-parse --is-bare-repository",
    ),
];

#[test]
fn ordinary_work_with_repositories_goes_on_without_a_question() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        for (command, then) in ORDINARY {
            let ground = ground.another();
            ground.lay_out(
                "git init -q -b master .; git config user.name A; git config user.email a@b.c; echo target > .gitignore; \
                 mkdir target; git add .; git commit -qm one; git init -q sub; cd sub; echo s > s; git add s; \
                 git -c user.name=A -c user.email=a@b.c commit -qm s",
            );
            let record = ground.bash_unread(command, 60.0);
            assert_eq!(record["exit_code"], 0, "{command}: {record:#}");
            ground.lay_out(then);
            for arguments in [["undo"], ["redo"]] {
                let done = ground.haft(&arguments);
                assert!(done.status.success(), "{command}, {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
            }
            ground.lay_out(then);
        }
    });
}

/// Ways from a protected name to another file: how the user set them up, the file, and what the user does later. `@C` is
/// the canary.
const LEADS: [(&str, &str, &str); 8] = [
    ("git config core.hooksPath tools", "tools/pre-commit", "git commit -q --allow-empty -m x"),
    ("git config core.fsmonitor ./fs.sh; printf '#!/bin/sh\n' > fs.sh; chmod +x fs.sh", "fs.sh", "git status"),
    ("git config include.path ../settings.inc", "settings.inc", "git status"),
    ("git config include.path a.inc; printf '[include]\n\tpath = ../b.inc\n' > .git/a.inc", "b.inc", "git status"),
    (
        "git config filter.x.clean 'sh filter.sh'; echo '*.t filter=x' > .gitattributes; echo a > a.t",
        "filter.sh",
        "touch -d tomorrow a.t; git add a.t",
    ),
    ("git config alias.go '!sh scripts/go.sh'", "scripts/go.sh", "git go"),
    (
        "mkdir -p scripts .git/hooks; printf '#!/bin/sh\n' > scripts/x; chmod +x scripts/x; ln -s ../../scripts/x .git/hooks/pre-commit",
        "scripts/x",
        "git commit -q --allow-empty -m x",
    ),
    ("rm -rf .git/hooks; mkdir h; ln -s ../h .git/hooks", "h/pre-commit", "git commit -q --allow-empty -m x"),
];

/// How a command puts the file there: `@F` is its path, `@R` where it is ready.
const WAYS: [&str; 5] = [
    "mkdir -p $(dirname @F); cat @R > @F; chmod +x @F",
    "mkdir -p $(dirname @F); cp @R moved; chmod +x moved; mv moved @F",
    "mkdir -p $(dirname @F); ln -sf \"$PWD/@R\" @F",
    "mkdir -p ev/$(dirname @F); cp @R ev/@F; chmod +x ev/@F; cp -rp ev/. .; rm -r ev",
    "case @F in */*) d=$(dirname @F); mkdir -p ev; cp @R ev/$(basename @F); rm -rf $d; ln -s ev $d;; *) rm -f @F; ln @R @F;; esac",
];

/// Lays out a workspace with one of these ways, in which the canary lies ready.
fn lay_out_lead(ground: &Ground, set_up: &str, file: &str) -> String {
    let program = format!("touch {}", canary(ground).display());
    let content = match file.ends_with(".inc") {
        true => format!("[core]\n\tfsmonitor = \"{program}; false\"\n"),
        false => format!("#!/bin/sh\n{program}\n"),
    };
    ground.lay_out(&format!("git init -q .; git config user.name A; git config user.email a@b.c; {set_up}"));
    ground.place.put("ready", &content);
    ground.lay_out("chmod +x ready");
    content
}

/// Lets the user work; returns whether that ran the program.
fn is_run_by(ground: &Ground, work: &str) -> bool {
    ground.lay_out(&format!("{{ {work}; }} >/dev/null 2>&1 || true"));
    canary(ground).exists()
}

#[test]
fn nothing_to_which_a_protected_name_leads_becomes_a_program() {
    let ground = Ground::own();
    if !ground.has_git() {
        return println!("leads: not tried, there is no git");
    }
    for (set_up, file, work) in LEADS {
        for way in WAYS {
            let ground = ground.another();
            lay_out_lead(&ground, set_up, file);
            let record = ground.bash_unread(&way.replace("@F", file).replace("@R", "ready"), 60.0);
            assert!(!is_run_by(&ground, work), "{set_up}: {way}: {record:#}");
            for arguments in [["undo"], ["redo"]] {
                ground.haft(&arguments);
                assert!(!is_run_by(&ground, work), "{set_up}: {way}: {arguments:?}");
            }
        }
        let ground = ground.another();
        let content = lay_out_lead(&ground, set_up, file);
        let arguments = json!({ "path": file, "content": content, "write_mode": "overwrite" });
        let record = ground.call(&json!({ "name": "write_file", "arguments": arguments }));
        assert_eq!(record["error"]["rule"], "protected names", "{set_up}: {record:#}");
        assert!(!is_run_by(&ground, work), "{set_up}: {record:#}");
        // Without haft it is run, which shows that the test would see it.
        ground.lay_out(&WAYS[0].replace("@F", file).replace("@R", "ready"));
        assert!(is_run_by(&ground, work), "{set_up}: {work}");
    }
}
