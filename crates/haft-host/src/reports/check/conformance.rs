//! Runs a tool with its examples and with calls that no tool expects (`haft check --run`).
//!
//! Its changes are discarded: programs and functions work over a layer, and haft's own tools only plan. Not here: the checks
//! (`haft_runtime::conformance`), and whether haft may run the code at all (`trials`).

use std::path::PathBuf;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::description::manual::Example;
use haft_contract::doors::process::ConfinementLevel;
use haft_runtime::catalogue::toolset::ToolList;
use haft_runtime::conformance::{self, ConformanceSubject, ConformanceVerdict, Finding};
use haft_tools::defined::bound::{Bindings, DefinitionOrigin};
use haft_tools::defined::definition::{Binding, DeclaredEffect, Definition, DefinitionProblem};
use serde_json::{Value, json};

use super::trials::DefinitionTrial;
use crate::host::Host;
use crate::opening::described_tools::preset;

/// The host, the bindings and the home with which one definition is tried.
pub(super) struct DefinitionBench<'a> {
    pub(super) host: &'a Host,
    pub(super) bindings: Bindings,
    pub(super) home: DefinitionOrigin,
    pub(super) trial: &'a DefinitionTrial,
}

/// The findings from the trial of one tool.
pub struct ToolTrialReport {
    /// The file that makes it a tool.
    pub file: PathBuf,
    /// The tool.
    pub tool: String,
    /// What was checked.
    pub findings: Vec<Finding>,
}

impl DefinitionBench<'_> {
    /// Runs every check.
    pub(super) async fn tried(&self, name: &str) -> Result<ToolTrialReport, DefinitionProblem> {
        let definition = &self.trial.definition;
        // The kit looks at answers itself, so that a broken promise is one finding and not many.
        let plain = Definition { output_schema: None, ..definition.clone() };
        self.register(name, plain.clone()).await?;
        let hurried = |limit: Duration| -> BoxFuture<'_, Option<String>> {
            let name = format!("{name}-hurried");
            let definition = Definition { timeout: Some(limit), ..plain.clone() };
            Box::pin(async move {
                if !self.trial.runs_code() {
                    return None;
                }
                self.register(&name, definition).await.ok().map(|()| name)
            })
        };
        let declared = definition.effects.iter().flatten().find_map(|effect| match effect {
            DeclaredEffect::Connect(host) => Some(host.as_str()),
            DeclaredEffect::Read(_) | DeclaredEffect::Change(_) => None,
        });
        let asked = match &definition.binding {
            Some(Binding::Http(call)) => Some(call.host.as_str()),
            _ => None,
        };
        let examples = self.examples();
        let subject = ConformanceSubject {
            runtime: &self.host.runtime,
            tool: name,
            mode: self.trial.mode(),
            examples: &examples,
            promise: definition.output_schema.as_ref(),
            declares: definition.effects.is_some() || asked.is_some() || !self.trial.runs_code(),
            is_cached: definition.use_cache,
            connects: asked.or(declared),
            hurried: &hurried,
        };
        let findings = conformance::tried(subject).await;
        // The findings must not show the temporary name that the tool has here.
        let findings = findings.into_iter().map(|finding| renamed(finding, (name, &definition.name))).collect();
        Ok(ToolTrialReport { file: self.trial.file.clone(), tool: definition.name.clone(), findings })
    }

    /// Puts the tool into the catalogue under this name, with its presets.
    pub(super) async fn register(&self, name: &str, definition: Definition) -> Result<(), DefinitionProblem> {
        let definition = Definition { name: name.to_owned(), ..definition };
        let tool = self.bindings.bind(definition, self.home.clone())?;
        let list = Box::new(ToolList::new(name, [tool]));
        let added = preset(self.host.runtime.catalog(), list, name, self.trial.presets.clone()).await;
        added.map_err(|what| DefinitionProblem { line: None, what, fix: "fix that".into(), is_warning: false })
    }

    /// Returns the examples as a model calls them: without what is given beforehand and cannot be said.
    pub(super) fn examples(&self) -> Vec<Example> {
        let fixed = &self.trial.presets.fixed;
        let shown = |example: &Example| {
            let mut arguments = example.arguments.as_object().cloned().unwrap_or_default();
            arguments.retain(|name, _| !fixed.contains_key(name));
            Example { arguments: Value::Object(arguments), contains: example.contains.clone() }
        };
        self.trial.definition.examples.iter().map(shown).collect()
    }
}

/// Reports that nothing can run if haft could not discard the changes of the tool.
pub(super) fn cannot_be_run(trial: &DefinitionTrial, host: &Host) -> bool {
    let reached = host.runtime.doors().processes.confinement().reached;
    if reached == ConfinementLevel::Full {
        return false;
    }
    let file = trial.file.display();
    host.options().notices.note(&format!(
        "note: haft did not run {file}: this system supports only the sandbox level \"{reached}\" for tools, so their \
         changes would stay; \"haft doctor\" shows what is missing"
    ));
    true
}

fn renamed(finding: Finding, (from, to): (&str, &str)) -> Finding {
    let named = |text: String| {
        text.replace(&format!("\"{from}-hurried\""), &format!("\"{to}\""))
            .replace(&format!("\"{from}\""), &format!("\"{to}\""))
    };
    Finding { what: named(finding.what), fix: finding.fix.map(named), ..finding }
}

impl ToolTrialReport {
    /// Returns whether a check failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.verdict == ConformanceVerdict::Failed)
    }

    /// Returns the record of a finding.
    #[must_use]
    pub fn record(&self, finding: &Finding) -> Value {
        let verdict = match finding.verdict {
            ConformanceVerdict::Passed => "pass",
            ConformanceVerdict::Failed => "fail",
            ConformanceVerdict::Skipped => "skipped",
        };
        let file = self.file.display().to_string();
        let mut record = json!({
            "v": 1, "file": file, "tool": self.tool, "check": finding.check.name(), "verdict": verdict, "what": finding.what
        });
        if let Some(fix) = &finding.fix {
            record["fix"] = fix.as_str().into();
        }
        record
    }
}
