//! `haft` alone: the interactive terminal.
//!
//! Three threads: one reads keys, one does the work, and this one owns the screen. It waits for keys, reports and the
//! clock, passes them to the app, and draws what changed. When nothing happens, no thread runs.
//!
//! Without a terminal, haft prints what it found and what to type, in plain lines.

mod app;
pub(crate) mod drawing;
pub(crate) mod input;
mod notices;
mod plain_console;
mod protocol;
mod question;
pub(crate) mod question_body;
mod raw_mode;
mod tool_facts;
mod welcome;
mod worker;

use std::io::{self, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use haft_contract::outcome::error::AdvanceYes;
use haft_host::host::{Host, block_on};
use haft_host::opening::project_files::OnUntrusted;
use haft_host::options::Options;
use haft_mcp::client::servers::Servers;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::arguments::{Common, TerminalFlags};
use crate::exit::Exit;
use crate::screen;
use app::App;
use drawing::region::{Colours, Reflow, Region, TerminalSize};
use input::keys::KeyDecoder;
use notices::ScreenNotices;
use protocol::{Order, WorkerReport, Yes};
use raw_mode::RawMode;
use worker::WorkerInput;

/// How long the rest of a key may take.
const KEY_REST: Duration = Duration::from_millis(40);
/// How often the screen is drawn while something runs.
const BUSY: Duration = Duration::from_millis(100);
/// How often reports are drawn at most.
const FRAME: Duration = Duration::from_millis(16);
/// How long haft waits after a key before it records the unsent input.
const DRAFT: Duration = Duration::from_secs(1);
/// How long Ctrl-Z waits until the unsent input is recorded.
const RECORDING: Duration = Duration::from_millis(500);
/// How long haft draws nothing after the size has changed. During several changes, tmux reports an old size for a quarter
/// of a second, and a frame for an old size would erase finished lines or leave rows behind.
const SETTLING: Duration = Duration::from_millis(300);
/// How long the work may take to end.
const LEAVING: Duration = Duration::from_secs(5);
/// Most reports that are handled before the next frame.
const MOST_REPORTS: usize = 2_000;

/// Runs the terminal until the person leaves.
pub(crate) fn run(common: &Common, flags: &TerminalFlags) -> anyhow::Result<Exit> {
    let is_dumb = haft_config::environment::variable("TERM").is_some_and(|term| term == "dumb");
    if common.json || is_dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return welcome::run(common);
    }
    let notices = ScreenNotices::default();
    let options = Options { notices: Arc::new(notices.clone()), ..Servers::added_to(common.options()) };
    // Before haft owns the screen: it asks in plain lines whether to trust the project.
    let host = Host::open_for(&options, OnUntrusted::AskAboutWords)?;
    let (reports, heard) = unbounded_channel();
    let (orders, taken) = unbounded_channel();
    let columns = Arc::new(AtomicUsize::new(80));
    let mut app = App::new(colours(), common.mode(), yes(common));
    notices.send_to(reports.clone());
    let job = WorkerInput {
        host,
        common: common.clone(),
        flags: flags.clone(),
        tails: app.tails(),
        columns: columns.clone(),
        reports,
        orders: taken,
    };
    let raw = RawMode::enter().context("the terminal cannot be set up")?;
    let worker = std::thread::Builder::new().name("work".to_owned()).spawn(move || worker::work(job))?;
    let input = read_keys()?;
    let mut terminal = Terminal {
        raw,
        region: Region::new(colours(), reflow()),
        columns,
        orders,
        decoder: KeyDecoder::default(),
        size: None,
        written_draft: String::new(),
        recording: Arc::new(()),
    };
    let ended = block_on(terminal.attend(&mut app, input, heard))?;
    let session = app.session();
    drop(terminal);
    await_end(worker);
    if let Some(id) = session {
        screen::talk(&format!("To continue this conversation: haft --continue, or haft resume {id}"));
    }
    ended
}

fn colours() -> Colours {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => Colours::Off,
        _ => Colours::On,
    }
}

/// Says what the terminal does with lines when its width changes, as far as the environment tells.
fn reflow() -> Reflow {
    let variable = haft_config::environment::variable;
    let term = variable("TERM").unwrap_or_default();
    let is_screen = term.starts_with("screen") && variable("TMUX").is_none();
    let cuts = variable("XTERM_VERSION").is_some() || term == "linux" || term.starts_with("rxvt") || is_screen;
    if cuts { Reflow::Cuts } else { Reflow::Breaks }
}

fn yes(common: &Common) -> Yes {
    match common.yes() {
        None => Yes::Asked,
        Some(AdvanceYes::ToUndoable) => Yes::ToUndoable,
        Some(AdvanceYes::ToAll) => Yes::ToAll,
    }
}

/// Reads keys on a separate thread. The end of input is an empty piece.
fn read_keys() -> anyhow::Result<UnboundedReceiver<Vec<u8>>> {
    let (sender, keys) = unbounded_channel();
    std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = match io::stdin().lock().read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            if sender.send(buffer[..read].to_vec()).is_err() || read == 0 {
                return;
            }
        }
    })?;
    Ok(keys)
}

/// Waits a little for jobs and commands to end; the process ends them in any case.
fn await_end(worker: std::thread::JoinHandle<anyhow::Result<()>>) {
    let began = Instant::now();
    while !worker.is_finished() && began.elapsed() < LEAVING {
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The screen and everything that is needed to draw on it.
struct Terminal {
    raw: RawMode,
    region: Region,
    columns: Arc<AtomicUsize>,
    orders: UnboundedSender<Order>,
    decoder: KeyDecoder,
    /// The size that the system reported last.
    size: Option<TerminalSize>,
    written_draft: String,
    /// Shared with each order to record the draft that is not done yet.
    recording: Arc<()>,
}

/// Signals and events of the system for a terminal.
struct TerminalSignals {
    size: Signal,
    resume: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// When the screen has to be drawn, or something is due.
struct Due {
    draw: Option<Instant>,
    draft: Option<Instant>,
    last_frame: Instant,
    /// Nothing is drawn before.
    settled: Instant,
}

impl Terminal {
    /// Takes keys, reports and signals until the person leaves.
    async fn attend(
        &mut self,
        app: &mut App,
        mut input: UnboundedReceiver<Vec<u8>>,
        mut heard: UnboundedReceiver<WorkerReport>,
    ) -> anyhow::Result<Exit> {
        let mut signals = TerminalSignals {
            size: signal(SignalKind::window_change())?,
            resume: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        };
        let now = Instant::now();
        let mut due = Due { draw: Some(now), draft: None, last_frame: now, settled: now };
        loop {
            let wake = self.wake_at(app, &due);
            tokio::select! {
                biased;
                Some(bytes) = input.recv() => {
                    if bytes.is_empty() {
                        return Ok(self.leave(app));
                    }
                    let inputs = self.decoder.feed(&bytes);
                    inputs.into_iter().for_each(|input| app.take(input, Instant::now()));
                    due.draw = Some(Instant::now());
                    due.draft = due.draft.or(Some(Instant::now() + DRAFT));
                }
                _ = signals.terminate.recv() => return Ok(self.leave(app)),
                _ = signals.hang_up.recv() => return Ok(self.leave(app)),
                _ = signals.size.recv() => due.draw = Some(Instant::now()),
                _ = signals.resume.recv() => {
                    self.raw.enter_again();
                    self.region.forget();
                    due.draw = Some(Instant::now());
                }
                Some(report) = heard.recv() => {
                    app.hear(report, Instant::now());
                    for _ in 0..MOST_REPORTS {
                        let Ok(report) = heard.try_recv() else { break };
                        app.hear(report, Instant::now());
                    }
                    due.draw = Some(due.draw.unwrap_or(due.last_frame + FRAME).min(due.last_frame + FRAME));
                }
                () = tokio::time::sleep_until(wake.into()) => {
                    let rest = self.decoder.flush();
                    rest.into_iter().for_each(|input| app.take(input, Instant::now()));
                    due.draw = Some(Instant::now());
                }
            }
            match self.step(app, &mut due) {
                Ok(false) => {}
                // A terminal that is gone takes nothing; the session has everything all the same.
                left => {
                    let exit = self.leave(app);
                    return left.map(|_| exit);
                }
            }
        }
    }

    /// Returns when something is due although nothing happens.
    fn wake_at(&self, app: &App, due: &Due) -> Instant {
        let now = Instant::now();
        let never = now + Duration::from_secs(24 * 3600);
        let rest = self.decoder.waits().then(|| now + KEY_REST);
        let busy = app.is_busy().then(|| due.last_frame + BUSY);
        let shown = [busy, due.draw, app.due()].into_iter().flatten().min().map(|at| at.max(due.settled));
        [rest, shown, due.draft].into_iter().flatten().min().unwrap_or(never)
    }

    /// Executes orders and draws what is due; returns whether the person leaves.
    fn step(&mut self, app: &mut App, due: &mut Due) -> anyhow::Result<bool> {
        let now = Instant::now();
        let mut leaves = false;
        for order in app.take_orders() {
            match order {
                Order::Quit => leaves = true,
                Order::Suspend => self.suspend(app)?,
                order => _ = self.orders.send(order),
            }
        }
        if due.draft.is_some_and(|at| at <= now) {
            due.draft = None;
            self.write_draft(app);
        }
        if due.draw.is_some_and(|at| at <= now) {
            let size = raw_mode::size();
            if self.size.replace(size).is_some_and(|before| before != size) {
                due.settled = now + SETTLING;
            }
            if due.settled <= now {
                self.draw(app, size)?;
                (due.draw, due.last_frame) = (None, now);
            }
        }
        Ok(leaves)
    }

    fn draw(&mut self, app: &mut App, size: TerminalSize) -> io::Result<()> {
        self.columns.store(size.columns, Ordering::Relaxed);
        app.resized(size.columns);
        let frame = app.frame(size, Instant::now());
        let finished = app.take_finished();
        let bytes = self.region.update(&finished, &frame, size);
        write(&bytes)
    }

    fn write_draft(&mut self, app: &App) {
        let draft = app.draft();
        if draft != self.written_draft {
            self.written_draft.clone_from(&draft);
            let _is_over = self.orders.send(Order::Draft(draft, self.recording.clone()));
        }
    }

    /// Gives the terminal back to the shell; the process continues when the shell resumes it.
    fn suspend(&mut self, app: &mut App) -> io::Result<()> {
        self.write_draft(app);
        write(&self.region.clear(raw_mode::size()))?;
        let began = Instant::now();
        // A process that is stopped records nothing, and may be killed.
        while Arc::strong_count(&self.recording) > 1 && began.elapsed() < RECORDING {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        self.raw.suspend();
        Ok(())
    }

    /// Ends the work and erases the live region.
    fn leave(&mut self, app: &mut App) -> Exit {
        self.write_draft(app);
        app.end_text();
        let _is_over = self.orders.send(Order::Quit);
        let finished = app.take_finished();
        let size = raw_mode::size();
        let frame = drawing::region::ScreenFrame { rows: vec![String::new()], cursor: (0, 0) };
        // A terminal that is gone shows nothing.
        let _is_gone = write(&self.region.update(&finished, &frame, size));
        let _is_gone = write(&self.region.clear(size));
        Exit::Ok
    }
}

fn write(bytes: &str) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes.as_bytes())?;
    stdout.flush()
}
