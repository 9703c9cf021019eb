//! Reads words of git that name a revision, an object or files.
//!
//! `git show HEAD:.env` prints that file as `cat` does, so the path in such a word is what matters. If a word may be a
//! revision or a path, haft takes it for a path: no revision is outside the workspace.

use crate::value::{ShellValue, ValuePiece};

/// Returns the paths that a word may name: behind a colon, or else all of it.
pub(crate) fn paths(word: &ShellValue) -> Vec<ShellValue> {
    if let Some(rest) = word.strip_prefix(":") {
        return of_magic(&rest);
    }
    let behind = behind_colon(word);
    match behind {
        Some(path) => {
            // `:0:path` and `-L 1,5:path` have more than one; a path may hold another.
            let last = behind_colon(&path);
            [Some(path), last].into_iter().flatten().map(|path| with_patterns(&path)).collect()
        }
        None if word.known().is_some_and(is_revision) => Vec::new(),
        None => vec![with_patterns(word)],
    }
}

/// Returns whether a word can hardly be a path: `HEAD`, `main..work`, `v1~2`, `^main`.
fn is_revision(word: &str) -> bool {
    let is_head = matches!(word, "HEAD" | "@" | "FETCH_HEAD" | "ORIG_HEAD" | "MERGE_HEAD");
    let is_file_name = word.starts_with('.') || word.contains(['/', '*', '?', '[']);
    is_head || word.starts_with('^') || (!is_file_name && (word.contains("..") || word.contains(['~', '^'])))
}

/// Reads what stands behind a colon at the beginning: a path in the index, or a word with a special meaning.
fn of_magic(rest: &ShellValue) -> Vec<ShellValue> {
    let start = rest.prefix();
    if start.starts_with(['!', '^']) {
        return Vec::new();
    }
    if let Some((magic, _)) = start.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        let path = rest.strip_prefix(&format!("({magic})")).unwrap_or_default();
        let in_any_case = magic.contains("icase").then(|| lower(&path));
        let paths = [Some(path), in_any_case].into_iter().flatten().map(|path| with_patterns(&or_all(path)));
        return if magic.contains("exclude") { Vec::new() } else { paths.collect() };
    }
    // `:/text` is a commit, or a path from the root of the workspace.
    let path = or_all(rest.strip_prefix("/").unwrap_or_else(|| rest.clone()));
    let last = behind_colon(&path);
    [Some(path), last].into_iter().flatten().map(|path| with_patterns(&path)).collect()
}

/// `:/` and `:(top)` are everything from the root on.
fn or_all(path: ShellValue) -> ShellValue {
    if path.is_empty() { ShellValue::text(".") } else { path }
}

fn lower(path: &ShellValue) -> ShellValue {
    let mut lower = ShellValue::default();
    path.pieces().iter().for_each(|piece| {
        lower.push(match piece {
            ValuePiece::Text(text) => ValuePiece::Text(text.to_lowercase()),
            piece => piece.clone(),
        });
    });
    lower
}

fn behind_colon(word: &ShellValue) -> Option<ShellValue> {
    let is_text_with_colon = |piece: &ValuePiece| matches!(piece, ValuePiece::Text(text) if text.contains(':'));
    let at = word.pieces().iter().position(is_text_with_colon)?;
    let mut path = ShellValue::default();
    for (index, piece) in word.pieces().iter().enumerate().skip(at) {
        match piece {
            ValuePiece::Text(text) if index == at => {
                path.push(ValuePiece::Text(text.split_once(':').map_or("", |(_, rest)| rest).to_owned()));
            }
            piece => path.push(piece.clone()),
        }
    }
    Some(path)
}

/// git finds files by patterns itself, so those are no plain text here.
fn with_patterns(path: &ShellValue) -> ShellValue {
    let mut found = ShellValue::default();
    for piece in path.pieces() {
        let ValuePiece::Text(text) = piece else {
            found.push(piece.clone());
            continue;
        };
        for (index, part) in text.split(['*', '?', '[', ']']).enumerate() {
            if index > 0 {
                found.push(ValuePiece::Glob);
            }
            found.push(ValuePiece::Text(part.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(word: &str) -> Vec<String> {
        paths(&ShellValue::text(word)).iter().map(ShellValue::shown).collect()
    }

    #[test]
    fn the_path_of_an_object_is_what_stands_behind_the_colon() {
        assert_eq!(shown("HEAD:.env"), [".env"]);
        assert_eq!(shown(":.env"), [".env"]);
        assert_eq!(shown(":0:.env"), ["0:.env", ".env"]);
        assert_eq!(shown("10,20:.env"), [".env"]);
    }

    #[test]
    fn the_path_is_known_also_when_the_revision_is_not() {
        let mut word = ShellValue::unknown();
        word.push(ValuePiece::Text(":.env".to_owned()));
        assert_eq!(paths(&word), [ShellValue::text(".env")]);
    }

    #[test]
    fn a_plain_word_may_be_a_path_and_a_pattern_finds_more() {
        assert_eq!(shown("main"), ["main"]);
        assert_eq!(shown(":(top).en*"), [".en*"]);
        assert_eq!(paths(&ShellValue::text(".en*"))[0].pieces().last(), Some(&ValuePiece::Glob));
    }

    #[test]
    fn magic_words_name_everything_and_files_in_any_case() {
        for word in [":/", ":", ":(top)", ":(top,glob)"] {
            assert_eq!(shown(word), ["."], "{word}");
        }
        assert_eq!(shown(":(icase).E*"), [".E*", ".e*"]);
        assert_eq!(shown(":(top,icase).ENV"), [".ENV", ".env"]);
    }

    #[test]
    fn what_can_only_be_a_revision_is_no_path() {
        for word in ["HEAD", "HEAD~3..", "main..work", "v1.0^", "@"] {
            assert_eq!(shown(word), [""; 0], "{word}");
        }
        for word in ["../.env", "a/../.env", "..", "a..b/.env", "~/.ssh/id_rsa"] {
            assert_eq!(shown(word), [word], "{word}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_read() {
        for word in [":!.env", ":^.env", ":(exclude).env", "^main"] {
            assert_eq!(shown(word), [""; 0], "{word}");
        }
    }
}
