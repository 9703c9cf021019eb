//! Fills the texts of a voice: replaces names in braces once, and removes lines that have nothing to say.

use serde::Deserialize;

use crate::files::in_braces::{ALONE, InBraces, TemplatePiece};

/// A text of a voice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::dialect) struct Template(InBraces);

impl Template {
    /// Reads a text.
    pub(in crate::dialect) fn read(text: &str) -> Result<Self, String> {
        InBraces::read(text).map(Self).map_err(|why| format!("{why}; {ALONE}"))
    }

    /// Returns the names in it.
    pub(in crate::dialect) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.names()
    }

    /// Returns the name where there is nothing else.
    pub(super) fn only_name(&self) -> Option<&str> {
        self.0.only_name()
    }

    /// Puts values in the place of names. A line that has nothing but a name without a value goes.
    pub(super) fn filled(&self, value: impl Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for (index, piece) in self.0.0.iter().enumerate() {
            match piece {
                TemplatePiece::Plain(text) => {
                    let is_gap = filled.is_empty() || filled.ends_with('\n');
                    let follows_nothing = index > 0
                        && matches!(&self.0.0[index - 1], TemplatePiece::Name(name) if value(name).is_empty())
                        && is_gap;
                    filled.push_str(if follows_nothing { text.strip_prefix('\n').unwrap_or(text) } else { text });
                }
                TemplatePiece::Name(name) => filled.push_str(&value(name)),
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
}
