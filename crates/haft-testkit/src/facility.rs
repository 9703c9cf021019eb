//! The facilities of the kernel that haft uses if available, and how each one can be missing.
//!
//! Older kernels answer an unknown call with `ENOSYS`; containers and hardened systems refuse one with `EPERM`. Each
//! row removes one facility, as such a system does.
//!
//! Not here: the filter itself (`seccomp_filter`).

use crate::seccomp_filter::CallFilter;

/// Something of the kernel that may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Facility {
    /// Its name, in one word.
    pub name: &'static str,
    /// Where it is missing.
    pub missing_where: &'static str,
    filter: fn() -> CallFilter,
}

/// All of them.
#[rustfmt::skip]
pub const FACILITIES: [Facility; 14] = [
    Facility { name: "clone3", missing_where: "containers with an old profile, gVisor, kernels before 5.3", filter: CallFilter::without_clone3 },
    Facility { name: "user-namespace", missing_where: "containers; sysctls of hardened systems", filter: || CallFilter::without_namespace(libc::CLONE_NEWUSER) },
    Facility { name: "mount-namespace", missing_where: "containers", filter: || CallFilter::without_namespace(libc::CLONE_NEWNS) },
    Facility { name: "process-namespace", missing_where: "containers", filter: || CallFilter::without_namespace(libc::CLONE_NEWPID) },
    Facility { name: "network-namespace", missing_where: "containers; user.max_net_namespaces = 0", filter: || CallFilter::without_namespace(libc::CLONE_NEWNET) },
    Facility { name: "mount", missing_where: "containers that permit namespaces but no mounts", filter: || CallFilter::without(&[libc::SYS_mount, libc::SYS_fsopen, libc::SYS_fsmount, libc::SYS_move_mount, libc::SYS_open_tree], libc::EPERM) },
    Facility { name: "mount_setattr", missing_where: "kernels before 5.12 (Debian 11)", filter: || CallFilter::without(&[libc::SYS_mount_setattr], libc::ENOSYS) },
    Facility { name: "openat2", missing_where: "kernels before 5.6; filters of older containers", filter: || CallFilter::without(&[libc::SYS_openat2], libc::ENOSYS) },
    Facility { name: "landlock", missing_where: "kernels before 5.13, or not among lsm=", filter: || CallFilter::without(&[libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self], libc::ENOSYS) },
    Facility { name: "seccomp", missing_where: "kernels without CONFIG_SECCOMP_FILTER", filter: || CallFilter::without(&[libc::SYS_seccomp], libc::ENOSYS) },
    Facility { name: "notifications", missing_where: "kernels before 5.5; filters around filters", filter: CallFilter::without_notifications },
    Facility { name: "close_range", missing_where: "kernels before 5.9", filter: || CallFilter::without(&[libc::SYS_close_range], libc::ENOSYS) },
    Facility { name: "pidfd", missing_where: "kernels before 5.3, gVisor", filter: || CallFilter::without(&[libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_pidfd_getfd], libc::ENOSYS) },
    Facility { name: "statx", missing_where: "kernels before 4.11, old filters", filter: || CallFilter::without(&[libc::SYS_statx], libc::ENOSYS) },
];

impl Facility {
    /// Returns the names of all.
    pub fn names() -> Vec<&'static str> {
        FACILITIES.iter().map(|facility| facility.name).collect()
    }

    /// Returns the filter that takes all of these away: names of facilities, `container` and `all`, separated by commas.
    ///
    /// # Errors
    ///
    /// Returns the first name that is unknown.
    pub fn missing_all(names: &str) -> Result<CallFilter, String> {
        names.split(',').try_fold(CallFilter::default(), |filter, name| Ok(filter.and(filter_of(name)?)))
    }

    /// Returns a filter that takes it away.
    pub fn missing(&self) -> CallFilter {
        (self.filter)()
    }

    /// Returns a filter that takes all of them away.
    pub fn none_at_all() -> CallFilter {
        FACILITIES.iter().fold(CallFilter::default(), |all, facility| all.and(facility.missing()))
    }
}

fn filter_of(name: &str) -> Result<CallFilter, String> {
    match name {
        "container" => Ok(CallFilter::container_default()),
        "all" => Ok(Facility::none_at_all()),
        name => {
            let facility = FACILITIES.iter().find(|facility| facility.name == name);
            facility.map(Facility::missing).ok_or_else(|| name.to_owned())
        }
    }
}
