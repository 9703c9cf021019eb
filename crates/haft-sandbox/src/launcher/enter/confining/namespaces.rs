//! Sets up the identity of a command and its namespaces.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::{DumpableBehavior, Gid, Uid, getegid, geteuid, set_dumpable_behavior};
use rustix::thread::{UnshareFlags, set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::running::orders::CommandNetwork;

/// Namespaces that every command has for itself.
const ALWAYS: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// The user and the group that own the files of the workspace, whose identity the launcher takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launcher::enter) struct OwnerIdentity {
    uid: Uid,
    gid: Gid,
}

/// Returns the owner of a folder whose identity has to be taken: haft is root, and the owner is not.
pub(in crate::launcher::enter) fn owner_to_become(folder: BorrowedFd<'_>) -> io::Result<Option<OwnerIdentity>> {
    let found = rustix::fs::fstat(folder)?;
    let owner = OwnerIdentity { uid: Uid::from_raw(found.st_uid), gid: Gid::from_raw(found.st_gid) };
    Ok((geteuid().is_root() && !owner.uid.is_root()).then_some(owner))
}

/// Becomes this owner for good.
pub(in crate::launcher::enter) fn become_owner(owner: OwnerIdentity) -> io::Result<()> {
    for stream in [rustix::stdio::stdout(), rustix::stdio::stderr()] {
        // The command may open them again by name, as /dev/stdout: then it must be allowed to.
        let is_pipe = |found: rustix::fs::Stat| FileType::from_raw_mode(found.st_mode) == FileType::Fifo;
        if rustix::fs::fstat(stream).is_ok_and(is_pipe) {
            let _ = rustix::fs::fchown(stream, Some(owner.uid), Some(owner.gid));
        }
    }
    set_thread_groups(&[])?;
    set_thread_res_gid(owner.gid, owner.gid, owner.gid)?;
    set_thread_res_uid(owner.uid, owner.uid, owner.uid)?;
    // A process that changes identity cannot write the maps of a namespace in its own /proc entry before this call.
    Ok(set_dumpable_behavior(DumpableBehavior::Dumpable)?)
}

/// The namespaces that commands of one session share.
pub(in crate::launcher::enter) struct SharedNamespaces {
    pub(in crate::launcher::enter) user: OwnedFd,
    pub(in crate::launcher::enter) network: OwnedFd,
}

impl SharedNamespaces {
    /// Opens those of this process.
    pub(in crate::launcher::enter) fn own() -> io::Result<Self> {
        let open = |name: &str| {
            rustix::fs::open(format!("/proc/self/ns/{name}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        Ok(Self { user: open("user")?, network: open("net")? })
    }
}

/// Moves this process into namespaces of its own, but for that of processes. Call it while it has one thread.
pub(in crate::launcher::enter) fn enter_new(network: CommandNetwork) -> io::Result<()> {
    let (uid, gid) = own_identity();
    let network = if network == CommandNetwork::Host { UnshareFlags::empty() } else { UnshareFlags::NEWNET };
    unshare(OWN | UnshareFlags::NEWUSER | network)?;
    map_identity(uid, gid)
}

/// Moves this process into the user namespace and the network of an earlier one, and into mounts of its own there.
pub(in crate::launcher::enter) fn enter_earlier(earlier: &SharedNamespaces) -> io::Result<()> {
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
    move_into_link_name_space(earlier.user.as_fd(), Some(LinkNameSpaceType::User))?;
    move_into_link_name_space(earlier.network.as_fd(), Some(LinkNameSpaceType::Network))?;
    unshare(OWN)
}

/// Namespaces that each kept root has for itself.
const OWN: UnshareFlags = UnshareFlags::NEWNS.union(UnshareFlags::NEWIPC).union(UnshareFlags::NEWUTS);

#[allow(unsafe_code)]
fn unshare(what: UnshareFlags) -> io::Result<()> {
    // SAFETY: no descriptors are unshared, and the process has one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(what) }?)
}

/// On which side of the new namespaces a process is.
pub(in crate::launcher::enter) enum NamespaceSide {
    /// Outside; the other one has this number.
    Outside(i32),
    /// Inside, as the first process.
    Inside,
}

/// Splits the process in two, one of them in new namespaces. It becomes a child of this process's own parent.
pub(in crate::launcher::enter) fn split(network: CommandNetwork) -> io::Result<NamespaceSide> {
    let apart = if network == CommandNetwork::Host { ALWAYS } else { ALWAYS | libc::CLONE_NEWNET };
    // With CLONE_PARENT the kernel wants no signal to be named, and uses that of this process.
    split_into(apart | libc::CLONE_PARENT, 0)
}

/// Splits the process in two; its parent gets a signal when the new one ends.
#[allow(unsafe_code)]
pub(in crate::launcher::enter) fn split_into(flags: i32, signal: i32) -> io::Result<NamespaceSide> {
    // Containers answer `clone3` as if the kernel did not have it, because a filter cannot read its flags.
    // SAFETY: neither memory nor a stack is shared, so this is a fork; the process has one thread, so that
    // everything may be used behind it.
    let answer = unsafe { libc::syscall(libc::SYS_clone, flags | signal, 0, 0, 0, 0) };
    match i32::try_from(answer) {
        Ok(0) => Ok(NamespaceSide::Inside),
        Ok(pid) if pid > 0 => Ok(NamespaceSide::Outside(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives the namespace its one user and its one group, which are the same as outside.
pub(in crate::launcher::enter) fn map_identity(uid: Uid, gid: Gid) -> io::Result<()> {
    tell_kernel("/proc/self/setgroups", "deny")?;
    tell_kernel("/proc/self/uid_map", &format!("{0} {0} 1", uid.as_raw()))?;
    tell_kernel("/proc/self/gid_map", &format!("{0} {0} 1", gid.as_raw()))
}

/// Returns the identity as it is before namespaces are entered; inside it is unknown until it is mapped.
pub(in crate::launcher::enter) fn own_identity() -> (Uid, Gid) {
    (geteuid(), getegid())
}

fn tell_kernel(path: &str, words: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, words.as_bytes())?;
    Ok(())
}

/// Lets programs inside reach each other on 127.0.0.1, at every port: outside, those below 1024 belong to root; here the
/// command has the network for itself, and no right that it could need for them.
pub(in crate::launcher::enter) fn raise_loopback() -> io::Result<()> {
    // Where the kernel's settings cannot be written, as in some containers, programs use other ports.
    let _ = std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    raise()
}

#[allow(unsafe_code)]
fn raise() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: a structure of plain numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, letter) in request.ifr_name.iter_mut().zip(b"lo") {
        *slot = *letter as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the socket is open and the request is the structure that this call reads.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, std::ptr::from_ref(&request)) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
