//! Summarises a call, or a whole run, in one line.

use std::fmt;
use std::time::Duration;

use haft_agent::memory::compaction::CompactionReport;
use haft_contract::outcome::result::{Status, ToolResult};
use haft_contract::text::grouped::GroupedNumber;

use super::bounded_text::{columns_in, one_line_of};

/// Longest line of a call that no terminal shows.
const USUAL: usize = 100;
/// The narrowest terminal for which lines are cut.
const NARROWEST: usize = 20;
/// So much of the name of a tool is always shown.
const SHORTEST_NAME: usize = 16;
/// Longest name of a tool among others.
const LONGEST_NAME: usize = 40;
/// Most tools that are named with their times.
const MOST_TOOLS: usize = 12;

/// Returns the line of a call that has ended, or was not run; and whether it went well.
#[must_use]
pub fn call_line((tool, about): (&str, &str), result: Option<&ToolResult>, columns: usize) -> (bool, String) {
    let (is_good, ended) = match result {
        None => (false, "not run".to_owned()),
        Some(result) => (result.status == Status::Ok, ending(result)),
    };
    (is_good, line_of(tool, about, &ended, columns.clamp(NARROWEST, USUAL)))
}

/// Puts the parts of a line together. A name takes half of the room where something else is to be said, and is known
/// by its first letters where there is hardly any.
fn line_of(tool: &str, about: &str, ended: &str, columns: usize) -> String {
    let room = columns.saturating_sub(columns_in(ended) + "•  ()".chars().count());
    let most = if about.is_empty() { room } else { room / 2 };
    let tool = one_line_of(tool, most.max(SHORTEST_NAME));
    let room = room.saturating_sub(columns_in(&tool) + 1);
    let about = if about.is_empty() { String::new() } else { format!(" {}", one_line_of(about, room)) };
    one_line_of(&format!("• {tool}{about} ({ended})"), columns)
}

fn ending(result: &ToolResult) -> String {
    let time = format!("{:.1} s", result.took.as_secs_f64());
    match (result.status, &result.error) {
        (Status::Ok, _) => match result.exit_code {
            Some(code) if code != 0 => format!("exit code {code}, {time}"),
            Some(_) | None => time,
        },
        (status, Some(error)) => format!("{}: {}, {time}", status.code(), error.kind.code()),
        (status, None) => format!("{}, {time}", status.code()),
    }
}

/// Counts the calls of each tool and sums up their time.
#[derive(Default)]
pub struct ToolCallTally(Vec<(String, u32, Duration)>);

impl ToolCallTally {
    /// Counts a call.
    pub fn note(&mut self, tool: &str, took: Duration) {
        match self.0.iter_mut().find(|(name, ..)| name == tool) {
            Some((_, times, total)) => {
                *times += 1;
                *total += took;
            }
            None => self.0.push((tool.to_owned(), 1, took)),
        }
    }
}

impl fmt::Display for ToolCallTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, times, total): &(String, u32, Duration)| {
            format!("{} {times}× {:.1} s", one_line_of(name, LONGEST_NAME), total.as_secs_f64())
        };
        f.write_str(&self.0.iter().take(MOST_TOOLS).map(one).collect::<Vec<_>>().join(", "))?;
        match self.0.len().saturating_sub(MOST_TOOLS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Says what a compaction left out.
#[must_use]
pub fn room_made(done: &CompactionReport) -> String {
    let (before, now) = (GroupedNumber(done.tokens_before), GroupedNumber(done.tokens_now));
    let left_out = [(done.results, "result"), (done.replies, "reply"), (done.arguments, "call's arguments")];
    let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = left_out
        .map(|(count, what)| match (count, what) {
            (1, what) => format!("1 {what}"),
            (count, "reply") => format!("{count} replies"),
            (count, "result") => format!("{count} results"),
            (count, _) => format!("the arguments of {count} calls"),
        })
        .collect();
    format!("Shortened the conversation: left out {}; {before} → {now} tokens.", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_call_is_one_line_and_fits_whatever_the_call_is_named() {
        assert_eq!(line_of("read_file", "a.txt", "0.0 s", 80), "• read_file a.txt (0.0 s)");
        assert_eq!(line_of("glob", "", "0.0 s", 80), "• glob (0.0 s)");
        let forged = "read_file a.txt (0.0 s)\n• bash cargo test";
        assert_eq!(line_of(forged, "", "not run", 80), "• read_file a.txt (0.0 s)\\n• bash cargo test (not run)");
        for name in [forged, &"n".repeat(3_000), &"漢".repeat(90), "a\u{2028}\u{202e}b\rc", ""] {
            for about in ["", "one\ntwo", &"x ".repeat(500)] {
                for columns in [20, 40, 80, 100] {
                    let line = line_of(name, about, "refused: needs_approval, 0.0 s", columns);
                    assert!(columns_in(&line) <= columns && !line.contains('\n'), "{columns}: {line}");
                }
            }
        }
        let line = line_of(&"n".repeat(3_000), &"x".repeat(300), "0.0 s", 40);
        assert!(line.starts_with("• nnnnn") && line.ends_with("… (0.0 s)"), "{line}");
    }

    #[test]
    fn the_tools_of_a_run_are_named_on_one_line() {
        let mut tools = ToolCallTally::default();
        (0..15).for_each(|number| tools.note(&format!("t{number}\n{}", "x".repeat(100)), Duration::ZERO));
        let shown = tools.to_string();
        assert!(!shown.contains('\n') && shown.ends_with(" and 3 more") && shown.len() < 800, "{shown}");
    }
}
