//! Asks the person at the terminal.
//!
//! The question shows the exact call, what it would do and why it is asked. Only the listed
//! answers count; anything else is asked again, and the end of input means no.

use std::io::{self, BufRead, IsTerminal, Write};

use haft::BoxFuture;
use haft::plan::{FileDiff, Preview};
use haft_runtime::approval::{ApprovalRequest, Approver, Offer, Verdict};

use crate::screen::safe;
use crate::shown_diff;

/// Most lines of a preview.
const MOST_LINES: usize = 60;
/// Most characters of a line.
const LONGEST_LINE: usize = 2_000;

/// Returns whether somebody can be asked: both what we write and what we read is a terminal.
pub(crate) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks at the terminal.
pub(crate) struct AtTerminal;

impl Approver for AtTerminal {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let request = request.clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                // Not locked: whoever interrupts the question has something to say while this waits for an answer.
                converse(&request, &mut io::stdin().lock(), &mut anstream::stderr())
            });
            match asked.await {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(_)) | Err(_) => Verdict::NoAnswer { how: "answer the question at a terminal".into() },
            }
        })
    }
}

/// Shows the question and reads until there is an answer.
fn converse(request: &ApprovalRequest, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Verdict> {
    for line in question(request) {
        writeln!(output, "{line}")?;
    }
    loop {
        write!(output, "> ")?;
        output.flush()?;
        let mut answer = String::new();
        if input.read_line(&mut answer)? == 0 {
            return Ok(Verdict::Refuse { note: None });
        }
        match understood(answer.trim(), &request.offers) {
            Some(verdict) => return Ok(verdict),
            None => writeln!(output, "That is none of the answers.")?,
        }
    }
}

fn understood(answer: &str, offers: &[Offer]) -> Option<Verdict> {
    let (word, note) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
    match (word, &note) {
        ("y" | "yes", None) => Some(Verdict::AllowOnce),
        ("n" | "no", _) => Some(Verdict::Refuse { note }),
        ("s" | "stop", None) => Some(Verdict::StopTurn),
        (number, None) => {
            let chosen = number.parse::<usize>().ok()?.checked_sub(1)?;
            offers.get(chosen).map(|offer| Verdict::AllowFor(offer.scope.clone()))
        }
        _ => None,
    }
}

fn question(request: &ApprovalRequest) -> Vec<String> {
    let mut lines = vec![format!("{} ({}) would:", safe(&request.title), safe(&request.tool))];
    lines.extend(request.effects.iter().map(|effect| format!("  {}", one_line(effect))));
    lines.extend(preview_lines(request));
    lines.push(format!("Why you are asked: the rule \"{}\".", safe(&request.ruling.rule)));
    lines.push("y  yes, this once".to_owned());
    for (number, offer) in (1..).zip(&request.offers) {
        lines.push(format!("{number}  yes, and {}", one_line(&offer.words)));
    }
    lines.push("n  no (you may add a word for the model: n use the other file)".to_owned());
    lines.push("s  no, and stop".to_owned());
    lines
}

fn preview_lines(request: &ApprovalRequest) -> Vec<String> {
    let text = match &request.preview {
        Preview::Arguments => serde_json::to_string_pretty(&request.arguments).unwrap_or_default(),
        Preview::Diff(files) => return files.iter().flat_map(diff_lines).collect(),
        Preview::Command(text) => return command_lines(text),
        Preview::Request(text) | Preview::Text(text) => text.clone(),
    };
    let mut lines: Vec<String> = text.lines().take(MOST_LINES).map(|line| format!("  | {}", one_line(line))).collect();
    let left = text.lines().count().saturating_sub(MOST_LINES);
    if left > 0 {
        lines.push(format!("  | [{left} more lines]"));
    }
    lines
}

/// A command is shown whole, however long it is: whoever says yes says it to all of it.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let characters: Vec<char> = line.chars().collect();
        let mut parts = characters.chunks(LONGEST_LINE).map(|part| part.iter().collect::<String>());
        lines.push(format!("  | {}", safe(&parts.next().unwrap_or_default())));
        lines.extend(parts.map(|part| format!("  … {}", safe(&part))));
    }
    lines
}

fn diff_lines(file: &FileDiff) -> Vec<String> {
    let counts = format!("+{} −{} lines", file.diff.added, file.diff.removed);
    let mut lines = vec![format!("  {}  {counts}", one_line(&file.path))];
    lines.extend(file.notes.iter().map(|note| format!("  {}", one_line(note))));
    let shown = shown_diff::lines(&file.diff, MOST_LINES);
    lines.extend(shown.iter().map(|line| format!("  {}", line.part().rendered())));
    lines
}

fn one_line(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST_LINE).collect();
    let more = if cut.len() < text.len() { " […]" } else { "" };
    format!("{}{more}", safe(&cut).replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::call::CallId;
    use haft_policy::decision::{Class, Decision, Ruling};
    use haft_policy::grant::GrantScope;
    use serde_json::json;

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            call: CallId::new("1"),
            tool: "write_file".into(),
            title: "Write file".into(),
            arguments: json!({ "path": "a\u{1b}[2J" }),
            effects: vec!["create a\u{1b}[2J\nrm".into()],
            preview: Preview::Text("x\u{202e}y".into()),
            ruling: Ruling {
                decision: Decision::Ask,
                class: Class::Ordinary,
                rule: "changes".into(),
                reason: "It would create a.".into(),
                instead: String::new(),
            },
            offers: vec![Offer { words: GrantScope::ChangesInside.to_string(), scope: GrantScope::ChangesInside }],
        }
    }

    fn answered(input: &str) -> (Verdict, String) {
        let mut output = Vec::new();
        let verdict = converse(&request(), &mut input.as_bytes(), &mut output).expect("memory can be written");
        (verdict, String::from_utf8_lossy(&output).into_owned())
    }

    #[test]
    fn only_listed_answers_count_and_the_end_of_input_means_no() {
        assert_eq!(answered("y\n").0, Verdict::AllowOnce);
        assert_eq!(answered("1\n").0, Verdict::AllowFor(GrantScope::ChangesInside));
        assert_eq!(answered("n use b instead\n").0, Verdict::Refuse { note: Some("use b instead".into()) });
        assert_eq!(answered("s\n").0, Verdict::StopTurn);
        assert_eq!(answered("").0, Verdict::Refuse { note: None });
        assert_eq!(answered("\n\nsure\n2\n0\nyes please\ny\n").0, Verdict::AllowOnce);
    }

    #[test]
    fn a_command_is_shown_whole_however_long_it_is() {
        let command = format!("{}\n{}rm -rf x\r\n", "true\n".repeat(500), "a".repeat(5_000));
        let lines = command_lines(&command);
        assert_eq!(lines.len(), 505);
        assert!(lines[503].ends_with("rm -rf x\\u{d}"), "{}", lines[503]);
    }

    #[test]
    fn the_question_shows_everything_and_nothing_can_deceive() {
        let shown = answered("n\n").1;
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
        assert!(shown.contains("create a\\u{1b}[2J\\nrm"), "{shown}");
        assert!(shown.contains("1  yes, and all changes to files of the workspace in this session"), "{shown}");
    }
}
