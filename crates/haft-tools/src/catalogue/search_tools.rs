//! Finds deferred tools by words. So a model gets their definitions only when it needs them.
//!
//! Not here: which tools are deferred (`haft-host`), calling one (`call_tool`).

mod ranking;

use std::collections::BTreeMap;
use std::fmt::Write;

use haft_contract::description::spec::Spec;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::json;

use ranking::Ranking;

/// How many tools are returned if the call says nothing else.
const USUAL: usize = 5;
/// Most characters of definitions in one result.
const MOST_CHARACTERS: usize = 24_000;
/// Most names in a result without definitions.
const MOST_NAMES: usize = 200;

/// Finds tools that are not in the model's list.
pub struct SearchTools {
    tools: Vec<SearchableTool>,
    ranking: Ranking,
}

/// A tool that a search can find.
#[derive(Clone, Debug)]
pub struct SearchableTool {
    /// Where the tool comes from, such as the name of a server.
    pub source: String,
    /// Its definition.
    pub spec: Spec,
}

/// The arguments of `search_tools`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Words of what you want to do, or the name of a tool. Empty lists all names.
    query: String,
    /// Maximum number of tools. Default 5.
    #[schemars(range(min = 1, max = 20))]
    limit: Option<usize>,
}

impl SearchTools {
    /// Finds these tools.
    #[must_use]
    pub fn over(tools: Vec<SearchableTool>) -> Self {
        let ranking = Ranking::of(tools.iter().map(|tool| &tool.spec));
        Self { tools, ranking }
    }

    fn listed(&self) -> String {
        let mut by_source: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in &self.tools {
            by_source.entry(&tool.source).or_default().push(&tool.spec.name);
        }
        let (mut text, mut left) = (String::new(), MOST_NAMES);
        for (source, names) in by_source {
            let shown = &names[..names.len().min(left)];
            left -= shown.len();
            let more = if shown.len() < names.len() { ", …" } else { "" };
            let _ = writeln!(text, "{source} ({} tools): {}{more}", names.len(), shown.join(", "));
        }
        text
    }

    /// Writes the definitions of the best tools, as many as there is room for; returns how many those are.
    fn defined(&self, best: &[usize]) -> (String, usize) {
        let mut text = String::new();
        for (written, place) in best.iter().enumerate() {
            let Spec { name, manual, input_schema, .. } = &self.tools[*place].spec;
            let one = format!("\n{name}\n{}\narguments: {input_schema}\n", manual.words.trim());
            if written > 0 && text.chars().count() + one.chars().count() > MOST_CHARACTERS {
                return (text, written);
            }
            text.push_str(&one);
        }
        (text, best.len())
    }
}

impl Tool for SearchTools {
    const NAME: &'static str = "search_tools";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("query", &["q", "search", "keywords", "text", "name", "pattern"]),
        ("limit", &["max_results", "top_k", "k", "count", "num_results"]),
    ];
    const OTHER_NAMES: &'static [&'static str] = &["tool_search", "find_tools", "ToolSearch"];
    type Args = Args;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::read(include_str!("search_tools.md"))
    }

    async fn plan(&self, _args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, args: Args, (): (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let found = self.ranking.best(&args.query);
        if found.is_empty() {
            let said = match args.query.trim() {
                "" => String::new(),
                query => format!("No tool has a word of \"{query}\". "),
            };
            let text = format!("{said}{} tools can be found:\n{}", self.tools.len(), self.listed());
            return Ok(ToolOutput::text(text).with_data(json!({ "tools": [] })));
        }
        let best = &found[..found.len().min(args.limit.unwrap_or(USUAL))];
        let (definitions, shown) = self.defined(best);
        let names = |places: &[usize]| places.iter().map(|place| &*self.tools[*place].spec.name).collect::<Vec<_>>();
        let mut text =
            format!("{} of {} tools, the best first:\n{definitions}", GroupedNumber(shown as u64), self.tools.len());
        let more = names(&found[shown..found.len().min(shown + USUAL)]);
        if !more.is_empty() {
            let _ = write!(text, "\nAlso: {}.", more.join(", "));
        }
        let first = self.tools[best[0]].spec.name.as_str();
        let call = json!({ "name": first, "arguments": {} });
        let _ = write!(text, "\nCall one with \"call_tool\": {call}");
        Ok(ToolOutput::text(text).with_data(json!({ "tools": names(&best[..shown]) })))
    }
}
