//! The calls of a program, and what each of them does with its words.

use std::ops::Range;

use haft::effect::Danger;

use super::super::strings::Token;
use super::expression::Program;
use super::findings::{Findings, Is, host_of_url};
use super::names::{self, Sort};
use super::{environment, leftovers};
use crate::command::act::{Act, Deed};

/// Adds what a program does to what is found already.
pub(super) fn study(program: &Program, findings: &mut Findings, depth: usize) {
    let taken = vec![false; program.tokens.len()];
    let mut reader = Reader { program, findings, taken, depth, calls: 0 };
    for at in 0..program.tokens.len() {
        match &program.tokens[at] {
            Token::Word(word) => reader.word(at, word),
            Token::Sign('(') => reader.call_of_value(at),
            Token::Text(text) => reader.mention(at, text),
            _ => {}
        }
    }
    leftovers::study(&mut reader);
}

/// Reads the calls of one program.
pub(super) struct Reader<'a> {
    pub(super) program: &'a Program,
    pub(super) findings: &'a mut Findings,
    /// For each token whether it is a string that a call has taken.
    pub(super) taken: Vec<bool>,
    pub(super) depth: usize,
    calls: usize,
}

/// The most calls that are looked at, and how far back an import may be from a name in it.
const MOST_CALLS: usize = 200;
const LONGEST_IMPORT: usize = 40;

impl Reader<'_> {
    fn word(&mut self, at: usize, word: &str) {
        environment::study(self.program, self.findings, at);
        let name = self.program.name(at);
        let last = name.rsplit('.').next().unwrap_or(&name);
        self.findings.decodes |= names::is_decoder(last);
        self.findings.spells |= names::is_speller(last);
        self.findings.hands_over |= matches!(last, "dup2" | "pty");
        self.findings.prints |= matches!(last, "print" | "puts" | "echo" | "log" | "say" | "write" | "printf" | "p");
        self.findings.forks += usize::from(matches!(last, "fork" | "pcntl_fork"));
        self.findings.loops |= matches!(word, "while" | "for" | "loop" | "until" | "forever");
        let is_defined = at > 0 && matches!(self.program.word(at - 1), Some("def" | "function" | "sub"));
        if is_defined || self.program.is_sign(at + 1, '.') {
            return;
        }
        match (names::sort(&name), self.program.call(at)) {
            (Some(sort), Some(range)) => self.call(sort, at, range),
            (Some(_), None) => self.mention(at, &name),
            (None, _) => {}
        }
    }

    /// `getattr(os, "system")(…)`, `child_process["exec"](…)`.
    fn call_of_value(&mut self, at: usize) {
        let program = self.program;
        let Some(open) = at.checked_sub(1).and_then(|before| program.begin_of_bracket(before)) else { return };
        let called = program.arguments(open + 1..at - 1).pop().map(|last| program.value(last)).unwrap_or_default();
        match names::sort(&called) {
            Some(sort) => self.call(sort, at - 1, at + 1..program.end_of_bracket(at)),
            None if program.word(open.wrapping_sub(1)) == Some("getattr") => self.findings.runs.at_least(Is::Open),
            None => {}
        }
    }

    /// A name that is handed on to be called by somebody else.
    fn mention(&mut self, at: usize, name: &str) {
        let is_import = {
            let before = &self.program.tokens[..at];
            let statement = before
                .iter()
                .rev()
                .take(LONGEST_IMPORT)
                .take_while(|token| !matches!(token, Token::Newline | Token::Sign(';')));
            statement
                .into_iter()
                .any(|token| matches!(token, Token::Word(word) if matches!(word.as_str(), "import" | "from" | "use")))
        };
        // `Buffer.from(x, "base64")` says by a string what it does.
        self.findings.decodes |= matches!(name, "base64" | "base64url" | "hex" | "rot13" | "rot_13");
        match names::sort_of_mention(name) {
            Some(Sort::Evaluate) if !is_import && !self.program.is_sign(at + 1, '{') => {
                self.findings.evaluates.at_least(Is::Open);
            }
            Some(Sort::Run) if !is_import => self.findings.runs.at_least(Is::Open),
            Some(Sort::Remove) if !is_import => self.findings.removes.at_least(Is::Open),
            _ => {}
        }
    }

    pub(super) fn call(&mut self, sort: Sort, at: usize, range: Range<usize>) {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return self.findings.not_understood("it has too many calls to be read");
        }
        match sort {
            Sort::Run => self.run(at, range),
            Sort::RunByName => self.run_by_name(range),
            Sort::RunReceiver => self.run_receiver(at),
            Sort::Load => self.load(range),
            Sort::Evaluate => self.evaluate(range),
            Sort::RunOrEvaluate => {
                self.evaluate(range.clone());
                self.run(at, range);
            }
            Sort::Connect => self.connect(range),
            Sort::Remove => self.paths(at, range, Deed::Remove),
            Sort::WriteAll => {
                self.rights_of_mode(range.clone());
                self.paths(at, range, Deed::Replace);
            }
            Sort::WriteFirst => self.write_first(range),
            Sort::WriteReceiver => self.write_receiver(at, range),
            Sort::Copy => self.transfer(at, range, Deed::Read),
            Sort::Move => self.transfer(at, range, Deed::Remove),
            Sort::Open => self.open(at, range),
            Sort::Read => self.look(at, range, Deed::Read),
            Sort::List => self.look(at, range, Deed::List),
            Sort::Text => self.take_direct(range),
            Sort::Folder => self.change_folder(range),
            Sort::Kill => self.kill(range),
            Sort::Rights => self.findings.act(Act::Danger(Danger::Rights, "change its rights".to_owned())),
        }
    }

    fn connect(&mut self, range: Range<usize>) {
        let hosts = range.clone().filter_map(|at| match self.program.tokens.get(at) {
            Some(Token::Text(text)) => Some(match host_of_url(text) {
                Some(host) => host,
                None => Some(text.clone()).filter(|text| text.contains('.') && !text.contains(['/', ' '])),
            }),
            _ => None,
        });
        let host = hosts.flatten().next();
        self.findings.connect(host);
    }

    fn kill(&mut self, range: Range<usize>) {
        let is_all = |argument: &Range<usize>| {
            self.program.tokens.get(argument.clone()) == Some(&[Token::Sign('-'), Token::Number("1".to_owned())])
        };
        let all = self.program.arguments(range).iter().any(is_all);
        self.findings.act(match all {
            true => Act::Danger(Danger::System, "stop all processes".to_owned()),
            false => Act::Process("send a signal to a process".to_owned()),
        });
    }

    /// Notes that the strings of a call are told.
    pub(super) fn take_all(&mut self, range: Range<usize>) {
        let end = range.end.min(self.taken.len());
        self.taken[range.start.min(end)..end].fill(true);
    }

    /// The same for those that are its words themselves, and not words of calls in it.
    pub(super) fn take_direct(&mut self, range: Range<usize>) {
        for argument in self.program.arguments(range) {
            let is_text = |at: usize| {
                matches!(
                    self.program.tokens.get(at),
                    Some(Token::Text(_) | Token::Inserted(_) | Token::Sign('+' | '.'))
                )
            };
            if argument.clone().all(is_text) {
                self.take_all(argument);
            }
        }
    }
}
