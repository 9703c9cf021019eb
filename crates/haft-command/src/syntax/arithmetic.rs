//! Reads `$((…))`, `$[…]` and `((…))`, for the substitutions in them.
//!
//! `$((` and `((` can also begin a substitution or a subshell with a subshell in it. The shell looks for the two
//! parentheses that close it before it decides; so does this.

use crate::syntax::reader::{SyntaxFault, SyntaxResult, TextReader};
use crate::syntax::word::LexerFrame;
use crate::syntax::{CommandNode, Word, WordPart};

impl TextReader<'_> {
    /// Reads `$((…))`; nothing where it is a substitution.
    pub(crate) fn arithmetic_expansion(&mut self) -> SyntaxResult<Option<WordPart>> {
        let start = self.at;
        self.expect("$", "there is no dollar")?;
        let Some(end) = self.arithmetic_end()? else {
            self.at = start;
            return Ok(None);
        };
        Ok(Some(WordPart::Arithmetic(self.arithmetic_words(end)?)))
    }

    /// Reads `((…))`; nothing where it is a subshell.
    pub(crate) fn arithmetic_command(&mut self) -> SyntaxResult<Option<CommandNode>> {
        match self.arithmetic_end()? {
            Some(end) => Ok(Some(CommandNode::Arithmetic(self.arithmetic_words(end)?))),
            None => Ok(None),
        }
    }

    /// Reads `$[…]`.
    pub(crate) fn old_arithmetic(&mut self) -> SyntaxResult<WordPart> {
        let start = self.at;
        self.expect("$", "there is no dollar")?;
        let parts = self.subscript()?;
        Ok(WordPart::Arithmetic(vec![Word { parts, span: self.span(start..self.at) }]))
    }

    /// Returns where the parentheses begin that close the two which stand here.
    pub(crate) fn arithmetic_end(&mut self) -> SyntaxResult<Option<usize>> {
        let Some(start) = self.end_of("((") else { return Ok(None) };
        let bytes = self.bytes_from(start);
        let (mut at, mut open) = (0, 0_usize);
        let found = loop {
            match bytes.get(at) {
                None => break None,
                Some(b'\\') => at += 1,
                Some(b'$') if bytes.get(at + 1) == Some(&b'\'') => {
                    at += 1 + quoted_length(bytes, at + 1, Escapes::Count)
                }
                Some(b'\'') => at += quoted_length(bytes, at, Escapes::AreText),
                Some(b'"' | b'`') => at += quoted_length(bytes, at, Escapes::Count),
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b')') => break (bytes.get(at + 1) == Some(&b')')).then_some(start + at),
                Some(_) => {}
            }
            at += 1;
        };
        self.work(at.min(bytes.len()))?;
        Ok(found)
    }

    /// Reads what stands between the double parentheses, and goes behind them.
    pub(crate) fn arithmetic_words(&mut self, end: usize) -> SyntaxResult<Vec<Word>> {
        let start = self.end_of("((").ok_or(SyntaxFault("there are no parentheses"))?;
        self.at = start;
        let parts = self.nested(|reader| reader.limited(end, |reader| reader.parts(&LexerFrame::ARITHMETIC)))?;
        self.expect("))", "a parenthesis is not closed")?;
        Ok(vec![Word { parts, span: self.span(start..end) }])
    }
}

/// What a backslash does between quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    Count,
    AreText,
}

/// Returns how far it is to the quote that closes the one which stands at a place.
fn quoted_length(bytes: &[u8], start: usize, escapes: Escapes) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if escapes == Escapes::Count => at += 1,
            byte if bytes.get(start) == Some(byte) => break,
            _ => {}
        }
        at += 1;
    }
    at - start
}
