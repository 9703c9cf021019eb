//! Reads text for an editor or a console, such as `vim -c` and `psql -c` take it.
//!
//! Most of it is not understood here, but a way to run something is.

use super::super::act::{Act, Inner, Language, Reading};
use super::super::value::Value;

/// What stands before text for a shell at the beginning of a line.
const MARKS: &[&str] = &[".shell ", ".system ", "shell ", "system ", "sh ", "\\! "];

/// Reads the text.
pub(crate) fn read(text: &Value) -> Reading {
    let mut reading = Reading::default();
    reading.acts.push(Act::Unknown("it is text for another program".to_owned()));
    for line in text.shown().lines() {
        let line = line.trim().trim_start_matches(':');
        let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        let script = marked.or_else(|| line.split_once('!').map(|(_, script)| script.trim_start_matches('!')));
        let script = script.map(str::trim).filter(|script| !script.is_empty() && !script.starts_with('='));
        reading.inner.extend(script.map(|script| Inner::Script(Value::text(script), Vec::new())));
    }
    // Calls such as `system("…")` are found among its strings.
    reading.inner.push(Inner::Text(Language::General, text.clone()));
    reading
}
