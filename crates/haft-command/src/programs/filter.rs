//! Reads a filter of jq or yq.
//!
//! Nearly all filters only select and reshape data. A few words reach further: the environment, modules, and files that
//! yq loads.

use crate::act::{PathEffect, ProgramReading, RawEffect};
use crate::value::ShellValue;

/// Words that print the environment, of jq and of yq.
const ENVIRONMENT: &[&str] = &["env", "$ENV", "ENV", "$__loc__", "__loc__", "strenv", "envsubst"];
/// Words that load a module, whose name is the next string.
const MODULES: &[&str] = &["import", "include", "modulemeta", "get_search_list"];

/// Reads the filter.
pub(crate) fn read(filter: &ShellValue) -> ProgramReading {
    let mut reading = ProgramReading::default();
    if filter.has_unknown() {
        reading.acts.push(RawEffect::Unknown("a part of the filter is known only when it runs".to_owned()));
    }
    let text = filter.shown();
    let words = words(&text);
    if words.iter().any(|(_, word)| ENVIRONMENT.contains(word)) {
        reading.acts.push(RawEffect::Unknown("it prints the environment, which may hold secrets".to_owned()));
    }
    for (at, word) in &words {
        let loads = word.starts_with("load") && text[at + word.len()..].trim_start().starts_with('(');
        if !loads && !MODULES.contains(word) {
            continue;
        }
        reading.acts.push(RawEffect::Unknown("it loads a file that the filter names".to_owned()));
        let named = text[at + word.len()..].split('"').nth(1).filter(|name| !name.is_empty());
        reading.acts.extend(named.map(|name| RawEffect::Path(PathEffect::Read, ShellValue::text(name))));
    }
    reading
}

/// Returns the words that may be calls, with where they begin. `.env` is a field, and `"env"` a string.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_part).map(|offset| at + offset) {
        let end = text[start..].find(|letter| !is_part(letter)).map_or(text.len(), |offset| start + offset);
        let is_field = text[..start].ends_with('.') && !text[..start].ends_with("..");
        if !is_field && !text[..start].ends_with('"') {
            words.push((start, &text[start..end]));
        }
        at = end;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(filter: &str) -> usize {
        read(&ShellValue::text(filter)).acts.len()
    }

    #[test]
    fn the_environment_is_told_wherever_it_stands() {
        for filter in ["env", "[env]", "{a:env}", "1,env", "$ENV.HOME", "$ENV", "env|keys", "\"\\(env)\"", "strenv(A)"]
        {
            assert_eq!(acts(filter), 1, "{filter}");
        }
    }

    #[test]
    fn a_field_or_a_string_of_that_name_is_no_environment() {
        for filter in [".env", ".a.env.x", ".[\"env\"]", ".environment", "select(.x == \"env\")", ".payload"] {
            assert_eq!(acts(filter), 0, "{filter}");
        }
    }

    #[test]
    fn a_file_that_is_loaded_is_read() {
        for filter in ["load_str(\".env\")", "load (\".env\")", "import \".env\" as $d; $d"] {
            assert!(
                read(&ShellValue::text(filter))
                    .acts
                    .contains(&RawEffect::Path(PathEffect::Read, ShellValue::text(".env"))),
                "{filter}"
            );
        }
    }
}
