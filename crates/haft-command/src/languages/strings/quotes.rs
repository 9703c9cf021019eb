//! The strings of a program, in all styles of quoting.

use crate::languages::strings::{Cutter, MOST_DOCUMENTS, StringSyntax, StringToken, is_name};

/// What is put into a string when it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Insertion {
    /// Nothing.
    None,
    /// `$x`, `${…}`, `#{…}`, `@{…}`: in double quotes, and in templates.
    Marked,
    /// `{…}`: in strings of Python with an `f`.
    Braces,
}

/// What comes of backslashes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Resolved,
    Kept,
}

impl Cutter {
    /// Cuts a string of any style, and says whether there was one. A quote that nothing closes is a sign.
    pub(crate) fn quote(&mut self) -> bool {
        match self.peek(0) {
            Some('"' | '\'') => self.plain(0),
            Some('`') => self.backticks(),
            Some('[') if self.dialect == StringSyntax::Dash => self.double_brackets(),
            Some('%') if self.dialect == StringSyntax::Hash && self.begins_argument() => self.percent(),
            Some('<') if self.dialect == StringSyntax::Hash => self.angle() || self.here_document(),
            Some(c) if c.is_ascii_alphabetic() => self.prefixed(),
            _ => false,
        }
    }

    /// Words that begin a string: `r"…"` of Python, `q(…)` and `s/…/…/` of Perl.
    fn prefixed(&mut self) -> bool {
        let length = self.length(is_name);
        let word: String = self.text[self.at..self.at + length].iter().collect();
        let is_behind_dot = self.at > 0 && matches!(self.text[self.at - 1], '.' | '>' | ':' | '$' | '@');
        match word.to_lowercase().as_str() {
            "r" | "b" | "f" | "u" | "rb" | "br" | "fr" | "rf" if matches!(self.peek(length), Some('"' | '\'')) => {
                self.plain(length)
            }
            _ if self.dialect != StringSyntax::Hash || is_behind_dot => false,
            "q" | "qq" | "qw" | "qx" => self.with_delimiters(length, word.chars().last().unwrap_or('q')),
            "s" | "tr" | "y" | "m" | "qr" => self.substitution(length, &word),
            _ => false,
        }
    }

    fn plain(&mut self, prefix: usize) -> bool {
        let letters: String = self.text[self.at..self.at + prefix].iter().collect::<String>().to_lowercase();
        let Some(quote) = self.peek(prefix) else { return false };
        let is_triple = self.peek(prefix + 1) == Some(quote) && self.peek(prefix + 2) == Some(quote);
        let close = String::from(quote).repeat(if is_triple { 3 } else { 1 });
        let start = prefix + close.len();
        let Some(end) = self.closing(start, &close) else { return false };
        let insertion = match quote {
            _ if letters.contains('f') => Insertion::Braces,
            '"' if self.dialect == StringSyntax::Hash => Insertion::Marked,
            _ => Insertion::None,
        };
        let escapes = if letters.contains('r') { Escapes::Kept } else { Escapes::Resolved };
        self.literal(start, end, (insertion, escapes));
        self.at += end + close.len();
        true
    }

    /// Text in backticks is run, but in JavaScript.
    fn backticks(&mut self) -> bool {
        let Some(end) = self.closing(1, "`") else { return false };
        if self.dialect != StringSyntax::Slash {
            self.tokens.push(StringToken::Word("qx".to_owned()));
        }
        self.literal_in_parentheses(1, end, (Insertion::Marked, Escapes::Resolved));
        self.at += end + 1;
        true
    }

    /// `[[…]]` and `[=[…]=]` of Lua.
    fn double_brackets(&mut self) -> bool {
        let level = self.text[self.at + 1..].iter().take_while(|c| **c == '=').count();
        if self.peek(level + 1) != Some('[') {
            return false;
        }
        let close = format!("]{}]", "=".repeat(level));
        let Some(end) = self.find(&close, level + 2) else { return false };
        self.literal(level + 2, end, (Insertion::None, Escapes::Kept));
        self.at += end + close.len();
        true
    }

    /// Not so where it divides: `a %w` and `a % w` are behind a value.
    fn begins_argument(&self) -> bool {
        let is_behind_name = matches!(self.tokens.last(), Some(StringToken::Word(_)));
        let is_behind_blank = self.at > 0 && self.text[self.at - 1] == ' ';
        !self.ends_value() || (is_behind_name && is_behind_blank)
    }

    /// `%w[…]`, `%x(…)`, `%q(…)`, `%(…)` of Ruby.
    fn percent(&mut self) -> bool {
        match (self.peek(1), self.peek(2)) {
            (Some(sort @ ('w' | 'W' | 'x' | 'q' | 'Q' | 'i' | 'I')), Some(open)) if is_delimiter(open) => {
                self.with_delimiters(2, sort.to_ascii_lowercase())
            }
            (Some('(' | '{' | '['), _) => self.with_delimiters(1, 'q'),
            _ => false,
        }
    }

    /// `q(…)` and its kin; the sort is `w` for words and `x` for what is run.
    fn with_delimiters(&mut self, prefix: usize, sort: char) -> bool {
        let blanks = self.text[self.at + prefix..].iter().take_while(|c| **c == ' ').count();
        let prefix = prefix + blanks;
        let Some(open) = self.peek(prefix).filter(|c| is_delimiter(*c)) else { return false };
        let Some(end) = self.balanced(prefix + 1, open) else { return false };
        match sort {
            'w' | 'i' => {
                let words: String = self.text[self.at + prefix + 1..self.at + end].iter().collect();
                self.tokens.push(StringToken::Sign('['));
                for word in words.split_whitespace() {
                    self.tokens.extend([StringToken::Text(word.to_owned()), StringToken::Sign(',')]);
                }
                self.tokens.push(StringToken::Sign(']'));
            }
            'x' => {
                self.tokens.push(StringToken::Word("qx".to_owned()));
                self.literal_in_parentheses(prefix + 1, end, (Insertion::Marked, Escapes::Resolved));
            }
            _ => self.literal(prefix + 1, end, (Insertion::Marked, Escapes::Resolved)),
        }
        self.at += end + 1;
        true
    }

    /// `s/…/…/`, `tr/…/…/`, `m/…/` of Perl. With the flag `e` the replacement is code.
    fn substitution(&mut self, length: usize, word: &str) -> bool {
        let Some(open) = self.peek(length).filter(|c| "/|{!#~".contains(*c)) else { return false };
        let Some(middle) = self.balanced(length + 1, open) else { return false };
        let pattern: String = self.text[self.at + length + 1..self.at + middle].iter().collect();
        let mut end = middle;
        let mut replacement = String::new();
        if !matches!(word, "m" | "qr") {
            let start = if open == '{' { self.find("{", middle + 1).map(|at| at + 1) } else { Some(middle + 1) };
            let Some((start, found)) = start.and_then(|start| Some((start, self.balanced(start, open)?))) else {
                return false;
            };
            replacement = self.text[self.at + start..self.at + found].iter().collect();
            end = found;
        }
        let flags: String = self.text[self.at + end + 1..].iter().take_while(|c| c.is_ascii_alphabetic()).collect();
        self.code_in_pattern(&pattern);
        if word == "s" && flags.contains('e') {
            self.code(&replacement);
        }
        // Letters that are changed one by one can spell anything.
        let token = if matches!(word, "tr" | "y") { StringToken::Word("tr".to_owned()) } else { StringToken::Pattern };
        self.push(token, end + 1 + flags.len());
        true
    }

    /// `<~/*>` of Perl names files.
    fn angle(&mut self) -> bool {
        let Some(end) = self.find(">", 1).filter(|end| *end < 200) else { return false };
        let text: String = self.text[self.at + 1..self.at + end].iter().collect();
        if text.contains([' ', '\n', '<', '"', '\'', '(']) || !text.contains(['*', '~']) {
            return false;
        }
        self.tokens.extend([
            StringToken::Word("glob".to_owned()),
            StringToken::Sign('('),
            StringToken::Text(text),
            StringToken::Sign(')'),
        ]);
        self.at += end + 1;
        true
    }

    /// `<<EOF`, whose text begins on the next line.
    fn here_document(&mut self) -> bool {
        if !self.starts_with("<<") || self.documents >= MOST_DOCUMENTS {
            return false;
        }
        let line: String = self.text[self.at + 2..].iter().take_while(|c| **c != '\n').collect();
        let rest = line.trim_start_matches(['<', '~', '-', '"', '\'']);
        let name: String = rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
        if name.is_empty() {
            return false;
        }
        self.documents += 1;
        let body_start = self.at + 2 + line.chars().count();
        let body: String = self.text[body_start..].iter().collect();
        let Some(ending) = body.lines().skip(1).position(|line| line.trim() == name) else { return false };
        let lines: Vec<&str> = body.lines().skip(1).take(ending).collect();
        let taken: usize = body.lines().take(ending + 2).map(|line| line.chars().count() + 1).sum();
        self.tokens.push(StringToken::Text(lines.join("\n")));
        // The rest of its own line is cut as if the text were not there.
        let skipped = line.chars().count() - rest.chars().count() + name.chars().count();
        let end = (body_start + taken).min(self.text.len());
        self.text.drain(body_start..end);
        self.text.insert(body_start.min(self.text.len()), '\n');
        self.at += 2 + skipped;
        if matches!(self.peek(0), Some('"' | '\'')) {
            self.at += 1;
        }
        true
    }

    fn literal_in_parentheses(&mut self, start: usize, end: usize, style: (Insertion, Escapes)) {
        self.tokens.push(StringToken::Sign('('));
        self.literal(start, end, style);
        self.tokens.push(StringToken::Sign(')'));
    }

    fn literal(&mut self, start: usize, end: usize, (insertion, escapes): (Insertion, Escapes)) {
        let characters: Vec<char> = self.text[self.at + start..self.at + end].to_vec();
        let mut known = String::new();
        let mut at = 0;
        while at < characters.len() {
            let rest = &characters[at..];
            if rest[0] == '\\' && escapes == Escapes::Resolved {
                let (c, length) = escape(&rest[1..]);
                known.extend(c);
                at += 1 + length;
            } else if let Some((inserted, length)) = inserted(rest, insertion) {
                self.tokens.push(StringToken::Text(std::mem::take(&mut known)));
                match inserted {
                    Interpolation::Code(code) => self.code(&code),
                    Interpolation::Variable(name) => self.tokens.push(StringToken::Inserted(name)),
                }
                at += length;
            } else {
                let is_doubled = insertion == Insertion::Braces && rest.len() > 1 && rest[0] == rest[1];
                known.push(rest[0]);
                at += if is_doubled && matches!(rest[0], '{' | '}') { 2 } else { 1 };
            }
        }
        self.tokens.push(StringToken::Text(known));
    }

    /// Finds the end of a string, past escaped quotes.
    fn closing(&self, start: usize, close: &str) -> Option<usize> {
        let close: Vec<char> = close.chars().collect();
        let mut at = start;
        loop {
            match self.peek(at)? {
                '\\' => at += 2,
                _ if self.text[self.at + at..].starts_with(&close) => return Some(at),
                _ => at += 1,
            }
        }
    }

    /// Finds the delimiter that closes, past pairs of them.
    fn balanced(&self, start: usize, open: char) -> Option<usize> {
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let mut depth = 0_usize;
        let mut at = start;
        loop {
            match self.peek(at)? {
                '\\' => at += 1,
                c if c == close && depth == 0 => return Some(at),
                c if c == close => depth -= 1,
                c if c == open => depth += 1,
                _ => {}
            }
            at += 1;
        }
    }
}

/// Code or a variable that a string interpolates.
enum Interpolation {
    Code(String),
    Variable(String),
}

/// What is inserted at the beginning of the text, and how long it is.
fn inserted(text: &[char], insertion: Insertion) -> Option<(Interpolation, usize)> {
    let second = text.get(1).copied();
    let opens = match (insertion, text[0]) {
        (Insertion::Braces, '{') if second != Some('{') => 0,
        (Insertion::Marked, '$' | '#' | '@') if second == Some('{') => 1,
        (Insertion::Marked, '$') if second.is_some_and(is_name) => {
            let length = 1 + text[1..].iter().take_while(|c| is_name(**c) || c.is_ascii_digit()).count();
            let name: String = text[..length].iter().collect();
            return match (name.as_str(), text.get(length)) {
                ("$ENV" | "$_SERVER" | "$_ENV", Some('{' | '[')) => {
                    let end = length + text[length..].iter().position(|c| matches!(c, '}' | ']'))?;
                    Some((Interpolation::Code(text[..=end].iter().collect()), end + 1))
                }
                _ => Some((Interpolation::Variable(name), length)),
            };
        }
        _ => return None,
    };
    let mut depth = 0_usize;
    for (at, c) in text.iter().enumerate().skip(opens) {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => {
                let code: String = text[opens + 1..at].iter().collect();
                // `${HOME}` in a string that is no template is for the shell.
                let is_name_only = text[0] == '$' && code.chars().all(|c| is_name(c) || c.is_ascii_digit());
                let inserted =
                    if is_name_only { Interpolation::Variable(format!("${code}")) } else { Interpolation::Code(code) };
                return Some((inserted, at + 1));
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What stands behind a backslash, and how long it is.
fn escape(text: &[char]) -> (Option<char>, usize) {
    let digits = |radix: u32, from: usize, most: usize| {
        let is_braced = text.get(from) == Some(&'{');
        let start = from + usize::from(is_braced);
        let rest = text.get(start..).unwrap_or_default();
        let digits: String =
            rest.iter().take(if is_braced { 8 } else { most }).take_while(|c| c.is_digit(radix)).collect();
        let c = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32);
        (c, start + digits.len() + usize::from(is_braced))
    };
    match text.first() {
        None => (Some('\\'), 0),
        Some('n') => (Some('\n'), 1),
        Some('t') => (Some('\t'), 1),
        Some('r') => (Some('\r'), 1),
        Some('\n') => (None, 1),
        Some('x') => digits(16, 1, 2),
        Some('u') => digits(16, 1, 4),
        Some('U') => digits(16, 1, 8),
        Some('0'..='7') => digits(8, 0, 3),
        Some(c) => (Some(*c), 1),
    }
}

fn is_delimiter(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, ',' | ';' | ')' | '=' | '.' | '_' | ']' | '}' | '>')
}
