//! Splits a line of settings into a name and a value.
//!
//! Not here: what a value means (`readings`).

/// Returns a name without what stands around it.
pub(super) fn bare_name(name: &str) -> &str {
    let name = name.trim().trim_start_matches("- ").trim_start_matches("export ").trim();
    name.trim_start_matches(['#', ';']).trim().trim_start_matches("export ").trim().trim_matches(['"', '\''])
}

/// Returns whether a value says that the lines below are the value, in YAML.
pub(super) fn is_block(value: &str) -> bool {
    let mark = value.split(" #").next().unwrap_or_default().trim();
    mark.starts_with(['|', '>']) && mark[1..].chars().all(|letter| matches!(letter, '+' | '-' | '1'..='9'))
}

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Parts a line into a name and a value.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        let name = name.trim_start_matches("export ").trim().trim_start_matches(['#', ';', '-']).trim();
        let name = name.trim_matches(['"', '\'']);
        !name.is_empty() && name.len() <= 200 && !name.contains(char::is_whitespace)
    };
    let by = |at: Option<usize>, length: usize| {
        let (name, value) = at.map(|at| (&line[..at], line[at + length..].trim_start()))?;
        (is_name(name) && !value.is_empty()).then_some((name, value))
    };
    // The padding at the end of a key is not a separator.
    let equals = line.find('=').filter(|at| !line[*at..].chars().all(|letter| letter == '='));
    let colon = line.find(": ").or_else(|| line.find("\":").map(|at| at + 1));
    match (equals, colon) {
        (Some(equals), Some(colon)) if colon < equals => by(Some(colon), 1),
        (Some(_), _) => by(equals, 1),
        (None, _) => by(colon, 1),
    }
}
