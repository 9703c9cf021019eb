//! Tells which files a recursive `grep` leaves out because of its options.
//!
//! An option counts only if it leaves a file out for certain, by the rules of GNU grep: of several `--include` and
//! `--exclude` that fit a name, the last one counts; if none fits, the first of all decides; `--exclude-dir` leaves out
//! folders that grep enters by itself, and not one that is named on the command line.
//!
//! Not here: programs with other options for that (`rg -g`), which `searchers` reads.

use std::path::Path;

use super::name_pattern::NameMatch;

/// The programs that take these options.
const GREPS: &[&str] = &["grep", "egrep", "fgrep", "rgrep"];
/// Short options with a value: the rest of the word, or the next word.
const SHORT_WITH_VALUE: &str = "ABCDXdefm";
/// Long options with a value: behind `=`, or the next word.
const LONG_WITH_VALUE: &[&str] = &[
    "--after-context",
    "--before-context",
    "--binary-files",
    "--context",
    "--devices",
    "--directories",
    "--exclude",
    "--exclude-dir",
    "--exclude-from",
    "--file",
    "--group-separator",
    "--include",
    "--label",
    "--max-count",
    "--regexp",
];
/// The sign for text that is known only when the command runs.
const UNKNOWN: &str = "…";

/// The way in which a search comes to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached<'p> {
    /// The command line names it.
    Named,
    /// The search enters this folder, which the command line names.
    Below(&'p Path),
    /// By links, from any folder.
    ByLinks,
}

/// Whether an option takes names in or leaves them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameFilter {
    Include,
    Exclude,
}

/// The files that a `grep` leaves out.
#[derive(Debug, Default)]
pub(super) struct GrepExclusions {
    names: Vec<(NameFilter, String)>,
    folders: Vec<String>,
    /// Whether a word may be another option than the one that haft reads.
    is_unclear: bool,
}

impl GrepExclusions {
    /// Reads the words of a program; the first one is its name.
    pub(super) fn of(words: &[String]) -> Self {
        let mut exclusions = Self::default();
        let Some((program, rest)) = words.split_first() else { return exclusions };
        if !GREPS.contains(&program.as_str()) {
            return exclusions;
        }
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match word.strip_prefix('-') {
                Some("-") => break,
                Some(long) if long.starts_with('-') => exclusions.long(word, &mut rest),
                Some(letters) => exclusions.short(letters, &mut rest),
                None => exclusions.is_unclear |= word.starts_with(UNKNOWN),
            }
        }
        exclusions
    }

    /// Returns whether a file that the search comes to in this way is left out for certain.
    pub(super) fn leave_out(&self, file: &Path, reached: Reached<'_>) -> bool {
        !self.is_unclear && (self.leave_out_name(file) || self.leave_out_folder(file, reached))
    }

    fn leave_out_name(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (filter, pattern) in self.names.iter().rev() {
            match (filter, NameMatch::of(pattern, &name)) {
                (NameFilter::Exclude, NameMatch::Fits) => return true,
                (NameFilter::Include, _) if may_include(pattern, &name) => return false,
                // One that haft cannot read leaves the name out, or an option before it decides.
                _ => {}
            }
        }
        self.names.first().is_some_and(|(filter, _)| *filter == NameFilter::Include)
    }

    fn leave_out_folder(&self, file: &Path, reached: Reached<'_>) -> bool {
        let Reached::Below(root) = reached else { return false };
        let entered = file.strip_prefix(root).ok().and_then(Path::parent).unwrap_or(Path::new(""));
        let is_out = |folder: &str| self.folders.iter().any(|glob| NameMatch::of(glob, folder) == NameMatch::Fits);
        entered.iter().any(|folder| is_out(&folder.to_string_lossy()))
    }

    fn long<'a>(&mut self, word: &str, rest: &mut impl Iterator<Item = &'a String>) {
        let (name, attached) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
        self.is_unclear |= name.contains(UNKNOWN);
        let takes_value = LONG_WITH_VALUE.iter().any(|option| option.starts_with(name));
        let value = attached.or_else(|| if takes_value { rest.next().cloned() } else { None });
        let is = |option: &str, shortest: usize| name.len() >= shortest && option.starts_with(name);
        match value.unwrap_or_default() {
            value if is("--include", "--inc".len()) => self.names.push((NameFilter::Include, value)),
            value if name == "--exclude" => self.names.push((NameFilter::Exclude, value)),
            _ if is("--exclude-from", "--exclude-f".len()) => {
                self.names.push((NameFilter::Exclude, UNKNOWN.to_owned()));
            }
            value if name == "--exclude-dir" => self.folders.push(value),
            // Of other greps some of these options take no next word.
            value => self.is_unclear |= value.starts_with("--") && !word.contains('='),
        }
    }

    fn short<'a>(&mut self, letters: &str, rest: &mut impl Iterator<Item = &'a String>) {
        self.is_unclear |= letters.contains(UNKNOWN);
        if letters.find(|letter| SHORT_WITH_VALUE.contains(letter)).is_some_and(|at| at + 1 == letters.len()) {
            self.is_unclear |= rest.next().is_some_and(|value| value.starts_with("--"));
        }
    }
}

/// Returns whether an `--include` may take a name in. A grep may compare the pattern with the path, of which the folders
/// are not known here.
fn may_include(pattern: &str, name: &str) -> bool {
    match NameMatch::of(pattern, name) {
        NameMatch::Fits | NameMatch::Unknown => true,
        NameMatch::Misses if pattern.contains('/') => true,
        NameMatch::Misses => pattern.rsplit_once('*').is_some_and(|(_, end)| name.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves_out(line: &str, reached: Reached<'_>) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        GrepExclusions::of(&words).leave_out(Path::new("conf/.env"), reached)
    }

    #[test]
    fn options_that_leave_a_file_out_for_certain_count() {
        for out in [
            "grep -r x --include=*.py .",
            "grep -r x --exclude=.env* .",
            "grep -r --exclude-dir conf x .",
            "grep -r --exclude .env x .",
            "grep -r --include=* --exclude=.env x .",
            "grep -r --include=*.py --exclude=z? x .",
            "grep -r --inc=*.py x .",
            "grep -rA 3 --exclude=.env x .",
            "grep -rA3 --exclude=.env x .",
        ] {
            assert!(leaves_out(out, Reached::Below(Path::new(""))), "{out}");
        }
        assert!(leaves_out("grep x --exclude=.e* conf/.env", Reached::Named));
        assert!(leaves_out("grep -R x --exclude=.e* .", Reached::ByLinks));
    }

    #[test]
    fn options_that_may_leave_it_in_do_not_count() {
        for in_ in [
            "grep -r x .",
            "grep -r --include=.env x .",
            "grep -r --include=.e* --include=*.py x",
            "cat --include=*.py",
            "zgrep -r --exclude=.env x .",
            "grep -r x --exclude=z?",
            "grep -r x --exclude=[!l]*",
            "grep -r x --exclude={.env,z}",
            "grep -r x --exclude=…",
            "grep -r x --exclude-dir=?",
            "grep -r x --exclude=.env --include=*",
            "grep -r x --exclude=.env --inc *",
            "grep -r x --exclude=z* --include=*.py",
            "grep -r --exclude-from=f --include=*.py x",
            "grep -r --include=*.[ch] x .",
            r"grep -r --include=\.env x .",
            "grep -r --include=conf/* x .",
            "grep -re --exclude=.env .",
            "grep -r --regexp --exclude=.env .",
            "grep -r x . -- --exclude=.env",
            "grep -r --exclude=.env x … .",
            "grep -r --context --exclude=.env x .",
        ] {
            assert!(!leaves_out(in_, Reached::Below(Path::new(""))), "{in_}");
        }
        let conf = Reached::Below(Path::new("conf"));
        for (line, reached) in [
            ("grep -r --exclude-dir=conf x conf/", conf),
            ("grep -r --exclude-dir=conf x", conf),
            ("grep --exclude-dir=conf x conf/.env", Reached::Named),
            ("grep -R --exclude-dir=conf x .", Reached::ByLinks),
        ] {
            assert!(!leaves_out(line, reached), "{line}");
        }
    }
}
