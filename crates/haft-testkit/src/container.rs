//! The system calls that a container refuses: what the default profiles of Docker and Podman answer.
//!
//! A test that starts haft behind this filter sees what people see in a container without starting one. Single layers of
//! the sandbox can be taken away by name, so that a test can go through all of them.
//!
//! Not here: the file system and the capabilities of a container.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The variable that names what stands in front of haft in tests, as words that are separated by blanks.
pub const AROUND: &str = "HAFT_TEST_AROUND";

/// Calls that the default profiles do not permit without further capabilities.
const REFUSED: &[i64] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kcmp,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_quotactl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Namespaces as flags of `clone`.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// A layer of the sandbox that is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Namespaces and mounts, as in a container.
    Namespaces,
    /// Landlock, as if the kernel did not have it.
    Landlock,
    /// Seccomp filters, and with them watching what commands touch.
    Seccomp,
    /// `openat2`, as on older kernels.
    Openat2,
}

impl Missing {
    /// All of them.
    pub const ALL: [Missing; 4] = [Missing::Namespaces, Missing::Landlock, Missing::Seccomp, Missing::Openat2];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Namespaces => "namespaces",
            Missing::Landlock => "landlock",
            Missing::Seccomp => "seccomp",
            Missing::Openat2 => "openat2",
        }
    }

    /// Returns the layer of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|missing| missing.name() == name)
    }
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Takes layers away from this process and all that it starts.
///
/// # Errors
///
/// Fails where the system takes no filter.
pub fn take_away(missing: &[Missing]) -> io::Result<()> {
    let (mut refused, mut absent) = (Rules::new(), Rules::new());
    for missing in missing {
        match missing {
            Missing::Namespaces => {
                refused.extend(REFUSED.iter().map(|call| (*call, Vec::new())));
                refused.insert(libc::SYS_clone, namespaces().map_err(io::Error::other)?);
                absent.insert(libc::SYS_clone3, Vec::new());
            }
            Missing::Landlock => {
                let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule];
                absent.extend(calls.map(|call| (call, Vec::new())));
                absent.insert(libc::SYS_landlock_restrict_self, Vec::new());
            }
            Missing::Seccomp => {
                absent.insert(libc::SYS_seccomp, Vec::new());
            }
            Missing::Openat2 => {
                absent.insert(libc::SYS_openat2, Vec::new());
            }
        }
    }
    for (rules, errno) in [(refused, libc::EPERM), (absent, libc::ENOSYS)] {
        if !rules.is_empty() {
            let filter = filter(rules, errno).map_err(io::Error::other)?;
            seccompiler::apply_filter(&filter).map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |flag: &i32| {
        let flag = u64::from(flag.cast_unsigned());
        let masked = SeccompCmpOp::MaskedEq(flag);
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, masked, flag)?])
    };
    NAMESPACES.iter().map(rule).collect()
}

fn filter(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let action = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
}
