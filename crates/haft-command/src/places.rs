//! Paths as commands write them: relative to the folder of the shell, with gaps.

use haft_contract::files::path::Target;

use crate::value::{ShellValue, ValuePiece};
use crate::{CommandScene, patterns};

/// Longer paths lead nowhere: the system refuses them.
const LONGEST_PATH: usize = 4_096;
/// Folders that lie deeper are not followed: to look up such a path takes a step for each level, again and again for each
/// of `cd x && cd x && …`.
const MOST_LEVELS: usize = 128;

/// A folder that a shell may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// This one, absolute.
    Known(String),
    /// Unknown.
    Unknown,
}

/// Where a word that is a path may lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathDestination {
    /// To this absolute path. Gaps are shown in it.
    At(String),
    /// Anywhere.
    Anywhere,
}

impl Folder {
    /// Returns where a path leads from here by its text alone, as `cd` takes it.
    pub(crate) fn place(&self, path: &ShellValue) -> PathDestination {
        self.written(path).map_or(PathDestination::Anywhere, |text| PathDestination::At(normal(&text)))
    }

    /// Returns where a path leads from here as the system takes it: `..` leads up from where a link leads. Where a folder
    /// really is, `real` says.
    pub(crate) fn place_through(&self, path: &ShellValue, real: &dyn Fn(&str) -> String) -> PathDestination {
        self.written(path).and_then(|text| physical(&text, real)).map_or(PathDestination::Anywhere, PathDestination::At)
    }

    /// Returns a path as it is written, but absolute; nothing where it may lead anywhere.
    fn written(&self, path: &ShellValue) -> Option<String> {
        let prefix = path.prefix();
        let begins_with_gap = path.begins_with_gap();
        // A gap right at the beginning may be an absolute path; one that is a whole part may be `..`, and is not taken so.
        if begins_with_gap {
            return None;
        }
        // Whatever a gap stands for, in a path it is some name.
        let text = path.shown().replace('…', "*");
        match self {
            _ if prefix.starts_with('/') => Some(text),
            Folder::Known(folder) => Some(format!("{folder}/{text}")),
            Folder::Unknown => None,
        }
    }

    /// Returns the folder that `cd` with this word leads to.
    pub(crate) fn changed(&self, path: &ShellValue) -> Folder {
        Self::at(self.place(path))
    }

    /// Returns the folder that `cd -P` with this word leads to, and every program that changes its own: where it really is.
    pub(crate) fn changed_through(&self, path: &ShellValue, real: &dyn Fn(&str) -> String) -> Folder {
        match self.place_through(path, real) {
            PathDestination::At(place) if !place.contains('*') => Self::at(PathDestination::At(real(&place))),
            place => Self::at(place),
        }
    }

    fn at(place: PathDestination) -> Folder {
        match place {
            PathDestination::At(folder) if folder.len() > LONGEST_PATH || is_deep(&folder) => Folder::Unknown,
            // Also with gaps: what is below something outside is outside as well.
            PathDestination::At(folder) => Folder::Known(folder),
            PathDestination::Anywhere => Folder::Unknown,
        }
    }
}

fn is_deep(folder: &str) -> bool {
    folder.bytes().filter(|byte| *byte == b'/').count() > MOST_LEVELS
}

/// Takes `.`, `..` and double slashes out of an absolute path.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Takes `.`, `..` and double slashes out of an absolute path, and goes up from where a folder really is; nothing where
/// that is one of several, any of which may be a link.
fn physical(path: &str, real: &dyn Fn(&str) -> String) -> Option<String> {
    if path.len() > LONGEST_PATH {
        return Some(normal(path));
    }
    let mut at = String::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if at.is_empty() => {}
            ".." if at.contains('*') => return None,
            ".." => {
                at = real(&at);
                at.truncate(at.rfind('/').unwrap_or_default());
            }
            part => {
                at.push('/');
                at.push_str(part);
            }
        }
    }
    Some(if at.is_empty() { "/".to_owned() } else { at })
}

/// Returns the absolute path of a target.
pub(crate) fn path_of(scene: &CommandScene, target: &Target) -> String {
    let path = target.place().path().to_string_lossy();
    match path.strip_prefix('~') {
        _ if target.is_inside() => normal(&format!("{}/{path}", scene.workspace)),
        // What lies in the home or beside the workspace may be named from there.
        Some(below) => normal(&format!("{}/{below}", scene.home)),
        None if path.starts_with("..") => normal(&format!("{}/{path}", scene.workspace)),
        None => path.into_owned(),
    }
}

/// Returns what a pattern that begins with a dot also finds: `.*` and `.g*` find the folder of version control.
pub(crate) fn hidden_names(path: &ShellValue) -> Option<ShellValue> {
    let [ValuePiece::Text(text), ValuePiece::Glob, ..] = path.pieces() else { return None };
    let (folder, name) = text.rsplit_once('/').map_or(("", text.as_str()), |(folder, name)| (folder, name));
    let gap = if folder.is_empty() && !text.starts_with('/') { "" } else { "/" };
    (name.starts_with('.') && ".git".starts_with(name)).then(|| ShellValue::text(format!("{folder}{gap}.git")))
}

/// Secrets and protected names that a pattern may find, by the folder and the name they have.
const SECRETS: &[&str] = &[
    ".git",
    ".haft",
    ".vscode",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".gitconfig",
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".env",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".bash_history",
    "id_rsa",
    "id_ed25519",
    "shadow",
];

/// Returns the paths of secrets that a path with patterns in it finds.
pub(crate) fn secrets_that_fit(place: &str) -> Vec<String> {
    let parts: Vec<&str> = place.split('/').collect();
    let mut found = Vec::new();
    for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.contains('*')) {
        // A pattern without a dot finds no hidden names, and one of stars alone is no search for something.
        let fits = |name: &&&str| {
            let is_hidden = name.starts_with('.');
            let says_something = is_hidden || part.trim_matches('*').len() > 1;
            says_something && part.starts_with('.') == is_hidden && patterns::fits(part, name)
        };
        for name in SECRETS.iter().filter(fits) {
            let mut parts = parts.clone();
            parts[index] = name;
            found.push(parts.join("/"));
        }
    }
    found
}

/// Returns whether a pattern could hardly mean anything else than a hidden secret: it says at least half of its name.
pub(crate) fn means(place: &str, secret: &str) -> bool {
    let parts = place.split('/').zip(secret.split('/')).filter(|(pattern, _)| pattern.contains('*'));
    let mut said = parts.map(|(pattern, name)| (pattern.replace('*', "").len(), name));
    said.all(|(said, name)| name.starts_with('.') && said * 2 >= name.len())
}

/// Returns whether a path with patterns in it finds exactly this one.
pub(crate) fn fits_whole(place: &str, path: &str) -> bool {
    let (patterns, parts): (Vec<&str>, Vec<&str>) = (place.split('/').collect(), path.split('/').collect());
    let fits = |(pattern, part): (&&str, &&str)| {
        part.starts_with('.') <= pattern.starts_with('.') && patterns::fits(pattern, part)
    };
    patterns.len() == parts.len() && patterns.iter().zip(&parts).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &str, path: &str) -> PathDestination {
        Folder::Known(folder.to_owned()).place(&ShellValue::text(path))
    }

    #[test]
    fn a_path_is_taken_from_the_folder_of_the_shell() {
        assert_eq!(place("/w", "a/../b//./c"), PathDestination::At("/w/b/c".into()));
        assert_eq!(place("/w", "../x"), PathDestination::At("/x".into()));
        assert_eq!(place("/w", "../../../.."), PathDestination::At("/".into()));
        assert_eq!(place("/w", "/etc"), PathDestination::At("/etc".into()));
        assert_eq!(place("/w", ""), PathDestination::At("/w".into()));
        assert_eq!(Folder::Unknown.place(&"a".into()), PathDestination::Anywhere);
        assert_eq!(Folder::Unknown.place(&"/a".into()), PathDestination::At("/a".into()));
    }

    #[test]
    fn a_step_up_leads_up_from_where_a_link_leads() {
        let real = |folder: &str| folder.replace("/w/link", "/etc/ssl");
        let place = |path: &str| Folder::Known("/w".to_owned()).place_through(&ShellValue::text(path), &real);

        assert_eq!(place("link/../shadow"), PathDestination::At("/etc/shadow".into()));
        assert_eq!(place("a/.././link/certs/../../shadow"), PathDestination::At("/etc/shadow".into()));
        assert_eq!(place("link/../../../.."), PathDestination::At("/".into()));
        assert_eq!(place("link/x"), PathDestination::At("/w/link/x".into()));
        assert_eq!(place("a/../b"), PathDestination::At("/w/b".into()));
    }

    #[test]
    fn a_gap_at_the_beginning_may_lead_anywhere() {
        let mut behind = ShellValue::unknown();
        behind.push(ValuePiece::Text("/x".into()));
        assert_eq!(Folder::Known("/w".into()).place(&behind), PathDestination::Anywhere);
        let mut before = ShellValue::text("src/");
        before.push(ValuePiece::Unknown);
        assert_eq!(Folder::Known("/w".into()).place(&before), PathDestination::At("/w/src/*".into()));
    }

    #[test]
    fn a_pattern_that_means_secrets_finds_them() {
        assert_eq!(secrets_that_fit("/h/.s*h/id_*"), ["/h/.ssh/id_*", "/h/.s*h/id_rsa", "/h/.s*h/id_ed25519"]);
        assert_eq!(secrets_that_fit("/w/src/*.rs"), Vec::<String>::new());
        assert_eq!(secrets_that_fit("/w/*"), Vec::<String>::new());
        assert_eq!(secrets_that_fit("/etc/sh*"), ["/etc/shadow"]);
    }

    #[test]
    fn a_pattern_with_a_dot_finds_version_control_too() {
        let pattern = |text: &str| {
            let mut value = ShellValue::text(text);
            value.push(ValuePiece::Glob);
            hidden_names(&value).map(|value| value.shown())
        };
        assert_eq!(pattern(".").as_deref(), Some(".git"));
        assert_eq!(pattern("./.g").as_deref(), Some("./.git"));
        assert_eq!(pattern("/w/.").as_deref(), Some("/w/.git"));
        assert_eq!(pattern("src/"), None);
        assert_eq!(pattern(".x"), None);
    }
}
