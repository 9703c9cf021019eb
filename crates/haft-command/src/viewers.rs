//! Programs that people choose for viewing text, in settings of git and in variables such as `PAGER`.

use crate::value::ShellValue;

/// These show text and do nothing else.
pub(crate) const VIEWERS: &[&str] = &["cat", "less", "more", "most", "delta", "bat", "true", ":", "head"];

/// Returns whether a command is such a program, perhaps with flags, or nothing.
pub(crate) fn is_usual_viewer(command: &ShellValue) -> bool {
    let Some(text) = command.known() else { return false };
    let mut words = text.split_whitespace();
    words.next().is_none_or(|program| VIEWERS.contains(&program))
        && words.all(|word| {
            word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-=".contains(&byte))
        })
}
