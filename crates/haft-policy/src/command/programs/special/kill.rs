//! `kill`: a signal, then processes; a minus sign before a number means a signal, a group or everything.

use super::super::super::act::{Act, Reading};
use super::super::super::value::Value;
use super::super::meaning::process;

pub(super) fn read(words: &[Value]) -> Reading {
    let mut rest = words;
    let mut only_asks = false;
    if let Some((first, after)) = words.split_first() {
        match first.known() {
            Some("-l" | "-L" | "--list" | "--table") => return Reading::default(),
            Some("-s" | "-n" | "-q" | "--signal" | "--queue") => {
                only_asks = after.first().and_then(Value::known) == Some("0");
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
        return Reading::default();
    }
    let mut acts: Vec<Act> = Vec::new();
    for word in rest.iter().filter(|word| word.known() != Some("--")) {
        let act = process(word);
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    Reading { acts, ..Reading::default() }
}
