//! Applies prompt files to tools.
//!
//! A prompt file of a built-in tool uses the names of haft or of one dialect. haft applies it if the tool has these names.
//! Otherwise haft reports it, and the tool keeps its own description.

use std::sync::Arc;

use haft_contract::description::dialect::Dialect;
use haft_contract::description::spec::Spec;
use haft_contract::tool::AnyTool;
use haft_runtime::catalogue::toolset::{ToolList, Toolset, ToolsetError, ToolsetExt};
use haft_tools::defined::definition::DefinitionProblem;
use haft_tools::defined::prompt_file;
use haft_tools::defined::prompt_file::PromptFile;

use super::BoxedToolset;
use crate::host::BUILT_IN_TOOLS;
use crate::notices::Notices;
use crate::opening::prompt_names::{ShownTool, built_in_dialects, shown_tools};

/// A prompt file: its path and its text.
type Prompt = (String, String);

/// Returns the built-in tools in the chosen dialect and in the words of prompt files.
///
/// # Errors
///
/// Fails when the tools cannot be listed.
pub async fn built_in(
    tools: Vec<Arc<dyn AnyTool>>,
    dialect: Option<Arc<dyn Dialect>>,
    prompts: &[Prompt],
    notices: &dyn Notices,
) -> Result<Box<dyn Toolset>, ToolsetError> {
    let specs: Vec<Spec> = tools.iter().map(|tool| tool.spec().clone()).collect();
    let native: Box<dyn Toolset> = Box::new(ToolList::new(BUILT_IN_TOOLS, tools));
    let Some(dialect) = dialect else { return Ok(worded(native, &specs, prompts, notices)) };
    let names: Vec<String> = dialect.tools().iter().map(|tool| tool.name().to_owned()).collect();
    let is_of_dialect = |(file, _): &&Prompt| tool_of(file).is_some_and(|tool| names.iter().any(|name| name == tool));
    let (of_dialect, of_haft): (Vec<&Prompt>, Vec<&Prompt>) = prompts.iter().partition(is_of_dialect);
    let owned = |prompts: Vec<&Prompt>| prompts.into_iter().cloned().collect::<Vec<Prompt>>();
    let native = worded(native, &specs, &owned(of_haft), notices);
    let shown = Box::new(BoxedToolset(native).in_dialect(dialect));
    let specs: Vec<Spec> = shown.list().await?.iter().map(|entry| entry.shown().clone()).collect();
    Ok(worded(shown, &specs, &owned(of_dialect), notices))
}

/// Gives tools the words of prompt files. haft reports what is wrong with a file; the tool then keeps its own words.
pub fn worded(list: Box<dyn Toolset>, specs: &[Spec], prompts: &[Prompt], notices: &dyn Notices) -> Box<dyn Toolset> {
    let mut worded = list;
    for spec in specs {
        let is_of_tool = |(file, _): &&Prompt| tool_of(file) == Some(spec.name.as_str());
        let Some((file, text)) = prompts.iter().rfind(is_of_tool) else { continue };
        let (in_words, problems) = prompt_file::worded(spec, text);
        let serious: Vec<DefinitionProblem> = problems.into_iter().filter(|problem| !problem.is_warning).collect();
        match (!serious.is_empty()).then(|| names_of(spec, text)).flatten() {
            Some(names) => notices
                .note(&format!("note: {file} uses the names of {names}; the tool keeps its own description here")),
            None => serious.iter().for_each(|DefinitionProblem { line, what, fix, .. }| {
                let line = line.unwrap_or(1);
                notices.note(&format!("note: {file}:{line}: {what}; {fix}; the tool keeps its own description"));
            }),
        }
        if in_words != *spec {
            worded = Box::new(BoxedToolset(worded).worded(spec.name.as_str(), in_words));
        }
    }
    worded
}

/// Returns the tool that a file is about.
fn tool_of(file: &str) -> Option<&str> {
    prompt_file::tool_of(file.rsplit('/').next().unwrap_or_default())
}

/// Returns in whose names a file is written that does not fit a tool: those of haft or of a dialect.
fn names_of(spec: &Spec, text: &str) -> Option<String> {
    let prompt = PromptFile::from_xml(text).ok()?;
    let fits = |tool: &ShownTool| prompt.apply(&tool.spec).is_ok();
    shown_tools(&spec.name, &built_in_dialects()).into_iter().find(fits).map(|tool| tool.whose())
}
