//! `echo` and `printf` as programs: what they print is known, so that text that goes from them into a shell can be read.

use super::super::super::act::{Flow, Reading};
use super::super::super::printing;
use super::super::super::value::Value;

pub(super) fn read(words: &[Value]) -> Reading {
    match printing::echoed_somewhere(words).as_slice() {
        [only] => printed(only.clone()),
        several => Reading { output: Flow::OneOf(several.to_vec()), ..Reading::default() },
    }
}

pub(super) fn read_format(words: &[Value]) -> Reading {
    let words = if words.first().and_then(Value::known) == Some("--") { &words[1..] } else { words };
    let Some((format, arguments)) = words.split_first() else { return Reading::default() };
    // `-v name` is a flag of the builtin alone.
    let known = format.known().filter(|format| !format.starts_with("-v"));
    printed(known.map_or_else(Value::unknown, |format| printing::formatted(format, arguments)))
}

fn printed(text: Value) -> Reading {
    Reading { output: Flow::Text(text), ..Reading::default() }
}
