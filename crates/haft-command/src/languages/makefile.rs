//! Finds the commands in a makefile: its recipes, and what `$(shell …)` runs.
//!
//! haft inserts variables that the file sets to a plain value. Anything else that make would insert is a gap.

use std::collections::HashMap;

use crate::act::{ProgramReading, RawEffect};
use crate::languages::marks::{GAP, script};
use crate::value::ShellValue;

/// The most commands that are read, how often variables are put into each other, and how long a command may get.
const MOST: usize = 400;
const DEEPEST: usize = 3;
const LONGEST: usize = 4 * 1024;

/// Reads a makefile.
pub(crate) fn read(text: &ShellValue) -> ProgramReading {
    let text = crate::languages::marks::without_numbers(text).replace("\\\n", " ");
    let variables: HashMap<&str, &str> = text.lines().filter_map(variable).collect();
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        commands.extend(recipe(line).map(|recipe| put_in(recipe, &variables, 0)));
        commands.extend(line.split("$(shell ").skip(1).map(|rest| put_in(inside(rest), &variables, 0)));
        commands.extend(line.split_once("!=").filter(|(name, _)| is_name(name)).map(|(_, command)| command.to_owned()));
    }
    let mut reading = ProgramReading::default();
    if commands.len() > MOST {
        reading.acts.push(RawEffect::Unknown("it has too many rules to be read".to_owned()));
    }
    reading.inner.extend(commands.iter().take(MOST).map(|command| script(command)));
    reading
}

/// Returns the command in a line: behind a tab, or behind the semicolon of a rule.
fn recipe(line: &str) -> Option<&str> {
    let command = match line.strip_prefix('\t') {
        Some(command) => command,
        None => line.split_once(':').filter(|(target, _)| !target.contains(['#', '=']))?.1.split_once(';')?.1,
    };
    let command = command.trim().trim_start_matches(['@', '-', '+', ' ']);
    (!command.is_empty() && !command.starts_with('#')).then_some(command)
}

/// Takes `NAME = value` apart.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('\t'))?;
    let name = name.trim_end_matches([':', '?', '+', ' ']).trim_start_matches("export ");
    is_name(name).then_some((name.trim(), value.trim()))
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

/// Returns the text of a call up to the bracket that ends it.
fn inside(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Puts the values of variables into a command.
fn put_in(command: &str, variables: &HashMap<&str, &str>, depth: usize) -> String {
    let mut result = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        let (name, behind) = match after.chars().next() {
            Some('$') => {
                result.push('$');
                rest = &after[1..];
                continue;
            }
            Some('(') => {
                let name = inside(&after[1..]);
                (name, after.get(name.len() + 2..).unwrap_or_default())
            }
            Some('{') => after[1..].split_once('}').unwrap_or((&after[1..], "")),
            Some(letter) => after.split_at(letter.len_utf8()),
            None => ("", ""),
        };
        match variables.get(name).filter(|_| depth < DEEPEST && result.len() < LONGEST) {
            Some(value) => result.push_str(&put_in(value, variables, depth + 1)),
            None => result.push(GAP),
        }
        rest = behind;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::NestedRun;

    fn commands(text: &str) -> Vec<String> {
        let shown = |inner: &NestedRun| match inner {
            NestedRun::Script(value, _) => value.shown(),
            other => format!("{other:?}"),
        };
        read(&ShellValue::text(text)).inner.iter().map(shown).collect()
    }

    #[test]
    fn recipes_are_commands() {
        assert_eq!(
            commands("all: a b\n\t@echo hi\n\t-rm -f x\n# \tls\n\nb: ; ls -l\n"),
            ["echo hi", "rm -f x", "ls -l"]
        );
        assert_eq!(commands("a:\n\tcc -o a \\\n\t  a.c\n"), ["cc -o a  \t  a.c"]);
        assert_eq!(commands("X = a:b;c\n.PHONY: all\nexport Y := 1\n"), Vec::<String>::new());
    }

    #[test]
    fn variables_are_put_in_where_they_are_plain() {
        assert_eq!(commands("D := build\nR = rm -rf $(D)\nclean:\n\t$(R)/x ${D}\n"), ["rm -rf build/x build"]);
        assert_eq!(commands("a:\n\t$(CC) $< -o $@ && echo $$HOME $(A $(B) c)\n"), ["… … -o … && echo $HOME …"]);
        assert_eq!(commands("A = $(A) $(A)\nx:\n\t$(A)$(A\n").len(), 1);
    }

    #[test]
    fn what_make_runs_itself_is_a_command_too() {
        assert_eq!(commands("V := $(shell git log (x))\nW != ls\n"), ["git log (x)", " ls"]);
    }
}
