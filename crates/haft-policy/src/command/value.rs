//! The value of a word, as far as it can be known before the command runs.

/// A word after expansion: known text with gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value {
    pieces: Vec<Piece>,
}

/// A piece of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// Names that a pattern finds: any text without a slash.
    Glob,
    /// Some number: neither a flag, nor a path, nor text for another program.
    Number,
    /// Anything.
    Unknown,
    /// Text that came from somewhere else.
    Foreign(Origin),
}

/// Where foreign text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// From the network.
    Network,
    /// From another form: it was encoded.
    Decoded,
}

impl Piece {
    /// Returns how many bytes of text it has.
    pub(super) fn length(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Glob | Piece::Number | Piece::Unknown | Piece::Foreign(_) => 1,
        }
    }
}

impl Value {
    /// A value that is wholly known.
    pub fn text(text: impl Into<String>) -> Self {
        let mut value = Self::default();
        value.push(Piece::Text(text.into()));
        value
    }

    /// A value of which nothing is known.
    pub fn unknown() -> Self {
        Self { pieces: vec![Piece::Unknown] }
    }

    /// Words of which not even their number is known: each place that a word may have, and one behind it.
    pub fn any_words() -> Vec<Self> {
        vec![Self::unknown(), Self::unknown()]
    }

    /// A value of which only this is known: it is a number.
    pub fn number() -> Self {
        Self { pieces: vec![Piece::Number] }
    }

    /// Adds a piece at the end; neighbouring texts become one.
    pub fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (Some(Piece::Unknown), Piece::Unknown) | (Some(Piece::Glob), Piece::Glob) => {}
            (Some(Piece::Number), Piece::Number) => {}
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// Adds another value at the end.
    pub fn append(&mut self, other: &Value) {
        other.pieces.iter().cloned().for_each(|piece| self.push(piece));
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the text when all of it is known.
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the known text at the beginning; empty when it begins with a gap.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns whether a part of it can be anything.
    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Unknown | Piece::Foreign(_)))
    }

    /// Returns whether it may begin with anything, also as an option does.
    pub fn begins_with_gap(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Unknown | Piece::Foreign(_)))
    }

    /// Returns whether it may be several words: the names that a pattern finds.
    pub fn may_be_several(&self) -> bool {
        self.pieces.contains(&Piece::Glob)
    }

    /// Returns it with names that a pattern finds as gaps.
    pub fn without_names(&self) -> Value {
        let mut value = Value::default();
        let gap = |piece: &Piece| if *piece == Piece::Glob { Piece::Unknown } else { piece.clone() };
        self.pieces.iter().map(gap).for_each(|piece| value.push(piece));
        value
    }

    /// Returns where it came from, when some of it is foreign.
    pub fn origin(&self) -> Option<Origin> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Foreign(origin) => Some(*origin),
            Piece::Text(_) | Piece::Glob | Piece::Number | Piece::Unknown => None,
        })
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns what is left behind a known beginning.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Value> {
        let rest = self.prefix().strip_prefix(prefix)?;
        let mut value = Value::text(rest);
        self.pieces.iter().skip(1).cloned().for_each(|piece| value.push(piece));
        Some(value)
    }

    /// Returns it for people: gaps are shown as `*` and `…`.
    pub fn shown(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Glob => "*".to_owned(),
            Piece::Number | Piece::Unknown | Piece::Foreign(_) => "…".to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::text(text)
    }
}
