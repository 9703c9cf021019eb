//! Adds the tools that files describe: the user's own, and those of a trusted project.
//!
//! haft reports a file with a mistake, skips it and keeps the others. It starts or imports no tool here, except a tool whose
//! only description is in its function.
//!
//! Not here: the formats (`haft_tools::defined::definition`, `haft_tools::defined::prompt_file`), and trust (`project_files`).

mod found;
mod prompts;
mod skills;
mod trust_gated;

use std::path::Path;
use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::description::schema_rules;
use haft_contract::description::spec::Spec;
use haft_contract::limits::ArgumentWords;
use haft_contract::tool::AnyTool;
use haft_runtime::catalogue::catalog::{Catalog, CatalogError};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::catalogue::toolset::{Preset, ToolList, Toolset, ToolsetError, ToolsetExt};
use haft_runtime::runtime::Runtime;
use haft_tools::defined::bound::{Bindings, DefinitionOrigin, ToolOwner};
use haft_tools::defined::definition::Presets;
use haft_tools::defined::skill::ToolInShort;
use haft_workspace::project::TrustCheck;

use crate::notices::Notices;
pub use found::{DescribedTool, ToolDescriptions};
pub use prompts::{built_in, worded};
pub use skills::{FoundSkill, own_skill_folders};
use trust_gated::TrustGated;

/// Where tools are added: the workspace, the runtime, and the sink for remarks.
#[derive(Clone, Copy)]
pub struct Assembly<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// The runtime that the tools will be in; it asks functions for their words.
    pub runtime: &'a Runtime,
    /// Receives what is wrong with a file.
    pub notices: &'a dyn Notices,
}

/// Adds the tools that files describe to the catalogue. Returns the values that came from the environment, which must stay
/// hidden.
pub async fn add(catalog: &Catalog, found: ToolDescriptions, into: Assembly<'_>) -> Vec<String> {
    let ToolDescriptions { tools, prompts, notes, skills, .. } = found;
    let Assembly { notices, .. } = into;
    notes.iter().for_each(|note| notices.note(note));
    let (mut secrets, mut in_short) = (Vec::new(), Vec::new());
    if !tools.is_empty() {
        let adding = Adding { catalog, bindings: Bindings::new(haft_tools::all()), prompts, into };
        for described in tools {
            secrets.extend(described.presets.secrets.iter().cloned());
            let file = described.file.clone();
            match adding.one(described).await {
                Ok(tool) => in_short.extend(tool),
                Err(why) => notices.note(&format!("note: haft skips {file}: {why}")),
            }
        }
    }
    skills::add(catalog, skills, in_short, into).await;
    secrets
}

/// What all tools are added with.
struct Adding<'a> {
    catalog: &'a Catalog,
    bindings: Bindings,
    prompts: Vec<(String, String)>,
    into: Assembly<'a>,
}

impl Adding<'_> {
    /// Adds a tool. Returns its whole text where it is shown in short.
    async fn one(&self, described: DescribedTool) -> Result<Option<ToolInShort>, String> {
        let DescribedTool { definition, presets, folder, beside, file, held, as_skill } = described;
        let given = presets.default.keys().chain(presets.fixed.keys()).cloned();
        // Only what a trusted project brings is held to what was trusted.
        let owner = if held.is_some() { ToolOwner::Workspace } else { ToolOwner::User };
        let code = held.as_ref().and_then(TrustCheck::code);
        let home = DefinitionOrigin::new(folder, self.into.workspace)
            .with_definition_in(beside)
            .with_owner(owner)
            .with_presets(given)
            .with_code(code);
        let name = definition.name.clone();
        let definition = match self.bindings.with_docstring(definition.clone(), &home, self.into.runtime).await {
            Ok(definition) => definition,
            // A call of the tool reports it again, with more details.
            Err(why) => {
                let words = format!("note: {file}: haft cannot read the words of its function: {}", why.what);
                self.into.notices.note(&words);
                definition
            }
        };
        let tool = self.bindings.bind(definition, home);
        let tool = tool.map_err(|problem| format!("{}; {}", problem.what, problem.fix))?;
        let tool: Arc<dyn AnyTool> = match held {
            Some(held) => Arc::new(TrustGated { tool, held }),
            None => tool,
        };
        let own = tool.spec().clone();
        self.check_words(&own)?;
        let in_short = if as_skill { skills::in_short(&own) } else { None };
        let spec = if as_skill { own.as_skill() } else { own.clone() };
        let mut list: Box<dyn Toolset> = Box::new(ToolList::new(file, [tool]));
        if spec != own {
            list = Box::new(BoxedToolset(list).worded(&name, spec.clone()));
        }
        let list = worded(list, &[spec], &self.prompts, self.into.notices);
        preset(self.catalog, list, &name, presets).await.map(|()| in_short)
    }
}

impl Adding<'_> {
    /// Fails for arguments without a type or a description, where the profile requires both.
    fn check_words(&self, spec: &Spec) -> Result<(), String> {
        let is_required = self.into.runtime.limits().argument_words == ArgumentWords::Required;
        let broken =
            is_required.then(|| schema_rules::check(spec)).into_iter().flatten().find(|broken| broken.is_advice);
        broken.map_or(Ok(()), |broken| {
            Err(format!("{}: {}, and the profile requires it; {}", broken.at, broken.rule, broken.fix))
        })
    }
}

/// Adds a tool with what is given to it beforehand.
pub async fn preset(catalog: &Catalog, list: Box<dyn Toolset>, name: &str, presets: Presets) -> Result<(), String> {
    let Presets { default, fixed, .. } = presets;
    let mut list = list;
    for preset in [Preset::Default(default), Preset::Fixed(fixed)] {
        let (Preset::Default(values) | Preset::Fixed(values)) = &preset;
        if !values.is_empty() {
            list = Box::new(BoxedToolset(list).preset(name, preset));
        }
    }
    catalog.add(&*list).await.map_err(|error| match error {
        CatalogError::Clash { name, first, .. } => {
            format!("there is a tool \"{name}\" already, from {first}; give this one another name")
        }
        error => error.to_string(),
    })
}

/// A toolset whose concrete type is not known.
pub struct BoxedToolset(pub Box<dyn Toolset>);

impl Toolset for BoxedToolset {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<CatalogEntry>, ToolsetError>> {
        self.0.list()
    }
}
