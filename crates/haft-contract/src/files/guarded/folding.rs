//! Folds names as a careless file system might: without case, invisible letters, and dots at the end.
//!
//! File systems that fold case by Unicode (ext4 and f2fs with `+F`, APFS, NTFS) take `.vſcode` and `.pro` + `ﬁ` + `le` for
//! `.vscode` and `.profile`, and drop letters that are ignorable by default. Lower case, upper case and lower case again is
//! at least as coarse as the full case folding of Unicode, so no second table is needed.

use std::ffi::OsStr;
use std::path::Path;

/// Returns the parts of a path as a careless file system might read them.
pub(super) fn folded(path: &Path) -> Vec<String> {
    path.iter().map(folded_name).collect()
}

/// Returns a name as a careless file system might read it.
pub fn folded_name(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let text: String = match name.is_ascii() {
        true => name.to_ascii_lowercase(),
        false => {
            let seen = name.chars().filter(|letter| !is_ignorable(*letter)).map(narrow);
            let upper = seen.flat_map(char::to_lowercase).flat_map(char::to_uppercase);
            upper.flat_map(char::to_lowercase).collect()
        }
    };
    let short = text.trim_end_matches(['.', ' ']);
    if short.is_empty() { text } else { short.to_owned() }
}

/// Returns the usual form of a letter of full width, which file systems with compatible forms (ZFS) do not tell apart.
fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        _ => letter,
    }
}

/// Returns whether a letter is ignorable by default (`Default_Ignorable_Code_Point` of Unicode), or only directs others.
fn is_ignorable(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::super::{protected, protected_names, refused_from_commands, secret_kind, secret_names};
    use super::*;
    use crate::doors::door::FileKind;

    /// Letters that other letters fold to.
    const FOLDED: &[(&str, &str)] = &[
        ("s", "\u{17f}"),
        ("k", "\u{212a}"),
        ("fi", "\u{fb01}"),
        ("fl", "\u{fb02}"),
        ("ff", "\u{fb00}"),
        ("ffi", "\u{fb03}"),
        ("st", "\u{fb06}"),
        ("ss", "\u{df}"),
        ("ss", "\u{1e9e}"),
        ("s", "S"),
        ("e", "\u{ff25}"),
        ("g", "\u{ff47}"),
    ];
    /// Letters that are ignored: the first and the last of each range.
    const IGNORED: &[char] = &[
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{1160}',
        '\u{17b4}',
        '\u{180b}',
        '\u{180e}',
        '\u{180f}',
        '\u{200b}',
        '\u{200d}',
        '\u{202e}',
        '\u{2060}',
        '\u{206f}',
        '\u{3164}',
        '\u{fe00}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff8}',
        '\u{1bca0}',
        '\u{1d173}',
        '\u{e0001}',
        '\u{e0100}',
        '\u{e0fff}',
    ];

    /// Returns the forms of a path that a careless file system takes for it.
    fn forms(path: &str) -> Vec<String> {
        let folded = FOLDED.iter().map(|(plain, other)| path.replace(plain, other));
        let once = FOLDED.iter().map(|(plain, other)| path.replacen(plain, other, 1));
        let ignored = IGNORED.iter().flat_map(|letter| {
            let inside = path.chars().map(|one| if one == '/' { "/".to_owned() } else { format!("{one}{letter}") });
            [format!("{letter}{path}"), format!("{path}{letter}"), inside.collect()]
        });
        folded.chain(once).chain(ignored).collect()
    }

    #[test]
    fn a_protected_name_is_protected_in_every_form_that_a_file_system_takes_for_it() {
        for name in protected_names() {
            let example = name.example();
            let is_refused = |path: &str| refused_from_commands(Path::new(path), FileKind::File).is_some();
            for form in forms(&example) {
                assert!(protected(Path::new(&form)).is_some(), "{form:?}");
                assert_eq!(is_refused(&form), is_refused(&example), "{form:?}");
            }
        }
        for path in [".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".git/modules/a/hooks/x"] {
            for form in forms(path) {
                let (plain, form) = (Path::new(path), Path::new(&form));
                assert_eq!(
                    refused_from_commands(form, FileKind::File),
                    refused_from_commands(plain, FileKind::File),
                    "{form:?}"
                );
            }
        }
    }

    #[test]
    fn a_secret_name_is_secret_in_every_such_form() {
        for name in secret_names() {
            let example = name.pattern.replace("/**", "/some/file").replace('*', "some");
            for form in forms(&example) {
                assert_eq!(secret_kind(Path::new(&form)), Some(name.kind), "{form:?}");
            }
        }
    }

    #[test]
    fn names_in_other_languages_stay_apart() {
        for name in ["straße.md", "größe.txt", "配置.json", "файл.rs", "émile.py"] {
            assert!(protected(Path::new(name)).is_none(), "{name}");
        }
        assert_ne!(folded_name(OsStr::new("é")), "e");
    }
}
