//! A true edit: a block of lines of a real file, and its replacement.
//!
//! Everything here is true by construction, because it comes from the file itself. The count of places uses brute force
//! on purpose: it must not share a line with the engine that it judges.
//!
//! Not here: the errors of a model (`damage`).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::corpus::SourceFile;
use super::dice::Dice;

/// A block of lines of a file, and the lines that shall replace it.
#[derive(Clone, Debug)]
pub struct BlockEdit {
    /// The name of the file.
    pub name: Arc<str>,
    /// All lines of the file, without line ends.
    pub lines: Vec<String>,
    /// Which of them are the block.
    pub range: Range<usize>,
    /// The lines that shall stand there.
    pub new: Vec<String>,
}

/// Whether a text that is sent ends with a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTail {
    /// It ends with the last line's text.
    Open,
    /// It ends with a line end.
    Closed,
}

impl BlockEdit {
    /// Picks a block of a number of lines and a true change of it; nothing when the dice fell on a bad place.
    pub fn pick(dice: &mut Dice, file: &SourceFile, most_lines: usize) -> Option<Self> {
        let lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
        let height = 1 + dice.below(most_lines);
        let first = dice.below(lines.len().checked_sub(height)?);
        let range = first..first + height;
        let is_blank = |line: Option<&String>| line.is_none_or(|line| line.trim().is_empty());
        let block = lines.get(range.clone())?;
        let letters = block.iter().flat_map(|line| line.chars()).filter(|letter| letter.is_alphanumeric()).count();
        if is_blank(block.first()) || is_blank(block.last()) || letters < 4 {
            return None;
        }
        let new = changed(dice, block)?;
        Some(Self { name: file.name.clone(), lines, range, new })
    }

    /// Returns the lines of the block.
    pub fn old(&self) -> &[String] {
        &self.lines[self.range.clone()]
    }

    /// Returns the file before the edit.
    pub fn before(&self) -> String {
        sent(&self.lines, TextTail::Closed)
    }

    /// Returns the file after the edit.
    pub fn after(&self) -> String {
        let (head, tail) = (&self.lines[..self.range.start], &self.lines[self.range.end..]);
        sent(&[head, &self.new, tail].concat(), TextTail::Closed)
    }

    /// Returns a way to end what is sent that says the same as the true edit.
    pub fn tail(&self, dice: &mut Dice) -> TextTail {
        if self.new.is_empty() || dice.once_in(2) { TextTail::Closed } else { TextTail::Open }
    }

    /// Returns how many places of the file look like these lines when blanks at both ends and typography do not count.
    pub fn places(&self, wanted: &[String]) -> usize {
        let Some(last) = self.lines.len().checked_sub(wanted.len()) else { return 0 };
        let fits = |start: &usize| {
            let lines = &self.lines[*start..start + wanted.len()];
            lines.iter().zip(wanted).all(|(line, wanted)| plain(line) == plain(wanted))
        };
        (0..=last).filter(fits).count()
    }

    /// Returns whether the block is the only place like it, also as a part of lines.
    pub fn is_alone(&self) -> bool {
        self.places(self.old()) == 1 && self.before().matches(&sent(self.old(), TextTail::Open)).count() == 1
    }
}

/// Returns lines as one text.
pub fn sent(lines: &[String], tail: TextTail) -> String {
    let mut text = lines.join("\n");
    if tail == TextTail::Closed && !lines.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns a line without blanks at its ends, in plain typography.
pub fn plain(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line.trim());
    }
    let fold = |letter: char| match letter {
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '–' | '—' | '−' => '-',
        '\u{a0}' | '\u{2009}' => ' ',
        other => other,
    };
    Cow::Owned(line.trim().chars().map(fold).collect())
}

/// Makes a true change: another name, another line, one more, one fewer, none.
fn changed(dice: &mut Dice, block: &[String]) -> Option<Vec<String>> {
    let mut new = block.to_vec();
    let at = dice.below(block.len());
    let indentation: String = block[at].chars().take_while(|letter| letter.is_whitespace()).collect();
    match dice.below(6) {
        0 | 1 => {
            let words = block[at].split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let words: Vec<&str> = words.filter(|word| word.len() > 2 && word.is_ascii()).collect();
            let word = dice.pick(&words)?;
            new = block.iter().map(|line| line.replace(word, &format!("{word}_renamed"))).collect();
        }
        2 if !block[at].trim().is_empty() => new[at] = format!("{indentation}changed line {}", dice.below(1000)),
        2 | 3 => new.insert(at + 1, format!("{indentation}inserted line {}", dice.below(1000))),
        4 => {
            new.remove(at);
        }
        _ => new.push(format!("{}\"quoted\" - inserted", deepest(block))),
    }
    let opens_or_ends_blank = [new.first(), new.last()].into_iter().flatten().any(|line| line.trim().is_empty());
    (new != block && !opens_or_ends_blank).then_some(new)
}

fn deepest(block: &[String]) -> &str {
    let blanks = |line: &'_ String| line.len() - line.trim_start().len();
    block
        .iter()
        .filter(|line| !line.trim().is_empty())
        .max_by_key(|line| blanks(line))
        .map_or("", |line| &line[..blanks(line)])
}
