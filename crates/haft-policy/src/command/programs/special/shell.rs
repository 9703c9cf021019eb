//! `sh`, `bash` and their kin: text behind `-c`, a script, or the input.

use super::super::super::act::{Act, Deed, Inner, Language, Reading};
use super::super::super::value::{Piece, Value};

pub(super) fn read(words: &[Value]) -> Reading {
    let mut reading = Reading::default();
    let mut has_text = false;
    let mut reads_input = false;
    let mut only_checks = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let start = word.prefix();
        if !start.starts_with(['-', '+']) || word.known() == Some("-") {
            break;
        }
        at += 1;
        if word.known() == Some("--") {
            break;
        }
        if word.known().is_none() {
            reading.acts.push(Act::Unknown("a word that may be a flag".to_owned()));
        }
        match start {
            "--rcfile" | "--init-file" => {
                reading.acts.extend(words.get(at).map(|file| Act::Path(Deed::Run, file.clone())));
                at += 1;
            }
            long if long.starts_with("--") => {
                let file = ["--rcfile=", "--init-file="].iter().find_map(|flag| word.strip_prefix(flag));
                reading.acts.extend(file.map(|file| Act::Path(Deed::Run, file)));
            }
            letters => {
                has_text |= letters.starts_with('-') && letters.contains('c');
                only_checks |= letters.starts_with('-') && letters.contains('n');
                reads_input |= letters.starts_with('-') && letters.contains('s');
                // `-o NAME` and `-O NAME`, also at the end of a bundle.
                at += letters.matches(['o', 'O']).count();
            }
        }
    }
    let rest = words.get(at..).unwrap_or_default();
    let rest = if rest.first().and_then(Value::known) == Some("-") { &rest[1..] } else { rest };
    match rest.split_first() {
        Some((script, _)) if only_checks && !has_text => {
            reading.acts.push(Act::Path(Deed::Read, script.clone()));
        }
        _ if only_checks => {}
        Some((text, parameters)) if has_text => {
            reading.inner.push(Inner::Script(text.clone(), parameters.to_vec()));
        }
        None if has_text => {}
        Some((script, _)) if !reads_input => {
            if script.pieces().first() == Some(&Piece::Unknown) {
                reading.acts.push(Act::Unknown("a word that may be a flag".to_owned()));
            }
            let is_input = matches!(script.known(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
            if is_input {
                reading.inner.push(Inner::Input(Language::Shell));
            } else {
                reading.acts.push(Act::Path(Deed::Run, script.clone()));
            }
        }
        _ => reading.inner.push(Inner::Input(Language::Shell)),
    }
    reading
}
