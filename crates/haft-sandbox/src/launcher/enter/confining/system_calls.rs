//! seccomp: which system calls a command may make.
//!
//! Calls that ordinary programs use keep working. The filter refuses calls that reach other processes, the wider surface of
//! the kernel, or a way around the other layers. For calls that programs try first and can do without, it answers as if
//! the kernel did not have them. For all other refused calls it answers that they are not permitted.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::launcher::enter::NotEntered;

/// Which sockets a command may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launcher::enter) enum Sockets {
    /// Those between its own processes, by path or in pairs.
    Unix,
    /// TCP too, for a command whose ports Landlock restricts. It knows nothing of other protocols, nor of connections that
    /// begin with the first bytes.
    Streams,
    /// Those of the internet too: of a network of its own, or because the network was granted.
    Internet,
}

/// Which processes a command may look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launcher::enter) enum Tracing {
    /// None.
    No,
    /// Its own. It must be in a process namespace of its own, whose first process cannot be looked into.
    OwnProcesses,
}

/// Programs for the kernel that are ready to be applied.
pub(in crate::launcher::enter) struct Filters([BpfProgram; 2]);

impl Filters {
    /// Prepares them for who this process is now: for root they refuse more.
    pub(in crate::launcher::enter) fn prepare(sockets: Sockets, tracing: Tracing) -> Result<Self, NotEntered> {
        let arch = architecture().ok_or_else(|| missing("this kind of processor is not known"))?;
        let error = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let refused = refused(sockets, tracing)
            .and_then(|rules| SeccompFilter::new(rules, SeccompAction::Allow, error, arch))
            .and_then(BpfProgram::try_from)
            .map_err(|error| missing(&error.to_string()))?;
        Ok(Self([refused, unknown()]))
    }

    /// Applies them to this process and all that it starts.
    pub(in crate::launcher::enter) fn apply(&self) -> std::io::Result<()> {
        self.0.iter().try_for_each(|filter| seccompiler::apply_filter(filter).map_err(std::io::Error::other))
    }
}

fn missing(why: &str) -> NotEntered {
    NotEntered::Missing(format!("System calls cannot be refused by seccomp: {why}."))
}

fn architecture() -> Option<TargetArch> {
    TargetArch::try_from(std::env::consts::ARCH).ok()
}

/// On one kind of processor all calls exist a second time, from this number on; the other filter does not name them.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: u32 = 0x4000_0000;
/// Elsewhere no call has a number as large as this.
#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBERS: u32 = u32::MAX;

/// Answers some calls as if the kernel did not have them. The other filter looks at the architecture.
fn unknown() -> BpfProgram {
    let step = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    let number_of_call = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let result = |result: u32| step(libc::BPF_RET | libc::BPF_K, 0, 0, result);
    let jump = |how: u32, behind: usize, number: u32| {
        // Over the jumps that follow, and the result for all others.
        step(libc::BPF_JMP | how | libc::BPF_K, (behind + 1) as u8, 0, number)
    };
    let mut steps = vec![number_of_call, jump(libc::BPF_JGE, UNKNOWN.len(), SECOND_NUMBERS)];
    for (index, call) in UNKNOWN.iter().enumerate() {
        steps.push(jump(libc::BPF_JEQ, UNKNOWN.len() - index - 1, *call as u32));
    }
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    steps.extend([result(libc::SECCOMP_RET_ALLOW), result(absent)]);
    steps
}

/// Calls that are answered as if the kernel did not have them, so that programs take the older way.
const UNKNOWN: [i64; 5] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Its mode lies in memory, where no filter looks.
    libc::SYS_openat2,
];

/// Calls that are never permitted.
const NEVER: &[i64] = &[
    // Other processes.
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Keys, programs in the kernel, observation.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_syslog,
    // Mounts and roots.
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Calls by which debuggers look into other processes.
const TRACING: [i64; 3] = [libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

/// The same number on every processor, not yet in the crate.
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that set the mode of something, and which of their arguments that is.
const MODES: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];
/// Calls that have a mode if they make something, and which of their arguments the flags are; the mode comes next.
const OPENINGS: &[(i64, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];
/// The same number on every processor.
const FCHMODAT2: i64 = 452;
/// The bit that makes a file a nameless one, without those that say that it is a folder.
const O_TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Namespaces as flags of `clone`, whose lowest byte is a signal.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
const CLONE_NEWTIME: i32 = 0x80;

/// What `personality` may be asked: what it is, the usual one, and addresses that debuggers can repeat.
const PERSONALITIES: [u64; 3] = [0xffff_ffff, 0, 0x004_0000];

/// Types of sockets that make packets by themselves, or use protocols that few have looked at.
const ODD_TYPES: [i32; 5] = [libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP, SOCK_PACKET];
/// The old way to all packets.
const SOCK_PACKET: i32 = 10;
const TYPE_MASK: u64 = 0xf;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

fn refused(sockets: Sockets, tracing: Tracing) -> Built<Rules> {
    let traced: &[i64] = if tracing == Tracing::No { &TRACING } else { &[] };
    let mut rules: Rules = NEVER.iter().chain(traced).map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, sockets_refused(sockets)?);
    rules.insert(libc::SYS_socketpair, vec![all(&[(0, SeccompCmpOp::Ne, number(libc::AF_UNIX))])?]);
    let flag = |flag: &i32| all(&[(0, SeccompCmpOp::MaskedEq(number(*flag)), number(*flag))]);
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(flag).collect::<Built<_>>()?);
    rules.insert(libc::SYS_unshare, NAMESPACES.iter().chain([&CLONE_NEWTIME]).map(flag).collect::<Built<_>>()?);
    let other = PERSONALITIES.map(|allowed| (0, SeccompCmpOp::Ne, allowed));
    rules.insert(libc::SYS_personality, vec![all(&other)?]);
    // Both put letters into the terminal as if the user had typed them.
    let typed = |request: u64| all(&[(1, SeccompCmpOp::Eq, request)]);
    rules.insert(libc::SYS_ioctl, vec![typed(libc::TIOCSTI)?, typed(libc::TIOCLINUX)?]);
    if sockets == Sockets::Streams {
        let fast = number(libc::MSG_FASTOPEN);
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            rules.insert(call, vec![all(&[(flags, SeccompCmpOp::MaskedEq(fast), fast)])?]);
        }
    }
    rules.extend(set_id_refused()?);
    Ok(rules)
}

/// A user who runs a program with such a bit becomes its owner, also outside and later. Where a command writes real
/// files, the command would leave its own rights to every user.
///
/// The bit of the group means something else on folders, and what a path is cannot be seen here. For a group of an ordinary
/// user there is little to gain, so there it is let be; for the group of root it is not.
fn set_id_refused() -> Built<Rules> {
    let bits: &[u32] =
        if rustix::process::geteuid().is_root() { &[libc::S_ISUID, libc::S_ISGID] } else { &[libc::S_ISUID] };
    let has = |argument: u8, bit: u64| (argument, SeccompCmpOp::MaskedEq(bit), bit);
    let mut rules = Rules::new();
    for bit in bits.iter().map(|bit| u64::from(*bit)) {
        for (call, mode) in MODES {
            rules.entry(*call).or_default().push(all(&[has(*mode, bit)])?);
        }
        for (call, flags) in OPENINGS {
            for making in [libc::O_CREAT, O_TMPFILE] {
                let rule = all(&[has(*flags, number(making)), has(*flags + 1, bit)])?;
                rules.entry(*call).or_default().push(rule);
            }
        }
    }
    Ok(rules)
}

fn sockets_refused(sockets: Sockets) -> Built<Vec<SeccompRule>> {
    let is_not = |family: i32| (0, SeccompCmpOp::Ne, number(family));
    let is = |family: i32| (0, SeccompCmpOp::Eq, number(family));
    if sockets == Sockets::Unix {
        return Ok(vec![all(&[is_not(libc::AF_UNIX)])?]);
    }
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut rules = vec![
        all(&families.map(is_not))?,
        all(&[is(libc::AF_NETLINK), (2, SeccompCmpOp::Ne, number(libc::NETLINK_ROUTE))])?,
    ];
    for family in [libc::AF_INET, libc::AF_INET6] {
        if sockets == Sockets::Streams {
            let datagrams = (1, SeccompCmpOp::MaskedEq(TYPE_MASK), number(libc::SOCK_DGRAM));
            rules.push(all(&[is(family), datagrams])?);
            let other = |protocol: i32| (2, SeccompCmpOp::Ne, number(protocol));
            rules.push(all(&[is(family), other(0), other(libc::IPPROTO_TCP)])?);
        }
        for odd in ODD_TYPES {
            rules.push(all(&[is(family), (1, SeccompCmpOp::MaskedEq(TYPE_MASK), number(odd))])?);
        }
    }
    Ok(rules)
}

fn number(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// A rule that holds when every condition does: argument, comparison, value. The kernel reads these arguments as 32 bits.
fn all(conditions: &[(u8, SeccompCmpOp, u64)]) -> Built<SeccompRule> {
    let condition = |(argument, comparison, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)
    };
    SeccompRule::new(conditions.iter().map(condition).collect::<Built<_>>()?)
}
