//! Says what a walk left out, and how to reach it.
//!
//! A model that does not see a file concludes that the file does not exist. So every answer about a tree ends with the
//! parts that the walk skipped, by name where that is short. The three tools that walk use the same words, each with its
//! own way to reach the skipped parts.

use std::borrow::Cow;

use haft_contract::context::RunContext;
use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::files::path::one_line;
use haft_contract::files::search::{OmittedNames, WalkOmissions};
use haft_contract::text::grouped::GroupedNumber;

/// Most names of one kind that are told.
const MOST_NAMED: usize = 3;
/// Longest list of names that is told, in characters.
const LONGEST_LIST: usize = 120;

/// The words by which a tool says how to get at what it left out, with the names of its arguments.
#[derive(Clone, Copy)]
pub(crate) struct OmissionHints {
    /// At what ignore files name.
    pub(crate) ignored: &'static str,
    /// At names that begin with a dot.
    pub(crate) hidden: &'static str,
    /// Whether it would show what is in files, so that it does not look into secret ones.
    pub(crate) looks_into: LooksInto,
}

/// What a tool shows of what it walks over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LooksInto {
    Names,
    Contents,
}

impl OmissionHints {
    /// Returns these ways, but for arguments that only haft has where those cannot be named.
    pub(crate) fn with(self, arguments: ContinuationArguments) -> Self {
        match arguments {
            ContinuationArguments::Own => self,
            ContinuationArguments::Shared => {
                Self { ignored: "give an ignored folder as \"path\" to look there", ..self }
            }
        }
    }
}

impl OmissionHints {
    /// Returns these ways without those that the reader knows from an earlier result of the session. Where nothing else is
    /// left, the way is the answer.
    pub(crate) fn once(self, left_out: &WalkOmissions, cx: &RunContext<'_>) -> Self {
        if only_ignored(left_out).is_some() {
            return self;
        }
        let new = |way: &'static str, omitted: &OmittedNames| match omitted.count {
            1.. if !way.is_empty() && !cx.is_first_hint(way) => "",
            _ => way,
        };
        Self { ignored: new(self.ignored, &left_out.ignored), hidden: new(self.hidden, &left_out.hidden), ..self }
    }
}

/// The way of all tools that can pass over ignore files.
pub(crate) const SET_IGNORED: &str = "set \"ignored\" to true to see them";

/// Returns what was left out as parts of a sentence, the most surprising first; none when nothing was.
pub(crate) fn words(left_out: &WalkOmissions, ways: &OmissionHints) -> Vec<String> {
    let mut parts = Vec::new();
    let secret = Some(&left_out.secret).filter(|secret| secret.count > 0).map(secrets);
    let mut passed = Vec::new();
    match (secret, ways.looks_into) {
        (Some(secret), LooksInto::Contents) => {
            parts.push(format!("not searched: {secret} (needs the user's permission)"));
        }
        (secret, _) => passed.extend(secret),
    }
    let beyond = OmittedNames { count: left_out.beyond, paths: Vec::new() };
    let others = [
        (&left_out.ignored, "ignored", ways.ignored),
        (&left_out.hidden, "hidden", ways.hidden),
        (&left_out.binary, "binary", ""),
        (&left_out.too_long, "with lines too long to search", ""),
        (&beyond, "too deep or too many in one folder", ""),
    ]
    .into_iter()
    .filter(|(omitted, ..)| omitted.count > 0)
    .map(|(omitted, what, way)| {
        let way = if way.is_empty() { String::new() } else { format!(" ({})", number(way, omitted.count)) };
        format!("{} {what}{}{way}", GroupedNumber(omitted.count), names(omitted))
    });
    passed.extend(others);
    if !passed.is_empty() {
        parts.push(format!("left out: {}", passed.join(", ")));
    }
    if left_out.unreadable.count > 0 {
        let paths: Vec<_> = left_out.unreadable.paths.iter().map(|path| one_line(path)).collect();
        let more = left_out.unreadable.count.saturating_sub(paths.len() as u64);
        let more = if more > 0 { format!(" and {} more", GroupedNumber(more)) } else { String::new() };
        parts.push(format!("could not open {}{more}", paths.join(", ")));
    }
    parts
}

/// Returns a way in words that fit one name: the ways are written for several.
fn number(way: &str, count: u64) -> Cow<'_, str> {
    if count != 1 {
        return way.into();
    }
    way.replace(" them", " it").replace("name one as", "name it as").into()
}

/// Returns secret files in words: `1 secret-class file: .env`.
pub(crate) fn secrets(omitted: &OmittedNames) -> String {
    format!("{}{}", GroupedNumber(omitted.count).of("secret-class file"), names(omitted))
}

/// Says that nothing but ignored names is there, where no other file was met.
pub(crate) fn only_ignored(left_out: &WalkOmissions) -> Option<&'static str> {
    match (left_out.met, left_out.ignored.count, left_out.hidden.count) {
        (0, 1.., 0) => Some("only ignored files are here"),
        (0, 1.., _) => Some("only ignored and hidden files are here"),
        _ => None,
    }
}

/// Returns the names behind a colon, where they are few and short.
fn names(omitted: &OmittedNames) -> String {
    let names: Vec<_> = omitted.paths.iter().map(|path| one_line(path)).collect();
    let list = names.join(", ");
    let is_short = names.len() <= MOST_NAMED && names.len() as u64 == omitted.count && !names.is_empty();
    if is_short && list.chars().count() <= LONGEST_LIST { format!(": {list}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn omitted(count: u64) -> OmittedNames {
        let mut omitted = OmittedNames::default();
        (0..count).for_each(|number| omitted.note(|| format!("f{number}")));
        omitted
    }

    #[test]
    fn nothing_left_out_needs_no_words() {
        assert!(
            words(
                &WalkOmissions::default(),
                &OmissionHints { ignored: "a", hidden: "b", looks_into: LooksInto::Names }
            )
            .is_empty()
        );
    }

    #[test]
    fn each_kind_has_its_way_and_names_where_they_are_few() {
        let check = |ignored, hidden, expected: &str| {
            let (ignored, hidden) = (omitted(ignored), omitted(hidden));
            let left_out = WalkOmissions { ignored, hidden, binary: omitted(1), ..WalkOmissions::default() };
            let ways = OmissionHints { ignored: "one", hidden: "other", looks_into: LooksInto::Names };
            assert_eq!(words(&left_out, &ways), [expected]);
        };
        check(2, 4, "left out: 2 ignored: f0, f1 (one), 4 hidden (other), 1 binary: f0");
        check(0, 3, "left out: 3 hidden: f0, f1, f2 (other), 1 binary: f0");
        check(1_234, 0, "left out: 1,234 ignored (one), 1 binary: f0");
    }

    #[test]
    fn one_name_is_it_and_a_secret_file_has_no_way() {
        let ways = |looks_into| OmissionHints { ignored: SET_IGNORED, hidden: "name one as \"path\"", looks_into };
        let left_out =
            WalkOmissions { ignored: omitted(1), hidden: omitted(1), secret: omitted(1), ..WalkOmissions::default() };
        assert_eq!(
            words(&left_out, &ways(LooksInto::Names)),
            ["left out: 1 secret-class file: f0, 1 ignored: f0 (set \"ignored\" to true to see it), \
              1 hidden: f0 (name it as \"path\")"]
        );
        let secret = &words(&left_out, &ways(LooksInto::Contents))[0];
        assert_eq!(secret, "not searched: 1 secret-class file: f0 (needs the user's permission)");
    }

    #[test]
    fn long_names_and_line_ends_add_no_noise() {
        let mut long = OmittedNames::default();
        long.note(|| "x".repeat(200));
        assert_eq!(secrets(&long), "1 secret-class file");
        let mut odd = OmittedNames::default();
        odd.note(|| "a\nb".to_owned());
        assert_eq!(secrets(&odd), "1 secret-class file: a\\nb");
    }
}
