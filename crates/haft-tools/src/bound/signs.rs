//! What can be read from the result of a tool: whether it broke, changed what it had not said, left something running.
//!
//! The words are made beside this file, in `answer`, and in `bash::report`; whoever changes them there changes them here.

use haft_contract::error::{Next, ToolError};
use haft_contract::kinds::ErrorKind;

/// Exceptions that a function does not raise to say something: they are slips in it.
const SLIPS: [&str; 14] = [
    "AssertionError",
    "AttributeError",
    "IndexError",
    "KeyError",
    "MemoryError",
    "NameError",
    "NotImplementedError",
    "RecursionError",
    "SystemError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "ZeroDivisionError",
];

/// Says why an error is a defect of the tool, and not what it answers to a call that it does not want.
pub fn defect(error: &ToolError) -> Option<String> {
    let what = || Some(error.what.clone());
    match error.kind {
        ErrorKind::Bug => what(),
        ErrorKind::Failed if matches!(error.next, Next::DoNotRetry(_)) => what(),
        ErrorKind::Failed => {
            let said = error.what.split_once("\" ").map_or(error.what.as_str(), |(_, said)| said);
            let is_silent = said.strip_prefix("failed with exit code ").is_some_and(|rest| !rest.contains(": "));
            let slip = said.strip_prefix("failed: ").and_then(|words| words.split_once(':')).map(|(name, _)| name);
            let is_slip = slip.is_some_and(|name| SLIPS.contains(&name));
            let is_broken = said.starts_with("was ended by ") || said.starts_with("ended its process");
            (is_silent || is_slip || is_broken).then(what).flatten()
        }
        _ => None,
    }
}

/// Returns what a call changed although the tool had not said so.
pub fn undeclared(result: &str) -> Option<String> {
    let mark = "[Not kept, because the tool had not said that it would change it: ";
    let names = result.lines().find_map(|line| line.strip_prefix(mark))?;
    Some(names.trim_end_matches(['.', ']']).to_owned())
}

/// Returns what a call left running.
pub fn left_running(result: &str) -> Option<String> {
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty();
    result.lines().find_map(|line| {
        let (number, rest) = line.strip_prefix('[')?.split_once(" background process")?;
        let several = if rest.starts_with("es were ended with the call") { "es" } else { "" };
        is_number(number).then(|| format!("{number} process{several}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::error::Next;

    fn is_defect(what: &str) -> bool {
        defect(&ToolError::failed(what, Next::FixArguments("read it".into()))).is_some()
    }

    #[test]
    fn what_a_tool_says_in_words_is_an_answer_and_the_rest_is_a_defect() {
        assert!(!is_defect("\"t\" failed: ValueError: no such city."));
        assert!(!is_defect("\"t\" failed: no such city: Bonn."));
        assert!(!is_defect("\"t\" failed with exit code 2: usage: t CITY."));
        assert!(is_defect("\"t\" failed with exit code 2."));
        assert!(is_defect("\"t\" failed: KeyError: 'city'."));
        assert!(is_defect("\"t\" was ended by signal 11 (SIGSEGV)."));
        assert!(is_defect("\"t\" ended its process with status 7 instead of returning."));
        assert!(defect(&ToolError::of(ErrorKind::BadArguments, "city is missing")).is_none());
    }

    #[test]
    fn notes_are_read_where_they_stand_as_a_line() {
        let result = "5\n[2 background processes were ended with the call; nothing keeps running after it]\n\
                      [Not kept, because the tool had not said that it would change it: a.txt, b.txt.]";
        assert_eq!(left_running(result).as_deref(), Some("2 processes"));
        assert_eq!(undeclared(result).as_deref(), Some("a.txt, b.txt"));
        assert_eq!((left_running("5"), undeclared("it says [Not kept]")), (None, None));
    }
}
