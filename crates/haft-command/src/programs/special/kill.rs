//! `kill`: a signal, then processes; a minus sign before a number means a signal, a group or everything.

use crate::act::{ProgramReading, RawEffect};
use crate::programs::meaning::process;
use crate::value::ShellValue;

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut rest = words;
    let mut only_asks = false;
    if let Some((first, after)) = words.split_first() {
        match first.known() {
            Some("-l" | "-L" | "--list" | "--table") => return ProgramReading::default(),
            Some("-s" | "-n" | "-q" | "--signal" | "--queue") => {
                only_asks = after.first().and_then(ShellValue::known) == Some("0");
                rest = after.get(1..).unwrap_or_default();
            }
            Some("--") => rest = after,
            Some(signal) if signal.starts_with('-') => {
                only_asks = signal == "-0";
                rest = after;
            }
            _ => {}
        }
    }
    if only_asks {
        return ProgramReading::default();
    }
    let mut acts: Vec<RawEffect> = Vec::new();
    for word in rest.iter().filter(|word| word.known() != Some("--")) {
        let act = process(word);
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    ProgramReading { acts, ..ProgramReading::default() }
}
