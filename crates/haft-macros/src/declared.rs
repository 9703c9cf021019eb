//! A tool as its author declared it: function and options, checked against each other.
//!
//! After these checks the macro can find no more mistakes; `write` only writes.

use std::fmt::Display;

use syn::ext::IdentExt;
use syn::{Ident, LitStr};

use crate::argument::{ArgumentType, ToolArgument};
use crate::complaints::Complaints;
use crate::doc;
use crate::function::Function;
use crate::key::EffectKey;
use crate::options::{EffectOption, Options};
use crate::type_name;

/// A tool as its author declared it: function and options.
pub(crate) struct ToolDeclaration {
    /// The function; its arguments know their effects.
    pub(crate) function: Function,
    /// The name of the type that implements `Tool`.
    pub(crate) type_name: Ident,
    /// The name that calls use.
    pub(crate) name: String,
    /// Where the words come from.
    pub(crate) words: Words,
    /// Keys of session state that is used.
    pub(crate) session: Vec<LitStr>,
}

/// Where the words for the model come from.
pub(crate) enum Words {
    /// From the doc comment.
    Doc {
        /// The text of the comment.
        text: String,
        /// What people call the tool, if not by its name.
        title: Option<LitStr>,
    },
    /// From a file beside the source file.
    File(LitStr),
}

impl ToolDeclaration {
    /// Brings options and function together, and complains about what does not fit.
    pub(crate) fn join(options: Options, mut function: Function, complaints: &mut Complaints) -> Self {
        let name = name_of(options.name.as_ref(), &function, complaints);
        let ident = &function.item.sig.ident;
        let type_name = complaints.keep(type_name::of(ident)).unwrap_or_else(|| ident.clone());
        for effect in &options.effects {
            give_effect(effect, &mut function, complaints);
        }
        for argument in function.arguments().filter(|argument| argument.kind == ArgumentType::Target) {
            if argument.effect.is_none() {
                complaints.about(
                    &argument.ty,
                    format!(
                        "`{0}` would be located for an effect, but none names it; \
                     add `reads = {0}`, `reads_tree = {0}` or `changes = {0}` to `#[haft::tool(..)]`",
                        argument.name
                    ),
                );
            }
        }
        let words = words_of(options.words, options.title, &function, complaints);
        Self { function, type_name, name, words, session: options.session }
    }
}

fn name_of(name: Option<&LitStr>, function: &Function, complaints: &mut Complaints) -> String {
    let ident = &function.item.sig.ident;
    let (text, span) = match name {
        Some(name) => (name.value(), name.span()),
        None => (ident.unraw().to_string(), ident.span()),
    };
    if !is_tool_name(&text) {
        complaints.add(syn::Error::new(
            span,
            format!(
                "providers do not accept \"{text}\" as the name of a tool; use letters, digits, `_` and `-`, \
             at most 64, and begin with a letter or `_`, such as `name = \"add_two\"`"
            ),
        ));
    }
    text
}

/// Every provider accepts `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`.
fn is_tool_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.len() <= 64
        && text.chars().all(fits)
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn give_effect(effect: &EffectOption, function: &mut Function, complaints: &mut Complaints) {
    let EffectOption { key, parameter } = effect;
    let known: Vec<String> = function.arguments().map(|argument| format!("`{}`", argument.name)).collect();
    let Some(argument) = function.arguments_mut().find(|argument| argument.name == *parameter) else {
        let known = match known.is_empty() {
            true => "the function takes no arguments".to_owned(),
            false => format!("the arguments are {}", known.join(", ")),
        };
        complaints.about(parameter, format!("there is no argument `{parameter}`; {known}"));
        return;
    };
    if let Some(first) = argument.effect {
        complaints.about(parameter, named_twice(parameter, first, *key));
        return;
    }
    if let Some(wanted) = wrong_type(argument, *key) {
        complaints.about(parameter, format!("`{}` takes {wanted}; change the type of `{parameter}`", key.name()));
    }
    argument.effect = Some(*key);
}

fn named_twice(parameter: impl Display, first: EffectKey, second: EffectKey) -> String {
    let hint = match (first, second) {
        (EffectKey::Reads, EffectKey::Changes) | (EffectKey::Changes, EffectKey::Reads) => {
            "`changes` includes reading, so keep only that"
        }
        _ => "an argument names one thing to touch, so keep one of the two",
    };
    format!("`{parameter}` is named by `{}` already; {hint}", first.name())
}

fn wrong_type(argument: &ToolArgument, key: EffectKey) -> Option<&'static str> {
    let (fits, wanted) = match key {
        EffectKey::Reads | EffectKey::ReadsTree | EffectKey::Changes => (
            matches!(argument.kind, ArgumentType::Target | ArgumentType::RawPath),
            "a path: a `Target` (what was located) or a `RawPath` (what was written), or an `Option` of one",
        ),
        EffectKey::Runs => {
            (argument.kind == ArgumentType::Text, "the text of a command: a `String` or an `Option<String>`")
        }
        EffectKey::Connects => {
            (argument.kind == ArgumentType::Text, "the name of a host: a `String` or an `Option<String>`")
        }
    };
    (!fits).then_some(wanted)
}

fn words_of(file: Option<LitStr>, title: Option<LitStr>, function: &Function, complaints: &mut Complaints) -> Words {
    if let Some(file) = file {
        if let Some(title) = title {
            let sentence = format!("the title is the first line of \"{}\", `# …`; remove `title` here", file.value());
            complaints.about(title, sentence);
        }
        return Words::File(file);
    }
    let text = complaints.keep(doc::text_of(&function.item.attrs));
    if text.as_ref().is_some_and(String::is_empty) {
        let ident = &function.item.sig.ident;
        complaints.about(ident, format!(
            "say what `{ident}` does: write `/// …` before it, or name a file with `words = \"{ident}.md\"`; the model reads it"
        ));
    }
    Words::Doc { text: text.unwrap_or_default(), title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_every_provider_accepts() {
        for good in ["add", "_", "add-two", "Add2", &"a".repeat(64)] {
            assert!(is_tool_name(good), "{good}");
        }
        for bad in ["", "2add", "-add", "add two", "größe", "a.b", &"a".repeat(65)] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }
}
