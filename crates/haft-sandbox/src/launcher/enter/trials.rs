//! Tries each part of the sandbox separately, in a disposable process.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::NotEntered;
use super::confining::file_rights;
use super::confining::file_rights::{FileRights, Ports};
use super::confining::limits;
use super::confining::limits::Limit;
use super::confining::namespaces;
use super::confining::namespaces::NamespaceSide;
use super::confining::renames;
use super::confining::system_calls::{Filters, Sockets, Tracing};
use super::mounting::layer;
use super::mounting::layer::OverlayFolders;
use super::mounting::mounts::{MountTree, NO_EXEC, PLAIN, make_all_private, make_folder};
use crate::launcher::leave;
use crate::launcher::notify::Handover;
use crate::reporting::layer_cost::SandboxLayer;
use crate::running::orders::LayerTrial;

/// The result of a trial: a remark about the part, or the reason why it does not work.
type TrialOutcome = Result<String, String>;

const USER: i32 = libc::CLONE_NEWUSER;
const MOUNTS: i32 = USER | libc::CLONE_NEWNS;

/// The namespaces that a layer needs around it, and how it is tried.
fn part(layer: SandboxLayer) -> (i32, fn() -> TrialOutcome) {
    match layer {
        SandboxLayer::UserNamespace => (USER, nothing_more),
        SandboxLayer::Mounts => (MOUNTS, mounts),
        SandboxLayer::MountAttributes => (MOUNTS, mount_attributes),
        SandboxLayer::Overlay => (MOUNTS, overlay),
        SandboxLayer::ProcessNamespace => (USER | libc::CLONE_NEWPID, nothing_more),
        SandboxLayer::FreshProc => (MOUNTS | libc::CLONE_NEWPID, fresh_proc),
        SandboxLayer::NetworkNamespace => (USER | libc::CLONE_NEWNET, nothing_more),
        SandboxLayer::Loopback => (USER | libc::CLONE_NEWNET, loopback),
        SandboxLayer::Landlock => (0, landlock),
        SandboxLayer::LandlockPorts => (0, landlock_ports),
        SandboxLayer::Seccomp => (0, seccomp),
        SandboxLayer::Notifications => (0, notifications),
        SandboxLayer::Openat2 => (0, openat2),
        SandboxLayer::ProcessLimit => (MOUNTS | libc::CLONE_NEWPID, process_limit),
    }
}

/// Tries every layer by itself. Without a user namespace an ordinary user has no other one, so it is not tried.
pub(crate) fn trials() -> Vec<LayerTrial> {
    let mut has_user_namespace = true;
    let tried = SandboxLayer::ALL.map(|layer| {
        let (around, part) = part(layer);
        let outcome = match has_user_namespace || around == 0 {
            true => apart(around, part),
            false => Err("it needs a user namespace".to_owned()),
        };
        has_user_namespace &= layer != SandboxLayer::UserNamespace || outcome.is_ok();
        LayerTrial { layer, outcome }
    });
    tried.into()
}

/// Tries something in a process of its own and in these namespaces.
fn apart(around: i32, part: fn() -> TrialOutcome) -> TrialOutcome {
    let (answer, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(said)?;
    let identity = namespaces::own_identity();
    match namespaces::split_into(around, libc::SIGCHLD).map_err(said)? {
        NamespaceSide::Inside => {
            let mapped = if around & USER == 0 { Ok(()) } else { namespaces::map_identity(identity.0, identity.1) };
            let outcome = mapped.map_err(said).and_then(|()| part());
            let text = serde_json::to_vec(&outcome).unwrap_or_default();
            let _ = rustix::io::write(&tell, &text);
            leave(0)
        }
        NamespaceSide::Outside(pid) => {
            drop(tell);
            let mut text = Vec::new();
            let read = std::fs::File::from(answer).read_to_end(&mut text);
            let _ = waitpid(Pid::from_raw(pid), WaitOptions::empty());
            read.map_err(said)?;
            serde_json::from_slice(&text).unwrap_or_else(|_| Err("the process that tried it was killed".into()))
        }
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn missing(why: NotEntered) -> String {
    match why {
        NotEntered::NoLayer(why) | NotEntered::Missing(why) | NotEntered::Passing(why) => why,
    }
}

fn works() -> TrialOutcome {
    Ok("works".into())
}

fn nothing_more() -> TrialOutcome {
    works()
}

fn mounts() -> TrialOutcome {
    memory().map(|_| ()).and_then(|()| works())
}

/// Puts a file system in memory over the root; it is there for this process alone.
fn memory() -> Result<MountTree, String> {
    make_all_private().map_err(said)?;
    let tree = MountTree::fresh("tmpfs", &[("mode", "755"), ("size", "1m")], PLAIN).map_err(said)?;
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(said)?;
    tree.attach_over(root.as_fd()).map_err(said)?;
    Ok(tree)
}

fn loopback() -> TrialOutcome {
    namespaces::raise_loopback().map_err(said)?;
    let socket = internet_socket().map_err(said)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    works()
}

fn internet_socket() -> rustix::io::Result<OwnedFd> {
    rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

fn fresh_proc() -> TrialOutcome {
    MountTree::fresh("proc", &[], PLAIN | NO_EXEC).map_err(said)?;
    works()
}

fn overlay() -> TrialOutcome {
    with_folders(|folders| layer::over(Path::new("/"), folders).map(drop).map_err(missing))?;
    Ok("works, in memory".into())
}

fn with_folders(mount: fn(&OverlayFolders<'_>) -> Result<(), String>) -> Result<(), String> {
    let tree = memory()?;
    let folder = |name: &str| make_folder(tree.as_fd(), Path::new(name)).map_err(said);
    let (lower, upper, work) = (folder("lower")?, folder("upper")?, folder("work")?);
    mount(&OverlayFolders { lower: lower.as_fd(), upper: upper.as_fd(), work: work.as_fd() })
}

fn landlock() -> TrialOutcome {
    let version = file_rights::version()?;
    file_rights::restrict_to(&FileRights::default()).map_err(missing)?;
    match std::fs::read_dir("/") {
        Ok(_) => Err("it restricts nothing".into()),
        Err(_) => Ok(format!("works, version {version}")),
    }
}

fn mount_attributes() -> TrialOutcome {
    make_all_private().map_err(said)?;
    works()
}

/// Forbids all ports but one, and tries both.
fn landlock_ports() -> TrialOutcome {
    let version = file_rights::version()?;
    if version < file_rights::KNOWS_PORTS {
        return Err(format!("version {version} of Landlock has no rules for ports"));
    }
    let listener = internet_socket().map_err(said)?;
    rustix::net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    rustix::net::listen(&listener, 1).map_err(said)?;
    let address: SocketAddrV4 =
        rustix::net::getsockname(&listener).map_err(said)?.try_into().map_err(|_| "no address of the loopback")?;
    let files =
        FileRights { readable: vec!["/".into()], ports: Ports::Connect(address.port()), ..FileRights::default() };
    file_rights::restrict_to(&files).map_err(missing)?;
    let connect = |port: u16| {
        let socket = internet_socket()?;
        rustix::net::connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
    };
    match (connect(address.port()), connect(1)) {
        (Ok(()), Err(Errno::ACCESS)) => works(),
        (allowed, refused) => Err(format!("it does not tell ports apart: {allowed:?}, {refused:?}")),
    }
}

fn openat2() -> TrialOutcome {
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(said)?;
    let resolve = rustix::fs::ResolveFlags::BENEATH;
    rustix::fs::openat2(&root, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).map_err(said)?;
    works()
}

fn seccomp() -> TrialOutcome {
    Filters::prepare(Sockets::Unix, Tracing::No).map_err(missing)?.apply().map_err(said)?;
    match internet_socket() {
        Ok(_) => Err("it refuses nothing".into()),
        Err(_) => works(),
    }
}

fn notifications() -> TrialOutcome {
    rustix::thread::set_no_new_privs(true).map_err(said)?;
    let handover = Handover::prepare(renames::filter()).map_err(said)?;
    handover.install().map_err(said)?;
    handover.receive().ok_or("the kernel does not ask another process")?;
    works()
}

fn process_limit() -> TrialOutcome {
    let proc = MountTree::fresh("proc", &[], PLAIN | NO_EXEC).map_err(said)?;
    match limits::processes(proc.as_fd(), 256).map_err(missing)? {
        Limit::Namespace => Ok("works, by the largest number of the namespace".into()),
        Limit::User(note) => Ok(note),
        Limit::None(note) => Err(note),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launcher::enter::mounting::layer::FolderReference;
    use crate::launcher::enter::tests::single_thread::text_of_one_thread;

    /// Tries something from a process with one thread, as the launcher is.
    fn from_one_thread(tries: impl FnOnce() -> Vec<LayerTrial>) -> Vec<LayerTrial> {
        serde_json::from_str(&text_of_one_thread(|| serde_json::to_string(&tries()).unwrap())).unwrap()
    }

    fn outcome(around: i32, part: fn() -> TrialOutcome) -> TrialOutcome {
        let one = || vec![LayerTrial { layer: SandboxLayer::Seccomp, outcome: apart(around, part) }];
        from_one_thread(one).remove(0).outcome
    }

    #[test]
    fn every_part_works_where_these_tests_run() {
        for trial in from_one_thread(trials) {
            assert!(trial.outcome.is_ok(), "{trial:?}");
        }
    }

    #[test]
    fn a_kernel_that_takes_no_descriptors_is_told_names() {
        let by_name = || {
            with_folders(|folders| {
                crate::launcher::enter::mounting::layer::mount(folders, FolderReference::Name).map(drop).map_err(said)
            })?;
            works()
        };
        assert_eq!(outcome(MOUNTS, by_name), works());
    }

    #[test]
    fn who_is_killed_while_trying_is_reported() {
        assert_eq!(outcome(0, || leave(1)), Err("the process that tried it was killed".into()));
    }
}
