//! Describes the layers of the sandbox: the name, the loss without the layer, and the first kernel that has it.
//!
//! Not here: trying the layers (`launcher/enter/trials.rs`), what to do about a missing one (`platform`).

use serde::{Deserialize, Serialize};

/// One layer of the sandbox, or a kernel feature that a layer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SandboxLayer {
    /// A user namespace, which an ordinary user needs for all other namespaces.
    UserNamespace,
    /// A private mount namespace.
    Mounts,
    /// Restricting a whole tree of mounts.
    MountAttributes,
    /// A layer over the workspace.
    Overlay,
    /// A private process namespace.
    ProcessNamespace,
    /// A `/proc` that shows only the processes of that namespace.
    FreshProc,
    /// A private network namespace.
    NetworkNamespace,
    /// The loopback of that network.
    Loopback,
    /// Landlock for files.
    Landlock,
    /// Landlock for ports.
    LandlockPorts,
    /// A filter of system calls.
    Seccomp,
    /// A filter that asks another process.
    Notifications,
    /// Opening a path beneath a folder in one call.
    Openat2,
    /// A limit on the number of processes.
    ProcessLimit,
}

impl SandboxLayer {
    /// All of them, in the order in which they are tried and shown.
    pub const ALL: [SandboxLayer; 14] = [
        SandboxLayer::UserNamespace,
        SandboxLayer::Mounts,
        SandboxLayer::MountAttributes,
        SandboxLayer::Overlay,
        SandboxLayer::ProcessNamespace,
        SandboxLayer::FreshProc,
        SandboxLayer::NetworkNamespace,
        SandboxLayer::Loopback,
        SandboxLayer::Landlock,
        SandboxLayer::LandlockPorts,
        SandboxLayer::Seccomp,
        SandboxLayer::Notifications,
        SandboxLayer::Openat2,
        SandboxLayer::ProcessLimit,
    ];

    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            SandboxLayer::UserNamespace => "user namespace",
            SandboxLayer::Mounts => "mounts",
            SandboxLayer::MountAttributes => "mount_setattr",
            SandboxLayer::Overlay => "overlay",
            SandboxLayer::ProcessNamespace => "process namespace",
            SandboxLayer::FreshProc => "fresh /proc",
            SandboxLayer::NetworkNamespace => "network namespace",
            SandboxLayer::Loopback => "loopback",
            SandboxLayer::Landlock => "Landlock",
            SandboxLayer::LandlockPorts => "Landlock ports",
            SandboxLayer::Seccomp => "seccomp",
            SandboxLayer::Notifications => "notifications",
            SandboxLayer::Openat2 => "openat2",
            SandboxLayer::ProcessLimit => "process limit",
        }
    }

    /// Says in one sentence what is lost without it.
    pub fn cost(self) -> &'static str {
        match self {
            SandboxLayer::UserNamespace => "Commands have no namespaces at all, and the level is at most \"partial\".",
            SandboxLayer::Mounts => {
                "Commands see the real file system: only Landlock keeps them from your other files."
            }
            SandboxLayer::MountAttributes => {
                "haft cannot make folders read-only for commands, so it mounts nothing for them."
            }
            SandboxLayer::Overlay => "Commands change the real files instead of a layer that haft commits.",
            SandboxLayer::ProcessNamespace => {
                "Commands see which other processes run, and can outlive a haft that was killed."
            }
            SandboxLayer::FreshProc => {
                "Commands would see the processes of others in /proc, so haft uses no namespaces."
            }
            SandboxLayer::NetworkNamespace => {
                "Commands share the network of this machine: haft controls it with a proxy, which is weaker."
            }
            SandboxLayer::Loopback => {
                "Commands could not reach servers that they start, so haft uses no network namespace."
            }
            SandboxLayer::Landlock => {
                "haft lacks its second barrier around files, and runs no command at a level above \"none\"."
            }
            SandboxLayer::LandlockPorts => {
                "Without a network namespace, haft can give a command either no network or all of it."
            }
            SandboxLayer::Seccomp => "Commands may make every system call, and the level is \"none\".",
            SandboxLayer::Notifications => {
                "Programs cannot rename folders in a layer, and without an overlay haft cannot keep what they overwrite."
            }
            SandboxLayer::Openat2 => "haft opens paths folder by folder, which is slower but not weaker.",
            SandboxLayer::ProcessLimit => "A command can start as many processes as its user may.",
        }
    }

    /// Returns the first kernel in which an ordinary user can use it.
    pub fn since(self) -> Option<&'static str> {
        match self {
            SandboxLayer::MountAttributes => Some("5.12"),
            SandboxLayer::Overlay => Some("5.11"),
            SandboxLayer::Landlock => Some("5.13"),
            SandboxLayer::LandlockPorts => Some("6.7"),
            SandboxLayer::Notifications => Some("5.5"),
            SandboxLayer::Openat2 => Some("5.6"),
            SandboxLayer::UserNamespace
            | SandboxLayer::Mounts
            | SandboxLayer::ProcessNamespace
            | SandboxLayer::FreshProc
            | SandboxLayer::NetworkNamespace
            | SandboxLayer::Loopback
            | SandboxLayer::Seccomp
            | SandboxLayer::ProcessLimit => None,
        }
    }

    /// Returns whether settings of containers and hardened systems can disable it, whatever the kernel is.
    pub fn is_by_permission(self) -> bool {
        matches!(
            self,
            SandboxLayer::UserNamespace
                | SandboxLayer::Mounts
                | SandboxLayer::MountAttributes
                | SandboxLayer::Overlay
                | SandboxLayer::ProcessNamespace
                | SandboxLayer::FreshProc
                | SandboxLayer::NetworkNamespace
                | SandboxLayer::Loopback
        )
    }
}
