//! Derives the effects of a program from its row and its words.
//!
//! If several facts describe the same word, a fact with a condition replaces one without, and the last one counts.

use crate::act::{CodeLanguage, NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::programs::flags::{GivenFlag, GivenWords, tell_apart};
use crate::programs::meaning::ReadingDraft;
use crate::programs::table::ProgramTable;
use crate::programs::table::role::WordRole;
use crate::programs::table::row::{Condition, Fact, Operands, PrintedOutput, ProgramRow, Says, Takes};
use crate::value::{ShellValue, ValuePiece};

/// Reads the words of a program, without its name, by its row.
pub(crate) fn read_row(table: &ProgramTable, (name, row): (&str, &ProgramRow), words: &[ShellValue]) -> ProgramReading {
    read_row_below(table, (&[], NamedRow { name, row }), words).reading
}

/// A row, and by which of its names it was found: the subcommands of programs that share a row are not the same.
#[derive(Clone, Copy)]
struct NamedRow<'a> {
    name: &'a str,
    row: &'a ProgramRow,
}

impl NamedRow<'_> {
    /// Returns the names whose subcommands are meant: its own, or all where it is only another name of a program.
    fn parents(&self, table: &ProgramTable) -> Vec<&str> {
        if table.has_subcommands(self.name) { vec![self.name] } else { self.row.names.clone() }
    }
}

/// What follows from the words of a program or of a subcommand.
#[derive(Default)]
struct ProgramPart {
    reading: ProgramReading,
    /// The flags among its words that belong to the programs that it is a part of.
    of_parents: Vec<GivenFlag>,
}

/// Reads the words of a program, or of a subcommand, whose flags may be those of the programs that it is a part of.
fn read_row_below(
    table: &ProgramTable,
    (parents, named): (&[&ProgramRow], NamedRow<'_>),
    words: &[ShellValue],
) -> ProgramPart {
    let row = named.row;
    let mut draft = ReadingDraft::default();
    row.chosen.iter().for_each(|chosen| draft.act(RawEffect::LocalCode(chosen.clone(), ShellValue::text("."))));
    if row.is_usage(words) {
        return ProgramPart { reading: draft.finish(), of_parents: Vec::new() };
    }
    let mut given = tell_apart(row, parents, words);
    if row.traits.launcher {
        draft.reading.suspected.extend_from_slice(words);
    }
    draft.reading.unnamed.append(&mut given.unnamed);
    given.doubts.iter().for_each(|doubt| draft.act(RawEffect::Unknown(doubt.clone())));
    if row.traits.subcommands && !given.operands.is_empty() {
        let above: Vec<&ProgramRow> = parents.iter().copied().chain([row]).collect();
        let part = read_subcommand(table, &above, named, &given.operands);
        for flag in part.of_parents {
            if row.flags.contains_key(flag.0.as_str()) { &mut given.flags } else { &mut given.of_parents }.push(flag);
        }
        let reader = RowReader::new(row, &given);
        reader.values(&mut draft);
        reader.does(&mut draft, RowScope::No);
        draft.add(part.reading);
    } else {
        let reader = RowReader::new(row, &given);
        reader.values(&mut draft);
        reader.does(&mut draft, RowScope::Yes);
        let says_where = reader.operands(&mut draft);
        draft.reading.output = reader.output(&draft.reading.acts);
        if !says_where {
            reader.here(&mut draft);
        }
    }
    add_small_doubts(&mut draft, parents, &given);
    ProgramPart { reading: draft.finish(), of_parents: given.of_parents }
}

/// Adds doubts about flags that the row does not name, where nothing else is asked about.
fn add_small_doubts(draft: &mut ReadingDraft, parents: &[&ProgramRow], given: &GivenWords) {
    if !draft.only_looks() {
        return;
    }
    // A short flag with a value that is not global may mean something else behind a subcommand.
    let is_known = |parent: &&ProgramRow, flag: &str| {
        parent.flags.get(flag).is_some_and(|takes| *takes == Takes::Nothing || flag.starts_with("--"))
    };
    let is_of_parent = |flag: &str| parents.iter().any(|parent| is_known(parent, flag));
    let doubts = given.small_doubts.iter().filter(|(flag, _)| !flag.as_deref().is_some_and(is_of_parent));
    doubts.for_each(|(_, doubt)| draft.act(RawEffect::Unknown(doubt.clone())));
}

fn read_subcommand(
    table: &ProgramTable,
    above: &[&ProgramRow],
    named: NamedRow<'_>,
    words: &[ShellValue],
) -> ProgramPart {
    let Some((subcommand, rest)) = words.split_first() else { return ProgramPart::default() };
    let row = named.row;
    let only = |reading: ProgramReading| ProgramPart { reading, of_parents: Vec::new() };
    let unknown = |why: String| ProgramReading { acts: vec![RawEffect::Unknown(why)], ..ProgramReading::default() };
    let Some(word) = subcommand.known() else {
        return only(unknown(format!("the subcommand of {} is known only when it runs", row.shown())));
    };
    for parent in named.parents(table) {
        let name = format!("{parent}+{word}");
        // `gh gist create` has a row beside that of `gh gist`.
        let next = rest.first().and_then(ShellValue::known).map(|next| format!("{name}+{next}"));
        if let Some((next, Ok(found))) = next.as_deref().and_then(|name| Some((name, table.row(name)?))) {
            return read_part(table, (above, NamedRow { name: next, row: found }), &rest[1..]);
        }
        match table.row(&name) {
            Some(Ok(found)) => {
                let special =
                    crate::programs::special::read_subcommand(&name, rest).filter(|_| !row.is_usage_of_part(rest));
                let read = || read_part(table, (above, NamedRow { name: &name, row: found }), rest);
                return special.map_or_else(read, only);
            }
            Some(Err(fault)) => return only(unknown(fault.to_string())),
            None => {}
        }
    }
    let what = format!("\"{word}\" of {} is not in the table of programs", row.shown());
    only(ProgramReading { suspected: rest.to_vec(), ..unknown(what) })
}

fn read_part(
    table: &ProgramTable,
    (above, named): (&[&ProgramRow], NamedRow<'_>),
    words: &[ShellValue],
) -> ProgramPart {
    // The flags that ask for help are the same for all subcommands, also for those of subcommands.
    if above.first().is_some_and(|of_all| of_all.is_usage_of_part(words)) {
        return ProgramPart::default();
    }
    let mut part = read_row_below(table, (above, named), words);
    if let Some(parent) = above.last() {
        part.of_parents.extend(long_options_of(parent, named.row, words));
    }
    part
}

/// Returns the long options of a program that stand behind its subcommand, where that has none of the same name.
fn long_options_of(parent: &ProgramRow, row: &ProgramRow, words: &[ShellValue]) -> Vec<GivenFlag> {
    let mut options = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let shown = word.prefix();
        if shown == "--" {
            break;
        }
        let name = shown.split('=').next().unwrap_or_default();
        // Programs let one abbreviate.
        let begins = |(flag, takes): (&&str, &Takes)| {
            *takes == Takes::Value && flag.starts_with(name) && !parent.globals.contains(flag)
        };
        let is_of_parent = name.len() > 4
            && name.starts_with("--")
            && parent.flags.iter().any(begins)
            && !row.flags.keys().any(|flag| flag.starts_with(name));
        if is_of_parent {
            let value = words.get(index + 1).filter(|_| !shown.contains('='));
            options.extend([Some(word), value].into_iter().flatten().cloned());
        }
    }
    tell_apart(parent, &[], &options).flags
}

/// Whether a row speaks about the whole command, or a subcommand has its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowScope {
    Yes,
    No,
}

struct RowReader<'a> {
    row: &'a ProgramRow,
    given: &'a GivenWords,
    /// The facts whose conditions hold. It takes a look at all words to tell.
    holding: Vec<&'a Fact>,
}

impl<'a> RowReader<'a> {
    fn new(row: &'a ProgramRow, given: &'a GivenWords) -> Self {
        let holds = |fact: &&Fact| {
            fact.conditions.iter().all(|condition| match condition {
                Condition::With(names) => names.iter().any(|name| given.has(name)),
                Condition::Unless(names) => !names.iter().any(|name| given.has(name)),
            })
        };
        Self { row, given, holding: row.facts.iter().filter(holds).collect() }
    }

    fn holds(&self, fact: &Fact) -> bool {
        self.holding.iter().any(|holding| std::ptr::eq(*holding, fact))
    }

    /// Returns what the facts of a kind say: the last one whose condition holds, or else the last one without any.
    fn said<T>(&self, kind: impl Fn(&'a Says) -> Option<T>) -> Option<T> {
        let facts = || self.holding.iter();
        let special = facts().filter(|fact| !fact.conditions.is_empty()).filter_map(|fact| kind(&fact.says)).last();
        special.or_else(|| facts().filter_map(|fact| kind(&fact.says)).last())
    }

    fn values(&self, draft: &mut ReadingDraft) {
        for (flag, value) in &self.given.flags {
            let Some(value) = value else { continue };
            let role = |says: &Says| match says {
                Says::Value(names, role) if names.contains(&flag.as_str()) => Some(*role),
                _ => None,
            };
            if let Some(role) = self.said(role) {
                draft.word(role, value, &[]);
            }
        }
    }

    fn does(&self, draft: &mut ReadingDraft, whole: RowScope) {
        for fact in self.row.facts.iter().filter(|fact| whole == RowScope::Yes || !fact.conditions.is_empty()) {
            let Says::Does(act) = &fact.says else { continue };
            if self.holds(fact) {
                draft.act(act.clone());
            } else if self.may_hold(fact) {
                draft.act(RawEffect::Unknown("a word that is known only when it runs decides what it does".to_owned()));
            }
        }
    }

    fn may_hold(&self, fact: &Fact) -> bool {
        fact.conditions.iter().all(|condition| match condition {
            Condition::With(names) => names.iter().any(|name| self.given.has(name) || self.given.may_have(name)),
            Condition::Unless(names) => !names.iter().any(|name| self.given.has(name)),
        })
    }

    /// Adds what is done with the operands, and returns whether one of them says where.
    fn operands(&self, draft: &mut ReadingDraft) -> bool {
        let said = self.said(|says| match says {
            Says::Operands(operands) => Some(operands),
            _ => None,
        });
        let plain: Vec<ShellValue> =
            self.given.operands.iter().filter(|operand| !self.is_key(draft, operand)).cloned().collect();
        let input = self.said(|says| match says {
            Says::Input(language) => Some(*language),
            _ => None,
        });
        let input = input.or(said.and_then(|operands| operands.input));
        let is_read_beside_operands = matches!(input, Some(CodeLanguage::Console | CodeLanguage::Patch));
        if is_read_beside_operands || (plain.is_empty() && draft.runs_nothing()) {
            draft.reading.inner.extend(input.map(|language| NestedRun::Input(language, Vec::new())));
        }
        if self.said(|says| matches!(says, Says::InputBeside).then_some(())).is_some() {
            draft.reading.inner.push(NestedRun::Input(CodeLanguage::Shell, Vec::new()));
        }
        said.is_some_and(|operands| self.by_roles(draft, operands, &plain))
    }

    /// Adds what is done in the folder that the program is in: no operand has said where.
    fn here(&self, draft: &mut ReadingDraft) {
        let said = self.said(|says| match says {
            Says::Here(here) => Some(*here),
            _ => None,
        });
        if let Some(here) = said.flatten() {
            draft.act(RawEffect::Path(here.deed, ShellValue::text(here.path)));
        }
    }

    /// Takes operands such as `if=FILE`, and returns whether it is one.
    fn is_key(&self, draft: &mut ReadingDraft, operand: &ShellValue) -> bool {
        let mut keys = self.row.facts.iter().filter_map(|fact| match &fact.says {
            Says::Keys(keys) => Some(keys),
            _ => None,
        });
        let Some(keys) = keys.next() else { return false };
        let Some((name, _)) = operand.prefix().split_once('=') else {
            if operand.known().is_none() {
                draft.act(RawEffect::Unknown("a word that may name a file".to_owned()));
            }
            return false;
        };
        let value = operand.strip_prefix(&format!("{name}=")).unwrap_or_default();
        keys.iter().filter(|(key, _)| *key == name).for_each(|(_, role)| draft.word(*role, &value, &[]));
        true
    }

    /// Takes operands by their roles, and returns whether one of them says where something is done.
    fn by_roles(&self, draft: &mut ReadingDraft, said: &Operands, operands: &[ShellValue]) -> bool {
        let mut says_where = false;
        if said.are_unknown && !operands.is_empty() {
            let what = format!("what {} does with its words is not in the table of programs", self.row.shown());
            draft.act(RawEffect::Unknown(what));
            draft.reading.suspected.extend_from_slice(operands);
        }
        let mut turn = 0;
        for (at, operand) in operands.iter().enumerate() {
            let is_assignment = assignment(operand).is_some();
            if said.roles.get(turn) == Some(&WordRole::Assignments) && !is_assignment {
                turn += 1;
            }
            let role = said.roles.get(turn).or(said.roles.last()).copied();
            if role != Some(WordRole::Assignments) {
                turn += 1;
            }
            let last = said.last.filter(|_| at + 1 == operands.len());
            // With so few operands the last may be either one, so it is both.
            let is_either = at == 0 || at + 1 < said.roles.len();
            let first = role.filter(|_| last.is_none() || is_either);
            // `exec POD -- COMMAND`: the dashes are none of its words.
            let is_mark = role.is_some_and(WordRole::takes_the_rest) && operand.known() == Some("--");
            if let (true, Some(command)) = (is_mark, operands.get(at + 1)) {
                draft.word(role.unwrap_or(WordRole::Text), command, &operands[at + 1..]);
                break;
            }
            for role in first.into_iter().chain(last) {
                draft.word(role, operand, &operands[at..]);
                says_where |= role.says_where(operand);
            }
            if role.is_some_and(WordRole::takes_the_rest) {
                break;
            }
        }
        says_where
    }

    fn output(&self, acts: &[RawEffect]) -> StreamContent {
        let said = self.said(|says| match says {
            Says::Output(output) => Some(*output),
            _ => None,
        });
        match said {
            None => StreamContent::Unknown,
            Some(PrintedOutput::Downloaded) => StreamContent::Downloaded,
            Some(PrintedOutput::Decoded) => StreamContent::Decoded,
            Some(PrintedOutput::Content) => StreamContent::Content,
            Some(PrintedOutput::Passed) => StreamContent::Passed,
            Some(PrintedOutput::Text) => StreamContent::Text(ShellValue::unknown()),
            Some(PrintedOutput::Name) => StreamContent::Text(a_name()),
            Some(PrintedOutput::Paths) => {
                let paths = self.printed_paths(acts);
                StreamContent::Paths(paths.iter().flat_map(itself_and_below).chain(bare_name_of(&paths)).collect())
            }
            Some(output @ (PrintedOutput::Names | PrintedOutput::HiddenNames | PrintedOutput::Tree)) => {
                let paths = self.printed_paths(acts);
                let hidden = paths.iter().filter(|_| output == PrintedOutput::HiddenNames).map(hidden_names_in);
                let depth = if output == PrintedOutput::Tree { 2 } else { 1 };
                let named = paths
                    .iter()
                    .flat_map(|path| itself(path).into_iter().chain(names_below(path).into_iter().take(depth)));
                // A name without its folder may look like a flag to the next program.
                StreamContent::Paths(named.chain(hidden).chain([a_bare_name()]).collect())
            }
        }
    }

    /// Returns below what the names lie that it prints: what it looks at, or else where it is.
    fn printed_paths(&self, acts: &[RawEffect]) -> Vec<ShellValue> {
        let looked_at = acts.iter().filter_map(|act| match act {
            RawEffect::Path(PathEffect::Read | PathEffect::List, path) => Some(path.clone()),
            _ => None,
        });
        let looked_at: Vec<_> = looked_at.collect();
        let takes_paths = self.row.facts.iter().any(|fact| match &fact.says {
            Says::Operands(said) => said.roles.iter().any(|role| matches!(role, WordRole::Path(_))),
            _ => false,
        });
        match (looked_at.is_empty(), takes_paths) {
            (false, _) => looked_at,
            (true, true) => vec![ShellValue::text(".")],
            (true, false) => vec![ShellValue::unknown()],
        }
    }
}

/// Returns some name that does not begin with a dash.
fn a_name() -> ShellValue {
    let mut name = ShellValue::text("0");
    name.push(ValuePiece::Glob);
    name
}

/// Returns some name without a folder where one of these paths is the folder of the program itself. Programs print what
/// lies there so, and it may look like a flag to the next program: `git ls-files`, `rg --files`, `fd`, `grep -rl x`.
pub(crate) fn bare_name_of(paths: &[ShellValue]) -> Option<ShellValue> {
    let finds_here = |path: &ShellValue| is_here(path) || path.prefix().starts_with(['*', '?', '[', ':']);
    paths.iter().any(finds_here).then(a_bare_name)
}

/// Returns what is printed of a path: the path itself where it is a file, or what lies below it.
fn itself_and_below(path: &ShellValue) -> impl Iterator<Item = ShellValue> {
    itself(path).into_iter().chain(names_below(path))
}

fn itself(path: &ShellValue) -> Option<ShellValue> {
    Some(path.clone()).filter(|path| !is_here(path) && !path.has_unknown())
}

fn is_here(path: &ShellValue) -> bool {
    matches!(path.known(), Some("." | "./"))
}

/// Returns a name without its folder, as `ls folder` prints it: put behind the folder again, it is a path.
fn a_bare_name() -> ShellValue {
    let mut name = ShellValue::default();
    name.push(ValuePiece::Glob);
    name
}

/// Returns the names that lie in a folder.
pub(crate) fn names_in(folder: &ShellValue) -> ShellValue {
    let mut path = folder.clone();
    path.push(ValuePiece::Text("/".to_owned()));
    path.push(ValuePiece::Glob);
    path
}

/// Returns the hidden names that lie in a folder.
fn hidden_names_in(folder: &ShellValue) -> ShellValue {
    let mut path = folder.clone();
    path.push(ValuePiece::Text("/.".to_owned()));
    path.push(ValuePiece::Glob);
    path
}

/// Returns the names that lie in a folder, and those below it at any depth, which are shown as `**`.
pub(crate) fn names_below(folder: &ShellValue) -> [ShellValue; 2] {
    let names = names_in(folder);
    let mut deeper = names.clone();
    deeper.push(ValuePiece::Number);
    [names, deeper]
}

/// Takes `A=b` apart.
pub(crate) fn assignment(word: &ShellValue) -> Option<(String, ShellValue)> {
    let (name, _) = word.prefix().split_once('=')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    // bash takes functions from variables whose names no assignment could have.
    let is_function = name.starts_with("BASH_FUNC_");
    (is_name || is_function).then(|| (name.to_owned(), word.strip_prefix(&format!("{name}=")).unwrap_or_default()))
}

/// Returns words as one text with blanks between.
pub(crate) fn joined(words: &[ShellValue]) -> ShellValue {
    let mut text = ShellValue::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            text.push(ValuePiece::Text(" ".to_owned()));
        }
        text.append(word);
    }
    text
}
