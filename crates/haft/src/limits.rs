//! How much of everything: the numbers of a profile.

use std::time::Duration;

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
    /// Most characters of one line that are shown.
    pub line_length: usize,
    /// Most entries that one listing returns.
    pub list_entries: usize,
    /// Most paths that one search for names returns.
    pub glob_paths: usize,
    /// Most matches that one search of content returns.
    pub grep_matches: usize,
    /// Longest time that one call may execute.
    pub call_time: Duration,
    /// Failures of one tool in a row before the model is told to change its approach.
    pub failures_in_a_row: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            result_whole: 32_000,
            result_head: 24_000,
            result_tail: 8_000,
            read_lines: 2_000,
            line_length: 2_000,
            list_entries: 500,
            glob_paths: 1_000,
            grep_matches: 100,
            call_time: Duration::from_secs(900),
            failures_in_a_row: 3,
        }
    }
}
