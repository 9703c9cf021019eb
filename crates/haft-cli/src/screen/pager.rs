//! Shows a long answer in the user's pager, at a terminal only.
//!
//! haft holds an answer back until the command ends, and then prints it. As soon as the answer is longer than the screen,
//! the pager starts, and receives each line when it is made. A question ends this: its text must not be in a pager.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anstream::ColorChoice;
use anstream::adapter::strip_str;
use haft_config::environment::variable;
use haft_host::texts::bounded_text::columns_in;
use haft_sandbox::RunningPager;

use super::{captured_columns, unwritten, width};
use crate::arguments::Common;
use crate::exit::Exit;

/// Columns that a tab takes at most, beside the one that is counted.
const TAB: usize = 7;

static ANSWER: Mutex<Option<PagedAnswer>> = Mutex::new(None);

/// An answer that may become longer than the screen.
struct PagedAnswer {
    /// Rows that still fit.
    room: usize,
    held: String,
    /// What the user set; nothing means `less`.
    command: Option<String>,
    pager: Option<RunningPager>,
}

/// Runs a command whose answer may be long.
pub(crate) fn with_pager(common: &Common, run: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    *slot() = if common.no_pager || common.json { None } else { PagedAnswer::begin() };
    let _after_a_defect = EndOnDrop;
    let done = run();
    let shown = end();
    let exit = done?;
    shown?;
    Ok(exit)
}

/// Takes lines for the pager; nothing if there is none.
pub(super) fn paged(text: &str) -> Option<io::Result<()>> {
    let mut slot = slot();
    let taken = slot.as_mut()?.take(text.strip_suffix('\n').unwrap_or(text));
    Some(taken.map_err(unwritten))
}

/// Prints what haft held back, or waits until the user has left the pager. haft then prints as usual.
pub(crate) fn end() -> io::Result<()> {
    let answer = slot().take();
    match answer {
        Some(PagedAnswer { pager: Some(pager), .. }) => pager.wait(),
        Some(answer) => print(&answer.held),
        None => Ok(()),
    }
}

/// Loses nothing that was said before a defect.
struct EndOnDrop;

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let _ = end();
    }
}

fn slot() -> MutexGuard<'static, Option<PagedAnswer>> {
    ANSWER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(unwritten)
}

impl PagedAnswer {
    /// Begins an answer, if a person reads it and wants a pager.
    fn begin() -> Option<Self> {
        let command = variable("HAFT_PAGER").or_else(|| variable("PAGER"));
        let is_wanted = command.as_ref().is_none_or(|command| !command.trim().is_empty());
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        if !is_wanted || is_dumb || captured_columns().is_some() || !io::stdout().is_terminal() {
            return None;
        }
        let rows = rustix::termios::tcgetwinsize(io::stdout()).ok()?.ws_row;
        // The prompt of the shell takes the last row.
        let room = usize::from(rows).checked_sub(1)?;
        Some(Self { room, held: String::new(), command, pager: None })
    }

    fn take(&mut self, text: &str) -> io::Result<()> {
        if let Some(pager) = &mut self.pager {
            return page(pager, text);
        }
        let rows: usize = text.split('\n').map(rows_of).sum();
        self.held.push_str(text);
        self.held.push('\n');
        match self.room.checked_sub(rows) {
            Some(room) => self.room = room,
            None => self.start_pager()?,
        }
        Ok(())
    }

    fn start_pager(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        // Without a shell there is no pager.
        let Ok(mut pager) = RunningPager::start(self.command.as_deref()) else { return print(&held) };
        let sent = page(&mut pager, held.strip_suffix('\n').unwrap_or(&held));
        self.pager = Some(pager);
        sent
    }
}

/// Returns how many rows of the screen a line takes.
fn rows_of(line: &str) -> usize {
    let columns = columns_in(&strip_str(line).to_string()) + TAB * line.matches('\t').count();
    columns.div_ceil(width()).max(1)
}

/// Sends lines to the pager, with colours if the terminal wants them.
fn page(pager: &mut RunningPager, text: &str) -> io::Result<()> {
    match anstream::AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => writeln!(pager, "{}", strip_str(text)),
        ColorChoice::Auto | ColorChoice::Always | ColorChoice::AlwaysAnsi => writeln!(pager, "{text}"),
    }
}
