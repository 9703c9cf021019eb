//! Decides whether a text for another shell means the same as in bash.
//!
//! haft reads every text as bash does. `sh` is dash on many machines: it takes `[[` for a program and `$'…'` for a
//! dollar sign. A text for another shell therefore counts as understood only where both shells agree on it. The scan goes
//! from left to right and stops at the first construct on which they differ: up to there they agree on the quotes.
//!
//! Not here: commands that only one of the shells has, whose names may come out of a variable (`walk/dialects`).

use crate::value::ShellValue;

/// The language of a shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShellDialect {
    /// bash.
    Bash,
    /// `sh`, whichever shell that is: dash, the one of busybox, or bash in its POSIX mode.
    #[default]
    Posix,
    /// zsh, ksh, csh, fish and their kin, which differ in more.
    Foreign,
}

impl ShellDialect {
    /// Returns the language of the shell that a program is or starts, by its words: most programs start `sh`.
    pub(crate) fn started_by(words: &[ShellValue]) -> Self {
        let name = words.first().map(ShellValue::shown).unwrap_or_default();
        match name.rsplit('/').next().unwrap_or_default() {
            "bash" | "rbash" if !words.iter().any(|word| word.shown().ends_with("posix")) => ShellDialect::Bash,
            name if FOREIGN.contains(&name) => ShellDialect::Foreign,
            _ => ShellDialect::Posix,
        }
    }

    /// Returns whether a text means the same in this language as in bash.
    pub(crate) fn agrees_on(self, text: &str) -> bool {
        match self {
            ShellDialect::Bash => true,
            ShellDialect::Posix => DialectScan::new(text).whole().is_some(),
            ShellDialect::Foreign => is_plain(text),
        }
    }
}

/// Shells that have less in common with bash than `sh` has.
const FOREIGN: &[&str] = &[
    "zsh", "ksh", "ksh93", "mksh", "oksh", "loksh", "yash", "csh", "tcsh", "fish", "rc", "es", "xonsh", "nu", "elvish",
];

/// Words that set something or begin a construct in a shell that has little in common with bash.
const WORDS_OF_OTHERS: &[&str] = &[
    "set", "setenv", "unset", "unsetenv", "export", "alias", "eval", "source", ".", "repeat", "foreach", "for",
    "while", "until", "if", "switch", "case", "begin", "end", "function", "select", "time", "read", "printf",
    "typeset", "declare", "local", "let", "print", "emulate", "noglob", "exec", "trap",
];

/// Returns whether a text is words, plain quotes and the signs on which all shells agree.
fn is_plain(text: &str) -> bool {
    let is_usual = |letter: char| letter.is_alphanumeric() || " \n_./-,:+*?;&|<>'\"~".contains(letter);
    let has_own_sign = ["|&", "&>", ">&", "<&", "<<", "<(", ">(", ";;", ";&", "~+", "~-", "**"];
    text.chars().all(is_usual)
        && !has_own_sign.iter().any(|sign| text.contains(sign))
        && !text.split(|letter: char| letter.is_whitespace() || ";&|'\"".contains(letter)).any(|word| {
            let is_of_user = word.starts_with('~') && word.len() > 1 && !word.starts_with("~/");
            WORDS_OF_OTHERS.contains(&word) || is_of_user
        })
}

/// Words that begin a construct in bash alone.
const OF_BASH: &[&str] = &["[[", "function", "select", "coproc"];
/// Words behind which a command begins.
const BEFORE_COMMAND: &[&str] = &["if", "then", "else", "elif", "do", "while", "until", "!", "{"];
/// Variables that bash sets by itself, and which are empty elsewhere.
const VARIABLES_OF_BASH: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "UID",
    "EUID",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "FUNCNAME",
    "PIPESTATUS",
    "DIRSTACK",
    "GROUPS",
    "SHLVL",
    "REPLY",
    "MAPFILE",
    "COLUMNS",
    "LINES",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "LINENO",
    "OLDPWD",
    "_",
];

/// The end of the list that is scanned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanEnd {
    Text,
    Parenthesis,
}

/// Scans a text for the shell; gives nothing where the shells differ.
struct DialectScan {
    letters: Vec<char>,
    at: usize,
    /// The word that is read just now, without its quotes.
    word: String,
    /// Whether a part of that word is quoted, or comes out of a variable.
    is_changed: bool,
    /// Whether the next word is the name of a command.
    begins: bool,
}

impl DialectScan {
    fn new(text: &str) -> Self {
        Self { letters: text.chars().collect(), at: 0, word: String::new(), is_changed: false, begins: true }
    }

    fn whole(mut self) -> Option<()> {
        self.list(ScanEnd::Text)
    }

    fn next(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.next(0)?;
        self.at += 1;
        Some(letter)
    }

    fn take_letter(&mut self) {
        let letter = self.take();
        self.word.extend(letter);
    }

    fn is_in_word(&self) -> bool {
        self.is_changed || !self.word.is_empty()
    }

    fn list(&mut self, end: ScanEnd) -> Option<()> {
        while let Some(letter) = self.next(0) {
            match letter {
                ' ' | '\t' => self.blank(end)?,
                '\n' | ';' | '&' | '|' => self.operator(letter, end)?,
                '(' => self.parenthesis(end)?,
                ')' => {
                    self.end_word(end)?;
                    self.at += 1;
                    self.begins = true;
                    if end == ScanEnd::Parenthesis {
                        return Some(());
                    }
                }
                '<' | '>' => self.redirection(end)?,
                '#' if !self.is_in_word() => {
                    while self.next(0).is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                _ => self.part(letter)?,
            }
        }
        self.end_word(end)?;
        (end == ScanEnd::Text).then_some(())
    }

    fn blank(&mut self, end: ScanEnd) -> Option<()> {
        self.end_word(end)?;
        self.at += 1;
        Some(())
    }

    fn operator(&mut self, letter: char, end: ScanEnd) -> Option<()> {
        self.end_word(end)?;
        self.at += 1;
        self.begins = true;
        let is_of_bash = matches!((letter, self.next(0)), ('|' | ';', Some('&')) | ('&', Some('>')));
        (!is_of_bash).then_some(())
    }

    /// Ends a word, and looks whether it begins a construct.
    fn end_word(&mut self, end: ScanEnd) -> Option<()> {
        if !self.is_in_word() {
            return Some(());
        }
        let word = std::mem::take(&mut self.word);
        let is_plain = !std::mem::take(&mut self.is_changed);
        let begins = std::mem::replace(&mut self.begins, false);
        let is_of_bash = OF_BASH.contains(&word.as_str()) || begins && word == "time";
        // The parenthesis behind a pattern is not the end of a list, and this scan does not tell them apart.
        let hides_end = begins && word == "case" && end == ScanEnd::Parenthesis;
        if is_plain && (is_of_bash || hides_end) {
            return None;
        }
        let name = word.split_once('=').map(|(name, _)| name);
        let is_name = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        self.begins = begins && (is_plain && BEFORE_COMMAND.contains(&word.as_str()) || name.is_some_and(is_name));
        let is_of_arrays = name.is_some_and(|name| name.ends_with(['+', ']']));
        (!is_of_arrays).then_some(())
    }

    /// A subshell, or the parentheses of a function. Any other one is of bash.
    fn parenthesis(&mut self, end: ScanEnd) -> Option<()> {
        if self.is_in_word() {
            let is_function = !self.is_changed && self.begins && self.next(1) == Some(')');
            self.at += 2;
            self.word.clear();
            return is_function.then_some(());
        }
        self.at += 1;
        if self.next(0) == Some('(') || !self.begins && end == ScanEnd::Parenthesis {
            return None;
        }
        self.list(ScanEnd::Parenthesis)
    }

    fn redirection(&mut self, end: ScanEnd) -> Option<()> {
        let is_number = !self.is_changed && !self.word.is_empty() && self.word.chars().all(|one| one.is_ascii_digit());
        match is_number {
            true if self.word.len() > 1 => return None,
            true => self.word.clear(),
            false => self.end_word(end)?,
        }
        let (first, second, third) = (self.take()?, self.next(0), self.next(1));
        match (first, second) {
            ('<', Some('<' | '(')) | ('>', Some('(')) => return None,
            (_, Some('&')) => {
                let is_descriptor = third.is_some_and(|one| one.is_ascii_digit() || one == '-');
                let is_whole = self.next(2).is_none_or(|one| " \t\n;&|)<>".contains(one));
                if !is_descriptor || !is_whole {
                    return None;
                }
                self.at += 2;
            }
            ('>', Some('>' | '|')) | ('<', Some('>')) => self.at += 1,
            _ => {}
        }
        Some(())
    }

    /// One part of a word.
    fn part(&mut self, letter: char) -> Option<()> {
        match letter {
            '\'' => {
                self.at += 1;
                self.is_changed = true;
                loop {
                    match self.take()? {
                        '\'' => return Some(()),
                        letter => self.word.push(letter),
                    }
                }
            }
            '"' => {
                self.at += 1;
                self.is_changed = true;
                self.in_quotes()
            }
            '\\' => {
                self.at += 1;
                self.is_changed = true;
                self.take_letter();
                Some(())
            }
            '$' | '`' => self.expansion(),
            // Braces that bash expands, or a descriptor in a variable.
            '{' if self.next(1).is_some_and(|next| !next.is_whitespace() && next != '}') => None,
            '[' if self.next(1) == Some('^') => None,
            '~' if !self.is_in_word() && self.next(1).is_some_and(|next| "+-0123456789".contains(next)) => None,
            letter => {
                self.at += 1;
                self.word.push(letter);
                Some(())
            }
        }
    }

    fn in_quotes(&mut self) -> Option<()> {
        loop {
            match self.next(0)? {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '\\' => {
                    self.at += 1;
                    self.take_letter();
                }
                '$' if self.next(1).is_none_or(|next| "\"' /|)%.,:;\\".contains(next)) => {
                    self.at += 1;
                    self.word.push('$');
                }
                '$' | '`' => self.expansion()?,
                letter => {
                    self.at += 1;
                    self.word.push(letter);
                }
            }
        }
    }

    /// `$x`, `${x}`, `$(…)`, `$((…))` and backticks.
    fn expansion(&mut self) -> Option<()> {
        self.is_changed = true;
        if self.take()? == '`' {
            let is_simple = |letter: char| letter.is_ascii_alphanumeric() || " _./+-".contains(letter);
            while self.next(0).is_some_and(is_simple) {
                self.at += 1;
            }
            return (self.take()? == '`').then_some(());
        }
        match self.next(0) {
            Some('(') if self.next(1) == Some('(') => self.arithmetic(),
            Some('(') => self.substitution(),
            Some('{') => self.braced(),
            Some('\'' | '"' | '[') => None,
            Some(digit) if digit.is_ascii_digit() => {
                self.at += 1;
                self.next(0).is_none_or(|next| !next.is_ascii_digit()).then_some(())
            }
            Some(letter) if is_of_name(letter) => {
                let name = self.name();
                is_shared_variable(&name).then_some(())
            }
            Some(letter) if "@*#?$!-".contains(letter) => {
                self.at += 1;
                Some(())
            }
            _ => Some(()),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.next(0).filter(|letter| is_of_name(*letter)) {
            name.push(letter);
            self.at += 1;
        }
        name
    }

    fn substitution(&mut self) -> Option<()> {
        self.at += 1;
        let word = std::mem::take(&mut self.word);
        let begins = std::mem::replace(&mut self.begins, true);
        self.is_changed = false;
        self.list(ScanEnd::Parenthesis)?;
        self.word = word;
        self.begins = begins;
        self.is_changed = true;
        Some(())
    }

    /// Arithmetic as both shells have it.
    fn arithmetic(&mut self) -> Option<()> {
        self.at += 2;
        let mut depth = 2;
        let mut before = ' ';
        while depth > 0 {
            let letter = self.take()?;
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                '*' | '+' | '-' if letter == before => return None,
                '$' if self.next(0).is_none_or(|next| !is_of_name(next)) => return None,
                _ if is_of_name(letter) || " +-*/%<>=!&|^~?:$".contains(letter) => {}
                _ => return None,
            }
            before = letter;
        }
        Some(())
    }

    /// `${…}` as both shells have it; what stands behind the operator is plain.
    fn braced(&mut self) -> Option<()> {
        self.at += 1;
        if self.next(0) == Some('#') && self.next(1).is_some_and(is_of_name) {
            self.at += 1;
            let name = self.name();
            return (self.take()? == '}' && is_shared_variable(&name)).then_some(());
        }
        let mut name = self.name();
        if name.is_empty() {
            name = self.take().filter(|letter| "@*#?$!-".contains(*letter))?.to_string();
        }
        let rest: String = self.letters[self.at..].iter().take_while(|letter| **letter != '}').collect();
        self.at += rest.chars().count() + 1;
        let operators = [":-", ":=", ":?", ":+", "%%", "##", "-", "=", "?", "+", "%", "#"];
        let word = operators.iter().find_map(|operator| rest.strip_prefix(operator)).unwrap_or(&rest);
        let is_plain = |letter: char| is_of_name(letter) || "./*?-+:,@ =%$".contains(letter);
        let is_known = rest.is_empty() || word.len() < rest.len() && word.chars().all(is_plain);
        // What begins with another operator is of bash: `${x:1}`, `${x/a/b}`, `${!x}`.
        (is_known && is_shared_variable(&name) && self.at <= self.letters.len()).then_some(())
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_shared_variable(name: &str) -> bool {
    !VARIABLES_OF_BASH.contains(&name) && !name.starts_with("BASH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sh_and_bash_read_alike_is_agreed_on() {
        for text in [
            "ls",
            "cd src && ls -la",
            "echo \"$1\" 2>&1 >/dev/null",
            "for f in *.txt; do cat \"$f\"; done",
            "if [ -f a ]; then cat a; else echo 'no $x [[ here'; fi",
            "case $1 in a) ls ;; *) pwd ;; esac",
            "x=$(ls | head -n 1); echo \"${x:-none}\" \"${x%.txt}\"",
            "find . -name '*.rs' -exec grep -l \"a$\" {} +",
            "echo $((1 + 2)) `date`",
            "f() { ls; }; f",
            "{ ls; pwd; } > out.txt # it's done",
            "exec \"$@\"",
            "grep '[[:space:]]' a; ls [[:alpha:]]*",
            "(cd src; ls) | sort",
        ] {
            assert!(ShellDialect::Posix.agrees_on(text), "{text}");
        }
    }

    #[test]
    fn what_only_bash_reads_is_not_agreed_on() {
        for text in [
            "[[ x == a || ./evil.sh ]]",
            "[[ a > c2 ]]",
            "((x > c2))",
            "echo $'a'",
            "echo \"a\" $\"b\"",
            "cat <<< a",
            "ls &> out",
            "ls >& out",
            "ls |& cat",
            "cat <(ls)",
            "ls > >(cat)",
            "echo {a,b}",
            "x=(a b)",
            "x+=b",
            "x[1]=b",
            "function f { ls; }",
            "select x in a; do ls; done",
            "coproc ls",
            "time { ls; }",
            "case a in a) ls ;& b) pwd ;; esac",
            "echo ${x//a/b} ${x:1} ${!x}",
            "echo $RANDOM ${BASH_VERSION}",
            "echo $10",
            "echo $[1]",
            "cat 10<a",
            "ls [^a]",
            "ls @(a|b)",
            "ls ~+",
            "echo $((x++)) $((2**3))",
            "cat <<E\n[[\nE",
            "echo \"`echo \\\"`\"",
            "echo 'open",
        ] {
            assert!(!ShellDialect::Posix.agrees_on(text), "{text}");
        }
    }

    #[test]
    fn of_other_shells_only_plain_words_are_agreed_on() {
        for text in ["ls", "ls -la src", "cd src && ls", "cat a.txt | head -n 3 > out.txt", "echo 'a b'"] {
            assert!(ShellDialect::Foreign.agrees_on(text), "{text}");
        }
        for text in
            ["echo $x", "set -x PATH .; ls", "=ls", "ls (a)", "ls ^a", "echo !!", "ls >& x", "ls ~x", "if a; ls"]
        {
            assert!(!ShellDialect::Foreign.agrees_on(text), "{text}");
        }
    }
}
