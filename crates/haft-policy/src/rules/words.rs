//! Which program a part of a command runs, with which subcommand and which flags.

use super::fit::Fit;
use super::names::{GAP, NamePattern};

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
        if given.len() >= operands.len() && operands.iter().zip(given).map(strictly).all(|fit| fit == Fit::Exactly) {
            return name.fit(program);
        }
        name.fit(program).min(leading(operands, given))
    }
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
        let at_least = if word.contains(GAP) { Fit::Perhaps } else { Fit::Not };
        at_least.max(self.fit_of_shown(word))
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
