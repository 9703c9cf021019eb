//! Reads words: quotes, escapes, and parts that begin with a dollar, a backtick or an angle bracket.
//!
//! One loop reads all text in which the shell expands something. A [`LexerFrame`] says where the loop stops and what
//! quotes do: in a word, between double quotes, in `${…}`, in a here-document, in arithmetic.

use crate::syntax::reader::{SyntaxFault, SyntaxResult, TextPosition, TextReader};
use crate::syntax::{CommandList, Direction, ParameterExpansion, Quoting, WordPart};

/// The bytes at which the text being read stops, and the meaning of quotes in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LexerFrame {
    stops: &'static [u8],
    style: QuoteStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuoteStyle {
    /// All quotes count.
    Bare,
    /// Between double quotes: single quotes are text.
    Inside,
    /// Between double quotes, in a pattern of `${…}`: single quotes count nevertheless.
    Pattern,
    /// In a here-document: no quotes count.
    Document,
}

impl LexerFrame {
    pub(crate) const WORD: LexerFrame = LexerFrame { stops: b" \t\n;&|()<>", style: QuoteStyle::Bare };
    pub(crate) const REGEX: LexerFrame = LexerFrame { stops: b" \t\n()", style: QuoteStyle::Bare };
    pub(crate) const DOCUMENT: LexerFrame = LexerFrame { stops: b"", style: QuoteStyle::Document };
    pub(crate) const ARITHMETIC: LexerFrame = LexerFrame { stops: b"", style: QuoteStyle::Inside };
    const DOUBLE: LexerFrame = LexerFrame { stops: b"\"", style: QuoteStyle::Inside };
    const ROUND: LexerFrame = LexerFrame { stops: b"()", style: QuoteStyle::Bare };
    const SQUARE: LexerFrame = LexerFrame { stops: b"[]", style: QuoteStyle::Bare };

    /// The word in `${x:-word}`.
    pub(crate) fn default_word(quoting: Quoting) -> LexerFrame {
        let style = if quoting == Quoting::Bare { QuoteStyle::Bare } else { QuoteStyle::Inside };
        LexerFrame { stops: b"}", style }
    }

    /// The pattern in `${x#pattern}`.
    pub(crate) fn pattern(quoting: Quoting) -> LexerFrame {
        let style = if quoting == Quoting::Bare { QuoteStyle::Bare } else { QuoteStyle::Pattern };
        LexerFrame { stops: b"}", style }
    }

    /// The pattern in `${x/pattern/text}`.
    pub(crate) fn replaced(quoting: Quoting) -> LexerFrame {
        LexerFrame { stops: b"}/", ..LexerFrame::pattern(quoting) }
    }

    fn quoting(&self) -> Quoting {
        if self.style == QuoteStyle::Bare { Quoting::Bare } else { Quoting::Quoted }
    }
}

/// Collects the parts of a word; neighbouring texts of one kind become one.
#[derive(Default)]
pub(crate) struct WordBuilder(Vec<WordPart>);

impl WordBuilder {
    fn push(&mut self, part: WordPart) {
        match (self.0.last_mut(), part) {
            (Some(WordPart::Text(before, quoting)), WordPart::Text(text, other)) if *quoting == other => {
                before.push_str(&text);
            }
            (_, part) => self.0.push(part),
        }
    }

    fn push_char(&mut self, next: char, quoting: Quoting) {
        match self.0.last_mut() {
            Some(WordPart::Text(text, before)) if *before == quoting => text.push(next),
            _ => self.0.push(WordPart::Text(next.to_string(), quoting)),
        }
    }
}

/// Returns the text of a word that has nothing but text in it.
pub(crate) fn plain_text(parts: &[WordPart]) -> Option<String> {
    let text = |part: &WordPart| match part {
        WordPart::Text(text, _) => Some(text.clone()),
        _ => None,
    };
    parts.iter().map(text).collect()
}

impl TextReader<'_> {
    /// Reads text up to where its frame stops, which is left.
    pub(crate) fn parts(&mut self, frame: &LexerFrame) -> SyntaxResult<Vec<WordPart>> {
        let mut parts = WordBuilder::default();
        while let Some(byte) = self.peek() {
            self.work(1)?;
            match (byte, frame.style) {
                (b'<', QuoteStyle::Bare) if self.take("<(") => {
                    parts.push(WordPart::Process(self.parenthesized()?, Direction::Out));
                }
                (b'>', QuoteStyle::Bare) if self.take(">(") => {
                    parts.push(WordPart::Process(self.parenthesized()?, Direction::In));
                }
                _ if frame.stops.contains(&byte) => break,
                (b'\\', style) => self.escape(style, &mut parts),
                (b'\'', QuoteStyle::Bare | QuoteStyle::Pattern) => parts.push(self.single_quoted()?),
                (b'"', QuoteStyle::Bare | QuoteStyle::Pattern | QuoteStyle::Inside) => {
                    self.double_quoted(&mut parts)?
                }
                (b'$', _) => self.dollar(frame, &mut parts)?,
                (b'`', _) => parts.push(self.backtick(frame)?),
                (b'?' | b'*' | b'+' | b'@' | b'!', QuoteStyle::Bare) if self.is_at_group(frame) => {
                    self.push_next(frame.quoting(), &mut parts);
                    self.nested(|reader| reader.pattern_group(&mut parts.0))?;
                }
                _ => self.push_next(frame.quoting(), &mut parts),
            }
        }
        Ok(parts.0)
    }

    fn push_next(&mut self, quoting: Quoting, parts: &mut WordBuilder) {
        self.next_char().into_iter().for_each(|next| parts.push_char(next, quoting));
    }

    /// Goes behind a backslash and what it escapes.
    fn escape(&mut self, style: QuoteStyle, parts: &mut WordBuilder) {
        self.at += 1;
        let escaped: &[u8] = match style {
            QuoteStyle::Bare => return self.escape_bare(parts),
            QuoteStyle::Inside | QuoteStyle::Pattern => b"$`\"\\}",
            QuoteStyle::Document => b"$`\\",
        };
        match self.bytes_from(self.at).first() {
            Some(byte) if escaped.contains(byte) => self.push_next(Quoting::Quoted, parts),
            _ => parts.push_char('\\', Quoting::Quoted),
        }
    }

    fn escape_bare(&mut self, parts: &mut WordBuilder) {
        let next = self.next_char().unwrap_or('\\');
        parts.push_char(next, Quoting::Quoted);
    }

    fn single_quoted(&mut self) -> SyntaxResult<WordPart> {
        let start = self.at + 1;
        let rest = self.bytes_from(start);
        let length = rest.iter().position(|byte| *byte == b'\'').ok_or(SyntaxFault("a quote is not closed"))?;
        self.work(length)?;
        self.at = start + length + 1;
        Ok(WordPart::Text(self.slice(start..start + length).to_owned(), Quoting::Quoted))
    }

    fn double_quoted(&mut self, parts: &mut WordBuilder) -> SyntaxResult<()> {
        self.at += 1;
        let inside = self.nested(|reader| reader.parts(&LexerFrame::DOUBLE))?;
        self.expect("\"", "a quote is not closed")?;
        if inside.is_empty() {
            parts.push(WordPart::Text(String::new(), Quoting::Quoted));
        }
        inside.into_iter().for_each(|part| parts.push(part));
        Ok(())
    }

    /// Returns whether `(` follows, and it is not that of a function.
    fn is_at_group(&self, frame: &LexerFrame) -> bool {
        let rest = self.bytes_from(self.at + 1);
        frame.stops.contains(&b'(') && rest.starts_with(b"(") && !rest.starts_with(b"()")
    }

    /// Reads `(a|b)` behind `@` and its kin, or in a regular expression.
    pub(crate) fn pattern_group(&mut self, parts: &mut Vec<WordPart>) -> SyntaxResult<()> {
        self.balanced(b')', &LexerFrame::ROUND, parts)
    }

    /// Reads `[…]` behind the name of a variable, up to the bracket that closes it.
    pub(crate) fn subscript(&mut self) -> SyntaxResult<Vec<WordPart>> {
        let mut parts = Vec::new();
        self.nested(|reader| reader.balanced(b']', &LexerFrame::SQUARE, &mut parts))?;
        Ok(parts)
    }

    fn balanced(&mut self, close: u8, frame: &LexerFrame, parts: &mut Vec<WordPart>) -> SyntaxResult<()> {
        let mut all = WordBuilder(std::mem::take(parts));
        let mut open = 0_usize;
        loop {
            self.parts(frame)?.into_iter().for_each(|part| all.push(part));
            match self.peek() {
                Some(byte) if byte == close => open -= 1,
                Some(_) => open += 1,
                None => return Err(SyntaxFault("a pattern or an index is not closed")),
            }
            self.push_next(Quoting::Bare, &mut all);
            if open == 0 {
                *parts = all.0;
                return Ok(());
            }
        }
    }

    fn dollar(&mut self, frame: &LexerFrame, parts: &mut WordBuilder) -> SyntaxResult<()> {
        let quoting = frame.quoting();
        let has_quotes = matches!(frame.style, QuoteStyle::Bare | QuoteStyle::Pattern);
        if self.is_at("$((")
            && let Some(part) = self.arithmetic_expansion()?
        {
            parts.push(part);
        } else if self.take("$(") {
            parts.push(WordPart::Substitution(self.parenthesized()?, quoting));
        } else if self.take("${") {
            parts.push(self.nested(|reader| reader.braced_parameter(quoting))?);
        } else if self.is_at("$[") {
            parts.push(self.old_arithmetic()?);
        } else if has_quotes && self.take("$'") {
            parts.push(self.ansi_quoted()?);
        } else if has_quotes && self.is_at("$\"") {
            self.take("$");
            self.double_quoted(parts)?;
        } else {
            self.at += 1;
            match self.short_parameter() {
                Some(name) => {
                    parts.push(WordPart::Parameter(ParameterExpansion::plain(&name), quoting));
                }
                None => parts.push_char('$', quoting),
            }
        }
        Ok(())
    }

    /// Reads a name behind `$`: a variable, one digit, or a special parameter.
    fn short_parameter(&mut self) -> Option<String> {
        let name = self.name();
        if !name.is_empty() {
            return Some(name);
        }
        let byte = self.peek().filter(|byte| byte.is_ascii_digit() || b"@*#?-$!".contains(byte))?;
        self.at += 1;
        Some(char::from(byte).to_string())
    }

    /// Reads a substitution in backticks: its text loses one layer of backslashes before it is read.
    fn backtick(&mut self, frame: &LexerFrame) -> SyntaxResult<WordPart> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.next_char().ok_or(SyntaxFault("a backtick is not closed"))? {
                '`' => break,
                '\\' => {
                    let next = self.next_char().ok_or(SyntaxFault("a backtick is not closed"))?;
                    let is_escaped = "$`\\".contains(next) || (next == '"' && frame.style == QuoteStyle::Inside);
                    text.extend((!is_escaped).then_some('\\'));
                    text.push(next);
                }
                next => text.push(next),
            }
        }
        self.work(self.at - start)?;
        let span = self.span(start..self.at);
        let is_unchanged = text.len() + 2 == self.at - start;
        let place = match (&self.place, is_unchanged) {
            (TextPosition::At(_), true) => TextPosition::At(span.start + 1),
            _ => TextPosition::Within(span),
        };
        let script: CommandList = self.backticks(&text, place)?;
        Ok(WordPart::Substitution(script, frame.quoting()))
    }
}
