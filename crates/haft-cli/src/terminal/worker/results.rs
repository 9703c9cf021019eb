//! Results as lines: a title, then one to three lines for a model's call, or everything for a person's own.

use haft_contract::outcome::result::{Did, Status, ToolResult};
use haft_contract::plan::FileDiff;
use haft_host::host::Host;
use haft_host::texts::bounded_text::one_line_of;
use haft_host::texts::result_preview::{call_title, result_preview};
use haft_runtime::catalogue::catalog::Catalog;

use crate::screen::safe;
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::drawing::shown_change;
use haft_host::changes::change_records::{ContentComparison, between};

/// Most lines of a result of a model's call.
const MOST_PREVIEW: usize = 3;
/// Most files of a change without a question, and most lines of each.
const MOST_FILES: usize = 3;
const MOST_CHANGED: usize = 20;
/// Most lines of a result of a person's own call.
const MOST_LINES: usize = 400;
/// Longest text about a call in its title, in columns.
const LONGEST_ABOUT: usize = 200;

/// A call, and how it went.
pub(super) struct ShownCall<'a> {
    pub(super) tool: &'a str,
    pub(super) about: &'a str,
    pub(super) result: &'a ToolResult,
}

/// Returns what is shown of a call that a model made: a title, and the few lines in which its tool says how it went.
pub(super) fn short(call: &ShownCall<'_>, catalog: &Catalog, columns: usize) -> Vec<String> {
    let ShownCall { tool, about, result } = *call;
    let mut lines = vec![String::new(), title((&call_title(catalog, tool), about), result, columns)];
    let ink = if result.error.is_some() { Ink::Bad } else { Ink::Faint };
    let preview = result_preview(catalog, tool, result, MOST_PREVIEW);
    lines.extend(preview.iter().map(|line| format!("  {}", paint(ink, line))));
    lines
}

/// Returns the differences that a call made, for a change that no question has shown before.
pub(super) fn changed(host: &Host, result: &ToolResult) -> Vec<String> {
    let Did::Changed { change_set: Some(number), .. } = &result.did else { return Vec::new() };
    let Ok((_, changes)) = host.history.diff(Some(number.0)) else { return Vec::new() };
    let mut lines = Vec::new();
    for change in changes.iter().take(MOST_FILES) {
        if let ContentComparison::Diff(mut diff) = between(&change.before, &change.after) {
            host.runtime.redactor().redact_diff(&mut diff);
            let path = host.runtime.redactor().redact_known(&change.path).into_owned();
            lines.push(format!("  {}", paint(Ink::Faint, &path)));
            let file = FileDiff { path, diff, notes: Vec::new() };
            lines.extend(shown_change::lines(&file, MOST_CHANGED).iter().map(|line| format!("  {line}")));
        }
    }
    if let more @ 1.. = changes.len().saturating_sub(MOST_FILES) {
        lines.push(paint(Ink::Faint, &format!("  [{more} more files: /diff {}]", number.0)));
    }
    lines
}

/// Returns what is shown of a call that a person made.
pub(super) fn whole(call: &ShownCall<'_>, catalog: &Catalog, columns: usize) -> Vec<String> {
    let ShownCall { tool, about, result } = *call;
    let mut lines = vec![title((&call_title(catalog, tool), about), result, columns)];
    match &result.error {
        Some(error) => {
            lines.extend(result.text().lines().map(|line| paint(Ink::Bad, line)));
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let more = [error.detail.clone(), cause].into_iter().flatten();
            lines.extend(more.flat_map(|more| more.lines().map(|line| paint(Ink::Faint, line)).collect::<Vec<_>>()));
        }
        None => {
            let text = result.display.clone().unwrap_or_else(|| result.text());
            let text = safe(&text);
            lines.extend(text.lines().take(MOST_LINES).map(str::to_owned));
            if let more @ 1.. = text.lines().count().saturating_sub(MOST_LINES) {
                lines.push(paint(Ink::Faint, &format!("[{more} more lines; \"haft call\" shows them all]")));
            }
        }
    }
    lines
}

/// Returns the line of a call that could not be made.
pub(super) fn refused(error: &anyhow::Error) -> String {
    paint(Ink::Bad, &format!("haft: {error:#}"))
}

/// Returns the line of a call that was not run.
pub(super) fn not_run(title: &str, why: &str) -> Vec<String> {
    let title = format!("{} {}", paint(Ink::Bad, "●"), paint(Ink::Strong, title));
    vec![String::new(), title, format!("  {}", paint(Ink::Bad, why.lines().next().unwrap_or_default()))]
}

fn title((name, about): (&str, &str), result: &ToolResult, columns: usize) -> String {
    let is_good = result.status == Status::Ok && result.exit_code.is_none_or(|code| code == 0);
    let mut facts = Vec::new();
    match (result.status, result.exit_code) {
        (Status::Ok, Some(code)) if code != 0 => facts.push(format!("exit code {code}")),
        (Status::Ok, _) => {}
        (status, _) => facts.push(status.code().replace('_', " ")),
    }
    if let Some(level) = result.sandbox {
        facts.push(format!("sandbox: {level}"));
    }
    if let Some(job) = &result.job {
        facts.push(format!("job {job}"));
    }
    let hosts: Vec<String> = result.network.iter().take(3).map(|host| host.host.clone()).collect();
    facts.extend((!hosts.is_empty()).then(|| hosts.join(", ")));
    facts.push(format!("{:.1} s", result.took.as_secs_f64()));
    if let Did::Changed { change_set: Some(number), .. } = &result.did {
        facts.push(format!("/undo {number}"));
    }
    let facts = facts.join(" · ");
    let used = name.chars().count() + facts.chars().count() + "●   ()".len();
    let room = columns.saturating_sub(used).clamp(12, LONGEST_ABOUT);
    let about = if about.is_empty() { String::new() } else { format!(" {}", one_line_of(about, room)) };
    let mark = if is_good { paint(Ink::Good, "●") } else { paint(Ink::Bad, "●") };
    let name = paint(Ink::Strong, name);
    format!("{mark} {name}{} {}", paint(Ink::Plain, &about), paint(Ink::Faint, &format!("({facts})")))
}
