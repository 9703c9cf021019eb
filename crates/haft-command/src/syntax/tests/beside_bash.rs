//! Compares words with those of the real bash.
//!
//! bash runs only `printf`: the list has no other program, and bash finds none.

#![expect(clippy::disallowed_types, reason = "the shell that commands are written for is asked itself")]

use std::process::Command;

use crate::require::Need;
use crate::syntax::{CommandList, CommandNode, ParameterExpansion, ParameterOperation, Quoting, Word, WordPart, parse};

const EXPRESSIONS: &[&str] = &[
    "a",
    "a b",
    "'a b'",
    "\"a b\"",
    "a\\ b",
    "r\"m\"",
    "r''m",
    "\\rm",
    "''",
    "\"\"",
    "''\"\"",
    "a''",
    "\\\\",
    "\\'",
    "\\\"",
    "'a\\b'",
    "\"a\\b\"",
    "\"a\\\\b\"",
    "\"\\$x\"",
    "\"\\`\"",
    "\"\\\"\"",
    "\"\\\n\"",
    "a\\\nb",
    "\\\na",
    "'a\\\nb'",
    "'a\nb'",
    "$'\\x72m'",
    "$'\\162m'",
    "$'\\u0072m'",
    "$'\\U00000072m'",
    "$'a\\'b'",
    "$'a\\\\'",
    "$'\\n\\t\\a'",
    "$'\\cA\\c?'",
    "$'\\q'",
    "$'\\xzz'",
    "$'\\x4'",
    "$'\\0601'",
    "$'\\1'2",
    "$'a\\0b'c",
    "$'\\xc3\\xa9'",
    "$'\\e\\E'",
    "$'\\\"\\?'",
    "$\"a b\"",
    "\"$'a'\"",
    "a#b",
    "'#'",
    "\\#a",
    "é",
    "'é'\"è\"",
    "$x",
    "${x}",
    "\"$x\"",
    "\"${x}y\"",
    "$x'y'",
    "${x}y",
    "$",
    "a$",
    "\"$\"",
    "$%",
    "\"a$ b\"",
    "${unset:-a}",
    "${unset-a}",
    "${unset:-'a b'}",
    "\"${unset:-a b}\"",
    "\"${unset:-'a'}\"",
    "${unset:-\"a b\"}",
    "${x:-a}",
    "${x:+a}",
    "\"${x:+'a' b}\"",
    "${unset:+a}",
    "${#x}",
    "${x:1}",
    "${x:1:2}",
    "${x: -2}",
    "${x:(-2)}",
    "${x::2}",
    "${unset:-}b",
    "${unset:-\\}}",
    "\"${unset:-\\}}\"",
    "${unset:-{a}}",
    "{a,b}",
    "x{a,b}y",
    "{a,b}{c,d}",
    "{a,{b,c}d}",
    "{a}",
    "{}",
    "{a,b",
    "a,b}",
    "{,a}",
    "a{,b}",
    "{,}",
    "{a,}",
    "{{a,b}",
    "{a,b}}",
    "{a{b,c}}",
    "{a,{b}",
    "{a,b}\"{c,d}\"",
    "\"{a,b}\"",
    "\\{a,b}",
    "{a\\,b,c}",
    "{'a,b',c}",
    "{$x,y}",
    "{a,b}$x",
    "{1..3}",
    "{3..1}",
    "{01..10..3}",
    "{-2..2}",
    "{a..e..2}",
    "{e..a}",
    "{1..a}",
    "{1..}",
    "{1.2}",
    "x{1..2}y",
    "{1..3..0}",
    "{001..2}",
    "{-01..1}",
    "{a..c}{1..2}",
    "{\"1\"..3}",
    "{+1..3}",
    "${x}{1..2}",
    "{a,b}'{c,d}'e",
    "{a,b,}",
    "{ a,b }",
    "~",
    "~/x",
    "~/'a b'",
    "'~'",
    "\\~",
    "\"~\"",
    "x~",
    "~\"\"/x",
    "~'x'",
    "a=~",
    "a=~/x",
    "a=b:~/c",
    "a='~'",
    "a+=~",
    "--a=~/x",
    "a:~/x",
    "-a=~",
    "1a=~",
    "{~,a}/b",
    "~$x",
    "a=\"b\":~/c",
    "a=$x:~/c",
    "a/~",
    "{a,~}",
    "a==~",
    "_=~",
    "~:a",
    "a=~:b",
    "\"a\"=~",
    "[a]",
    "a]b",
    "a=b",
    "=a",
    "a\\;b",
    "a';'b",
    "a\\&b",
    "!",
    "a!b",
    "^",
    "%",
    "@",
    "a@b",
    "-rf",
    "--",
    "'a'\\''b'",
    "\"a\"'b'c\\d",
    "\"a'b\"",
    "'a\"b'",
    "a\\\tb",
    "{a,b}\\ c",
    "\"\\x\"",
    "\"\\\\\\$x\"",
];

const HOME: &str = "/home/nobody";
const X: &str = "value";

#[test]
fn words_are_those_of_bash() {
    let Some(expected) = Need::Programs.found(words_of_bash()) else { return };
    assert_eq!(expected.len(), EXPRESSIONS.len());
    for (expression, expected) in EXPRESSIONS.iter().zip(expected) {
        assert_eq!(words_of_ours(expression), expected, "for {expression:?}");
    }
}

/// Runs all expressions in one bash, which ends each word and each expression with a control character.
fn words_of_bash() -> Option<Vec<Vec<String>>> {
    let print = "show() { test $# -eq 0 || printf '%s\\037' \"$@\"; printf '\\036'; }; set -f; unset unset";
    let calls: String = EXPRESSIONS.iter().map(|expression| format!("show {expression}\n")).collect();
    // Set in here, because bash itself is looked for along the path that it is started with.
    let script = format!("PATH=/nonexistent\n{print}\n{calls}");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &script]).env_clear().env("HOME", HOME).env("x", X);
    let output = bash.env("LC_ALL", "C.UTF-8").current_dir("/").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &str| line.split_terminator('\u{1f}').map(str::to_owned).collect();
    Some(text.split_terminator('\u{1e}').map(words).collect())
}

fn words_of_ours(expression: &str) -> Vec<String> {
    let CommandList { items } = parse(&format!("show {expression}\n"));
    let CommandNode::Simple(_, words) = &items[0].stages[0].node else { panic!("{items:?}") };
    words.iter().skip(1).filter(|word| is_left(word)).map(value).collect()
}

/// A word that expands to nothing is left only where a part of it is quoted.
fn is_left(word: &Word) -> bool {
    use Quoting::Quoted;
    let is_quoted = |part: &WordPart| matches!(part, WordPart::Text(_, Quoted) | WordPart::Parameter(_, Quoted));
    !value(word).is_empty() || word.parts.iter().any(is_quoted)
}

fn value(word: &Word) -> String {
    word.parts.iter().map(part).collect()
}

fn part(part: &WordPart) -> String {
    match part {
        WordPart::Text(text, _) => text.clone(),
        WordPart::Home(user) if user.is_empty() => HOME.to_owned(),
        WordPart::Parameter(parameter, _) => expanded(parameter),
        other => panic!("{other:?}"),
    }
}

fn expanded(ParameterExpansion { name, operation, .. }: &ParameterExpansion) -> String {
    let known = (name == "x").then_some(X);
    match operation {
        ParameterOperation::Plain => known.unwrap_or_default().to_owned(),
        ParameterOperation::Default(word) | ParameterOperation::Assigned(word) => {
            known.map_or_else(|| value(word), str::to_owned)
        }
        ParameterOperation::Alternative(word) => known.map_or_else(String::new, |_| value(word)),
        ParameterOperation::Length => known.unwrap_or_default().len().to_string(),
        ParameterOperation::Slice(from, length) => {
            let text = known.unwrap_or_default();
            let from = usize::try_from(*from).unwrap_or_else(|_| text.len() - from.unsigned_abs() as usize);
            let rest = text.chars().skip(from);
            rest.take(length.map_or(usize::MAX, |length| length as usize)).collect()
        }
        other => panic!("{other:?}"),
    }
}
