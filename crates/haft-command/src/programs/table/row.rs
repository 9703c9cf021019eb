//! A row of the table: the facts about one program, or about one subcommand.
//!
//! Not here: finding it (`table`), the words of a command (`flags`), the effects that follow from both (`reading`).

use std::collections::{HashMap, HashSet};

use crate::act::{CodeLanguage, LocalCode, PathEffect, RawEffect};
use crate::programs::table::examples::{ExpectedDecision, TableExample};
use crate::programs::table::role::WordRole;
use crate::programs::table::{RowSource, TableFault, parse};
use crate::value::ShellValue;

/// A row, taken apart.
#[derive(Debug)]
pub(crate) struct ProgramRow {
    /// The names of the program.
    pub(crate) names: Vec<&'static str>,
    /// What is said about it, in order.
    pub(crate) facts: Vec<Fact>,
    /// Commands with the decision they must get.
    pub(crate) examples: Vec<TableExample>,
    /// Which flags there are, and what they take.
    pub(crate) flags: HashMap<&'static str, Takes>,
    /// Those of its flags that count behind its subcommands too.
    pub(crate) globals: HashSet<&'static str>,
    /// Words that make it print how it is used, or which version it is, where they stand alone.
    pub(crate) usage: Vec<&'static str>,
    /// What chooses the program, also where it only prints how it is used.
    pub(crate) chosen: Vec<LocalCode>,
    /// What flags look like.
    pub(crate) traits: Traits,
}

/// Something that is said about a program.
#[derive(Debug)]
pub(crate) struct Fact {
    /// When it holds: all of these.
    pub(crate) conditions: Vec<Condition>,
    /// What holds.
    pub(crate) says: Says,
}

/// When a fact holds.
#[derive(Debug)]
pub(crate) enum Condition {
    /// One of these flags, or of these operands (`=word`, `2=word` for the second one), is given.
    With(Vec<&'static str>),
    /// None of them is given.
    Unless(Vec<&'static str>),
}

/// What a fact says.
#[derive(Debug)]
pub(crate) enum Says {
    /// What the operands are.
    Operands(Operands),
    /// The program has these flags; they stand with all that it knows.
    Flags,
    /// What the value of these flags is.
    Value(Vec<&'static str>, WordRole),
    /// What the program does.
    Does(RawEffect),
    /// What it does in the folder that it is in, where no operand is a path.
    Here(Option<Here>),
    /// What it prints.
    Output(PrintedOutput),
    /// The standard input is run when there is no operand.
    Input(CodeLanguage),
    /// The standard input is shell text, whatever the operands are.
    InputBeside,
    /// What the values of operands such as `if=FILE` are.
    Keys(Vec<(&'static str, WordRole)>),
    /// How its words are to be read; see [`Traits`].
    Trait,
}

/// What the operands are.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// In order; the last one repeats.
    pub(crate) roles: Vec<WordRole>,
    /// The last operand, where that is another matter.
    pub(crate) last: Option<WordRole>,
    /// What the standard input is when there is no operand.
    pub(crate) input: Option<CodeLanguage>,
    /// Whether operands are a matter that nothing is known about.
    pub(crate) are_unknown: bool,
}

/// What a program does in the folder that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Here {
    /// What is done.
    pub(crate) deed: PathEffect,
    /// With which path, seen from there.
    pub(crate) path: &'static str,
}

/// What a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintedOutput {
    /// What came from the network.
    Downloaded,
    /// What it decoded.
    Decoded,
    /// Content of files.
    Content,
    /// What it reads.
    Passed,
    /// Names below its operands.
    Paths,
    /// Names in the folders that it looks at, without the folders.
    Names,
    /// The same with hidden names.
    HiddenNames,
    /// Names in the folders that it looks at, and in those below them.
    Tree,
    /// Some text of its own.
    Text,
    /// A name that is no flag: of a commit, a branch or a tag.
    Name,
}

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// A value, if it is attached.
    Attached,
    /// A value, attached or as the next word.
    Value,
    /// A name and then a value, as the next two words.
    Pair,
}

/// How the words of a program are to be read.
#[derive(Debug, Default)]
pub(crate) struct Traits {
    /// What flags do that are not named in the row.
    pub(crate) unnamed: UnnamedFlags,
    /// The first operand is a subcommand.
    pub(crate) subcommands: bool,
    /// Words that begin with `+` are flags.
    pub(crate) plus: bool,
    /// The first word is a bundle of flags, also without a dash.
    pub(crate) dashless: bool,
    /// The first operand ends the flags.
    pub(crate) stops: bool,
    /// Long flags have one dash.
    pub(crate) long: bool,
    /// Values of one-dash flags are never attached.
    pub(crate) apart: bool,
    /// The first letter of a flag says which one it is, and flags are never bundled.
    pub(crate) first_letter: bool,
    /// Which of its words is a command is not known.
    pub(crate) launcher: bool,
    /// Some flag is not harmless, or may not be.
    pub(crate) has_telling_flags: bool,
}

/// The effect of flags that a row does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UnnamedFlags {
    /// Anything.
    #[default]
    Doubted,
    /// Perhaps something that needs a question. Where haft asks about the program anyway, one question is enough.
    Asked,
    /// Nothing that matters: the author of the row has checked all flags of the program.
    Harmless,
}

impl ProgramRow {
    /// Takes a row apart.
    pub(crate) fn parse(place: &RowSource) -> Result<Self, TableFault> {
        let mut lines = place.text.lines();
        let names: Vec<_> = lines.next().unwrap_or_default().split_whitespace().collect();
        let (flags, usage, chosen) = (HashMap::new(), Vec::new(), Vec::new());
        let (examples, traits, globals) = (Vec::new(), Traits::default(), HashSet::new());
        let mut row = Self { names, facts: Vec::new(), examples, flags, globals, usage, chosen, traits };
        for (number, line) in lines.enumerate() {
            let line_number = place.line + number + 1;
            let fault = |what| TableFault { file: place.file, line: line_number, what };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match example(line) {
                Some((decision, command)) => {
                    let (file, row_name) = (place.file, row.names.first().copied().unwrap_or_default());
                    row.examples.push(TableExample { row: row_name, file, line: line_number, command, decision });
                }
                None => row.add(line).map_err(fault)?,
            }
        }
        let tells = row.facts.iter().any(Fact::tells_of_a_flag);
        row.traits.has_telling_flags = row.traits.unnamed == UnnamedFlags::Doubted || tells;
        Ok(row)
    }

    /// Returns whether these words make the program print how it is used, or which version it is, and nothing else.
    pub(crate) fn is_usage(&self, words: &[ShellValue]) -> bool {
        // `usage none`: it loads code of the folder first, whatever it prints then. Many of those that run code of the
        // workspace do, so of these only the ones are believed whose row says when they do, or that they do not.
        let is_examined = !self.usage.is_empty() || !self.chosen.is_empty();
        let only_prints = !self.usage.contains(&"none") && (is_examined || !self.runs_code());
        let prints_version = !self.usage.contains(&"no-version");
        let is_listed =
            |word| word == "--help" || (word == "--version" && prints_version) || self.usage.contains(&word);
        only_prints && alone(words).is_some_and(is_listed)
    }

    fn runs_code(&self) -> bool {
        self.facts.iter().any(|fact| fact.conditions.is_empty() && matches!(fact.says, Says::Does(RawEffect::Code(_))))
    }

    /// Returns whether these words do so behind a subcommand. Others than flags may be operands there.
    pub(crate) fn is_usage_of_part(&self, words: &[ShellValue]) -> bool {
        alone(words).is_some_and(is_flag) && self.is_usage(words)
    }

    /// Returns the first name, with blanks between the parts of a subcommand.
    pub(crate) fn shown(&self) -> String {
        self.names.first().map(|name| name.replace('+', " ")).unwrap_or_default()
    }

    fn add(&mut self, line: &'static str) -> Result<(), String> {
        let fact = parse::fact(line, self)?;
        for condition in &fact.conditions {
            let (Condition::With(names) | Condition::Unless(names)) = condition;
            for name in names.iter().filter(|name| is_flag(name)) {
                match name.split_once('=') {
                    Some((flag, _)) => declare(&mut self.flags, flag, Takes::Attached),
                    None => declare(&mut self.flags, name, Takes::Nothing),
                }
            }
        }
        // A program that runs its operands leaves their flags alone.
        if let Says::Operands(operands) = &fact.says {
            self.traits.stops |= operands.roles.iter().any(|role| role.takes_the_rest());
        }
        self.facts.push(fact);
        Ok(())
    }
}

fn alone(words: &[ShellValue]) -> Option<&str> {
    if let [only] = words { only.known() } else { None }
}

fn is_flag(name: &str) -> bool {
    name.starts_with(['-', '+'])
}

/// Notes a flag; where it is named twice, the one that takes more counts.
pub(crate) fn declare(flags: &mut HashMap<&'static str, Takes>, name: &'static str, takes: Takes) {
    let known = flags.entry(name).or_insert(takes);
    *known = (*known).max(takes);
}

fn example(line: &'static str) -> Option<(ExpectedDecision, &'static str)> {
    let (word, command) = line.split_once(char::is_whitespace)?;
    let decision = match word {
        "allow" => ExpectedDecision::Allow,
        "ask" => ExpectedDecision::Ask,
        "deny" => ExpectedDecision::Deny,
        _ => return None,
    };
    Some((decision, command.trim()))
}

impl Fact {
    fn tells_of_a_flag(&self) -> bool {
        let names_a_flag = |condition: &Condition| {
            let (Condition::With(names) | Condition::Unless(names)) = condition;
            names.iter().any(|name| is_flag(name))
        };
        let depends = self.conditions.iter().any(names_a_flag);
        match &self.says {
            Says::Value(_, role) => !role.only_reads(),
            Says::Operands(said) => depends && !said.roles.iter().chain(&said.last).all(|role| role.only_reads()),
            Says::Does(_) | Says::Keys(_) | Says::Input(_) | Says::InputBeside => depends,
            Says::Here(said) => {
                depends && said.is_some_and(|here| !matches!(here.deed, PathEffect::Read | PathEffect::List))
            }
            Says::Flags | Says::Output(_) | Says::Trait => false,
        }
    }
}
