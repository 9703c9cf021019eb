//! A workspace in which scripts run, as the current user or as an ordinary user.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use haft_testkit::require::Need;
use haft_testkit::scratch_home::tested_around;
use serde_json::{Value, json};

use crate::place::Place;

pub(crate) const ORDINARY: u32 = 65_534;
const BECOME_ORDINARY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// What is at a path: its mode, and its content or where it leads.
pub(crate) type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) around: Vec<&'static str>,
}

/// Does it as the current user, and as an ordinary user where we can become one.
pub(crate) fn for_everybody(work: &dyn Fn(&Ground)) {
    work(&Ground::new(Vec::new()));
    let ordinary = Ground::new(BECOME_ORDINARY.to_vec());
    if Need::Users.met(ordinary.place.run_around(&ordinary.around, &["--version"], "").status.success()) {
        work(&ordinary);
    }
}

/// Returns the level that commands reach: a filter around the tests takes namespaces away.
pub(crate) fn level() -> &'static str {
    if tested_around().is_empty() { "full" } else { "partial" }
}

impl Ground {
    pub(crate) fn own() -> Self {
        Self::new(Vec::new())
    }

    fn new(around: Vec<&'static str>) -> Self {
        let place = Place::new();
        std::fs::set_permissions(place.root(), PermissionsExt::from_mode(0o755)).expect("it is ours");
        if !around.is_empty() {
            for folder in ["", "ws", "home", "state", "config"] {
                // A user who may not give it away cannot become another user either.
                let _ = chown(place.root().join(folder), Some(ORDINARY), Some(ORDINARY));
            }
        }
        Self { place, around }
    }

    /// Lays out another one for the same user.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.around.clone())
    }

    #[track_caller]
    pub(crate) fn has_git(&self) -> bool {
        Need::Git.met(Command::new("git").arg("--version").output().is_ok_and(|said| said.status.success()))
    }

    /// Runs a script in the workspace without haft.
    pub(crate) fn lay_out(&self, script: &str) {
        let words = [&self.around[..], &["bash", "-ec", script]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.place.path("")).env("HOME", self.place.root().join("home"));
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            command.env(format!("{name}_NAME"), "A").env(format!("{name}_EMAIL"), "a@example.org");
        }
        let done = command.output().expect("there is a shell");
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub(crate) fn bash(&self, command: &str, seconds: f64) -> Value {
        self.bash_with(&[], command, seconds)
    }

    /// Runs a command that no rule can read.
    pub(crate) fn bash_unread(&self, command: &str, seconds: f64) -> Value {
        self.place.call_unread(&self.around, command, &json!({ "timeout": seconds }))
    }

    /// Makes one call of a tool.
    pub(crate) fn call(&self, call: &Value) -> Value {
        self.place.call(&self.around, std::slice::from_ref(call)).remove(0)
    }

    pub(crate) fn bash_with(&self, flags: &[&str], command: &str, seconds: f64) -> Value {
        let call = json!({ "name": "bash", "arguments": { "command": command, "timeout": seconds } });
        let arguments = [flags, &["--yes", "call", "-"]].concat();
        let output = self.place.run_around(&self.around, &arguments, &format!("{call}\n"));
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Returns the command that makes one call, not started yet.
    pub(crate) fn calling(&self) -> Command {
        self.place.haft(&self.around, &["--yes", "call", "-"])
    }

    pub(crate) fn haft(&self, arguments: &[&str]) -> Output {
        self.place.run_around(&self.around, arguments, "")
    }

    pub(crate) fn has_several_names(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.place.path(path)).is_ok_and(|facts| facts.nlink() > 1)
    }

    pub(crate) fn tree(&self) -> Tree {
        tree_of(&self.place.path(""))
    }

    /// Returns what haft has left in the workspace or of its layers.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.place.path(""), self.place.root().join("state")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.contains(".haft-") || name == "upper" || name == "work" {
                    found.push(entry.path());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
        found
    }
}

/// Returns the files, links and emptied or made folders that differ, as a record names them.
pub(crate) fn differing(before: &Tree, after: &Tree) -> Vec<String> {
    let both = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let differs = both.filter(|path| before.get(*path) != after.get(*path));
    // A folder that came or went with what lies in it is not named by itself.
    let is_holder = |path: &Path| {
        let holds = |tree: &Tree| tree.keys().any(|other| other.parent() == Some(path));
        before.contains_key(path) != after.contains_key(path) && (holds(before) || holds(after))
    };
    differs
        .filter(|path| !is_holder(path))
        .map(|path| haft_contract::files::path::one_line(&path.to_string_lossy()).into_owned())
        .collect()
}

/// Fails with the first paths that differ; trees are too long to print.
pub(crate) fn assert_same(name: &str, before: &Tree, after: &Tree) {
    if before != after {
        let all = before.keys().chain(after.keys());
        let mut differs: Vec<_> = all.filter(|path| before.get(*path) != after.get(*path)).collect();
        differs.sort();
        differs.dedup();
        let shown = |tree: &Tree, path: &Path| {
            let entry = tree.get(path);
            entry.map(|(mode, content)| {
                format!("{mode:o} {:?}", String::from_utf8_lossy(&content[..content.len().min(80)]))
            })
        };
        let lines = differs
            .iter()
            .take(12)
            .map(|path| format!("{path:?}: {:?} → {:?}", shown(before, path), shown(after, path)));
        panic!("{name}: {} paths differ:\n{}", differs.len(), lines.collect::<Vec<_>>().join("\n"));
    }
}

/// Compares trees; a repository that was there before may have more objects now, because undo removes none.
pub(crate) fn assert_same_beside_objects(name: &str, before: &Tree, now: &Tree) {
    let is_added = |path: &Path| {
        let store = path.ancestors().find(|above| above.ends_with("objects"));
        let head = store.and_then(Path::parent).map(|repository| repository.join("HEAD"));
        !before.contains_key(path) && head.is_some_and(|head| before.contains_key(&head))
    };
    // What only describes the objects stays as it is now.
    let is_derived = |path: &Path| path.iter().any(|part| part == "objects") && path.iter().any(|part| part == "info");
    let rest = |tree: &Tree| -> Tree {
        let kept = tree.iter().filter(|(path, _)| !is_added(path) && !is_derived(path));
        kept.map(|(path, what)| (path.clone(), what.clone())).collect()
    };
    assert_same(name, &rest(before), &rest(now));
}

/// Returns everything below a folder.
pub(crate) fn tree_of(root: &Path) -> Tree {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
            let mode = entry.metadata().expect("it is there").permissions().mode();
            let content = if kind.is_symlink() {
                std::fs::read_link(&path).expect("it is a link").as_os_str().as_bytes().to_vec()
            } else if kind.is_file() {
                std::fs::read(&path).expect("it can be read")
            } else {
                Vec::new()
            };
            tree.insert(path.strip_prefix(root).expect("it lies below").to_owned(), (mode, content));
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    tree
}
