//! Builds the filter that makes the kernel ask about calls that change files or names.

use super::calls::{ASKED, OPENINGS};
use crate::launcher::notify::Filter;

/// A call that opens a file and has one of these flags may change something.
const CHANGES: u32 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();

/// Calls that would bypass the filter. Programs work without them.
const ABSENT: [i64; 4] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Its flags are in memory, which no filter can read.
    libc::SYS_openat2,
];

/// On x86-64 all calls exist a second time (x32), from this number on.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: u32 = 0x4000_0000;
#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBERS: u32 = u32::MAX;

/// The kernel's number for this architecture.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// Offsets of the number of a call, the architecture, and the arguments in the kernel's data.
const NUMBER: u32 = 0;
const KIND: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Where a step of the program continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Next,
    Ask,
    Absent,
    Allow,
    /// The check of the flags of an opening, by its index in the list.
    Flags(usize),
}

/// A filter step without addresses: code, operand, and the labels for a true and a false condition.
type FilterStep = (u32, u32, Label, Label);

/// Returns the program.
pub(super) fn filter() -> Filter {
    let load = |offset: u32| (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, Label::Next, Label::Next);
    let equals =
        |value: u32, then: Label, other: Label| (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, then, other);
    let mut steps: Vec<FilterStep> = vec![load(KIND), equals(ARCHITECTURE, Label::Next, Label::Absent), load(NUMBER)];
    steps.push((libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, SECOND_NUMBERS, Label::Absent, Label::Next));
    for (index, (call, _)) in OPENINGS.iter().enumerate() {
        steps.push(equals(*call as u32, Label::Flags(index), Label::Next));
    }
    steps.extend(ABSENT.iter().map(|call| equals(*call as u32, Label::Absent, Label::Next)));
    steps.extend(ASKED.iter().map(|call| equals(*call as u32, Label::Ask, Label::Next)));
    let mut places = vec![(Label::Allow, steps.len())];
    let result = |result: u32| (libc::BPF_RET | libc::BPF_K, result, Label::Next, Label::Next);
    steps.push(result(libc::SECCOMP_RET_ALLOW));
    for (index, (_, flags)) in OPENINGS.iter().enumerate() {
        places.push((Label::Flags(index), steps.len()));
        // The first half of an argument, which is the lower one on these little-endian processors.
        steps.push(load(ARGUMENTS + 8 * flags));
        steps.push((libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, CHANGES, Label::Ask, Label::Next));
        steps.push(result(libc::SECCOMP_RET_ALLOW));
    }
    places.push((Label::Ask, steps.len()));
    steps.push(result(libc::SECCOMP_RET_USER_NOTIF));
    places.push((Label::Absent, steps.len()));
    steps.push(result(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()));
    let placed = |at: usize, label: Label| {
        let place = places.iter().find(|(other, _)| *other == label).map_or(at + 1, |(_, place)| *place);
        u8::try_from(place - at - 1).expect("the program is short")
    };
    let step = |(at, (code, k, then, other)): (usize, &FilterStep)| libc::sock_filter {
        code: *code as u16,
        jt: placed(at, *then),
        jf: placed(at, *other),
        k: *k,
    };
    steps.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel does.
    fn run(filter: &Filter, (kind, call, arguments): (u32, i64, [u32; 6])) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1;
            let holds = match u32::from(step.code) {
                code if code & 7 == libc::BPF_LD => {
                    value = match step.k {
                        NUMBER => call as u32,
                        KIND => kind,
                        offset => arguments[((offset - ARGUMENTS) / 8) as usize],
                    };
                    continue;
                }
                code if code & 7 == libc::BPF_RET => return step.k,
                code if code & 0xf0 == libc::BPF_JEQ => value == step.k,
                code if code & 0xf0 == libc::BPF_JGE => value >= step.k,
                _ => value & step.k != 0,
            };
            at += usize::from(if holds { step.jt } else { step.jf });
        }
    }

    #[test]
    fn the_kernel_asks_about_what_changes_something_and_about_nothing_else() {
        let filter = filter();
        let answer = |call: i64, arguments: [u32; 6]| run(&filter, (ARCHITECTURE, call, arguments));
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
        for call in ASKED {
            assert_eq!(answer(*call, [0; 6]), libc::SECCOMP_RET_USER_NOTIF, "{call}");
        }
        let open = |flags: i32| answer(libc::SYS_openat, [0, 0, flags.cast_unsigned(), 0, 0, 0]);
        for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR] {
            assert_eq!(open(flags), libc::SECCOMP_RET_USER_NOTIF, "{flags:o}");
        }
        for flags in [0, libc::O_CLOEXEC | libc::O_DIRECTORY, libc::O_PATH] {
            assert_eq!(open(flags), libc::SECCOMP_RET_ALLOW, "{flags:o}");
        }
        for call in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_clone, libc::SYS_close] {
            assert_eq!(answer(call, [u32::MAX; 6]), libc::SECCOMP_RET_ALLOW, "{call}");
        }
        for call in ABSENT {
            assert_eq!(answer(call, [0; 6]), absent, "{call}");
        }
        assert_eq!(run(&filter, (ARCHITECTURE + 1, libc::SYS_read, [0; 6])), absent);
    }
}
