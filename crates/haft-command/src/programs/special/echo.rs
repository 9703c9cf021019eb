//! `echo` and `printf` as programs: haft knows what they print, so it can read the text that they pipe into a shell.

use crate::act::{ProgramReading, StreamContent};
use crate::printing;
use crate::value::ShellValue;

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    match printing::echoed_somewhere(words).as_slice() {
        [only] => printed(only.clone()),
        several => ProgramReading { output: StreamContent::OneOf(several.to_vec()), ..ProgramReading::default() },
    }
}

pub(crate) fn read_format(words: &[ShellValue]) -> ProgramReading {
    let words = if words.first().and_then(ShellValue::known) == Some("--") { &words[1..] } else { words };
    let Some((format, arguments)) = words.split_first() else { return ProgramReading::default() };
    // `-v name` is a flag of the builtin alone.
    let known = format.known().filter(|format| !format.starts_with("-v"));
    printed(known.map_or_else(ShellValue::unknown, |format| printing::formatted(format, arguments)))
}

fn printed(text: ShellValue) -> ProgramReading {
    ProgramReading { output: StreamContent::Text(text), ..ProgramReading::default() }
}
