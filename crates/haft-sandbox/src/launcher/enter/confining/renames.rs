//! Lets programs rename folders of the workspace, which a layer alone refuses, and lets git copy repositories in it.
//!
//! The kernel asks the watching process about every rename and every link of the command (seccomp user notification).
//! Calls for files, or for anything outside layers, continue unchanged. The watching process renames a folder of a layer
//! itself, with the rights of the command. If the kernel refuses that, a separate process moves the folder file by file,
//! so the watching process is never busy for long.
//!
//! No decision here protects anything: a process that tricks the watcher gets only what the kernel itself would answer.

mod judgement;
mod move_folder;

use rustix::io::Errno;

use self::judgement::{Rename, RenameVerdict};
use crate::launcher::leave;
use crate::launcher::notify::{Filter, SyscallListener, SyscallReply};

/// Where the kernel asks about renames.
pub(in crate::launcher::enter) struct Renames(pub(in crate::launcher::enter) SyscallListener);

impl Renames {
    /// Answers one question.
    pub(in crate::launcher::enter) fn answer(&self) {
        let Some(question) = self.0.receive() else { return };
        match judgement::judge(&question, || self.0.is_waiting(question.id)) {
            RenameVerdict::GoOn => self.0.send(question.id, SyscallReply::GoOn),
            RenameVerdict::Done => self.0.send(question.id, SyscallReply::Done),
            RenameVerdict::Failed(error) => self.0.send(question.id, SyscallReply::Failed(error)),
            RenameVerdict::Move(rename) => self.move_apart(question.id, &rename),
        }
    }

    /// Moves a folder in a process of its own, which ends with this one.
    fn move_apart(&self, id: u64, rename: &Rename) {
        // SAFETY: this process has one thread, so the child may do whatever the parent may.
        #[allow(unsafe_code)]
        match unsafe { libc::fork() } {
            0 => {
                let answer = match move_folder::all(rename) {
                    Ok(()) => SyscallReply::Done,
                    Err(error) => SyscallReply::Failed(error),
                };
                self.0.send(id, answer);
                leave(0)
            }
            -1 => self.0.send(id, SyscallReply::Failed(Errno::XDEV)),
            _ => {}
        }
    }
}

/// Calls that rename or link something.
const CALLS: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    libc::SYS_linkat,
];

/// Returns the filter that asks about them. Foreign architectures are not looked at: another filter kills who uses them.
pub(in crate::launcher::enter) fn filter() -> Filter {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let number_of_call = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let result = |result: u32| step(libc::BPF_RET | libc::BPF_K, 0, 0, result);
    let mut steps = vec![number_of_call];
    for (index, call) in CALLS.iter().enumerate() {
        // Over the calls that follow, and the answer for all others.
        let to_the_question = (CALLS.len() - index) as u8;
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to_the_question, 0, *call as u32));
    }
    steps.extend([result(libc::SECCOMP_RET_ALLOW), result(libc::SECCOMP_RET_USER_NOTIF)]);
    steps
}
