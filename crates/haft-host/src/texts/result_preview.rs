//! Shows a call to a person in a few words: its title, and its tool's own lines about the result.
//!
//! The terminal, `haft run` and other interfaces use the same words.

use haft_contract::outcome::result::ToolResult;
use haft_runtime::catalogue::catalog::Catalog;

/// Returns the name of a tool on a line of its own: as it is called, or `MCP(server/tool)`.
#[must_use]
pub fn call_name(catalog: &Catalog, tool: &str) -> String {
    server_title(catalog, tool).unwrap_or_else(|| tool.to_owned())
}

/// Returns the title of a call: `Tool(read_file)`, or `MCP(server/tool)` for a tool of a server.
#[must_use]
pub fn call_title(catalog: &Catalog, tool: &str) -> String {
    server_title(catalog, tool).unwrap_or_else(|| format!("Tool({tool})"))
}

fn server_title(catalog: &Catalog, tool: &str) -> Option<String> {
    let title = catalog.find(tool)?.shown().manual.title.clone();
    title.starts_with("MCP(").then_some(title)
}

/// Returns what a person sees of a result, in at most so many lines: the tool's own words for a success, the error and its
/// next step for a failure.
#[must_use]
pub fn result_preview(catalog: &Catalog, tool: &str, result: &ToolResult, max_lines: usize) -> Vec<String> {
    let own = match (&result.error, catalog.find(tool)) {
        (None, Some(entry)) => entry.tool().summary(result, max_lines),
        (Some(_), _) | (None, None) => Vec::new(),
    };
    let mut lines = if own.is_empty() { result.default_summary(max_lines) } else { own };
    lines.truncate(max_lines);
    lines
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use haft_contract::call::CallId;
    use haft_contract::description::spec::Spec;
    use haft_contract::outcome::error::{Next, ToolError};
    use haft_contract::outcome::result::{Did, Status};
    use haft_contract::tool::{AnyTool, ToolInvocation};
    use haft_runtime::catalogue::toolset::ToolList;
    use serde_json::Value;

    use super::*;

    /// A tool with its own words for its results.
    struct Counting(Spec);

    impl AnyTool for Counting {
        fn spec(&self) -> &Spec {
            &self.0
        }

        fn bind(self: Arc<Self>, _: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
            Err(ToolError::failed("it is never called", Next::FixArguments("call another".into())))
        }

        fn summary(&self, _: &ToolResult, max_lines: usize) -> Vec<String> {
            (1..=max_lines + 2).map(|number| format!("{} counted {number}", self.0.name)).collect()
        }
    }

    fn catalog() -> Catalog {
        let tools = haft_tools::all();
        let read_file = tools.iter().find(|tool| tool.spec().name == "read_file").expect("haft has it").spec().clone();
        let mut of_server = Spec { name: "git__status".into(), ..read_file.clone() };
        of_server.manual.title = "MCP(git/status)".into();
        let own = [Spec { name: "count".into(), ..read_file }, of_server];
        let own: Vec<Arc<dyn AnyTool>> =
            own.into_iter().map(|spec| Arc::new(Counting(spec)) as Arc<dyn AnyTool>).collect();
        let catalog = Catalog::default();
        catalog.add_list(ToolList::new("a test", own)).expect("the names are free");
        catalog
    }

    fn result(error: Option<ToolError>) -> ToolResult {
        ToolResult {
            id: CallId::new("1"),
            tool: "count".into(),
            status: if error.is_some() { Status::Failed } else { Status::Ok },
            content: Vec::new(),
            display: None,
            error,
            stopped_at: None,
            data: None,
            did: Did::Nothing,
            repairs: Vec::new(),
            warnings: Vec::new(),
            spilled: None,
            limited: None,
            changes: None,
            exit_code: None,
            sandbox: None,
            left_behind: 0,
            undeclared: Vec::new(),
            conflicts: Vec::new(),
            network: Vec::new(),
            job: None,
            home: 0,
            cached: None,
            bits: Vec::new(),
            took: Duration::ZERO,
        }
    }

    #[test]
    fn a_call_of_a_server_has_the_title_of_the_server() {
        let titles = ["git__status", "count", "gone"].map(|tool| call_title(&catalog(), tool));
        assert_eq!(titles, ["MCP(git/status)", "Tool(count)", "Tool(gone)"]);
        let names = ["git__status", "count", "gone"].map(|tool| call_name(&catalog(), tool));
        assert_eq!(names, ["MCP(git/status)", "count", "gone"]);
    }

    #[test]
    fn a_tool_says_in_its_own_words_how_it_went_and_a_failure_is_told_the_same_everywhere() {
        let good = result(None);
        let expected = ["count counted 1", "count counted 2", "count counted 3"];
        assert_eq!(result_preview(&catalog(), "count", &good, 3), expected);
        let failed = result(Some(ToolError::failed("it broke", Next::FixArguments("fix it".into()))));
        assert_eq!(result_preview(&catalog(), "count", &failed, 3), ["it broke", "Next: fix it"]);
    }
}
