//! The calls of a program, and what each of them does with its words.

use std::ops::Range;

use haft_contract::effect::Danger;

use crate::act::{PathEffect, RawEffect};
use crate::languages::general::expression::TokenizedProgram;
use crate::languages::general::findings::{CodeFindings, Is, host_of_url};
use crate::languages::general::names::CallKind;
use crate::languages::general::{environment, leftovers, names};
use crate::languages::marks::{GAP, GLOB, is_open};
use crate::languages::strings::StringToken;

/// Adds what a program does to what is found already.
pub(crate) fn study(program: &TokenizedProgram, findings: &mut CodeFindings, depth: usize) {
    let taken = vec![false; program.tokens.len()];
    let reaches = program.reaches_by_name();
    let mut reader = CallReader { program, findings, taken, depth, calls: 0, reaches };
    for at in 0..program.tokens.len() {
        match &program.tokens[at] {
            StringToken::Word(word) => reader.word(at, word),
            StringToken::Sign('(') => reader.call_of_value(at),
            StringToken::Text(text) => reader.mention(at, text),
            _ => {}
        }
    }
    leftovers::study(&mut reader);
}

/// Reads the calls of one program.
pub(crate) struct CallReader<'a> {
    pub(crate) program: &'a TokenizedProgram,
    pub(crate) findings: &'a mut CodeFindings,
    /// For each token whether it is a string that a call has taken.
    pub(crate) taken: Vec<bool>,
    pub(crate) depth: usize,
    calls: usize,
    /// Whether the program may call things by names that it makes when it runs.
    reaches: bool,
}

/// The most calls that are looked at, and how far back an import may be from a name in it.
const MOST_CALLS: usize = 200;
const LONGEST_IMPORT: usize = 40;

impl CallReader<'_> {
    fn word(&mut self, at: usize, word: &str) {
        environment::study(self.program, self.findings, at);
        let name = self.program.name(at);
        let last = name.rsplit('.').next().unwrap_or(&name);
        self.findings.decodes |= names::is_decoder(last) && self.program.module_of(&name) != Some("struct");
        self.findings.spells |= names::is_speller(last) && !self.decodes_utf8(at, last);
        self.findings.saves |= names::is_saver(last);
        self.findings.hands_over |= matches!(last, "dup2" | "pty");
        self.findings.prints |= matches!(last, "print" | "puts" | "echo" | "log" | "say" | "write" | "printf" | "p");
        self.findings.forks += usize::from(matches!(last, "fork" | "pcntl_fork") && !self.names_what_to_fork(at));
        self.findings.loops |= matches!(word, "while" | "for" | "loop" | "until" | "forever");
        let is_defined = at > 0 && matches!(self.program.word(at - 1), Some("def" | "function" | "sub"));
        if is_defined || self.program.is_sign(at + 1, '.') {
            return;
        }
        if let Some(range) = self.program.call(at).filter(|_| last == "config" && self.receives_dotenv(at, &name)) {
            return self.take_all(range);
        }
        match (names::sort(&name), self.program.call(at)) {
            (Some(_), Some(range)) if self.is_other(at, &name, range.clone()) => {}
            (Some(sort), Some(range)) => self.call(sort, at, range),
            (Some(_), None) => self.mention(at, &name),
            (None, _) => {}
        }
    }

    /// Returns whether a call only has the name of one that acts: `asyncio.run(main())`, `app.delete("/items")`.
    ///
    /// It is none of a module that acts, and nothing that it gets is text that could be a command or a path.
    fn is_other(&self, at: usize, name: &str, range: Range<usize>) -> bool {
        let program = self.program;
        let last = name.rsplit('.').next().unwrap_or(name);
        let acts = match program.module_of(name) {
            Some("") => self.receives_module(at),
            Some(module) => names::is_acting_module(module),
            // `delete` is a word of JavaScript, and a route of some servers.
            None => !program.defines(name) && name != "delete",
        };
        if acts || range.is_empty() || !names::is_vague(last) || self.reaches {
            return false;
        }
        let mut given = program.arguments(range).into_iter().filter_map(|argument| self.given_to_run(argument));
        given.next().is_none_or(|first| is_open(&first) || is_route(&first))
    }

    /// Returns what an argument is, but for a setting such as `port=8000`.
    fn given_to_run(&self, argument: Range<usize>) -> Option<String> {
        let key = self.program.word(argument.start).filter(|_| self.program.is_sign(argument.start + 1, '='));
        let value = match key {
            Some("args" | "cmd" | "command" | "executable" | "program") => argument.start + 2..argument.end,
            Some(_) => return None,
            None => argument,
        };
        Some(self.program.elements(value).concat())
    }

    /// `require("child_process").exec(…)`.
    fn receives_module(&self, at: usize) -> bool {
        let before = &self.program.tokens[at.saturating_sub(6)..at];
        before.iter().any(|token| match token {
            StringToken::Text(text) | StringToken::Word(text) => names::is_acting_module(text),
            _ => false,
        })
    }

    /// `require("dotenv").config(…)`, `dotenv.config(…)`: it reads variables, and shows nothing of them.
    fn receives_dotenv(&self, at: usize, name: &str) -> bool {
        let before = &self.program.tokens[at.saturating_sub(4)..at];
        name.ends_with("dotenv.config")
            || before.iter().any(|token| matches!(token, StringToken::Text(text) if text == "dotenv"))
    }

    /// `output.decode()` makes text of bytes as they are.
    fn decodes_utf8(&self, at: usize, last: &str) -> bool {
        let is_plain = match self.program.tokens.get(at + 2) {
            Some(StringToken::Sign(')')) => true,
            Some(StringToken::Text(text)) => text.to_lowercase().starts_with("utf") || text.to_lowercase() == "ascii",
            Some(StringToken::Word(key)) => matches!(key.as_str(), "errors" | "encoding"),
            _ => false,
        };
        last == "decode" && self.program.is_sign(at + 1, '(') && is_plain
    }

    /// `fork("./server.js")` of Node starts a script once, and `{ fork }` imports it.
    fn names_what_to_fork(&self, at: usize) -> bool {
        let program = self.program;
        let has_argument = program.is_sign(at + 1, '(') && !program.is_sign(at + 2, ')');
        has_argument || program.is_sign(at + 1, '}') || program.is_sign(at + 1, ',')
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

    /// A name that is handed on for other code to call.
    fn mention(&mut self, at: usize, name: &str) {
        let is_import = {
            let before = &self.program.tokens[..at];
            let statement = before
                .iter()
                .rev()
                .take(LONGEST_IMPORT)
                .take_while(|token| !matches!(token, StringToken::Newline | StringToken::Sign(';')));
            let rest = self.program.tokens[at..].iter().take(LONGEST_IMPORT);
            let rest = rest.take_while(|token| !matches!(token, StringToken::Newline | StringToken::Sign(';' | '(')));
            let is_word = |token: &StringToken, words: &[&str]| matches!(token, StringToken::Word(word) if words.contains(&word.as_str()));
            statement.into_iter().any(|token| is_word(token, &["import", "from", "use"]))
                || rest.into_iter().any(|token| is_word(token, &["require", "from"]))
        };
        if self.is_other_mention(name) {
            return;
        }
        // `Buffer.from(x, "base64")` says by a string what it does.
        self.findings.decodes |= matches!(name, "base64" | "base64url" | "hex" | "rot13" | "rot_13");
        match names::sort_of_mention(name) {
            Some(CallKind::Evaluate) if !is_import && !self.program.is_sign(at + 1, '{') => {
                self.findings.evaluates.at_least(Is::Open);
            }
            Some(CallKind::Run) if !is_import => self.findings.runs.at_least(Is::Open),
            Some(CallKind::Remove) if !is_import => self.findings.removes.at_least(Is::Open),
            _ => {}
        }
    }

    /// `target=self.run` hands on a function of the program.
    fn is_other_mention(&self, name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        let module = self.program.module_of(name).filter(|module| !module.is_empty());
        names::is_vague(last) && !self.reaches && module.is_some_and(|module| !names::is_acting_module(module))
    }

    pub(crate) fn call(&mut self, sort: CallKind, at: usize, range: Range<usize>) {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return self.findings.not_understood("it has too many calls to be read");
        }
        match sort {
            CallKind::Run => self.run(at, range),
            CallKind::RunByName => self.run_by_name(range),
            CallKind::RunReceiver => self.run_receiver(at),
            CallKind::Load => self.load(range),
            CallKind::Evaluate => self.evaluate(range),
            CallKind::RunOrEvaluate => {
                self.evaluate(range.clone());
                self.run(at, range);
            }
            CallKind::Connect => self.connect(range),
            CallKind::Remove => self.paths(at, range, PathEffect::Remove),
            CallKind::WriteAll => {
                self.rights_of_mode(range.clone());
                self.paths(at, range, PathEffect::Replace);
            }
            CallKind::WriteFirst => self.write_first(range),
            CallKind::WriteReceiver => self.write_receiver(at, range),
            CallKind::Copy => self.transfer(at, range, PathEffect::Read),
            CallKind::Move => self.transfer(at, range, PathEffect::Remove),
            CallKind::Open => self.open(at, range),
            CallKind::Read => self.look(at, range, PathEffect::Read),
            CallKind::List => self.look(at, range, PathEffect::List),
            CallKind::Text => self.take_direct(range),
            CallKind::Folder => self.change_folder(range),
            CallKind::Kill => self.kill(range),
            CallKind::Rights => self.findings.act(RawEffect::Danger(Danger::Rights, "change its rights".to_owned())),
        }
    }

    fn connect(&mut self, range: Range<usize>) {
        let hosts = range.clone().filter_map(|at| match self.program.tokens.get(at) {
            Some(StringToken::Text(text)) => Some(match host_of_url(text) {
                Some(host) => host,
                None => Some(text.clone()).filter(|text| is_host(text)),
            }),
            _ => None,
        });
        let host = hosts.flatten().next().or_else(|| {
            let arguments = self.program.arguments(range).into_iter();
            let values = arguments.flat_map(|argument| self.program.elements(argument));
            values
                .filter_map(|text| host_of_url(&text).unwrap_or_else(|| Some(text).filter(|text| is_host(text))))
                .next()
        });
        self.findings.connect(host);
    }

    fn kill(&mut self, range: Range<usize>) {
        let is_all = |argument: &Range<usize>| {
            self.program.tokens.get(argument.clone())
                == Some(&[StringToken::Sign('-'), StringToken::Number("1".to_owned())])
        };
        let all = self.program.arguments(range).iter().any(is_all);
        self.findings.act(match all {
            true => RawEffect::Danger(Danger::System, "stop all processes".to_owned()),
            false => RawEffect::Process("send a signal to a process".to_owned()),
        });
    }

    /// Notes that the strings of a call are told.
    pub(crate) fn take_all(&mut self, range: Range<usize>) {
        let end = range.end.min(self.taken.len());
        self.taken[range.start.min(end)..end].fill(true);
    }

    /// The same for those that are its words themselves, and not words of calls in it.
    pub(crate) fn take_direct(&mut self, range: Range<usize>) {
        for argument in self.program.arguments(range) {
            let is_text = |at: usize| {
                matches!(
                    self.program.tokens.get(at),
                    Some(StringToken::Text(_) | StringToken::Inserted(_) | StringToken::Sign('+' | '.'))
                )
            };
            if argument.clone().all(is_text) {
                self.take_all(argument);
            }
        }
    }
}

/// The first parts of paths of the system. A text with another one behind its slash is more often an address of a server.
const ROOTS: &[&str] = &[
    "home",
    "root",
    "etc",
    "usr",
    "var",
    "opt",
    "bin",
    "sbin",
    "lib",
    "lib64",
    "boot",
    "dev",
    "proc",
    "sys",
    "run",
    "srv",
    "mnt",
    "media",
    "tmp",
    "snap",
    "nix",
    "data",
    "Users",
    "Library",
    "System",
    "Applications",
    "",
];

/// Returns whether a text is an address of a server, such as `/items/1`, and no path of the system.
pub(crate) fn is_route(text: &str) -> bool {
    let first = text.strip_prefix('/').map(|rest| rest.split(['/', '*', GLOB]).next().unwrap_or_default());
    first.is_some_and(|first| !ROOTS.contains(&first) && !first.contains(GAP))
}

fn is_host(text: &str) -> bool {
    text == "localhost" || text.contains('.') && !text.contains(['/', ' ', GAP])
}
