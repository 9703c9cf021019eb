//! Ways to more rights, and to other processes.

use crate::Attempt;
use crate::canaries::Cage;
use crate::prober::{probe, probe_of};

/// System calls that are refused whatever they are asked, by their number on x86-64.
const CALLS: [(&str, u32); 24] = [
    ("keyctl", 250),
    ("add_key", 248),
    ("bpf", 321),
    ("perf_event_open", 298),
    ("userfaultfd", 323),
    ("kexec_load", 246),
    ("init_module", 175),
    ("reboot", 169),
    ("swapon", 167),
    ("mount", 165),
    ("pivot_root", 155),
    ("setns", 308),
    ("open_by_handle_at", 304),
    ("fsopen", 430),
    ("move_mount", 429),
    ("open_tree with a copy", 428),
    ("mount_setattr", 442),
    ("acct", 163),
    ("quotactl", 179),
    ("settimeofday", 164),
    ("sethostname", 170),
    ("io_uring_setup", 425),
    ("ioperm", 173),
    ("iopl", 172),
];

pub(crate) fn attempts(_: &Cage) -> Vec<Attempt> {
    let mut all = ways(std::process::id());
    let call = |(name, number): &(&'static str, u32)| Attempt::new(name, probe("syscall", &number.to_string()));
    all.extend(CALLS.iter().map(call));
    all
}

fn ways(us: u32) -> Vec<Attempt> {
    vec![
        Attempt::new(
            "signals to outside",
            format!("kill -0 {us} && echo ESCAPED; kill -9 {us}; kill -9 -1 2>/dev/null; echo done"),
        ),
        Attempt::new("signals to the first process", "kill -9 1; kill -STOP 1; echo done"),
        Attempt::new("tracing another process", probe("ptrace", &us.to_string())),
        Attempt::new("tracing the first process", probe("ptrace", "1")),
        Attempt::new("reading another process", probe("process_vm_readv", &us.to_string())),
        Attempt::new("reading the first process", probe("process_vm_readv", "1")),
        Attempt::new("writing to the first process", probe("process_vm_writev", "1")),
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
        // The file has the setuid bit: it runs as its owner, who is root where the suite runs as another user.
        Attempt::new("a program of another user", probe_of("./set-id-prober", "identity", "")),
        Attempt::new(
            "a program that gives its owner's rights, in a build folder",
            "cp /bin/sh target/s; chmod 4755 target/s && echo ESCAPED; chmod u+s target/s && echo ESCAPED; install -m 4755 /bin/sh target/i && echo ESCAPED; find . -not -name set-id-prober -perm /4000 | grep . && echo ESCAPED; echo done",
        )
        .explained("set-uid bit"),
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
    ]
}
