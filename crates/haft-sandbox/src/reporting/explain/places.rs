//! Finds the place that a line of output names, and what that place is to a command.

use std::fmt;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

use haft_contract::doors::process::ConfinementLevel;
use haft_contract::files::path::one_line;

use super::ExplanationContext;
use crate::launcher::is_secret;

/// The role of a place for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceRole {
    /// In the workspace.
    Root,
    /// In the workspace, and cannot be changed.
    Protected,
    /// In something of which commands have a private one: this.
    Hidden(&'static str),
    /// In a folder of the system.
    System,
    /// A secret, and kept from commands altogether.
    Covered,
    /// Of haft itself.
    Own,
    /// Elsewhere.
    Outside,
}

/// How the private home is called.
pub(super) const HOME: &str = "home";
/// Folders that are private to a command.
const PRIVATE: [(&str, &str); 6] = [
    ("/tmp", "/tmp"),
    ("/var/tmp", "/var/tmp"),
    ("/run", "/run"),
    ("/dev/shm", "/dev/shm"),
    ("/home", HOME),
    ("/root", HOME),
];
/// Folders that are never part of a workspace.
const SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/dev", "/proc", "/sys"];
/// Caches in the home, and the variable that leads each elsewhere. Longer names stand first.
const CACHES: [(&str, &str); 14] = [
    (".cargo", "CARGO_HOME"),
    (".rustup", "RUSTUP_HOME"),
    (".npm", "npm_config_cache"),
    (".cache/pip", "PIP_CACHE_DIR"),
    (".cache/uv", "UV_CACHE_DIR"),
    (".cache/yarn", "YARN_CACHE_FOLDER"),
    (".cache/go-build", "GOCACHE"),
    (".cache/pre-commit", "PRE_COMMIT_HOME"),
    (".cache/huggingface", "HF_HOME"),
    (".cache", "XDG_CACHE_HOME"),
    (".gradle", "GRADLE_USER_HOME"),
    (".bun", "BUN_INSTALL_CACHE_DIR"),
    ("go/pkg/mod", "GOMODCACHE"),
    ("go", "GOPATH"),
];
/// Longest path that is looked at.
const LONGEST: usize = 4096;
/// What stands around names in messages.
const QUOTES: [(char, char); 5] = [('\'', '\''), ('"', '"'), ('`', '`'), ('`', '\''), ('‘', '’')];

/// A path in the form in which it is shown, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DisplayPath(PathBuf);

impl Deref for DisplayPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for DisplayPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.0.to_string_lossy()))
    }
}

/// Finds the path that a line speaks of, and says what it is to a command. Of several it is the one that is special.
pub(super) fn named_place(scene: &ExplanationContext<'_>, line: &str) -> Option<(DisplayPath, PlaceRole)> {
    let paths = candidates(line).into_iter().filter(|name| is_path(name));
    let places = paths.filter_map(|name| plain(&scene.command.folder.join(name))).map(|path| {
        let place = place_of(scene, &path);
        (DisplayPath(path), place)
    });
    let places: Vec<(DisplayPath, PlaceRole)> = places.collect();
    places.iter().find(|(_, place)| *place != PlaceRole::Root).or(places.first()).cloned()
}

/// Returns the folder that would have to be added for a path to be written; nothing where that would be far too much, or
/// would be a leaf of what a program keeps for itself: the next file is in another one.
pub(super) fn opening(scene: &ExplanationContext<'_>, path: &DisplayPath) -> Option<DisplayPath> {
    let is_kept = path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    let folder = path.parent().filter(|folder| !is_kept && !is_too_much(scene, folder));
    folder.map(|folder| DisplayPath(folder.to_owned()))
}

/// Returns the variable by which a program keeps its cache elsewhere, for a path in that cache.
pub(super) fn cache_variable(scene: &ExplanationContext<'_>, path: &DisplayPath) -> Option<&'static str> {
    let inner = path.strip_prefix(&scene.settings.home).ok()?;
    CACHES.iter().find(|(folder, _)| inner.starts_with(folder)).map(|(_, variable)| *variable)
}

/// Returns the setting that would let a path be read; nothing where that would be far too much.
pub(super) fn readable(scene: &ExplanationContext<'_>, path: &DisplayPath) -> Option<String> {
    let words = || format!("readable = [{:?}] under [sandbox] in config.toml.", path.to_string());
    (!is_too_much(scene, path)).then(words)
}

/// The home or what holds it, and folders that everybody uses, are nothing to open for one file.
fn is_too_much(scene: &ExplanationContext<'_>, folder: &Path) -> bool {
    scene.settings.home.starts_with(folder) || PRIVATE.iter().any(|(private, _)| Path::new(private).starts_with(folder))
}

fn place_of(scene: &ExplanationContext<'_>, path: &Path) -> PlaceRole {
    let is_in_any = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
    // Wherever these lie, also in the workspace.
    if is_in_any(scene.ground.hidden()) {
        return PlaceRole::Own;
    }
    if is_in_any(&scene.settings.hidden) {
        return PlaceRole::Covered;
    }
    for root in scene.ground.roots() {
        let Ok(inner) = path.strip_prefix(&root.path) else { continue };
        let is_protected = root.read_only.iter().any(|place| inner.starts_with(place));
        return if is_protected { PlaceRole::Protected } else { PlaceRole::Root };
    }
    if is_secret(path) {
        return PlaceRole::Covered;
    }
    if SYSTEM.iter().any(|folder| path.starts_with(folder)) && !path.starts_with("/dev/shm") {
        return PlaceRole::System;
    }
    let settings = scene.settings;
    if scene.around.level != ConfinementLevel::Full
        || settings.readable.iter().any(|readable| path.starts_with(readable))
    {
        return PlaceRole::Outside;
    }
    if path.starts_with(&settings.home) {
        return PlaceRole::Hidden(HOME);
    }
    let private = PRIVATE.iter().find(|(folder, _)| path.starts_with(folder));
    private.map_or(PlaceRole::Outside, |(_, name)| PlaceRole::Hidden(name))
}

/// Returns what in a line may be a name, quoted ones first.
fn candidates(line: &str) -> Vec<&str> {
    // What stands first is the program that speaks, unless it is all that stands there.
    let said = line.split_once(": ").map_or(line, |(_, said)| said);
    let quoted = QUOTES.iter().flat_map(|(open, close)| quoted(line, *open, *close));
    let pieces = said.split(": ").map(str::trim).filter(|piece| is_one_name(piece));
    let words = said.split_ascii_whitespace().map(|word| word.trim_matches([':', ',', ';', '(', ')']));
    quoted.chain(pieces).chain(words).collect()
}

/// Returns whether words between colons are one name, and not a name and the rest of a sentence: `/opt/x, error` is not, and
/// neither is `/opt/a to /opt/b`. A name with a blank is one where it goes on behind it, as `/opt/my tool/x` does.
fn is_one_name(piece: &str) -> bool {
    match piece.split_once(char::is_whitespace) {
        None => true,
        Some((first, rest)) => rest.contains('/') && !piece.contains(" /") && !first.ends_with([',', ';', ':', ')']),
    }
}

fn quoted(line: &str, open: char, close: char) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let (name, behind) = rest.split_once(open)?.1.split_once(close)?;
        rest = behind;
        Some(name)
    })
}

fn is_path(name: &str) -> bool {
    let is_absolute = name.starts_with('/') && name.len() > 1 && !name.starts_with("//");
    let is_relative = name.contains('/') && !name.contains("://") && !name.contains(' ');
    name.len() < LONGEST && !name.contains('\0') && (is_absolute || is_relative)
}

/// Takes `.` and `..` out of a path, as far as that can be done without looking.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::RootDir | Component::Normal(_) => plain.push(component),
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}
