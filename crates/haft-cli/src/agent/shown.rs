//! What a call and a whole run come to, in a line each.

use std::fmt;
use std::time::Duration;

use haft::result::{Status, ToolResult};

use crate::screen::talk_width;

/// Longest line of a call that no terminal shows.
const USUAL: usize = 100;

/// Returns the line of a call that has ended, or was not run; and whether it went well.
pub(super) fn call_line(tool: &str, about: &str, result: Option<&ToolResult>) -> (bool, String) {
    let (is_good, ended) = match result {
        None => (false, "not run".to_owned()),
        Some(result) => (result.status == Status::Ok, ending(result)),
    };
    let room = talk_width().clamp(40, USUAL).saturating_sub(ended.len() + tool.len() + 6);
    let about = if about.is_empty() { String::new() } else { format!(" {}", cut(about, room)) };
    (is_good, format!("• {tool}{about} ({ended})"))
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

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How often each tool was called, and how long that took.
#[derive(Default)]
pub(super) struct Tools(Vec<(String, u32, Duration)>);

impl Tools {
    pub(super) fn note(&mut self, tool: &str, took: Duration) {
        match self.0.iter_mut().find(|(name, ..)| name == tool) {
            Some((_, times, total)) => {
                *times += 1;
                *total += took;
            }
            None => self.0.push((tool.to_owned(), 1, took)),
        }
    }
}

impl fmt::Display for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one =
            |(name, times, total): &(String, u32, Duration)| format!("{name} {times}× {:.1} s", total.as_secs_f64());
        f.write_str(&self.0.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}
