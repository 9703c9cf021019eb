//! Reads texts in languages other than the shell's, and says what they would do.
//!
//! haft reads awk and sed completely, because most of their programs are harmless and need no question.
//! In other languages it reads the strings: haft asks about running such a program in any case, and the strings tell
//! when to refuse it.
//!
//! Not here: where paths lead, and what a script does that such a program runs (`interpret`).

use crate::act::{CodeLanguage, NestedRun, ProgramReading, RawEffect};
use crate::programs::console;
use crate::value::ShellValue;

mod arithmetic;
mod awk;
mod general;
mod makefile;
mod marks;
mod patch;
mod sed;
mod settings;
mod strings;

/// The longest text that is read, in bytes. A longer one is asked about.
const LONGEST: usize = 64 * 1024;

/// Reads text in a language.
pub(crate) fn read(language: CodeLanguage, text: &ShellValue) -> ProgramReading {
    let size: usize = text.shown().len();
    match language {
        CodeLanguage::Shell => {
            ProgramReading { inner: vec![NestedRun::Script(text.clone(), Vec::new())], ..ProgramReading::default() }
        }
        _ if size > LONGEST => unknown("it is too long to be read"),
        CodeLanguage::Awk => with_gaps_told(text, awk::read(&marks::from_value(text))),
        CodeLanguage::Sed => with_gaps_told(text, sed::read(&marks::from_value(text))),
        CodeLanguage::Console => console::read(text),
        CodeLanguage::Makefile => with_gaps_told(text, makefile::read(text)),
        CodeLanguage::Patch => with_gaps_told(text, patch::read(text)),
        CodeLanguage::Settings(program) => with_gaps_told(text, settings::read(program, text)),
        CodeLanguage::General => with_gaps_told(text, general::read(&marks::without_numbers(text))),
    }
}

/// Returns whether code only prints what it computes from numbers.
pub(crate) fn only_prints_numbers(code: &ShellValue) -> bool {
    code.known().is_some_and(arithmetic::only_prints)
}

/// Returns whether an expression only computes with numbers.
pub(crate) fn only_computes(expression: &ShellValue) -> bool {
    expression.known().is_some_and(arithmetic::only_computes)
}

/// Returns what a program of sed does to the text that it edits.
pub(crate) fn edits_of_sed(text: &ShellValue) -> sed::Edits {
    sed::edits(&marks::from_value(text))
}

fn unknown(why: &str) -> ProgramReading {
    ProgramReading { acts: vec![RawEffect::Unknown(why.to_owned())], ..ProgramReading::default() }
}

/// What the shell puts into a program when it runs can be any code.
fn with_gaps_told(text: &ShellValue, mut reading: ProgramReading) -> ProgramReading {
    if text.has_unknown() {
        reading.acts.push(RawEffect::Unknown("a part of the program is known only when it runs".to_owned()));
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_a_shell_is_left_to_the_walk() {
        let text = ShellValue::text("rm x");
        assert_eq!(read(CodeLanguage::Shell, &text).inner, [NestedRun::Script(text, Vec::new())]);
    }

    #[test]
    fn a_program_with_a_gap_or_of_great_length_is_not_understood() {
        for language in [CodeLanguage::Awk, CodeLanguage::Sed, CodeLanguage::Console, CodeLanguage::General] {
            let mut gap = ShellValue::text("1");
            gap.append(&ShellValue::unknown());
            for text in [gap, ShellValue::text("1".repeat(LONGEST + 1))] {
                assert!(
                    read(language, &text).acts.iter().any(|act| matches!(act, RawEffect::Unknown(_))),
                    "{language:?}"
                );
            }
        }
    }

    #[test]
    fn no_text_makes_the_reading_fail() {
        let bits =
            ["{", "(", "[", "\"", "'", "`", "/", "\\", "s", "print", "system", "|", ">", "#{", "${", "f\"{", "<<A\n"];
        for language in [CodeLanguage::Awk, CodeLanguage::Sed, CodeLanguage::Console, CodeLanguage::General] {
            for first in bits {
                for second in bits {
                    for times in [1, 2, 300] {
                        read(language, &ShellValue::text(format!("{first}{second} é").repeat(times)));
                    }
                }
            }
        }
    }
}
