//! One parameter of the function: an argument that a model sends, or the context.

use syn::visit::Visit;
use syn::{
    Attribute, GenericArgument, Ident, Lifetime, Pat, PatType, PathArguments, Type, TypeImplTrait, TypePath,
    TypeReference,
};

use crate::complaints::Complaints;
use crate::doc;
use crate::key::EffectKey;

/// The purpose of a parameter: the context of the call, or an argument.
pub(crate) enum ParameterRole {
    /// It takes the context of the call.
    Context,
    /// It takes an argument.
    Argument(Box<ToolArgument>),
}

/// An argument that a model sends.
pub(crate) struct ToolArgument {
    /// Its name.
    pub(crate) name: Ident,
    /// Its type, as written.
    pub(crate) ty: Type,
    /// What the macro knows of that type.
    pub(crate) kind: ArgumentType,
    /// Whether the type is an `Option`.
    pub(crate) presence: Presence,
    /// What describes it in the schema: doc comment, `serde` and `schemars`.
    pub(crate) attributes: Vec<Attribute>,
    /// What happens to the thing it names.
    pub(crate) effect: Option<EffectKey>,
}

/// The type of an argument, as far as the macro recognises it by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// `Target`: sent as a path, located while planning.
    Target,
    /// `RawPath`: sent as a path, passed on as text.
    RawPath,
    /// `String`.
    Text,
    /// Anything else.
    Other,
}

/// Whether an argument may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must be there.
    Required,
    /// It is an `Option`.
    Optional,
}

impl ParameterRole {
    /// Reads a parameter, and takes from it the attributes that rustc would not accept there.
    pub(crate) fn read(parameter: &mut PatType, complaints: &mut Complaints) -> Option<Self> {
        let (of_field, of_parameter) = std::mem::take(&mut parameter.attrs).into_iter().partition(describes_a_field);
        parameter.attrs = of_parameter;
        if let Some(condition) =
            parameter.attrs.iter().find(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"))
        {
            complaints.about(
                condition,
                "an argument cannot depend on `cfg`; put the `cfg` on the whole function and write two",
            );
        }
        if is_context(&parameter.ty) {
            return Some(ParameterRole::Context);
        }
        if complain_about_context(&parameter.ty, complaints) {
            return None;
        }
        NotOwned { complaints }.visit_type(&parameter.ty);
        let Some(name) = plain_name(&parameter.pat) else {
            let sentence = "a model sends an argument by its name, so it cannot be a pattern; \
                            write a plain name and take the value apart in the body";
            complaints.about(&parameter.pat, sentence);
            return None;
        };
        if complaints.keep(doc::text_of(&of_field)).is_some_and(|text| text.is_empty()) {
            complaints.about(name, format!("say what `{name}` is: write `/// …` before it; the model reads it"));
        }
        let (kind, presence) = recognise(&parameter.ty);
        let (name, ty) = (name.clone(), (*parameter.ty).clone());
        let argument = ToolArgument { name, ty, kind, presence, attributes: of_field, effect: None };
        Some(ParameterRole::Argument(Box::new(argument)))
    }
}

fn describes_a_field(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

fn plain_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
        _ => None,
    }
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_none() && ends_in(&reference.elem, "RunContext"))
}

fn recognise(ty: &Type) -> (ArgumentType, Presence) {
    let (ty, presence) = match option_of(ty) {
        Some(inner) => (inner, Presence::Optional),
        None => (ty, Presence::Required),
    };
    let kinds = [("Target", ArgumentType::Target), ("RawPath", ArgumentType::RawPath), ("String", ArgumentType::Text)];
    let kind = kinds.into_iter().find(|(name, _)| ends_in(ty, name)).map_or(ArgumentType::Other, |(_, kind)| kind);
    (kind, presence)
}

fn option_of(ty: &Type) -> Option<&Type> {
    let Type::Path(TypePath { path, .. }) = bare(ty) else { return None };
    let last = path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

/// Returns whether the last word of the type's path is this name; a macro cannot know more.
fn ends_in(ty: &Type, name: &str) -> bool {
    matches!(bare(ty), Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == name))
}

/// A type that came through a `macro_rules!` has invisible parentheses.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        ty => ty,
    }
}

/// Complains about a context that the function cannot have; returns whether it did.
fn complain_about_context(ty: &Type, complaints: &mut Complaints) -> bool {
    let context = match ty {
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    };
    let sentence = if ends_in(context, "RunContext") {
        "a tool borrows its context; write `&RunContext<'_>`"
    } else if ends_in(context, "PlanContext") {
        "the function runs when planning is over; say what it touches with `reads = …`, `changes = …` and so on, \
         or implement `haft_contract::tool::Tool` by hand"
    } else {
        return false;
    };
    complaints.about(ty, sentence);
    true
}

/// Arguments come from JSON, so nothing in their types can be borrowed or chosen by a caller.
struct NotOwned<'a> {
    complaints: &'a mut Complaints,
}

impl<'ast> Visit<'ast> for NotOwned<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        let instead = match &*reference.elem {
            Type::Slice(_) => "own it: write `Vec<…>`",
            ty if ends_in(ty, "str") => "own it: write `String`",
            ty if ends_in(ty, "Path") => "own it: write `RawPath`, or `Target` with `reads = …`",
            _ => "own it: write the type without `&`",
        };
        self.complaints.about(reference, format!("an argument comes from JSON and cannot be borrowed; {instead}"));
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        let sentence = "the schema needs one type, and a model cannot choose it; write the type out, such as `String`";
        self.complaints.about(ty, sentence);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            let sentence = "an argument comes from JSON and cannot be borrowed; write a type without a lifetime";
            self.complaints.add(syn::Error::new(lifetime.span(), sentence));
        }
    }
}
