//! Combines words with several values into the possible lines of a command, and splits and joins values by `IFS`.

use crate::act::RawEffect;
use crate::interpret::Interpreter;
use crate::syntax::Quoting;
use crate::value::{ShellValue, ValuePiece};

/// How many fields the lines of one command may have where its words have too many values.
pub(crate) const MOST_FIELDS: usize = 50_000;

impl Interpreter<'_> {
    /// Returns the characters at which a value is split, unless it is quoted.
    pub(crate) fn splitting(&mut self, quoting: Quoting) -> Option<String> {
        if quoting != Quoting::Bare {
            return None;
        }
        let values = self.shell.values("IFS").unwrap_or_default();
        if values.len() > 1 {
            self.emit(RawEffect::Unknown("where its words are split is known only when it runs".to_owned()));
        }
        Some(known_text(&values).unwrap_or_else(|| " \t\n".to_owned()))
    }

    /// Returns what `"$*"` is: all values, with the first character of `IFS` between them.
    pub(crate) fn joined(&self, lists: Vec<Vec<ShellValue>>) -> Vec<Vec<ShellValue>> {
        let separators = match self.shell.values("IFS") {
            Some(values) => known_text(&values),
            None => Some(" ".to_owned()),
        };
        let between = separators.map(|separators| separators.chars().take(1).collect::<String>());
        let joined = |list: Vec<ShellValue>| match (&between, list.len()) {
            (_, 0 | 1) => list,
            (None, _) => vec![ShellValue::unknown()],
            (Some(between), _) => {
                let mut text = ShellValue::default();
                for (at, value) in list.iter().enumerate() {
                    if at > 0 {
                        text.push(ValuePiece::Text(between.clone()));
                    }
                    text.append(value);
                }
                vec![text]
            }
        };
        lists.into_iter().map(joined).collect()
    }
}

/// Returns the text of a variable that has one value alone, which is known.
pub(crate) fn known_text(values: &[Vec<ShellValue>]) -> Option<String> {
    match values {
        [list] => list.first().and_then(ShellValue::known).map(str::to_owned),
        _ => None,
    }
}

/// Returns lines for words of too many values: all first ones, all second ones and so on, so that each value is in
/// one; then each word with every value of its own and the others with their first, as far as that is bounded.
pub(crate) fn some_combinations(each: &[Vec<Vec<ShellValue>>]) -> Vec<Vec<ShellValue>> {
    let values_of = |values: &Vec<Vec<ShellValue>>, number: usize| {
        values.get(number).or_else(|| values.first()).cloned().unwrap_or_default()
    };
    let line = |number_of: &dyn Fn(usize) -> usize| -> Vec<ShellValue> {
        each.iter().enumerate().flat_map(|(word, values)| values_of(values, number_of(word))).collect()
    };
    let most_values = each.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines: Vec<Vec<ShellValue>> = (0..most_values).map(|number| line(&|_| number)).collect();
    let own = each.iter().enumerate().flat_map(|(word, values)| (1..values.len()).map(move |number| (word, number)));
    let most = (MOST_FIELDS / each.len().max(1)).max(1);
    lines.extend(own.take(most).map(|(word, number)| line(&|other| if other == word { number } else { 0 })));
    lines
}

pub(crate) fn every_combination(each: &[Vec<Vec<ShellValue>>]) -> Vec<Vec<ShellValue>> {
    let mut lines: Vec<Vec<ShellValue>> = vec![Vec::new()];
    for values in each {
        // Most words have one value; to copy the lines for each of them would take a square of time.
        if let [only] = values.as_slice() {
            lines.iter_mut().for_each(|line| line.extend_from_slice(only));
            continue;
        }
        lines = lines
            .iter()
            .flat_map(|line| values.iter().map(move |value| line.iter().chain(value).cloned().collect()))
            .collect();
    }
    lines
}
