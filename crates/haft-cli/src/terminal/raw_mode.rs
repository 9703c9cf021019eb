//! The terminal's raw mode: passes on every key when it is pressed, marks pastes, and restores the modes at the end.

use std::io::{self, Write};

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::drawing::region::TerminalSize;

const PASTES_ON: &str = "\u{1b}[?2004h";
const PASTES_OFF: &str = "\u{1b}[?2004l\u{1b}[?25h";

/// The size of a terminal that does not say so.
const USUAL: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// The terminal passes keys on as they are, as long as this lives.
pub(super) struct RawMode {
    usual: Termios,
}

impl RawMode {
    pub(super) fn enter() -> io::Result<Self> {
        let mode = Self { usual: tcgetattr(io::stdin())? };
        mode.enter_again();
        Ok(mode)
    }

    /// Sets the modes again: another program may have changed them in the meantime.
    pub(super) fn enter_again(&self) {
        let mut raw = self.usual.clone();
        // Output processing stays on: a line end that another program prints must return to the first column.
        raw.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        raw.input_modes &= !(InputModes::ICRNL | InputModes::INLCR | InputModes::IXON | InputModes::ISTRIP);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A terminal that is gone has no modes, and reading it says so.
        let _is_gone = tcsetattr(io::stdin(), OptionalActions::Drain, &raw);
        say(PASTES_ON);
    }

    /// Stops this process, with the terminal as the shell left it.
    pub(super) fn suspend(&self) {
        self.leave();
        let _never_for_oneself = kill_process(getpid(), Signal::TSTP);
        self.enter_again();
    }

    fn leave(&self) {
        say(PASTES_OFF);
        let _is_gone = tcsetattr(io::stdin(), OptionalActions::Drain, &self.usual);
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Returns the size of the terminal now.
pub(super) fn size() -> TerminalSize {
    let Ok(size) = tcgetwinsize(io::stdout()) else { return USUAL };
    let or = |number: u16, usual: usize| if number == 0 { usual } else { usize::from(number) };
    TerminalSize { rows: or(size.ws_row, USUAL.rows), columns: or(size.ws_col, USUAL.columns) }
}

fn say(sequence: &str) {
    let mut stdout = io::stdout().lock();
    let _is_gone = stdout.write_all(sequence.as_bytes()).and_then(|()| stdout.flush());
}
