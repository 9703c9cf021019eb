//! A command in a question: complete, however long it is, with the parts marked that need approval.
//!
//! Marks are colours and underlines where the terminal has them, otherwise a line of signs beneath each row.

use anstyle::{AnsiColor, Style};
use haft_policy::decision::Class;
use haft_runtime::asking::approval::AskedCommand;

use crate::screen::safe;
use haft_host::texts::bounded_text::columns_of;

/// How parts are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// By colours and underlines.
    Colours,
    /// By signs beneath.
    Signs,
}

/// How wide what stands before each row is.
const MARGIN: usize = 4;
/// How wide a tab is shown.
const TAB: &str = "    ";

/// One character of the command as it is shown.
struct CommandCharacter {
    shown: String,
    columns: usize,
    class: Option<Class>,
}

/// Returns the rows of the command.
pub(crate) fn rows(command: &AskedCommand, columns: usize, marks: Marks) -> Vec<String> {
    let room = columns.saturating_sub(MARGIN).max(8);
    let mut rows = Vec::new();
    for line in lines(command) {
        for (number, row) in broken(line, room).iter().enumerate() {
            let margin = if number == 0 { "  | " } else { "  … " };
            rows.push(format!("{margin}{}", words(row, marks)));
            let signs = signs(row);
            if marks == Marks::Signs && !signs.is_empty() {
                rows.push(format!("    {signs}"));
            }
        }
    }
    rows
}

/// Returns the cells of each line of the text.
fn lines(command: &AskedCommand) -> Vec<Vec<CommandCharacter>> {
    let class_at =
        |place: usize| command.parts.iter().filter(|part| part.bytes.contains(&place)).map(|part| part.class).max();
    let mut lines = vec![Vec::new()];
    let text = command.text.strip_suffix('\n').unwrap_or(&command.text);
    for (place, c) in text.char_indices() {
        let shown = match c {
            '\n' => {
                lines.push(Vec::new());
                continue;
            }
            '\t' => TAB.to_owned(),
            c => safe(c.encode_utf8(&mut [0; 4])).into_owned(),
        };
        let columns = shown.chars().map(columns_of).sum();
        lines.last_mut().expect("there is always a line").push(CommandCharacter {
            shown,
            columns,
            class: class_at(place),
        });
    }
    lines
}

/// Breaks a line into rows of at most so many columns.
fn broken(line: Vec<CommandCharacter>, room: usize) -> Vec<Vec<CommandCharacter>> {
    let mut rows = vec![Vec::new()];
    let mut used = 0;
    for cell in line {
        if used + cell.columns > room && used > 0 {
            rows.push(Vec::new());
            used = 0;
        }
        used += cell.columns;
        rows.last_mut().expect("there is always a row").push(cell);
    }
    rows
}

fn words(row: &[CommandCharacter], marks: Marks) -> String {
    let style_of = |class: Option<Class>| match (marks, class) {
        (Marks::Signs, _) | (_, None) => Style::new(),
        (Marks::Colours, Some(Class::Ordinary)) => AnsiColor::Yellow.on_default().underline(),
        (Marks::Colours, Some(Class::Dangerous)) => AnsiColor::Red.on_default().bold().underline(),
    };
    let mut words = String::new();
    for run in row.chunk_by(|one, other| one.class == other.class) {
        let style = style_of(run.first().and_then(|cell| cell.class));
        let shown: String = run.iter().map(|cell| cell.shown.as_str()).collect();
        words.push_str(&format!("{style}{shown}{style:#}"));
    }
    words
}

/// Returns the signs beneath a row; `!` beneath what is dangerous.
fn signs(row: &[CommandCharacter]) -> String {
    let sign = |cell: &CommandCharacter| match cell.class {
        None => " ".repeat(cell.columns),
        Some(Class::Ordinary) => "^".repeat(cell.columns),
        Some(Class::Dangerous) => "!".repeat(cell.columns),
    };
    row.iter().map(sign).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_runtime::asking::approval::AskedPart;

    fn command(text: &str, parts: &[(&str, Class)]) -> AskedCommand {
        let part = |(part, class): &(&str, Class)| {
            let start = text.find(part).expect("it is a part");
            AskedPart { bytes: start..start + part.len(), class: *class }
        };
        AskedCommand { text: text.into(), parts: parts.iter().map(part).collect(), around: String::new() }
    }

    #[test]
    fn parts_are_marked_beneath_where_there_are_no_colours() {
        let command = command("ls; rm x\tä; 漢 make", &[("rm x\tä", Class::Dangerous), ("make", Class::Ordinary)]);
        let expected = ["  | ls; rm x    ä; 漢 make", "        !!!!!!!!!     ^^^^"];
        assert_eq!(rows(&command, 40, Marks::Signs), expected);
    }

    #[test]
    fn a_part_within_another_has_the_stricter_mark() {
        let command = command("make $(rm x)", &[("make $(rm x)", Class::Ordinary), ("rm x", Class::Dangerous)]);
        assert_eq!(rows(&command, 40, Marks::Signs)[1], "    ^^^^^^^!!!!^");
        let coloured = rows(&command, 40, Marks::Colours);
        assert_eq!(coloured.len(), 1);
        assert!(coloured[0].contains("rm x") && coloured[0].contains("\u{1b}["), "{coloured:?}");
    }

    #[test]
    fn a_command_is_shown_whole_however_long_it_is() {
        let text = format!("{}\n{}rm -rf x\r\n", "true\n".repeat(500), "a".repeat(5_000));
        let rows = rows(&command(&text, &[("rm -rf x", Class::Ordinary)]), 100, Marks::Signs);
        let shown: String =
            rows.iter().filter_map(|row| row.strip_prefix("  | ").or(row.strip_prefix("  … "))).collect();
        assert_eq!(shown, format!("{}{}rm -rf x\\u{{d}}", "true".repeat(500), "a".repeat(5_000)));
        assert!(rows.iter().all(|row| row.chars().count() <= 100));
    }

    #[test]
    fn nothing_in_a_command_can_command_the_terminal() {
        let rows = rows(&command("a\u{1b}[2J\u{202e}b\u{9b}", &[("b", Class::Ordinary)]), 60, Marks::Signs).join("\n");
        assert_eq!(rows, "  | a\\u{1b}[2J\\u{202e}b\\u{9b}\n                      ^");
    }
}
