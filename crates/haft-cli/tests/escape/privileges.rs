//! Ways to more rights, and to other processes.

use crate::Attempt;
use crate::canaries::Cage;
use crate::prober::probe;

pub(crate) fn attempts(_: &Cage) -> Vec<Attempt> {
    let us = std::process::id();
    let call = |name: &'static str, number: u32| Attempt::new(name, probe("syscall", &number.to_string()));
    vec![
        Attempt::new(
            "signals to outside",
            format!("kill -0 {us} && echo ESCAPED; kill -9 {us}; kill -9 -1 2>/dev/null; echo done"),
        ),
        Attempt::new("signals to the first process", "kill -9 1; kill -STOP 1; echo done"),
        Attempt::new("tracing another process", probe("ptrace", &us.to_string())),
        Attempt::new("tracing the first process", probe("ptrace", "1")),
        Attempt::new(
            "the memory of the first process",
            "cat /proc/1/mem /proc/1/maps > /dev/null && echo ESCAPED; echo x > /proc/1/mem && echo ESCAPED; echo done",
        ),
        Attempt::new(
            "other processes",
            format!(
                "ls -d /proc/{us} && echo ESCAPED; [ $(ls -d /proc/[0-9]* | wc -l) -lt 12 ] || echo ESCAPED; echo done"
            ),
        ),
        Attempt::new(
            "capabilities",
            "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED; echo done",
        ),
        Attempt::new(
            "new privileges",
            "grep -q '^NoNewPrivs:.*1' /proc/self/status || echo ESCAPED; grep -q '^Seccomp:.*2' /proc/self/status || echo ESCAPED; echo done",
        ),
        Attempt::new("another user", probe("setuid", "1")),
        Attempt::new(
            "a program of another user",
            "chmod 4755 prober; cp /usr/bin/su su 2>/dev/null; for s in /usr/bin/su /usr/bin/sudo /usr/bin/mount /usr/bin/passwd; do [ -u $s ] && find /usr -maxdepth 0 -newermt 2999-01-01; done; echo done",
        ),
        Attempt::new("groups", probe("setgroups", "")),
        Attempt::new("a new user namespace", probe("unshare", "268435456")),
        Attempt::new("a new mount namespace", probe("unshare", "131072")),
        Attempt::new("a new network namespace", probe("unshare", "1073741824")),
        Attempt::new(
            "a child in new namespaces",
            "unshare -U true && echo ESCAPED; unshare -p -f true && echo ESCAPED; echo done",
        )
        .explained("sandbox"),
        Attempt::new("32-bit system calls", probe("int80", "")),
        Attempt::new("x32 system calls", probe("syscall", "1073741863")),
        call("ptrace", 101),
        call("keyctl", 250),
        call("add_key", 248),
        call("bpf", 321),
        call("perf_event_open", 298),
        call("userfaultfd", 323),
        call("kexec_load", 246),
        call("init_module", 175),
        call("reboot", 169),
        call("swapon", 167),
        call("mount", 165),
        call("pivot_root", 155),
        call("setns", 308),
        call("open_by_handle_at", 304),
        call("process_vm_writev", 311),
        call("fsopen", 430),
        call("move_mount", 429),
        call("open_tree with a copy", 428),
        call("mount_setattr", 442),
        call("acct", 163),
        call("quotactl", 179),
        call("settimeofday", 164),
        call("sethostname", 170),
        call("io_uring_setup", 425),
        call("ioperm", 173),
        call("iopl", 172),
    ]
}
