//! Other names of programs and subcommands, for rules that ask or deny.
//!
//! A rule about `npm install` means `npm i` too. The table of programs groups subcommands that do the same sort of thing
//! (`cargo build` and `cargo test`), so this module has a separate list of subcommands that are the same.

use super::fit::Fit;
use super::names::NamePattern;

const SUBCOMMANDS: &str = include_str!("synonyms.txt");
/// Names of the same program.
const PROGRAMS: &[&[&str]] = &[&["make", "gmake", "bmake"], &["yarn", "yarnpkg"], &["node", "nodejs"]];

/// Compares the name of a program with a word; a number behind it, or another name of it, fits by the wider reading.
pub fn fit_of_program(name: &NamePattern, word: &str) -> Fit {
    let is_version = |rest: &str| rest.chars().all(|letter| letter.is_ascii_digit() || "-.".contains(letter));
    let differs_by_version = |longer: &str, shorter: &str| longer.strip_prefix(shorter).is_some_and(is_version);
    let is_other_name = || PROGRAMS.iter().any(|names| names.contains(&name.text()) && names.contains(&word));
    match name.fit(word) {
        Fit::Not if differs_by_version(word, name.text()) || differs_by_version(name.text(), word) => Fit::Loosely,
        Fit::Not if is_other_name() => Fit::Loosely,
        fit => fit,
    }
}

/// Returns the operands of a rule about a program in all ways to write them, their own first.
pub fn spellings(program: &str, operands: &[NamePattern]) -> Vec<Vec<NamePattern>> {
    let written: Vec<&str> = operands.iter().map(NamePattern::text).collect();
    let mut all = vec![operands.to_vec()];
    for names in lists(program) {
        let Some(rest) = names.iter().find_map(|name| written.strip_prefix(name.as_slice())) else { continue };
        let others =
            names.iter().map(|name| name.iter().chain(rest).map(|word| NamePattern::with_stars(word)).collect());
        all.extend(others);
    }
    all
}

/// Returns the lists of names that are the same subcommand of a program, each name in its words.
fn lists(program: &str) -> impl Iterator<Item = Vec<Vec<&'static str>>> {
    let of_program = SUBCOMMANDS.lines().filter_map(move |line| {
        let (name, names) = line.split_once(": ")?;
        (name == program).then_some(names)
    });
    of_program.map(|names| names.split(' ').map(|name| name.split('+').collect()).collect())
}

/// Returns the words of the program that `python -m NAME` or `git-NAME` runs.
pub fn as_module(words: &[String]) -> Option<Vec<String>> {
    let (program, given) = words.split_first()?;
    if let Some(subcommand) = program.strip_prefix("git-") {
        return Some(["git", subcommand].into_iter().map(str::to_owned).chain(given.iter().cloned()).collect());
    }
    if !["python", "pypy"].iter().any(|python| program.starts_with(python)) {
        return None;
    }
    let at = given.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('m'))?;
    let before = &given[..at];
    let is_value = |at: usize| at > 0 && ["-W", "-X"].contains(&before[at - 1].as_str());
    if before.iter().enumerate().any(|(at, word)| !word.starts_with('-') && !is_value(at)) {
        return None;
    }
    let (_, attached) = given[at].split_once('m')?;
    let module = Some(attached.to_owned()).filter(|name| !name.is_empty());
    Some(module.into_iter().chain(given[at + 1..].iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_command::programs::operands::{Subcommand, operands_of};

    #[test]
    fn every_name_in_the_list_is_one_that_the_table_knows() {
        let lines = SUBCOMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (program, names) = line.split_once(": ").expect("a program and a colon");
            for name in names.split(' ') {
                let words: Vec<String> = name.split('+').map(str::to_owned).collect();
                let told = operands_of(program, &words).expect("the program has a row");
                assert_eq!(told.subcommand, Subcommand::Known, "{program} {name}");
            }
        }
    }

    #[test]
    fn a_module_of_python_or_git_is_the_program_that_it_runs() {
        let module = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            as_module(&words).map(|words| words.join(" "))
        };
        for command in ["python -m pip install x", "python3 -W error -m pip install x", "python3 -Impip install x"] {
            assert_eq!(module(command).as_deref(), Some("pip install x"), "{command}");
        }
        assert_eq!(module("git-push origin").as_deref(), Some("git push origin"));
        for other in ["python a.py -m pip", "pip install x", "python --help"] {
            assert_eq!(module(other), None, "{other}");
        }
    }
}
