//! What text in another language than the shell's would do.
//!
//! awk and sed are read wholly, because most of their programs are harmless and nobody wants to be asked about them.
//! Other languages are read for the strings in them: running such a program is asked about in any case, and the
//! strings tell when it should be refused.
//!
//! Not here: where paths lead and what a script does that is run in turn (`walk`).

use super::act::{Act, Inner, Language, Reading};
use super::programs::console;
use super::value::Value;

mod arithmetic;
mod awk;
mod general;
mod makefile;
mod marks;
mod patch;
mod powershell;
mod sed;
mod settings;
mod strings;

/// The longest text that is read, in bytes. A longer one is asked about.
const LONGEST: usize = 64 * 1024;

/// Reads text in a language.
pub(crate) fn read(language: Language, text: &Value) -> Reading {
    let size: usize = text.shown().len();
    match language {
        Language::Shell => Reading { inner: vec![Inner::Script(text.clone(), Vec::new())], ..Reading::default() },
        _ if size > LONGEST => unknown("it is too long to be read"),
        Language::Awk => with_gaps_told(text, awk::read(&marks::from_value(text))),
        Language::Sed => with_gaps_told(text, sed::read(&marks::from_value(text))),
        Language::Console => console::read(text),
        Language::PowerShell => with_gaps_told(text, powershell::read(&marks::without_numbers(text))),
        Language::Makefile => with_gaps_told(text, makefile::read(text)),
        Language::Patch => with_gaps_told(text, patch::read(text)),
        Language::Settings(program) => with_gaps_told(text, settings::read(program, text)),
        Language::General => with_gaps_told(text, general::read(&marks::without_numbers(text))),
    }
}

/// Returns whether code only prints what it computes from numbers.
pub(crate) fn only_prints_numbers(code: &Value) -> bool {
    code.known().is_some_and(arithmetic::only_prints)
}

/// Returns whether an expression only computes with numbers.
pub(crate) fn only_computes(expression: &Value) -> bool {
    expression.known().is_some_and(arithmetic::only_computes)
}

/// Returns what a program of sed does to the text that it edits.
pub(crate) fn edits_of_sed(text: &Value) -> sed::Edits {
    sed::edits(&marks::from_value(text))
}

fn unknown(why: &str) -> Reading {
    Reading { acts: vec![Act::Unknown(why.to_owned())], ..Reading::default() }
}

/// What the shell puts into a program when it runs can be any code.
fn with_gaps_told(text: &Value, mut reading: Reading) -> Reading {
    if text.has_unknown() {
        reading.acts.push(Act::Unknown("a part of the program is known only when it runs".to_owned()));
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_shell_is_left_to_the_walk() {
        let text = Value::text("rm x");
        assert_eq!(read(Language::Shell, &text).inner, [Inner::Script(text, Vec::new())]);
    }

    #[test]
    fn a_program_with_a_gap_or_of_great_length_is_not_understood() {
        for language in [Language::Awk, Language::Sed, Language::Console, Language::General] {
            let mut gap = Value::text("1");
            gap.append(&Value::unknown());
            for text in [gap, Value::text("1".repeat(LONGEST + 1))] {
                assert!(read(language, &text).acts.iter().any(|act| matches!(act, Act::Unknown(_))), "{language:?}");
            }
        }
    }

    #[test]
    fn no_text_makes_the_reading_fail() {
        let bits =
            ["{", "(", "[", "\"", "'", "`", "/", "\\", "s", "print", "system", "|", ">", "#{", "${", "f\"{", "<<A\n"];
        for language in [Language::Awk, Language::Sed, Language::Console, Language::General] {
            for first in bits {
                for second in bits {
                    for times in [1, 2, 300] {
                        read(language, &Value::text(format!("{first}{second} é").repeat(times)));
                    }
                }
            }
        }
    }
}
