//! Removes facilities of the kernel from a test, as a container or an older kernel does.
//!
//! A seccomp filter answers chosen system calls with an error. A thread installs it and starts the commands of the
//! test. They inherit the filter, and the other tests of the process do not have it.
//!
//! Not here: what haft does without a facility (the tests of the command), files that a container hides.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// A filter that answers some system calls with an error.
///
/// ```
/// use haft_testkit::seccomp_filter::CallFilter;
///
/// let filter = CallFilter::without(&[libc::SYS_openat2], libc::ENOSYS);
/// assert!(filter.within(|| std::fs::read_dir("/").is_ok()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    answers: Vec<SyscallFault>,
}

/// A system call, the argument bits that it must have, and the error that it gets.
#[derive(Clone, Debug)]
struct SyscallFault {
    call: i64,
    /// All of these hold: the number of an argument, its bits, their value.
    when: Vec<(u8, u64, u64)>,
    error: i32,
}

/// Flags of `clone` and `unshare` that make a namespace.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Calls that the default profile of Docker refuses to a container without further capabilities.
const REFUSED_IN_CONTAINERS: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_get_mempolicy,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mbind,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
];

/// Calls that are newer than the profiles in use: the runtime answers as if the kernel did not have them.
const NEWER_THAN_PROFILES: std::ops::RangeInclusive<i64> = 463..=480;

/// The flag of `seccomp` that asks for a descriptor with the notifications of a filter.
const NEW_LISTENER: u64 = 8;

impl CallFilter {
    /// Returns a filter that answers these calls with an error, whatever their arguments are.
    pub fn without(calls: &[i64], error: i32) -> Self {
        Self { answers: calls.iter().map(|call| SyscallFault { call: *call, when: Vec::new(), error }).collect() }
    }

    /// Returns the filter of a container with the default profile of Docker and no further capabilities.
    ///
    /// `mount` and `unshare` are refused, as is `clone` with a namespace; `clone3` looks as if it did not exist.
    /// Landlock, seccomp, `ptrace` and everything about ordinary files work.
    pub fn container_default() -> Self {
        let newer: Vec<i64> = NEWER_THAN_PROFILES.collect();
        Self::without(REFUSED_IN_CONTAINERS, libc::EPERM)
            .and(Self::without_clone3())
            .and(Self::without_namespaces_of(libc::SYS_clone, &NAMESPACES))
            .and(Self::without(&newer, libc::ENOSYS))
    }

    /// Returns a filter in which `clone3` does not exist.
    pub fn without_clone3() -> Self {
        Self::without(&[libc::SYS_clone3], libc::ENOSYS)
    }

    /// Returns a filter that permits no namespace of this kind by any call. `clone3` has its flags in memory, where no
    /// filter looks, so it does not exist.
    pub fn without_namespace(flag: i32) -> Self {
        Self::without_namespaces_of(libc::SYS_clone, &[flag])
            .and(Self::without_namespaces_of(libc::SYS_unshare, &[flag]))
            .and(Self::without_clone3())
    }

    /// Returns a filter in which a process cannot be asked about the system calls of another.
    pub fn without_notifications() -> Self {
        let when =
            vec![(0, u64::from(u32::MAX), u64::from(libc::SECCOMP_SET_MODE_FILTER)), (1, NEW_LISTENER, NEW_LISTENER)];
        Self { answers: vec![SyscallFault { call: libc::SYS_seccomp, when, error: libc::EINVAL }] }
    }

    fn without_namespaces_of(call: i64, flags: &[i32]) -> Self {
        let answer = |flag: &i32| {
            let bit = u64::from(flag.cast_unsigned());
            SyscallFault { call, when: vec![(0, bit, bit)], error: libc::EPERM }
        };
        Self { answers: flags.iter().map(answer).collect() }
    }

    /// Returns a filter that does what both do.
    pub fn and(mut self, other: Self) -> Self {
        self.answers.extend(other.answers);
        self
    }

    /// Does some work on a thread with the filter. Every command that it starts has the filter too.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let filtered = || {
            self.install();
            work()
        };
        std::thread::scope(|scope| match scope.spawn(filtered).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Applies the filter to this thread for good, and to all that it starts.
    ///
    /// # Panics
    ///
    /// If the kernel has no seccomp.
    pub fn install(&self) {
        for program in self.programs() {
            seccompiler::apply_filter(&program).expect("the kernel takes filters");
        }
    }

    /// One program for each error, because a program has one answer.
    fn programs(&self) -> Vec<BpfProgram> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).expect("the processor is known");
        let mut by_error: BTreeMap<u32, BTreeMap<i64, Vec<SeccompRule>>> = BTreeMap::new();
        for answer in &self.answers {
            let calls = by_error.entry(answer.error.cast_unsigned()).or_default();
            calls.entry(answer.call).or_default().extend(answer.rule());
        }
        let program = |(error, rules)| {
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), arch);
            filter.and_then(BpfProgram::try_from).expect("the rules are few and well formed")
        };
        by_error.into_iter().map(program).collect()
    }
}

impl SyscallFault {
    /// Returns no rule for a call that gets the error always.
    fn rule(&self) -> Option<SeccompRule> {
        let condition = |(argument, mask, value): &(u8, u64, u64)| {
            let comparison = SeccompCmpOp::MaskedEq(*mask);
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, comparison, *value).expect("it is well formed")
        };
        let conditions: Vec<SeccompCondition> = self.when.iter().map(condition).collect();
        (!conditions.is_empty()).then(|| SeccompRule::new(conditions).expect("it has conditions"))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "filters are inherited by commands")]
mod tests {
    use super::*;
    use std::process::Command;

    fn unshare(filter: &CallFilter, flag: &str) -> String {
        let output = filter.within(|| Command::new("unshare").args([flag, "true"]).output());
        String::from_utf8_lossy(&output.expect("it starts").stderr).into_owned()
    }

    #[test]
    fn commands_of_the_thread_have_the_filter_and_others_do_not() {
        let filter = CallFilter::without(&[libc::SYS_mkdir, libc::SYS_mkdirat], libc::EPERM);
        let folder = tempfile::tempdir().expect("there is room");
        let make = |name: &str| Command::new("mkdir").arg(folder.path().join(name)).output().expect("it starts").status;
        assert!(!filter.within(|| make("refused")).success());
        assert!(make("made").success());
    }

    #[test]
    fn in_a_container_there_is_no_namespace() {
        assert!(unshare(&CallFilter::container_default(), "--user").contains("Operation not permitted"));
    }

    #[test]
    fn one_kind_of_namespace_can_be_missing() {
        let filter = CallFilter::without_namespace(libc::CLONE_NEWNET);
        assert!(unshare(&filter, "--net").contains("Operation not permitted"));
        let users = Command::new("unshare").args(["--user", "true"]).status().expect("it starts");
        if crate::require::Need::Mounts.met(users.success()) {
            assert_eq!(unshare(&filter, "--user"), "");
        }
    }
}
