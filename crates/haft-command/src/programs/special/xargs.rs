//! `xargs`: runs a command with words that come from its input.

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::value::ShellValue;

const WITH_VALUE: &str = "adEILnPsJRS";
const LONG_WITH_VALUE: &[&str] =
    &["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"];

#[derive(Default)]
struct XargsOptions {
    mark: Option<String>,
    file: Option<ShellValue>,
    /// The variable that tells each process its number.
    variable: Option<ShellValue>,
    doubts: bool,
}

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut options = XargsOptions::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let start = word.prefix();
        if !start.starts_with('-') || start == "-" {
            break;
        }
        at += 1;
        if word.known() == Some("--") {
            break;
        }
        at += options.take(word, words.get(at));
    }
    let command = &words[at.min(words.len())..];
    let mut reading = ProgramReading::default();
    if options.doubts || command.first().is_some_and(|word| word.begins_with_gap()) {
        reading.acts.push(RawEffect::Unknown("a word that may be a flag".to_owned()));
    }
    reading.acts.extend(options.file.iter().map(|file| RawEffect::Path(PathEffect::Read, file.clone())));
    match options.variable.as_ref().map(|name| name.known().map(str::to_owned)) {
        Some(Some(name)) => reading.inner.push(NestedRun::Variable(name, ShellValue::number())),
        Some(None) => {
            reading.acts.push(RawEffect::Unknown("which variable it sets is known only when it runs".to_owned()))
        }
        None => {}
    }
    // Without a command it prints the words.
    let echo = [ShellValue::text("echo")];
    reading.inner.push(options.inner(if command.is_empty() { &echo } else { command }));
    reading
}

impl XargsOptions {
    /// Takes a flag; returns how many further words it takes.
    fn take(&mut self, word: &ShellValue, next: Option<&ShellValue>) -> usize {
        let start = word.prefix();
        if start.starts_with("--") {
            return self.take_long(word, next);
        }
        for (at, letter) in start.char_indices().skip(1) {
            let rest = word.strip_prefix(&start[..at + letter.len_utf8()]).unwrap_or_default();
            let is_attached = !rest.pieces().is_empty();
            if letter == 'i' {
                self.mark = Some(if is_attached { rest.shown() } else { "{}".to_owned() });
                return 0;
            }
            if matches!(letter, 'e' | 'l') {
                return 0;
            }
            if WITH_VALUE.contains(letter) {
                let value = if is_attached { Some(rest) } else { next.cloned() };
                self.set(letter, value);
                return usize::from(!is_attached);
            }
        }
        self.doubts |= word.known().is_none();
        0
    }

    fn take_long(&mut self, word: &ShellValue, next: Option<&ShellValue>) -> usize {
        let (name, attached) = match word.prefix().split_once('=') {
            Some((name, _)) => (name, word.strip_prefix(&format!("{name}="))),
            None => (word.prefix(), None),
        };
        self.doubts |= attached.is_none() && word.known().is_none();
        if "--replace".starts_with(name) && name.len() > 3 {
            self.mark = Some(attached.map_or("{}".to_owned(), |mark| mark.shown()));
            return 0;
        }
        let Some(flag) = LONG_WITH_VALUE.iter().find(|flag| flag.starts_with(name)) else { return 0 };
        let takes_next = usize::from(attached.is_none());
        match *flag {
            "--arg-file" => self.set('a', attached.or(next.cloned())),
            "--process-slot-var" => self.variable = attached.or(next.cloned()),
            _ => {}
        }
        takes_next
    }

    fn set(&mut self, letter: char, value: Option<ShellValue>) {
        match letter {
            'a' => self.file = value,
            'I' | 'J' => self.mark = value.map(|mark| mark.shown()),
            _ => {}
        }
    }

    fn inner(&self, command: &[ShellValue]) -> NestedRun {
        let mut words = command.to_vec();
        match (&self.mark, &self.file) {
            (Some(mark), None) => NestedRun::WordsAroundInput(words, mark.clone()),
            (Some(mark), Some(_)) => {
                let put =
                    |word: &ShellValue| crate::programs::special::find::put_in(word, mark, &ShellValue::unknown());
                NestedRun::Words(words.iter().map(put).collect())
            }
            (None, None) => NestedRun::WordsAndInput(words),
            (None, Some(_)) => {
                words.extend(ShellValue::any_words());
                NestedRun::Words(words)
            }
        }
    }
}
