//! Damage to invisible characters: blanks at line ends, indentation, line ends, and the work of formatters.

use super::super::block::{BlockEdit, TextTail, sent};
use super::super::dice::Dice;
use super::super::{Case, Class, SentReplacement, Truth};
use super::{case, truth};

/// Adds blanks at line ends, in the file or in the call.
pub fn trailing_blanks(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let is_alone = block.is_alone();
    let tail = block.tail(dice);
    let mut damaged = block.old().to_vec();
    // Blanks at the very end of an open block are no damage: what is sent still occurs as it is.
    let last = damaged.len() - usize::from(tail == TextTail::Open);
    let at = dice.below(last);
    for (index, line) in damaged.iter_mut().enumerate() {
        if index == at || (index < last && dice.once_in(3)) {
            line.push_str(dice.pick(&[" ", "\t", "   ", "    \t"])?);
        }
    }
    if last == 0 {
        return None;
    }
    let new = sent(&block.new, tail);
    let old = if dice.once_in(2) {
        sent(&damaged, tail)
    } else {
        let old = sent(block.old(), tail);
        block.lines.splice(block.range.clone(), damaged);
        old
    };
    let after = block.after();
    let truth = if is_alone { Truth::Becomes(after) } else { Truth::RefusedOrLike(after) };
    let is_gone = !block.before().contains(&old);
    is_gone.then(|| case(Class::TrailingBlanks, &block, vec![SentReplacement { old, new }], truth))
}

/// Shifts old and new text together, or writes tabs for spaces and the other way round.
pub fn indentation(dice: &mut Dice, block: &BlockEdit) -> Option<Case> {
    let change = match dice.below(4) {
        0 => Shift::Out(shared_indentation(block)?),
        1 => Shift::In((*dice.pick(&["  ", "    ", "\t"])?).to_owned()),
        2 => Shift::ToSpaces(*dice.pick(&[2, 4, 8])?),
        _ => Shift::ToTabs(*dice.pick(&[2, 4])?),
    };
    let old: Option<Vec<String>> = block.old().iter().map(|line| change.apply(line)).collect();
    let new: Option<Vec<String>> = block.new.iter().map(|line| change.apply(line)).collect();
    let (old, new) = (old?, new?);
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(&old, tail), new: sent(&new, tail) };
    let is_damaged = old != block.old() && !block.before().contains(&edit.old);
    is_damaged.then(|| case(Class::Indentation, block, vec![edit], truth(block)))
}

enum Shift {
    Out(String),
    In(String),
    ToSpaces(usize),
    ToTabs(usize),
}

impl Shift {
    /// Returns the line as it would be sent; nothing when the shift cannot be undone on it.
    fn apply(&self, line: &str) -> Option<String> {
        let rest = line.trim_start();
        let blanks = &line[..line.len() - rest.len()];
        if rest.is_empty() {
            return Some(line.to_owned());
        }
        let indentation = match self {
            Shift::Out(prefix) => blanks.strip_prefix(prefix.as_str())?.to_owned(),
            Shift::In(prefix) => format!("{prefix}{blanks}"),
            Shift::ToSpaces(width) => {
                blanks.chars().all(|blank| blank == '\t').then(|| " ".repeat(width * blanks.len()))?
            }
            Shift::ToTabs(width) => {
                let fits = blanks.chars().all(|blank| blank == ' ') && blanks.len().is_multiple_of(*width);
                fits.then(|| "\t".repeat(blanks.len() / width))?
            }
        };
        Some(format!("{indentation}{rest}"))
    }
}

/// Adds a line one level deeper, and sends all levels as tabs for spaces or the other way round, perhaps without the
/// outer ones.
pub fn nested(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let blanks = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let depths = block.lines.iter().filter(|line| !line.trim().is_empty()).map(|line| blanks(line));
    let unit = depths.filter(|blanks| blanks.len() > 1 || blanks == "\t").min_by_key(String::len)?;
    let at = dice.below(block.old().len());
    let mut new = block.old().to_vec();
    new.insert(at + 1, format!("{}{unit}nested line", blanks(&new[at])));
    block.new = new;
    let sent_unit = if unit == "\t" { " ".repeat(*dice.pick(&[2, 4, 8])?) } else { "\t".to_owned() };
    let level = |line: &String| {
        let blanks = blanks(line);
        let levels = blanks.len() / unit.len();
        (unit.repeat(levels) == blanks).then_some(levels)
    };
    let levels: Option<Vec<usize>> =
        block.old().iter().chain(&block.new).filter(|line| !line.trim().is_empty()).map(level).collect();
    let outer = dice.below(levels?.into_iter().min()? + 1);
    let written = |line: &String, unit: &str| match level(line).filter(|_| !line.is_empty()) {
        Some(levels) => format!("{}{}", unit.repeat(levels.saturating_sub(outer)), line.trim_start()),
        None => line.clone(),
    };
    // A block without its outer levels may be another block of the file as it is: then the call says that one.
    let without_outer: Vec<String> = block.old().iter().map(|line| written(line, &unit)).collect();
    if outer > 0 && block.lines.windows(without_outer.len()).any(|lines| lines == without_outer) {
        return None;
    }
    let apply = |line: &String| written(line, &sent_unit);
    let (old, new): (Vec<String>, Vec<String>) =
        (block.old().iter().map(apply).collect(), block.new.iter().map(apply).collect());
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(&old, tail), new: sent(&new, tail) };
    let is_damaged = old != block.old() && !block.before().contains(&edit.old);
    is_damaged.then(|| case(Class::Nested, &block, vec![edit], Truth::RefusedOr(block.after())))
}

fn shared_indentation(block: &BlockEdit) -> Option<String> {
    let lines = block.old().iter().chain(&block.new).filter(|line| !line.trim().is_empty());
    let blanks = |line: &'_ String| line[..line.len() - line.trim_start().len()].to_owned();
    let shared = lines.map(blanks).min_by_key(String::len)?;
    (!shared.is_empty()).then_some(shared)
}

/// Gives file and call different line ends.
pub fn line_ends(dice: &mut Dice, block: &BlockEdit) -> Option<Case> {
    let (before, after) = (block.before(), block.after());
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(block.old(), tail), new: sent(&block.new, tail) };
    if before.matches(&edit.old).count() != 1 || !block.is_alone() {
        return None;
    }
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let (before, edit, after) = match dice.below(4) {
        0 => (crlf(&before), edit, crlf(&after)),
        1 => (before.replace('\n', "\r"), edit, after.replace('\n', "\r")),
        2 => (before, SentReplacement { old: crlf(&edit.old), new: crlf(&edit.new) }, after),
        _ => {
            // Only where every line keeps its place is it plain which end each line shall have.
            (block.new.len() == block.old().len()).then_some(())?;
            let ends: Vec<&str> = block.lines.iter().map(|_| if dice.once_in(2) { "\n" } else { "\r\n" }).collect();
            let mix = |text: &str| text.lines().zip(&ends).map(|(line, end)| format!("{line}{end}")).collect();
            (mix(&before), edit, mix(&after))
        }
    };
    Some(Case { before, ..case(Class::LineEnds, block, vec![edit], Truth::Becomes(after)) })
}

/// Formats the file after it was read, so that the call shows an older state.
pub fn stale(dice: &mut Dice, block: BlockEdit) -> Option<Case> {
    let formats: [fn(&str) -> String; 6] = [
        |line| format!("{}{line}", &line[..line.len() - line.trim_start().len()]),
        |line| Shift::ToTabs(4).apply(line).unwrap_or_else(|| line.to_owned()),
        |line| line.replace('\'', "\""),
        |line| line.replace('"', "'").replace("    ", "  "),
        |line| line.trim_end().trim_end_matches([',', ';']).to_owned(),
        wrapped,
    ];
    let format = *dice.pick(&formats)?;
    let formatted = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| format(line)).collect() };
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(block.old(), tail), new: sent(&block.new, tail) };
    let mut after = block.clone();
    after.lines = formatted(&block.lines);
    after.new = formatted(&block.new);
    let mut before = after.clone();
    before.lines = after.lines.clone();
    let is_changed = before.old() != block.old() && block.is_alone() && before.is_alone();
    let truth = Truth::RefusedOrLike(after.after());
    is_changed.then(|| case(Class::Stale, &before, vec![edit], truth))
}

/// Breaks a long line at its last blank before column 40.
fn wrapped(line: &str) -> String {
    let rest = line.trim_start();
    let blanks = &line[..line.len() - rest.len()];
    let at = line.char_indices().map(|(at, _)| at).take(40).last().unwrap_or(0);
    match line.get(..at).and_then(|head| head.rfind(' ')).filter(|at| *at > blanks.len() && line.len() > 50) {
        Some(at) => format!("{}\n{blanks}    {}", &line[..at], &line[at + 1..]),
        None => line.to_owned(),
    }
}
