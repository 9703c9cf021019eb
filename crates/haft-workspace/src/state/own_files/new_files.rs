//! Creates new files where none exist: all of them, or none.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes new files into a folder, which is made where it is missing. A name that is taken, also by a link, is an error,
/// and then nothing was written.
pub fn create_new_files(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)?;
    let mut written: Vec<PathBuf> = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        let outcome = create(&path).and_then(|mut file| {
            // From here on it is ours to remove.
            written.push(path.clone());
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        if let Err(error) = outcome {
            for path in &written {
                // What cannot be removed again is left: the error tells of the reason that both have.
                let _ = std::fs::remove_file(path);
            }
            return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
        }
    }
    Ok(())
}

/// Returns the first part of a path below a folder that is a link, and so leads elsewhere.
pub fn link_below(folder: &Path, below: &Path) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    below.components().find_map(|part| {
        place.push(part);
        place.is_symlink().then(|| place.clone())
    })
}

fn create(path: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::Error::new(error.kind(), "it exists already"))
        }
        file => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn new_files_come_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let inner = folder.path().join("a/b");
        create_new_files(&inner, &[("x", "1"), ("y", "2")]).expect("nothing is there");
        assert_eq!(std::fs::read_to_string(inner.join("y")).expect("it is there"), "2");

        let error = create_new_files(&inner, &[("z", "3"), ("x", "4")]).expect_err("x is there");
        assert_eq!(error.to_string(), format!("{}: it exists already", inner.join("x").display()));
        assert!(!inner.join("z").exists());
        assert_eq!(std::fs::read_to_string(inner.join("x")).expect("it is there"), "1");
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        symlink("elsewhere", folder.path().join("x")).expect("a link can be made");
        create_new_files(folder.path(), &[("x", "1")]).expect_err("a link has the name");
        assert!(!folder.path().join("elsewhere").exists());
        assert_eq!(link_below(folder.path(), Path::new("y/x")), None);
        assert_eq!(link_below(folder.path(), Path::new("x/y")), Some(folder.path().join("x")));
    }
}
