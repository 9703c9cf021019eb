//! Rules out files that cannot match in any encoding, to avoid guessing theirs.
//!
//! Guessing an encoding costs a hundred times as much as searching. In all encodings without NUL bytes an ASCII character is
//! one byte, its own, and any other character begins with a byte that is not ASCII. (The exceptions are four rare pairs in
//! Big5, each of which stands for two characters.) So this module lets each character that is not ASCII match such bytes:
//! the result fits wherever the real pattern fits.
//!
//! Not here: UTF-16, which has NUL bytes or a mark.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use haft_contract::files::search::{Case, SearchRequest, Syntax};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir, HirKind, Repetition};

/// Most bytes of a character.
const LONGEST_CHARACTER: u32 = 4;

/// Compiles an expression on bytes that fits wherever the pattern may; nothing where it would be too large, or where
/// the pattern itself is about bytes.
pub(super) fn possible(request: &SearchRequest) -> Option<RegexMatcher> {
    let pattern = match request.syntax {
        Syntax::Regex => request.pattern.clone(),
        Syntax::Literal => regex_syntax::escape(&request.pattern),
    };
    // Where capital letters may count, it is enough that they need not.
    let any_case = request.case != Case::Sensitive;
    let hir = ParserBuilder::new().multi_line(true).utf8(false).case_insensitive(any_case).build().parse(&pattern);
    RegexMatcherBuilder::new().build(&widened(&hir.ok()?)?.to_string()).ok()
}

fn widened(hir: &Hir) -> Option<Hir> {
    let all = |parts: &[Hir]| parts.iter().map(widened).collect::<Option<Vec<_>>>();
    Some(match hir.kind() {
        // What stands beside a place depends on the encoding.
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            Hir::concat(std::str::from_utf8(&literal.0).ok()?.chars().map(character).collect())
        }
        HirKind::Class(Class::Unicode(class)) => of_class(class),
        HirKind::Class(Class::Bytes(class)) if class.is_ascii() => Hir::class(Class::Bytes(class.clone())),
        HirKind::Class(Class::Bytes(_)) => return None,
        HirKind::Repetition(repetition) => {
            let sub = Box::new(widened(&repetition.sub)?);
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => widened(&capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(all(parts)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
    })
}

fn character(character: char) -> Hir {
    if character.is_ascii() { Hir::literal([character as u8]) } else { not_ascii() }
}

fn of_class(class: &ClassUnicode) -> Hir {
    let ascii = class.ranges().iter().filter(|range| range.start().is_ascii());
    let ascii = ascii.map(|range| ClassBytesRange::new(range.start() as u8, range.end().min('\x7f') as u8));
    let ascii = Hir::class(Class::Bytes(ClassBytes::new(ascii)));
    if class.is_ascii() { ascii } else { Hir::alternation(vec![ascii, not_ascii()]) }
}

/// A character that is not ASCII, in any encoding.
fn not_ascii() -> Hir {
    let bytes = |from: u8| Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(from, 0xff)])));
    let more = Repetition { min: 0, max: Some(LONGEST_CHARACTER - 1), greedy: true, sub: Box::new(bytes(0)) };
    Hir::concat(vec![bytes(0x80), Hir::repetition(more)])
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;
    use haft_contract::files::search::{IgnorePolicy, SearchOutputMode, Span};

    use super::*;

    fn request(pattern: &str, case: Case) -> SearchRequest {
        SearchRequest {
            pattern: pattern.into(),
            syntax: Syntax::Regex,
            case,
            span: Span::Line,
            include: Vec::new(),
            exclude: Vec::new(),
            usual_excludes: Vec::new(),
            before: 0,
            after: 0,
            wanted: SearchOutputMode::Lines,
            ignored: IgnorePolicy::Skip,
            skip: 0,
            most: 1,
            line_length: 100,
        }
    }

    fn check(pattern: &str, case: Case, fits: &[&[u8]], misses: &[&[u8]]) {
        let possible = possible(&request(pattern, case)).expect("it can be compiled");
        let is_possible = |content: &[u8]| possible.is_match(content).expect("matching does not fail");
        for content in fits {
            assert!(is_possible(content), "{pattern} and {content:?}");
        }
        for content in misses {
            assert!(!is_possible(content), "{pattern} and {content:?}");
        }
    }

    #[test]
    fn a_character_that_is_not_ascii_may_be_any_bytes_that_are_not() {
        check("café", Case::Sensitive, &[b"caf\xe9", "café".as_bytes()], &[b"cafe", b"Caf\xe9", b"caf"]);
        check("^日本$", Case::Smart, &[b"\x93\xfa\x96{\n", "日本".as_bytes()], &[b"plain"]);
        check("x.y", Case::Smart, &[b"x\xe9y", b"x\x81\x30\x81\x30y", b"x-y", b"X-Y"], &[b"x\ny", b"xy"]);
    }

    #[test]
    fn what_is_ascii_in_the_pattern_must_be_there() {
        check("return value", Case::Smart, &[b"\xe9 return value", b"RETURN VALUE"], &[b"\xe9 return", b"\xe9"]);
        check(r"\bkiss\B", Case::Smart, &[b"\xe9kiss\xe9", b"KI\xc5\xbfs"], &[b"\xe9 kis"]);
        check(r"(a|ü)\w{2,3}[^\x00-\x7f]", Case::Smart, &[b"\xfcbc\xe9", b"a\xe9\xe9\xe9"], &[b"abc", b"bc\xe9"]);
    }

    #[test]
    fn a_pattern_about_bytes_may_be_anywhere() {
        assert!(possible(&request(r"(?-u:\xff)", Case::Smart)).is_none());
        assert!(possible(&request(r"a(?-u:.)b", Case::Smart)).is_none());
    }
}
