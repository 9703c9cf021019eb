//! `sh`, `bash` and their kin: text after `-c`, a script, or the input.

use crate::act::{CodeLanguage, NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::value::ShellValue;

/// Letters that are flags; `o` and `O` take the next word.
const LETTERS: &str = "abcefhiklmnoprstuvxBCDEHOPT";
/// Long names without a value. bash takes them behind one dash, too.
const LONG: &[&str] = &[
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "login",
    "no-globalrcs",
    "no-rcs",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "restricted",
    "verbose",
    "version",
];

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut shell = ShellWords::default();
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
    if shell.doubts {
        shell.run_what_may_be_text(words);
    }
    let rest = words.get(at..).unwrap_or_default();
    shell.run(if rest.first().and_then(ShellValue::known) == Some("-") { &rest[1..] } else { rest });
    shell.reading
}

#[derive(Default)]
struct ShellWords {
    has_text: bool,
    reads_input: bool,
    /// How often it is told to check only.
    checks: usize,
    /// Whether something may take that back: `+n`, `+o noexec`, or that it is interactive.
    takes_back: bool,
    doubts: bool,
    reading: ProgramReading,
}

impl ShellWords {
    /// Takes a flag; returns how many further words it takes.
    fn take(&mut self, word: &ShellValue, next: Option<&ShellValue>) -> usize {
        let Some(flag) = word.known() else {
            self.doubt();
            return 0;
        };
        let name = flag.trim_start_matches('-');
        if let Some(file) = ["rcfile=", "init-file="].iter().find_map(|before| name.strip_prefix(before)) {
            self.reading.acts.push(RawEffect::Path(PathEffect::Run, ShellValue::text(file)));
            return 0;
        }
        let takes_option = flag.starts_with('-') && flag.ends_with('o');
        if takes_option && next.is_some_and(|option| option.known() == Some("keyword")) {
            self.doubt();
        }
        self.trace_if(takes_option && next.is_some_and(|option| option.known() == Some("xtrace")));
        match name {
            "rcfile" | "init-file" => {
                self.reading.acts.extend(next.map(|file| RawEffect::Path(PathEffect::Run, file.clone())));
                1
            }
            _ if flag.starts_with('-') && LONG.contains(&name) => 0,
            _ if flag.starts_with("--") => {
                self.doubt();
                0
            }
            _ => self.take_letters(flag),
        }
    }

    fn take_letters(&mut self, flag: &str) -> usize {
        let letters = &flag[1..];
        let takes_next = letters.matches(['o', 'O']).count();
        // For some shells the rest of the word is the name that `-o` takes, for others it is more flags.
        let is_ambiguous = takes_next > 0 && letters.trim_end_matches(['o', 'O']).len() + takes_next != letters.len();
        // With `k` words of programs are variables: `ls PATH=x`.
        let takes_words_for_variables = flag.starts_with('-') && letters.contains('k');
        if is_ambiguous || takes_words_for_variables || letters.contains(|letter| !LETTERS.contains(letter)) {
            self.doubt();
        }
        if flag.starts_with('-') {
            self.has_text |= letters.contains('c');
            self.reads_input |= letters.contains('s');
            self.trace_if(letters.contains('x'));
            self.checks += letters.matches('n').count();
            self.takes_back |= letters.contains('i');
        } else {
            self.takes_back |= letters.contains(['n', 'o']);
        }
        takes_next
    }

    fn trace_if(&mut self, traces: bool) {
        if traces && !self.reading.inner.contains(&NestedRun::Tracing) {
            self.reading.inner.push(NestedRun::Tracing);
        }
    }

    fn doubt(&mut self) {
        self.doubts = true;
        self.reading.acts.push(RawEffect::Unknown("a word that may be a flag".to_owned()));
    }

    fn only_checks(&self) -> bool {
        self.checks == 1 && !self.takes_back && !self.doubts
    }

    /// Where it is not sure which words are flags, whatever stands behind `-c` may be the text.
    fn run_what_may_be_text(&mut self, words: &[ShellValue]) {
        let is_flag = |word: &ShellValue| word.known().is_some_and(|flag| flag.starts_with('-') && flag.contains('c'));
        let text = words.iter().position(is_flag).and_then(|at| words.get(at + 1..)).unwrap_or_default();
        if let Some((text, parameters)) = text.split_first() {
            self.reading.inner.push(NestedRun::Script(text.clone(), parameters.to_vec()));
        }
    }

    fn run(&mut self, operands: &[ShellValue]) {
        match operands.split_first() {
            Some((script, _)) if script.begins_with_gap() && !self.has_text => {
                self.doubt();
                self.reading.acts.push(RawEffect::Path(PathEffect::Run, script.clone()));
            }
            Some((script, _)) if self.only_checks() && !self.has_text => {
                self.reading.acts.push(RawEffect::Path(PathEffect::Read, script.clone()));
            }
            _ if self.only_checks() => {}
            Some((text, parameters)) if self.has_text => {
                self.reading.inner.push(NestedRun::Script(text.clone(), parameters.to_vec()));
            }
            None if self.has_text => {}
            Some((script, parameters)) if !self.reads_input && is_input(script) => {
                self.reading.inner.push(NestedRun::Input(CodeLanguage::Shell, parameters.to_vec()));
            }
            Some((script, _)) if !self.reads_input => {
                self.reading.acts.push(RawEffect::Path(PathEffect::Run, script.clone()));
            }
            _ => self.reading.inner.push(NestedRun::Input(CodeLanguage::Shell, operands.to_vec())),
        }
    }
}

fn is_input(script: &ShellValue) -> bool {
    matches!(script.known(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}
