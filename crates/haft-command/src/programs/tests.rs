//! Tests the rules of the format with small rows, and tests haft's own table.

mod here;
mod programs;
mod words;

use crate::act::{CodeLanguage, LocalCode, NestedRun, ProgramReading, RawEffect, StreamContent};
use crate::programs::table::ProgramTable;
use crate::programs::{read, read_by};
use crate::value::{ShellValue, ValuePiece};

/// Reads a command by a table of these rows. Words are parted by blanks; `…` stands for a gap, `*` for a pattern.
fn by(rows: &'static str, command: &str) -> String {
    told(&read_by(&ProgramTable::new(&[("test.txt", rows)]), &words(command)))
}

/// Reads a command by the table that haft comes with.
fn shipped(command: &str) -> String {
    told(&read(&words(command)))
}

fn words(command: &str) -> Vec<ShellValue> {
    command.split(' ').map(word).collect()
}

fn word(text: &str) -> ShellValue {
    let mut value = ShellValue::default();
    for letter in text.chars() {
        value.push(match letter {
            '…' => ValuePiece::Unknown,
            '*' => ValuePiece::Glob,
            // A blank within a word.
            '_' => ValuePiece::Text(" ".to_owned()),
            letter => ValuePiece::Text(letter.to_string()),
        });
    }
    value
}

/// Tells a reading in one line: what it does, what it runs, what it prints.
fn told(reading: &ProgramReading) -> String {
    // What git follows in its folder holds for all of its words.
    let is_of_all = |act: &&RawEffect| matches!(act, RawEffect::LocalCode(LocalCode::BareRepository, _));
    let mut parts: Vec<String> = reading.acts.iter().filter(|act| !is_of_all(act)).map(told_act).collect();
    parts.extend(reading.inner.iter().map(told_inner));
    parts.extend(match &reading.output {
        StreamContent::Unknown => None,
        StreamContent::Text(text) => Some(format!("prints {}", text.shown())),
        StreamContent::Paths(paths) => Some(format!("prints {}", all(paths))),
        other => Some(format!("prints {other:?}")),
    });
    parts.join("; ")
}

fn told_act(act: &RawEffect) -> String {
    match act {
        RawEffect::Path(deed, path) => format!("{deed:?} {}", path.shown()),
        RawEffect::ConnectElsewhere => "Connect elsewhere".to_owned(),
        RawEffect::Connect(host) => format!("Connect {}", host.as_deref().unwrap_or("?")),
        RawEffect::Danger(danger, _) => format!("Danger {danger:?}"),
        other => format!("{other:?}").replace(['(', ')', '"'], " ").trim().to_owned(),
    }
}

fn told_inner(inner: &NestedRun) -> String {
    match inner {
        NestedRun::Words(words) => format!("runs [{}]", all(words)),
        NestedRun::WordsIn(folder, words) => format!("runs [{}] in {}", all(words), folder.shown()),
        NestedRun::WordsAndInput(words) => format!("runs [{}] and its input", all(words)),
        NestedRun::WordsAroundInput(words, mark) => format!("runs [{}] with its input for {mark}", all(words)),
        NestedRun::Script(script, parameters) => format!("sh [{}] ({})", script.shown(), all(parameters)),
        NestedRun::Input(language, parameters) if parameters.is_empty() => format!("runs its input as {language:?}"),
        NestedRun::Input(language, parameters) => format!("runs its input as {language:?} ({})", all(parameters)),
        NestedRun::Text(language, text) => format!("{language:?} [{}]", text.shown()),
        NestedRun::File(language, path) => format!("{language:?} in {}", path.shown()),
        NestedRun::Variable(name, value) => format!("{name}={}", value.shown()),
        NestedRun::Tracing => "traced".to_owned(),
        NestedRun::Folder(folder) => format!("in {}", folder.shown()),
    }
}

fn all(words: &[ShellValue]) -> String {
    words.iter().map(ShellValue::shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_row_of_the_table_is_understood() {
    let faults: Vec<String> = ProgramTable::shipped().rows().filter_map(Result::err).map(ToString::to_string).collect();

    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_row_of_the_table_has_an_example() {
    let rows = ProgramTable::shipped().rows().filter_map(Result::ok);
    let bare: Vec<String> =
        rows.filter(|row| row.examples.is_empty()).map(crate::programs::table::row::ProgramRow::shown).collect();

    assert!(bare.is_empty(), "{bare:?}");
}

#[test]
fn a_line_that_is_not_a_fact_is_told_with_its_file_and_line() {
    let check = |rows| {
        let table = ProgramTable::new(&[("test.txt", rows)]);
        table.rows().filter_map(Result::err).map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };

    assert_eq!(check("# one\n\na\n  flags -n\n  opernads read\n"), "test.txt:5: \"opernads\" is not a fact");
    assert_eq!(check("a\n  value -o rplace\n"), "test.txt:2: \"rplace\" is not a role");
    assert_eq!(check("a\n  with does connect\n"), "test.txt:2: \"with\" names no flag");
    assert_eq!(check("a\n  does danger sharks bite\n"), "test.txt:2: \"sharks\" is not a danger");
    assert_eq!(check("a\n  does publish\n"), "test.txt:2: \"publish\" says nothing");
    assert_eq!(check("a\n  output words\n"), "test.txt:2: \"words\" is nothing that a program prints");
    assert_eq!(check("a b\n  plus\nb\n  plus\n"), "test.txt:3: \"b\" has a row already");
}

#[test]
fn a_row_that_is_not_understood_is_asked_about_when_its_program_is_met() {
    assert_eq!(by("a\n  operands rad\n", "a x"), "Unknown  test.txt:2: \\ rad\\  is not a role");
}

#[test]
fn the_page_of_the_format_names_roles_that_there_are() {
    let (_, page) = include_str!("table/README.md").split_once("## Roles").expect("the page has a table of roles");
    let first_columns = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let roles: Vec<&str> = first_columns.flat_map(|(names, _)| names.trim_end_matches('`').split("`, `")).collect();

    assert!(roles.len() > 20);
    let wrong: Vec<_> =
        roles.iter().filter(|role| crate::programs::table::role::WordRole::named(role).is_none()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
