//! Watches over one command until all its processes are gone.
//!
//! The watcher is pid 1 of a namespace. Without a namespace, it is the process that adopts orphans (child subreaper). It
//! ends when haft is gone, when haft asks, or when the command has ended. All processes of the command end with it,
//! wherever they went.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use rustix::time::Timespec;

use super::command;
use super::first_touch::FirstTouch;
use super::hands::Hands;
use super::keeper::{self, KeeperSetup};
use super::leave;
use super::line::{LauncherInput, LauncherLine, nothing};
use super::memory;
use super::signals::ChildSignals;
use super::terminal::Terminal;
use crate::running::orders::{LauncherReport, NotStarted, Orders};
use crate::running::process_list;
use crate::running::process_list::ProcessEntry;
use crate::session::disk::shown;

/// How long what a command left behind may take to end by itself.
const GRACE: Duration = Duration::from_millis(100);
/// How long all that was killed may take to end; haft waits a little longer.
const TO_DIE: Duration = Duration::from_secs(4);
/// How long to wait for a killed process before looking again who is there.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The confinement around a watcher, and what the watcher must know and do about it.
pub(crate) trait WatcherConfinement {
    /// Whether this process is pid 1 of a namespace.
    fn tree(&self) -> ProcessScope;

    /// What could not be had that is not required, a sentence each.
    fn notes(&self) -> Vec<String>;

    /// Called in the forked command, right before the program is executed.
    fn confine(&mut self) -> Result<(), NotStarted>;

    /// Returns who keeps the ground of a worker, if that one had to be started before this process gave up its rights.
    fn keeper(&self) -> Option<Pid> {
        None
    }

    /// Returns the layers of a command that stays.
    fn take_layers(&mut self) -> Vec<OwnedFd> {
        Vec::new()
    }

    /// Called in the watcher when the program was executed.
    fn started(&mut self) {}

    /// A descriptor that the watcher waits on too.
    fn listener(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Called when that descriptor is readable.
    fn answer(&mut self, _line: &LauncherLine) {}
}

/// Which processes belong to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessScope {
    /// All that this process sees: it is pid 1.
    Namespace,
    /// All that descend from this process.
    Descendants,
}

/// No confinement, but that no program gains rights.
pub(super) struct Bare;

impl WatcherConfinement for Bare {
    fn tree(&self) -> ProcessScope {
        ProcessScope::Descendants
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Prevents a change of user by a set-id program: the watcher could not end such a process.
    fn confine(&mut self) -> Result<(), NotStarted> {
        let failed =
            |error| NotStarted::Unconfined(format!("The command could not be kept from gaining rights: {error}."));
        rustix::thread::set_no_new_privs(true).map_err(failed)
    }
}

/// Runs the command and watches over it; never returns.
pub(crate) fn watch(line: LauncherLine, (orders, mut hands): (&Orders, Hands), entered: impl WatcherConfinement) -> ! {
    let images = std::mem::take(&mut hands.images);
    if images.is_empty() {
        watch_over(line, (orders, hands), entered)
    }
    match FirstTouch::prepare(orders, images, entered) {
        Ok(entered) => watch_over(line, (orders, hands), entered),
        Err(error) => not_started(&line, NotStarted::Unwatched(error.to_string())),
    }
}

fn watch_over(line: LauncherLine, (orders, mut hands): (&Orders, Hands), mut entered: impl WatcherConfinement) -> ! {
    if orders.words.is_empty() {
        // There is no program to execute, but everything up to there is tried.
        if let Err(NotStarted::Unconfined(why)) = command::start(orders, &hands, &mut entered) {
            line.report(&LauncherReport::Missing(why));
            leave(0)
        }
        line.report(&LauncherReport::Ready(entered.notes()));
        line.report(&LauncherReport::Exited { status: 0, left_behind: 0 });
        leave(0)
    }
    let signals = match ChildSignals::take() {
        Ok(signals) => signals,
        Err(error) => not_started(&line, NotStarted::Fork(error.raw_os_error().unwrap_or_default())),
    };
    if entered.tree() == ProcessScope::Descendants
        && let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
    {
        not_started(&line, NotStarted::Fork(error.raw_os_error()));
    }
    let keeper = match hands.grounds.take().map(|socket| keeper::start(socket, KeeperSetup::nothing(entered.tree()))) {
        None => entered.keeper(),
        Some(Ok(keeper)) => Some(keeper),
        Some(Err(error)) => not_started(&line, NotStarted::Fork(error.raw_os_error().unwrap_or_default())),
    };
    hands.terminal = terminal(&line, orders);
    line.report(&LauncherReport::Starting);
    let layers = entered.take_layers();
    if !layers.is_empty() {
        line.report_with(&LauncherReport::Layers, &layers);
        drop(layers);
    }
    let command = match command::start(orders, &hands, &mut entered) {
        Ok(command) => command,
        Err(why) => not_started(&line, why),
    };
    let terminal = hands.terminal.take();
    drop(hands);
    if let Ok(null) = nothing() {
        // Else the watcher itself would hold the command's streams open.
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    entered.started();
    if orders.serves {
        line.report(&LauncherReport::Worker(command.as_raw_nonzero().get()));
    }
    line.report(&LauncherReport::Ready(entered.notes()));
    let memory = orders.memory.map(|most| (most, Instant::now() + memory::EVERY));
    let mut watch = Watch { line, signals, entered, command, terminal, keeper, ended: None, rest: None, memory };
    loop {
        watch.wait();
        if let ControlFlow::Break(()) = watch.step() {
            leave(0)
        }
    }
}

/// Makes the terminal of a command that shall have one.
fn terminal(line: &LauncherLine, orders: &Orders) -> Option<Terminal> {
    orders.streams.filter(|streams| streams.terminals.contains(&true))?;
    match Terminal::open(line) {
        Ok(Some(terminal)) => Some(terminal),
        Ok(None) => leave(0),
        Err(error) => not_started(line, NotStarted::Terminal(error.raw_os_error().unwrap_or_default())),
    }
}

fn not_started(line: &LauncherLine, why: NotStarted) -> ! {
    line.report(&match why {
        // On another ground it may run.
        NotStarted::Unwatched(why) => LauncherReport::NoLayer(format!("its changes cannot be watched: {why}")),
        why => LauncherReport::NotStarted(why),
    });
    leave(0)
}

struct Watch<E> {
    line: LauncherLine,
    signals: ChildSignals,
    entered: E,
    command: Pid,
    terminal: Option<Terminal>,
    /// Who keeps its ground.
    keeper: Option<Pid>,
    /// How the command ended.
    ended: Option<WaitStatus>,
    /// What it had left behind.
    rest: Option<Rest>,
    /// Most bytes of memory, and when to look again.
    memory: Option<(u64, Instant)>,
}

#[derive(Clone, Copy)]
struct Rest {
    processes: usize,
    /// Until when it may end by itself.
    until: Instant,
}

impl<E: WatcherConfinement> Watch<E> {
    /// Waits until there is something to do.
    fn wait(&self) {
        let descriptors = [Some(self.signals.as_fd()), Some(self.line.as_fd()), self.entered.listener()];
        let descriptors = descriptors.into_iter().flatten();
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let next = [self.rest.map(|rest| rest.until), self.memory.map(|(_, next)| next)];
        let next = next.into_iter().flatten().min();
        let left = next.map(|next| timespec(next.saturating_duration_since(Instant::now())));
        let _ = poll(&mut polled, left.as_ref());
    }

    fn step(&mut self) -> ControlFlow<()> {
        match self.line.heard() {
            LauncherInput::Nothing => {}
            LauncherInput::AskToEnd => self.ask_to_end(),
            LauncherInput::Signal(signal) => self.signal_all(signal),
            LauncherInput::TerminalReady => self.bring_to_foreground(),
            LauncherInput::Gone => {
                self.end_all();
                return ControlFlow::Break(());
            }
        }
        self.signals.clear();
        let children = self.reap();
        let children = match (self.ended, self.keeper) {
            (Some(_), Some(keeper)) => self.beside(keeper),
            _ => children,
        };
        if self.entered.listener().is_some_and(is_readable) {
            self.entered.answer(&self.line);
        }
        match (self.ended, children) {
            (None, _) => self.look_at_memory(),
            (Some(ended), Children::None) => self.finish(ended),
            (Some(ended), Children::Some) => self.end_rest(ended),
        }
    }

    /// Ends everything when it uses too much memory.
    fn look_at_memory(&mut self) -> ControlFlow<()> {
        let Some((most, next)) = &mut self.memory else { return ControlFlow::Continue(()) };
        if Instant::now() < *next {
            return ControlFlow::Continue(());
        }
        *next = Instant::now() + memory::EVERY;
        let most = *most;
        let processes: Vec<i32> = self.others().iter().map(|running| running.pid).collect();
        let Some(used) = memory::beyond(most, &processes) else { return ControlFlow::Continue(()) };
        let [used, most] = [used, most].map(shown);
        let why =
            format!("haft ended the command: it used {used} of memory, and the setting [sandbox] memory allows {most}");
        self.line.report(&LauncherReport::Exceeded(why));
        self.end_all();
        self.line.report(&LauncherReport::Killed { signal: libc::SIGKILL, left_behind: 0 });
        ControlFlow::Break(())
    }

    /// Takes note of every child that has ended; says whether there are more.
    fn reap(&mut self) -> Children {
        loop {
            match wait_for_any(if self.terminal.is_some() { Stops::Told } else { Stops::Ignored }) {
                Ok(Some((pid, status))) if status.stopped() => self.note_stop(pid, status),
                Ok(Some((pid, status))) if pid == self.command => self.ended = Some(status),
                Ok(Some((pid, _))) if Some(pid) == self.keeper => self.keeper = None,
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Children::Some,
                Err(_) => return Children::None,
            }
        }
    }

    /// A child was stopped: by the user's keys, because it waits for the terminal, or because it is traced.
    fn note_stop(&self, pid: Pid, status: WaitStatus) {
        let was_traced = let_go(pid, status);
        let Some(signal) = status.stopping_signal().filter(|_| !was_traced && pid == self.command) else { return };
        let waits = matches!(signal, libc::SIGTTIN | libc::SIGTTOU);
        self.line.report(&if waits { LauncherReport::WantsTerminal } else { LauncherReport::Suspended(signal) });
    }

    fn bring_to_foreground(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.give_to(self.command);
            self.signal_all(libc::SIGCONT);
        }
    }

    /// The command has ended: says whether there is anybody but the one who kept its ground.
    fn beside(&mut self, keeper: Pid) -> Children {
        match self.entered.tree() {
            // This process may send it no signal, and the kernel ends it together with this process.
            ProcessScope::Namespace if self.others().is_empty() => Children::None,
            ProcessScope::Namespace => Children::Some,
            ProcessScope::Descendants => {
                self.keeper = None;
                let _ = rustix::process::kill_process(keeper, Signal::KILL);
                let _ = rustix::process::waitpid(Some(keeper), WaitOptions::empty());
                self.reap()
            }
        }
    }

    /// The command has ended and others of its processes have not: they get a moment, then they are killed.
    fn end_rest(&mut self, ended: WaitStatus) -> ControlFlow<()> {
        let Some(rest) = self.rest else {
            let processes = self.others().iter().filter(|running| !running.has_ended && !running.is_git).count();
            self.rest = Some(Rest { processes, until: Instant::now() + GRACE });
            self.ask_to_end();
            return ControlFlow::Continue(());
        };
        if Instant::now() < rest.until {
            return ControlFlow::Continue(());
        }
        self.end_all();
        self.finish(ended)
    }

    fn finish(&self, ended: WaitStatus) -> ControlFlow<()> {
        let left_behind = self.rest.map_or(0, |rest| rest.processes);
        let report = match (ended.exit_status(), ended.terminating_signal()) {
            (Some(status), _) => LauncherReport::Exited { status, left_behind },
            (None, signal) => LauncherReport::Killed { signal: signal.unwrap_or(libc::SIGKILL), left_behind },
        };
        self.line.report(&report);
        ControlFlow::Break(())
    }

    fn ask_to_end(&self) {
        // A stopped process hears nothing until it goes on.
        [libc::SIGTERM, libc::SIGCONT].into_iter().for_each(|signal| self.signal_all(signal));
    }

    fn signal_all(&self, signal: i32) {
        match (self.entered.tree(), Signal::from_named_raw(signal)) {
            (ProcessScope::Namespace, Some(_)) => signal_everyone(signal),
            (ProcessScope::Descendants, Some(signal)) => {
                self.others().iter().for_each(|running| running.signal(signal))
            }
            (_, None) => {}
        }
    }

    /// Ends every process, but for those that hang in the kernel. In a namespace the kernel does it when this process ends.
    fn end_all(&mut self) {
        if self.entered.tree() == ProcessScope::Namespace {
            return;
        }
        let until = Instant::now() + TO_DIE;
        while Instant::now() < until {
            for running in self.others() {
                running.signal(Signal::KILL);
            }
            // A process that was forked during the kill becomes our child, so we have a child until all are gone.
            if let Children::None = self.reap() {
                return;
            }
            let mut polled = [PollFd::new(&self.signals, PollFlags::IN)];
            let _ = poll(&mut polled, Some(&timespec(LOOK_AGAIN)));
            self.signals.clear();
        }
    }

    /// Finds every process of the command.
    fn others(&self) -> Vec<ProcessEntry> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let keeper = self.keeper.map_or(own, |keeper| keeper.as_raw_nonzero().get());
        match self.entered.tree() {
            ProcessScope::Namespace => process_list::some(|pid| pid != own && pid != keeper),
            ProcessScope::Descendants => process_list::descendants_of(own),
        }
    }
}

/// Whether this process has children.
enum Children {
    None,
    Some,
}

fn wait_for_any(stops: Stops) -> Result<Option<(Pid, WaitStatus)>, Errno> {
    // Also children that were made with another exit signal.
    let all_kinds = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());
    let stops = match stops {
        Stops::Told => WaitOptions::UNTRACED,
        Stops::Ignored => WaitOptions::empty(),
    };
    rustix::process::wait(WaitOptions::NOHANG | all_kinds | stops)
}

/// Whether a command that was stopped is told of: only at a terminal.
enum Stops {
    Told,
    Ignored,
}

fn is_readable(descriptor: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    matches!(poll(&mut polled, Some(&Timespec::default())), Ok(1..))
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or_default()
}

/// Lets a child continue that made this process its tracer: the watcher debugs no process. Returns whether it had.
fn let_go(pid: Pid, status: WaitStatus) -> bool {
    // This one only says that it has become another program, and would end it.
    let signal = status.stopping_signal().filter(|signal| *signal != libc::SIGTRAP).unwrap_or(0);
    // SAFETY: it takes numbers only; of a process that is no tracee of this one it refuses.
    #[allow(unsafe_code)]
    let failed = unsafe { libc::ptrace(libc::PTRACE_DETACH, pid.as_raw_nonzero().get(), 0, signal) };
    failed == 0
}

/// Sends a signal to every process of the namespace but this one.
fn signal_everyone(signal: libc::c_int) {
    // SAFETY: it takes numbers only. This process is pid 1 of a namespace, so the signal reaches no process outside.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(-1, signal)
    };
}
