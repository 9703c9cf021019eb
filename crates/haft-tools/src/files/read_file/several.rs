//! Reads several files into one result.
//!
//! The files share the room of the result. A small file leaves its unused room to the large ones, and a large file ends
//! with the offset to continue from. haft does not read a file for which there is no room, because a caller that has read
//! a file may overwrite it.

use haft_contract::files::path::one_line;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::json;

use super::PageReader;
use super::globs::{GlobExpansion, GlobOptions, expanded, listed};
use super::shown_page::{Among, ShownPage};
use super::source::ReadSource;

/// Least room for a file that does not fit as a whole, in characters.
const LEAST_SHARE: usize = 1_000;

/// Reads a page of each; one that cannot be read does not stop the others.
pub(super) async fn read_several(
    mut reading: PageReader<'_>,
    sources: Vec<ReadSource>,
    options: &GlobOptions,
) -> Result<ToolOutput, ToolError> {
    let cx = reading.cx;
    let GlobExpansion { files, mut notes } = expanded(cx, sources, options).await?;
    let limited = reading.limited;
    notes.extend(limited.map(|limited| format!("[{limited}]\n")));
    let mut result = Several { cx, entries: Vec::new(), needed: 0, notes, not_read: Vec::new() };
    let mut first_error = None;
    let asked = files.len();
    for source in files {
        let path = source.path();
        let header = result.header(&path);
        if !result.has_room_for(&header) {
            result.not_read.push(one_line(&path).into_owned());
            continue;
        }
        let body = match reading.read(source).await {
            Ok(page) if asked > 1 => FileSectionBody::Page(page.among(Among::Others)),
            Ok(page) => FileSectionBody::Page(page),
            // Once the call was stopped, the files that are left are not errors of their own.
            Err(error) if error.kind == ErrorKind::Cancelled => {
                return Err(error.with_so_far(ToolOutput::text(result.into_text())));
            }
            Err(error) => match binary_words(cx, &error) {
                Some(words) => FileSectionBody::Said(words),
                None => {
                    let words = format!("Error: {error}\n");
                    first_error.get_or_insert(error);
                    FileSectionBody::Said(words)
                }
            },
        };
        result.add(header, body);
    }
    let pages = result.entries.iter().filter(|entry| matches!(entry.body, FileSectionBody::Page(_))).count();
    let data = json!({ "files_read": pages, "files_asked": asked });
    let output = ToolOutput::text(result.into_text()).with_data(data).with_limited(limited);
    match first_error {
        // When no file could be read, the call did not work, and says so for every one of them.
        Some(error) if pages == 0 => Err(error.with_so_far(output)),
        _ => Ok(output),
    }
}

/// What is said in the place of a file that is not text, where that is an answer like any other.
fn binary_words(cx: &RunContext<'_>, error: &ToolError) -> Option<String> {
    let words = cx.limits().page_style.binary.as_ref().filter(|_| error.kind == ErrorKind::Binary)?;
    Some(words.replace("{what}", &error.what) + "\n")
}

/// What was read, and what was not.
struct Several<'a> {
    cx: &'a RunContext<'a>,
    entries: Vec<FileSection>,
    /// How many characters the entries need at least.
    needed: usize,
    notes: Vec<String>,
    /// The files that there was no room for.
    not_read: Vec<String>,
}

struct FileSection {
    header: String,
    body: FileSectionBody,
}

enum FileSectionBody {
    Page(ShownPage),
    /// Words in the place of a page.
    Said(String),
}

impl FileSectionBody {
    fn length(&self) -> usize {
        match self {
            FileSectionBody::Page(page) => page.length(),
            FileSectionBody::Said(words) => words.chars().count(),
        }
    }

    /// Returns how many characters are needed at least.
    fn least(&self) -> usize {
        match self {
            FileSectionBody::Page(page) => page.length().min(LEAST_SHARE),
            FileSectionBody::Said(words) => words.chars().count(),
        }
    }
}

impl Several<'_> {
    fn header(&self, path: &str) -> String {
        let gap = if self.entries.is_empty() { "" } else { "\n" };
        let header = self.cx.limits().read_header.replace("{path}", &one_line(path));
        format!("{gap}{header}\n")
    }

    /// Returns the characters for files: the whole result but its last lines.
    fn room(&self, last_lines: usize) -> usize {
        let notes: usize = self.notes.iter().map(|note| note.chars().count()).sum();
        let taken = notes + self.cx.limits().read_end.chars().count() + 1 + last_lines;
        self.cx.limits().result_whole.saturating_sub(taken)
    }

    /// How many characters the names of files that were not read may take.
    fn room_for_names(&self) -> usize {
        self.cx.limits().result_whole / 8
    }

    fn has_room_for(&self, header: &str) -> bool {
        let needed = self.needed + header.chars().count() + LEAST_SHARE;
        // Once a file was left out, those behind it are too: so the names go on where the result ends.
        self.entries.is_empty() || (self.not_read.is_empty() && needed <= self.room(self.room_for_names()))
    }

    fn add(&mut self, header: String, body: FileSectionBody) {
        self.needed += header.chars().count() + body.least();
        self.entries.push(FileSection { header, body });
    }

    fn into_text(mut self) -> String {
        let not_read = self.words_of_not_read();
        self.share_room(self.room(not_read.chars().count()));
        let mut text = String::new();
        for FileSection { header, body } in &self.entries {
            text.push_str(header);
            match body {
                FileSectionBody::Page(page) => text.push_str(&page.text()),
                FileSectionBody::Said(words) => text.push_str(words),
            }
        }
        self.notes.iter().for_each(|note| text.push_str(note));
        text.push_str(&not_read);
        let end = &self.cx.limits().read_end;
        if !end.is_empty() {
            text.push_str(end);
            text.push('\n');
        }
        text
    }

    fn words_of_not_read(&self) -> String {
        if self.not_read.is_empty() {
            return String::new();
        }
        let were = if self.not_read.len() == 1 { "was" } else { "were" };
        let files = GroupedNumber(self.not_read.len() as u64).of("file");
        let names = listed(&self.not_read, self.room_for_names().saturating_sub(120));
        format!("[{files} {were} not read, because the result is full: {names}; go on with these as \"paths\"]\n")
    }

    /// Ends the pages so that everything fits: all have the same share, and who needs less leaves the rest.
    fn share_room(&mut self, room: usize) {
        let headers: usize = self.entries.iter().map(|entry| entry.header.chars().count()).sum();
        let mut lengths: Vec<usize> = self.entries.iter().map(|entry| entry.body.length()).collect();
        lengths.sort_unstable();
        let mut room = room.saturating_sub(headers);
        for (index, length) in lengths.iter().enumerate() {
            let share = room / (lengths.len() - index);
            if *length > share {
                self.cut_to(share);
                return;
            }
            room -= length;
        }
    }

    fn cut_to(&mut self, share: usize) {
        for entry in &mut self.entries {
            if let FileSectionBody::Page(page) = &mut entry.body {
                page.fit(share, self.cx);
            }
        }
    }
}
