//! Fills text in which names in braces are placeholders: `Error: {what}`, `out/{name}.html`. `{{` and `}}` are braces.
//!
//! Not here: which names are allowed and what replaces them, which differs for each kind of text.

/// A text with names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InBraces(pub Vec<TemplatePiece>);

/// A piece of a text with names in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// It stands as it is.
    Plain(String),
    /// It stands for something.
    Name(String),
}

/// What to do about a brace that stands alone.
pub(crate) const ALONE: &str = "write {{ or }} for a brace itself";

impl InBraces {
    /// Reads a text, or says that a brace in it stands alone.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let Some((name, after)) = rest.split_once('}').filter(|_| brace == "{") else {
                return Err(format!("a brace in {text:?} stands alone"));
            };
            if !plain.is_empty() {
                pieces.push(TemplatePiece::Plain(std::mem::take(&mut plain)));
            }
            pieces.push(TemplatePiece::Name(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TemplatePiece::Plain(plain));
        }
        Ok(Self(pieces))
    }

    /// Returns the names in it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Name(name) => Some(name.as_str()),
            TemplatePiece::Plain(_) => None,
        })
    }

    /// Returns the name where there is nothing else.
    pub(crate) fn only_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TemplatePiece::Name(name)] => Some(name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_braces_and_braces_are_written_twice() {
        let read = InBraces::read("a {b}{c} {{d}}").expect("it is in order");
        assert_eq!(read.names().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(read.0.last(), Some(&TemplatePiece::Plain(" {d}".to_owned())));
        assert_eq!(InBraces::read("{a}").expect("it is in order").only_name(), Some("a"));
        assert!(InBraces::read("a { b").is_err() && InBraces::read("a } b").is_err());
    }
}
