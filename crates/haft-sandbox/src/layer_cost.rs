//! Describes the layers of the sandbox: the name, the loss without the layer, and the first kernel that has it.
//!
//! Not here: trying them (`launcher/enter/trials.rs`), what to do about a missing one (`platform`).

use serde::{Deserialize, Serialize};

/// One layer of the sandbox, or a kernel feature that a layer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layer {
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

impl Layer {
    /// All of them, in the order in which they are tried and shown.
    pub const ALL: [Layer; 14] = [
        Layer::UserNamespace,
        Layer::Mounts,
        Layer::MountAttributes,
        Layer::Overlay,
        Layer::ProcessNamespace,
        Layer::FreshProc,
        Layer::NetworkNamespace,
        Layer::Loopback,
        Layer::Landlock,
        Layer::LandlockPorts,
        Layer::Seccomp,
        Layer::Notifications,
        Layer::Openat2,
        Layer::ProcessLimit,
    ];

    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Layer::UserNamespace => "user namespace",
            Layer::Mounts => "mounts",
            Layer::MountAttributes => "mount_setattr",
            Layer::Overlay => "overlay",
            Layer::ProcessNamespace => "process namespace",
            Layer::FreshProc => "fresh /proc",
            Layer::NetworkNamespace => "network namespace",
            Layer::Loopback => "loopback",
            Layer::Landlock => "Landlock",
            Layer::LandlockPorts => "Landlock ports",
            Layer::Seccomp => "seccomp",
            Layer::Notifications => "notifications",
            Layer::Openat2 => "openat2",
            Layer::ProcessLimit => "process limit",
        }
    }

    /// Says in one sentence what is lost without it.
    pub fn cost(self) -> &'static str {
        match self {
            Layer::UserNamespace => "Commands have no namespaces at all, and the level is at most \"partial\".",
            Layer::Mounts => "Commands see the real file system: only Landlock keeps them from your other files.",
            Layer::MountAttributes => "haft cannot make folders read-only for commands, so it mounts nothing for them.",
            Layer::Overlay => "Commands change the real files instead of a layer that haft commits.",
            Layer::ProcessNamespace => {
                "Commands see which other processes run, and can outlive a haft that was killed."
            }
            Layer::FreshProc => "Commands would see the processes of others in /proc, so haft uses no namespaces.",
            Layer::NetworkNamespace => {
                "Commands share the network of this machine: haft controls it with a proxy, which is weaker."
            }
            Layer::Loopback => "Commands could not reach servers that they start, so haft uses no network namespace.",
            Layer::Landlock => {
                "haft lacks its second barrier around files, and runs no command at a level above \"none\"."
            }
            Layer::LandlockPorts => {
                "Without a network namespace, haft can give a command either no network or all of it."
            }
            Layer::Seccomp => "Commands may make every system call, and the level is \"none\".",
            Layer::Notifications => {
                "Programs cannot rename folders in a layer, and without an overlay haft cannot keep what they overwrite."
            }
            Layer::Openat2 => "haft opens paths folder by folder, which is slower but not weaker.",
            Layer::ProcessLimit => "A command can start as many processes as its user may.",
        }
    }

    /// Returns the first kernel in which an ordinary user can use it.
    pub fn since(self) -> Option<&'static str> {
        match self {
            Layer::MountAttributes => Some("5.12"),
            Layer::Overlay => Some("5.11"),
            Layer::Landlock => Some("5.13"),
            Layer::LandlockPorts => Some("6.7"),
            Layer::Notifications => Some("5.5"),
            Layer::Openat2 => Some("5.6"),
            Layer::UserNamespace
            | Layer::Mounts
            | Layer::ProcessNamespace
            | Layer::FreshProc
            | Layer::NetworkNamespace
            | Layer::Loopback
            | Layer::Seccomp
            | Layer::ProcessLimit => None,
        }
    }

    /// Returns whether settings of containers and hardened systems can disable it, whatever the kernel is.
    pub fn is_by_permission(self) -> bool {
        matches!(
            self,
            Layer::UserNamespace
                | Layer::Mounts
                | Layer::MountAttributes
                | Layer::Overlay
                | Layer::ProcessNamespace
                | Layer::FreshProc
                | Layer::NetworkNamespace
                | Layer::Loopback
        )
    }
}
