//! Compares names with patterns of shells, of `grep` and of search tools, as far as haft can read these.
//!
//! The programs have different languages for patterns: `grep` knows no braces, `rg` and the searches of agents do. haft
//! reads `*`, and says that it does not know the rest. A pattern that takes files in counts unless it misses for certain;
//! a pattern that leaves files out counts only if it fits for certain.

use std::path::Path;

/// Signs that have a meaning in some language of patterns, and `…` for text that is known only when the command runs.
const OTHER_SIGNS: &[char] = &['?', '[', ']', '{', '}', '\\', '…'];
/// Signs that begin a group where a `(` follows.
const GROUP_SIGNS: &[char] = &['?', '*', '+', '@', '!'];
/// The most alternatives that haft writes out.
const MOST_ALTERNATIVES: usize = 256;

/// Whether a name fits a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::other_agents::guard) enum NameMatch {
    Fits,
    Misses,
    /// haft cannot read the pattern.
    Unknown,
}

impl NameMatch {
    /// Compares a name with a pattern.
    pub(in crate::other_agents::guard) fn of(pattern: &str, name: &str) -> Self {
        if pattern.contains(OTHER_SIGNS) || has_group(pattern) {
            return NameMatch::Unknown;
        }
        if fits_stars(pattern, name) { NameMatch::Fits } else { NameMatch::Misses }
    }
}

/// Returns whether a pattern may fit a name.
pub(in crate::other_agents::guard) fn may_fit_name(pattern: &str, name: &str) -> bool {
    NameMatch::of(pattern, name) != NameMatch::Misses
}

/// Returns whether the pattern of a search tool may find a file, by its name or by the name of a folder above.
pub(in crate::other_agents::guard) fn may_find(pattern: &str, file: &Path) -> bool {
    let fits_part = |pattern: &String| {
        let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or(pattern);
        file.iter().any(|part| may_fit_name(last, &part.to_string_lossy()))
    };
    alternatives(pattern).is_none_or(|patterns| patterns.iter().any(fits_part))
}

/// Returns whether a pattern for paths may fit a path, part by part; `**` is any number of parts.
pub(in crate::other_agents::guard) fn may_fit_path(pattern: &Path, path: &Path) -> bool {
    let parts = |path: &Path| -> Vec<String> { path.iter().map(|part| part.to_string_lossy().into_owned()).collect() };
    let path = parts(path);
    let fits = |pattern: String| may_fit_parts(&parts(Path::new(&pattern)), &path);
    alternatives(&pattern.to_string_lossy()).is_none_or(|patterns| patterns.into_iter().any(fits))
}

fn may_fit_parts(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((first, rest)) if first == "**" => (0..=path.len()).any(|at| may_fit_parts(rest, &path[at..])),
        Some((first, rest)) => {
            path.split_first().is_some_and(|(part, parts)| may_fit_name(first, part) && may_fit_parts(rest, parts))
        }
    }
}

/// Returns the patterns that a pattern with braces stands for: `a.{b,c}` is `a.b` and `a.c`. Nothing if programs read it
/// in different ways.
pub(in crate::other_agents::guard) fn alternatives(pattern: &str) -> Option<Vec<String>> {
    if has_group(pattern) {
        return None;
    }
    if !pattern.contains(['{', '}']) {
        return Some(vec![pattern.to_owned()]);
    }
    if pattern.contains(['\\', '[', ']', '…']) {
        return None;
    }
    let mut finished = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        let Some((before, choices, behind)) = first_braces(&pattern)? else {
            finished.push(pattern);
            continue;
        };
        open.extend(choices.iter().map(|choice| format!("{before}{choice}{behind}")));
        if open.len() + finished.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    Some(finished)
}

/// The text before the first braces, what they offer, and the text behind them.
type Braces<'p> = (&'p str, Vec<&'p str>, &'p str);

/// Splits a pattern at its first braces. Nothing if they have no end, no beginning, or only one choice.
fn first_braces(pattern: &str) -> Option<Option<Braces<'_>>> {
    let Some(begin) = pattern.find(['{', '}']) else { return Some(None) };
    let (mut depth, mut from, mut choices) = (0_usize, begin + 1, Vec::new());
    for (at, sign) in pattern[begin..].char_indices().map(|(at, sign)| (begin + at, sign)) {
        match sign {
            '{' => depth += 1,
            ',' if depth == 1 => {
                choices.push(&pattern[from..at]);
                from = at + 1;
            }
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if sign == '}' && depth == 0 {
            choices.push(&pattern[from..at]);
            return (choices.len() > 1).then_some(Some((&pattern[..begin], choices, &pattern[at + 1..])));
        }
    }
    None
}

/// Returns whether a pattern has a group of an extended pattern: `@(a|b)`.
fn has_group(pattern: &str) -> bool {
    pattern.match_indices('(').any(|(at, _)| pattern[..at].ends_with(GROUP_SIGNS))
}

fn fits_stars(pattern: &str, name: &str) -> bool {
    let mut texts = pattern.split('*');
    let Some(mut rest) = texts.next().and_then(|begin| name.strip_prefix(begin)) else { return false };
    let Some(end) = texts.next_back() else { return rest.is_empty() };
    for text in texts {
        let Some((_, behind)) = rest.split_once(text) else { return false };
        rest = behind;
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text_and_other_signs_are_not_known() {
        for (pattern, name) in [("*", ".env"), (".e*", ".env"), ("*.e*v", "a.env"), (".env", ".env"), ("a**b", "ab")] {
            assert_eq!(NameMatch::of(pattern, name), NameMatch::Fits, "{pattern} {name}");
        }
        for (pattern, name) in [("z*", ".env"), ("*.en", ".env"), ("", ".env"), ("ab*ba", "aba"), ("a*b*", "ac")] {
            assert_eq!(NameMatch::of(pattern, name), NameMatch::Misses, "{pattern} {name}");
        }
        for pattern in ["z?", "[!l]", "{z,y}", "z}", "]", r"\.env", "…", "@(a|b)", "!(z)", "+(z)"] {
            assert_eq!(NameMatch::of(pattern, ".env"), NameMatch::Unknown, "{pattern}");
        }
        assert_eq!(NameMatch::of("a (1)", "a (1)"), NameMatch::Fits);
    }

    #[test]
    fn braces_are_written_out_where_all_programs_agree() {
        let of = |pattern: &str| {
            alternatives(pattern).map(|mut patterns| {
                patterns.sort();
                patterns.join(" ")
            })
        };
        assert_eq!(of("*.{ts,tsx}").as_deref(), Some("*.ts *.tsx"));
        assert_eq!(of("{a,b{c,d/e}}x").as_deref(), Some("ax bcx bd/ex"));
        assert_eq!(of("{a,b}{c,d}").as_deref(), Some("ac ad bc bd"));
        assert_eq!(of("a").as_deref(), Some("a"));
        for unclear in ["{a", "a}", "{a}", "{1..3}", "{a,b", "}{", r"{a,\}}", "{[,],b}", "@(a)", "{…,b}"] {
            assert_eq!(of(unclear), None, "{unclear}");
        }
        assert_eq!(of(&"{a,b}".repeat(20)), None);
    }

    #[test]
    fn a_pattern_of_a_search_finds_a_file_by_each_of_its_alternatives() {
        for pattern in
            ["{a/b,.env}", "{.env,a/b/c}", ".en{v,}", "**/{x,.env}", "conf/**", r"\.env", "{.env}", ".@(env)"]
        {
            assert!(may_find(pattern, Path::new("conf/.env")), "{pattern}");
        }
        for pattern in ["*.{ts,tsx}", "{src,lib}/**/*.rs", "{a,b}"] {
            assert!(!may_find(pattern, Path::new("conf/.env")), "{pattern}");
        }
        assert!(may_fit_path(Path::new("{.env,a/b/c}"), Path::new(".env")));
        assert!(!may_fit_path(Path::new("{x,a/b/c}"), Path::new(".env")));
    }
}
