//! Strings of a program that no call has taken.
//!
//! haft assumes that the program reads a string that looks like a path. If the program removes, writes or runs an unknown
//! value, haft assumes that this string is the value. No list of names holds the calls of all languages, so haft also
//! refuses a string that a call gets if it would refuse it as a command. It does not do so if all calls only compute and
//! print. A string in a table is only data.

use crate::act::PathEffect;
use crate::languages::general::calls::{CallReader, is_route};
use crate::languages::general::expression::{TokenizedProgram, is_home};
use crate::languages::general::findings::{Is, host_of_url};
use crate::languages::marks::{GAP, GLOB, HOME};
use crate::languages::strings::StringToken;

/// Calls of all languages that only compute or print.
const HARMLESS: &[&str] = &[
    "abs",
    "all",
    "any",
    "append",
    "assert",
    "bool",
    "capitalize",
    "center",
    "contains",
    "count",
    "debug",
    "dict",
    "dir",
    "dump",
    "dumps",
    "echo",
    "encode",
    "endsWith",
    "endswith",
    "enumerate",
    "error",
    "filter",
    "find",
    "findall",
    "float",
    "format",
    "hash",
    "hex",
    "id",
    "in",
    "includes",
    "index",
    "indexOf",
    "info",
    "int",
    "isinstance",
    "items",
    "join",
    "keys",
    "len",
    "length",
    "list",
    "ljust",
    "log",
    "lower",
    "map",
    "match",
    "max",
    "min",
    "ord",
    "p",
    "parse",
    "pprint",
    "print",
    "printf",
    "println",
    "puts",
    "range",
    "repr",
    "replace",
    "reversed",
    "rjust",
    "round",
    "say",
    "search",
    "set",
    "size",
    "sorted",
    "split",
    "sprintf",
    "startsWith",
    "startswith",
    "str",
    "stringify",
    "strip",
    "strlen",
    "sub",
    "sum",
    "title",
    "toLowerCase",
    "toString",
    "toUpperCase",
    "trim",
    "tuple",
    "type",
    "upper",
    "values",
    "warn",
    "write",
    "zip",
    "upcase",
    "downcase",
    "inspect",
    "reverse",
];

/// The most strings that are looked at, and the longest one that can be a path.
const MOST: usize = 400;
const LONGEST_PATH: usize = 4096;

pub(crate) fn study(reader: &mut CallReader<'_>) {
    let program = reader.program;
    let deed = match (reader.findings.removes, reader.findings.writes) {
        (Is::Open, _) => PathEffect::Remove,
        (_, Is::Open) => PathEffect::Replace,
        _ => PathEffect::Read,
    };
    let texts = program.tokens.iter().enumerate().filter_map(|(at, token)| match token {
        StringToken::Text(text) if !reader.taken[at] => Some((at, text)),
        _ => None,
    });
    let texts: Vec<(usize, String)> = texts.take(MOST).map(|(at, text)| (at, text.clone())).collect();
    let only_prints = only_prints(reader);
    let given = given_to_calls(program);
    for (at, text) in &texts {
        if !only_prints && given[*at] {
            reader.findings.suspect(text);
        }
        if let Some(host) = host_of_url(text) {
            reader.findings.connect(host);
        } else if looks_like_path(text)
            && !(deed == PathEffect::Read && is_route(text) && (given[*at] || is_compared(program, *at)))
        {
            reader.findings.path(deed, text);
        }
        if reader.findings.runs == Is::Open && text.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            reader.findings.script(text);
        }
        if reader.findings.evaluates == Is::Open && text.contains(['(', ' ', '`']) {
            crate::languages::general::study(text, reader.findings, reader.depth + 1);
        }
    }
    let names_home = (0..program.tokens.len()).any(|at| program.word(at).is_some() && is_home(&program.name(at)));
    if names_home && deed != PathEffect::Read {
        reader.findings.path(deed, &format!("{HOME}/{GAP}"));
    }
}

/// Words before a string or a bracket that are no call.
const NO_CALLS: &[&str] = &[
    "if", "elif", "while", "for", "in", "is", "not", "and", "or", "return", "case", "when", "else", "switch", "catch",
    "of", "assert", "yield", "import", "from", "as", "with", "until", "unless", "await", "const", "let", "var",
    "function",
];

/// First words of the names of calls that only say whether something is so: `is_safe`, `isSafe`.
const PREDICATES: &[&str] = &["is", "has", "assert", "expect", "should", "looks", "detect", "matches", "classify"];
/// Calls that name a test or its cases.
const TESTS: &[&str] = &["parametrize", "describe", "it", "test", "toBe", "toEqual", "toMatch", "toContain"];

fn only_tests(name: &str) -> bool {
    let ends_word =
        |rest: &str| rest.is_empty() || rest.starts_with(|letter: char| letter == '_' || letter.is_uppercase());
    TESTS.contains(&name) || PREDICATES.iter().any(|begin| name.strip_prefix(begin).is_some_and(ends_word))
}

/// Returns for each token whether an unknown call gets it.
fn given_to_calls(program: &TokenizedProgram) -> Vec<bool> {
    let is_call = |at: Option<usize>| {
        let name = at.and_then(|at| program.word(at));
        name.is_some_and(|name| !HARMLESS.contains(&name) && !NO_CALLS.contains(&name) && !only_tests(name))
    };
    let has_tick = program.tokens.contains(&StringToken::Sign('`'));
    let mut around: Vec<bool> = Vec::new();
    let mut statement = false;
    let mut given = Vec::with_capacity(program.tokens.len());
    for (at, token) in program.tokens.iter().enumerate() {
        let before = at.checked_sub(1);
        let inside = around.last().copied().unwrap_or_default();
        match token {
            StringToken::Sign('(') => {
                around.push(inside || is_call(before) || before.is_some_and(|at| program.is_sign(at, ')')))
            }
            StringToken::Sign('[') => around.push(inside),
            // The body of a function is no argument, wherever it stands.
            StringToken::Sign('{') => around.push(inside && !before.is_some_and(|at| program.ends_head(at))),
            StringToken::Sign(')' | ']' | '}') => drop(around.pop()),
            StringToken::Newline | StringToken::Sign(';') => statement = false,
            StringToken::Text(_) | StringToken::Inserted(_) => statement |= is_call(before),
            _ => {}
        }
        // `"ls".execute()`.
        let is_receiver =
            program.is_sign(at + 1, '.') && !program.word(at + 2).is_some_and(|name| HARMLESS.contains(&name));
        given.push(has_tick || inside || statement || is_receiver);
    }
    given
}

/// Returns whether every name that may be a call is known to compute or print.
fn only_prints(reader: &CallReader<'_>) -> bool {
    let program = reader.program;
    let may_be_call = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| program.tokens.get(at));
        let is_method = matches!(before, Some(StringToken::Sign('.' | ':' | '>')));
        let takes = matches!(
            program.tokens.get(at + 1),
            Some(StringToken::Sign('(') | StringToken::Text(_) | StringToken::Inserted(_))
        );
        is_method || takes
    };
    let calls = (0..program.tokens.len()).filter(|at| may_be_call(*at)).filter_map(|at| program.word(at));
    let has_tick = program.tokens.contains(&StringToken::Sign('`'));
    !has_tick && calls.into_iter().all(|name| HARMLESS.contains(&name))
}

/// Returns whether a string is compared. One that no call has opened is only a name where it is compared or handed to a call,
/// as the routes of a server are; one that is put into a variable may be opened by way of it.
fn is_compared(program: &TokenizedProgram, at: usize) -> bool {
    let is_sign = |at: Option<usize>, sign| at.is_some_and(|at| program.is_sign(at, sign));
    let before = |steps| at.checked_sub(steps);
    is_sign(before(1), '=') && (is_sign(before(2), '=') || is_sign(before(2), '!'))
        || program.is_sign(at + 1, '=') && program.is_sign(at + 2, '=')
        || before(1).and_then(|at| program.word(at)) == Some("case")
}

fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    let is_dot_name = text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
    let is_rooted = text.starts_with(['/', '~', HOME]) || text.starts_with("./") || text.starts_with("../");
    let is_path = is_rooted || is_dot_name || matches!(text, "." | "..") || text.contains(GLOB) || text.contains('/');
    let has_blank = text.contains(char::is_whitespace);
    !text.is_empty() && text.len() <= LONGEST_PATH && !text.contains('\n') && is_path && (is_rooted || !has_blank)
}
