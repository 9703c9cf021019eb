//! Matches a regular expression of bounded size in linear time, or plain text.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use haft_contract::files::search::{Case, SearchRequest, Span, Syntax};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

/// Longest pattern, in bytes.
const LONGEST: usize = 10_000;
/// Most memory for the compiled pattern, in bytes.
const LARGEST: usize = 32 << 20;

/// Compiles the pattern of a request, or says where it is wrong.
pub(super) fn compiled(request: &SearchRequest) -> Result<RegexMatcher, ToolError> {
    let pattern = &request.pattern;
    if pattern.len() > LONGEST {
        let what = format!("The pattern is {} bytes long; at most {LONGEST} are allowed.", pattern.len());
        return Err(bad(what, "search for a shorter, distinctive part"));
    }
    if request.syntax == Syntax::Regex {
        parsed(pattern)?;
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(request.syntax == Syntax::Literal)
        .case_smart(request.case == Case::Smart)
        .case_insensitive(request.case == Case::Insensitive)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST);
    match request.span {
        // `$` stands before `\r\n` too.
        Span::Line => builder.crlf(true),
        Span::Lines => builder.line_terminator(None),
    };
    builder.build(pattern).map_err(|error| match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) | grep_regex::ErrorKind::InvalidLineTerminator(_) => bad(
            format!("The pattern {} holds a line end, but each line is searched separately.", quoted(pattern)),
            "set \"multiline\" to true, or search for a part on one line",
        ),
        _ => bad(
            format!("The pattern {} cannot be used: {}.", quoted(pattern), reason(&error.to_string())),
            "write a simpler expression, or set \"literal\" to true to search for exactly this text",
        ),
    })
}

/// Reads the expression only to say exactly what is wrong with it.
fn parsed(pattern: &str) -> Result<(), ToolError> {
    use regex_syntax::ast::ErrorKind as Wrong;
    let Err(error) = regex_syntax::ast::parse::Parser::new().parse(pattern) else { return Ok(()) };
    let at = error.span().start;
    let place = if pattern.contains('\n') {
        format!("line {}, character {}", at.line, at.column)
    } else {
        format!("character {}", at.column)
    };
    let what = format!("The pattern {} is not a regular expression: {} at {place}.", quoted(pattern), error.kind());
    let next = match error.kind() {
        Wrong::UnsupportedLookAround | Wrong::UnsupportedBackreference => {
            "search without look-around and back-references, for a simpler expression, and read what is found"
        }
        _ => "escape the character with a backslash, or set \"literal\" to true to search for exactly this text",
    };
    Err(bad(what, next))
}

fn quoted(pattern: &str) -> String {
    if pattern.chars().count() <= 100 {
        return format!("{pattern:?}");
    }
    format!("{:?}…", pattern.chars().take(100).collect::<String>())
}

/// The library's message ends with the reason; before it comes the pattern, line by line.
fn reason(message: &str) -> String {
    if message.contains("size limit") {
        return format!("compiled, it is larger than {} MB", LARGEST >> 20);
    }
    let last = message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(message);
    last.trim().trim_start_matches("error: ").to_owned()
}

fn bad(what: String, next: &str) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.to_owned()))
}
