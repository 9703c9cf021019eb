//! Writes the code of a declared tool.
//!
//! Beside the function, a module gets one new name, the type of the tool. All other code is in an
//! unnamed constant. All paths lead through `::haft` or the standard library, so neither names nor
//! dependencies of the user matter. Our variables are hygienic (`Span::mixed_site`), so a function of
//! the user may have the same name as one of them. They also begin with `__`, because hygiene does
//! not separate a variable from a constant.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Index, ReturnType};

use crate::argument::{ArgumentType, ParameterRole, Presence, ToolArgument};
use crate::declared::{ToolDeclaration, Words};
use crate::key::EffectKey;

/// Writes the function, the type beside it, and the implementation of `Tool`.
pub(crate) fn tool(declared: &ToolDeclaration) -> TokenStream {
    let item = &declared.function.item;
    let conditions = attributes(&item.attrs, &["cfg"]);
    let function = function(declared);
    let unit = unit(declared);
    let arguments_ident = format_ident!("__ArgumentsOf{}", declared.type_name);
    let arguments = arguments(declared, &arguments_ident);
    let implementation = implementation(declared, &arguments_ident);
    quote! {
        #function
        #unit

        #(#conditions)*
        const _: () = {
            #arguments
            #implementation
        };
    }
}

/// The function itself, as written.
fn function(declared: &ToolDeclaration) -> TokenStream {
    let words = words_as_doc(declared);
    let function = &declared.function.item;
    // `async` is our demand, and the words for the model are no place for an `# Errors` section.
    quote! {
        #words
        #[allow(clippy::unused_async, clippy::missing_errors_doc)]
        #function
    }
}

/// The type that is the tool.
fn unit(declared: &ToolDeclaration) -> TokenStream {
    let ToolDeclaration { function, type_name, name, .. } = declared;
    let visibility = &function.item.vis;
    let attributes = attributes(&function.item.attrs, &["cfg", "doc", "allow"]);
    let headline = format!(" The tool `{name}`.");
    let words = words_as_doc(declared);
    quote! {
        #[doc = #headline]
        #[doc = ""]
        #words
        #(#attributes)*
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #type_name;
    }
}

/// A function whose words stand in a file needs no comment, but what people read of it does.
fn words_as_doc(declared: &ToolDeclaration) -> Option<TokenStream> {
    let Words::File(file) = &declared.words else { return None };
    let is_commented = attributes(&declared.function.item.attrs, &["doc"]).next().is_some();
    (!is_commented).then(|| quote_spanned! { file.span()=> #[doc = ::core::include_str!(#file)] })
}

fn attributes<'a>(all: &'a [Attribute], names: &'a [&str]) -> impl Iterator<Item = &'a Attribute> {
    all.iter().filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)))
}

/// The struct that the arguments of a call are read into, and whose schema the model is shown.
fn arguments(declared: &ToolDeclaration, arguments_ident: &Ident) -> TokenStream {
    let fields = declared.function.arguments().map(|argument| {
        let ToolArgument { name, attributes, .. } = argument;
        let ty = field_type(argument);
        quote! { #(#attributes)* #name: #ty }
    });
    quote! {
        #[doc(hidden)]
        #[derive(::haft_contract::written_by_macro::serde::Deserialize, ::haft_contract::written_by_macro::schemars::JsonSchema)]
        #[serde(crate = "::haft_contract::written_by_macro::serde", deny_unknown_fields)]
        #[schemars(crate = "::haft_contract::written_by_macro::schemars")]
        pub struct #arguments_ident {
            #(#fields,)*
        }
    }
}

/// A model sends a path where the function takes the located target.
fn field_type(argument: &ToolArgument) -> TokenStream {
    let ty = &argument.ty;
    match (argument.kind, argument.presence) {
        (ArgumentType::Target, Presence::Required) => {
            quote_spanned! { ty.span()=> ::haft_contract::files::path::RawPath }
        }
        (ArgumentType::Target, Presence::Optional) => {
            quote_spanned! { ty.span()=> ::core::option::Option<::haft_contract::files::path::RawPath> }
        }
        (ArgumentType::RawPath | ArgumentType::Text | ArgumentType::Other, _) => quote! { #ty },
    }
}

/// The most that a call can do, as its effects say.
fn at_most(declared: &ToolDeclaration) -> Ident {
    let has = |wanted: &[EffectKey]| {
        declared.function.arguments().filter_map(|argument| argument.effect).any(|key| wanted.contains(&key))
    };
    let name = match () {
        () if has(&[EffectKey::Runs, EffectKey::Connects]) => "Anything",
        () if has(&[EffectKey::Changes]) => "Changes",
        () => "Looks",
    };
    Ident::new(name, Span::mixed_site())
}

fn implementation(declared: &ToolDeclaration, arguments_ident: &Ident) -> TokenStream {
    let ToolDeclaration { type_name, name, .. } = declared;
    let manual = manual(&declared.words);
    let draft = located(declared).map(|argument| match argument.presence {
        Presence::Required => quote! { ::haft_contract::files::path::Target },
        Presence::Optional => quote! { ::core::option::Option<::haft_contract::files::path::Target> },
    });
    let at_most = at_most(declared);
    let plan = plan(declared);
    let run = run(declared);
    quote_spanned! { Span::mixed_site()=>
        impl ::haft_contract::tool::Tool for #type_name {
            const NAME: &'static str = #name;
            const DOES: ::haft_contract::description::spec::AtMost = ::haft_contract::description::spec::AtMost::#at_most;
            type Args = #arguments_ident;
            type Draft = (#(#draft,)*);

            fn manual(&self) -> ::haft_contract::description::manual::Manual {
                #manual
            }

            async fn plan(
                &self,
                __args: &Self::Args,
                __cx: &::haft_contract::context::PlanContext<'_>,
            ) -> ::core::result::Result<(::haft_contract::plan::Plan, Self::Draft), ::haft_contract::outcome::error::ToolError> {
                #plan
            }

            async fn run(
                &self,
                __args: Self::Args,
                __draft: Self::Draft,
                __cx: &::haft_contract::context::RunContext<'_>,
            ) -> ::core::result::Result<::haft_contract::outcome::output::ToolOutput, ::haft_contract::outcome::error::ToolError> {
                #run
            }
        }
    }
}

fn manual(words: &Words) -> TokenStream {
    match words {
        Words::File(file) => {
            quote_spanned! { file.span()=> ::haft_contract::description::manual::Manual::read(::core::include_str!(#file)) }
        }
        Words::Doc { text, title: None } => {
            quote! { ::haft_contract::description::manual::Manual::plain(Self::NAME, #text) }
        }
        Words::Doc { text, title: Some(title) } => quote! {
            ::haft_contract::description::manual::Manual {
                title: ::core::convert::Into::into(#title),
                ..::haft_contract::description::manual::Manual::plain(Self::NAME, #text)
            }
        },
    }
}

/// The arguments whose targets the draft carries from the plan to the function.
fn located(declared: &ToolDeclaration) -> impl Iterator<Item = &ToolArgument> {
    declared.function.arguments().filter(|argument| argument.kind == ArgumentType::Target)
}

fn plan(declared: &ToolDeclaration) -> TokenStream {
    let session = &declared.session;
    let steps: Vec<TokenStream> = declared.function.arguments().filter_map(plan_argument).collect();
    if steps.is_empty() && session.is_empty() {
        return quote! { ::core::result::Result::Ok((::haft_contract::plan::Plan::nothing(), ())) };
    }
    let draft = located(declared).map(found);
    quote_spanned! { Span::mixed_site()=>
        let mut __effects = ::std::vec::Vec::new();
        #(#steps)*
        #(__effects.push(::haft_contract::effect::Effect::Session(::haft_contract::effect::StateKey(
            ::core::convert::Into::into(#session)
        )));)*
        ::core::result::Result::Ok((::haft_contract::plan::Plan::new(__effects), (#(#draft,)*)))
    }
}

/// Names the variable that holds what an argument leads to.
fn found(argument: &ToolArgument) -> Ident {
    format_ident!("__found_{}", argument.name.unraw(), span = Span::mixed_site())
}

fn plan_argument(argument: &ToolArgument) -> Option<TokenStream> {
    let ours = Span::mixed_site();
    let effect = plan_effect(argument.effect?);
    let name = &argument.name;
    let found = found(argument);
    Some(match (argument.kind, argument.presence) {
        (ArgumentType::Target, Presence::Required) => quote_spanned! { ours=>
            let #found = { let __argument = &__args.#name; #effect __target };
        },
        (ArgumentType::Target, Presence::Optional) => quote_spanned! { ours=>
            let #found = match &__args.#name {
                ::core::option::Option::Some(__argument) => { #effect ::core::option::Option::Some(__target) }
                ::core::option::Option::None => ::core::option::Option::None,
            };
        },
        (ArgumentType::RawPath | ArgumentType::Text | ArgumentType::Other, Presence::Required) => {
            quote_spanned! { ours=>
                { let __argument = &__args.#name; #effect }
            }
        }
        (ArgumentType::RawPath | ArgumentType::Text | ArgumentType::Other, Presence::Optional) => {
            quote_spanned! { ours=>
                if let ::core::option::Option::Some(__argument) = &__args.#name { #effect }
            }
        }
    })
}

/// Adds the effect of `__argument`; a path is located as `__target` on the way.
fn plan_effect(key: EffectKey) -> TokenStream {
    let ours = Span::mixed_site();
    match key {
        EffectKey::Reads => quote_spanned! { ours=>
            let __target = __cx.locate(__argument)?;
            __effects.push(::haft_contract::effect::Effect::Read(::core::clone::Clone::clone(&__target)));
        },
        EffectKey::ReadsTree => quote_spanned! { ours=>
            let __target = __cx.locate_tree(__argument)?;
            __effects.push(::haft_contract::effect::Effect::Read(::core::clone::Clone::clone(&__target)));
        },
        EffectKey::Changes => quote_spanned! { ours=>
            let __target = __cx.locate(__argument)?;
            let __change = match __cx.look().stamp(&__target) {
                ::core::option::Option::Some(_) => ::haft_contract::effect::Change::Replace,
                ::core::option::Option::None => ::haft_contract::effect::Change::Create,
            };
            __effects.push(::haft_contract::effect::Effect::Change(::core::clone::Clone::clone(&__target), __change));
        },
        EffectKey::Runs => quote_spanned! { ours=>
            let __command = ::haft_contract::effect::CommandLine(::core::clone::Clone::clone(__argument));
            __effects.push(::haft_contract::effect::Effect::Run(__command));
        },
        EffectKey::Connects => quote_spanned! { ours=>
            let __host = ::haft_contract::effect::Host(::core::clone::Clone::clone(__argument));
            __effects.push(::haft_contract::effect::Effect::Connect(__host));
        },
    }
}

fn run(declared: &ToolDeclaration) -> TokenStream {
    let ours = Span::mixed_site();
    let signature = &declared.function.item.sig;
    let mut targets = 0..;
    let inputs = declared.function.inputs.iter().map(|input| match input {
        ParameterRole::Context => quote_spanned! { ours=> __cx },
        ParameterRole::Argument(argument) if argument.kind == ArgumentType::Target => {
            let index = targets.next().map(Index::from);
            quote_spanned! { ours=> __draft.#index }
        }
        ParameterRole::Argument(argument) => {
            let name = &argument.name;
            quote_spanned! { ours=> __args.#name }
        }
    });
    // The span lets rustc show the return type when that cannot be shown to a model.
    let span = match &signature.output {
        ReturnType::Default => ours,
        ReturnType::Type(_, ty) => ours.located_at(ty.span()),
    };
    let ident = &signature.ident;
    quote_spanned! { span=> ::haft_contract::outcome::output::IntoOutput::into_output(#ident(#(#inputs),*).await) }
}
