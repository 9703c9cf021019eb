//! Collects the lines of a page from steps that may end inside a line.

use haft_contract::doors::door::{Page, PageLine, PageRequest};
use haft_contract::text::encoding::{PieceDecoder, TextForm, Whole};
use haft_contract::text::lines::LineEnds;

/// How the lines of a text are found in its bytes.
#[derive(Clone, Copy)]
pub(super) struct LineUnits {
    form: TextForm,
    /// What ends a line: `\n`, or `\r` in a text that has no `\n`.
    end: u8,
    /// How the lines end that were seen.
    line_ends: LineEnds,
}

impl LineUnits {
    /// Finds out how lines end from the beginning of a text.
    pub(super) fn found_in(start: &[u8], form: TextForm, whole: Whole) -> Self {
        let body = start.strip_prefix(form.mark()).unwrap_or(start);
        let mut units = Self { form, end: b'\n', line_ends: LineEnds::None };
        let mut rest = body;
        while let Some(line) = units.find(rest) {
            units.note_return(units.has_return(&rest[..line]));
            rest = &rest[line + units.width()..];
        }
        let returns = Self { end: b'\r', line_ends: LineEnds::Return, ..units };
        // A `\r` at the very end may be half of a line end.
        let known =
            if whole == Whole::No && units.has_return(body) { &body[..body.len() - units.width()] } else { body };
        if units.line_ends == LineEnds::None && returns.find(known).is_some() { returns } else { units }
    }

    /// How haft itself writes texts.
    pub(super) fn own() -> Self {
        Self { form: TextForm::utf8(), end: b'\n', line_ends: LineEnds::Newline }
    }

    fn width(self) -> usize {
        if self.form.has_wide_units() { 2 } else { 1 }
    }

    /// Returns where the first line ends, before its end.
    fn find(self, bytes: &[u8]) -> Option<usize> {
        self.ends(bytes).next()
    }

    /// Returns the places of all line ends. The bytes begin with a whole unit.
    fn ends(self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let wide = self.form.has_wide_units();
        let unit = self.form.unit(self.end);
        memchr::memchr_iter(self.end, bytes).filter_map(move |at| {
            if !wide {
                return Some(at);
            }
            let start = at - at % 2;
            (bytes.get(start..start + 2) == Some(&unit)).then_some(start)
        })
    }

    fn count(self, bytes: &[u8]) -> usize {
        if self.form.has_wide_units() {
            return self.ends(bytes).count();
        }
        memchr::memchr_iter(self.end, bytes).count()
    }

    /// Tells whether the bytes end with `\r`.
    fn has_return(self, bytes: &[u8]) -> bool {
        if self.form.has_wide_units() { bytes.ends_with(&self.form.unit(b'\r')) } else { bytes.ends_with(b"\r") }
    }

    /// Notes how one line ends.
    fn note_return(&mut self, has_return: bool) {
        let ends = match (self.end, has_return) {
            (b'\r', _) => LineEnds::Return,
            (_, true) => LineEnds::ReturnNewline,
            (_, false) => LineEnds::Newline,
        };
        self.line_ends = self.line_ends.and(ends);
    }
}

/// Collects the lines of a page, as far as they were read.
pub(super) struct PageCollector {
    request: PageRequest,
    units: LineUnits,
    /// The number of the line that is being read.
    number: u64,
    lines: Vec<PageLine>,
    line: OpenLine,
    /// The first line of the page, where not all of it is wanted.
    part: Option<PartOfLine>,
    /// Whether anything of the line was read.
    open: bool,
    lossy: bool,
}

/// A line that is read from one of its characters on. It is decoded to know which one that is.
struct PartOfLine {
    decoder: PieceDecoder,
    /// How many characters are passed over.
    skip: usize,
    /// How many were seen.
    seen: usize,
    /// Those that are shown.
    text: String,
}

impl PartOfLine {
    /// Takes the next piece of the line; keeps at most so many characters. Returns whether bytes were no text.
    fn take(&mut self, piece: &[u8], whole: Whole, most: usize) -> bool {
        let shown = self.decoder.take(piece, whole);
        let has_skipped = self.skip.min(self.seen);
        let kept = self.seen - has_skipped;
        let characters = shown.text.chars().count();
        let wanted = shown.text.chars().skip(self.skip - has_skipped);
        // Those between the first that is kept and the last that was seen are kept already.
        self.text.extend(wanted.take(most.saturating_sub(kept)));
        self.seen += characters;
        shown.lossy
    }

    /// Leaves out the last character, which belongs to the end of the line.
    fn leave_out_return(&mut self) {
        self.seen = self.seen.saturating_sub(1);
    }

    /// Ends the line.
    fn end(mut self) -> PageLine {
        let before = self.skip.min(self.seen);
        let (kept, room) = (self.text.chars().count(), self.seen - before);
        if kept > room {
            self.text.pop();
        }
        let cut = room.saturating_sub(kept);
        PageLine { text: self.text, before, cut }
    }
}

/// A line that is being read.
#[derive(Default)]
struct OpenLine {
    /// Its beginning, as much as can be shown.
    kept: Vec<u8>,
    /// How many bytes it has.
    length: usize,
    /// How many characters it has.
    characters: usize,
    /// Whether it ends with `\r` so far.
    has_return: bool,
}

impl PageCollector {
    pub(super) fn new(mut request: PageRequest, units: LineUnits) -> Self {
        request.first_line = request.first_line.max(1);
        let skip = usize::try_from(request.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let decoder = units.form.in_pieces();
        let part = (skip > 0).then(|| PartOfLine { decoder, skip, seen: 0, text: String::new() });
        let (lines, line) = (Vec::new(), OpenLine::default());
        Self { request, units, number: 1, lines, line, part, open: false, lossy: false }
    }

    /// Returns how long the mark at the beginning of the first step is.
    pub(super) fn mark_in(&self, step: &[u8]) -> usize {
        let mark = self.units.form.mark();
        if step.starts_with(mark) { mark.len() } else { 0 }
    }

    /// Tells whether all lines of the page are there.
    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= self.request.lines
    }

    /// Takes as much of the step as is wanted and returns how much that was.
    pub(super) fn take(&mut self, step: &[u8]) -> usize {
        let mut taken = self.skip(step);
        while taken < step.len() && !self.is_full() {
            let rest = &step[taken..];
            let end = self.units.find(rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            self.add(piece);
            taken += piece.len();
            if end.is_some() {
                taken += self.units.width();
                self.units.note_return(self.line.has_return);
                self.end_line();
            }
        }
        taken
    }

    /// Passes over lines before the page and returns how many bytes they have.
    fn skip(&mut self, step: &[u8]) -> usize {
        let before = self.request.first_line.saturating_sub(self.number);
        if before == 0 || step.is_empty() {
            return 0;
        }
        let ends = self.units.count(step);
        if (ends as u64) < before {
            self.number += ends as u64;
            let last = step.len().saturating_sub(self.units.width());
            self.open = self.units.find(&step[last..]).is_none();
            return step.len();
        }
        self.number = self.request.first_line;
        self.open = false;
        let last = usize::try_from(before - 1).expect("there are at least so many line ends in memory");
        let end = self.units.ends(step).nth(last).expect("they were counted");
        end + self.units.width()
    }

    fn add(&mut self, piece: &[u8]) {
        if let Some(part) = &mut self.part {
            self.lossy |= part.take(piece, Whole::No, self.request.line_length);
            self.line.has_return = if piece.is_empty() { self.line.has_return } else { self.units.has_return(piece) };
            self.open = true;
            return;
        }
        // Four bytes a character are enough for every character that may be shown.
        let most = self.request.line_length.saturating_mul(4).saturating_add(4);
        let room = most.saturating_sub(self.line.kept.len()) & !1;
        self.line.kept.extend_from_slice(&piece[..piece.len().min(room)]);
        self.line.length += piece.len();
        self.line.characters += self.units.form.characters_in(piece);
        if !piece.is_empty() {
            self.line.has_return = self.units.has_return(piece);
        }
        self.open = true;
    }

    fn end_line(&mut self) {
        if let Some(mut part) = self.part.take() {
            self.lossy |= part.take(b"", Whole::Yes, self.request.line_length);
            if std::mem::take(&mut self.line).has_return && self.units.end == b'\n' {
                part.leave_out_return();
            }
            self.push(part.end());
            return;
        }
        let OpenLine { kept, length, mut characters, has_return } = std::mem::take(&mut self.line);
        let is_whole = kept.len() == length;
        let mut bytes = &kept[..];
        if has_return && self.units.end == b'\n' {
            characters = characters.saturating_sub(1);
            if is_whole {
                bytes = &kept[..kept.len() - self.units.width()];
            }
        }
        let shown = self.units.form.show(bytes, if is_whole { Whole::Yes } else { Whole::No });
        self.lossy |= shown.lossy;
        let mut text = shown.text;
        let cut = match text.char_indices().nth(self.request.line_length) {
            Some((end, _)) => {
                let behind = text[end..].chars().count();
                text.truncate(end);
                if is_whole { behind } else { characters.saturating_sub(self.request.line_length).max(1) }
            }
            None if is_whole => 0,
            None => characters.saturating_sub(text.chars().count()).max(1),
        };
        text.shrink_to_fit();
        self.push(PageLine { text, before: 0, cut });
    }

    fn push(&mut self, line: PageLine) {
        self.lines.push(line);
        self.open = false;
        self.number += 1;
    }

    /// Counts lines behind the page.
    pub(super) fn count(&mut self, step: &[u8]) {
        if step.is_empty() {
            return;
        }
        self.number += self.units.count(step) as u64;
        let last = step.len().saturating_sub(self.units.width());
        self.open = self.units.find(&step[last..]).is_none();
    }

    /// Finishes a page behind which the lines were counted to the end.
    pub(super) fn into_counted_page(self) -> Page {
        let total_lines = Some(self.number - u64::from(!self.open));
        Page { total_lines, ..self.into_page() }
    }

    /// Finishes the page of which all of the text was taken.
    pub(super) fn into_last_page(mut self) -> Page {
        if self.open && self.number < self.request.first_line {
            self.open = false;
            self.number += 1;
        } else if self.open && !self.is_full() {
            self.end_line();
        }
        let (more, total_lines) = (self.open, (!self.open).then(|| self.number - 1));
        Page { more, total_lines, ..self.into_page() }
    }

    /// Finishes a page behind which there is more.
    pub(super) fn into_page(self) -> Page {
        Page {
            first_line: self.request.first_line,
            more: true,
            total_lines: None,
            lines: self.lines,
            form: self.units.form,
            line_ends: self.units.line_ends,
            lossy: self.lossy,
        }
    }
}
