//! Limits: the numbers of a profile.

use std::sync::Arc;
use std::time::Duration;

use crate::description::page_style::PageStyle;

/// The limits a session runs under. `haft-config` fills them from a profile and the user's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest result that is shown whole, in characters.
    pub result_whole: usize,
    /// Most characters of a result that are kept from its beginning when it is too long.
    pub result_head: usize,
    /// Most characters of a result that are kept from its end when it is too long.
    pub result_tail: usize,
    /// Most lines that one read returns.
    pub read_lines: usize,
    /// Largest file that may be read, in bytes; nothing means that every file can be read in pages.
    pub read_bytes: Option<u64>,
    /// Most tokens that one call may read, as far as they can be estimated; nothing means no such limit.
    pub read_tokens: Option<usize>,
    /// Which encodings of text are read and edited.
    pub encodings: Encodings,
    /// The line above each of several files that are read together; `{path}` is the file.
    pub read_header: String,
    /// The line behind the last of several files; empty means none.
    pub read_end: String,
    /// The file in which facts are remembered, from the root of the workspace.
    pub memory_file: String,
    /// The line above the facts in that file.
    pub memory_heading: String,
    /// Most characters of one line that are shown.
    pub line_length: usize,
    /// Most entries that one listing returns.
    pub list_entries: usize,
    /// Names that walks over a tree leave out where no ignore file says what to leave out.
    pub usual_excludes: Vec<String>,
    /// What writing does with a file that exists, when the call does not say.
    pub write_mode: WriteMode,
    /// How often the text of an edit may occur, when the call does not say.
    pub edit_count: EditCount,
    /// Whether a file must have been read before a part of it is replaced.
    pub edit_needs: EditNeeds,
    /// What becomes of arguments that a tool does not have.
    pub unknown_keys: UnknownKeys,
    /// How pages of files look.
    pub page_style: Arc<PageStyle>,
    /// Most paths that one search for names returns.
    pub glob_paths: usize,
    /// Most matches that one search of content returns.
    pub grep_matches: usize,
    /// What becomes of definitions whose arguments have no type or no description.
    pub argument_words: ArgumentWords,
    /// Longest time that one call may execute.
    pub call_time: Duration,
    /// How long a command may run, when the call does not say.
    pub command_time: Duration,
    /// The longest time that a call may give a command.
    pub command_time_most: Duration,
    /// Most bytes of a command's output that are kept to be read later.
    pub command_output: u64,
    /// Most bytes of a document of the web that are read, after decompression.
    pub fetch_bytes: usize,
    /// How long fetching a document may take.
    pub fetch_time: Duration,
    /// Failures of one tool in a row before the model is told to change its approach.
    pub failures_in_a_row: usize,
}

/// What writing does with a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// It fails.
    Create,
    /// It replaces the file.
    Overwrite,
    /// It replaces the file if the caller has read it and it has not changed since.
    OverwriteIfRead,
}

/// How often the text of an edit may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditCount {
    /// Exactly once.
    Unique,
    /// The first one is meant.
    First,
}

/// Whether a file must have been read before a part of it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditNeeds {
    /// The caller has read it.
    Read,
    /// Nothing: the text to replace shows what the caller knows.
    Nothing,
}

/// Which encodings of text are read and edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encodings {
    /// All that are known; in UTF-8, bytes that are not text are shown as U+FFFD.
    Any,
    /// UTF-8 without a wrong byte; all else is an error.
    Utf8,
}

/// What becomes of arguments that a tool does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// The call is refused, with the name that is near.
    Refused,
    /// They are left out, which is told.
    Dropped,
}

/// What becomes of a definition with an argument that has no type or no description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentWords {
    /// The tool works, and `haft check` advises to add them.
    Advised,
    /// The tool is not loaded.
    Required,
}

impl Limits {
    /// Fills the numbers of these limits into words: `{grep_matches}` becomes 100.
    pub fn fill(&self, words: &str) -> String {
        if !words.contains('{') {
            return words.to_owned();
        }
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        let write_mode = match self.write_mode {
            WriteMode::Create => "create",
            WriteMode::Overwrite => "overwrite",
            WriteMode::OverwriteIfRead => "overwrite-if-read",
        };
        let edit_count = match self.edit_count {
            EditCount::Unique => "unique",
            EditCount::First => "first",
        };
        [
            ("{read_lines}", self.read_lines.to_string()),
            ("{glob_paths}", self.glob_paths.to_string()),
            ("{grep_matches}", self.grep_matches.to_string()),
            ("{memory_file}", self.memory_file.clone()),
            ("{fetch_time}", seconds(self.fetch_time)),
            ("{command_time}", seconds(self.command_time.min(self.command_time_within_call()))),
            ("{command_time_most}", seconds(self.command_time_within_call())),
            ("{write_mode}", write_mode.to_owned()),
            ("{edit_count}", edit_count.to_owned()),
        ]
        .iter()
        .fold(words.to_owned(), |words, (name, value)| words.replace(name, value))
    }

    /// Returns the longest time that a call may give a command here.
    pub fn command_time_within_call(&self) -> Duration {
        self.command_time_most.min(self.time_within_call())
    }

    /// Returns how long work inside a call may take. It ends before the call does, so that what it changed can be kept.
    pub fn time_within_call(&self) -> Duration {
        self.call_time.saturating_sub(Duration::from_secs(1)).max(self.call_time / 2)
    }

    /// Returns how long lines of a kept output may be: a page cuts longer ones, and has to fit a result.
    pub fn kept_line_length(&self) -> usize {
        self.line_length.min(self.result_whole / 2).max(1)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            result_whole: 32_000,
            result_head: 24_000,
            result_tail: 8_000,
            read_lines: 2_000,
            read_bytes: None,
            read_tokens: None,
            encodings: Encodings::Any,
            read_header: "=== {path} ===".to_owned(),
            read_end: String::new(),
            memory_file: "HAFT_MEMORY.md".to_owned(),
            memory_heading: "## Remembered facts".to_owned(),
            line_length: 2_000,
            list_entries: 500,
            usual_excludes: Vec::new(),
            write_mode: WriteMode::OverwriteIfRead,
            edit_count: EditCount::Unique,
            edit_needs: EditNeeds::Read,
            unknown_keys: UnknownKeys::Refused,
            page_style: Arc::default(),
            glob_paths: 1_000,
            grep_matches: 100,
            argument_words: ArgumentWords::Advised,
            call_time: Duration::from_secs(900),
            command_time: Duration::from_secs(120),
            command_time_most: Duration::from_secs(600),
            command_output: 64 * 1024 * 1024,
            fetch_bytes: 5_000_000,
            fetch_time: Duration::from_secs(30),
            failures_in_a_row: 3,
        }
    }
}
