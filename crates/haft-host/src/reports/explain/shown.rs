//! Explains a command to people, in a form that is quick to understand on wide and narrow terminals.
//!
//! First come the decision and the command with the deciding parts marked, then what each part would do, the strictest
//! first, then the reason, the alternatives, and how the command would run.

mod marked;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use haft_contract::doors::process::ConfinementLevel;
use haft_contract::doors::reader::Audience;
use haft_contract::files::path::one_line;
use haft_contract::text::visible::visible;
use haft_policy::decision::Decision;
use haft_policy::effect_kind::EffectKind;

use crate::reports::explain::judged::{CommandConfinement, CommandExplanation, JudgedPart};
use crate::texts::bounded_text::{columns_in as columns_of, cut};
use crate::texts::wrapped::wrapped;

/// Narrower than this no screen is taken to be.
const NARROWEST_SCREEN: usize = 20;
/// Most parts that are listed.
const MOST_PARTS: usize = 12;
/// Columns in front of what follows a decision.
const INDENT: usize = 7;
/// Fewest columns for what a part does, in a table.
const NARROWEST: usize = 24;
/// Most characters of a part of the command that are looked at: a thousand parts may each be the whole command.
const LONGEST_PART: usize = 400;
/// Most columns of a part of the command, in a table.
const WIDEST_PART: usize = 26;

/// One line for the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLine {
    pieces: Vec<(Tone, String)>,
}

/// How words look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As usual.
    Plain,
    /// Less important.
    Faint,
    /// Important.
    Strong,
    /// Allowed or added.
    Good,
    /// Denied or removed.
    Bad,
}

impl ShownLine {
    fn with(mut self, tone: Tone, words: impl Into<String>) -> Self {
        self.pieces.push((tone, words.into()));
        self
    }

    fn indented(by: usize) -> Self {
        Self::default().with(Tone::Plain, " ".repeat(by))
    }

    /// Returns its pieces, each with how it looks.
    pub fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, words)| (*tone, words.as_str()))
    }

    /// Returns its words alone.
    #[cfg(test)]
    fn text(&self) -> String {
        self.pieces.iter().map(|(_, words)| words.as_str()).collect::<String>().trim_end().to_owned()
    }
}

/// Returns the lines for a screen of so many columns.
pub fn lines(explained: &CommandExplanation, width: usize) -> Vec<ShownLine> {
    let width = width.max(NARROWEST_SCREEN);
    let mut lines = marked::command(explained, width);
    lines.extend(parts(explained, width));
    let ruling = &explained.ruling;
    lines.extend(said("Why: ", &format!("{} (rule \"{}\")", ruling.reason, ruling.rule), width));
    if ruling.decision != Decision::Allow && !ruling.instead.is_empty() {
        lines.extend(said("Instead: ", &Audience::Person.reads(&ruling.instead), width));
    }
    if ruling.decision != Decision::Deny {
        let when = if ruling.decision == Decision::Ask { "If allowed, it runs: " } else { "It runs: " };
        lines.extend(said(when, &how_it_runs(&explained.confined), width));
    }
    if let Some(session) = &explained.in_session {
        let words = format!("{}. {}", session.decision.code(), session.because.join(" "));
        lines.extend(said("In a session of haft, in the full sandbox: ", &words, width));
    }
    for grant in &explained.grants {
        lines.extend(said("Can be granted: ", grant, width));
    }
    lines
}

fn tone_of(decision: Decision) -> Tone {
    match decision {
        Decision::Allow => Tone::Good,
        Decision::Ask => Tone::Strong,
        Decision::Deny => Tone::Bad,
    }
}

fn parts(explained: &CommandExplanation, width: usize) -> Vec<ShownLine> {
    let mut told = HashSet::new();
    let open = explained.parts.iter().filter(|part| part.ruling.decision != Decision::Allow);
    let open: HashSet<_> = open.map(|part| part.part.clone()).collect();
    // That a part looks around, or only computes, says nothing beside what else it does.
    let matters = |part: &&JudgedPart| !open.contains(&part.part) || !says_little(part);
    let all = explained.parts.iter().filter(matters).map(|part| ExplanationRow::of(&explained.command, part));
    let mut rows: Vec<ExplanationRow> = all.filter(|row| told.insert(row.clone())).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.decision));
    let more = rows.split_off(rows.len().min(MOST_PARTS));
    let mut lines = ExplanationColumns::fitting(&rows, width).map_or_else(
        || rows.iter().flat_map(|row| row.stacked(width)).collect(),
        |table| rows.iter().flat_map(|row| table.lines(row)).collect::<Vec<_>>(),
    );
    if !more.is_empty() {
        let allowed = more.iter().filter(|row| row.decision == Decision::Allow).count();
        lines.extend(said("", &format!("  … and {} more, of which {allowed} are allowed", more.len()), width));
    }
    lines
}

fn says_little(part: &JudgedPart) -> bool {
    let is_plain = part.lists_workspace || part.sort == EffectKind::CommandPrints;
    is_plain && part.ruling.decision == Decision::Allow
}

/// One row of an explanation: a part of the command and what it would do.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ExplanationRow {
    part: String,
    does: String,
    decision: Decision,
    rule: String,
}

impl ExplanationRow {
    fn of(command: &str, part: &JudgedPart) -> Self {
        let text = command.get(part.part.clone()).unwrap_or_default().trim();
        let text = text.char_indices().nth(LONGEST_PART).map_or(text, |(end, _)| &text[..end]);
        Self {
            part: visible(&one_line(text)).into_owned(),
            does: format!("would {}", visible(&one_line(&part.does))),
            decision: part.ruling.decision,
            rule: format!("\"{}\"", visible(&one_line(&part.ruling.rule))),
        }
    }

    /// One below the other, for narrow screens.
    fn stacked(&self, width: usize) -> Vec<ShownLine> {
        let decision = format!("  {:<width$}", self.decision.code(), width = INDENT - 2);
        let first = ShownLine::default().with(tone_of(self.decision), decision);
        let mut lines = vec![first.with(Tone::Strong, cut(&self.part, width - INDENT))];
        let below = |text: &str| wrapped(text, width - INDENT, 0);
        lines.extend(below(&self.does).into_iter().map(|text| ShownLine::indented(INDENT).with(Tone::Plain, text)));
        lines.extend(below(&self.rule).into_iter().map(|text| ShownLine::indented(INDENT).with(Tone::Faint, text)));
        lines
    }
}

/// The columns of the parts, where the screen is wide enough.
struct ExplanationColumns {
    part: usize,
    does: usize,
}

impl ExplanationColumns {
    fn fitting(rows: &[ExplanationRow], width: usize) -> Option<Self> {
        let widest = |of: fn(&ExplanationRow) -> &str| rows.iter().map(|row| columns_of(of(row))).max().unwrap_or(0);
        let part = widest(|row| &row.part).min(WIDEST_PART);
        // Two blanks in front and between, and the longest decision.
        let taken = 2 + part + 2 + 2 + "allow".len() + 2 + widest(|row| &row.rule);
        let does = width.checked_sub(taken)?.min(widest(|row| &row.does));
        (does >= NARROWEST.min(widest(|row| &row.does))).then_some(Self { part, does })
    }

    fn lines(&self, row: &ExplanationRow) -> Vec<ShownLine> {
        let mut does = wrapped(&row.does, self.does, 0).into_iter();
        let padded = |text: &str, to: usize| format!("{text}{}", " ".repeat(to.saturating_sub(columns_of(text))));
        let first = ShownLine::indented(2)
            .with(Tone::Plain, padded(&cut(&row.part, self.part), self.part + 2))
            .with(Tone::Plain, padded(&does.next().unwrap_or_default(), self.does + 2))
            .with(tone_of(row.decision), format!("{:<5}", row.decision.code()))
            .with(Tone::Faint, format!("  {}", row.rule));
        let rest = does.map(|text| ShownLine::indented(self.part + 4).with(Tone::Plain, text));
        std::iter::once(first).chain(rest).collect()
    }
}

/// A word and what follows it, in lines that fit.
fn said(word: &str, text: &str, width: usize) -> Vec<ShownLine> {
    let text = format!("{word}{}", visible(&one_line(text)));
    let mut lines = Vec::new();
    for (number, text) in wrapped(&text, width, 0).into_iter().enumerate() {
        lines.push(match (number, text.strip_prefix(word)) {
            (0, Some(rest)) => ShownLine::default().with(Tone::Strong, word).with(Tone::Plain, rest),
            _ => ShownLine::default().with(Tone::Plain, text),
        });
    }
    lines
}

fn how_it_runs(confined: &CommandConfinement) -> String {
    let sandbox = match confined.required {
        ConfinementLevel::Full => "in the full sandbox",
        ConfinementLevel::Partial => "in at least a partial sandbox",
        ConfinementLevel::None => "without a required sandbox",
    };
    let network = match (confined.network, confined.by_name) {
        (true, true) => "with the network, to the hosts that you allow",
        (false, true) => "network only to hosts that you allow",
        (true, false) => "with the network, to any host",
        (false, false) => "without the network",
    };
    if confined.can_be_undone() {
        format!("{sandbox}, {network}, {}", confined.undo())
    } else {
        format!("{sandbox}, {network}; undo may not cover its changes")
    }
}
