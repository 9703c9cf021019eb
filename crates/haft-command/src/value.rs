//! The value of a word, as far as haft can know it before the command runs.

/// A word after expansion: known text with gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShellValue {
    pieces: Vec<ValuePiece>,
}

/// A piece of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValuePiece {
    /// Known text.
    Text(String),
    /// Names that a pattern finds: any text without a slash.
    Glob,
    /// Some number: neither a flag, nor a path, nor text for another program.
    Number,
    /// Anything.
    Unknown,
    /// Text that came from somewhere else.
    Foreign(ForeignOrigin),
}

/// Where foreign text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignOrigin {
    /// From the network.
    Network,
    /// From another form: it was encoded.
    Decoded,
}

impl ValuePiece {
    /// Returns how many bytes of text it has.
    pub(crate) fn length(&self) -> usize {
        match self {
            ValuePiece::Text(text) => text.len(),
            ValuePiece::Glob | ValuePiece::Number | ValuePiece::Unknown | ValuePiece::Foreign(_) => 1,
        }
    }
}

impl ShellValue {
    /// A value that is wholly known.
    pub fn text(text: impl Into<String>) -> Self {
        let mut value = Self::default();
        value.push(ValuePiece::Text(text.into()));
        value
    }

    /// A value of which nothing is known.
    pub fn unknown() -> Self {
        Self { pieces: vec![ValuePiece::Unknown] }
    }

    /// Words of which not even their number is known: each place that a word may have, and one behind it.
    pub fn any_words() -> Vec<Self> {
        vec![Self::unknown(), Self::unknown()]
    }

    /// A value of which only this is known: it is a number.
    pub fn number() -> Self {
        Self { pieces: vec![ValuePiece::Number] }
    }

    /// Adds a piece at the end; neighbouring texts become one.
    pub fn push(&mut self, piece: ValuePiece) {
        match (self.pieces.last_mut(), piece) {
            (_, ValuePiece::Text(text)) if text.is_empty() => {}
            (Some(ValuePiece::Text(before)), ValuePiece::Text(text)) => before.push_str(&text),
            (Some(ValuePiece::Unknown), ValuePiece::Unknown) | (Some(ValuePiece::Glob), ValuePiece::Glob) => {}
            (Some(ValuePiece::Number), ValuePiece::Number) => {}
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Adds another value at the end.
    pub fn append(&mut self, other: &ShellValue) {
        other.pieces.iter().cloned().for_each(|piece| self.push(piece));
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> &[ValuePiece] {
        &self.pieces
    }

    /// Returns the text when all of it is known.
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [ValuePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the known text at the beginning; empty when it begins with a gap.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(ValuePiece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns whether a part of it can be anything.
    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, ValuePiece::Unknown | ValuePiece::Foreign(_)))
    }

    /// Returns whether it may begin with anything, also as an option does.
    pub fn begins_with_gap(&self) -> bool {
        matches!(self.pieces.first(), Some(ValuePiece::Unknown | ValuePiece::Foreign(_)))
    }

    /// Returns whether it may be several words: the names that a pattern finds.
    pub fn may_be_several(&self) -> bool {
        self.pieces.contains(&ValuePiece::Glob)
    }

    /// Returns it with names that a pattern finds as gaps.
    pub fn without_names(&self) -> ShellValue {
        let mut value = ShellValue::default();
        let gap = |piece: &ValuePiece| if *piece == ValuePiece::Glob { ValuePiece::Unknown } else { piece.clone() };
        self.pieces.iter().map(gap).for_each(|piece| value.push(piece));
        value
    }

    /// Returns where it came from, when some of it is foreign.
    pub fn origin(&self) -> Option<ForeignOrigin> {
        self.pieces.iter().find_map(|piece| match piece {
            ValuePiece::Foreign(origin) => Some(*origin),
            ValuePiece::Text(_) | ValuePiece::Glob | ValuePiece::Number | ValuePiece::Unknown => None,
        })
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns what is left behind a known beginning.
    pub fn strip_prefix(&self, prefix: &str) -> Option<ShellValue> {
        let rest = self.prefix().strip_prefix(prefix)?;
        let mut value = ShellValue::text(rest);
        self.pieces.iter().skip(1).cloned().for_each(|piece| value.push(piece));
        Some(value)
    }

    /// Returns it for people: gaps are shown as `*` and `…`.
    pub fn shown(&self) -> String {
        let piece = |piece: &ValuePiece| match piece {
            ValuePiece::Text(text) => text.clone(),
            ValuePiece::Glob => "*".to_owned(),
            ValuePiece::Number | ValuePiece::Unknown | ValuePiece::Foreign(_) => "…".to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl From<&str> for ShellValue {
    fn from(text: &str) -> Self {
        ShellValue::text(text)
    }
}
