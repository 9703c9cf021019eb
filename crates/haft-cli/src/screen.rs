//! The terminal: the only place where text from any source reaches the screen.
//!
//! haft never sends text from outside to a terminal unchanged. It makes control bytes, escape sequences, text that
//! changes direction and invisible characters visible. In a pipe, the answer of a tool is exact; haft's own lines are
//! the same as on a terminal, and so are records for programs.

pub(crate) mod pager;

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use anstyle::{AnsiColor, Style};
use haft_contract::text::visible::{is_deceptive, visible};

use haft_host::reports::explain::shown::Tone;
use haft_host::texts::wrapped::wrapped;

/// The columns of an answer that no terminal shows.
const USUAL_WIDTH: usize = 100;
/// The columns of a terminal that does not say so.
const USUAL_TERMINAL: usize = 80;

thread_local! {
    /// What is said on this thread goes here instead, for the interactive terminal: the text, and how wide it may be.
    static CAPTURED: RefCell<Option<(String, usize)>> = const { RefCell::new(None) };
}

/// Runs something that prints on this thread; returns what it printed, with colours, made for so many columns.
pub(crate) fn captured<T>(columns: usize, run: impl FnOnce() -> T) -> (T, String) {
    CAPTURED.set(Some((String::new(), columns)));
    let done = run();
    (done, CAPTURED.take().map(|(text, _)| text).unwrap_or_default())
}

/// Returns how wide captured text may be; nothing where what is said goes to the terminal.
pub(crate) fn captured_columns() -> Option<usize> {
    CAPTURED.with_borrow(|captured| captured.as_ref().map(|(_, columns)| *columns))
}

/// Captures a text, if this thread does; returns whether it did.
fn capture(text: &str) -> bool {
    CAPTURED.with_borrow_mut(|captured| {
        let is_captured = captured.is_some();
        captured.iter_mut().for_each(|(all, _)| *all = format!("{all}{text}\n"));
        is_captured
    })
}

/// Words that are not the answer: to stderr.
pub(crate) fn talk(text: &str) {
    if capture(&safe(text)) {
        return;
    }
    let text = safe(text);
    let rows = |columns| text.lines().flat_map(|line| wrapped(line, columns, 0)).collect::<Vec<_>>().join("\n");
    say(&columns_on(io::stderr()).map_or_else(|| text.to_string(), rows));
}

/// A line that is not the answer, with its colour: to stderr.
pub(crate) fn talk_part(part: &StyledText<'_>) {
    if capture(&part.rendered()) {
        return;
    }
    say(&part.rendered());
}

fn say(shown: &str) {
    if io::stderr().is_terminal() && pager::paged(shown).is_some() {
        return;
    }
    // If stderr cannot be written, there is no other place to report that.
    let _ = writeln!(anstream::stderr().lock(), "{shown}");
}

/// The answer itself: to stdout, exact in a pipe, made safe on a terminal.
pub(crate) fn answer(text: &str) -> io::Result<()> {
    if capture(&safe(text)) {
        return Ok(());
    }
    let shown = if io::stdout().is_terminal() { safe(text) } else { Cow::Borrowed(text) };
    pager::paged(&shown).unwrap_or_else(|| written(&shown))
}

/// An answer that is JSON: to stdout. It is made safe as JSON does it, so that it says the same to every program.
pub(crate) fn record(json: &str) -> io::Result<()> {
    written(&escaped(json))
}

fn written(text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut stdout = io::stdout().lock();
    let all = [text, end].iter().try_for_each(|part| stdout.write_all(part.as_bytes()));
    all.and_then(|()| stdout.flush()).map_err(unwritten)
}

/// Says what could not be done: the words of the system do not.
fn unwritten(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("stdout cannot be written: {error}"))
}

/// A line of our own words, with colours where the terminal wants them.
pub(crate) fn line(parts: &[StyledText<'_>]) -> io::Result<()> {
    let mut text = String::new();
    for part in parts {
        text.push_str(&part.rendered());
    }
    if capture(&text) {
        return Ok(());
    }
    pager::paged(&text).unwrap_or_else(|| writeln!(anstream::stdout().lock(), "{text}").map_err(unwritten))
}

/// Returns how many columns the answer has; the usual number where it goes into a pipe.
pub(crate) fn width() -> usize {
    captured_columns().or_else(|| columns_on(io::stdout())).unwrap_or(USUAL_WIDTH)
}

/// Returns whether what is said on stderr may have colours.
pub(crate) fn has_colours() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Returns how many columns there are for words that are not the answer.
pub(crate) fn talk_width() -> usize {
    captured_columns().or_else(|| columns_on(io::stderr())).unwrap_or(USUAL_TERMINAL)
}

fn columns_on(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// A part of a line, with its style.
pub(crate) enum StyledText<'a> {
    Plain(&'a str),
    Strong(&'a str),
    Faint(&'a str),
    Good(&'a str),
    Bad(&'a str),
}

impl<'a> From<(Tone, &'a str)> for StyledText<'a> {
    fn from((tone, words): (Tone, &'a str)) -> Self {
        match tone {
            Tone::Plain => StyledText::Plain(words),
            Tone::Faint => StyledText::Faint(words),
            Tone::Strong => StyledText::Strong(words),
            Tone::Good => StyledText::Good(words),
            Tone::Bad => StyledText::Bad(words),
        }
    }
}

impl StyledText<'_> {
    /// Returns the words, made safe, with their colour.
    pub(crate) fn rendered(&self) -> String {
        let (style, words) = self.styled();
        format!("{style}{}{style:#}", safe(words))
    }

    fn styled(&self) -> (Style, &str) {
        match self {
            StyledText::Plain(words) => (Style::new(), words),
            StyledText::Strong(words) => (Style::new().bold(), words),
            StyledText::Faint(words) => (Style::new().dimmed(), words),
            StyledText::Good(words) => (AnsiColor::Green.on_default(), words),
            StyledText::Bad(words) => (AnsiColor::Red.on_default(), words),
        }
    }
}

/// Makes everything visible that could deceive or command a terminal.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    visible(text)
}

/// Escapes in JSON what could deceive or command a terminal: it stands in strings and nowhere else.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_deceptive) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if !is_deceptive(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_command_a_terminal_is_made_visible() {
        assert_eq!(safe("a\u{1b}[2Jb\r\nc\td\u{202e}e\u{9b}f\rg"), "a\\u{1b}[2Jb\nc\td\\u{202e}e\\u{9b}f\\u{d}g");
        assert!(matches!(safe("plain Ünïcode 漢字\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_record_is_the_same_json_and_commands_no_terminal() {
        let value =
            serde_json::json!({ "a\u{202e}": "\u{9b}2J \u{7f} \u{1b}[m \u{e0041} ü\n\t\\u{9b}", "b": [1, "\u{feff}"] });
        for json in [value.to_string(), serde_json::to_string_pretty(&value).expect("it can be written")] {
            let shown = escaped(&json);
            assert!(!shown.chars().any(is_deceptive), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("it is JSON"), value);
        }
        assert!(escaped("\"\u{9b}\"").contains(r"\u009b") && escaped("\"\u{e0041}\"").contains(r"\udb40\udc41"));
        assert!(matches!(escaped(r#"{"a": "ü"}"#), Cow::Borrowed(_)));
    }

    /// The text of a case: as it is, as bytes in base64, or made of a repeated piece.
    fn input_of(case: &serde_json::Value) -> String {
        if let Some(input) = case["input"].as_str() {
            return input.to_owned();
        }
        if let Some(encoded) = case["input_b64"].as_str() {
            return String::from_utf8_lossy(&base64(encoded)).into_owned();
        }
        let made = &case["gen"];
        let piece = |name: &str| made[name].as_str().unwrap_or_default();
        let times = made["times"].as_u64().unwrap_or_else(|| panic!("a case in a form that is not known: {case}"));
        let middle = piece("repeat").repeat(usize::try_from(times).expect("it fits"));
        format!("{}{middle}{}", piece("prefix"), piece("suffix"))
    }

    fn base64(text: &str) -> Vec<u8> {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let sixes = text.bytes().filter_map(|letter| LETTERS.iter().position(|&known| known == letter));
        let bits: Vec<usize> = sixes.flat_map(|six| (0..6).rev().map(move |bit| six >> bit & 1)).collect();
        let byte = |bits: &[usize]| bits.iter().fold(0u8, |byte, &bit| byte << 1 | u8::from(bit == 1));
        bits.chunks_exact(8).map(byte).collect()
    }

    #[test]
    fn the_terminal_cases_hold() {
        assert_eq!(base64("G1tIeA=="), b"\x1b[Hx");
        for line in include_str!("../../../tests/cases/terminal.jsonl").lines().filter(|line| !line.trim().is_empty()) {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case is JSON");
            let input = input_of(&case);
            let shown = safe(&input);
            let visible = |c: char| c == '\n' || c == '\t' || !is_deceptive(c);
            assert!(shown.chars().all(visible), "{line}");
            if let Some(kept) = case["must_keep"].as_str() {
                assert!(shown.contains(kept), "{line}");
            }
        }
    }
}
