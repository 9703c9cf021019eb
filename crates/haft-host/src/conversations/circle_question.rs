//! Asks the person what a model should do when it repeats the same call without progress.
//!
//! Not here: the terminal, which belongs to the caller.

use std::io::{self, BufRead, Write};

use haft_agent::overseer::{Advice, Circle};

use crate::calling::user_questions::typed_line;
use crate::texts::bounded_text::one_line_of;

/// Longest name of a tool, in columns.
const LONGEST_NAME: usize = 60;

/// Shows the question, and reads answers until one is clear.
///
/// # Errors
///
/// Fails if the question cannot be shown, or the input cannot be read.
pub fn converse(circle: &Circle, (input, output): (&mut impl BufRead, &mut impl Write)) -> io::Result<Advice> {
    let Circle { tool, times } = circle;
    writeln!(
        output,
        "The model called {} {times} times in the same way with the same result, and nothing else changed in between.\n\
         Type what it should do instead; y lets it continue, n ends the run.",
        one_line_of(tool, LONGEST_NAME)
    )?;
    loop {
        write!(output, "> ")?;
        output.flush()?;
        let Some(answer) = typed_line(input)? else {
            return Ok(Advice::End);
        };
        match advice(&answer) {
            Some(advice) => return Ok(advice),
            None => writeln!(output, "Type a message, y or n.")?,
        }
    }
}

/// Reads an answer as the one to any other question: a no may say what to do instead.
fn advice(answer: &str) -> Option<Advice> {
    let (word, note) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    match (word.to_ascii_lowercase().as_str(), note.trim()) {
        ("", _) => None,
        // Input that is not valid text is not a message for the model.
        _ if answer.contains(char::REPLACEMENT_CHARACTER) => None,
        ("y" | "yes", "") => Some(Advice::GoOn),
        ("n" | "no" | "s" | "stop", "") => Some(Advice::End),
        ("n" | "no", note) => Some(Advice::Say(note.to_owned())),
        _ => Some(Advice::Say(answer.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(typed: impl AsRef<[u8]>) -> (Advice, String) {
        let circle = Circle { tool: "bash".to_owned(), times: 6 };
        let mut shown = Vec::new();
        let advice = converse(&circle, (&mut typed.as_ref(), &mut shown)).expect("it can be written");
        (advice, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn words_are_for_the_model_and_the_end_of_input_ends() {
        for (typed, expected) in [
            ("y\n", Advice::GoOn),
            ("NO\n", Advice::End),
            ("n read the log\n", Advice::Say("read the log".to_owned())),
            ("", Advice::End),
            ("\n  \nread the log\n", Advice::Say("read the log".to_owned())),
        ] {
            let (advice, shown) = answered(typed);
            assert_eq!(advice, expected, "{typed:?}");
            assert!(shown.starts_with("The model called bash 6 times in the same way"), "{shown}");
        }
        assert_eq!(answered("\n\nn\n").1.matches("Type a message, y or n.").count(), 2);
        let (advice, shown) = answered(b"read \xff\n\xff\xfe\ny\n");
        assert_eq!((advice, shown.matches("Type a message").count()), (Advice::GoOn, 2), "{shown}");
    }
}
