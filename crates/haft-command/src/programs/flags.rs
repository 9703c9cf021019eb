//! Separates the words of a program into flags, their values and operands, as its row says.
//!
//! haft never takes a gap in a word for harmless. If the word could be a flag that matters, haft notes a doubt, and asks
//! about it.
//!
//! Not here: what flags and operands mean (`reading`).

use std::path::Path;

use haft_contract::files::guarded::is_secret;

use crate::patterns;
use crate::programs::table::row::{ProgramRow, Says, Takes, UnnamedFlags};
use crate::value::ShellValue;

/// How words begin that are more than a name to many programs: options, and files with further words.
pub(crate) const SPECIAL_BEGINNINGS: [char; 3] = ['-', '+', '@'];

/// A flag with its value, if it has one.
pub(crate) type GivenFlag = (String, Option<ShellValue>);

/// The words of a program, told apart.
#[derive(Debug, Default)]
pub(crate) struct GivenWords {
    /// The flags by the names that the row has for them, with their values.
    pub(crate) flags: Vec<GivenFlag>,
    /// The flags among them that belong to the programs that the row is a part of, by the names that their rows have.
    pub(crate) of_parents: Vec<GivenFlag>,
    /// The operands.
    pub(crate) operands: Vec<ShellValue>,
    /// What could not be told.
    pub(crate) doubts: Vec<String>,
    /// Values of flags that the row does not name.
    pub(crate) unnamed: Vec<ShellValue>,
    /// Doubts that count only where the program would not be asked about otherwise, each with the flag, if there is one.
    pub(crate) small_doubts: Vec<(Option<String>, String)>,
}

impl GivenWords {
    /// Returns whether a condition holds: a flag (`-n`), a flag with a value (`--name=word`), an operand (`=word`), or a
    /// certain operand (`2=word`). Words of conditions may have `*` in them.
    pub(crate) fn has(&self, name: &str) -> bool {
        if let Some((operands, pattern)) = self.operands_meant(name) {
            return operands.iter().any(|operand| fits(pattern, operand));
        }
        self.flags.iter().any(|(flag, value)| match name.split_once('=') {
            Some((bare, pattern)) if bare == flag => value.as_ref().is_some_and(|value| fits(pattern, value)),
            _ => flag == name,
        })
    }

    /// Returns whether a condition could hold when a word is known that is not.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        if let Some((operands, pattern)) = self.operands_meant(name) {
            return operands.iter().any(|operand| may_fit(pattern, operand));
        }
        let Some((bare, pattern)) = name.split_once('=') else { return false };
        self.flags
            .iter()
            .any(|(flag, value)| flag == bare && value.as_ref().is_some_and(|value| may_fit(pattern, value)))
    }

    /// Returns which operands `=word` or `2=word` speaks about, and the word.
    fn operands_meant<'a>(&self, name: &'a str) -> Option<(&[ShellValue], &'a str)> {
        let (number, pattern) = name.split_once('=')?;
        if number.is_empty() {
            return Some((&self.operands, pattern));
        }
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        Some((self.operands.get(at..=at).unwrap_or_default(), pattern))
    }
}

fn fits(pattern: &str, word: &ShellValue) -> bool {
    match word.known() {
        Some(text) => patterns::fits(pattern, text),
        None => pattern.strip_suffix('*').is_some_and(|start| !start.contains('*') && word.prefix().starts_with(start)),
    }
}

fn may_fit(pattern: &str, word: &ShellValue) -> bool {
    let start = pattern.split('*').next().unwrap_or_default();
    // What a pattern of names finds are files. That one of them is called like what a condition looks for anywhere in a
    // word is no reason to ask.
    if start.is_empty() && !word.has_unknown() {
        return false;
    }
    // The names with such a beginning stand before the pattern that finds them.
    if start.starts_with(SPECIAL_BEGINNINGS) && word.prefix().is_empty() && !word.has_unknown() {
        return false;
    }
    word.known().is_none() && (word.prefix().starts_with(start) || start.starts_with(word.prefix()))
}

/// Values that begin like flags beyond this number are not read as flags.
const MOST_POSSIBLE_FLAGS: usize = 32;

/// Tells the words of a program apart; its name is not among them. `parents` are the programs that it is a part of, whose
/// global flags it takes too.
///
/// A value that begins like a flag counts as that flag too: another version of the program may take no value there, or
/// only one that is attached. So `--checkpoint --to-command=x` never hides the second flag.
pub(crate) fn tell_apart(row: &ProgramRow, parents: &[&ProgramRow], words: &[ShellValue]) -> GivenWords {
    let mut teller =
        FlagTeller { row, parents, words, at: 0, possible_flags: Vec::new(), given: GivenWords::default() };
    teller.tell();
    let mut given = std::mem::take(&mut teller.given);
    let mut read = 0;
    while let Some(at) = teller.possible_flags.get(read).copied() {
        read += 1;
        if read > MOST_POSSIBLE_FLAGS {
            given.doubts.push("too many values that may be flags".to_owned());
            break;
        }
        (teller.at, teller.given) = (at, GivenWords::default());
        teller.tell();
        let is_named = |(flag, _): &GivenFlag| row.flags.contains_key(flag.as_str());
        given.flags.extend(teller.given.flags.drain(..).filter(is_named));
        given.of_parents.append(&mut teller.given.of_parents);
    }
    given
}

struct FlagTeller<'a> {
    row: &'a ProgramRow,
    parents: &'a [&'a ProgramRow],
    words: &'a [ShellValue],
    at: usize,
    /// Where values begin like flags.
    possible_flags: Vec<usize>,
    given: GivenWords,
}

impl<'a> FlagTeller<'a> {
    /// Tells the words apart from here to the end.
    fn tell(&mut self) {
        let mut flags_may_come = true;
        while let Some(word) = self.next() {
            if !flags_may_come {
                self.given.operands.push(word.clone());
                continue;
            }
            match word.prefix() {
                "--" if word.known().is_some() => flags_may_come = false,
                "-" if word.known().is_some() => flags_may_come = self.operand(word),
                start if start.starts_with('-') && self.row.traits.first_letter => self.by_first_letter(word),
                start if start.starts_with("--") => self.long(word),
                start if start.starts_with('-') && self.row.traits.long => self.long(word),
                start if start.starts_with('-') => self.bundle(word),
                start if start.starts_with('+') && self.row.traits.plus => self.plus(word),
                _ if self.row.traits.dashless && self.at == 1 && word.known().is_some() => self.dashless(word),
                _ => flags_may_come = self.operand(word),
            }
        }
    }

    /// Takes the next word as the value of a flag.
    fn value(&mut self) -> Option<ShellValue> {
        let value = self.next()?;
        let behind_dash = value.prefix().strip_prefix('-').and_then(|rest| rest.chars().next());
        let at = self.at - 1;
        if behind_dash.is_some_and(|letter| !letter.is_ascii_digit()) && !self.possible_flags.contains(&at) {
            self.possible_flags.push(at);
        }
        Some(value.clone())
    }

    fn next(&mut self) -> Option<&'a ShellValue> {
        let word = self.words.get(self.at);
        self.at += 1;
        word
    }

    /// Takes a word as an operand, and returns whether flags may still come.
    fn operand(&mut self, word: &ShellValue) -> bool {
        if word.begins_with_gap() {
            self.doubt_a_flag();
        }
        self.given.operands.push(word.clone());
        let traits = &self.row.traits;
        !(traits.stops || traits.subcommands)
    }

    fn doubt_a_flag(&mut self) {
        let doubt = "a word that may be a flag".to_owned();
        if self.row.traits.has_telling_flags {
            self.given.doubts.push(doubt);
        } else if self.row.traits.unnamed == UnnamedFlags::Asked {
            self.given.small_doubts.push((None, doubt));
        }
    }

    fn unlisted(&mut self, flag: &str) {
        // It may take the next word, which does nothing where operands do nothing.
        let is_text = !self.row.facts.iter().any(|fact| matches!(fact.says, Says::Operands(_)));
        let next = self.words.get(self.at).filter(|word| is_text && !word.prefix().starts_with('-'));
        self.given.unnamed.extend(next.cloned());
        let doubt = format!("\"{flag}\" of {} is not in the table of programs", self.row.shown());
        match self.row.traits.unnamed {
            UnnamedFlags::Doubted => self.given.doubts.push(doubt),
            UnnamedFlags::Asked => self.given.small_doubts.push((Some(flag.to_owned()), doubt)),
            UnnamedFlags::Harmless => {}
        }
    }

    /// An unknown flag may print the file that it names.
    fn doubt_a_secret(&mut self, flag: &str, value: Option<&ShellValue>) {
        let secret = value.map(ShellValue::shown).filter(|path| is_secret(Path::new(path)));
        self.given.doubts.extend(secret.map(|path| format!("what \"{flag}\" does with {path} is not known")));
    }

    fn give(&mut self, name: &str, value: Option<ShellValue>) {
        self.given.flags.push((name.to_owned(), value));
    }

    /// Takes a flag of more than one letter, with one dash or two.
    fn long(&mut self, word: &ShellValue) {
        let start = word.prefix();
        let (name, value) = match start.split_once('=') {
            Some((name, _)) => (name, word.strip_prefix(&format!("{name}="))),
            None if word.known().is_none() => return self.cut_off(word),
            None => (start, None),
        };
        let candidates = self.candidates(name);
        let global = self.global(name);
        if candidates.is_empty() && global.is_none() && !start.starts_with("--") && self.attached(word) {
            return;
        }
        if candidates.is_empty() && global.is_none() {
            self.unlisted(name);
            self.doubt_a_secret(name, value.as_ref());
            self.given.unnamed.extend(value.clone());
            return self.give(name, value);
        }
        if candidates.iter().any(|(_, takes)| *takes == Takes::Pair) {
            // The first of two words is the name of a variable.
            self.next();
        }
        let takes_value = global.is_some() || candidates.iter().any(|(_, takes)| *takes >= Takes::Value);
        let takes_next = value.is_none() && takes_value;
        let value = if takes_next { self.value() } else { value };
        // What looks like the beginning of a flag may be one of its own that the row does not name, without a value.
        let bare = |flag: &str| flag.trim_start_matches('-').len();
        let is_cut = candidates.iter().all(|(flag, _)| bare(flag) > bare(name)) && global.is_none();
        if takes_next && is_cut {
            let operand = value.iter().filter(|value| !value.prefix().starts_with('-')).cloned();
            self.given.operands.extend(operand);
        }
        for (candidate, _) in candidates {
            self.give(candidate, value.clone());
        }
        self.given.of_parents.extend(global.map(|global| (global.to_owned(), value)));
    }

    /// Returns the global flag of a program that the row is a part of, unless the row has one of the same name.
    fn global(&self, name: &str) -> Option<&'static str> {
        let is_own = self.row.flags.contains_key(name);
        let may_be_cut = name.starts_with("--") && name.len() > 3;
        let globals = self.parents.iter().flat_map(|parent| &parent.globals).copied().filter(|_| !is_own);
        let cut = || globals.clone().find(|global| may_be_cut && global.starts_with(name));
        globals.clone().find(|global| *global == name).or_else(cut)
    }

    /// A flag that goes on in a gap.
    fn cut_off(&mut self, word: &ShellValue) {
        if self.row.traits.long && self.attached(word) {
            return;
        }
        self.doubt_a_flag();
        let begins: Vec<_> = self.row.flags.keys().filter(|name| name.starts_with(word.prefix())).collect();
        begins.into_iter().for_each(|name| self.give(name, Some(ShellValue::unknown())));
    }

    /// Returns the flag of that name, or all that begin with it: GNU programs let one abbreviate.
    fn candidates(&self, name: &str) -> Vec<(&'static str, Takes)> {
        let flags = &self.row.flags;
        let other = match name.strip_prefix("--") {
            Some(bare) if self.row.traits.long => format!("-{bare}"),
            _ => format!("-{name}"),
        };
        let exact = flags.get_key_value(name).or_else(|| flags.get_key_value(other.as_str()));
        if let Some((name, takes)) = exact {
            return vec![(*name, *takes)];
        }
        let may_be_cut = name.starts_with("--") && name.len() > 2;
        let begins = |(flag, _): &(&&'static str, &Takes)| may_be_cut && flag.starts_with(name);
        flags.iter().filter(begins).map(|(flag, takes)| (*flag, *takes)).collect()
    }

    /// Takes a one-dash flag with its value attached, such as `-Dname=x`; returns whether there is one.
    fn attached(&mut self, word: &ShellValue) -> bool {
        if self.row.traits.apart {
            return false;
        }
        let takes_some = |(flag, takes): &(&&'static str, &Takes)| {
            **takes > Takes::Nothing && !flag.starts_with("--") && word.prefix().starts_with(**flag)
        };
        let longest = self.row.flags.iter().filter(takes_some).map(|(flag, _)| *flag).max_by_key(|flag| flag.len());
        let Some(flag) = longest else { return false };
        self.give(flag, word.strip_prefix(flag));
        true
    }

    /// Takes one-letter flags that stand together; the rest of the word may be the value of one.
    fn bundle(&mut self, word: &ShellValue) {
        // A flag of more than one letter that the row names, such as `-pe` of node, is no bundle.
        let name = word.prefix().split('=').next().unwrap_or_default();
        if name.len() > 2 && self.row.flags.contains_key(name) {
            return self.long(word);
        }
        let letters = &word.prefix()[1..];
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let rest = || word.strip_prefix(&word.prefix()[..1 + at + letter.len_utf8()]).unwrap_or_default();
            match self.row.flags.get(name.as_str()) {
                Some(Takes::Nothing) => self.give(&name, None),
                Some(takes) => {
                    let rest = rest();
                    let value = match (rest.pieces().is_empty(), takes) {
                        (false, _) => Some(rest),
                        (true, Takes::Value | Takes::Pair) => self.value(),
                        (true, _) => None,
                    };
                    return self.give(&name, value);
                }
                None if let Some(global) = self.global(&name) => {
                    let rest = rest();
                    let value = if rest.pieces().is_empty() { self.value() } else { Some(rest) };
                    return self.given.of_parents.push((global.to_owned(), value));
                }
                None => {
                    // `last -5`: a number says how much.
                    if self.row.traits.unnamed == UnnamedFlags::Doubted || !letter.is_ascii_digit() {
                        self.unlisted(&name);
                    }
                    self.give(&name, None);
                }
            }
        }
        if word.known().is_none() {
            self.doubt_a_flag();
        }
    }

    /// Takes a flag of which the program reads the first letter. The rest of the word is a value or means nothing,
    /// unless the word begins with one that the row names.
    fn by_first_letter(&mut self, word: &ShellValue) {
        let text = word.prefix();
        let dashes = if text.starts_with("--") { 2 } else { 1 };
        let flag = format!("-{}", &text[dashes..]);
        let longest = self.row.flags.iter().filter(|(name, _)| name.len() > 2 && flag.starts_with(**name));
        if let Some((name, takes)) = longest.max_by_key(|(name, _)| name.len()) {
            let value = (*takes >= Takes::Value).then(|| self.value()).flatten();
            return self.give(name, value);
        }
        let letter: String = flag.chars().take(2).collect();
        let rest = word.strip_prefix(&text[..(dashes - 1 + letter.len()).min(text.len())]).unwrap_or_default();
        let is_word = |rest: &ShellValue| rest.prefix().starts_with(|first: char| first.is_alphabetic());
        match self.row.flags.get(letter.as_str()) {
            Some(takes) if *takes >= Takes::Value && rest.is_empty() => {
                let value = self.value();
                self.give(&letter, value);
            }
            // Versions of the program may differ in how much of a word that takes a value must be written.
            Some(takes) if *takes >= Takes::Value && (is_word(&rest) || rest.known().is_none()) => {
                let doubt = format!("whether \"{text}\" takes the next word is not known");
                self.given.doubts.push(doubt);
                self.give(&letter, Some(rest));
            }
            Some(takes) => self.give(&letter, Some(rest).filter(|_| *takes >= Takes::Value)),
            None => {
                self.unlisted(text);
                self.give(&letter, None);
            }
        }
    }

    /// Takes `+word`: a flag of that name, or the flag `+` with a value that is more than the number of a line.
    fn plus(&mut self, word: &ShellValue) {
        let text = word.prefix();
        let is_line = word.known().is_some() && text[1..].chars().all(|digit| digit.is_ascii_digit());
        if self.row.flags.contains_key(text) || is_line {
            return self.give(text, None);
        }
        if self.row.flags.contains_key("+") {
            return self.give("+", word.strip_prefix("+"));
        }
        match word.known() {
            Some(flag) => self.unlisted(flag),
            None => self.doubt_a_flag(),
        }
        self.give(text, None);
    }

    /// Takes a first word without a dash as flags; their values are the next words, in order.
    fn dashless(&mut self, word: &ShellValue) {
        for letter in word.prefix().chars() {
            let name = format!("-{letter}");
            match self.row.flags.get(name.as_str()) {
                Some(Takes::Value | Takes::Pair) => {
                    let value = self.value();
                    self.give(&name, value);
                }
                Some(_) => self.give(&name, None),
                None => {
                    self.unlisted(&name);
                    self.give(&name, None);
                }
            }
        }
    }
}
