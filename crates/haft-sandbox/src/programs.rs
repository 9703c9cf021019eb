//! Finds programs that commands also find: in folders of the system and of toolchains, which are the same inside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where the usual programs are, on every system that has them.
const USUAL: [&str; 4] = ["/bin", "/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// Returns the path of the first of these programs that there is, preferring an earlier name to an earlier folder.
pub(crate) fn find(names: &[&str], environment: &[(OsString, OsString)], readable: &[PathBuf]) -> Option<PathBuf> {
    let listed = environment.iter().find(|(name, _)| name == "PATH").map(|(_, folders)| folders.clone());
    let listed: Vec<PathBuf> = std::env::split_paths(&listed.unwrap_or_default()).collect();
    // What lies elsewhere, such as in the workspace, is not seen inside, or is not the system's own.
    let is_visible = |folder: &&PathBuf| readable.iter().any(|visible| folder.starts_with(visible));
    let folders = || USUAL.iter().map(Path::new).chain(listed.iter().filter(is_visible).map(PathBuf::as_path));
    let found = |name: &str| folders().map(|folder| folder.join(name)).find(|program| is_program(program));
    names.iter().find_map(|name| found(name))
}

/// Returns whether a file can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_is_found_before_the_first_folder() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("only-here");
        std::fs::write(&program, "").unwrap();
        let path = [("PATH".into(), folder.path().into())];
        let readable = [folder.path().to_owned()];
        assert_eq!(find(&["only-here", "sh"], &path, &readable), find(&["sh"], &[], &[]), "it cannot be executed");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, executable).unwrap();
        assert_eq!(find(&["only-here", "sh"], &path, &readable), Some(program));
        assert_eq!(find(&["only-here"], &path, &[]), None, "nobody sees that folder inside");
    }
}
