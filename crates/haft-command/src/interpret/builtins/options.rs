//! Options of built-ins: which words are options, which are their values, and which may be either.

use crate::act::RawEffect;
use crate::interpret::Interpreter;
use crate::value::{ShellValue, ValuePiece};

/// Built-ins whose options run something, or compute with a name, and their options that take a value.
const WITH_VALUE: &[(&str, &str)] = &[
    ("alias", ""),
    ("compgen", "oAGWFCXPSV"),
    ("jobs", ""),
    ("mapfile", "dnOsuCc"),
    ("printf", "v"),
    ("read", "adinNptu"),
    ("readarray", "dnOsuCc"),
    ("trap", ""),
    ("wait", "p"),
];

/// The words of a built-in, told apart as bash does: the first operand ends the options.
#[derive(Default)]
pub(crate) struct BuiltinOptions {
    /// The letters in order, with their values.
    pub(crate) options: Vec<(char, Option<ShellValue>)>,
    /// How many words are options and their values.
    pub(crate) count: usize,
    /// Whether a word stands behind them that may be an option as well.
    is_open: bool,
}

impl BuiltinOptions {
    /// Tells the words of a built-in apart.
    pub(crate) fn of(builtin: &str, words: &[ShellValue]) -> Self {
        let with_value = WITH_VALUE.iter().find(|(name, _)| *name == builtin).map_or("", |(_, letters)| letters);
        let mut told = Self::default();
        while let Some(word) = words.get(told.count) {
            let Some(letters) = word.prefix().strip_prefix('-').filter(|_| word.known() != Some("-")) else {
                told.is_open = matches!(
                    word.pieces().first(),
                    Some(ValuePiece::Unknown | ValuePiece::Foreign(_) | ValuePiece::Glob)
                );
                break;
            };
            told.count += 1;
            if word.known() == Some("--") {
                break;
            }
            let value_at = letters.find(|letter| with_value.contains(letter));
            let plain = letters.chars().take(value_at.unwrap_or(letters.len()));
            told.options.extend(plain.map(|letter| (letter, None)));
            // The rest of the word is the value, or else the next word is.
            let Some(letter) = value_at.and_then(|at| letters[at..].chars().next()) else {
                told.is_open = word.known().is_none();
                continue;
            };
            let attached = word.strip_prefix(&format!("-{}{letter}", &letters[..value_at.unwrap_or_default()]));
            let attached = attached.filter(|value| !value.is_empty());
            let takes_next = attached.is_none();
            told.options.push((letter, attached.or_else(|| words.get(told.count).cloned())));
            told.count = (told.count + usize::from(takes_next)).min(words.len());
        }
        told
    }

    /// Returns the values of an option.
    pub(crate) fn values(&self, letter: char) -> impl Iterator<Item = &ShellValue> {
        self.options.iter().filter(move |(name, _)| *name == letter).filter_map(|(_, value)| value.as_ref())
    }
}

impl Interpreter<'_> {
    /// Asks about a word that may be an option of a built-in: `printf "$x"` runs what stands in `-va[$(…)]`.
    pub(crate) fn doubt_options(&mut self, builtin: &str, words: &[ShellValue]) {
        if !WITH_VALUE.iter().any(|(name, _)| *name == builtin) {
            return;
        }
        let told = BuiltinOptions::of(builtin, words);
        let Some(word) = words.get(told.count).filter(|_| told.is_open) else { return };
        let is_name_of_file = word.pieces().first() == Some(&ValuePiece::Glob);
        let is_option = match builtin {
            _ if is_name_of_file => self.finds_flags(word),
            "printf" => may_name_variable(word),
            _ => true,
        };
        if is_option {
            self.emit(RawEffect::Unknown(format!("a word that may be an option of {builtin}")));
        }
    }
}

/// Returns whether a word can end as the name of a variable does, or as its index: `printf "$x\n"` sets none.
fn may_name_variable(word: &ShellValue) -> bool {
    let Some(ValuePiece::Text(end)) = word.pieces().last() else { return true };
    end.ends_with(']') || end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
