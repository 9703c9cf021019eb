//! Remembers until the next start of the machine which level of confinement was reached.
//!
//! A trial costs as much as a command. haft remembers only the full level: a user may install or switch on a missing part
//! at any time. If the full level is lost later, a command fails before it runs, and haft tries the level again.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file for what the system's settings keep from others.
const CLOSED_SETTINGS: &str = "closed-settings";

/// The file for the keys in folders of toolchains.
const KEYS: &str = "toolchain-keys";

/// Remembers in one file which level of confinement was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelMemory {
    file: PathBuf,
}

/// The system and the haft program for which a remembered level holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SystemIdentity {
    boot: String,
    kernel: String,
    user: u32,
    /// A container may share a home with its host, and permits less.
    surroundings: ContainerIdentity,
    /// Which file haft is, and when it was changed.
    program: (u64, u64, i64, i64),
}

/// The properties of a process by which a container differs from its host.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ContainerIdentity {
    users: Option<PathBuf>,
    mounts: Option<PathBuf>,
    /// The kernel's lines about filters of system calls.
    filters: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct LevelRecord {
    holder: SystemIdentity,
    notes: Vec<String>,
}

impl LevelMemory {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Returns what was said of the full level, if it was reached here since the machine was started.
    pub(crate) fn full(&self, launcher: &Path) -> Option<Vec<String>> {
        let entry: LevelRecord = serde_json::from_slice(&own_bytes(&self.file)?).ok()?;
        (entry.holder == SystemIdentity::now(launcher)?).then_some(entry.notes)
    }

    /// Remembers that the full level was reached. It does not matter if that is not possible.
    pub(crate) fn note_full(&self, launcher: &Path, notes: &[String]) {
        let Some(holder) = SystemIdentity::now(launcher) else { return };
        let Ok(text) = serde_json::to_vec(&LevelRecord { holder, notes: notes.to_vec() }) else { return };
        put_own_bytes(&self.file, &text);
    }

    /// Returns the file for what the system's settings keep from others, beside this one.
    pub(crate) fn closed_settings(&self) -> PathBuf {
        self.file.with_file_name(CLOSED_SETTINGS)
    }

    /// Returns the file for the keys in folders of toolchains, beside this one.
    pub(crate) fn keys(&self) -> PathBuf {
        self.file.with_file_name(KEYS)
    }

    /// Forgets it.
    pub(crate) fn forget(&self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Returns what is in a file of this user; nothing where others could have written it.
pub(crate) fn own_bytes(file: &Path) -> Option<Vec<u8>> {
    let facts = file.symlink_metadata().ok()?;
    let is_ours = facts.is_file() && facts.uid() == rustix::process::geteuid().as_raw() && facts.mode() & 0o022 == 0;
    std::fs::read(file).ok().filter(|_| is_ours)
}

/// Puts something in a file of this user. It does not matter if that is not possible.
pub(crate) fn put_own_bytes(file: &Path, bytes: &[u8]) {
    let fresh = file.with_extension(format!("{}", std::process::id()));
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh);
    let written = opened.and_then(|mut file| file.write_all(bytes));
    if written.and_then(|()| std::fs::rename(&fresh, file)).is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
}

impl SystemIdentity {
    fn now(launcher: &Path) -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let program = launcher.metadata().ok()?;
        Some(Self {
            boot: boot.trim().to_owned(),
            kernel,
            user: rustix::process::geteuid().as_raw(),
            surroundings: ContainerIdentity::now(),
            program: (program.dev(), program.ino(), program.mtime(), program.mtime_nsec()),
        })
    }
}

impl ContainerIdentity {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let filters = status.lines().filter(|line| line.starts_with("Seccomp")).map(str::to_owned).collect();
        let namespace = |kind: &str| std::fs::read_link(Path::new("/proc/self/ns").join(kind)).ok();
        Self { users: namespace("user"), mounts: namespace("mnt"), filters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_haft_on_the_same_system_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("haft");
        std::fs::write(&program, "1").unwrap();
        let remembered = LevelMemory::new(folder.path().join("level"));
        assert_eq!(remembered.full(&program), None);
        remembered.note_full(&program, &["a note".into()]);
        assert_eq!(remembered.full(&program), Some(vec!["a note".to_owned()]));
        std::fs::write(folder.path().join("other"), "2").unwrap();
        assert_eq!(remembered.full(&folder.path().join("other")), None);
        remembered.forget();
        assert_eq!(remembered.full(&program), None);
        std::fs::write(folder.path().join("level"), "{broken").unwrap();
        assert_eq!(remembered.full(&program), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
