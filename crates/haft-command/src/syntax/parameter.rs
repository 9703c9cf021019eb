//! Reads `${…}` in all its forms.

use crate::syntax::reader::{SyntaxFault, SyntaxResult, TextReader};
use crate::syntax::word::{LexerFrame, plain_text};
use crate::syntax::{Edit, MatchLength, ParameterExpansion, ParameterOperation, Quoting, Word, WordPart, tilde};

impl TextReader<'_> {
    /// Reads to the brace that closes it; `${` is behind us.
    pub(crate) fn braced_parameter(&mut self, quoting: Quoting) -> SyntaxResult<WordPart> {
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            return self.command_in_braces(quoting);
        }
        let parameter = self.parameter(quoting)?;
        self.expect("}", "a ${ is not closed")?;
        Ok(WordPart::Parameter(parameter, quoting))
    }

    /// Reads `${ command; }` and `${| command; }`, which newer shells run.
    fn command_in_braces(&mut self, quoting: Quoting) -> SyntaxResult<WordPart> {
        let _ = self.take("|");
        let script = self.enclosed(Self::script)?;
        self.expect_closing_brace()?;
        Ok(WordPart::Substitution(script, quoting))
    }

    fn expect_closing_brace(&mut self) -> SyntaxResult<()> {
        self.skip_lines()?;
        self.expect("}", "a ${ is not closed")
    }

    fn parameter(&mut self, quoting: Quoting) -> SyntaxResult<ParameterExpansion> {
        let start = self.at;
        if self.take("#") {
            let name = self.parameter_name();
            let index = self.index()?;
            if !name.is_empty() && self.peek() == Some(b'}') {
                return Ok(with_index(name, ParameterOperation::Length, index));
            }
        }
        self.at = start;
        if self.take("!") {
            let name = self.parameter_name();
            if !name.is_empty() && self.peek() == Some(b'}') {
                return Ok(ParameterExpansion {
                    name,
                    index: None,
                    operation: ParameterOperation::Indirect,
                    is_joined: false,
                });
            }
            if !name.is_empty() {
                let operation = self.indirect(quoting)?;
                return Ok(ParameterExpansion { name, index: None, operation, is_joined: false });
            }
        }
        self.at = start;
        let name = self.parameter_name();
        if name.is_empty() {
            let operation = ParameterOperation::Strange(vec![self.rest(quoting)?]);
            return Ok(ParameterExpansion { name, index: None, operation, is_joined: false });
        }
        let index = self.index()?;
        let operation = self.operation(quoting, &index)?;
        Ok(with_index(name, operation, index))
    }

    /// Reads what stands behind `${!name`.
    fn indirect(&mut self, quoting: Quoting) -> SyntaxResult<ParameterOperation> {
        let start = self.at;
        if self.index()?.is_some_and(|index| is_every(&index)) && self.peek() == Some(b'}') {
            return Ok(ParameterOperation::Keys);
        }
        self.at = start;
        Ok(ParameterOperation::Strange(vec![self.rest(quoting)?]))
    }

    fn parameter_name(&mut self) -> String {
        let mut name = self.name();
        if name.is_empty() {
            while let Some(digit @ b'0'..=b'9') = self.peek() {
                name.push(char::from(digit));
                self.at += 1;
            }
        }
        if name.is_empty()
            && let Some(byte) = self.peek().filter(|byte| b"@*#?-$!".contains(byte))
        {
            name.push(char::from(byte));
            self.at += 1;
        }
        name
    }

    /// Reads `[…]`, where it stands here.
    pub(crate) fn index(&mut self) -> SyntaxResult<Option<Word>> {
        let start = self.at;
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        let parts = self.subscript()?;
        Ok(Some(Word { parts, span: self.span(start..self.at) }))
    }

    fn operation(&mut self, quoting: Quoting, index: &Option<Word>) -> SyntaxResult<ParameterOperation> {
        let is_colon = self.take(":");
        let Some(byte) = self.peek() else { return Err(SyntaxFault("a ${ is not closed")) };
        match byte {
            b'}' if !is_colon => Ok(index.as_ref().map_or(ParameterOperation::Plain, of_index)),
            b'-' => Ok(ParameterOperation::Default(self.default_word(quoting)?)),
            b'=' => Ok(ParameterOperation::Assigned(self.default_word(quoting)?)),
            b'+' => Ok(ParameterOperation::Alternative(self.default_word(quoting)?)),
            b'?' => {
                let word = self.default_word(quoting)?;
                let is_plain = plain_text(&word.parts).is_some();
                Ok(if is_plain { ParameterOperation::Required } else { ParameterOperation::Strange(vec![word]) })
            }
            _ if is_colon => self.slice_operation(quoting, index),
            b'#' | b'%' | b'^' | b',' | b'~' => {
                self.at += 1;
                let reach = if self.peek() == Some(byte) { MatchLength::Most } else { MatchLength::Least };
                self.at += usize::from(reach == MatchLength::Most);
                let edit = match byte {
                    b'#' => Edit::CutBeginning(reach),
                    b'%' => Edit::CutEnd(reach),
                    _ => Edit::Other,
                };
                Ok(ParameterOperation::Edited(edit, vec![self.framed(&LexerFrame::pattern(quoting))?]))
            }
            b'/' => self.replacement(quoting),
            b'@' if self.take("@P") => Ok(ParameterOperation::Prompt),
            _ => Ok(ParameterOperation::Strange(vec![self.rest(quoting)?])),
        }
    }

    fn replacement(&mut self, quoting: Quoting) -> SyntaxResult<ParameterOperation> {
        self.at += 1;
        let edit = match self.peek() {
            Some(b'/') => Edit::Replace(MatchLength::Most),
            Some(b'#' | b'%') => Edit::Other,
            _ => Edit::Replace(MatchLength::Least),
        };
        self.at += usize::from(edit != Edit::Replace(MatchLength::Least));
        let mut words = vec![self.framed(&LexerFrame::replaced(quoting))?];
        if self.take("/") {
            words.push(self.framed(&LexerFrame::pattern(quoting))?);
        }
        Ok(ParameterOperation::Edited(edit, words))
    }

    fn slice_operation(&mut self, quoting: Quoting, index: &Option<Word>) -> SyntaxResult<ParameterOperation> {
        let word = self.rest(quoting)?;
        let text = plain_text(&word.parts).unwrap_or_else(|| "?".to_owned());
        let number = |text: &str| match text.trim_matches([' ', '\t', '\n', '(', ')']) {
            "" => Some(0),
            text => text.parse().ok(),
        };
        let (from, length) = match text.split_once(':') {
            Some((from, length)) => (number(from), number(length).map(Some)),
            None => (number(&text), Some(None)),
        };
        Ok(match (from, length) {
            (Some(from), Some(length)) => match index.as_ref().filter(|index| !is_every(index)) {
                Some(index) => ParameterOperation::Element(index.clone()),
                None => ParameterOperation::Slice(from, length),
            },
            _ => ParameterOperation::Strange(vec![word]),
        })
    }

    fn default_word(&mut self, quoting: Quoting) -> SyntaxResult<Word> {
        self.at += 1;
        let word = self.rest(quoting)?;
        match quoting {
            Quoting::Bare => Ok(Word { parts: tilde::find(word.parts), span: word.span }),
            Quoting::Quoted => Ok(word),
        }
    }

    /// Reads whatever stands before the closing brace.
    fn rest(&mut self, quoting: Quoting) -> SyntaxResult<Word> {
        self.framed(&LexerFrame::default_word(quoting))
    }

    fn framed(&mut self, frame: &LexerFrame) -> SyntaxResult<Word> {
        let start = self.at;
        let parts = self.parts(frame)?;
        Ok(Word { parts, span: self.span(start..self.at) })
    }
}

/// `[@]` and `[*]`.
fn is_every(index: &Word) -> bool {
    let text = plain_text(&index.parts);
    text.is_some_and(|text| matches!(text.trim_matches(['[', ']']), "@" | "*"))
}

fn of_index(index: &Word) -> ParameterOperation {
    if is_every(index) { ParameterOperation::Elements } else { ParameterOperation::Element(index.clone()) }
}

/// Keeps an index, with which bash computes whatever is done with the value.
fn with_index(name: String, operation: ParameterOperation, index: Option<Word>) -> ParameterExpansion {
    let says_index = matches!(operation, ParameterOperation::Element(_));
    let is_star = |index: &Word| plain_text(&index.parts).is_some_and(|text| text.trim_matches(['[', ']']) == "*");
    let is_joined = name == "*" || index.as_ref().is_some_and(is_star);
    let index = index.filter(|index| !says_index && !is_every(index));
    ParameterExpansion { name, index, operation, is_joined }
}
