//! Makes and opens folders and files that only the user can read.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::ownership;

/// Creates a folder and its parents for the user alone. Where one was made, its name outlives a power cut.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let make = || DirBuilder::new().mode(0o700).create(folder);
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let made = match (make(), parent) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(parent).and_then(|()| make())
        }
        (made, _) => made,
    };
    match made {
        // A folder above it may be one that others can write.
        Ok(()) => ownership::way_to(folder).and_then(|()| File::open(parent.unwrap_or(Path::new(".")))?.sync_all()),
        Err(_) if folder.is_dir() => ownership::of_user(&folder.metadata()?).and_then(|()| ownership::way_to(folder)),
        Err(error) => Err(error),
    }
}

/// Fails where another user owns a folder of haft or can write it. A folder that does not exist yet passes.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    match folder.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        facts => ownership::of_user(&facts?).and_then(|()| ownership::way_to(folder)),
    }
}

/// Creates a new file for the user alone; a file or link of that name is an error.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file for appending, for the user alone.
pub(crate) fn append_file(path: &Path) -> io::Result<File> {
    of_user(
        path,
        OpenOptions::new().append(true).read(true).create(true).mode(0o600).custom_flags(no_tricks()).open(path)?,
    )
}

/// Opens a file of ours for reading.
pub(crate) fn read_file(path: &Path) -> io::Result<File> {
    of_user(path, OpenOptions::new().read(true).custom_flags(no_tricks()).open(path)?)
}

/// Opens a file whose content is recognised by its hash. A large one is another name of a file of the workspace, and belongs
/// to whom that belonged.
pub(in crate::state) fn read_content(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true).custom_flags(no_tricks()).open(path)?)
}

/// Refuses a file that is not the user's alone, or that lies where another user can exchange it.
fn of_user(path: &Path, file: File) -> io::Result<File> {
    let file = regular(file)?;
    ownership::of_user(&file.metadata()?)?;
    ownership::way_to(path)?;
    Ok(file)
}

/// Returns whether a folder is at a path; a link to one is none.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.is_dir())
}

/// Refuses links that another user put there, and does not wait for the other end of a pipe.
fn no_tricks() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// Refuses pipes and devices, which have no end.
pub(in crate::state) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// A fresh folder for a short while; it goes when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Makes a private folder with an unpredictable name, beneath `parent`.
    pub fn beneath(parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("haft-{}", uuid::Uuid::now_v7().simple()));
        // Not recursive: the parent exists, and a folder that another process made is not taken over.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// Takes over an abandoned folder of ours.
    pub(in crate::state) fn taken_over(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Gives the folder another name beside its own.
    pub(in crate::state) fn rename(&mut self, name: &str) -> io::Result<()> {
        let path = self.path.with_file_name(name);
        std::fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a fingerprint of everything below a folder in it: names, kinds, modes and contents.
    pub fn fingerprint(&self, below: &str) -> io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        let mut folders = vec![self.path.join(below)];
        while let Some(folder) = folders.pop() {
            let mut entries = std::fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
            entries.sort_unstable_by_key(std::fs::DirEntry::file_name);
            for entry in entries {
                let (path, facts) = (entry.path(), entry.metadata()?);
                let content = match facts.file_type() {
                    kind if kind.is_file() => std::fs::read(&path)?,
                    kind if kind.is_symlink() => std::fs::read_link(&path)?.into_os_string().into_encoded_bytes(),
                    _ => Vec::new(),
                };
                let name = path.strip_prefix(&self.path).unwrap_or(&path).as_os_str().as_encoded_bytes();
                let numbers = [u64::from(facts.mode()), name.len() as u64, content.len() as u64];
                numbers.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
                hasher.update(name).update(&content);
                if facts.is_dir() {
                    folders.push(path);
                }
            }
        }
        Ok(hasher.finalize().to_hex()[..16].to_owned())
    }

    /// Puts a file into the folder, with its parents.
    pub fn put(&self, name: &str, content: &str) -> io::Result<()> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.path).is_err() {
            // The mode of a folder in it may forbid the removal of its content.
            open_up(&self.path);
            // Left-overs in a temporary folder do no harm, and there is no caller to tell.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Lets the user do everything in all folders below, as far as the system lets us.
fn open_up(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let below = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
}
