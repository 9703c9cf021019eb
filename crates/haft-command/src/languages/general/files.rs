//! Calls that work with files.

use std::ops::Range;

use haft_contract::effect::Danger;

use crate::act::{PathEffect, RawEffect};
use crate::languages::general::calls::CallReader;
use crate::languages::general::findings::Is;
use crate::languages::marks::is_open;
use crate::languages::strings::StringToken;

impl CallReader<'_> {
    /// The paths that a call names; the one before its dot where it has no others.
    pub(crate) fn paths(&mut self, at: usize, range: Range<usize>, deed: PathEffect) {
        let mut is_known = false;
        if let Some(receiver) = self.program.receiver(at) {
            is_known = self.findings.path(deed, &receiver);
        }
        let mut is_open = false;
        for argument in self.program.arguments(range.clone()) {
            let Some(argument) = self.without_key(argument) else { continue };
            let is_number =
                argument.len() == 1 && matches!(self.program.tokens.get(argument.start), Some(StringToken::Number(_)));
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

    pub(crate) fn write_first(&mut self, range: Range<usize>) {
        let first = self.program.arguments(range.clone()).into_iter().next();
        let is_known = first.clone().is_some_and(|first| {
            let path = self.program.value(first);
            self.findings.path(PathEffect::Replace, &path)
        });
        self.take_direct(range);
        self.done(PathEffect::Replace, first.unwrap_or_default(), if is_known { Is::Known } else { Is::Open });
    }

    pub(crate) fn write_receiver(&mut self, at: usize, range: Range<usize>) {
        let receiver = self.program.receiver(at);
        let is_known = receiver.is_some_and(|receiver| self.findings.path(PathEffect::Replace, &receiver));
        self.take_direct(range);
        self.done(PathEffect::Replace, 0..0, if is_known { Is::Known } else { Is::Open });
    }

    pub(crate) fn transfer(&mut self, at: usize, range: Range<usize>, from: PathEffect) {
        let mut paths: Vec<String> = self.program.receiver(at).into_iter().collect();
        for argument in self.program.arguments(range.clone()) {
            if !self.program.is_sign(argument.start, '{') {
                paths.extend(self.program.elements(argument));
            }
        }
        let to = paths.pop().unwrap_or_default();
        let mut is_known = self.findings.path(PathEffect::Replace, &to) && !paths.is_empty();
        for path in paths {
            is_known &= self.findings.path(from, &path);
        }
        let deed = if from == PathEffect::Remove { PathEffect::Remove } else { PathEffect::Replace };
        self.done(deed, range, if is_known { Is::Known } else { Is::Open });
    }

    pub(crate) fn open(&mut self, at: usize, range: Range<usize>) {
        let mut words: Vec<String> = self.program.receiver(at).into_iter().collect();
        for argument in self.program.arguments(range.clone()) {
            let is_mode = self.program.word(argument.start) == Some("mode");
            match self.without_key(argument.clone()) {
                Some(argument) => words.push(self.program.value(argument)),
                None if is_mode => words.push(self.program.value(argument.start + 2..argument.end)),
                None => {}
            }
        }
        match opened(&words) {
            OpenedFile::Run(words) => {
                self.findings.runs.at_least(Is::Known);
                self.take_all(range);
                match words.as_slice() {
                    [command] => self.findings.script(command),
                    words => self.findings.words(words),
                }
            }
            OpenedFile::Path(deed, path) => {
                let is_known = self.findings.path(deed, &path);
                self.done(deed, range, if is_known { Is::Known } else { Is::Open });
            }
        }
    }

    pub(crate) fn look(&mut self, at: usize, range: Range<usize>, deed: PathEffect) {
        let receiver = self.program.receiver(at);
        let first = self.program.arguments(range.clone()).into_iter().next().map(|first| self.program.value(first));
        let is_module = self.program.word(at) == Some("require");
        let looks_like_path = |text: &String| !is_module || text.starts_with(['/', '~', '.']);
        for path in receiver.into_iter().chain(first).filter(looks_like_path) {
            if self.findings.path(deed, &path) {
                self.take_all(range.clone());
            }
        }
    }

    pub(crate) fn change_folder(&mut self, range: Range<usize>) {
        let folder = self.program.value(range.clone());
        self.take_all(range);
        if !folder.is_empty() {
            self.findings.folder = Some(folder);
        }
    }

    /// A mode such as 4755 or `u+s` lets others run a file with its owner's rights.
    pub(crate) fn rights_of_mode(&mut self, range: Range<usize>) {
        let gains = range.clone().any(|at| match self.program.tokens.get(at) {
            Some(StringToken::Number(number)) => {
                let digits = number.trim_start_matches(['0', 'o', 'O']);
                digits.len() == 4 && digits.starts_with(['2', '4', '6', '7'])
            }
            Some(StringToken::Text(mode)) => mode.contains("+s"),
            Some(StringToken::Word(word)) => word == "S_ISUID" || word == "S_ISGID",
            _ => false,
        });
        if gains {
            self.findings
                .act(RawEffect::Danger(Danger::Rights, "let a file be run with the rights of its owner".to_owned()));
        }
    }

    fn done(&mut self, deed: PathEffect, range: Range<usize>, is: Is) {
        match deed {
            PathEffect::Remove => self.findings.removes.at_least(is),
            PathEffect::Replace => self.findings.writes.at_least(is),
            _ => {}
        }
        if is == Is::Known {
            self.take_all(range);
        }
    }
}

enum OpenedFile {
    Run(Vec<String>),
    Path(PathEffect, String),
}

/// What is opened and how: `open("x", "w")`, `open(F, ">x")`, `open(F, "-|", "ls")`.
fn opened(words: &[String]) -> OpenedFile {
    let after = |at: usize| words.get(at + 1..).unwrap_or_default().to_vec();
    for (at, word) in words.iter().enumerate() {
        let word = word.trim();
        if matches!(word, "-|" | "|-") {
            return OpenedFile::Run(after(at));
        }
        if let Some(command) = word.strip_prefix('|').or_else(|| word.strip_suffix('|')) {
            return OpenedFile::Run(vec![command.trim().to_owned()]);
        }
        for (mode, deed) in [
            (">>", PathEffect::Replace),
            (">", PathEffect::Replace),
            ("+<", PathEffect::Replace),
            ("<", PathEffect::Read),
        ] {
            if let Some(path) = word.strip_prefix(mode) {
                let is_alone = path.is_empty() || path.starts_with(':');
                let path = if is_alone { after(at).concat() } else { path.trim().to_owned() };
                return OpenedFile::Path(deed, path);
            }
        }
    }
    // The first word of Perl's is the name of the stream.
    let words = match words {
        [stream, rest @ ..] if is_open(stream) && rest.first().is_some_and(|path| !is_mode(path)) => rest,
        words => words,
    };
    let writes = |mode: &String| is_open(mode) || (is_mode(mode) && mode.contains(['w', 'a', 'x', 'c', '+']));
    let deed = if words.get(1).is_some_and(writes) { PathEffect::Replace } else { PathEffect::Read };
    OpenedFile::Path(deed, words.first().cloned().unwrap_or_default())
}

fn is_mode(text: &str) -> bool {
    let letters = text.split(':').next().unwrap_or_default();
    is_open(text) || (letters.len() <= 4 && letters.chars().all(|c| "rwaxbtUce+".contains(c)))
}
