//! `haft undo --hunk` at a terminal: shows the hunks one by one, and undoes the chosen ones together at the end.

use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::bail;
use haft_contract::files::path::one_line;
use haft_contract::text::diff::Diff;
use haft_host::changes::hunk_choice::{HunkChoice, OfferedHunk};
use haft_host::opening::rescue::Rescue;
use haft_workspace::history::{Scope, UndoRequest, UndoSelection};

use super::{mode, refused, told};
use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::{forget_what_was_typed, somebody_is_there};
use crate::screen::{StyledText, talk};
use crate::shown_diff;
use haft_host::calling::user_questions::typed_line;

/// What the answers mean.
const HELP: &str = "y - undo this hunk
n - leave this hunk
s - split this hunk into smaller ones
q - leave this hunk and all others; undo those that you have chosen
? - show this help";
/// Most lines of a hunk.
const MOST_LINES: usize = 2_000;

/// Asks about each hunk of a change set, or of the newest.
pub(super) fn run(common: &Common, rescue: &Rescue, number: Option<u64>) -> anyhow::Result<Exit> {
    if common.json || !somebody_is_there() {
        bail!(
            "--hunk without FILE:K asks about each hunk, which needs a terminal; name the hunks as \"haft diff\" numbers \
             them: --hunk src/a.rs:2"
        );
    }
    let (number, changes) = match rescue.history.diff(number) {
        Ok(found) => found,
        Err(error) => return refused((common, UndoSelection::Newest), &error, rescue.redactor()),
    };
    let mut choice = HunkChoice::of(&changes, rescue.redactor());
    for path in choice.without_hunks.iter().map(|path| one_line(path)) {
        talk(&rescue.redactor().redact_known(&format!(
            "{path} has no hunks: it was created or removed, or is not text. To undo it: haft undo {number} --file {path}"
        )));
    }
    forget_what_was_typed();
    let is_answered = chosen(&mut choice, (&mut io::stdin().lock(), &mut anstream::stderr()))?;
    if !is_answered || choice.chosen.is_empty() {
        talk("Nothing was undone.");
        return Ok(Exit::Ok);
    }
    let mut wanted = Vec::new();
    for (path, change) in &choice.chosen {
        wanted.push((rescue.locate_in_workspace(Path::new(path))?, *change));
    }
    let request = UndoRequest {
        scope: Scope::Changes(&wanted),
        mode: mode(common),
        ..UndoRequest::all(UndoSelection::Number(number))
    };
    told((common, rescue.redactor()), &rescue.history.request(&request), &request)
}

/// Asks about each hunk; returns whether all questions were answered. The end of input undoes nothing.
fn chosen(choice: &mut HunkChoice, (input, output): (&mut impl BufRead, &mut impl Write)) -> io::Result<bool> {
    let mut is_shown = false;
    while let Some(hunk) = choice.next() {
        if !is_shown {
            show(hunk, output)?;
        }
        let can_be_split = hunk.can_be_split();
        write!(output, "Undo this hunk [{}]? ", if can_be_split { "y,n,s,q,?" } else { "y,n,q,?" })?;
        output.flush()?;
        let Some(answer) = typed_line(input)? else {
            writeln!(output)?;
            return Ok(false);
        };
        is_shown = false;
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => choice.take(),
            "n" | "no" => choice.skip(),
            "q" | "quit" => return Ok(true),
            "s" | "split" if can_be_split => choice.split(),
            "s" | "split" => {
                is_shown = true;
                writeln!(output, "This hunk is one change and cannot be split.")?;
            }
            _ => {
                is_shown = true;
                writeln!(output, "{HELP}")?;
            }
        }
    }
    Ok(true)
}

fn show(offered: &OfferedHunk, output: &mut impl Write) -> io::Result<()> {
    writeln!(output, "{}", StyledText::Strong(&one_line(&offered.path)).rendered())?;
    let diff = Diff { hunks: vec![offered.hunk.clone()], ..Diff::default() };
    shown_diff::lines(&diff, MOST_LINES).iter().try_for_each(|line| writeln!(output, "{}", line.part().rendered()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_runtime::redaction::redact::Redactor;
    use haft_workspace::history::{FileChange, PathContent};

    /// Answers about a file with two changes that are near to each other, and one that is not.
    fn answered(typed: &str) -> (bool, Vec<usize>, String) {
        let numbers = |changed: &[usize]| {
            let line =
                |number| if changed.contains(&number) { format!("new {number}\n") } else { format!("{number}\n") };
            PathContent::File((1..=30).map(line).collect::<String>().into_bytes())
        };
        let (before, after) = (numbers(&[]), numbers(&[2, 5, 20]));
        let change = FileChange { path: "a".into(), before, after, note: None };
        let mut choice = HunkChoice::of(&[change], &Redactor::default());
        let mut shown = Vec::new();
        let is_answered = chosen(&mut choice, (&mut typed.as_bytes(), &mut shown)).expect("memory can be written");
        let numbers = choice.chosen.into_iter().map(|(_, number)| number).collect();
        (is_answered, numbers, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn each_hunk_is_asked_about_and_can_be_split() {
        for (typed, expected) in [
            ("y\ny\n", vec![1, 2, 3]),
            ("n\nY\n", vec![3]),
            ("s\nn\ny\nn\n", vec![2]),
            ("y\nq\n", vec![1, 2]),
            ("?\nwhat\ny\ns\nn\n", vec![1, 2]),
        ] {
            let (is_answered, chosen, _) = answered(typed);
            assert!(is_answered, "{typed:?}");
            assert_eq!(chosen, expected, "{typed:?}");
        }
        let (_, _, shown) = answered("?\ny\ns\nn\n");
        assert!(shown.contains("s - split this hunk") && shown.contains("cannot be split"), "{shown}");
        assert_eq!(shown.matches("+ new 20").count(), 1, "{shown}");
        // The end of input is not a yes.
        assert!(!answered("y\n").0);
    }
}
