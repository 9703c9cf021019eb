//! `sh`, `bash` and their kin: text behind `-c`, a script, or the input.

use super::super::super::act::{Act, Deed, Inner, Language, Reading};
use super::super::super::value::{Piece, Value};

pub(super) fn read(words: &[Value]) -> Reading {
    let mut shell = Shell::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.prefix().starts_with(['-', '+']) || word.known() == Some("-") {
            break;
        }
        at += 1;
        if word.known() == Some("--") {
            break;
        }
        at += shell.take(word, words.get(at));
    }
    let rest = words.get(at..).unwrap_or_default();
    shell.run(if rest.first().and_then(Value::known) == Some("-") { &rest[1..] } else { rest });
    shell.reading
}

#[derive(Default)]
struct Shell {
    has_text: bool,
    reads_input: bool,
    only_checks: bool,
    reading: Reading,
}

impl Shell {
    /// Takes a flag; returns how many further words it takes.
    fn take(&mut self, word: &Value, next: Option<&Value>) -> usize {
        if word.known().is_none() {
            self.doubt();
        }
        match word.prefix() {
            "--rcfile" | "--init-file" => {
                self.reading.acts.extend(next.map(|file| Act::Path(Deed::Run, file.clone())));
                1
            }
            long if long.starts_with("--") => {
                let file = ["--rcfile=", "--init-file="].iter().find_map(|flag| word.strip_prefix(flag));
                self.reading.acts.extend(file.map(|file| Act::Path(Deed::Run, file)));
                0
            }
            letters => {
                if letters.starts_with('-') {
                    self.has_text |= letters.contains('c');
                    self.reads_input |= letters.contains('s');
                    self.only_checks |= letters.contains('n');
                }
                // `-o NAME` and `-O NAME`, also at the end of a bundle.
                letters.matches(['o', 'O']).count()
            }
        }
    }

    fn doubt(&mut self) {
        self.reading.acts.push(Act::Unknown("a word that may be a flag".to_owned()));
    }

    fn run(&mut self, operands: &[Value]) {
        match operands.split_first() {
            Some((script, _)) if script.pieces().first() == Some(&Piece::Unknown) && !self.has_text => {
                self.doubt();
                self.reading.acts.push(Act::Path(Deed::Run, script.clone()));
            }
            Some((script, _)) if self.only_checks && !self.has_text => {
                self.reading.acts.push(Act::Path(Deed::Read, script.clone()));
            }
            _ if self.only_checks => {}
            Some((text, parameters)) if self.has_text => {
                self.reading.inner.push(Inner::Script(text.clone(), parameters.to_vec()));
            }
            None if self.has_text => {}
            Some((script, _)) if !self.reads_input && !is_input(script) => {
                self.reading.acts.push(Act::Path(Deed::Run, script.clone()));
            }
            _ => self.reading.inner.push(Inner::Input(Language::Shell)),
        }
    }
}

fn is_input(script: &Value) -> bool {
    matches!(script.known(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}
