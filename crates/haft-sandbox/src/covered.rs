//! Which files are covered inside although the folder they lie in is readable.
//!
//! Besides those that are named: where they really lie when a link leads there, tokens and keys in the folders of
//! toolchains, and, when haft is root, whatever the system's settings keep from others, since inside it is root who reads.

mod keys;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the system keeps its settings.
const SETTINGS: &str = "/etc";
/// How deep and how far settings are looked through.
const DEPTH: usize = 6;
const MOST: usize = 20_000;

/// Returns what is covered, but for the tokens and keys in folders of toolchains.
pub(crate) fn covered(named: &[PathBuf]) -> Vec<PathBuf> {
    let named = || named.iter().filter(|path| !means_keys(path));
    let mut covered: Vec<PathBuf> = named().cloned().collect();
    covered.extend(named().filter_map(|path| path.canonicalize().ok()));
    if rustix::process::geteuid().is_root() {
        covered.extend(closed_to_others(Path::new(SETTINGS)));
    }
    covered.sort();
    covered.dedup();
    covered
}

/// Returns the tokens and keys in the folders that are named `FOLDER/*`. A file that is itself listed as readable is
/// granted.
pub(crate) fn keys_of_toolchains(named: &[PathBuf], readable: &[PathBuf]) -> Vec<PathBuf> {
    let folders = named.iter().filter(|path| means_keys(path)).filter_map(|path| path.parent()?.canonicalize().ok());
    let is_granted =
        |key: &PathBuf| readable.iter().any(|path| path == key || path.canonicalize().is_ok_and(|path| path == *key));
    let mut keys: Vec<PathBuf> =
        folders.flat_map(|folder| keys::keys_below(&folder)).filter(|key| !is_granted(key)).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn means_keys(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "*")
}

/// Returns the files and folders that others than the owner and the group may not read. Links are not followed.
fn closed_to_others(folder: &Path) -> Vec<PathBuf> {
    let (mut closed, mut looked) = (Vec::new(), 0);
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            // The folder itself says so: most settings of the system are links, and asking about each takes time.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            let Ok(facts) = entry.metadata() else { continue };
            let is_closed = facts.permissions().mode() & 0o004 == 0 && !facts.is_symlink();
            if is_closed {
                closed.push(entry.path());
            } else if facts.is_dir() && depth < DEPTH && looked < MOST {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_not_read_is_found_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("open/closed")).expect("it is new");
        for (name, mode) in [("key", 0o640), ("open/plain", 0o644), ("open/secret", 0o600)] {
            std::fs::write(at(name), "x").expect("it can be written");
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).expect("it is ours");
        }
        std::fs::set_permissions(at("open"), PermissionsExt::from_mode(0o755)).expect("it is ours");
        std::fs::set_permissions(at("open/closed"), PermissionsExt::from_mode(0o700)).expect("it is ours");
        std::os::unix::fs::symlink(at("key"), at("link")).expect("it is new");
        let mut found = closed_to_others(folder.path());
        found.sort();
        assert_eq!(found, [at("key"), at("open/closed"), at("open/secret")]);
    }

    #[test]
    fn a_named_file_is_covered_where_a_link_leads_to() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let real = folder.path().canonicalize().expect("it is there").join("real");
        std::fs::create_dir(&real).expect("it is new");
        std::fs::write(real.join("key"), "x").expect("it can be written");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).expect("it is new");
        let covered = covered(&[link.join("key")]);
        assert!(covered.contains(&link.join("key")) && covered.contains(&real.join("key")), "{covered:?}");
    }

    #[test]
    fn keys_of_a_toolchain_are_covered_unless_that_file_is_granted() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let real = folder.path().canonicalize().expect("it is there");
        for name in [".npmrc", "credentials.toml", "config.toml"] {
            std::fs::write(real.join(name), "x").expect("it can be written");
        }
        let named = [real.join("*")];

        let all = keys_of_toolchains(&named, &[]);
        assert_eq!(all, [real.join(".npmrc"), real.join("credentials.toml")]);
        assert_eq!(keys_of_toolchains(&named, &[real.join(".npmrc")]), [real.join("credentials.toml")]);
        let of_folder = keys_of_toolchains(&named, std::slice::from_ref(&real));
        assert_eq!(of_folder, all, "a folder that is readable is no grant for the keys in it");
        assert!(!covered(&named).iter().any(|path| path.starts_with(&real)));
    }
}
