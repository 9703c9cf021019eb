//! Limits what a command uses up, and gives up its rights for good.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::launcher::enter::{NotEntered, OrMissing};

/// Numbers of processes that the kernel does not give out again once it has reached the end of its range.
const NEVER_REUSED: u32 = 300;
/// The first kernel in which the largest process number belongs to the namespace and not to the whole system.
const LIMIT_PER_NAMESPACE: (u32, u32) = (6, 14);
/// The first kernel that counts the processes of a user per namespace.
const COUNTED_PER_NAMESPACE: (u32, u32) = (5, 14);
const MOST_OPEN_FILES: u64 = 65_536;
const USUAL_OPEN_FILES: u64 = 1024;

/// By what the number of processes is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::launcher::enter) enum Limit {
    /// By the largest number that the namespace gives out.
    Namespace,
    /// By how many the user may have; a sentence says why.
    User(String),
    /// By nothing; a sentence says why.
    None(String),
}

impl Limit {
    /// Returns what is to be said of it.
    pub(in crate::launcher::enter) fn note(self) -> Option<String> {
        match self {
            Limit::Namespace => None,
            Limit::User(note) | Limit::None(note) => Some(note),
        }
    }
}

/// Limits the processes of this namespace, or else those of the user.
pub(in crate::launcher::enter) fn processes(proc: BorrowedFd<'_>, most: u32) -> Result<Limit, NotEntered> {
    match limit_namespace(proc, most) {
        Ok(()) => Ok(Limit::Namespace),
        Err(error) if kernel_version() >= COUNTED_PER_NAMESPACE => {
            processes_of_user(u64::from(most), &error.to_string())
        }
        Err(error) => processes_beside_others(most, &error.to_string()),
    }
}

/// Limits the processes of a user who runs others too: the kernel counts them all.
pub(in crate::launcher::enter) fn processes_beside_others(most: u32, why: &str) -> Result<Limit, NotEntered> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let others = load.split(['/', ' ']).nth(4).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    processes_of_user(others.saturating_add(u64::from(most)), why)
}

fn limit_namespace(proc: BorrowedFd<'_>, most: u32) -> io::Result<()> {
    // On an older kernel root would set the limit of the whole system.
    if kernel_version() < LIMIT_PER_NAMESPACE {
        return Err(io::Error::other("this kernel has no limit per namespace"));
    }
    // Below 301 the kernel refuses, and the namespace then has no limit at all. So many are always possible; as long as
    // the lowest numbers have not been used once, a few more.
    let largest = most.max(1).saturating_add(NEVER_REUSED);
    let file = rustix::fs::openat(proc, "sys/kernel/pid_max", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, largest.to_string().as_bytes())?;
    Ok(())
}

fn processes_of_user(most: u64, why: &str) -> Result<Limit, NotEntered> {
    if rustix::process::getuid().is_root() {
        return Ok(Limit::None(format!("There is no limit on processes: {why}, and no other limit applies to root.")));
    }
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    let lowered = lowered(getrlimit(Resource::Nproc), limit);
    setrlimit(Resource::Nproc, lowered).or_missing("A limit on processes")?;
    Ok(Limit::User(format!("The limit of {most} processes is one of the user: {why}.")))
}

/// Leaves no core files behind, and a sane number of open files.
pub(in crate::launcher::enter) fn resources() -> Result<(), NotEntered> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).or_missing("A limit on core files")?;
    let most = Rlimit { current: Some(MOST_OPEN_FILES), maximum: Some(MOST_OPEN_FILES) };
    let mut files = lowered(getrlimit(Resource::Nofile), most);
    // Programs that wait with select() take numbers beyond this one for their own memory.
    files.current = files.current.map(|current| current.min(USUAL_OPEN_FILES));
    setrlimit(Resource::Nofile, files).or_missing("A limit on open files")
}

fn lowered(now: Rlimit, most: Rlimit) -> Rlimit {
    let lower = |now: Option<u64>, most: Option<u64>| match (now, most) {
        (Some(now), Some(most)) => Some(now.min(most)),
        (now, most) => now.or(most),
    };
    Rlimit { current: lower(now.current, most.current), maximum: lower(now.maximum, most.maximum) }
}

/// Gives up every capability, also those that programs could bring back.
pub(in crate::launcher::enter) fn give_up_capabilities() -> io::Result<()> {
    give_up_bounding_set()?;
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Gives up what programs could bring back. Without the right to do so there is nothing to bring back either:
/// `no_new_privs` stands before it.
pub(in crate::launcher::enter) fn give_up_bounding_set() -> io::Result<()> {
    if !rustix::thread::capabilities(None)?.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for number in 0..64 {
        match rustix::thread::remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // Behind the last one that this kernel knows.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn kernel_version() -> (u32, u32) {
    let release = rustix::system::uname();
    version(&release.release().to_string_lossy())
}

fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_kernels_are_read_by_their_first_two_numbers() {
        assert_eq!(version("6.18.44-fc-v490"), (6, 18));
        assert_eq!(version("5.4"), (5, 4));
        assert_eq!(version("strange"), (0, 0));
    }
}
