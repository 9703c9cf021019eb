//! Extracts the comments of a file.
//!
//! People comment an old value out and leave it in the file, or note one behind another. So haft reads the comments of a
//! file as a separate file.
//!
//! Not here: which of their values are secrets. Comments are mostly prose, which `file_values` reads with more care.

/// Signs that make a comment of a line, at its beginning. A longer one stands before one that it begins with.
const AT_BEGINNING: &[&str] =
    &["<!--", "<%--", "{{/*", "{#", "//", "/*", "::", "-- ", "REM ", "Rem ", "rem ", "#", ";", "!", "%", "*"];
/// Signs that begin a comment behind something else.
const BEHIND: &[&str] =
    &[" #", "\t#", " ;", "\t;", " //", "\t//", " /*", "\t/*", ",//", ";//", " -- ", "<!--", "<%--", "{#"];
/// Signs that end a comment.
const AT_END: &[&str] = &["-->", "--%>", "*/}}", "*/", "#}"];

/// Returns the comments of a text, line by line, without their signs; empty where it has none.
///
/// The blanks behind a sign stay: a block that was commented out as a whole keeps its shape.
pub(super) fn comments(text: &str) -> String {
    let mut comments = String::new();
    for line in text.split(['\n', '\r']) {
        if let Some(comment) = whole(line).or_else(|| behind(line)) {
            comments.push_str(without_end(comment));
            comments.push('\n');
        }
    }
    comments
}

/// Returns what a line says that is a comment as a whole.
fn whole(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let mut is_comment = false;
    while let Some(sign) = AT_BEGINNING.iter().find(|sign| rest.trim_start().starts_with(**sign)) {
        rest = &rest.trim_start()[sign.len()..];
        is_comment = true;
    }
    is_comment.then_some(rest)
}

fn behind(line: &str) -> Option<&str> {
    let found = BEHIND.iter().filter_map(|sign| Some((line.find(sign)?, sign.len())));
    found.min().map(|(at, length)| &line[at + length..])
}

fn without_end(comment: &str) -> &str {
    let mut rest = comment.trim_end();
    while let Some(shorter) = AT_END.iter().find_map(|sign| rest.strip_suffix(sign)) {
        rest = shorter.trim_end();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_all_kinds_are_found_with_their_shape() {
        for (text, found) in [
            ("# a=b", " a=b\n"),
            ("## a=b\n#\n", " a=b\n\n"),
            ("  // \"a\": \"b\",", " \"a\": \"b\",\n"),
            ("# a:\n#   b: c\nd: e", " a:\n   b: c\n"),
            ("a=b # c=d\n", " c=d\n"),
            ("<!-- a -->\n<b/><!-- c --> ", " a\n c\n"),
            ("/* a */\n/*\n * b\n */", " a\n\n b\n/\n"),
            ("REM a\n-- b\n{# c #}", "a\nb\n c\n"),
            ("a=b#c\nhttp://d\n-----BEGIN KEY-----\n--flag", ""),
        ] {
            assert_eq!(comments(text), found, "{text}");
        }
    }
}
