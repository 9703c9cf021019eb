//! Remotes of git that are folders of the workspace: a push to one publishes nothing.
//!
//! The settings of the repository say where a remote is. haft follows them only where they are plain, and where no earlier
//! part of the command may have changed them. In doubt, a push goes to another machine.

use std::path::{Component, Path, PathBuf};

use haft_contract::effect::StepEffect;

use crate::interpret::Interpreter;
use crate::interpret::findings::Finding;
use crate::places::PathDestination;
use crate::value::ShellValue;

/// Settings by which git goes elsewhere than a remote says, or takes settings from other files.
const DETOURS: &[&str] = &["insteadof", "pushurl", "pushremote", "pushdefault", "include"];

impl Interpreter<'_> {
    /// Returns the words of `git push` with the path of its remote in place of the name, where that is in the workspace.
    pub(crate) fn with_path_of_remote(&self, program: &str, words: &[ShellValue]) -> Option<Vec<ShellValue>> {
        if program.rsplit('/').next() != Some("git") || words.get(1)?.known() != Some("push") {
            return None;
        }
        let folder = self.only_folder()?;
        let remotes = self.remotes_of(&folder)?;
        let named = (2..words.len()).find(|at| !words[*at].prefix().starts_with('-'));
        let path = match named {
            Some(at) => remotes.iter().find(|(name, _)| words[at].known() == Some(name)).map(|(_, path)| path)?,
            // Which remote is meant depends on the branch.
            None => remotes.first().map(|(_, path)| path).filter(|path| remotes.iter().all(|(_, one)| one == *path))?,
        };
        let from_here = ShellValue::text(format!("./{}", way_between(&folder, path).to_str()?));
        let mut words = words.to_vec();
        match named {
            Some(at) => words[at] = from_here,
            None => words.insert(2, from_here),
        }
        Some(words)
    }

    fn only_folder(&self) -> Option<PathBuf> {
        let [folder] = self.shell.folders.now.as_slice() else { return None };
        match folder.place(&ShellValue::text(".")) {
            PathDestination::At(place) if !place.contains('*') => Some(self.real_path(&place).into()),
            PathDestination::At(_) | PathDestination::Anywhere => None,
        }
    }

    /// Returns the remotes of the repository that a folder lies in, if all of them are folders of the workspace.
    fn remotes_of(&self, folder: &Path) -> Option<Vec<(String, PathBuf)>> {
        let workspace = Path::new(&self.scene.workspace);
        let has_settings = |folder: &&Path| self.locate.locate(&format!("{}/.git", folder.display())).kind.is_some();
        let root = folder.ancestors().take_while(|folder| folder.starts_with(workspace)).find(has_settings)?;
        let text = self.locate.text_of(&format!("{}/.git/config", root.display()))?;
        if !self.findings.iter().all(leaves_remotes) {
            return None;
        }
        let is_inside =
            |path: &PathBuf| Path::new(&self.real_path(path.to_str().unwrap_or("/"))).starts_with(workspace);
        let remotes: Vec<(String, PathBuf)> =
            read_remotes(&text)?.into_iter().map(|(name, path)| (name, normal(&root.join(path)))).collect();
        remotes.iter().all(|(_, path)| is_inside(path)).then_some(remotes)
    }
}

/// Returns whether a part of a command cannot change where the remotes of a repository are.
fn leaves_remotes(found: &Finding) -> bool {
    let says_who_commits =
        || matches!(&*found.words, [_, config, key, ..] if config == "config" && key.starts_with("user."));
    match &found.does {
        StepEffect::Nothing
        | StepEffect::Read(_)
        | StepEffect::List(_)
        | StepEffect::ReadUnknown
        | StepEffect::History(_) => true,
        StepEffect::Change(target, _) => !target.place().path().iter().any(|part| part == ".git"),
        StepEffect::Settings(_) => says_who_commits(),
        _ => false,
    }
}

/// Reads the remotes from settings of git; nothing where one is no plain path.
fn read_remotes(text: &str) -> Option<Vec<(String, String)>> {
    let lower = text.to_ascii_lowercase();
    if DETOURS.iter().any(|detour| lower.contains(detour)) || text.contains('\\') {
        return None;
    }
    let mut remotes = Vec::new();
    let mut remote = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            remote = line.strip_prefix("[remote \"").and_then(|rest| rest.strip_suffix("\"]"));
        } else if let (Some(name), Some((key, value))) = (remote, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
        {
            let value = value.trim();
            let is_path = !value.is_empty() && !value.starts_with(['-', '~']) && !value.contains([':', '"', '#', ';']);
            remotes.push((name.to_owned(), is_path.then(|| value.to_owned())?));
        }
    }
    Some(remotes)
}

/// Returns a path without `.` and `..`, by its text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Returns how one leads to another.
fn way_between(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_followed() {
        let remote = |url: &str| read_remotes(&format!("[core]\n\tbare = false\n[remote \"o\"]\n\turl = {url}\n"));
        assert_eq!(remote("../a.git"), Some(vec![("o".into(), "../a.git".into())]));
        for url in ["https://x.example/a", "host:a", "ext::sh -c a", "\"a\"", "~/a", "-a", "a\n\tpushurl = b", "a # b"]
        {
            assert_eq!(remote(url), None, "{url}");
        }
        assert_eq!(remote("a\n[url \"x\"]\n\tinsteadOf = a"), None);
        assert_eq!(way_between(Path::new("/w/a/b"), Path::new("/w/r.git")), Path::new("../../r.git"));
        assert_eq!(normal(Path::new("/w/a/../r/./x")), Path::new("/w/r/x"));
    }
}
