//! Formats a page of a text for a model: numbered lines, and a last line that says what they are a part of.
//!
//! A page ends where its room ends, so no later step has to shorten it. Only this module knows which line comes next.

use std::sync::Arc;

use haft_contract::description::page_style::{ContinuationArguments, PageEnds, PageStyle};
use haft_contract::doors::door::PageLine;
use haft_contract::outcome::output::ReducedLimit;
use haft_contract::prelude::*;
use haft_contract::text::encoding::TextForm;
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::lines::LineEnds;

/// Fewest characters that a line takes: its number, a tab and a line end.
pub(super) const NARROWEST_LINE: usize = 8;
/// What the words about a cut line take at most, in characters.
const WORDS_OF_A_CUT: usize = 110;
/// How much longer its numbers may become when it is cut further.
const MORE_DIGITS: usize = 4;

/// The unit that a call reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadUnit {
    /// Lines, each as far as it fits.
    Lines,
    /// One line, from a character on.
    Line,
}

/// A page as the model reads it.
pub(super) struct ShownPage {
    page: Page,
    /// How many characters each line takes when it is shown, without secrets.
    widths: Vec<usize>,
    /// How many all lines take together.
    all_widths: usize,
    reads: ReadUnit,
    limited: Option<ReducedLimit>,
    among: Among,
    style: Arc<PageStyle>,
}

/// Whether other files are read with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    None,
    /// Then the next header ends a whole file, and nothing more needs to be said of it.
    Others,
}

impl ShownPage {
    pub(super) fn of(page: Page, reads: ReadUnit, cx: &RunContext<'_>) -> Self {
        let style = cx.limits().page_style.clone();
        let mut shown =
            Self { page, widths: Vec::new(), all_widths: 0, reads, limited: None, among: Among::None, style };
        shown.widths = shown.texts().map(|text| cx.hide(&text).chars().count()).collect();
        shown.all_widths = shown.widths.iter().sum();
        shown
    }

    /// Adds that a limit was reduced.
    pub(super) fn noting(self, limited: Option<ReducedLimit>) -> Self {
        Self { limited, ..self }
    }

    /// Says whether other files are read with it.
    pub(super) fn among(self, among: Among) -> Self {
        Self { among, ..self }
    }

    /// Returns the lines as they are shown.
    fn texts(&self) -> impl Iterator<Item = String> {
        let last = self.page.first_line.saturating_add(self.page.lines.len() as u64).saturating_sub(1);
        let numbered = self.page.lines.iter().zip(self.page.first_line..);
        numbered.map(move |(line, number)| self.style.number(number, last) + &self.line(line, number))
    }

    pub(super) fn first_line(&self) -> u64 {
        self.page.first_line
    }

    pub(super) fn lines(&self) -> usize {
        self.page.lines.len()
    }

    /// Returns about how many tokens the lines have.
    pub(super) fn tokens(&self) -> usize {
        // What models count differs from one to the next; a quarter of the characters is near to all of them.
        (self.all_widths + 2) / 4
    }

    /// Returns how many characters it has.
    pub(super) fn length(&self) -> usize {
        let around = self.style.before.chars().count() + self.style.after.chars().count();
        self.all_widths + around + self.last_line().chars().count()
    }

    /// Ends the page at the last line that fits; one that does not even fit alone is cut.
    pub(super) fn fit(&mut self, room: usize, cx: &RunContext<'_>) {
        while self.lines() > 1 && self.length() > room {
            self.page.lines.pop();
            self.all_widths -= self.widths.pop().unwrap_or(0);
            self.page.more = true;
        }
        let too_long = self.length().saturating_sub(room);
        if let (true, Some(line)) = (too_long > 0, self.page.lines.first_mut()) {
            // A line that was cut before has these words already.
            let words = if line.cut == 0 { WORDS_OF_A_CUT } else { 0 };
            let kept = line.text.chars().count().saturating_sub(too_long + words + MORE_DIGITS).max(1);
            cx.shorten(line, kept);
            self.all_widths = self.texts().map(|text| cx.hide(&text).chars().count()).sum();
            self.widths = vec![self.all_widths];
        }
    }

    pub(super) fn text(&self) -> String {
        let lines: String = self.texts().collect();
        format!("{}{lines}{}{}", self.style.before, self.last_line(), self.style.after)
    }

    fn last_line(&self) -> String {
        let page = &self.page;
        if let Some(ends) = &self.style.ends {
            return self.last_words(ends);
        }
        let is_whole = !page.more && page.first_line == 1 && !page.lines.is_empty() && self.reads == ReadUnit::Lines;
        if is_whole && self.among == Among::Others {
            let notes = self.notes();
            return if notes.is_empty() { String::new() } else { format!("[{}]\n", notes.join("; ")) };
        }
        let form = self.notes().iter().map(|note| format!("; {note}")).collect::<String>();
        let words = match page.total_lines {
            _ if self.reads == ReadUnit::Line && !page.lines.is_empty() => self.where_in_line(&form),
            _ if page.more => self.how_to_go_on(&form),
            Some(0) => format!("the file is empty{form}"),
            Some(total) if page.lines.is_empty() => {
                format!("there is no line {}; the file has {}", page.first_line, GroupedNumber(total).of("line"))
            }
            Some(1) => format!("end of file: 1 line{form}"),
            Some(total) => format!("end of file: {total} lines{form}"),
            None => format!("end of file{form}"),
        };
        format!("[{words}]\n")
    }

    /// Returns the words of another system, and in brackets what it has no words for.
    fn last_words(&self, PageEnds { more, end }: &PageEnds) -> String {
        let page = &self.page;
        let next = page.first_line.saturating_add(page.lines.len() as u64);
        let total = page.total_lines.map_or_else(|| format!("at least {next}"), |total| total.to_string());
        let words = if page.more { more } else { end };
        let numbers = [
            ("{first}", page.first_line.to_string()),
            ("{last}", next.saturating_sub(1).to_string()),
            ("{next}", next.to_string()),
            ("{next0}", next.saturating_sub(1).to_string()),
            ("{total}", total),
        ];
        let words = numbers.iter().fold(words.clone(), |words, (name, number)| words.replace(name, number));
        let is_beyond = page.lines.is_empty() && page.total_lines.is_some_and(|total| total > 0);
        let beyond = is_beyond.then(|| format!("there is no line {}", page.first_line));
        let unusual: Vec<String> = beyond.into_iter().chain(self.notes()).collect();
        let unusual = if unusual.is_empty() { String::new() } else { format!("[{}]\n", unusual.join("; ")) };
        words + &unusual
    }

    /// Returns what else is to be said of the page.
    fn notes(&self) -> Vec<String> {
        form(&self.page).into_iter().chain(self.limited.map(|limited| limited.to_string())).collect()
    }

    /// Writes a line, and how its rest is read.
    fn line(&self, line: &PageLine, number: u64) -> String {
        match (line.cut, &self.style.cut) {
            (0, _) => format!("{}\n", line.text),
            (_, Some(mark)) => format!("{}{mark}\n", line.text),
            // Then the last line says it.
            (_, None) if self.reads == ReadUnit::Line => format!("{}\n", line.text),
            (cut, None) => {
                let more = if cut == 1 { "1 more character".to_owned() } else { format!("{cut} more characters") };
                let column = line.before + line.text.chars().count() + 1;
                let go_on = match self.style.arguments {
                    ContinuationArguments::Own => {
                        format!("; go on with {{\"offset\": {number}, \"column\": {column}}}")
                    }
                    ContinuationArguments::Shared => String::new(),
                };
                format!("{} [… {more} in this line{go_on}]\n", line.text)
            }
        }
    }

    /// Says which characters of a line are shown, and how to go on.
    fn where_in_line(&self, form: &str) -> String {
        let (page, number) = (&self.page, self.page.first_line);
        let Some(PageLine { text, before, cut }) = page.lines.first() else { return String::new() };
        let last = before + text.chars().count();
        let total = GroupedNumber((last + cut) as u64);
        let which = match last - before {
            0 => format!("line {number} has {}", total.of("character")),
            1 => format!("line {number}, character {last} of {total}"),
            _ => format!("line {number}, characters {}–{last} of {total}", before + 1),
        };
        let go_on = match cut {
            1.. => format!("go on with offset={number} column={}", last + 1),
            0 if page.more => format!("go on with offset={}", number.saturating_add(1)),
            0 => "end of file".to_owned(),
        };
        format!("{which}{form}; {go_on}")
    }

    fn how_to_go_on(&self, form: &str) -> String {
        let page = &self.page;
        let next_line = page.first_line.saturating_add(page.lines.len() as u64);
        let lines = match page.lines.len() {
            1 => format!("line {}", page.first_line),
            _ => format!("lines {}–{}", page.first_line, next_line.saturating_sub(1)),
        };
        let total = page.total_lines.map_or_else(|| format!("at least {next_line}"), |total| total.to_string());
        format!("{lines} of {total}{form}; go on with offset={next_line}")
    }
}

/// Says what is unusual about a text; nothing for UTF-8 with `\n`.
fn form(page: &Page) -> Option<String> {
    let mut words = Vec::new();
    let name = page.form.name();
    if page.form.has_mark() {
        words.push(format!("{name} with BOM"));
    } else if page.form != TextForm::utf8() {
        words.push(name.to_owned());
    }
    match page.line_ends {
        LineEnds::None | LineEnds::Newline => {}
        ends @ (LineEnds::ReturnNewline | LineEnds::Return | LineEnds::Mixed) => words.push(ends.to_string()),
    }
    if page.lossy {
        words.push("bytes that are not text are shown as U+FFFD".to_owned());
    }
    (!words.is_empty()).then(|| words.join(", "))
}
