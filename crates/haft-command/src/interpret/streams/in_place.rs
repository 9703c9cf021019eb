//! Files that a program edits in place, as `sed -i` does, and that the command runs afterwards.
//!
//! A file of the workspace stays code of the workspace. haft also reads the text that the edit inserts: it may be a
//! command. In a file that this command has written, haft carries out plain substitutions.

use std::sync::Arc;

use crate::act::{CodeLanguage, NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::streams::pipes;
use crate::languages;
use crate::places::PathDestination;
use crate::value::{ShellValue, ValuePiece};

/// A text that would grow longer than this is not edited any more.
const LONGEST: usize = 64 * 1024;

impl Interpreter<'_> {
    /// Notes what a program does to the files that it edits; returns whether it edits any.
    pub(crate) fn edit_in_place(&mut self, reading: &ProgramReading) -> bool {
        let programs = reading.inner.iter().filter_map(|inner| match inner {
            NestedRun::Text(language @ (CodeLanguage::Sed | CodeLanguage::Awk), text) => Some((*language, text)),
            _ => None,
        });
        let programs: Vec<(CodeLanguage, &ShellValue)> = programs.collect();
        let reads = reading.acts.iter().any(|act| matches!(act, RawEffect::Path(PathEffect::Read, _)));
        let files = reading.acts.iter().filter_map(|act| match act {
            RawEffect::Path(PathEffect::Replace, path) => Some(path),
            _ => None,
        });
        let files: Vec<&ShellValue> = files.collect();
        if programs.is_empty() || files.is_empty() || reads {
            return false;
        }
        for (_, program) in programs.iter().filter(|(language, _)| *language == CodeLanguage::Sed) {
            let edits = languages::edits_of_sed(program);
            let places: Vec<String> = files.iter().flat_map(|file| self.places_of(file)).collect();
            for place in places {
                self.edit(place, &edits.replaced, &edits.added);
            }
        }
        true
    }

    fn places_of(&self, path: &ShellValue) -> Vec<String> {
        let at = |place| match place {
            PathDestination::At(place) => Some(place),
            PathDestination::Anywhere => None,
        };
        self.shell.folders.now.iter().filter_map(|folder| at(folder.place(path))).collect()
    }

    fn edit(&mut self, place: String, replaced: &[(String, String)], added: &[String]) {
        if let Some(flow) = self.streams.content(&place) {
            let flow = edited(flow, replaced);
            Arc::make_mut(&mut self.streams.arrived).insert(place.clone(), flow);
        }
        self.scripts.note_changed(place.clone());
        let text = self.scripts.put_in(place);
        for added in added.iter().filter(|added| !added.trim().is_empty()) {
            text.push(ValuePiece::Text(format!("{added}\n")));
        }
    }
}

fn substituted(text: String, (old, new): &(String, String)) -> String {
    let grown = text.len() + text.matches(old.as_str()).count() * new.len();
    if grown > LONGEST { text } else { text.replace(old.as_str(), new) }
}

fn edited(flow: &StreamContent, replaced: &[(String, String)]) -> StreamContent {
    let edited = |text: &ShellValue| {
        let mut result = ShellValue::default();
        for piece in text.pieces() {
            result.push(match piece {
                ValuePiece::Text(text) => ValuePiece::Text(replaced.iter().fold(text.clone(), substituted)),
                other => other.clone(),
            });
        }
        StreamContent::Text(result)
    };
    match pipes::texts(flow) {
        Some(texts) => texts.iter().map(edited).reduce(pipes::either).unwrap_or_default(),
        None => flow.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::judging::check_all as check;
    use haft_policy::decision::Decision::{Ask, Deny};

    #[test]
    fn a_file_of_the_workspace_that_is_edited_stays_its_code() {
        for run in ["python3 s.py", "./s.py", "bash s.py", "pytest s.py"] {
            check(Ask, &[&format!("sed -i 's/a/b/' s.py && {run}"), &format!("perl -pi -e 's/a/b/' s.py && {run}")]);
            check(Ask, &[&format!("awk -i inplace '{{ sub(/a/, \"b\") }} 1' s.py && {run}")]);
        }
    }

    #[test]
    fn what_an_edit_puts_in_is_read() {
        check(
            Deny,
            &[
                "sed -i '1i import os; os.system(\"rm -rf ~\")' s.py && python3 s.py",
                "sed -i '$a rm -rf ~' build.sh && ./build.sh",
                "echo 'XX -rf ~' > x.sh; sed -i s/XX/rm/ x.sh; sh x.sh",
                "echo 'echo XX' > x.sh; sed -i 's/echo XX/rm -rf ~/' x.sh; sh x.sh",
            ],
        );
        check(Ask, &["echo 'echo XX' > x.sh; sed -i s/XX/rm/ x.sh; sh x.sh"]);
    }

    #[test]
    fn an_edit_does_not_let_a_text_grow_without_end() {
        let doubles = "sed -i s/a/aaaaaaaaaaaaaaaa/ x.sh; ".repeat(100);
        check(Ask, &[&format!("echo aaaaaaaa > x.sh; {doubles} sh x.sh")]);
    }
}
