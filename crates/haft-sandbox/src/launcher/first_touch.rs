//! Keeps contents before a command first touches them, where no layer takes its changes.
//!
//! The kernel asks about every call by which a command could change a file or a name. The watcher finds the path as the
//! command sees it, keeps the content there, writes a record, and lets the kernel continue. So even if haft is killed,
//! the records and contents are enough to restore the folder.
//!
//! This serves undo, not protection. A command that changes the arguments of a call while the watcher reads them may
//! escape it; if the watcher notices that, it writes a record.
//!
//! Not here: which calls (`calls`), finding a path (`places`), keeping contents (`images`).

mod calls;
mod filter;
mod images;
mod places;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::Pid;

use self::calls::{EntryReference, TouchTarget};
use self::images::Images;
use super::line::LauncherLine;
use super::notify::{Handover, SyscallCaller, SyscallListener, SyscallReply};
use super::watch::{ProcessScope, WatcherConfinement};
use crate::running::orders::{NotStarted, Orders};

/// How many questions the watcher answers before it handles other events.
const IN_A_ROW: usize = 64;
/// How often the watcher reads the arguments of a call that change meanwhile.
const LOOKS: usize = 4;

/// Wraps an entered sandbox, and keeps the contents that its command touches.
pub(super) struct FirstTouch<E> {
    entered: E,
    state: FirstTouchState,
    images: Images,
}

enum FirstTouchState {
    Promised(Handover),
    Asked(SyscallListener),
    Over,
}

impl<E> FirstTouch<E> {
    /// Prepares to keep the contents that a command touches beneath its watched roots, each root in its own folder.
    pub(super) fn prepare(orders: &Orders, folders: Vec<OwnedFd>, entered: E) -> io::Result<Self> {
        let handover = Handover::prepare(filter::filter())?;
        let images = Images::begin((&orders.watched, &orders.own), folders)?;
        Ok(Self { entered, state: FirstTouchState::Promised(handover), images })
    }

    fn answer_some(&mut self) {
        let FirstTouchState::Asked(listener) = &self.state else { return };
        for _ in 0..IN_A_ROW {
            let Some(question) = listener.receive() else { break };
            let answer = answer(&question, listener, &mut self.images);
            listener.send(question.id, answer);
            if !listener.is_asked() {
                break;
            }
        }
        if listener.is_over() {
            self.state = FirstTouchState::Over;
        }
    }
}

/// Keeps the contents that a call would touch, and returns how the call continues.
fn answer(question: &libc::seccomp_notif, listener: &SyscallListener, images: &mut Images) -> SyscallReply {
    let wishes = calls::wishes(&question.data);
    let Ok(caller) = SyscallCaller::of(question.pid) else { return SyscallReply::GoOn };
    if calls::sets_mark_of_layers(&question.data, &caller) {
        return SyscallReply::Failed(Errno::OPNOTSUPP);
    }
    let mut before: Option<Vec<CString>> = None;
    for _ in 0..LOOKS {
        let Ok(named) = wishes.iter().map(|wish| wish.name(&caller)).collect::<io::Result<Vec<CString>>>() else {
            // The kernel cannot read the arguments either.
            return SyscallReply::GoOn;
        };
        if !listener.is_waiting(question.id) || before.as_ref() == Some(&named) {
            return SyscallReply::GoOn;
        }
        for (wish, name) in wishes.iter().zip(&named) {
            if let Err(errno) = touch(wish, name, &caller, images) {
                return SyscallReply::Failed(errno);
            }
        }
        before = Some(named);
        // Another thread, or a process that shares the memory, may have changed the arguments: they are read again.
    }
    images.note_race(before.unwrap_or_default().first());
    SyscallReply::GoOn
}

fn touch(wish: &TouchTarget, name: &CString, caller: &SyscallCaller, images: &mut Images) -> Result<(), Errno> {
    let found = match wish.named {
        EntryReference::Path(folder, _) => images.find(caller, (folder, name.as_bytes()), wish),
        EntryReference::Descriptor(_) => images.find_open(name.as_bytes()),
    };
    match found {
        Some(place) => images.touch(&place, wish.act),
        None => Ok(()),
    }
}

impl<E: WatcherConfinement> WatcherConfinement for FirstTouch<E> {
    fn tree(&self) -> ProcessScope {
        self.entered.tree()
    }

    fn notes(&self) -> Vec<String> {
        self.entered.notes()
    }

    fn confine(&mut self) -> Result<(), NotStarted> {
        self.entered.confine()?;
        // From here to its program the command makes no call that is asked about: the watcher does not answer yet.
        let FirstTouchState::Promised(handover) = &self.state else { return Ok(()) };
        rustix::thread::set_no_new_privs(true).map_err(io::Error::from).and_then(|()| handover.install()).map_err(
            |error| NotStarted::Unwatched(format!("the kernel does not ask about system calls here ({error})")),
        )
    }

    fn keeper(&self) -> Option<Pid> {
        self.entered.keeper()
    }

    fn take_layers(&mut self) -> Vec<OwnedFd> {
        self.entered.take_layers()
    }

    fn started(&mut self) {
        self.entered.started();
        if let FirstTouchState::Promised(handover) = std::mem::replace(&mut self.state, FirstTouchState::Over)
            && let Some(listener) = handover.receive()
        {
            self.state = FirstTouchState::Asked(listener);
        }
    }

    fn listener(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            FirstTouchState::Asked(listener) => Some(listener.as_fd()),
            FirstTouchState::Promised(_) | FirstTouchState::Over => None,
        }
    }

    fn answer(&mut self, _line: &LauncherLine) {
        self.answer_some();
    }
}
