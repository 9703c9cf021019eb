//! The calls of a program, and what each of them does with its words.

use std::ops::Range;

use haft::effect::Danger;

use super::super::marks::{self, GAP, is_open};
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
            None if program.is_sign(open, '[') || program.word(open.wrapping_sub(1)) == Some("getattr") => {
                self.findings.not_understood("it calls something by a name that is known only when it runs");
            }
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
        match names::sort_of_mention(name) {
            Some(Sort::Run) if !is_import => self.findings.runs.at_least(Is::Open),
            Some(Sort::Remove) if !is_import => self.findings.removes.at_least(Is::Open),
            _ => {}
        }
    }

    fn call(&mut self, sort: Sort, at: usize, range: Range<usize>) {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return self.findings.not_understood("it has too many calls to be read");
        }
        match sort {
            Sort::Run => self.run(at, range),
            Sort::RunByName => self.run_by_name(range),
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
            Sort::Copy => self.from_to(at, range, Deed::Read),
            Sort::Move => self.from_to(at, range, Deed::Remove),
            Sort::Open => self.open(at, range),
            Sort::Read => self.read(at, range),
            Sort::Text => self.take_direct(range),
            Sort::Folder => self.change_folder(range),
            Sort::Kill => self.kill(range),
            Sort::Rights => self.findings.act(Act::Danger(Danger::Rights, "change its rights".to_owned())),
        }
    }

    fn run(&mut self, at: usize, range: Range<usize>) {
        let name = self.program.name(at);
        let last = name.rsplit('.').next().unwrap_or(&name);
        let mut words = self.command_words(range.clone(), 0);
        if last.starts_with("spawnl") || last.starts_with("spawnv") {
            words = words.split_off(words.len().min(1));
        }
        // The program is named twice there: as a file, and as it is to call itself.
        let names_twice =
            ["execl", "execv", "spawnl", "spawnv", "posix_spawn"].iter().any(|begin| last.starts_with(begin));
        if names_twice && words.len() > 1 {
            words.remove(1);
        }
        let is_one = words.len() == 1 || words.first().is_some_and(|word| word.trim().contains([' ', '\n', ';', '|']));
        match words.first() {
            None => return self.findings.runs.at_least(Is::Open),
            Some(first) if is_open(first) && words.len() == 1 => return self.findings.runs.at_least(Is::Open),
            Some(first) if is_one => self.findings.script(first),
            Some(_) => self.findings.words(&words),
        }
        let is_open = words.iter().any(|word| word.contains(GAP));
        self.findings.runs.at_least(if is_open { Is::Open } else { Is::Known });
        self.findings.hands_over |= last == "spawn" && name.starts_with("pty");
        if !is_open {
            self.take_all(range);
        }
    }

    /// The words of a command: those of lists one by one, without options for the one who runs it.
    fn command_words(&mut self, range: Range<usize>, depth: usize) -> Vec<String> {
        let mut words = Vec::new();
        for argument in self.program.arguments(range) {
            let Some(argument) = self.without_key(argument) else { continue };
            let is_function = argument.clone().any(|at| {
                matches!(self.program.word(at), Some("function" | "lambda"))
                    || (self.program.is_sign(at, '=') && self.program.is_sign(at + 1, '>'))
            });
            if self.program.is_sign(argument.start, '{') && depth < 2 {
                let inner = argument.start + 1..self.program.end_of_bracket(argument.start);
                words.extend(self.keyed_words(inner, depth + 1));
            } else if !is_function {
                words.extend(self.program.elements(argument).into_iter().filter(|word| !word.is_empty()));
            }
        }
        words
    }

    /// The words among the fields of an object.
    fn keyed_words(&mut self, range: Range<usize>, depth: usize) -> Vec<String> {
        let mut words = Vec::new();
        for argument in self.program.arguments(range) {
            let is_key = self.program.is_sign(argument.start + 1, ':') || self.program.is_sign(argument.start + 1, '=');
            if is_key && let Some(rest) = self.without_key(argument) {
                words.extend(self.command_words(rest, depth));
            }
        }
        words
    }

    /// The value of a named argument that belongs to the command; the folder is noted, others are left out.
    fn without_key(&mut self, argument: Range<usize>) -> Option<Range<usize>> {
        let key = match self.program.tokens.get(argument.start)? {
            Token::Word(key) | Token::Text(key) => key.as_str(),
            _ => return Some(argument),
        };
        let is_sign = |ahead: usize, sign: char| self.program.is_sign(argument.start + ahead, sign);
        let is_key = (is_sign(1, '=') && !is_sign(2, '=')) || (is_sign(1, ':') && !is_sign(2, ':'));
        if !is_key || argument.len() < 3 {
            return Some(argument);
        }
        let value = argument.start + if is_sign(2, '>') { 3 } else { 2 }..argument.end;
        match key {
            "cwd" | "chdir" => {
                self.change_folder(value);
                None
            }
            "args" | "cmd" | "command" | "executable" | "program" => Some(value),
            _ => None,
        }
    }

    /// `send(:system, …)`, `call_user_func("system", …)`.
    fn run_by_name(&mut self, range: Range<usize>) {
        let arguments = self.program.arguments(range.clone());
        let Some(first) = arguments.first() else { return };
        let named = match self.program.word(first.end.wrapping_sub(1)) {
            Some(word) => word.to_owned(),
            None => self.program.value(first.clone()),
        };
        match names::sort(&named) {
            Some(sort) if sort != Sort::RunByName && sort != Sort::Text => {
                let rest = (first.end + 1).min(range.end)..range.end;
                self.call(sort, range.start, rest);
            }
            _ if is_open(&named) => self.findings.runs.at_least(Is::Open),
            _ => {}
        }
    }

    fn evaluate(&mut self, range: Range<usize>) {
        let code = self.program.arguments(range.clone()).into_iter().next().map(|first| self.program.value(first));
        let code = code.unwrap_or_default();
        if code.is_empty() || is_open(&code) {
            return self.findings.evaluates.at_least(Is::Open);
        }
        self.findings.evaluates.at_least(if code.contains(GAP) { Is::Open } else { Is::Known });
        self.take_all(range);
        super::study(&code, self.findings, self.depth + 1);
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

    /// The paths that a call names; the one before its dot where it has no others.
    fn paths(&mut self, at: usize, range: Range<usize>, deed: Deed) {
        let mut is_known = false;
        if let Some(receiver) = self.program.receiver(at) {
            is_known = self.findings.path(deed, &receiver);
        }
        let mut is_open = false;
        for argument in self.program.arguments(range.clone()) {
            let Some(argument) = self.without_key(argument) else { continue };
            let is_number =
                argument.len() == 1 && matches!(self.program.tokens.get(argument.start), Some(Token::Number(_)));
            if is_number || self.program.is_sign(argument.start, '{') {
                continue;
            }
            for path in self.program.elements(argument) {
                let is_path = self.findings.path(deed, &path);
                is_known |= is_path;
                is_open |= !is_path;
            }
        }
        self.done(deed, range, if is_known && !is_open { Is::Known } else { Is::Open });
    }

    fn write_first(&mut self, range: Range<usize>) {
        let first = self.program.arguments(range.clone()).into_iter().next();
        let is_known = first.clone().is_some_and(|first| {
            let path = self.program.value(first);
            self.findings.path(Deed::Replace, &path)
        });
        self.take_direct(range);
        self.done(Deed::Replace, first.unwrap_or_default(), if is_known { Is::Known } else { Is::Open });
    }

    fn write_receiver(&mut self, at: usize, range: Range<usize>) {
        let receiver = self.program.receiver(at);
        let is_known = receiver.is_some_and(|receiver| self.findings.path(Deed::Replace, &receiver));
        self.take_direct(range);
        self.done(Deed::Replace, 0..0, if is_known { Is::Known } else { Is::Open });
    }

    fn from_to(&mut self, at: usize, range: Range<usize>, from: Deed) {
        let mut paths: Vec<String> = self.program.receiver(at).into_iter().collect();
        for argument in self.program.arguments(range.clone()) {
            if !self.program.is_sign(argument.start, '{') {
                paths.extend(self.program.elements(argument));
            }
        }
        let to = paths.pop().unwrap_or_default();
        let mut is_known = self.findings.path(Deed::Replace, &to) && !paths.is_empty();
        for path in paths {
            is_known &= self.findings.path(from, &path);
        }
        let deed = if from == Deed::Remove { Deed::Remove } else { Deed::Replace };
        self.done(deed, range, if is_known { Is::Known } else { Is::Open });
    }

    fn open(&mut self, at: usize, range: Range<usize>) {
        let mut words: Vec<String> = self.program.receiver(at).into_iter().collect();
        for argument in self.program.arguments(range.clone()) {
            let is_mode = self.program.word(argument.start) == Some("mode");
            match self.without_key(argument.clone()) {
                Some(argument) => words.push(self.program.value(argument)),
                None if is_mode => words.push(self.program.value(argument.start + 2..argument.end)),
                None => {}
            }
        }
        let deed = match opened(&words) {
            Opened::Run(words) => {
                self.findings.runs.at_least(Is::Known);
                self.take_all(range);
                return if words.len() == 1 { self.findings.script(&words[0]) } else { self.findings.words(&words) };
            }
            Opened::Path(deed, path) => {
                let is_known = self.findings.path(deed, &path);
                if is_known { Some((deed, Is::Known)) } else { Some((deed, Is::Open)) }
            }
        };
        if let Some((deed, is)) = deed {
            self.done(deed, range, is);
        }
    }

    fn read(&mut self, at: usize, range: Range<usize>) {
        let receiver = self.program.receiver(at);
        let first = self.program.arguments(range.clone()).into_iter().next().map(|first| self.program.value(first));
        let is_module = self.program.word(at) == Some("require");
        let looks_like_path = |text: &String| !is_module || text.starts_with(['/', '~', '.']);
        for path in receiver.into_iter().chain(first).filter(looks_like_path) {
            if self.findings.path(Deed::Read, &path) {
                self.take_all(range.clone());
            }
        }
    }

    fn change_folder(&mut self, range: Range<usize>) {
        let folder = self.program.value(range.clone());
        self.take_all(range);
        if !folder.is_empty() {
            self.findings.folder = Some(folder);
        }
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

    /// A mode such as 4755 or `u+s` lets others run a file with its owner's rights.
    fn rights_of_mode(&mut self, range: Range<usize>) {
        let gains = range.clone().any(|at| match self.program.tokens.get(at) {
            Some(Token::Number(number)) => {
                let digits = number.trim_start_matches(['0', 'o', 'O']);
                digits.len() == 4 && digits.starts_with(['2', '4', '6', '7'])
            }
            Some(Token::Text(mode)) => mode.contains("+s"),
            Some(Token::Word(word)) => word == "S_ISUID" || word == "S_ISGID",
            _ => false,
        });
        if gains {
            self.findings.act(Act::Danger(Danger::Rights, "let a file be run with the rights of its owner".to_owned()));
        }
    }

    fn done(&mut self, deed: Deed, range: Range<usize>, is: Is) {
        match deed {
            Deed::Remove => self.findings.removes.at_least(is),
            Deed::Replace => self.findings.writes.at_least(is),
            _ => {}
        }
        if is == Is::Known {
            self.take_all(range);
        }
    }

    /// Notes that the strings of a call are told.
    fn take_all(&mut self, range: Range<usize>) {
        let end = range.end.min(self.taken.len());
        self.taken[range.start.min(end)..end].fill(true);
    }

    /// The same for those that are its words themselves, and not words of calls in it.
    fn take_direct(&mut self, range: Range<usize>) {
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

enum Opened {
    Run(Vec<String>),
    Path(Deed, String),
}

/// What is opened and how: `open("x", "w")`, `open(F, ">x")`, `open(F, "-|", "ls")`.
fn opened(words: &[String]) -> Opened {
    let after = |at: usize| words.get(at + 1..).unwrap_or_default().to_vec();
    for (at, word) in words.iter().enumerate() {
        let word = word.trim();
        if matches!(word, "-|" | "|-") {
            return Opened::Run(after(at));
        }
        if let Some(command) = word.strip_prefix('|').or_else(|| word.strip_suffix('|')) {
            return Opened::Run(vec![command.to_owned()]);
        }
        for (mode, deed) in [(">>", Deed::Replace), (">", Deed::Replace), ("+<", Deed::Replace), ("<", Deed::Read)] {
            if let Some(path) = word.strip_prefix(mode) {
                let is_alone = path.is_empty() || path.starts_with(':');
                let path = if is_alone { after(at).concat() } else { path.trim().to_owned() };
                return Opened::Path(deed, path);
            }
        }
    }
    let path = words.first().cloned().unwrap_or_default();
    let is_mode = |mode: &String| mode.contains(GAP) || mode.contains(['w', 'a', 'x', 'c', '+']);
    let deed = if words.get(1).is_some_and(is_mode) { Deed::Replace } else { Deed::Read };
    Opened::Path(deed, path)
}
