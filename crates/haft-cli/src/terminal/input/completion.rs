//! Completes at the cursor: slash commands, files after `@`, tools, their parameters and values.
//!
//! A pure function of the line and the known names; each key builds a new menu.

mod fuzzy;

use std::ops::Range;

use super::call_line::pair;
use crate::terminal::drawing::painted::{Ink, paint, width};
use crate::terminal::protocol::UserCommandFacts;
use crate::terminal::tool_facts::{ParameterFacts, Takes, ToolFacts};
pub(in crate::terminal) use fuzzy::ranked;
use haft_host::calling::typed_words::{quoted, words};

/// Most items that a menu has.
const MOST: usize = 200;
/// Most items that are visible at the same time.
const SHOWN: usize = 6;

/// The names that completion can offer.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct CompletionNames {
    pub(in crate::terminal) tools: Vec<ToolFacts>,
    /// The files of the workspace, below its root.
    pub(in crate::terminal) files: Vec<String>,
    /// Slash commands with what they do.
    pub(in crate::terminal) commands: Vec<(String, String)>,
    /// Commands of the user and of the project.
    pub(in crate::terminal) own: Vec<UserCommandFacts>,
    /// Messages to which the person can go back, with what was changed since; the last first.
    pub(in crate::terminal) points: Vec<(String, String)>,
    /// Conversations by their IDs, with when they were used and how they began; those used last first.
    pub(in crate::terminal) sessions: Vec<(String, String)>,
    /// Whether there is a model, so that a line is a message unless it says otherwise.
    pub(in crate::terminal) has_model: bool,
}

/// A choice of texts for a stretch of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct Menu {
    items: Vec<MenuItem>,
    selected: usize,
    /// The range of the line that an item replaces.
    pub(in crate::terminal) replaces: Range<usize>,
    pub(in crate::terminal) kind: MenuKind,
}

/// The kind of items in a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum MenuKind {
    Commands,
    Files,
    Tools,
    Arguments,
    Sessions,
    Points,
}

/// One item of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct MenuItem {
    /// The text that goes into the line.
    pub(in crate::terminal) text: String,
    /// The text that the menu shows.
    label: String,
    about: String,
}

impl Menu {
    /// Returns the item that is chosen.
    pub(in crate::terminal) fn chosen(&self) -> &str {
        self.items.get(self.selected).map_or("", |item| &item.text)
    }

    /// Chooses another item, round the ends.
    pub(in crate::terminal) fn select(&mut self, step: isize) {
        let count = self.items.len().max(1);
        self.selected = (self.selected + count).wrapping_add_signed(step) % count;
    }

    /// Returns the rows of the menu.
    pub(in crate::terminal) fn rows(&self) -> Vec<String> {
        let first = (self.selected + 1).saturating_sub(SHOWN);
        let shown = self.items.iter().enumerate().skip(first).take(SHOWN);
        let widest = shown.clone().map(|(_, item)| width(&item.label)).max().unwrap_or(0).min(40);
        let mut rows: Vec<String> = shown
            .map(|(index, item)| {
                let (mark, ink) = if index == self.selected { ("› ", Ink::Name) } else { ("  ", Ink::Plain) };
                let gap = " ".repeat(widest.saturating_sub(width(&item.label)) + 2);
                format!("  {}{gap}{}", paint(ink, &format!("{mark}{}", item.label)), paint(Ink::Faint, &item.about))
            })
            .collect();
        if let more @ 1.. = self.items.len().saturating_sub(first + SHOWN) {
            rows.push(paint(Ink::Faint, &format!("    {more} more")));
        }
        rows
    }
}

/// Returns what can be completed in a line at the cursor.
pub(in crate::terminal) fn menu(line: &str, cursor: usize, known: &CompletionNames) -> Option<Menu> {
    let before = &line[..cursor];
    if let Some(typed) = before.strip_prefix('/')
        && !typed.contains(char::is_whitespace)
    {
        let own = known.own.iter().map(|own| (&own.name, &own.about));
        let items = known.commands.iter().map(|(name, about)| (name, about)).chain(own).map(|(name, about)| MenuItem {
            text: format!("/{name} "),
            label: format!("/{name}"),
            about: about.clone(),
        });
        return made(typed, items.collect(), 0..cursor, MenuKind::Commands);
    }
    if let Some(typed) = before.strip_prefix("/resume ") {
        let items = known.sessions.iter().map(|(id, about)| MenuItem {
            text: id.clone(),
            label: format!("{id}  {about}"),
            about: String::new(),
        });
        // One that is named needs no menu.
        let is_named = known.sessions.iter().any(|(id, _)| id == typed.trim());
        let place = before.len() - typed.len()..cursor;
        return if is_named { None } else { made(typed.trim(), items.collect(), place, MenuKind::Sessions) };
    }
    if let Some(typed) = before.strip_prefix("/undo ").filter(|typed| is_of_point(typed)) {
        let items = known.points.iter().map(|(number, about)| MenuItem {
            text: number.clone(),
            label: format!("{number}  {about}"),
            about: String::new(),
        });
        let is_named = known.points.iter().any(|(number, _)| number == typed.trim());
        let place = before.len() - typed.len()..cursor;
        return if is_named { None } else { made(typed.trim(), items.collect(), place, MenuKind::Points) };
    }
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    if let Some(typed) = before[start..].strip_prefix('@') {
        let items = known.files.iter().map(|file| MenuItem {
            text: format!("@{} ", quoted(file)),
            label: file.clone(),
            about: String::new(),
        });
        return made(typed, items.collect(), start..cursor, MenuKind::Files);
    }
    of_call(before, known)
}

/// Says whether what is typed behind `/undo` may mean a message: no number of a change set and no flag.
fn is_of_point(typed: &str) -> bool {
    !typed.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// Completes a call: the name of a tool, a parameter, a value.
fn of_call(before: &str, known: &CompletionNames) -> Option<Menu> {
    let (words, _) = words(before);
    let first = words.first()?;
    let ends_in_word = words.last().is_some_and(|word| word.bytes.end == before.len());
    if words.len() == 1 && ends_in_word {
        // Where a model is, most first words are those of a sentence.
        let is_wanted = !known.has_model && first.bytes.start == 0;
        let items = known.tools.iter().map(|tool| MenuItem {
            text: format!("{} ", tool.name),
            label: tool.name.clone(),
            about: tool.summary.clone(),
        });
        return if is_wanted { made(&first.text, items.collect(), first.bytes.clone(), MenuKind::Tools) } else { None };
    }
    let tool = known.tools.iter().find(|tool| tool.name == first.text)?;
    let (typed, place) = match words.last() {
        Some(word) if ends_in_word => (word.text.as_str(), word.bytes.clone()),
        _ => ("", before.len()..before.len()),
    };
    match pair(typed) {
        Some((key, value)) => of_value(tool.parameter(key)?, value, place, known),
        None => {
            let is_given = |name: &str| words.iter().any(|word| pair(&word.text).is_some_and(|(key, _)| key == name));
            let free = tool.parameters.iter().filter(|parameter| !is_given(&parameter.name));
            let items = free.map(|parameter| MenuItem {
                text: format!("{}=", parameter.name),
                label: parameter.name.clone(),
                about: match parameter.is_required {
                    true => format!("{} (required)", parameter.about),
                    false => parameter.about.clone(),
                },
            });
            // A value alone is fine too: it is that of the first parameter.
            let items: Vec<MenuItem> = items.filter(|item| item.label.starts_with(typed)).collect();
            made(typed, items, place, MenuKind::Arguments)
        }
    }
}

fn of_value(parameter: &ParameterFacts, value: &str, place: Range<usize>, known: &CompletionNames) -> Option<Menu> {
    let item = |text: &String| MenuItem {
        text: format!("{}={} ", parameter.name, quoted(text)),
        label: text.clone(),
        about: String::new(),
    };
    let items: Vec<MenuItem> = match parameter.takes {
        Takes::Path => known.files.iter().map(item).collect(),
        _ => parameter.takes.choices().iter().map(item).collect(),
    };
    // A complete value needs no menu.
    let is_whole = items.iter().any(|item| item.label == value);
    if is_whole { None } else { made(value, items, place, MenuKind::Arguments) }
}

fn made(typed: &str, items: Vec<MenuItem>, replaces: Range<usize>, kind: MenuKind) -> Option<Menu> {
    let mut items = ranked(typed, items, |item| &item.label);
    items.truncate(MOST);
    (!items.is_empty()).then_some(Menu { items, selected: 0, replaces, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::drawing::painted::bare;
    use crate::terminal::tool_facts::tests::read_file;

    fn known() -> CompletionNames {
        let command = |name: &str| (name.to_owned(), format!("does {name}"));
        CompletionNames {
            tools: vec![read_file()],
            files: ["Cargo.toml", "src/main.rs", "src/a file.rs"].map(str::to_owned).to_vec(),
            commands: vec![command("undo"), command("model")],
            sessions: vec![
                ("k3f9-q2bx".into(), "just now  fix the tests".into()),
                ("aaaa-bbbb".into(), "other".into()),
            ],
            own: vec![UserCommandFacts { name: "fix".into(), about: "Fixes an issue".into(), takes: None }],
            points: vec![("#2".into(), "just now  and the docs".into()), ("#1".into(), "fix the tests".into())],
            has_model: false,
        }
    }

    /// Chooses the first item, and returns the line then.
    fn completed(line: &str) -> Option<String> {
        let menu = menu(line, line.len(), &known())?;
        Some(format!("{}{}", &line[..menu.replaces.start], menu.chosen()))
    }

    #[test]
    fn each_part_of_a_line_is_completed() {
        for (line, expected) in [
            ("/u", "/undo "),
            ("/mdl", "/model "),
            ("/resume tests", "/resume k3f9-q2bx"),
            ("/fi", "/fix "),
            ("/undo ", "/undo #2"),
            ("/undo tests", "/undo #1"),
            ("look at @main", "look at @src/main.rs "),
            ("look at @afile", "look at @'src/a file.rs' "),
            ("rea", "read_file "),
            ("read_file pa", "read_file path="),
            ("read_file path=Car", "read_file path=Cargo.toml "),
            ("read_file path='src/a f", "read_file path='src/a file.rs' "),
            ("read_file path=x mode=con", "read_file path=x mode=content "),
        ] {
            assert_eq!(completed(line).as_deref(), Some(expected), "{line}");
        }
        for line in
            ["hello there", "read_file limit=3", "", "/nothing", "read_file path=Cargo.toml", "/undo 2", "/undo --turn"]
        {
            assert_eq!(completed(line), None, "{line}");
        }
    }

    #[test]
    fn with_a_model_the_first_word_is_that_of_a_sentence() {
        let known = CompletionNames { has_model: true, ..known() };
        assert_eq!(menu("rea", 3, &known), None);
        assert!(menu("read_file pa", 12, &known).is_some());
    }

    #[test]
    fn a_menu_shows_a_few_rows_around_the_chosen_one() {
        let files = (0..20).map(|number| format!("file{number}.txt")).collect();
        let known = CompletionNames { files, ..known() };
        let mut menu = menu("@file", 5, &known).expect("there are files");
        assert_eq!(menu.rows().len(), SHOWN + 1);
        menu.select(-1);
        let rows: Vec<String> = menu.rows().iter().map(|row| bare(row).into_owned()).collect();
        assert!(rows.last().is_some_and(|row| row.contains("› ")) && rows.len() == SHOWN, "{rows:?}");
    }
}
