//! Finds the files that are covered inside although their folder is readable.
//!
//! These are the named files, their targets where links lead elsewhere, and tokens and keys in the folders of toolchains.
//! If haft is root, they also include what the system's settings keep from other users, because root reads inside.

mod closed;
mod keys;
mod walk;

use std::path::{Path, PathBuf};

use super::glance::Glance;

/// Where the system keeps its settings.
const SETTINGS: &str = "/etc";

/// Returns what is covered, but for the tokens and keys in folders of toolchains. What the system's settings keep from
/// others may be remembered in this file.
pub(crate) fn covered(named: &[PathBuf], memory: Option<&Path>) -> Vec<PathBuf> {
    let named = || named.iter().filter(|path| !means_keys(path));
    let mut covered: Vec<PathBuf> = named().cloned().collect();
    let mut glance = Glance::default();
    covered.extend(named().filter_map(|path| glance.real(path)));
    if rustix::process::geteuid().is_root() {
        covered.extend(closed::closed_to_others(Path::new(SETTINGS), memory));
    }
    covered.sort();
    covered.dedup();
    covered
}

/// Returns the tokens and keys in the folders that are named `FOLDER/*`. A file that is itself listed as readable is
/// granted. What was found may be remembered in this file.
pub(crate) fn keys_of_toolchains(named: &[PathBuf], readable: &[PathBuf], memory: Option<&Path>) -> Vec<PathBuf> {
    let mut glance = Glance::default();
    let named = named.iter().filter(|path| means_keys(path)).filter_map(|path| path.parent());
    let mut folders: Vec<PathBuf> = named.filter_map(|folder| glance.real(folder)).collect();
    folders.sort();
    folders.dedup();
    let mut keys = keys::keys_below(&folders, memory);
    keys.sort();
    keys.dedup();
    keys.retain(|key| !readable.iter().any(|path| path == key || glance.real(path).is_some_and(|path| path == *key)));
    keys
}

fn means_keys(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_is_covered_where_a_link_leads_to() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let real = folder.path().canonicalize().expect("it is there").join("real");
        std::fs::create_dir(&real).expect("it is new");
        std::fs::write(real.join("key"), "x").expect("it can be written");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).expect("it is new");
        let covered = covered(&[link.join("key")], None);
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

        let all = keys_of_toolchains(&named, &[], None);
        assert_eq!(all, [real.join(".npmrc"), real.join("credentials.toml")]);
        assert_eq!(keys_of_toolchains(&named, &[real.join(".npmrc")], None), [real.join("credentials.toml")]);
        let of_folder = keys_of_toolchains(&named, std::slice::from_ref(&real), None);
        assert_eq!(of_folder, all, "a folder that is readable is no grant for the keys in it");
        assert!(!covered(&named, None).iter().any(|path| path.starts_with(&real)));
    }
}
