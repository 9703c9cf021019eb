//! Landlock: which files a command may read and write, whatever the mounts say, and which processes its signals may reach.
//!
//! It also restricts the watching process, which acts for the command when it renames folders.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, NetPort, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};

use crate::launcher::enter::NotEntered;

/// The newest rights that were tried.
const NEWEST: ABI = ABI::V7;
/// Without the right to move between folders, ordinary programs do not work.
const OLDEST: i64 = 2;
/// Without the right to cut files off, a command could empty every file of the user's.
const CUTS_NOTHING_OFF: i64 = 3;
/// Since then it knows ports of TCP.
pub(in crate::launcher::enter) const KNOWS_PORTS: i64 = 4;
/// Since then signals and abstract sockets are kept inside.
const KEEPS_SIGNALS: i64 = 6;

const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// Which files a command may use.
#[derive(Debug, Default)]
pub(in crate::launcher::enter) struct FileRights {
    /// Whose names and contents may be read, and which may be run.
    pub(in crate::launcher::enter) readable: Vec<PathBuf>,
    /// Of which only the names may be read.
    pub(in crate::launcher::enter) listed: Vec<PathBuf>,
    pub(in crate::launcher::enter) writable: Vec<PathBuf>,
    /// Whether ports may be used.
    pub(in crate::launcher::enter) ports: Ports,
    /// The numbers of its standard streams, which it may open by name (`/dev/stdin`), whatever they are.
    pub(in crate::launcher::enter) given: [Option<RawFd>; 3],
}

/// Whether ports may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::launcher::enter) enum Ports {
    /// No port at all.
    #[default]
    None,
    /// This one, to connect to.
    Connect(u16),
    /// All of them: they are those of a network of its own, or the network was granted.
    All,
}

/// Restricts this process, and what it starts, to these files; returns what this kernel cannot restrict.
pub(in crate::launcher::enter) fn restrict_to(files: &FileRights) -> Result<Vec<String>, NotEntered> {
    let version = version().map_err(|why| missing(&why))?;
    let status = rules(files).map_err(|error| missing(&error.to_string()))?.restrict_self();
    match status.map_err(|error| missing(&error.to_string()))?.ruleset {
        RulesetStatus::NotEnforced => Err(missing("it has no effect here")),
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(not_restricted(version)),
    }
}

/// Says what this kernel cannot restrict; refuses where it restricts nothing.
pub(in crate::launcher::enter) fn cannot_restrict() -> Result<Vec<String>, NotEntered> {
    version().map(not_restricted).map_err(|why| missing(&why))
}

/// Refuses where Landlock alone would let files be destroyed that may not be written.
pub(in crate::launcher::enter) fn confines_alone() -> Result<(), NotEntered> {
    enough_alone(version().map_err(|why| missing(&why))?)
}

fn enough_alone(version: i64) -> Result<(), NotEntered> {
    if version >= CUTS_NOTHING_OFF {
        return Ok(());
    }
    Err(missing(&format!("without namespaces its version {version} would let commands cut off any file of the user's")))
}

/// Returns whether the kernel can keep a process from all ports but some.
pub(crate) fn knows_ports() -> bool {
    version().is_ok_and(|version| version >= KNOWS_PORTS)
}

/// Returns whether abstract sockets of others are out of reach.
pub(in crate::launcher::enter) fn keeps_abstract_sockets() -> bool {
    version().is_ok_and(|version| version >= KEEPS_SIGNALS)
}

fn missing(why: &str) -> NotEntered {
    NotEntered::Missing(format!("Files cannot be kept from commands by Landlock: {why}."))
}

fn not_restricted(version: i64) -> Vec<String> {
    if version < KEEPS_SIGNALS {
        return vec![format!("Landlock of this kernel (version {version}) does not keep signals inside.")];
    }
    Vec::new()
}

fn rules(files: &FileRights) -> Result<RulesetCreated, landlock::RulesetError> {
    // Devices made by a command are never real ones, but no program needs them either.
    let everything = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?;
    if files.ports != Ports::All {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = ruleset.create()?;
    if let Ports::Connect(port) = files.ports {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    let devices: Vec<PathBuf> = DEVICES.iter().map(|name| Path::new("/dev").join(name)).collect();
    let groups = [
        (&files.readable, AccessFs::from_read(NEWEST)),
        (&files.listed, AccessFs::ReadDir.into()),
        (&files.writable, everything),
        (&devices, device),
    ];
    for (paths, rights) in groups {
        for path in paths {
            created = allow(created, path, rights)?;
        }
    }
    for (number, stream) in files.given.into_iter().enumerate() {
        if let Some(stream) = stream {
            created = allow_stream(created, stream, number)?;
        }
    }
    Ok(created)
}

/// Allows a standard stream to be opened again. Pipes and sockets need no right.
fn allow_stream(
    ruleset: RulesetCreated,
    stream: RawFd,
    number: usize,
) -> Result<RulesetCreated, landlock::RulesetError> {
    // SAFETY: the process that will be the command's watcher holds it until the command has started.
    #[allow(unsafe_code)]
    let stream = unsafe { BorrowedFd::borrow_raw(stream) };
    let kind = rustix::fs::fstat(stream).map(|found| FileType::from_raw_mode(found.st_mode));
    let rights = match number {
        0 => AccessFs::ReadFile | AccessFs::IoctlDev,
        _ => AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
    };
    match kind {
        Ok(FileType::RegularFile | FileType::CharacterDevice) => ruleset.add_rule(PathBeneath::new(stream, rights)),
        _ => Ok(ruleset),
    }
}

/// Allows what a path stands for. What is not there needs no right.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Some((place, is_folder)) = opened(path) else { return Ok(ruleset) };
    let rights = if is_folder { rights } else { rights & AccessFs::from_file(NEWEST) };
    if rights.is_empty() { Ok(ruleset) } else { ruleset.add_rule(PathBeneath::new(place, rights)) }
}

/// Opens what a path stands for; a right for a link would be one for wherever it leads.
fn opened(path: &Path) -> Option<(OwnedFd, bool)> {
    let place = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    match FileType::from_raw_mode(rustix::fs::fstat(&place).ok()?.st_mode) {
        FileType::Symlink => None,
        kind => Some((place, kind == FileType::Directory)),
    }
}

/// Returns the version of Landlock in this kernel, or why there is none that does.
#[allow(unsafe_code)]
pub(in crate::launcher::enter) fn version() -> Result<i64, String> {
    const ASK_VERSION: u32 = 1;
    // SAFETY: with this flag the kernel takes no structure and only answers.
    let answer = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, ASK_VERSION)
    };
    match answer {
        OLDEST.. => Ok(answer),
        0.. => Err(format!("its version {answer} lets no program move files between folders")),
        _ => match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EOPNOTSUPP) => Err("the kernel has it, but it was not switched on when it started".into()),
            Some(libc::ENOSYS) => Err("this kernel does not have it".into()),
            _ => Err(std::io::Error::last_os_error().to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_it_is_not_enough_where_files_can_be_cut_off() {
        assert!(matches!(enough_alone(2), Err(NotEntered::Missing(why)) if why.contains("version 2")));
        assert_eq!(enough_alone(3), Ok(()));
    }
}
