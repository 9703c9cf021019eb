//! Lists and reads the files of a skill: of the user, or of the copy of a project that the user trusts.
//!
//! Everything is opened beneath the folder, and links in it are left out, so nothing leads out of it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::files::read::open::open_beneath;
use crate::project::SKILL_FILE;

/// Most files of a skill.
const MOST_FILES: usize = 300;
/// Most names that are looked at.
const MOST_NAMES: usize = 5_000;
/// How deep folders are looked into.
const DEEPEST: usize = 8;
/// Most bytes of a file that is read.
const LARGEST: u64 = 1 << 20;
/// Folders that hold what others have written.
const LEFT_OUT: [&str; 5] = ["node_modules", ".venv", "venv", ".git", "__pycache__"];

/// A file in the folder of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFileEntry {
    /// Its path from the folder.
    pub name: String,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// Lists the files of a skill but its `SKILL.md`, sorted by their paths. Links and what is no file are left out.
///
/// # Errors
///
/// Fails where the folder cannot be read or has too many files.
pub fn list_skill(folder: &Path) -> io::Result<Vec<SkillFileEntry>> {
    let mut listing = SkillFileListing { files: Vec::new(), looked_at: 0 };
    listing.take(&opened(folder)?, "", DEEPEST)?;
    listing.files.retain(|file| file.name != SKILL_FILE);
    listing.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(listing.files)
}

/// Reads a file of a skill.
///
/// # Errors
///
/// Fails where it cannot be read, where a link is on the way, and where it is larger than 1 MiB.
pub fn read_skill_file(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    let file = File::from(open_beneath(opened(folder)?.as_fd(), name, OFlags::RDONLY | OFlags::NONBLOCK)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB")),
        false => Ok(bytes),
    }
}

/// The way to the folder itself may have links: it was chosen by the user.
fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// The files of a skill that were found so far.
struct SkillFileListing {
    files: Vec<SkillFileEntry>,
    looked_at: usize,
}

impl SkillFileListing {
    fn take(&mut self, folder: &OwnedFd, above: &str, depth: usize) -> io::Result<()> {
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            self.looked_at += 1;
            if self.files.len() >= MOST_FILES || self.looked_at > MOST_NAMES {
                let what = format!("it has more than {MOST_FILES} files");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
            let Ok(facts) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let path = format!("{above}{name}");
            match FileType::from_raw_mode(facts.st_mode) {
                FileType::Directory if depth > 0 && !LEFT_OUT.contains(&name) => {
                    let below = open_beneath(folder.as_fd(), name, OFlags::DIRECTORY | OFlags::RDONLY)?;
                    self.take(&below, &format!("{path}/"), depth - 1)?;
                }
                FileType::RegularFile => {
                    self.files.push(SkillFileEntry { name: path, is_executable: facts.st_mode & 0o111 != 0 });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_with_their_folders_and_links_lead_nowhere() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let write = |name: &str| {
            let path = folder.path().join("skill").join(name);
            std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folders can be made");
            std::fs::write(path, name).expect("a file can be written");
        };
        ["SKILL.md", "b.md", "a/c.sh", "node_modules/x.js"].into_iter().for_each(write);
        std::fs::write(folder.path().join("secret"), "s").expect("a file can be written");
        let place = folder.path().join("skill");
        for (link, to) in [("link.md", "../secret"), ("up", "..")] {
            std::os::unix::fs::symlink(to, place.join(link)).expect("a link can be made");
        }
        let names: Vec<String> =
            list_skill(&place).expect("it can be listed").into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["a/c.sh", "b.md"]);
        assert_eq!(read_skill_file(&place, "a/c.sh").expect("it can be read"), b"a/c.sh");
        for outside in ["link.md", "up/secret", "../secret", "/etc/hostname"] {
            assert!(read_skill_file(&place, outside).is_err(), "{outside}");
        }
    }

    #[test]
    fn a_folder_with_too_many_files_or_a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("big"), vec![b'x'; 1 << 21]).expect("a file can be written");
        assert_eq!(read_skill_file(folder.path(), "big").expect_err("it is large").kind(), io::ErrorKind::FileTooLarge);
        for number in 0..MOST_FILES {
            std::fs::write(folder.path().join(number.to_string()), "").expect("a file can be written");
        }
        assert_eq!(list_skill(folder.path()).expect_err("they are many").to_string(), "it has more than 300 files");
    }
}
