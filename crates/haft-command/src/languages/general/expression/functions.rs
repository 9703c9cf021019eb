//! Computes the value of an expression, with the functions and methods that turn text into text.

use std::ops::Range;

use crate::languages::general::expression::{DEEPEST, LONGEST, TokenizedProgram, found_by_pattern, is_home};
use crate::languages::marks::{GAP, GLOB, HOME};
use crate::languages::strings::StringToken;

/// The text put together so far, and the list that it was made from, if any.
#[derive(Default)]
struct PartialText {
    text: String,
    list: Vec<String>,
}

impl TokenizedProgram {
    pub(crate) fn value_within(&self, range: Range<usize>, depth: usize) -> String {
        let mut made = PartialText::default();
        let mut at = range.start;
        let end = range.end.min(self.tokens.len());
        if depth > DEEPEST {
            return GAP.to_string();
        }
        while at < end {
            at = self.operand(&mut made, at..end, depth);
            if made.text.len() > LONGEST {
                return GAP.to_string();
            }
        }
        made.text
    }

    /// Adds what stands at the beginning of the range, and returns where it ends.
    fn operand(&self, made: &mut PartialText, range: Range<usize>, depth: usize) -> usize {
        let at = range.start;
        match &self.tokens[at] {
            StringToken::Text(text) | StringToken::Number(text) => made.text.push_str(text),
            StringToken::Inserted(name) => made.text.push_str(self.variables.get(name).unwrap_or(name)),
            StringToken::Newline | StringToken::Sign('+' | ')' | ']' | '}' | '"' | '\'') => {}
            StringToken::Sign('.' | '-' | '?' | ':') if self.separator_length(at) > 0 => {
                return self.method(made, at, depth);
            }
            StringToken::Sign('.') => {}
            StringToken::Sign('/') => made.text.push('/'),
            StringToken::Sign('%') if !made.text.is_empty() => {
                let values: Vec<String> = self.elements_within(at + 1..range.end, depth);
                made.text = filled(&made.text, values);
                return range.end;
            }
            StringToken::Sign('(') => {
                let end = self.end_of_bracket(at);
                made.text.push_str(&self.value_within(at + 1..end, depth + 1));
                return end + 1;
            }
            StringToken::Sign('[') => return self.bracket(made, at, depth),
            StringToken::Sign('{') => {
                made.text.push(GAP);
                return self.past(at);
            }
            StringToken::Word(word) if SKIPPED.contains(&word.as_str()) => {}
            StringToken::Word(_) => return self.named(made, range, depth),
            StringToken::Sign(_) | StringToken::Pattern => made.text.push(GAP),
        }
        at + 1
    }

    /// A list, or the index of what is before it.
    fn bracket(&self, made: &mut PartialText, at: usize, depth: usize) -> usize {
        let end = self.end_of_bracket(at);
        if made.text.is_empty() {
            made.list =
                self.arguments(at + 1..end).into_iter().map(|item| self.value_within(item, depth + 1)).collect();
            made.text = made.list.join(" ");
        } else if self.tokens.get(at + 1..end).is_some_and(is_backwards) {
            made.text = made.text.chars().rev().collect();
        } else {
            made.text = GAP.to_string();
        }
        end + 1
    }

    /// A variable, or the call of a function.
    fn named(&self, made: &mut PartialText, range: Range<usize>, depth: usize) -> usize {
        let mut last = range.start;
        while let separator @ 1.. = self.separator_length(last + 1)
            && self.word(last + 1 + separator).is_some()
            && (last + 1 + separator) < range.end
            && !self.word(last + 1 + separator).is_some_and(|word| word.starts_with('$'))
            && !(self.word(last).is_some_and(|word| self.variables.contains_key(word)))
        {
            last += 1 + separator;
        }
        let name = self.name(last);
        let opens = |sign: char| self.is_sign(last + 1, sign) && last + 1 < range.end;
        let arguments =
            if opens('(') || opens('[') || opens('{') { Some(last + 2..self.end_of_bracket(last + 1)) } else { None };
        let end = arguments.as_ref().map_or(last + 1, |arguments| arguments.end + 1);
        if is_home(&name) {
            made.text.push(HOME);
        } else if TEMPORARY.contains(&name.as_str()) && opens('(') {
            made.text.push_str("/tmp");
        } else if SEPARATORS.contains(&name.as_str()) {
            made.text.push('/');
        } else if let Some((_, program)) = INTERPRETERS.iter().find(|(own, _)| name == *own) {
            made.text.push_str(program);
        } else if let Some(text) = self.known_variable(last).filter(|_| !opens('(')) {
            made.text.push_str(text);
            return last + 1;
        } else if let Some(arguments) = arguments {
            made.text.push_str(&self.function(&name, arguments, depth));
        } else if PASSING.contains(&last_part(&name)) || REVERSING.contains(&last_part(&name)) {
            made.text.push_str(&self.function(&name, last + 1..range.end, depth));
            return range.end;
        } else {
            made.text.push(GAP);
        }
        end
    }

    fn known_variable(&self, at: usize) -> Option<&str> {
        self.variables.get(self.word(at)?).map(String::as_str)
    }

    fn function(&self, name: &str, arguments: Range<usize>, depth: usize) -> String {
        let first = || self.first_argument(arguments.clone(), depth);
        let all = || self.elements_within(arguments.clone(), depth);
        match last_part(name) {
            "environ" | "ENV" | "$ENV" | "env" | "getenv" | "get" | "fetch" | "$_SERVER" | "$_ENV"
                if self.is_key(&arguments, "HOME") =>
            {
                HOME.to_string()
            }
            "glob" | "iglob" | "rglob" | "Dir" => found_by_pattern(&first()),
            last if REVERSING.contains(&last) => first().chars().rev().collect(),
            last if PASSING.contains(&last) => first(),
            "join" | "resolve" | "joinpath" | "catfile" | "catdir" if name.contains('.') || name.starts_with("cat") => {
                all().join("/")
            }
            "join" | "implode" => match all().split_first() {
                Some((separator, rest)) => rest.join(separator),
                None => String::new(),
            },
            "chr" | "fromCharCode" | "fromCodePoint" | "char" => all().iter().map(|number| character(number)).collect(),
            "sprintf" | "format" => match all().split_first() {
                Some((format, rest)) => filled(format, rest.to_vec()),
                None => String::new(),
            },
            _ => GAP.to_string(),
        }
    }

    /// A method of the text that is there, or something that a dot adds to it.
    fn method(&self, made: &mut PartialText, dot: usize, depth: usize) -> usize {
        let at = dot + self.separator_length(dot);
        let Some(word) = self.word(at) else { return at };
        if word.starts_with('$') || self.variables.contains_key(word) {
            return at;
        }
        let has_arguments = self.is_sign(at + 1, '(');
        let arguments = if has_arguments { at + 2..self.end_of_bracket(at + 1) } else { at + 1..at + 1 };
        let all = || self.elements_within(arguments.clone(), depth);
        let text = std::mem::take(&mut made.text);
        made.text = match word {
            "join" if !made.list.is_empty() => made.list.join(&all().concat()),
            "join" => all().join(&text),
            "joinpath" | "join_path" => [vec![text], all()].concat().join("/"),
            "concat" => text + &all().concat(),
            "format" => filled(&text, all()),
            "reverse" => text.chars().rev().collect(),
            "replace" | "replaceAll" | "sub" | "gsub" => match all().as_slice() {
                [old, new, ..] if !old.is_empty() && !old.contains(GAP) => text.replace(old.as_str(), new),
                _ => GAP.to_string(),
            },
            "glob" | "rglob" => format!("{text}/{}", found_by_pattern(&all().concat())),
            "iterdir" | "children" | "each_child" | "entries" => format!("{text}/{GLOB}"),
            "homedir" => HOME.to_string(),
            word if KEEPING.contains(&word) => text,
            _ if has_arguments && text.is_empty() => GAP.to_string(),
            _ if !has_arguments && self.is_home_word(at) => text + &HOME.to_string(),
            _ => text + &GAP.to_string(),
        };
        if has_arguments { arguments.end + 1 } else { at + 1 }
    }

    fn is_home_word(&self, at: usize) -> bool {
        is_home(&self.name(at))
    }

    fn is_key(&self, range: &Range<usize>, key: &str) -> bool {
        match self.tokens.get(range.start) {
            Some(StringToken::Text(text) | StringToken::Word(text)) => text == key,
            _ => false,
        }
    }

    fn first_argument(&self, range: Range<usize>, depth: usize) -> String {
        self.arguments(range).into_iter().next().map_or_else(String::new, |first| self.value_within(first, depth + 1))
    }

    /// All arguments, those of lists among them one by one.
    fn elements_within(&self, range: Range<usize>, depth: usize) -> Vec<String> {
        if depth > DEEPEST {
            return vec![GAP.to_string()];
        }
        let mut elements = Vec::new();
        for argument in self.arguments(range) {
            let argument = self.trimmed(argument);
            let is_list = matches!(self.tokens.get(argument.start), Some(StringToken::Sign('[' | '(')))
                && self.end_of_bracket(argument.start) + 1 == argument.end;
            if is_list {
                elements.extend(self.elements_within(argument.start + 1..argument.end - 1, depth + 1));
            } else if !argument.is_empty() {
                elements.push(self.value_within(argument, depth + 1));
            }
        }
        elements
    }
}

/// Words that stand before a value and change nothing.
const SKIPPED: &[&str] = &["my", "our", "local", "new", "await", "return", "const", "let", "var", "scalar", "lambda"];
/// Functions that return what they are given, as far as it matters here.
const PASSING: &[&str] = &[
    "expanduser",
    "abspath",
    "realpath",
    "Path",
    "PurePath",
    "PosixPath",
    "Pathname",
    "str",
    "String",
    "expand_path",
    "quote",
    "fsencode",
    "fsdecode",
    "expandvars",
    "split",
    "normpath",
    "escapeshellarg",
    "shellescape",
    "normalize",
    "open",
    "list",
    "sorted",
    "tuple",
    "array",
    "Array",
    "file",
    "URI",
    "URL",
];
/// Functions that return the folder for temporary files.
const TEMPORARY: &[&str] = &["tempfile.gettempdir", "Dir.tmpdir"];
/// Names of the interpreter that runs the program itself.
const INTERPRETERS: &[(&str, &str)] = &[
    ("sys.executable", "python3"),
    ("process.execPath", "node"),
    ("process.argv0", "node"),
    ("RbConfig.ruby", "ruby"),
    ("Gem.ruby", "ruby"),
];
const SEPARATORS: &[&str] = &["os.sep", "os.path.sep", "path.sep", "File.SEPARATOR", "DIRECTORY_SEPARATOR"];
const REVERSING: &[&str] = &["reverse", "strrev", "reversed"];
/// Methods that return what they are called on, as far as it matters here.
const KEEPING: &[&str] = &[
    "expanduser",
    "resolve",
    "absolute",
    "strip",
    "rstrip",
    "lstrip",
    "trim",
    "chomp",
    "decode",
    "encode",
    "toString",
    "to_s",
    "as_posix",
    "split",
    "lower",
    "upper",
    "freeze",
    "each",
    "to_a",
    "path",
    "expand_path",
    "call",
];

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn character(number: &str) -> char {
    let parsed = match number.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    parsed.ok().and_then(char::from_u32).unwrap_or(GAP)
}

/// `[::-1]`.
fn is_backwards(tokens: &[StringToken]) -> bool {
    tokens
        == [StringToken::Sign(':'), StringToken::Sign(':'), StringToken::Sign('-'), StringToken::Number("1".to_owned())]
}

/// Puts values where a format has `%s` or `{}`.
fn filled(format: &str, values: Vec<String>) -> String {
    let mut values = values.into_iter();
    let mut text = String::new();
    let mut rest = format;
    while let Some(found) = rest.find(['%', '{']) {
        let (before, marker) = rest.split_at(found);
        text.push_str(before);
        let end =
            if marker.starts_with('{') { marker.find('}') } else { marker.find(|c: char| c.is_ascii_alphabetic()) };
        let Some(end) = end else {
            rest = marker;
            break;
        };
        text.push_str(&values.next().unwrap_or_else(|| GAP.to_string()));
        rest = &marker[end + 1..];
    }
    text + rest
}
