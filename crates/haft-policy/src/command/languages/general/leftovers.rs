//! The strings of a program that no call has taken.
//!
//! One that looks like a path is thought to be read; where something that is not known is removed or written, it is
//! thought to be that. Where something that is not known is run, it is thought to be that as well. And as no list of
//! names holds the calls of all languages, one that would be refused as a command is refused.

use super::super::marks::{GAP, GLOB, HOME};
use super::super::strings::Token;
use super::calls::Reader;
use super::expression::is_home;
use super::findings::{Is, host_of_url};
use crate::command::act::Deed;

/// The most strings that are looked at, and the longest one that can be a path.
const MOST: usize = 400;
const LONGEST_PATH: usize = 4096;

pub(super) fn study(reader: &mut Reader<'_>) {
    let program = reader.program;
    let deed = match (reader.findings.removes, reader.findings.writes) {
        (Is::Open, _) => Deed::Remove,
        (_, Is::Open) => Deed::Replace,
        _ => Deed::Read,
    };
    let texts = program.tokens.iter().enumerate().filter_map(|(at, token)| match token {
        Token::Text(text) if !reader.taken[at] => Some(text),
        _ => None,
    });
    let texts: Vec<String> = texts.take(MOST).cloned().collect();
    for text in &texts {
        reader.findings.suspect(text);
        if let Some(host) = host_of_url(text) {
            reader.findings.connect(host);
        } else if looks_like_path(text) {
            reader.findings.path(deed, text);
        }
        if reader.findings.runs == Is::Open && text.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            reader.findings.script(text);
        }
        if reader.findings.evaluates == Is::Open && text.contains(['(', ' ', '`']) {
            super::study(text, reader.findings, reader.depth + 1);
        }
    }
    let names_home = (0..program.tokens.len()).any(|at| program.word(at).is_some() && is_home(&program.name(at)));
    if names_home && deed != Deed::Read {
        reader.findings.path(deed, &format!("{HOME}/{GAP}"));
    }
}

fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    let is_dot_name = text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
    let is_rooted = text.starts_with(['/', '~', HOME]) || text.starts_with("./") || text.starts_with("../");
    let is_path = is_rooted || is_dot_name || matches!(text, "." | "..") || text.contains(GLOB) || text.contains('/');
    let has_blank = text.contains(char::is_whitespace);
    !text.is_empty() && text.len() <= LONGEST_PATH && !text.contains('\n') && is_path && (is_rooted || !has_blank)
}
