//! A text in which names in braces stand for something: `Error: {what}`. `{{` and `}}` are braces.

use serde::Deserialize;

/// A text with names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::dialect) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Name(String),
}

impl Template {
    /// Reads a text.
    pub(in crate::dialect) fn read(text: &str) -> Result<Self, String> {
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
                return Err(format!("a brace in {text:?} stands alone; write {{{{ or }}}} for a brace itself"));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Name(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Returns the names in it.
    pub(in crate::dialect) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Returns the name where there is nothing else.
    pub(super) fn only_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Name(name)] => Some(name),
            _ => None,
        }
    }

    /// Puts values in the place of names. A line that has nothing but a name without a value goes.
    pub(super) fn filled(&self, value: impl Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for (index, piece) in self.0.iter().enumerate() {
            match piece {
                Piece::Text(text) => {
                    let is_gap = filled.is_empty() || filled.ends_with('\n');
                    let follows_nothing = index > 0
                        && matches!(&self.0[index - 1], Piece::Name(name) if value(name).is_empty())
                        && is_gap;
                    filled.push_str(if follows_nothing { text.strip_prefix('\n').unwrap_or(text) } else { text });
                }
                Piece::Name(name) => filled.push_str(&value(name)),
            }
        }
        filled
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let values = |name: &str| match name {
            "what" => "It is gone {next}.".to_owned(),
            "next" => "look".to_owned(),
            _ => String::new(),
        };
        Template::read(text).expect("it is in order").filled(values)
    }

    #[test]
    fn names_are_filled_once_and_empty_lines_go() {
        assert_eq!(filled("Error: {what}\n{happened}\nNext: {next}"), "Error: It is gone {next}.\nNext: look");
        assert_eq!(filled("{happened}\n{{{next}}}"), "{look}");
        assert_eq!(filled("a{happened}\nb"), "a\nb");
    }

    #[test]
    fn a_brace_that_stands_alone_is_an_error() {
        assert!(Template::read("a { b").is_err() && Template::read("a } b").is_err());
    }
}
