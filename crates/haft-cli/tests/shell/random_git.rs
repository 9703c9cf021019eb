//! Commands, the user's own git work, undo and redo in any order: `git fsck --full` never finds anything missing.
//!
//! `HAFT_TEST_SEQUENCES` says how many sequences run (50 without it), `HAFT_TEST_SEED` which one is the first.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::ground::Ground;

const SEQUENCES: u64 = 50;
const STEPS: u64 = 10;
/// Sequences that run side by side.
const WORKERS: usize = 4;

const BEGIN: &str = "git init -q -b master .; git config user.name A; git config user.email a@example.org; \
    git config gc.auto 0; git config core.fsync none; git config protocol.file.allow always; mkdir src; \
    for n in 1 2 3; do echo $n > f$n; echo $n > src/g$n; git add .; git commit -qm c$n; done; \
    git init -q --bare ../remote.git; git remote add origin ../remote.git; git push -q origin master; \
    git init -q lib; git -C lib config user.name A; git -C lib config user.email a@b.c; echo l > lib/l; \
    git -C lib add l; git -C lib commit -qm l; echo lib > .git/info/exclude";

/// What the model's commands do; `N` is another number each time.
const COMMANDS: [&str; 21] = [
    "echo N > f1; git add f1; git commit -qm N",
    "echo N > new-N; git add .; git commit -qm new-N",
    "echo N >> src/g1; git commit -qam gN",
    "git commit -q --amend -m amended-N",
    "echo N > f2; git commit -qa --amend --no-edit",
    "git rebase -q --force-rebase HEAD~1",
    "git reset -q --hard HEAD~1",
    "git reset -q --soft HEAD~1; git commit -qm squashed-N",
    "echo N > f3; git stash -q",
    "git stash pop -q",
    "git tag tN",
    "git tag -a -m note aN",
    "git branch bN",
    "git checkout -q -b cN; echo N > only-cN; git add .; git commit -qm cN",
    "git gc -q",
    "git repack -q -A -d",
    "git repack -q -a -d",
    "git worktree add -q wN; git -C wN commit -q --allow-empty -m in-wN",
    "git -c protocol.file.allow=always submodule add -q file://$PWD/lib subN; git commit -qm subN",
    "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cat; echo N' HEAD~1..HEAD > /dev/null",
    "git merge -q --no-edit -m mN $(git for-each-ref --format='%(refname)' refs/heads | tail -1)",
];

/// What the user does without haft.
const OWN: [&str; 14] = [
    "git tag uN",
    "git branch vN",
    "git checkout -q -b xN",
    "git checkout -q master",
    "git push -q -f origin HEAD:master",
    "git fetch -q origin",
    "git cherry-pick $(git for-each-ref --format='%(objectname)' refs/heads refs/tags | head -1) || git cherry-pick --abort",
    "git gc -q",
    "git gc -q --prune=now",
    "git reflog expire --expire=now --all; git gc -q --prune=now",
    "git pack-refs --all",
    "echo mine-N > mine-N; git add mine-N; git commit -qm mine-N",
    "echo edit-N >> f2",
    "git status; git stash list",
];

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(self.below(texts.len() as u64)).unwrap_or_default()]
    }
}

/// How often undo and redo did something, and how often they refused, by the kind of the reason.
#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    refused: Mutex<BTreeMap<String, usize>>,
}

impl Counts {
    fn note(&self, is_done: bool, record: &Value) {
        if is_done {
            self.done.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let path = record["conflicts"][0]["path"].as_str().unwrap_or_default();
        let folder = path.split(['/', '-']).take(2).collect::<Vec<_>>().join("/");
        let reason = format!("{} {folder}", record["error"]["kind"].as_str().unwrap_or_default());
        *self.refused.lock().expect("no one panicked").entry(reason).or_default() += 1;
    }
}

fn git(ground: &Ground, script: &str) -> (bool, String) {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(ground.place.path("")).env("HOME", ground.place.root().join("home"));
    let output = command.output().expect("there is a shell");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

/// The variable with the text of a command: rules would refuse some of them, which is not what is tested here.
const VARIABLE: &str = "HAFT_TEST_COMMAND";

/// Runs a command through haft.
fn bash(ground: &Ground, command: &str) -> Value {
    let arguments = json!({ "command": format!("eval \"${VARIABLE}\""), "timeout": 60 });
    let mut haft = ground.place.haft(&[], &["--yes", "call", "bash", &arguments.to_string(), "--json"]);
    let output = haft.env(VARIABLE, command).output().expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Fails when git finds anything missing or broken, and shows what was done until then.
fn assert_sound(ground: &Ground, seed: u64, done: &[String]) {
    let (is_success, text) = git(ground, "git fsck --full");
    let is_usual =
        |line: &&str| ["dangling ", "notice: ", "Checking ", "unreachable "].iter().any(|word| line.starts_with(word));
    let odd: Vec<&str> = text.lines().filter(|line| !is_usual(line)).collect();
    assert!(is_success && odd.is_empty(), "seed {seed}, after:\n{}\ngit fsck:\n{}", done.join("\n"), odd.join("\n"));
}

/// One sequence: what was done, and what there is to take back.
struct Sequence<'a> {
    ground: Ground,
    dice: Dice,
    counts: &'a Counts,
    /// The number of the newest change set.
    newest: u64,
    /// How many undos can be redone.
    undos: u64,
}

impl Sequence<'_> {
    fn step(&mut self) -> String {
        let kind = self.dice.below(10);
        match kind {
            _ if self.newest == 0 => self.command(),
            0..=2 => self.command(),
            3..=5 => self.own_work(),
            _ => self.take_back(),
        }
    }

    fn command(&mut self) -> String {
        let number = self.dice.below(1_000_000).to_string();
        let command = self.dice.of(&COMMANDS).replace('N', &number);
        let record = bash(&self.ground, &command);
        self.newest = record["change_set"].as_u64().unwrap_or(self.newest);
        format!("haft: {command}   [exit {}, set {}]", record["exit_code"], record["change_set"])
    }

    fn own_work(&mut self) -> String {
        let number = self.dice.below(1_000_000).to_string();
        let command = self.dice.of(&OWN).replace('N', &number);
        let (is_success, _) = git(&self.ground, &command);
        format!("user: {command}   [{is_success}]")
    }

    fn take_back(&mut self) -> String {
        let older = (1 + self.dice.below(self.newest)).to_string();
        let arguments: Vec<&str> = match self.dice.below(8) {
            0 | 1 => vec!["--json", "undo", &older],
            2..=4 if self.undos > 0 => vec!["--json", "redo"],
            _ => vec!["--json", "undo"],
        };
        let output = self.ground.haft(&arguments);
        let record: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        self.counts.note(output.status.success(), &record);
        if output.status.success() {
            self.newest = record["change_set"].as_u64().unwrap_or(self.newest);
            self.undos = if arguments[1] == "redo" { self.undos - 1 } else { self.undos + 1 };
        }
        format!("{}   [{} {}]", arguments[1..].join(" "), record["took_back"], record["error"]["what"])
    }
}

fn sequence(seed: u64, counts: &Counts) {
    let mut sequence = Sequence { ground: Ground::own(), dice: Dice(seed), counts, newest: 0, undos: 0 };
    sequence.ground.lay_out(BEGIN);
    let config = sequence.ground.place.root().join("config/haft");
    std::fs::create_dir_all(&config).expect("it can be made");
    let settings = format!("[sandbox]\nvariables = [\"{VARIABLE}\"]\n");
    std::fs::write(config.join("config.toml"), settings).expect("it can be written");
    let mut done = Vec::new();
    for _ in 0..STEPS {
        done.push(sequence.step());
        assert_sound(&sequence.ground, seed, &done);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_the_order_of_commands_own_work_and_undo_git_finds_nothing_missing() {
    if !Ground::own().has_git() {
        return;
    }
    let (sequences, first) =
        (number("HAFT_TEST_SEQUENCES").unwrap_or(SEQUENCES), number("HAFT_TEST_SEED").unwrap_or(1));
    let (counts, next) = (Counts::default(), AtomicU64::new(first));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < first + sequences)
                {
                    sequence(seed, &counts);
                }
            });
        }
    });
    let (done, refused) = (counts.done.into_inner(), counts.refused.into_inner().expect("no one panicked"));
    println!("{sequences} sequences; undo and redo: {done} done, refused: {refused:?}");
    assert!(sequences < SEQUENCES || done > refused.values().sum::<usize>() / 4, "{done} done, refused: {refused:?}");
}
