//! How a page of a text looks to the model: line numbers, the text around the lines, and the words at its end.
//!
//! haft must know the style while it makes a page, because a page ends where a result is full.

/// How pages look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageStyle {
    /// How lines are numbered.
    pub numbers: LineNumbers,
    /// What stands before the first line.
    pub before: String,
    /// What stands behind the last words.
    pub after: String,
    /// What marks a line that was cut; nothing for words that count what is left out.
    pub cut: Option<String>,
    /// The words where the text goes on, and where it ends; nothing for the usual ones in brackets.
    pub ends: Option<PageEnds>,
    /// What stands in the place of one of several files that is not text: `{what}`; nothing where that is an error.
    pub binary: Option<String>,
    /// How the rest of a long output is read: `{id}`, `{line}` from 1, `{line0}` from 0.
    pub rest: String,
    /// How the rest of a document of the web is read: `{line}` from 1.
    pub document_rest: String,
    /// Which arguments results may name.
    pub arguments: ContinuationArguments,
}

/// The arguments that a result may name to show how to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinuationArguments {
    /// All that haft has.
    Own,
    /// Those that another system has too; not `ignored`, `column`, and `offset` of a search.
    Shared,
}

/// The words at the end of a page: `{first}`, `{last}`, `{next}` from 1, `{next0}` from 0, `{total}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEnds {
    /// Where the text goes on.
    pub more: String,
    /// Where the text ends.
    pub end: String,
}

/// How lines are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineNumbers {
    /// Six places and a tab.
    SixAndTab,
    /// Five digits with zeros before them, and a bar.
    FiveZeros,
    /// As wide as the last one of the page, and a bar.
    Aligned,
    /// Not at all.
    None,
}

impl Default for PageStyle {
    fn default() -> Self {
        Self {
            numbers: LineNumbers::SixAndTab,
            before: String::new(),
            after: String::new(),
            cut: None,
            ends: None,
            binary: None,
            rest: "path=\"spill:{id}\", go on with offset={line}".to_owned(),
            document_rest: "go on with offset={line}".to_owned(),
            arguments: ContinuationArguments::Own,
        }
    }
}

impl PageStyle {
    /// Writes what stands before a line; `last` is the last line of the page.
    pub fn number(&self, number: u64, last: u64) -> String {
        match self.numbers {
            LineNumbers::SixAndTab => format!("{number:>6}\t"),
            LineNumbers::FiveZeros => format!("{number:05}| "),
            LineNumbers::Aligned => format!("{number:>width$}| ", width = last.to_string().len()),
            LineNumbers::None => String::new(),
        }
    }

    /// Says how the rest of a kept output is read, from this line on.
    pub fn rest_of(&self, id: &str, line: usize) -> String {
        let rest = self.rest.replace("{line0}", &line.saturating_sub(1).to_string());
        rest.replace("{line}", &line.to_string()).replace("{id}", id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_numbering_is_as_its_system_has_it() {
        let numbered = |numbers| PageStyle { numbers, ..PageStyle::default() }.number(7, 12);
        assert_eq!(numbered(LineNumbers::SixAndTab), "     7\t");
        assert_eq!(numbered(LineNumbers::FiveZeros), "00007| ");
        assert_eq!(numbered(LineNumbers::Aligned), " 7| ");
        assert_eq!(numbered(LineNumbers::None), "");
    }

    #[test]
    fn the_rest_of_an_output_is_named_in_the_count_of_the_reader() {
        let style = PageStyle { rest: "{id} {line} {line0}".into(), ..PageStyle::default() };
        assert_eq!(style.rest_of("a", 3), "a 3 2");
    }
}
