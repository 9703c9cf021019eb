//! Parses the options between the parentheses of `#[haft::tool(..)]`.
//!
//! Every entry is `key = value`; `declared` checks what a value names, when the function is known.
//! A broken entry costs only itself: the macro still checks the others.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token};

use crate::complaints::Complaints;
use crate::key::{self, EffectKey};

/// The options of a tool.
#[derive(Default)]
pub(crate) struct Options {
    /// The name that calls use.
    pub(crate) name: Option<LitStr>,
    /// What people call the tool.
    pub(crate) title: Option<LitStr>,
    /// The file with the words for the model.
    pub(crate) words: Option<LitStr>,
    /// Which parameters name what is touched.
    pub(crate) effects: Vec<EffectOption>,
    /// Keys of session state that is used.
    pub(crate) session: Vec<LitStr>,
}

/// One `reads = path`.
pub(crate) struct EffectOption {
    /// What happens.
    pub(crate) key: EffectKey,
    /// To what the argument of this name says.
    pub(crate) parameter: Ident,
}

impl Options {
    /// Reads the options; complains about entries that cannot be used and goes on without them.
    pub(crate) fn read(tokens: TokenStream, complaints: &mut Complaints) -> Self {
        let mut options = Self::default();
        let entries = complaints.keep(Punctuated::<OptionEntry, Token![,]>::parse_terminated.parse2(tokens));
        for entry in entries.into_iter().flatten() {
            complaints.keep(options.set(&entry));
        }
        options
    }

    fn set(&mut self, entry: &OptionEntry) -> syn::Result<()> {
        match entry.key.to_string().as_str() {
            "name" => set_once(&mut self.name, entry),
            "title" => set_once(&mut self.title, entry),
            "words" => set_once(&mut self.words, entry),
            "session" => {
                let key = entry.text()?;
                if self.session.iter().any(|known| known.value() == key.value()) {
                    return Err(syn::Error::new(key.span(), "this state is named twice; remove one of the two"));
                }
                self.session.push(key);
                Ok(())
            }
            other => {
                let key = EffectKey::named(other).ok_or_else(|| key::unknown(&entry.key))?;
                self.effects.push(EffectOption { key, parameter: entry.parameter()? });
                Ok(())
            }
        }
    }
}

fn set_once(option: &mut Option<LitStr>, entry: &OptionEntry) -> syn::Result<()> {
    let text = entry.text()?;
    if option.is_some() {
        let key = &entry.key;
        return Err(syn::Error::new(key.span(), format!("`{key}` is given twice; remove one of the two")));
    }
    *option = Some(text);
    Ok(())
}

/// One `key = value` of the attribute, not yet interpreted.
struct OptionEntry {
    key: Ident,
    equals: Option<Token![=]>,
    value: TokenStream,
}

impl Parse for OptionEntry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let key = input
            .call(Ident::parse_any)
            .map_err(|error| syn::Error::new(error.span(), "write `key = value` here, such as `name = \"add\"`"))?;
        let equals = input.parse()?;
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            value.extend([input.parse::<TokenTree>()?]);
        }
        Ok(Self { key, equals, value })
    }
}

impl OptionEntry {
    fn text(&self) -> syn::Result<LitStr> {
        let key = &self.key;
        self.value_as(<LitStr as Parse>::parse, format!("`{key}` takes a text in quotes: `{key} = \"…\"`"))
    }

    fn parameter(&self) -> syn::Result<Ident> {
        let key = &self.key;
        self.value_as(
            Ident::parse_any,
            format!("`{key}` takes the name of one parameter, without quotes: `{key} = path`; repeat it for another"),
        )
    }

    fn value_as<T>(&self, parser: fn(ParseStream) -> syn::Result<T>, wanted: String) -> syn::Result<T> {
        let complaint = || match self.value.is_empty() {
            true => syn::Error::new(self.key.span(), &wanted),
            false => syn::Error::new_spanned(&self.value, &wanted),
        };
        self.equals.ok_or_else(complaint)?;
        parser.parse2(self.value.clone()).map_err(|_| complaint())
    }
}
