//! A command that haft has launched, seen from haft's side.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, Shutdown, shutdown};
use rustix::process::{Pid, Signal};

use super::child::Process;
use super::orders::{ASK_TO_END, LauncherReport, Orders, SIGNAL, TERMINAL_READY};
use super::standby::{LauncherCopy, Launchers, Streams};
use super::wire;

/// How long a launcher may take to read its orders.
const TO_READ_ORDERS: Duration = Duration::from_secs(10);

/// A command whose launcher has its orders.
#[derive(Debug)]
pub(crate) struct LaunchedCommand {
    launcher: Process,
    watcher: Watcher,
    line: OwnedFd,
    /// Whether nothing more comes over the line.
    line_has_ended: bool,
    /// What came over the line after the last whole report.
    unread: Vec<u8>,
    /// The layers of a command that stays, or the terminal of one that has one.
    layers: Vec<OwnedFd>,
}

/// The process that everything of the command runs under.
#[derive(Debug)]
enum Watcher {
    /// Not known yet.
    Unknown,
    /// The launcher itself: it ends everybody when it loses the line, and must not be killed before.
    Launcher,
    /// Pid 1 of a namespace, which is our own child: the kernel ends everybody with it.
    Namespace(Process),
    /// The launcher itself is that.
    Inside,
}

impl LaunchedCommand {
    /// Launches a command: gives a launcher its orders.
    pub(crate) fn start(
        launchers: &Launchers,
        orders: &Orders,
        descriptors: &[OwnedFd],
    ) -> io::Result<(Self, Streams)> {
        let (LauncherCopy { process, line, streams, is_inside }, orders) = launchers.launch(orders, descriptors)?;
        let watcher = if is_inside { Watcher::Inside } else { Watcher::Unknown };
        let started =
            Self { launcher: process, watcher, line, line_has_ended: false, unread: Vec::new(), layers: Vec::new() };
        set_socket_timeout(&started.line, Timeout::Send, Some(TO_READ_ORDERS))?;
        // Who does not read its orders, or is gone, is found out like any that ends too early.
        let _ = wire::send_orders(&started.line, &orders, descriptors);
        Ok((started, streams))
    }

    /// Returns what to wait on: the line, and the processes that are not gone.
    pub(crate) fn news(&self) -> impl Iterator<Item = &OwnedFd> {
        let namespace = match &self.watcher {
            Watcher::Namespace(process) => Some(process),
            Watcher::Unknown | Watcher::Launcher | Watcher::Inside => None,
        };
        let processes = [Some(&self.launcher), namespace].into_iter().flatten().filter(|process| !process.is_gone);
        // After the end of the line there is nothing to wait for on it; it would wake us all the time.
        let line = (!self.line_has_ended).then_some(&self.line);
        processes.map(|process| &process.descriptor).chain(line)
    }

    /// Takes what has come: reports, and which processes have ended. Reports of an ended process are not lost.
    pub(crate) fn take_news(&mut self) -> Vec<LauncherReport> {
        self.launcher.look();
        if let Watcher::Namespace(watcher) = &mut self.watcher {
            watcher.look();
        }
        self.hear();
        let mut reports = Vec::new();
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(LauncherReport::Watcher(pid)) => self.note_watcher(pid),
                Ok(report) => reports.push(report),
                Err(_) => {}
            }
        }
        reports
    }

    fn hear(&mut self) {
        while !self.line_has_ended {
            let mut room = [0; 4096];
            match wire::receive_with(&self.line, &mut room, RecvFlags::DONTWAIT) {
                Ok((received @ 1.., layers)) => {
                    self.unread.extend(&room[..received]);
                    self.layers.extend(layers);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => self.line_has_ended = true,
            }
        }
    }

    fn note_watcher(&mut self, pid: i32) {
        let Some(pid) = Pid::from_raw(pid).filter(|pid| *pid != self.launcher.pid) else {
            self.watcher = Watcher::Launcher;
            return;
        };
        // It is our child, so its number stays its own until we ask for its status.
        match Process::child(pid) {
            Ok(watcher) => self.watcher = Watcher::Namespace(watcher),
            // There are too many open files. What cannot be waited for is not let go on.
            Err(_) => Process::end_by_number(pid),
        }
        if let Watcher::Namespace(watcher) = &mut self.watcher {
            watcher.look();
        }
    }

    /// Returns whether the launcher and the watcher are gone, and nothing more can be heard of them.
    pub(crate) fn is_gone(&self) -> bool {
        let watcher_is_gone = match &self.watcher {
            Watcher::Namespace(watcher) => watcher.is_gone,
            Watcher::Unknown | Watcher::Launcher | Watcher::Inside => true,
        };
        self.launcher.is_gone && watcher_is_gone
    }

    /// Returns whether the launcher said who watches over the command: from then on it may have been started.
    pub(crate) fn has_watcher(&self) -> bool {
        !matches!(self.watcher, Watcher::Unknown)
    }

    /// Returns whether the kernel ends all processes of the command with their watcher.
    pub(crate) fn has_namespace(&self) -> bool {
        matches!(self.watcher, Watcher::Namespace(_) | Watcher::Inside)
    }

    /// Asks every process of the command to end by itself.
    pub(crate) fn ask_to_end(&self) {
        // The watcher reads it when it can; if it was stopped, it goes on.
        let _ = rustix::net::send(&self.line, &[ASK_TO_END], rustix::net::SendFlags::NOSIGNAL);
        self.launcher.signal(Signal::CONT);
    }

    /// Shows the command what others have changed beneath its layers: the kernel forgets what it knows of names there.
    pub(crate) fn show_changes(&self) {
        for layer in &self.layers {
            let _ = rustix::mount::fsconfig_reconfigure(layer.as_fd());
        }
    }

    /// Takes the other end of the command's terminal, which has just come.
    pub(crate) fn take_terminal(&mut self) -> Option<OwnedFd> {
        self.layers.pop()
    }

    /// Lets the command have its terminal.
    pub(crate) fn terminal_is_ready(&self) {
        let _ = rustix::net::send(&self.line, &[TERMINAL_READY], rustix::net::SendFlags::NOSIGNAL);
    }

    /// Releases the layers: they stay mounted as long as a process holds them.
    pub(crate) fn let_go_of_layers(&mut self) {
        self.layers.clear();
    }

    /// Sends a signal to every process of the command.
    pub(crate) fn signal(&self, signal: i32) {
        if let Ok(number @ 1..SIGNAL) = u8::try_from(signal) {
            let _ = rustix::net::send(&self.line, &[SIGNAL | number], rustix::net::SendFlags::NOSIGNAL);
        }
    }

    /// Ends every process of the command. To be repeated until they are gone: who watches may not be known yet.
    pub(crate) fn end(&self) {
        let _ = shutdown(&self.line, Shutdown::Write);
        match &self.watcher {
            Watcher::Namespace(watcher) => watcher.signal(Signal::KILL),
            Watcher::Inside => self.launcher.signal(Signal::KILL),
            Watcher::Unknown | Watcher::Launcher => self.launcher.signal(Signal::CONT),
        }
    }

    /// Kills the launcher, which may leave processes of an unconfined command to themselves.
    pub(crate) fn kill_launcher(&self) {
        self.launcher.signal(Signal::KILL);
    }
}

impl Drop for LaunchedCommand {
    fn drop(&mut self) {
        // Processes are left only when something went wrong here; none may outlive the call.
        if !self.is_gone() {
            self.end();
            if !self.has_watcher() {
                self.kill_launcher();
            }
        }
    }
}
