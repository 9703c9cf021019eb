//! `${x%/*}`, `${x//a/b}`, `${x:1:2}`: values that the shell edits or cuts before it uses them.

use crate::patterns;
use crate::syntax::{Edit, MatchLength};
use crate::value::ShellValue;

/// The longest value that is edited.
const LONGEST: usize = 512;

/// Returns a value after an edit; unknown where the value, the pattern or the edit is not plain.
pub(crate) fn edited(value: &ShellValue, edit: Edit, words: &[ShellValue]) -> ShellValue {
    let (Some(text), Some(pattern)) = (value.known(), words.first()) else { return ShellValue::unknown() };
    // The word of a pattern is quoted here, so its patterns are still letters.
    let Some(pattern) = pattern.known() else { return ShellValue::unknown() };
    if text.len() > LONGEST || pattern.contains(['[', '\\', '(']) {
        return ShellValue::unknown();
    }
    let with = words.get(1).map_or(Some(""), ShellValue::known);
    match (edit, with) {
        (Edit::CutBeginning(reach), _) => ShellValue::text(cut_beginning(text, pattern, reach)),
        (Edit::CutEnd(reach), _) => ShellValue::text(cut_end(text, pattern, reach)),
        (Edit::Replace(MatchLength::Most), Some(with)) if is_plain(pattern) => {
            ShellValue::text(text.replace(pattern, with))
        }
        (Edit::Replace(MatchLength::Least), Some(with)) if is_plain(pattern) => {
            ShellValue::text(text.replacen(pattern, with, 1))
        }
        (Edit::Replace(_) | Edit::Other, _) => ShellValue::unknown(),
    }
}

fn is_plain(pattern: &str) -> bool {
    !pattern.is_empty() && !pattern.contains(['*', '?'])
}

fn cut_beginning<'a>(text: &'a str, pattern: &str, reach: MatchLength) -> &'a str {
    let letters: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let cut = taken(&patterns::beginnings(&pattern, &letters), reach);
    let begin = text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at);
    &text[begin..]
}

fn cut_end<'a>(text: &'a str, pattern: &str, reach: MatchLength) -> &'a str {
    let letters: Vec<char> = text.chars().rev().collect();
    let pattern: Vec<char> = pattern.chars().rev().collect();
    let cut = taken(&patterns::beginnings(&pattern, &letters), reach);
    let end = text.char_indices().nth(letters.len() - cut).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Returns how many letters are cut off.
fn taken(fitting: &[bool], reach: MatchLength) -> usize {
    let cut = match reach {
        MatchLength::Least => fitting.iter().position(|fits| *fits),
        MatchLength::Most => fitting.iter().rposition(|fits| *fits),
    };
    cut.unwrap_or_default()
}

/// Returns a part of a list; where a word may be several, its length is unknown.
pub(crate) fn sliced_list(list: &[ShellValue], from: i64, length: Option<i64>) -> Vec<ShellValue> {
    let count = list.len() as i64;
    let begin = (if from < 0 { count + from } else { from }).clamp(0, count);
    let end = length.map_or(count, |length| begin.saturating_add(length)).clamp(begin, count);
    let is_long = list.iter().any(ShellValue::may_be_several);
    let is_in = |(at, value): &(usize, &ShellValue)| {
        let at = *at as i64;
        at >= begin && (at < end || is_long) || value.may_be_several()
    };
    list.iter().enumerate().filter(is_in).map(|(_, value)| value.clone()).collect()
}

pub(crate) fn sliced(list: &[ShellValue], from: i64, length: Option<i64>) -> Vec<ShellValue> {
    let [value] = list else { return list.to_vec() };
    let Some(text) = value.known() else { return vec![ShellValue::unknown()] };
    let letters: Vec<char> = text.chars().collect();
    let count = letters.len() as i64;
    let begin = if from < 0 { count + from } else { from };
    let end = match length {
        None => count,
        Some(length) if length < 0 => count + length,
        Some(length) => begin.saturating_add(length),
    };
    let (begin, end) = (begin.clamp(0, count) as usize, end.clamp(0, count) as usize);
    vec![ShellValue::text(letters[begin..end.max(begin)].iter().collect::<String>())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, edit: Edit, words: &[&str], expected: &str) {
        let words: Vec<ShellValue> = words.iter().map(|word| ShellValue::text(*word)).collect();
        assert_eq!(edited(&ShellValue::text(text), edit, &words).shown(), expected, "{text} {edit:?} {words:?}");
    }

    #[test]
    fn values_are_edited_as_the_shell_does() {
        check("/home/u/work", Edit::CutEnd(MatchLength::Least), &["/*"], "/home/u");
        check("/home/u/work", Edit::CutEnd(MatchLength::Most), &["/*"], "");
        check("/home/u/work", Edit::CutBeginning(MatchLength::Most), &["*/"], "work");
        check("/home/u/work", Edit::CutBeginning(MatchLength::Least), &["*/"], "home/u/work");
        check("a.tar.gz", Edit::CutEnd(MatchLength::Least), &[".gz"], "a.tar");
        check("a.tar.gz", Edit::CutEnd(MatchLength::Least), &[".zip"], "a.tar.gz");
        check("äöä/ü", Edit::CutBeginning(MatchLength::Most), &["*ä"], "/ü");
        check("äöä/ü", Edit::CutEnd(MatchLength::Most), &["ä?*"], "");
        check("äöä/ü", Edit::CutEnd(MatchLength::Least), &["?"], "äöä/");
        check("abc", Edit::CutEnd(MatchLength::Least), &["*"], "abc");
        check("xrxmx", Edit::Replace(MatchLength::Most), &["x", ""], "rm");
        check("xrxmx", Edit::Replace(MatchLength::Least), &["x", "y"], "yrxmx");
        check("abc", Edit::Replace(MatchLength::Most), &["?", "y"], "…");
        check("abc", Edit::Other, &["a"], "…");
    }
}
