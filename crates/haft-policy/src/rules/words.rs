//! Finds the program that a part of a command runs, with its subcommand and its flags.

use super::fit::Fit;
use super::names::{GAP, NamePattern};
use super::synonyms::{as_module, fit_of_program, spellings};
use haft_command::programs::operands::{Subcommand, operands_of};

/// A program and its leading operands, such as `git push`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPattern {
    words: Vec<NamePattern>,
}

/// A flag, such as `--force` or `-f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagPattern {
    name: NamePattern,
}

impl ProgramPattern {
    /// Reads the words of a pattern; there is none without words.
    pub fn new(text: &str) -> Option<Self> {
        let words: Vec<NamePattern> = text.split_whitespace().map(NamePattern::with_stars).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> String {
        self.words.iter().map(NamePattern::text).collect::<Vec<_>>().join(" ")
    }

    /// Compares it with the words of a part of a command.
    pub fn fit(&self, words: &[String]) -> Fit {
        let (Some(program), [name, operands @ ..]) = (words.first(), self.words.as_slice()) else { return Fit::Not };
        let strictly = |(name, word): (&NamePattern, &String)| name.fit(word);
        let given = &words[1..];
        let is_leading =
            given.len() >= operands.len() && operands.iter().zip(given).map(strictly).all(|fit| fit == Fit::Exactly);
        if is_leading && name.fit(program) != Fit::Not {
            return name.fit(program);
        }
        let module = as_module(words).map_or(Fit::Not, |words| self.fit_widely(&words));
        self.fit_widely(words).max(module)
    }

    /// Compares it by the reading that finds more: other names, flags before a subcommand, operands in any place.
    fn fit_widely(&self, words: &[String]) -> Fit {
        let (Some((program, given)), [name, operands @ ..]) = (words.split_first(), self.words.as_slice()) else {
            return Fit::Not;
        };
        let fit = fit_of_program(name, program);
        if fit == Fit::Not || operands.is_empty() {
            return fit;
        }
        let told = operands_of(program, given);
        let found = |wanted: &Vec<NamePattern>| match &told {
            Some(told) if told.subcommand == Subcommand::Absent => anywhere(wanted, &told.operands),
            Some(told) if told.subcommand == Subcommand::Unknown => leading(wanted, given).max(Fit::Perhaps),
            Some(told) => leading(wanted, given).max(leading(wanted, &told.operands)),
            None => leading(wanted, given),
        };
        let best = spellings(program, operands).iter().map(found).max();
        fit.min(best.unwrap_or(Fit::Not))
    }
}

/// Finds the operands in this order, with others between them.
fn anywhere(operands: &[NamePattern], given: &[String]) -> Fit {
    let (mut fit, mut wanted) = (Fit::Loosely, operands.iter().peekable());
    for word in given {
        let found = wanted.peek().map_or(Fit::Not, |operand| operand.fit(word));
        if found != Fit::Not {
            fit = fit.min(found);
            wanted.next();
        }
    }
    if wanted.peek().is_some() { Fit::Not } else { fit }
}

/// Finds the operands behind flags, and behind words that may be values of flags.
fn leading(operands: &[NamePattern], given: &[String]) -> Fit {
    let (mut fit, mut wanted) = (Fit::Loosely, operands.iter().peekable());
    let mut may_be_value = false;
    for word in given {
        let Some(operand) = wanted.peek() else { break };
        match operand.fit(word) {
            Fit::Not if word.starts_with(['-', '+']) => may_be_value = !word.contains('='),
            Fit::Not if may_be_value => may_be_value = false,
            Fit::Not if is_assignment(word) => {}
            Fit::Not => return Fit::Not,
            found => {
                fit = fit.min(found);
                wanted.next();
                may_be_value = false;
            }
        }
    }
    if wanted.peek().is_some() { Fit::Not } else { fit }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl FlagPattern {
    /// Reads a flag; it begins with a dash and has a letter.
    pub fn new(text: &str) -> Option<Self> {
        let letters = text.trim_start_matches('-');
        let is_flag = text.starts_with('-') && !letters.is_empty() && !text.contains(char::is_whitespace);
        is_flag.then(|| Self { name: NamePattern::with_stars(text) })
    }

    /// Returns the flag as it was written.
    pub fn text(&self) -> &str {
        self.name.text()
    }

    /// Compares it with all words of a part of a command; the best one counts.
    pub fn fit(&self, words: &[String]) -> Fit {
        let flags = words.iter().skip(1).take_while(|word| *word != "--");
        flags.map(|word| self.fit_of(word)).max().unwrap_or(Fit::Not)
    }

    fn fit_of(&self, word: &str) -> Fit {
        // A gap that was not quoted may be several words, whatever stands before it.
        let may_be_it = word.contains(GAP) || (word.starts_with('*') && self.may_be_found_by(word));
        let at_least = if may_be_it { Fit::Perhaps } else { Fit::Not };
        at_least.max(self.fit_of_shown(word))
    }

    /// Says whether a file may be called like the flag that a pattern finds: `?-amend`, `*`.
    fn may_be_found_by(&self, word: &str) -> bool {
        self.name.fit(&word.replace('*', &GAP.to_string())) != Fit::Not
    }

    fn fit_of_shown(&self, word: &str) -> Fit {
        if !word.starts_with('-') {
            return Fit::Not;
        }
        let given = word.split_once('=').map_or(word, |(name, _)| name);
        match self.name.fit(given) {
            Fit::Not if self.is_meant_by(given) => Fit::Loosely,
            fit => fit,
        }
    }

    /// Says whether a bundle holds the letter, or the word is the beginning of the flag.
    fn is_meant_by(&self, given: &str) -> bool {
        let own = self.name.text();
        match (own.strip_prefix("--"), given.strip_prefix("--")) {
            (Some(own), Some(given)) => !given.is_empty() && own.starts_with(given),
            (None, None) => {
                let mut letters = own.chars().skip(1);
                let letter = letters.next().filter(|_| letters.next().is_none());
                letter.is_some_and(|letter| given[1..].contains(letter))
            }
            // Some programs take one dash or two before a long name.
            (None, Some(given)) => own.len() > 2 && own[1..] == *given,
            (Some(own), None) => own.len() > 1 && given[1..] == *own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_owned).collect()
    }

    fn program(pattern: &str, command: &str) -> Fit {
        ProgramPattern::new(pattern).expect("there is a word").fit(&words(command))
    }

    fn flag(pattern: &str, command: &str) -> Fit {
        FlagPattern::new(pattern).expect("it is a flag").fit(&words(command))
    }

    #[test]
    fn a_program_fits_with_its_leading_operands() {
        assert_eq!(program("git push", "git push origin main"), Fit::Exactly);
        assert_eq!(program("git", "git push"), Fit::Exactly);
        assert_eq!(program("git push", "git pull"), Fit::Not);
        assert_eq!(program("git push", "git log push"), Fit::Not);
        assert_eq!(program("git push", "git"), Fit::Not);
        assert_eq!(program("npm run build:*", "npm run build:web"), Fit::Exactly);
    }

    #[test]
    fn other_names_of_a_program_and_its_subcommands_are_refused_and_not_permitted() {
        for (pattern, command) in [
            ("cargo test", "cargo t --lib"),
            ("npm install", "npm i x"),
            ("npm install", "npm --prefix web add x"),
            ("npm test", "npm t"),
            ("npm test", "npm run test"),
            ("npm run deploy", "npm run-script deploy"),
            ("docker rm", "docker container rm x"),
            ("docker container rm", "docker rm x"),
            ("gh pr create", "gh pr new"),
            ("pip install", "pip3 install x"),
            ("pip install", "python -m pip install x"),
            ("pip3 install", "pip install x"),
            ("make deploy", "make FOO=1 deploy"),
            ("make deploy", "make all deploy"),
            ("make deploy", "gmake -C x deploy"),
            ("npm run deploy", "npm FOO=1 run deploy"),
        ] {
            assert_eq!(program(pattern, command), Fit::Loosely, "{pattern} and {command}");
        }
        for (pattern, command) in [
            ("cargo test", "cargo build"),
            ("npm install", "npm uninstall x"),
            ("docker rm", "docker stop x"),
            ("gh pr create", "gh pr view"),
            ("make deploy", "make -C deploy all"),
            ("make deploy", "make deploy-docs"),
            ("git push", "git log push"),
        ] {
            assert_eq!(program(pattern, command), Fit::Not, "{pattern} and {command}");
        }
    }

    #[test]
    fn a_subcommand_that_nobody_knows_is_perhaps_another_name_of_the_one_that_is_meant() {
        assert_eq!(program("git push", "git ci"), Fit::Perhaps);
        assert_eq!(program("git tag", "git -c alias.ci=tag ci"), Fit::Perhaps);
        assert_eq!(program("git push", "git status"), Fit::Not);
        assert_eq!(program("docker rm", "docker container ls"), Fit::Not);
    }

    #[test]
    fn a_file_that_a_pattern_finds_is_perhaps_called_like_the_flag() {
        assert_eq!(flag("--amend", "git commit *-amend"), Fit::Perhaps);
        assert_eq!(flag("--amend", "git commit *"), Fit::Perhaps);
        assert_eq!(flag("--amend", "git commit *.rs"), Fit::Not);
        assert_eq!(flag("--amend", "git commit src/*"), Fit::Not);
    }

    #[test]
    fn flags_before_a_subcommand_do_not_hide_it_and_do_not_permit_it() {
        for hidden in ["git -C /x push", "git --no-pager push", "git -c a=b push -f", "git --git-dir=x push"] {
            assert_eq!(program("git push", hidden), Fit::Loosely, "{hidden}");
        }
        assert_eq!(program("cargo publish", "cargo +nightly publish"), Fit::Loosely);
    }

    #[test]
    fn what_is_known_only_when_it_runs_perhaps_fits() {
        assert_eq!(program("git push", "git …"), Fit::Perhaps);
        assert_eq!(program("git push", "… push"), Fit::Perhaps);
        assert_eq!(program("git push", "git … push"), Fit::Perhaps);
        assert_eq!(flag("--force", "git push …"), Fit::Perhaps);
        assert_eq!(flag("--force", "git push --fo…"), Fit::Perhaps);
        assert_eq!(flag("-f", "git push -…"), Fit::Perhaps);
        assert_eq!(flag("--force", "git push a…"), Fit::Perhaps);
        assert_eq!(flag("--force", "git push --tags=…"), Fit::Perhaps);
        assert_eq!(flag("--force", "git push --force a…"), Fit::Exactly);
        assert_eq!(flag("--force", "git push -- a…"), Fit::Not);
    }

    #[test]
    fn a_flag_is_found_in_a_bundle_with_a_value_and_cut_short() {
        assert_eq!(flag("-f", "rm -f x"), Fit::Exactly);
        assert_eq!(flag("-f", "rm -rf x"), Fit::Loosely);
        assert_eq!(flag("--force", "rm --force x"), Fit::Exactly);
        assert_eq!(flag("--force", "rm --forc x"), Fit::Loosely);
        assert_eq!(flag("--depth", "git clone --depth=1 x"), Fit::Exactly);
        assert_eq!(flag("-auto-approve", "terraform apply --auto-approve"), Fit::Loosely);
        assert_eq!(flag("--force*", "git push --force-with-lease"), Fit::Exactly);
    }

    #[test]
    fn operands_and_other_flags_are_not_the_flag() {
        for other in ["git push --force-with-lease", "git push -- --force", "echo force", "rm -r --verbose x"] {
            assert_eq!(flag("--force", other), Fit::Not, "{other}");
        }
        assert_eq!(flag("-f", "rm --force x"), Fit::Not);
        assert!(FlagPattern::new("force").is_none() && FlagPattern::new("--").is_none());
    }
}
