//! The question as rows for a terminal: what would happen, why haft asks, and the possible answers.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use haft_contract::plan::{FileDiff, Preview};
use haft_policy::decision::Class;
use haft_policy::grant::GrantScope;
use haft_runtime::asking::approval::{ApprovalRequest, AskedCommand, AskedEffect, Offer};

use super::drawing::marked_command;
use super::drawing::marked_command::Marks;
use super::drawing::region::Colours;
use super::drawing::shown_change;
use crate::screen::safe;
use crate::shown_diff::{self, LONGEST_LINE};
use haft_host::texts::argument_lines::argument_lines;
use haft_host::texts::bounded_text::shortened_line;
use haft_host::texts::wrapped::wrapped;

/// Most lines of a preview.
const MOST_LINES: usize = 60;

/// A terminal, as far as the question cares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paper {
    pub(crate) columns: usize,
    pub(crate) marks: Marks,
}

impl Paper {
    /// Returns the rows of the question.
    pub(crate) fn question(self, request: &ApprovalRequest) -> Vec<String> {
        let mut rows = self.body(request, MOST_LINES);
        rows.extend(self.answers(request));
        if left_out(request, MOST_LINES) > 0 {
            rows.push("v  view everything first".to_owned());
        }
        rows
    }

    /// Returns the rows of the question with its whole preview, without the answers.
    pub(crate) fn everything(self, request: &ApprovalRequest) -> Vec<String> {
        self.body(request, usize::MAX)
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
    pub(crate) fn to_paste(self, rule: &str) -> Vec<String> {
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
        rows.extend(marked_command::rows(command, self.columns, self.marks));
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
pub(in crate::terminal) fn question_body(
    request: &ApprovalRequest,
    (columns, colours): (usize, Colours),
    most_lines: usize,
) -> (Vec<String>, usize) {
    let marks = if colours == Colours::On { Marks::Colours } else { Marks::Signs };
    (Paper { columns, marks }.body(request, most_lines), left_out(request, most_lines))
}

/// Returns how many lines of a preview are not shown, or not shown whole.
fn left_out(request: &ApprovalRequest, most_lines: usize) -> usize {
    let of_text = |text: &str| {
        let is_cut = |line: &&str| matches!(shortened(line, most_lines), Cow::Owned(_));
        let cut = text.lines().take(most_lines).filter(is_cut).count();
        text.lines().count().saturating_sub(most_lines) + cut
    };
    match &request.preview {
        _ if request.command.is_some() => 0,
        Preview::Arguments => of_text(&argument_lines(&request.arguments).join("\n")),
        Preview::Diff(files) => files.iter().map(|file| shown_diff::not_whole(&file.diff, most_lines)).sum(),
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => of_text(text),
    }
}

fn shortened(line: &str, most_lines: usize) -> Cow<'_, str> {
    if most_lines == usize::MAX { Cow::Borrowed(line) } else { shortened_line(line, LONGEST_LINE) }
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
        Preview::Arguments => argument_lines(&request.arguments).join("\n"),
        Preview::Diff(files) => return files.iter().flat_map(|file| diff_lines(file, most_lines)).collect(),
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => text.clone(),
    };
    let shown = text.lines().take(most_lines).map(|line| escaped(&shortened(line, most_lines)));
    let mut lines: Vec<String> = shown.map(|line| format!("  | {line}")).collect();
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
    escaped(&shortened_line(text, LONGEST_LINE))
}

fn escaped(line: &str) -> String {
    safe(line).replace('\n', "\\n").replace('\t', " ")
}
