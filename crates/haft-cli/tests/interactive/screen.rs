//! A terminal of any size with haft in it, and what is on its screen and in its scrollback.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use haft_model::wire::Wire;
use haft_testkit::scratch_home::ScratchHome;
use haft_testkit::scripted::scripted_model::ScriptedModel;
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

/// A program that prints nothing for this long hangs.
const HANGS: Duration = Duration::from_secs(40);
/// A question takes no key before this time has passed without one.
const QUIET: Duration = Duration::from_millis(450);
const ROWS: u16 = 40;
/// Lines that a shell had printed before.
pub(crate) const EARLIER: usize = 20;

/// A home and a workspace with two files.
pub(crate) fn place() -> ScratchHome {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_variable("PATH", &path);
    home.put("ws/a.txt", "one\ntwo\n");
    home.put("ws/src/main.rs", "fn main() {}\n");
    home
}

/// A terminal with haft in it.
pub(crate) struct Screen {
    pty: Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// Everything that was written to the terminal.
    pub(crate) raw: Vec<u8>,
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _has_ended = self.child.kill();
        let _is_waited_for = self.child.wait();
    }
}

impl Screen {
    /// Starts haft without a model, so wide.
    pub(crate) fn console(place: &ScratchHome, columns: u16) -> Self {
        Self::start(place, (ROWS, columns), &[], |command| command)
    }

    /// Starts haft with this model.
    pub(crate) fn chat(place: &ScratchHome, model: &ScriptedModel, arguments: &[&str]) -> Self {
        Self::chat_in(place, model, arguments, 100)
    }

    /// The same, so wide.
    pub(crate) fn chat_in(place: &ScratchHome, model: &ScriptedModel, arguments: &[&str], columns: u16) -> Self {
        let base_url = model.base_url(Wire::Chat);
        Self::start(place, (ROWS, columns), arguments, |command| {
            let command = command.env("HAFT_MODEL", ScriptedModel::NAME).env("HAFT_WIRE", "chat");
            command.env("HAFT_BASE_URL", base_url).env("HAFT_API_KEY", "sk-canary-4711")
        })
    }

    /// Starts haft with more in its environment.
    pub(crate) fn start(
        place: &ScratchHome,
        (rows, columns): (u16, u16),
        arguments: &[&str],
        more: impl FnOnce(Command) -> Command,
    ) -> Self {
        let (pty, pts) = open().expect("a terminal can be opened");
        pty.resize(Size::new(rows, columns)).expect("a terminal has a size");
        let command = Command::new(env!("CARGO_BIN_EXE_haft")).args(arguments).env_clear();
        let command = command.env("HOME", place.path("home")).env("TMPDIR", place.root());
        let command = command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "xterm-256color");
        // Like xterm, the screen of the tests does not break lines again when its size changes.
        let command = command.env("XTERM_VERSION", "XTerm(370)").current_dir(place.path("ws"));
        let child = more(command).spawn(pts).expect("the command runs");
        let pty = Arc::new(pty);
        let (sender, output) = channel();
        let reading = pty.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The system answers with an error when the command has gone.
            while let Ok(read @ 1..) = (&*reading).read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let number = |number| NonZeroU16::new(number).expect("a terminal has a size");
        let mut parser = vt100::Parser::new(number(rows), number(columns), 100_000);
        (0..EARLIER).for_each(|line| parser.process(format!("earlier {line}\r\n").as_bytes()));
        Self { pty, child, output, parser, raw: Vec::new() }
    }

    /// Waits until the screen shows this.
    pub(crate) fn shows(&mut self, text: &str) -> &mut Self {
        let began = Instant::now();
        while !self.text().contains(text) {
            assert!(began.elapsed() < HANGS, "{text:?} does not appear:\n{}", self.text());
            match self.output.recv_timeout(HANGS) {
                Ok(piece) => self.take(&piece),
                Err(error) => panic!("{text:?} does not appear ({error}):\n{}", self.text()),
            }
        }
        self
    }

    /// Waits until this was printed, also where it is in the scrollback by now.
    pub(crate) fn prints(&mut self, text: &str) -> &mut Self {
        let began = Instant::now();
        while !String::from_utf8_lossy(&self.raw).contains(text) {
            assert!(began.elapsed() < HANGS, "{text:?} is not printed:\n{}", self.text());
            if let Ok(piece) = self.output.recv_timeout(QUIET) {
                self.take(&piece);
            }
        }
        self
    }

    /// Waits until the screen does not show this any more.
    pub(crate) fn hides(&mut self, text: &str) -> &mut Self {
        let began = Instant::now();
        while self.text().contains(text) {
            assert!(began.elapsed() < HANGS, "{text:?} does not go:\n{}", self.text());
            match self.output.recv_timeout(HANGS) {
                Ok(piece) => self.take(&piece),
                Err(error) => panic!("{text:?} does not go ({error}):\n{}", self.text()),
            }
        }
        self
    }

    /// Waits for a question, and until it takes keys.
    pub(crate) fn asks(&mut self) -> &mut Self {
        self.shows("allow it?");
        self.waits_for_quiet()
    }

    /// Waits until nothing was printed for as long as a question takes no keys.
    pub(crate) fn waits_for_quiet(&mut self) -> &mut Self {
        loop {
            match self.output.recv_timeout(QUIET) {
                Ok(piece) => self.take(&piece),
                Err(RecvTimeoutError::Timeout) => return self,
                Err(error) => panic!("{error}:\n{}", self.text()),
            }
        }
    }

    /// Waits until something outside the terminal is so.
    pub(crate) fn waits_until(&mut self, is_so: impl Fn() -> bool) -> &mut Self {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < HANGS, "it is never so:\n{}", self.text());
            if let Ok(piece) = self.output.recv_timeout(QUIET) {
                self.take(&piece);
            }
        }
        self
    }

    pub(crate) fn types(&mut self, keys: &str) -> &mut Self {
        (&*self.pty).write_all(keys.as_bytes()).expect("a terminal takes keys");
        self
    }

    /// Pastes this, as a terminal does.
    pub(crate) fn pastes(&mut self, text: &str) -> &mut Self {
        self.types(&format!("\u{1b}[200~{text}\u{1b}[201~"))
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) -> &mut Self {
        let number = |number| NonZeroU16::new(number).expect("a terminal has a size");
        self.parser.screen_mut().set_size(number(rows), number(columns));
        self.pty.resize(Size::new(rows, columns)).expect("a terminal has a size");
        self
    }

    /// Leaves haft; returns its exit code.
    pub(crate) fn leaves(&mut self) -> i32 {
        self.types("\u{4}");
        self.ends()
    }

    /// Waits until haft ends; returns its exit code.
    pub(crate) fn ends(&mut self) -> i32 {
        loop {
            match self.output.recv_timeout(HANGS) {
                Ok(piece) => self.take(&piece),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.text()),
            }
        }
        self.child.wait().expect("it ends").code().expect("it was not killed")
    }

    /// Kills haft without a word.
    pub(crate) fn is_killed(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Closes the terminal under haft, as a lost connection does.
    pub(crate) fn hangs_up(&mut self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::HUP).expect("it runs");
        self.child.wait().expect("it ends");
    }

    fn take(&mut self, piece: &[u8]) {
        self.raw.extend_from_slice(piece);
        self.parser.process(piece);
    }

    /// Returns what is on the screen.
    pub(crate) fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Returns the scrollback and the screen, a row each.
    pub(crate) fn all_rows(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let (rows, columns) = screen.size();
        screen.set_scrollback(usize::MAX);
        let total = screen.scrollback();
        let mut all = Vec::new();
        for back in (1..=total).rev() {
            screen.set_scrollback(back);
            all.extend(screen.rows(0, columns.get()).next());
        }
        screen.set_scrollback(0);
        all.extend(screen.rows(0, columns.get()).take(usize::from(rows.get())));
        all.iter().map(|row| row.trim_end().to_owned()).collect()
    }

    /// Asserts that each of these lines is there exactly once, in this order, and everything that was there before.
    pub(crate) fn has_each_once(&mut self, lines: &[String]) {
        let rows = self.all_rows();
        let earlier: Vec<String> = (0..EARLIER).map(|line| format!("earlier {line}")).collect();
        let mut last = None;
        for line in earlier.iter().chain(lines) {
            let found: Vec<usize> = (0..rows.len()).filter(|row| rows[*row] == *line).collect();
            assert_eq!(found.len(), 1, "{line:?} is there {} times:\n{}", found.len(), rows.join("\n"));
            assert!(last < found.first().copied(), "{line:?} is out of order:\n{}", rows.join("\n"));
            last = found.first().copied();
        }
    }
}
