//! `env`: variables, then a program that runs with them.

use haft_contract::effect::Danger;

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::value::{ShellValue, ValuePiece};

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut reading = ProgramReading::default();
    let mut words = words.to_vec();
    let mut at = 0;
    while let Some(word) = words.get(at).cloned() {
        let start = word.prefix();
        if word.known() == Some("--") {
            at += 1;
            break;
        }
        if !start.starts_with('-') {
            break;
        }
        at += 1;
        match flag(&word, words.get(at)) {
            Flag::Plain => {}
            Flag::OtherName(taken) => {
                at += taken;
                reading.acts.push(RawEffect::other_name());
            }
            Flag::SearchPath(folders, taken) => {
                at += taken;
                reading.inner.push(NestedRun::Variable("PATH".to_owned(), folders));
            }
            Flag::Unset(name, taken) => {
                at += taken;
                if name.prefix().starts_with("HAFT_") {
                    let words = format!("remove {} from the environment that haft has set", name.shown());
                    reading.acts.push(RawEffect::Danger(Danger::Haft, words));
                }
            }
            Flag::Folder(folder, taken) => {
                at += taken;
                reading.acts.push(RawEffect::Path(PathEffect::List, folder.clone()));
                reading.inner.push(NestedRun::Folder(folder));
            }
            Flag::Split(text, taken) => {
                let rest = words.split_off((at + taken).min(words.len()));
                // It is written like text for a shell, which can say more about variables in it.
                if rest.is_empty() && !text.prefix().starts_with('-') {
                    reading.inner.push(NestedRun::Script(text, Vec::new()));
                    return reading;
                }
                match text.known().and_then(split) {
                    Some(split) => words = split,
                    None => return runs_unknown_text(reading),
                }
                words.extend(rest);
                at = 0;
            }
            Flag::Unknown => reading.acts.push(RawEffect::Unknown("a word that may be a flag".to_owned())),
        }
    }
    with_program(reading, &words[at.min(words.len())..])
}

/// Adds the variables and the program behind the flags.
fn with_program(mut reading: ProgramReading, words: &[ShellValue]) -> ProgramReading {
    let mut rest = words;
    while let Some((name, value)) = rest.first().and_then(assignment) {
        set(&mut reading, &name, value);
        rest = &rest[1..];
    }
    if rest.is_empty() {
        reading.acts.push(RawEffect::Unknown("it prints the environment, in which there may be secrets".to_owned()));
    } else {
        reading.inner.push(NestedRun::Words(rest.to_vec()));
    }
    reading
}

/// Takes `a-b=c` apart: for `env`, any word with `=` in it is a variable.
fn assignment(word: &ShellValue) -> Option<(ShellValue, ShellValue)> {
    let mut name = ShellValue::default();
    let mut pieces = word.pieces().iter();
    for piece in pieces.by_ref() {
        let ValuePiece::Text(text) = piece else {
            name.push(piece.clone());
            continue;
        };
        let Some((last, first)) = text.split_once('=') else {
            name.push(piece.clone());
            continue;
        };
        name.push(ValuePiece::Text(last.to_owned()));
        let mut value = ShellValue::text(first);
        pieces.cloned().for_each(|piece| value.push(piece));
        return Some((name, value));
    }
    None
}

fn set(reading: &mut ProgramReading, name: &ShellValue, value: ShellValue) {
    match name.known() {
        Some(name) => reading.inner.push(variable(name.to_owned(), value)),
        None => reading.acts.push(RawEffect::Unknown("which variable it sets is known only when it runs".to_owned())),
    }
}

/// bash takes variables of a certain name for functions.
fn variable(name: String, value: ShellValue) -> NestedRun {
    let function = name.strip_prefix("BASH_FUNC_").and_then(|rest| rest.strip_suffix("%%").or(rest.strip_suffix("()")));
    let Some(function) = function else { return NestedRun::Variable(name, value) };
    let mut script = ShellValue::text(function);
    script.append(&value);
    NestedRun::Script(script, Vec::new())
}

enum Flag {
    Plain,
    SearchPath(ShellValue, usize),
    /// The program gets another name.
    OtherName(usize),
    Unset(ShellValue, usize),
    Folder(ShellValue, usize),
    Split(ShellValue, usize),
    Unknown,
}

fn flag(word: &ShellValue, next: Option<&ShellValue>) -> Flag {
    let start = word.prefix();
    let value_of = |before: &str| match word.strip_prefix(before).filter(|value| !value.pieces().is_empty()) {
        Some(value) => (value, 0),
        None => (next.cloned().unwrap_or_default(), 1),
    };
    let (name, is_attached) = start.split_once('=').map_or((start, false), |(name, _)| (name, true));
    if let Some(long) = name.strip_prefix("--") {
        let (value, taken) = value_of(&if is_attached { format!("{name}=") } else { name.to_owned() });
        return match long {
            "" => Flag::Unknown,
            _ if "split-string".starts_with(long) => Flag::Split(value, taken),
            _ if "chdir".starts_with(long) => Flag::Folder(value, taken),
            _ if "unset".starts_with(long) => Flag::Unset(value, taken),
            _ if "argv0".starts_with(long) => Flag::OtherName(taken),
            _ if word.known().is_none() && !is_attached => Flag::Unknown,
            _ => Flag::Plain,
        };
    }
    for (at, letter) in start.char_indices().skip(1) {
        let before = &start[..at + letter.len_utf8()];
        match letter {
            'S' => {
                let (value, taken) = value_of(before);
                return Flag::Split(value, taken);
            }
            'C' => {
                let (value, taken) = value_of(before);
                return Flag::Folder(value, taken);
            }
            'u' => {
                let (value, taken) = value_of(before);
                return Flag::Unset(value, taken);
            }
            'a' => return Flag::OtherName(value_of(before).1),
            // Where the program is looked for (BSD).
            'P' => {
                let (value, taken) = value_of(before);
                return Flag::SearchPath(value, taken);
            }
            _ => {}
        }
    }
    if word.known().is_none() { Flag::Unknown } else { Flag::Plain }
}

fn runs_unknown_text(mut reading: ProgramReading) -> ProgramReading {
    reading.acts.push(RawEffect::Unknown("what it runs is known only when it runs".to_owned()));
    reading
}

/// Splits text into words as `env -S` does; none when it names variables.
fn split(text: &str) -> Option<Vec<ShellValue>> {
    let mut words: Vec<ShellValue> = Vec::new();
    let mut word: Option<ShellValue> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let add = |word: &mut Option<ShellValue>, letter: char| {
            word.get_or_insert_default().push(ValuePiece::Text(letter.to_string()));
        };
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => match letters.next()? {
                '_' if quote.is_none() => words.extend(word.take()),
                'n' => add(&mut word, '\n'),
                't' => add(&mut word, '\t'),
                'c' => break,
                other => add(&mut word, other),
            },
            ('$', None | Some('"')) => return None,
            (blank, None) if blank.is_whitespace() => words.extend(word.take()),
            (letter, _) => add(&mut word, letter),
        }
    }
    words.extend(word);
    Some(words)
}
