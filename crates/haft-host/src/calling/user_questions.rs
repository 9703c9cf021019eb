//! Asks the person at a terminal the questions of a model or a server, and reads the answers.
//!
//! An empty line skips a question, and the end of input dismisses all of them: a person never has to answer a model.

use std::io::{self, BufRead, Write};

use haft_contract::doors::user_questions::{UserAnswer, UserQuestion, UserReply};
use haft_contract::text::visible::visible;

use crate::texts::wrapped::wrapped;

/// Asks one question after the other.
///
/// # Errors
///
/// Fails where the terminal cannot be read or written.
pub fn converse(
    questions: &[UserQuestion],
    columns: usize,
    (input, output): (&mut impl BufRead, &mut impl Write),
) -> io::Result<UserReply> {
    let mut answers = Vec::new();
    for (number, question) in (1..).zip(questions) {
        for row in question_rows(question, (number, questions.len()), columns) {
            writeln!(output, "{row}")?;
        }
        writeln!(output, "{} An empty line leaves it out.", question.how_to_answer())?;
        match answer(question, (&mut *input, &mut *output))? {
            Some(answer) => answers.push(answer),
            None => return Ok(UserReply::Dismissed),
        }
    }
    Ok(reply(answers))
}

/// Returns what came of the questions: answers, or none at all.
#[must_use]
pub fn reply(answers: Vec<UserAnswer>) -> UserReply {
    let is_answered = answers.iter().any(|answer| *answer != UserAnswer::Skipped);
    if is_answered { UserReply::Answered(answers) } else { UserReply::Dismissed }
}

fn answer(
    question: &UserQuestion,
    (input, output): (&mut impl BufRead, &mut impl Write),
) -> io::Result<Option<UserAnswer>> {
    loop {
        write!(output, "> ")?;
        output.flush()?;
        let Some(typed) = typed_line(input)? else { return Ok(None) };
        if typed.is_empty() {
            return Ok(Some(UserAnswer::Skipped));
        }
        // No one means a model to read what is no text.
        let readable = Some(&typed).filter(|typed| !typed.contains(char::REPLACEMENT_CHARACTER));
        match readable.and_then(|typed| question.read(typed)) {
            Some(answer) => return Ok(Some(answer)),
            None => writeln!(output, "{}", question.how_to_answer())?,
        }
    }
}

/// Returns the rows of a question with its options.
#[must_use]
pub fn question_rows(question: &UserQuestion, (number, of): (usize, usize), columns: usize) -> Vec<String> {
    let header = question.header.as_ref().map(|header| format!(": {}", on_one_line(header))).unwrap_or_default();
    let count = if of > 1 { format!(" {number} of {of}") } else { String::new() };
    let mut rows = wrapped(&format!("{} asks you{count}{header}", question.asker), columns, 2);
    rows.extend(question.text.lines().flat_map(|line| wrapped(&format!("  {}", visible(line)), columns, 2)));
    for (number, option) in (1..).zip(question.options()) {
        let description = on_one_line(&option.description);
        let gap = if description.is_empty() { "" } else { ": " };
        rows.extend(wrapped(&format!("  {number}  {}{gap}{description}", on_one_line(&option.label)), columns, 5));
    }
    rows
}

/// Reads what was typed up to the line end; nothing at the end of input. Bytes that are no text are in it as a character
/// that is in no answer.
///
/// # Errors
///
/// Fails where the input cannot be read.
pub fn typed_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = input.read_until(b'\n', &mut line)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned()))
}

fn on_one_line(text: &str) -> String {
    visible(&text.replace(['\n', '\t'], " ")).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::doors::user_questions::{AnswerForm, AnswerOption, Asker};

    fn questions() -> Vec<UserQuestion> {
        let option =
            |label: &str, description: &str| AnswerOption { label: label.into(), description: description.into() };
        let options = vec![option("CSV", "a row each"), option("JSON\u{1b}[2J", "")];
        let which = UserQuestion {
            asker: Asker::Model,
            text: "Which?".into(),
            header: Some("Format".into()),
            form: AnswerForm::One(options),
        };
        let sure = UserQuestion { asker: Asker::Model, text: "Sure?".into(), header: None, form: AnswerForm::YesOrNo };
        vec![which, sure]
    }

    fn asked(typed: &str) -> (UserReply, String) {
        let mut shown = Vec::new();
        let reply = converse(&questions(), 80, (&mut typed.as_bytes(), &mut shown)).expect("it can be written");
        (reply, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn each_question_is_answered_by_a_line() {
        let (reply, shown) = asked("3\n1\nperhaps\ny\n");
        let chosen = UserAnswer::Chosen(vec!["CSV".to_owned()]);
        assert_eq!(reply, UserReply::Answered(vec![chosen, UserAnswer::Yes]));
        assert!(
            shown.starts_with("The model asks you 1 of 2: Format\n  Which?\n  1  CSV: a row each\n  2  JSON"),
            "{shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert_eq!(shown.matches("Type y or n.").count(), 2, "{shown}");
    }

    #[test]
    fn an_empty_line_leaves_a_question_out_and_the_end_dismisses_all() {
        assert_eq!(asked("\nn\n").0, UserReply::Answered(vec![UserAnswer::Skipped, UserAnswer::No]));
        assert_eq!(asked("\n\n").0, UserReply::Dismissed);
        assert_eq!(asked("1\n").0, UserReply::Dismissed);
    }
}
