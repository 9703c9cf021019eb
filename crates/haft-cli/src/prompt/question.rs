//! The question as rows for a terminal: what would happen, why it is asked, and the answers there are.

use anstyle::{AnsiColor, Style};
use haft_contract::plan::{FileDiff, Preview};
use haft_policy::decision::Class;
use haft_policy::grant::GrantScope;
use haft_runtime::approval::{ApprovalRequest, AskedCommand, AskedEffect, Offer};

use super::marked::{self, Marks};
use crate::screen::safe;
use crate::terminal::shown_change;
use haft_host::wrapped::wrapped;

/// Most lines of a preview.
const MOST_LINES: usize = 60;
/// Most characters of a line.
const LONGEST_LINE: usize = 2_000;

/// A terminal, as far as the question cares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    pub(super) columns: usize,
    pub(super) marks: Marks,
}

impl Paper {
    /// Returns the rows of the question.
    pub(super) fn question(self, request: &ApprovalRequest) -> Vec<String> {
        let mut rows = self.body(request, MOST_LINES);
        rows.extend(self.answers(request));
        rows
    }

    /// Returns the rows without the answers, with at most so many lines of a preview.
    fn body(self, request: &ApprovalRequest, most_lines: usize) -> Vec<String> {
        let mut rows = match &request.command {
            Some(command) => self.command(request, command),
            None => self.call(request, most_lines),
        };
        rows.extend(self.said(&why(request), 2));
        rows
    }

    /// Returns the rows that show the rule by which this is never asked again.
    pub(super) fn to_paste(self, rule: &str) -> Vec<String> {
        let faint = Style::new().dimmed();
        let mut lines = vec!["To stop this question, add this to rules.toml:".to_owned()];
        lines.extend(rule.lines().map(|line| format!("  {}", safe(line))));
        lines.iter().map(|line| format!("{faint}{line}{faint:#}")).collect()
    }

    fn call(self, request: &ApprovalRequest, most_lines: usize) -> Vec<String> {
        let mut rows = self.said(&format!("{} ({}) would:", safe(&request.title), safe(&request.tool)), 2);
        rows.extend(request.effects.iter().flat_map(|effect| self.effect(effect)));
        rows.extend(preview_lines(request, most_lines));
        rows
    }

    fn command(self, request: &ApprovalRequest, command: &AskedCommand) -> Vec<String> {
        let mut rows = self.said(&format!("{} ({}) would run:", safe(&request.title), safe(&request.tool)), 2);
        if let Preview::Command(text) = &request.preview {
            let notes = text.strip_suffix(command.text.as_str()).unwrap_or_default();
            rows.extend(notes.lines().flat_map(|note| self.said(&format!("  {}", safe(note)), 4)));
        }
        rows.extend(marked::rows(command, self.columns, self.marks));
        rows.push("It would:".to_owned());
        rows.extend(request.effects.iter().flat_map(|effect| self.effect(effect)));
        rows.extend(request.besides.iter().flat_map(|words| self.said(&format!("  also {}", one_line(words)), 4)));
        rows.extend(self.said(&format!("Protection: {}.", one_line(&command.around)), 2));
        rows
    }

    fn effect(self, effect: &AskedEffect) -> Vec<String> {
        let words = one_line(&effect.words);
        match effect.class {
            Class::Ordinary => self.said(&format!("  {words}"), 4),
            Class::Dangerous => {
                let style = AnsiColor::Red.on_default().bold();
                let rows = self.said(&format!("  dangerous: {words}"), 4);
                rows.into_iter().map(|row| format!("{style}{row}{style:#}")).collect()
            }
        }
    }

    fn answers(self, request: &ApprovalRequest) -> Vec<String> {
        let mut rows = vec!["y  yes, this once".to_owned()];
        for (number, offer) in (1..).zip(&request.offers) {
            rows.extend(self.said(&format!("{number}  yes, and don't ask again for {}", scope_words(offer)), 3));
            if !offer.would_have_allowed.is_empty() {
                let examples = one_line(&offer.would_have_allowed.join("; "));
                rows.extend(self.said(&format!("   (would also have allowed: {examples})"), 4));
            }
        }
        if let Some(always) = request.always() {
            rows.extend(self.said(&format!("a  always: {}", one_line(&always)), 3));
        }
        rows.extend(self.said("n  no (you may add a message for the model: n use the other file)", 3));
        rows.push("s  no, and stop".to_owned());
        rows
    }

    fn said(self, text: &str, indent: usize) -> Vec<String> {
        wrapped(text, self.columns, indent)
    }
}

fn why(request: &ApprovalRequest) -> String {
    let ruling = &request.ruling;
    format!("Why you are asked: the rule \"{}\". {}", safe(&ruling.rule), one_line(&ruling.reason))
}

/// Returns a question without its answers, for a terminal of so many columns with or without colours, and how many lines of
/// its preview are left out.
pub(crate) fn question_body(
    request: &ApprovalRequest,
    (columns, has_colours): (usize, bool),
    most_lines: usize,
) -> (Vec<String>, usize) {
    let marks = if has_colours { Marks::Colours } else { Marks::Signs };
    let left_out = match &request.preview {
        _ if request.command.is_some() => 0,
        Preview::Arguments => 0,
        Preview::Diff(files) => {
            let lines = |file: &FileDiff| file.diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
            files.iter().map(|file| lines(file).saturating_sub(most_lines)).sum()
        }
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => {
            text.lines().count().saturating_sub(most_lines)
        }
    };
    (Paper { columns, marks }.body(request, most_lines), left_out)
}

/// The command stands above, so that its text is not said twice.
pub(crate) fn scope_words(offer: &Offer) -> String {
    match &offer.scope {
        scope @ GrantScope::Command { .. } => one_line(&scope.without_text()),
        _ => one_line(&offer.words),
    }
}

fn preview_lines(request: &ApprovalRequest, most_lines: usize) -> Vec<String> {
    let text = match &request.preview {
        Preview::Arguments => serde_json::to_string_pretty(&request.arguments).unwrap_or_default(),
        Preview::Diff(files) => return files.iter().flat_map(|file| diff_lines(file, most_lines)).collect(),
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => text.clone(),
    };
    let mut lines: Vec<String> = text.lines().take(most_lines).map(|line| format!("  | {}", one_line(line))).collect();
    let left = text.lines().count().saturating_sub(most_lines);
    if left > 0 {
        lines.push(format!("  | [{left} more lines]"));
    }
    lines
}

fn diff_lines(file: &FileDiff, most_lines: usize) -> Vec<String> {
    let counts = format!("+{} −{} lines", file.diff.added, file.diff.removed);
    let mut lines = vec![format!("  {}  {counts}", one_line(&file.path))];
    lines.extend(file.notes.iter().map(|note| format!("  {}", one_line(note))));
    lines.extend(shown_change::lines(file, most_lines).iter().map(|line| format!("  {line}")));
    lines
}

fn one_line(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST_LINE).collect();
    let more = if cut.len() < text.len() { " […]" } else { "" };
    format!("{}{more}", safe(&cut).replace('\n', "\\n").replace('\t', " "))
}
