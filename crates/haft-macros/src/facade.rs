//! Names the contract through the facade: `::haft::contract` for `::haft_contract`.
//!
//! A program that depends on `haft` alone cannot name the crate `haft_contract`. The macro writes the code of a tool once,
//! with the name that haft's own crates use, and renames it here.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;

const CONTRACT: &str = "haft_contract";

/// Renames the contract in everything that was written.
pub(crate) fn through_facade(written: TokenStream) -> TokenStream {
    written.into_iter().flat_map(renamed).collect()
}

fn renamed(token: TokenTree) -> TokenStream {
    match token {
        TokenTree::Ident(ident) if ident == CONTRACT => facade(ident.span()),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), through_facade(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        TokenTree::Literal(literal) => TokenTree::Literal(path_literal(literal)).into(),
        other => other.into(),
    }
}

fn facade(span: Span) -> TokenStream {
    let haft = Ident::new("haft", span);
    quote_spanned! { span=> #haft::contract }
}

/// Renames the contract in a path that an attribute takes as text, such as `crate = "::haft_contract::…"`.
fn path_literal(literal: Literal) -> Literal {
    let text = literal.to_string();
    let Some(rest) = text.strip_prefix("\"::haft_contract::").and_then(|rest| rest.strip_suffix('"')) else {
        return literal;
    };
    let mut renamed = Literal::string(&format!("::haft::contract::{rest}"));
    renamed.set_span(literal.span());
    renamed
}
