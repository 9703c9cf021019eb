//! The history of sent lines: going back through them, and searching them.

/// Most lines that are kept.
const MOST: usize = 1_000;

/// The lines that were sent earlier, and the position of the person in them.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct InputHistory {
    lines: Vec<String>,
    /// Which of them is shown, from the end; nothing while a new line is typed.
    back: Option<usize>,
    /// The new line, while an earlier one is shown.
    draft: String,
}

impl InputHistory {
    /// Keeps a line that was sent.
    pub(in crate::terminal) fn add(&mut self, line: &str) {
        self.back = None;
        if line.trim().is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push(line.to_owned());
        let extra = self.lines.len().saturating_sub(MOST);
        self.lines.drain(..extra);
    }

    /// Returns the line before the one that is shown; the new line is kept meanwhile.
    pub(in crate::terminal) fn older(&mut self, shown: &str) -> Option<String> {
        let next = self.back.map_or(0, |back| back + 1);
        let line = self.lines.iter().rev().nth(next)?.clone();
        if self.back.is_none() {
            shown.clone_into(&mut self.draft);
        }
        self.back = Some(next);
        Some(line)
    }

    /// Returns the line behind the one that is shown; at last the new one.
    pub(in crate::terminal) fn newer(&mut self) -> Option<String> {
        match self.back? {
            0 => {
                self.back = None;
                Some(std::mem::take(&mut self.draft))
            }
            back => {
                self.back = Some(back - 1);
                self.lines.iter().rev().nth(back - 1).cloned()
            }
        }
    }

    /// A line that is typed is a new one.
    pub(in crate::terminal) fn leave(&mut self) {
        self.back = None;
    }

    /// Returns the nth newest line that contains these words, ignoring case.
    pub(in crate::terminal) fn find(&self, words: &str, which: usize) -> Option<&str> {
        let words = words.to_lowercase();
        let mut found = self.lines.iter().rev().filter(|line| line.to_lowercase().contains(&words));
        found.nth(which).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_line_waits_while_earlier_ones_are_shown() {
        let mut history = InputHistory::default();
        ["one", "two", "two", " "].into_iter().for_each(|line| history.add(line));
        assert_eq!(history.older("new").as_deref(), Some("two"));
        assert_eq!(history.older("two").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("new"));
        assert_eq!(history.newer(), None);
        assert_eq!(
            (history.find("O", 0), history.find("o", 1), history.find("x", 0)),
            (Some("two"), Some("one"), None)
        );
    }
}
