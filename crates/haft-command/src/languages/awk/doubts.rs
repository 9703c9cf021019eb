//! Finds variables of an awk program that may hold something else than their assigned text.
//!
//! A variable has a known value only where one plain assignment sets it, on every way to the place that uses it. Anything
//! else that may set a variable makes it doubtful: a second assignment, `getline`, `sub`, a loop, a parameter, awk itself.

use std::collections::HashSet;

use crate::languages::awk::tokens::AwkToken;

/// Functions that change variables that they are given.
const CHANGING: &[&str] = &["sub", "gsub", "split", "patsplit", "match", "asort", "asorti"];
/// Variables that awk sets by itself.
const OF_AWK: &[&str] =
    &["FILENAME", "FNR", "NF", "NR", "RLENGTH", "RSTART", "RT", "ERRNO", "ARGIND", "ARGC", "BINMODE", "SUBSEP"];
/// Tables by which a program changes any variable.
const TABLES: &[&str] = &["SYMTAB", "FUNCTAB"];
/// Variables that change what `print` writes between and behind its values.
const OF_PRINT: &[&str] = &["ORS", "OFS", "OFMT", "CONVFMT", "SYMTAB"];

/// What is doubtful in a program.
#[derive(Default)]
pub(crate) struct Doubts {
    names: HashSet<String>,
    all: bool,
    pub(crate) of_print: bool,
}

impl Doubts {
    pub(crate) fn of(tokens: &[AwkToken]) -> Self {
        let has = |names: &[&str]| {
            tokens.iter().any(|token| matches!(token, AwkToken::Word(word) if names.contains(&bare(word))))
        };
        let mut doubts = Self { names: HashSet::new(), all: has(TABLES), of_print: has(OF_PRINT) };
        doubts.names.extend(OF_AWK.iter().map(|name| (*name).to_owned()));
        let mut assigned: HashSet<&str> = HashSet::new();
        let mut place = TokenPlace { ends_early: has(&["exit"]), ..TokenPlace::default() };
        let mut changing: Vec<bool> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            place.pass(tokens, at);
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            match token {
                AwkToken::Sign("(") => changing.push(opens_changing(tokens, at) || changing.last() == Some(&true)),
                AwkToken::Sign(")") => {
                    changing.pop();
                }
                AwkToken::Word(word) => {
                    let is_set = is_plain(tokens, at);
                    let is_doubtful = is_changed(tokens, at)
                        || changing.last() == Some(&true)
                        || matches!(before, Some(AwkToken::Sign("++" | "--")))
                        || matches!(before, Some(AwkToken::Word(word)) if word == "getline")
                        || is_set && !(place.is_certain(tokens, at) && assigned.insert(bare(word)));
                    if is_doubtful {
                        doubts.names.insert(bare(word).to_owned());
                    }
                }
                _ => {}
            }
        }
        doubts
    }

    /// Returns whether some of these tokens is a variable that is doubtful.
    pub(crate) fn about(&self, tokens: &[AwkToken]) -> bool {
        tokens.iter().any(|token| match token {
            AwkToken::Word(word) => self.all || self.names.contains(bare(word)),
            _ => false,
        })
    }

    /// A variable that is made of a doubtful one is doubtful too.
    pub(crate) fn add(&mut self, name: &str) {
        self.names.insert(bare(name).to_owned());
    }
}

/// Where in the program a token is.
#[derive(Default)]
struct TokenPlace {
    depth: usize,
    is_begin: bool,
    ends_early: bool,
    /// Whether the program has another action that may run without this one.
    in_first_action: bool,
    actions: usize,
}

impl TokenPlace {
    fn pass(&mut self, tokens: &[AwkToken], at: usize) {
        match &tokens[at] {
            AwkToken::Sign("{") => {
                if self.depth == 0 {
                    self.is_begin = matches!(at.checked_sub(1).map(|at| &tokens[at]), Some(AwkToken::Word(word)) if word == "BEGIN");
                    self.actions += 1;
                    let rest = tokens[at..].iter().filter(|token| **token == AwkToken::Sign("{")).count();
                    self.in_first_action = rest == 1 && self.actions == 1;
                }
                self.depth += 1;
            }
            AwkToken::Sign("}") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Returns whether an assignment is made before anything that follows it in the program runs.
    fn is_certain(&self, tokens: &[AwkToken], at: usize) -> bool {
        let before = tokens[..at].iter().rev().find(|token| **token != AwkToken::Newline);
        let begins_statement = matches!(before, Some(AwkToken::Sign("{" | ";" | "}")))
            || at > 0 && tokens[at - 1] == AwkToken::Newline && !is_open(before);
        let runs_first = self.is_begin && !self.ends_early || self.in_first_action;
        self.depth == 1 && begins_statement && runs_first
    }
}

/// Returns whether a statement goes on behind this token, in the next line.
fn is_open(token: Option<&AwkToken>) -> bool {
    match token {
        Some(AwkToken::Sign(sign)) => !matches!(*sign, "++" | "--" | "]"),
        Some(AwkToken::Word(word)) => matches!(word.as_str(), "else" | "do"),
        _ => false,
    }
}

fn bare(word: &str) -> &str {
    word.strip_prefix("awk::").unwrap_or(word)
}

fn is_plain(tokens: &[AwkToken], at: usize) -> bool {
    tokens.get(at + 1) == Some(&AwkToken::Sign("="))
}

/// Returns whether a variable is changed by what stands behind it: `c += 1`, `c++`, `c in table`.
fn is_changed(tokens: &[AwkToken], at: usize) -> bool {
    match tokens.get(at + 1) {
        Some(AwkToken::Sign(sign)) => {
            matches!(*sign, "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "**=" | "++" | "--")
        }
        Some(AwkToken::Word(word)) => word == "in",
        _ => false,
    }
}

/// Returns whether a bracket opens the values of a function that changes them, or the parameters of a function.
fn opens_changing(tokens: &[AwkToken], at: usize) -> bool {
    let word = |back: usize| match at.checked_sub(back).and_then(|at| tokens.get(at)) {
        Some(AwkToken::Word(word)) => word.as_str(),
        _ => "",
    };
    CHANGING.contains(&word(1)) || matches!(word(2), "function" | "func")
}
