//! The attribute `#[haft::tool]`: a tool for people who want to write one function.
//!
//! A tool that plans for itself implements `haft_contract::tool::Tool`. Most tools of a library user do not:
//! they compute something, or touch what one argument names. For them the function already says
//! everything, and this crate writes the implementation from it. What it cannot write, it refuses
//! with a sentence that says what to change; those sentences are part of the product and tested.
//!
//! Not here: any rule about tools that a hand-written implementation would not follow as well.

mod argument;
mod complaints;
mod declared;
mod doc;
mod facade;
mod function;
mod key;
mod options;
mod type_name;
mod write;

use proc_macro::TokenStream;

use crate::complaints::Complaints;
use crate::declared::ToolDeclaration;
use crate::function::Function;
use crate::options::Options;

/// Makes a tool of an `async fn`: `add` stays, and `Add` beside it is the tool.
///
/// ```ignore
/// use haft_contract::prelude::*;
/// use haft_contract::tool::Typed;
///
/// /// Adds two whole numbers.
/// #[haft::tool]
/// async fn add(
///     /// First number.
///     a: i64,
///     /// Second number.
///     b: i64,
/// ) -> Result<i64, ToolError> {
///     Ok(a + b)
/// }
///
/// let tool = Typed::new(Add);      // goes into a catalogue
/// let three = add(1, 2).await?;    // a plain call: nothing is planned, judged or recorded
/// ```
///
/// The tool is a unit struct with the visibility of the function and its name in UpperCamelCase
/// (`read_file` makes `ReadFile`), which implements `haft_contract::tool::Tool`. Like any other type it hides
/// what is imported under that name, so do not call the function `result`: write `name = "result"`.
/// The code that is written needs no dependency but `haft`.
///
/// # The function
///
/// - Its doc comment is what the model reads, unless `words` names a file.
/// - Every parameter is an argument: its doc comment is required and becomes the description in the
///   schema, `Option<T>` makes it optional, `#[serde(..)]` and `#[schemars(..)]` on it apply to it.
///   Its type implements `serde::Deserialize` and `schemars::JsonSchema`. Arguments that are not
///   parameters are refused.
/// - A parameter of type `&RunContext<'_>` is no argument; it is the context of the call.
/// - It returns something that implements `haft_contract::outcome::output::IntoOutput` (numbers, text, `Json(..)`,
///   `ToolOutput`, nothing at all), or a `Result` of that whose error is a `ToolError` or becomes
///   one by `Into`.
///
/// # The keys
///
/// `#[haft::tool(key = value, key = value)]`, each of the first three at most once:
///
/// | key | value | says |
/// |---|---|---|
/// | `name` | `"add-two"` | what calls use; else the name of the function. Letters, digits, `_` and `-`, at most 64, not beginning with a digit or `-` |
/// | `title` | `"Add numbers"` | what people call the tool; else made from the name |
/// | `words` | `"add.md"` | a file beside the source file with title and words, read as `name.md` of a built-in tool is |
/// | `reads` | a parameter | the call reads the file at that path |
/// | `reads_tree` | a parameter | the call reads that folder and all below it |
/// | `changes` | a parameter | the call writes the file at that path: creates it, or replaces what is there |
/// | `runs` | a parameter | the call runs that command line |
/// | `connects` | a parameter | the call connects to that host |
/// | `session` | `"todo"` | the call uses state of the session, under that key |
///
/// # Effects
///
/// A tool touches nothing unless it says so; the doors refuse what was not said. To name several
/// parameters, repeat the key. A parameter is named by one effect at most.
///
/// ```ignore
/// /// Writes the sorted lines of one file to another.
/// #[haft::tool(reads = from, changes = to)]
/// async fn sort_lines(
///     /// The file to read.
///     from: Target,
///     /// The file to write.
///     to: Target,
///     cx: &RunContext<'_>,
/// ) -> Result<(), ToolError> {
///     /* cx.page(&from, ..), cx.write(&to, ..) */
/// }
/// ```
///
/// `reads`, `reads_tree` and `changes` name a parameter whose type is written `Target` or `RawPath`,
/// or an `Option` of one. The model sends a path either way. It is located while the call is
/// planned; a `Target` is that very place, a `RawPath` is the text as the model wrote it. `runs` and
/// `connects` name a `String` or an `Option<String>`. What is optional and left out has no effect.
///
/// Types are recognised by the last word of their path, since a macro sees text: another type that
/// is called `Target` or `RunContext` is taken for haft's.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(options.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The same for users of the facade: the crate `haft` exports it as `haft::tool`, and the code that it writes names
/// `::haft::contract` where that of [`macro@tool`] names `::haft_contract`.
#[proc_macro_attribute]
pub fn facade_tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = expand_through_facade(options.into(), item.into());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(options: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> syn::Result<proc_macro2::TokenStream> {
    let mut complaints = Complaints::default();
    let options = Options::read(options, &mut complaints);
    let function = Function::read(item, &mut complaints)?;
    let declared = ToolDeclaration::join(options, function, &mut complaints);
    complaints.into_result()?;
    Ok(write::tool(&declared))
}

fn expand_through_facade(
    options: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    Ok(facade::through_facade(expand(options, item)?))
}
