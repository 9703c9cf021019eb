//! Reads the settings of the repositories around and in a workspace, and says which of its files git follows.
//!
//! It does not run git. It ignores the conditions of included files: every file that may be included counts.

use std::io::Read;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::{GitSetting, is_secret_address, is_secret_git_setting, protected};

use super::{FollowedPlaces, GitSecret, program};
use crate::files::read::locate::resolve;
use crate::files::read::open::WorkspaceRoot;

/// Largest file of settings that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Most files of settings that one look reads.
const MOST_FILES: usize = 200;
/// How deep included files include others.
const DEEPEST: usize = 10;
/// Most entries of a folder of hooks that are looked at.
const MOST_HOOKS: usize = 200;
/// The entries of a repository that may be links to what git runs or follows.
const ENTRIES: [&str; 8] =
    ["hooks", "config", "config.worktree", "commondir", "info", "info/attributes", "remotes", "branches"];

/// Settings, in small letters, that make a command of git print patches where it would print only names.
const PRINTING: &[&str] = &["stash.showpatch", "commit.verbose"];
/// Looks at repositories.
pub(super) struct Repositories<'a> {
    pub(super) root: &'a WorkspaceRoot,
    pub(super) followed: &'a mut FollowedPlaces,
    /// How many files of settings were read.
    pub(super) files: usize,
}

/// A repository, and the folder that its relative paths are read from.
struct RepositoryPaths {
    top: PathBuf,
    git: PathBuf,
    common: PathBuf,
}

impl Repositories<'_> {
    /// Looks at the repositories in these folders of the workspace, and at those that its roots lie in.
    pub(super) fn look(mut self, inside: &[PathBuf]) {
        let mut tops: Vec<PathBuf> = inside.iter().map(|place| self.root.path().join(place)).collect();
        for (root, _) in self.root.folders() {
            tops.extend(root.ancestors().skip(1).find(|above| above.join(".git").exists()).map(Path::to_owned));
        }
        tops.sort();
        tops.dedup();
        for top in tops {
            if let Some(repository) = RepositoryPaths::at(&top) {
                self.one(&repository);
            }
        }
    }

    fn one(&mut self, repository: &RepositoryPaths) {
        let pointer = repository.top.join(".git");
        if pointer != repository.git && self.place(&repository.git).is_none_or(|place| protected(&place).is_none()) {
            let leader = format!("the file {}", self.shown(&pointer));
            self.followed.add(self.root, &repository.git, (Path::new(".git"), &leader));
        }
        self.links(&repository.common);
        let own = [repository.common.join("config"), repository.git.join("config.worktree")];
        let home = self.root.home().map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
        let all = [PathBuf::from("/etc/gitconfig")].into_iter().chain(home.into_iter().flatten()).chain(own);
        for file in all {
            self.settings(repository, &file, 0);
        }
    }

    /// Adds what links in the folder of a repository lead to.
    fn links(&mut self, git: &Path) {
        let mut entries: Vec<PathBuf> = ENTRIES.iter().map(PathBuf::from).collect();
        let hooks = std::fs::read_dir(git.join("hooks")).into_iter().flatten().flatten().take(MOST_HOOKS);
        entries.extend(hooks.map(|hook| Path::new("hooks").join(hook.file_name())));
        for entry in entries.iter().filter(|entry| git.join(entry).is_symlink()) {
            let leader = format!("the link {}", self.shown(&git.join(entry)));
            self.followed.add(self.root, &git.join(entry), (&Path::new(".git").join(entry), &leader));
        }
    }

    /// Adds what the settings in a file name, and in the files that it includes.
    fn settings(&mut self, repository: &RepositoryPaths, file: &Path, depth: usize) {
        if self.files >= MOST_FILES || depth > DEEPEST {
            return;
        }
        self.files += 1;
        let Some(text) = text_of(file) else { return };
        for (key, value) in settings(&text).into_iter().filter(|(_, value)| !value.is_empty()) {
            self.followed.git_prints_patches |= PRINTING.contains(&key.as_str()) && !is_off(&value);
            if is_secret_git_setting(&key) || is_secret_address(&value) || is_secret_address(&key) {
                self.followed.git_secrets.push(GitSecret { key: without_address(&key), file: file.to_owned() });
            }
            let Some(setting) = GitSetting::of(&key) else { continue };
            let leader = format!("{key} in {}", self.shown(file));
            let top = &repository.top;
            match setting {
                GitSetting::Hooks => self.lead(&self.expanded(top, &value), ".git/hooks", &leader),
                GitSetting::Attributes => self.lead(&self.expanded(top, &value), ".git/info/attributes", &leader),
                GitSetting::Include => {
                    let included = self.expanded(file.parent().unwrap_or(Path::new("/")), &value);
                    self.lead(&included, ".git/config", &leader);
                    self.settings(repository, &included, depth + 1);
                }
                GitSetting::ProgramAfterMark if !value.starts_with('!') => {}
                GitSetting::ProgramByPath if !value.starts_with(['/', '~']) => {}
                GitSetting::Program | GitSetting::ProgramAfterMark | GitSetting::ProgramByPath => {
                    for script in program::scripts(&value, top, |path| self.place(path).is_some()) {
                        self.lead(&self.expanded(top, &script), ".git/hooks/program", &leader);
                    }
                }
            }
        }
    }

    fn lead(&mut self, path: &Path, stands_for: &str, leader: &str) {
        self.followed.add(self.root, path, (Path::new(stands_for), leader));
    }

    fn expanded(&self, base: &Path, value: &str) -> PathBuf {
        match (value.strip_prefix("~/"), self.root.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => base.join(value),
        }
    }

    fn place(&self, path: &Path) -> Option<PathBuf> {
        self.root.place_of(&resolve(path).ok()?).map(Path::to_owned)
    }

    /// Returns a path as people know it: from the root where it lies inside.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root.path()).unwrap_or(path).display().to_string()
    }
}

impl RepositoryPaths {
    /// Returns the repository whose work lies in a folder.
    fn at(top: &Path) -> Option<Self> {
        let pointer = top.join(".git");
        let git = if pointer.is_dir() {
            pointer
        } else {
            let text = text_of(&pointer)?;
            top.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common = text_of(&git.join("commondir")).map_or_else(|| git.clone(), |text| git.join(text.trim()));
        Some(Self { top: top.to_owned(), git, common })
    }
}

/// Returns whether a value switches a setting off.
fn is_off(value: &str) -> bool {
    ["false", "no", "off", "0"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Returns a key without the address in it, which may hold a password: `http.….extraheader`.
fn without_address(key: &str) -> String {
    match (key.contains("://"), key.split_once('.'), key.rsplit_once('.')) {
        (true, Some((section, _)), Some((_, name))) => format!("{section}.….{name}"),
        _ => key.to_owned(),
    }
}

/// Returns the text of a file, where it is one and not too large.
fn text_of(path: &Path) -> Option<String> {
    let facts = path.metadata().ok().filter(|facts| facts.is_file() && facts.len() <= LARGEST)?;
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0));
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

type Letters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Returns the settings of a text: keys in small letters, with the parts of their sections, and values without quotes.
pub(super) fn settings(text: &str) -> Vec<(String, String)> {
    let mut letters: Letters<'_> = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut section, mut found) = (String::new(), Vec::new());
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '[' => section = header(&mut letters),
            letter if letter.is_whitespace() => {}
            letter => {
                let mut key = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| letter.is_alphanumeric() || *letter == '-') {
                    key.push(letter);
                }
                while letters.next_if(|letter| matches!(letter, ' ' | '\t' | '\r')).is_some() {}
                let value = if letters.next_if_eq(&'=').is_some() { value(&mut letters) } else { "true".to_owned() };
                found.push((format!("{section}.{key}").to_lowercase(), value));
            }
        }
    }
    found
}

/// Reads the name of a section behind its bracket: `core]`, `filter "a"]`.
fn header(letters: &mut Letters<'_>) -> String {
    let (mut name, mut is_quoted) = (String::new(), false);
    while let Some(letter) = letters.next() {
        match letter {
            ']' if !is_quoted => break,
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => name.extend(letters.next()),
            ' ' | '\t' if !is_quoted && !name.ends_with('.') => name.push('.'),
            ' ' | '\t' if !is_quoted => {}
            letter => name.push(letter),
        }
    }
    name.trim_end_matches('.').to_owned()
}

/// Reads a value to the end of its line, or of the lines in which it goes on.
fn value(letters: &mut Letters<'_>) -> String {
    let (mut value, mut is_quoted, mut length) = (String::new(), false, 0);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
                continue;
            }
            '\\' => match letters.next() {
                Some('\r') if letters.next_if_eq(&'\n').is_some() => {}
                Some('\n') | None => {}
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(letter) => value.push(letter),
            },
            letter if letter.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
                continue;
            }
            letter => value.push(letter),
        }
        length = value.len();
    }
    // Spaces at the end do not count, unless they are quoted.
    value.truncate(length);
    value
}
