//! Parses the lines of a row. A line that it cannot parse is a bug, because the table is part of the program.

use haft_contract::effect::Danger;

use crate::act::{CodeLanguage, LocalCode, PathEffect, RawEffect};
use crate::programs::table::role::WordRole;
use crate::programs::table::row::{
    Condition, Fact, Here, Operands, PrintedOutput, ProgramRow, Says, Takes, UnnamedFlags, declare,
};
use crate::value::ShellValue;

/// Reads a fact, and notes in the row which flags it names and how words are to be read.
pub(crate) fn fact(line: &'static str, row: &mut ProgramRow) -> Result<Fact, String> {
    let mut conditions = Vec::new();
    let mut rest = line;
    loop {
        let (word, after) = first_word(rest);
        let condition: fn(Vec<&'static str>) -> Condition = match word {
            "with" => Condition::With,
            "unless" => Condition::Unless,
            _ => break,
        };
        let (names, after) = names(after);
        if names.is_empty() {
            return Err(format!("\"{word}\" names no flag"));
        }
        conditions.push(condition(names));
        rest = after;
    }
    let says = says(rest, row)?;
    Ok(Fact { conditions, says })
}

fn says(text: &'static str, row: &mut ProgramRow) -> Result<Says, String> {
    let (word, rest) = first_word(text);
    let traits = &mut row.traits;
    let noted = match word {
        "operands" => return operands(rest).map(Says::Operands),
        "flags" => return Ok(flags(rest, row)),
        "value" => return value(rest, row, Takes::Value),
        "global" => {
            let said = value(rest, row, Takes::Value)?;
            if let Says::Value(names, _) = &said {
                row.globals.extend(names);
            }
            return Ok(said);
        }
        "pair" => return value(rest, row, Takes::Pair),
        "optional" => return value(rest, row, Takes::Attached),
        "does" => return does(rest).map(Says::Does),
        "chosen" => {
            row.chosen.push(followed(rest)?);
            return Ok(Says::Trait);
        }
        "usage" => {
            row.usage.extend(rest.split_whitespace());
            return Ok(Says::Trait);
        }
        "here" => return here(rest).map(Says::Here),
        "output" => return output(rest).map(Says::Output),
        "keys" => return keys(rest).map(Says::Keys),
        "input" => return Ok(Says::Input(CodeLanguage::Shell)),
        "input-code" => return Ok(Says::Input(CodeLanguage::General)),
        "input-console" => return Ok(Says::Input(CodeLanguage::Console)),
        "input-beside" => return Ok(Says::InputBeside),
        "input-patch" => return Ok(Says::Input(CodeLanguage::Patch)),
        "subcommands" => &mut traits.subcommands,
        "plus" => &mut traits.plus,
        "dashless" => &mut traits.dashless,
        "stops" => &mut traits.stops,
        "long" => &mut traits.long,
        "apart" => &mut traits.apart,
        "first-letter" => &mut traits.first_letter,
        "launcher" => &mut traits.launcher,
        _ => return Err(format!("\"{word}\" is not a fact")),
    };
    *noted = true;
    // `long -name -exec` may name flags as well.
    let (names, rest) = names(rest);
    names.iter().for_each(|name| declare(&mut row.flags, name, Takes::Nothing));
    if rest.is_empty() { Ok(Says::Trait) } else { Err(format!("\"{rest}\" does not belong here")) }
}

fn operands(text: &'static str) -> Result<Operands, String> {
    let mut operands = Operands::default();
    for word in text.split_whitespace() {
        match word {
            "none" => operands.are_unknown = true,
            "input" => operands.input = Some(CodeLanguage::Shell),
            "input-code" => operands.input = Some(CodeLanguage::General),
            _ => match word.strip_suffix('$') {
                Some(last) => operands.last = Some(role(last)?),
                None => operands.roles.push(role(word)?),
            },
        }
    }
    // Where no role comes behind it, all words from there on are one text, as for `eval`.
    if let Some(last @ WordRole::Script) = operands.roles.last_mut() {
        *last = WordRole::Joined;
    }
    let says_nothing = operands.roles.is_empty() && operands.last.is_none() && operands.input.is_none();
    if says_nothing && !operands.are_unknown {
        return Err("\"operands\" names no role".to_owned());
    }
    Ok(operands)
}

fn flags(text: &'static str, row: &mut ProgramRow) -> Says {
    for name in text.split_whitespace() {
        match name {
            "any" => row.traits.unnamed = UnnamedFlags::Harmless,
            "more" => row.traits.unnamed = UnnamedFlags::Asked,
            name => declare(&mut row.flags, name, Takes::Nothing),
        }
    }
    Says::Flags
}

fn value(text: &'static str, row: &mut ProgramRow, takes: Takes) -> Result<Says, String> {
    let (names, rest) = names(text);
    if names.is_empty() {
        return Err("no flag is named".to_owned());
    }
    let role = role(rest)?;
    names.iter().for_each(|name| declare(&mut row.flags, name, takes));
    Ok(Says::Value(names, role))
}

fn does(text: &'static str) -> Result<RawEffect, String> {
    let (word, rest) = first_word(text);
    let words = || if rest.is_empty() { Err(format!("\"{word}\" says nothing")) } else { Ok(rest.to_owned()) };
    let path = |deed| words().map(|path| RawEffect::Path(deed, ShellValue::text(path)));
    match word {
        "connect" if rest == "elsewhere" => Ok(RawEffect::ConnectElsewhere),
        "connect" => Ok(RawEffect::Connect(None)),
        "publish" => words().map(RawEffect::Publish),
        "serve" => words().map(RawEffect::Serve),
        "code" => words().map(RawEffect::Code),
        "settings" => words().map(RawEffect::Settings),
        "shell" => words().map(RawEffect::ShellState),
        "history" => words().map(RawEffect::History),
        "process" => words().map(RawEffect::Process),
        "unknown" => words().map(RawEffect::Unknown),
        "read" => path(PathEffect::Read),
        // Its input names the files.
        "read-unknown" if rest.is_empty() => Ok(RawEffect::Path(PathEffect::Read, ShellValue::unknown())),
        "list" => path(PathEffect::List),
        "create" => path(PathEffect::Create),
        "replace" => path(PathEffect::Replace),
        "remove" => path(PathEffect::Remove),
        "run" => path(PathEffect::Run),
        "danger" => danger(rest),
        "follow" => Ok(RawEffect::LocalCode(followed(rest)?, ShellValue::text("."))),
        _ => Err(format!("\"{word}\" is nothing that a program does")),
    }
}

/// Reads the names of files that are followed, or `repository`.
fn followed(text: &'static str) -> Result<LocalCode, String> {
    let names: Vec<&str> = text.split_whitespace().collect();
    match names.as_slice() {
        [] => Err("\"follow\" names no file".to_owned()),
        ["repository"] => Ok(LocalCode::BareRepository),
        _ => Ok(LocalCode::Files(names)),
    }
}

/// Reads `read`, or `create NAME` for something in the folder, or `none`.
fn here(text: &'static str) -> Result<Option<Here>, String> {
    if text == "none" {
        return Ok(None);
    }
    let (word, path) = first_word(text);
    match role(word)? {
        WordRole::Path(PathEffect::Create) if path.is_empty() => {
            Err("what is made in the folder has no name".to_owned())
        }
        WordRole::Path(deed) => Ok(Some(Here { deed, path: if path.is_empty() { "." } else { path } })),
        _ => Err(format!("\"{word}\" is nothing that is done in a folder")),
    }
}

fn danger(text: &'static str) -> Result<RawEffect, String> {
    let (word, words) = first_word(text);
    let danger = match word {
        "rights" => Danger::Rights,
        "device" => Danger::Device,
        "system" => Danger::System,
        "downloaded" => Danger::DownloadedCode,
        "hidden" => Danger::HiddenCode,
        "secret" => Danger::Secret,
        "planted" => Danger::PlantedCode,
        "lost-history" => Danger::HistoryLost,
        "haft" => Danger::Haft,
        "exhaustion" => Danger::Exhaustion,
        _ => return Err(format!("\"{word}\" is not a danger")),
    };
    if words.is_empty() {
        Err("the danger has no description".to_owned())
    } else {
        Ok(RawEffect::Danger(danger, words.to_owned()))
    }
}

fn output(word: &str) -> Result<PrintedOutput, String> {
    Ok(match word {
        "downloaded" => PrintedOutput::Downloaded,
        "decoded" => PrintedOutput::Decoded,
        "content" => PrintedOutput::Content,
        "passed" => PrintedOutput::Passed,
        "paths" => PrintedOutput::Paths,
        "names" => PrintedOutput::Names,
        "hidden-names" => PrintedOutput::HiddenNames,
        "tree" => PrintedOutput::Tree,
        "text" => PrintedOutput::Text,
        "name" => PrintedOutput::Name,
        _ => return Err(format!("\"{word}\" is nothing that a program prints")),
    })
}

fn keys(text: &'static str) -> Result<Vec<(&'static str, WordRole)>, String> {
    let key = |word: &'static str| {
        let (name, named) = word.split_once(':').ok_or_else(|| format!("\"{word}\" has no role"))?;
        Ok((name, role(named)?))
    };
    text.split_whitespace().map(key).collect()
}

fn role(name: &str) -> Result<WordRole, String> {
    WordRole::named(name).ok_or_else(|| format!("\"{name}\" is not a role"))
}

/// Splits off the words at the beginning that are flags, or operands after `=`.
fn names(text: &'static str) -> (Vec<&'static str>, &'static str) {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (word, after) = first_word(rest);
        if !is_name(word) {
            return (names, rest);
        }
        names.push(word);
        rest = after;
    }
}

/// Returns whether it is a flag, `=word`, or `2=word`.
fn is_name(word: &str) -> bool {
    let behind_number = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
    word.starts_with(['-', '+']) || behind_number.starts_with('=')
}

fn first_word(text: &'static str) -> (&'static str, &'static str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}
