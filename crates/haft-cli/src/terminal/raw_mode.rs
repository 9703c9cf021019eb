//! The terminal's own modes: every key as it is pressed, pastes as pastes, and everything as it was at the end.

use std::io::{self, Write};

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::region::Size;

const PASTES_ON: &str = "\u{1b}[?2004h";
const PASTES_OFF: &str = "\u{1b}[?2004l\u{1b}[?25h";

/// The size of a terminal that does not say so.
const USUAL: Size = Size { rows: 24, columns: 80 };

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

    /// Sets the modes anew: whoever had the terminal meanwhile may have changed them.
    pub(super) fn enter_again(&self) {
        let mut raw = self.usual.clone();
        // What is printed stays as it is: a line end of somebody else must not make stairs.
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
pub(super) fn size() -> Size {
    let Ok(size) = tcgetwinsize(io::stdout()) else { return USUAL };
    let or = |number: u16, usual: usize| if number == 0 { usual } else { usize::from(number) };
    Size { rows: or(size.ws_row, USUAL.rows), columns: or(size.ws_col, USUAL.columns) }
}

fn say(sequence: &str) {
    let mut stdout = io::stdout().lock();
    let _is_gone = stdout.write_all(sequence.as_bytes()).and_then(|()| stdout.flush());
}
