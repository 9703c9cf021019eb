//! Defines how other systems show and call the built-in tools, and how they word results.
//!
//! haft has one core and many dialects: a call that a model learned elsewhere works here. If haft cannot do it, haft
//! refuses it by the name it has there and never drops it silently. Numbers and habits of a system are in the profiles;
//! this module has the form of calls and results. Each system is a file in `dialects/`, with its tools in the order in
//! which they are shown, and a voice (`voice`) for the texts and objects of its results.
//!
//! In those files an argument leads to a native one (`to`), or into the first edit (`edits[0].old_text`). `from-zero`
//! counts lines from 0 outside and from 1 here; `one-of-many` puts a single value into a list; `none-if-zero` leaves a 0
//! out; `from-milliseconds` converts to seconds; `first-address` finds the first address in a text; `as-text` writes a
//! number as text. `words` has the native value for each value. An argument without a counterpart is refused and names
//! the `next` step, except for values that ask for what haft does anyway (`but_for`). haft accepts what is `ignored`: it
//! changes no result, there or here. `each` has the objects of a list; the fields of an object in `unfold` are arguments
//! too. Callers cannot change what is `fixed`. `instead` is another tool, for the calls that mean it; it cannot do what
//! a value at `at` asks for. `accepts` are other names of arguments. A tool that is `understood_only` is not shown. An
//! argument says nothing beside the one that it names with `unless`. `needs` are arguments that another one with a certain
//! `value` needs. `kinds` has other words for errors: `{path}`, `{tool}`, and `{more}` for text after the first sentence.
//!
//! A user's own file has the same format, with its voice as data (`[voice]`): `own` reads it.
//!
//! Not here: all tools of those systems, or all their ways: the files have what there is.

mod argument;
mod foreign;
mod own;
mod voice;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use haft_contract::description::dialect::{CallOutcome, Coercion, Dialect, ForeignTool};
use haft_contract::description::page_style::{ContinuationArguments, LineNumbers, PageEnds, PageStyle};
use haft_contract::outcome::error::{Next, ToolError};
use serde::Deserialize;
use serde_json::Value;

pub use foreign::OtherTool;
pub use own::{CheckedDialect, check};
use voice::Voice;

/// The names of all dialects; the first is haft's own way.
pub const NAMES: [&str; 5] = ["haft", "tunacode", "ally", "wyrm", "nexau"];

/// Returns a dialect by its name; nothing for haft's own way and for names that are none.
pub fn named(name: &str) -> Option<Arc<dyn Dialect>> {
    let tongue = Arc::clone(TONGUES.get(name)?);
    let voice: Arc<dyn Voice> = match name {
        "tunacode" => Arc::new(voice::Tunacode),
        "ally" => Arc::new(voice::Ally),
        "wyrm" => Arc::new(voice::Wyrm),
        _ => Arc::new(voice::Nexau),
    };
    Some(Arc::new(SpokenDialect { name: name.to_owned(), tongue, voice }))
}

/// Finds a tool by the name it has in a dialect.
pub fn foreign_tool(dialect: &str, name: &str) -> Option<&'static OtherTool> {
    TONGUES.get(dialect)?.tools.iter().find(|tool| tool.name() == name)
}

/// Returns all tools of all dialects: dialect and tool.
pub fn foreign_tools() -> impl Iterator<Item = (&'static str, &'static OtherTool)> {
    TONGUES.iter().flat_map(|(dialect, tongue)| tongue.tools.iter().map(move |tool| (*dialect, tool)))
}

/// Returns whether a native tool is one that a dialect has a name for.
fn is_built_in(native: &str) -> bool {
    foreign_tools().any(|(_, tool)| tool.natives().contains(&native))
}

static TONGUES: LazyLock<BTreeMap<&'static str, Arc<DialectSpec>>> = LazyLock::new(|| {
    let read = |text: &str| Arc::new(toml::from_str::<DialectSpec>(text).expect("the files of dialects are in order"));
    BTreeMap::from([
        ("tunacode", read(include_str!("dialects/tunacode.toml"))),
        ("ally", read(include_str!("dialects/ally.toml"))),
        ("wyrm", read(include_str!("dialects/wyrm.toml"))),
        ("nexau", read(include_str!("dialects/nexau.toml"))),
    ])
});

/// A dialect as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DialectSpec {
    #[serde(default)]
    coercion: WrittenCoercion,
    /// How a text begins with which a tool says that it failed.
    failure: Option<String>,
    /// How pages of files look; as in haft where it says nothing.
    page: Option<WrittenPage>,
    /// How results are told, where no voice in code does it.
    voice: Option<voice::WrittenVoice>,
    /// Other words for errors, by their kind.
    #[serde(default)]
    kinds: BTreeMap<String, Phrase>,
    tools: Vec<OtherTool>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenCoercion {
    #[default]
    Careful,
    Wide,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPage {
    numbers: WrittenNumbers,
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
    cut: Option<String>,
    more: Option<String>,
    end: Option<String>,
    binary: Option<String>,
    rest: String,
    document_rest: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenNumbers {
    SixAndTab,
    FiveZeros,
    Aligned,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    what: Option<String>,
    next: Option<String>,
}

impl From<&WrittenPage> for PageStyle {
    fn from(written: &WrittenPage) -> Self {
        let WrittenPage { numbers, before, after, cut, more, end, binary, rest, document_rest } = written.clone();
        let numbers = match numbers {
            WrittenNumbers::SixAndTab => LineNumbers::SixAndTab,
            WrittenNumbers::FiveZeros => LineNumbers::FiveZeros,
            WrittenNumbers::Aligned => LineNumbers::Aligned,
            WrittenNumbers::None => LineNumbers::None,
        };
        let ends = more.zip(end).map(|(more, end)| PageEnds { more, end });
        let document_rest = document_rest.unwrap_or_else(|| PageStyle::default().document_rest);
        let arguments = ContinuationArguments::Shared;
        PageStyle { numbers, before, after, cut, ends, binary, rest, document_rest, arguments }
    }
}

/// A dialect that is made of a name, a tongue and a voice.
struct SpokenDialect {
    name: String,
    tongue: Arc<DialectSpec>,
    voice: Arc<dyn Voice>,
}

impl Dialect for SpokenDialect {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools(&self) -> Vec<Arc<dyn ForeignTool>> {
        self.tongue.tools.iter().map(|tool| Arc::new(tool.clone()) as Arc<dyn ForeignTool>).collect()
    }

    fn page_style(&self) -> PageStyle {
        self.tongue.page.as_ref().map(PageStyle::from).unwrap_or_default()
    }

    fn coercion(&self) -> Coercion {
        match self.tongue.coercion {
            WrittenCoercion::Careful => Coercion::Careful,
            WrittenCoercion::Wide => Coercion::Wide,
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> String {
        self.voice.call(tool, arguments)
    }

    fn failure_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.trim_start().strip_prefix(self.tongue.failure.as_deref()?)
    }

    fn reword(&self, error: &mut ToolError, outcome: &CallOutcome<'_>) {
        let Some(phrase) = self.tongue.kinds.get(error.kind.code()) else { return };
        // What stands behind the first sentence is more than the kind says: names that are near, what was tried before.
        let more = error.what.split_once(". ").map_or_else(String::new, |(_, more)| format!(" {more}"));
        let path = error.about.path.clone();
        let is_known = |template: &String| path.is_some() || !template.contains("{path}");
        if let Some(template) = phrase.what.as_ref().filter(|template| is_known(template)) {
            let filled = template.replace("{path}", path.as_deref().unwrap_or_default());
            error.what = filled.replace("{tool}", outcome.tool).replace("{more}", &more);
        }
        if let Some(next) = &phrase.next {
            error.next = Next::FixArguments(next.clone());
        }
    }

    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String> {
        self.voice.output(outcome)
    }

    fn has_own_lines(&self, outcome: &CallOutcome<'_>) -> bool {
        match outcome.native {
            Some("list_dir" | "glob" | "grep") => true,
            // Where lines have no numbers, a line of the file may look like one of ours.
            Some("read_file") => self.page_style().numbers != LineNumbers::None,
            _ => false,
        }
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String {
        self.voice.error(error, happened, outcome)
    }

    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        self.voice.object(content, outcome)
    }
}
