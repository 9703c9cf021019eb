//! Expands variables in the files of other programs as each program does it.
//!
//! haft expands them after it has read the file, and never with a shell. A variable that is not set is an error, because an
//! empty text in its place would have another meaning.

use std::path::Path;

use haft_config::environment::variable;

/// How a program writes variables in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// It has none.
    Plain,
    /// `${NAME}` and `${NAME:-default}`.
    Braces,
    /// `$NAME` and `${NAME}`.
    Dollar,
    /// `${env:NAME}`, `${workspaceFolder}`, `${userHome}`.
    Editor,
    /// `{env:NAME}`.
    Curly,
}

/// Expands variables of one file.
#[derive(Clone, Copy)]
pub(super) struct Expander<'a> {
    pub(super) style: Style,
    pub(super) home: &'a Path,
    pub(super) workspace: &'a Path,
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Looks variables up in the environment of this process.
pub(super) fn of_process(name: &str) -> Option<String> {
    variable(name)
}

impl Expander<'_> {
    /// Expands all variables in a text; the error names the one that has no value.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, found)) = self.next(rest) {
            expanded.push_str(&rest[..before]);
            expanded.push_str(&self.value_of(found.name)?);
            rest = &rest[before + found.length..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Finds the next variable, and how many bytes come before it.
    fn next<'t>(&self, text: &'t str) -> Option<(usize, VariableReference<'t>)> {
        let braced = |open: &str| {
            let begin = text.find(open)?;
            let inner = &text[begin + open.len()..];
            let end = inner.find('}')?;
            Some((begin, VariableReference { name: &inner[..end], length: open.len() + end + 1 }))
        };
        match self.style {
            Style::Plain => None,
            Style::Braces | Style::Editor => braced("${"),
            Style::Curly => ["{env:", "{file:"]
                .into_iter()
                .filter_map(|open| {
                    let (begin, found) = braced(open)?;
                    // The word stays: it says which kind of value is meant.
                    let inner = &text[begin + 1..begin + found.length - 1];
                    Some((begin, VariableReference { name: inner, length: found.length }))
                })
                .min_by_key(|(begin, _)| *begin),
            Style::Dollar => dollar(text),
        }
    }

    fn value_of(&self, name: &str) -> Result<String, String> {
        let (name, default) = match self.style {
            Style::Braces => name.split_once(":-").map_or((name, None), |(name, default)| (name, Some(default))),
            Style::Editor => match name {
                "workspaceFolder" => return Ok(self.workspace.to_string_lossy().into_owned()),
                "userHome" => return Ok(self.home.to_string_lossy().into_owned()),
                "pathSeparator" | "/" => return Ok("/".to_owned()),
                _ => match name.strip_prefix("env:") {
                    Some(name) => (name, None),
                    None => return Err(format!("haft cannot expand ${{{name}}}; write the value itself")),
                },
            },
            Style::Curly => match name.strip_prefix("env:") {
                Some(name) => (name, None),
                None => return Err(format!("haft does not read files into settings ({{{name}}}); use {{env:NAME}}")),
            },
            Style::Plain | Style::Dollar => (name, None),
        };
        let value = (self.variable)(name).filter(|value| default.is_none() || !value.is_empty());
        value.or_else(|| default.map(str::to_owned)).ok_or_else(|| format!("the variable {name} is not set; set it"))
    }
}

/// A reference to a variable in a text.
struct VariableReference<'t> {
    name: &'t str,
    length: usize,
}

fn dollar(text: &str) -> Option<(usize, VariableReference<'_>)> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.match_indices('$').find_map(|(begin, _)| {
        let inner = &text[begin + 1..];
        if let Some(braced) = inner.strip_prefix('{') {
            let end = braced.find('}')?;
            return Some((begin, VariableReference { name: &braced[..end], length: end + 3 }));
        }
        let end = inner.find(|c: char| !is_first(c) && !c.is_ascii_digit()).unwrap_or(inner.len());
        inner.starts_with(is_first).then_some((begin, VariableReference { name: &inner[..end], length: end + 1 }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(style: Style, text: &str, expected: Result<&str, &str>) {
        let variable = |name: &str| match name {
            "A" => Some("x".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expander = Expander { style, home: Path::new("/h"), workspace: Path::new("/w"), variable: &variable };
        match (expander.expand(text), expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text, expected),
            (Err(told), Err(part)) => assert!(told.contains(part), "{told}"),
            (got, expected) => panic!("{text}: {got:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn each_program_has_its_own_way_to_write_a_variable() {
        check(Style::Plain, "${A} $A {env:A}", Ok("${A} $A {env:A}"));
        check(Style::Braces, "-${A}-${B:-d}-${EMPTY:-e}-$A", Ok("-x-d-e-$A"));
        check(Style::Dollar, "$A/${A}$ $1 $A_", Err("A_ is not set"));
        check(Style::Dollar, "$A/${A}$ $1", Ok("x/x$ $1"));
        check(Style::Editor, "${workspaceFolder}/${env:A}:${userHome}", Ok("/w/x:/h"));
        check(Style::Curly, "{env:A}{b}", Ok("x{b}"));
    }

    #[test]
    fn a_variable_without_a_value_is_an_error_that_names_it() {
        check(Style::Braces, "a ${B}", Err("B is not set"));
        check(Style::Editor, "${input:key}", Err("${input:key}"));
        check(Style::Curly, "{file:~/.ssh/id} {env:A}", Err("does not read files"));
    }
}
