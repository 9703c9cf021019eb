//! The function that becomes a tool: its parameters, and the forms that a tool cannot have.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::{FnArg, GenericParam, Generics, Item, ItemFn, Safety, Signature};

use crate::argument::{ParameterRole, ToolArgument};
use crate::complaints::Complaints;

/// The function, with what its parameters are for.
pub(crate) struct Function {
    /// The function as written, but for attributes of parameters that only describe a field.
    pub(crate) item: ItemFn,
    /// Its parameters, in order.
    pub(crate) inputs: Vec<ParameterRole>,
}

impl Function {
    /// Reads the item below the attribute; fails if that is no function at all.
    pub(crate) fn read(tokens: TokenStream, complaints: &mut Complaints) -> syn::Result<Self> {
        let mut item = match syn::parse2(tokens)? {
            Item::Fn(function) => function,
            other => {
                return Err(syn::Error::new_spanned(
                    other,
                    "`#[haft::tool]` makes a tool of an `async fn`, and this is none; for a type, implement `haft_contract::tool::Tool`",
                ));
            }
        };
        complain_about_qualifiers(&item.sig, complaints);
        complain_about_generics(&item.sig.generics, complaints);
        let mut inputs = Vec::new();
        for parameter in &mut item.sig.inputs {
            match parameter {
                FnArg::Typed(parameter) => {
                    let input = ParameterRole::read(parameter, complaints);
                    let is_context = |input: &ParameterRole| matches!(input, ParameterRole::Context);
                    if input.as_ref().is_some_and(is_context) && inputs.iter().any(is_context) {
                        complaints.about(parameter, "a call has one context; remove the second");
                    }
                    inputs.extend(input);
                }
                FnArg::Receiver(receiver) => {
                    let sentence = "a tool is a free function without `self`; \
                                    for a tool with state, implement `haft_contract::tool::Tool` for your type";
                    complaints.about(receiver, sentence);
                }
            }
        }
        Ok(Self { item, inputs })
    }

    /// Returns the parameters that are arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &ToolArgument> {
        self.inputs.iter().filter_map(|input| match input {
            ParameterRole::Argument(argument) => Some(&**argument),
            ParameterRole::Context => None,
        })
    }

    /// Returns the parameters that are arguments.
    pub(crate) fn arguments_mut(&mut self) -> impl Iterator<Item = &mut ToolArgument> {
        self.inputs.iter_mut().filter_map(|input| match input {
            ParameterRole::Argument(argument) => Some(&mut **argument),
            ParameterRole::Context => None,
        })
    }
}

fn complain_about_qualifiers(signature: &Signature, complaints: &mut Complaints) {
    let name = &signature.ident;
    if signature.asyncness.is_none() && signature.constness.is_none() {
        complaints
            .about(signature.fn_token, format!("a tool waits for doors and is waited for; write `async fn {name}`"));
    }
    if let Some(token) = signature.constness {
        complaints
            .about(token, format!("a tool runs when a model calls it, never while compiling; write `async fn {name}`"));
    }
    if let Safety::Unsafe(token) = signature.safety {
        let sentence = "a model cannot keep the promises of an `unsafe fn`; remove `unsafe` and use it in the body";
        complaints.about(token, sentence);
    }
    if let Some(abi) = &signature.abi {
        complaints.about(abi, "a tool is called by haft, not by another language; remove the `extern`");
    }
}

fn complain_about_generics(generics: &Generics, complaints: &mut Complaints) {
    for parameter in &generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => complaints.add(syn::Error::new(
                lifetime.span(),
                "a tool has no lifetimes, since its arguments come from JSON; \
                 remove it, own the arguments, and write the context as `&RunContext<'_>`",
            )),
            GenericParam::Type(_) | GenericParam::Const(_) => {
                let sentence = "a tool has no generic parameters, since a model calls it by name and cannot choose them; \
                                write the type or value out";
                complaints.about(parameter, sentence);
            }
        }
    }
    if let Some(clause) = &generics.where_clause {
        complaints.about(clause, "a tool has no generic parameters, so there is nothing to bound; remove the `where`");
    }
}
