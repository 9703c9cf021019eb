//! Cuts a program in a language such as Python, Perl or JavaScript into strings, names and signs.
//!
//! The caller does not name the language. Most differences do not matter here. Two do: how comments begin, and what a
//! backtick means. So haft cuts a program once for each [`StringSyntax`] that it may have. It also cuts the code that a
//! string contains (`f"{x}"`, `#{x}`, `${x}`), as if the program added its value to the string.
//!
//! Not here: what is called with which strings (`general`).

use crate::languages::marks::GAP;

mod quotes;

/// A token of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StringToken {
    /// A string, its escapes resolved.
    Text(String),
    /// A variable that is put into a string by its name.
    Inserted(String),
    /// A name, with the `$`, `@` or `%` before it.
    Word(String),
    /// A number, as it is written.
    Number(String),
    /// A regular expression.
    Pattern,
    /// Any other character.
    Sign(char),
    /// The end of a line.
    Newline,
}

/// How comments begin, and so what a backtick means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringSyntax {
    /// `#`: Python, Perl, Ruby, PHP. Text in backticks is run.
    Hash,
    /// `//`: JavaScript. Text in backticks is a string.
    Slash,
    /// `--`: Lua, which has strings in double brackets.
    Dash,
}

/// The most tokens and here-documents that are read of a program, and how deep code may stand in strings.
const MOST: usize = 4000;
const DEEPEST: usize = 6;
const MOST_DOCUMENTS: usize = 8;

/// Cuts a program into tokens. Returns nothing where there are too many.
pub(crate) fn tokens(text: &str, dialect: StringSyntax) -> Option<Vec<StringToken>> {
    let mut cutter =
        Cutter { text: text.chars().collect(), at: 0, dialect, tokens: Vec::new(), depth: 0, documents: 0 };
    cutter.cut();
    (cutter.tokens.len() <= MOST).then_some(cutter.tokens)
}

struct Cutter {
    text: Vec<char>,
    at: usize,
    dialect: StringSyntax,
    tokens: Vec<StringToken>,
    depth: usize,
    documents: usize,
}

impl Cutter {
    fn cut(&mut self) {
        while let Some(c) = self.peek(0) {
            if self.tokens.len() > MOST {
                return;
            }
            match c {
                '\n' => self.push(StringToken::Newline, 1),
                c if c.is_whitespace() => self.at += 1,
                _ if self.comment() || self.quote() || self.pattern() => {}
                c if c.is_ascii_digit() => self.number(),
                c if is_name(c) || self.begins_sigil() => self.word(),
                GAP => self.push(StringToken::Word(GAP.to_string()), 1),
                c => self.push(StringToken::Sign(c), 1),
            }
        }
    }

    /// Skips a comment, and says whether there was one.
    fn comment(&mut self) -> bool {
        let length = match (self.dialect, self.peek(0), self.peek(1)) {
            (StringSyntax::Hash | StringSyntax::Slash, Some('/'), Some('*')) => match self.find("*/", 2) {
                Some(end) => end + 2,
                None => return false,
            },
            (StringSyntax::Hash, Some('#'), _) => self.line_length(),
            (StringSyntax::Slash, Some('/'), Some('/')) => self.line_length(),
            (StringSyntax::Dash, Some('-'), Some('-')) if self.starts_with("--[[") => {
                self.find("]]", 4).map_or_else(|| self.line_length(), |end| end + 2)
            }
            (StringSyntax::Dash, Some('-'), Some('-')) => self.line_length(),
            _ => return false,
        };
        self.at += length;
        true
    }

    /// Behind a value a slash divides; anywhere else it begins a pattern that ends on its line.
    fn pattern(&mut self) -> bool {
        if self.peek(0) != Some('/') || self.dialect == StringSyntax::Dash || self.ends_value() {
            return false;
        }
        let mut in_brackets = false;
        let mut at = 1;
        while let Some(c) = self.peek(at) {
            match c {
                '\\' => at += 1,
                '\n' => return false,
                '[' => in_brackets = true,
                ']' => in_brackets = false,
                '/' if !in_brackets => {
                    let pattern: String = self.text[self.at + 1..self.at + at].iter().collect();
                    self.code_in_pattern(&pattern);
                    self.push(StringToken::Pattern, at + 1);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Perl runs what stands in `(?{ … })`.
    fn code_in_pattern(&mut self, pattern: &str) {
        if let Some((_, code)) = pattern.split_once("?{") {
            self.code(code);
        }
    }

    fn ends_value(&self) -> bool {
        const BEFORE_PATTERNS: [&str; 12] =
            ["split", "grep", "if", "unless", "and", "or", "not", "return", "when", "while", "map", "print"];
        match self.tokens.last() {
            None | Some(StringToken::Newline) => false,
            Some(StringToken::Word(word)) => !BEFORE_PATTERNS.contains(&word.as_str()),
            Some(StringToken::Sign(c)) => matches!(c, ')' | ']' | '}'),
            Some(_) => true,
        }
    }

    fn number(&mut self) {
        let length = self.length(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let number: String = self.text[self.at..self.at + length].iter().collect();
        // The dots of `1..5` and of `1.method` do not belong to it.
        let number = number.split("..").next().unwrap_or_default().to_owned();
        let length = number.chars().count().max(1);
        self.push(StringToken::Number(number), length);
    }

    fn word(&mut self) {
        let sigil = usize::from(!self.peek(0).is_some_and(is_name));
        let rest = self.text.get(self.at + sigil..).unwrap_or_default();
        let length = sigil + rest.iter().take_while(|c| is_name(**c) || c.is_ascii_digit()).count();
        let word: String = self.text[self.at..self.at + length].iter().collect();
        self.push(StringToken::Word(word), length);
    }

    fn begins_sigil(&self) -> bool {
        let is_sigil = matches!(self.peek(0), Some('$' | '@' | '%'));
        // `10 %n` divides; `%ENV` is a variable.
        is_sigil && self.peek(1).is_some_and(is_name) && !(self.peek(0) == Some('%') && self.ends_value())
    }

    /// Cuts code that stands in something else, as if it were in parentheses and added to what is before.
    fn code(&mut self, code: &str) {
        let mut inner = vec![StringToken::Word(GAP.to_string())];
        if self.depth < DEEPEST {
            let (text, depth) = (code.chars().collect(), self.depth + 1);
            let mut cutter = Cutter { text, at: 0, dialect: self.dialect, tokens: Vec::new(), depth, documents: 0 };
            cutter.cut();
            inner = cutter.tokens;
        }
        self.tokens.extend([StringToken::Sign('+'), StringToken::Sign('(')]);
        self.tokens.extend(inner);
        self.tokens.extend([StringToken::Sign(')'), StringToken::Sign('+')]);
    }

    fn push(&mut self, token: StringToken, length: usize) {
        self.tokens.push(token);
        self.at += length;
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn starts_with(&self, wanted: &str) -> bool {
        wanted.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn find(&self, wanted: &str, from: usize) -> Option<usize> {
        let wanted: Vec<char> = wanted.chars().collect();
        let rest = self.text.get(self.at + from..)?;
        rest.windows(wanted.len()).position(|window| window == wanted).map(|found| found + from)
    }

    fn line_length(&self) -> usize {
        self.length(|c| c != '\n')
    }

    fn length(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.text[self.at..].iter().take_while(|c| belongs(**c)).count()
    }
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[cfg(test)]
mod tests;
