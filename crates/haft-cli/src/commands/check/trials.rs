//! Tries what definitions are bound to: whether it is there, whether it takes the arguments, whether its examples hold.
//!
//! Nothing of it is kept: it runs in the sandbox, over a layer that is thrown away. Code of a project that nobody
//! trusts is not run.

use std::path::{Path, PathBuf};

use haft::call::{Origin, RawArguments, ToolCall};
use haft::manual::Example;
use haft_config::settings::Settings;
use haft_policy::policy::Mode;
use haft_runtime::approval::{Nobody, YesToOrdinary};
use haft_tools::bound::{Bindings, Home};
use haft_tools::definition::{Binding, Definition, Presets, Problem};
use haft_workspace::project::{Project, Standing};
use haft_workspace::state::real_path_of;
use haft_workspace::state::trust::TrustStore;
use serde_json::Value;

use super::{Checking, Found};
use crate::arguments::Common;
use crate::desk::{Desk, block_on};
use crate::screen;

/// A definition that has nothing wrong with it so far.
pub(super) struct Trial {
    /// The file that makes it a tool.
    pub(super) file: PathBuf,
    /// The file that names the binding.
    pub(super) binding: PathBuf,
    pub(super) line: Option<usize>,
    pub(super) definition: Definition,
    pub(super) presets: Presets,
}

impl Checking {
    /// Tries everything that was found, where it may be.
    pub(super) fn tries(&mut self, common: &Common) -> anyhow::Result<()> {
        let trials = std::mem::take(&mut self.trials);
        if trials.is_empty() {
            return Ok(());
        }
        let settings = Settings::read(common.profile())?;
        let folder = common.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let store = TrustStore::new(&settings.environment.state_folder);
        let desk = Desk::open_in(common, &folder, settings)?;
        let is_broken =
            |file: &Path, found: &[Found]| found.iter().any(|found| found.file == file && !found.is_warning);
        for (number, trial) in trials.into_iter().enumerate() {
            if is_broken(&trial.file, &self.found) {
                continue;
            }
            let runs_code = !matches!(trial.definition.binding, Some(Binding::Builtin(_)) | None);
            if runs_code && !common.trust && !is_trusted(&trial.file, &desk.workspace, &store) {
                let file = trial.file.display();
                screen::talk(&format!("note: {file} was not tried, because nobody trusts it: haft trust, or --trust"));
                continue;
            }
            let problems = block_on(tried(&trial, number, &desk))?;
            self.tell(
                &trial.file,
                problems.into_iter().map(|problem| Problem { line: problem.line.or(trial.line), ..problem }),
            );
        }
        Ok(())
    }
}

/// Says whether code may be run: the user's own, or what of a project is trusted as it is.
fn is_trusted(file: &Path, workspace: &Path, store: &TrustStore) -> bool {
    let file = real_path_of(file);
    let Ok(inside) = file.strip_prefix(workspace) else { return true };
    let (Ok(project), Ok(trusted)) = (Project::look(workspace), store.of(workspace)) else { return false };
    let name = inside.components().collect::<PathBuf>();
    let brought = project.brought().iter().find(|brought| Path::new(&brought.name) == name);
    brought.is_some_and(|brought| matches!(project.standing(brought, &trusted), Standing::Trusted(_)))
}

async fn tried(trial: &Trial, number: usize, desk: &Desk) -> Vec<Problem> {
    let bindings = Bindings::new(haft_tools::all());
    let folder = real_path_of(&trial.binding);
    let folder = folder.parent().unwrap_or(Path::new("/")).to_owned();
    let preset = trial.presets.default.keys().chain(trial.presets.fixed.keys()).cloned();
    let home = Home::new(folder, desk.workspace.clone()).with_presets(preset);
    let by = (desk.runtime.doors(), &desk.settings.limits);
    let mut problems = bindings.check(&trial.definition, &home, by).await;
    if problems.iter().any(|problem| !problem.is_warning) {
        return problems;
    }
    // A name of its own, so that it is in nobody's way.
    let name = format!("{}-{number}", trial.definition.name.chars().take(50).collect::<String>());
    let definition = Definition { name: name.clone(), ..trial.definition.clone() };
    let tool = match bindings.bind(definition, home) {
        Ok(tool) => tool,
        Err(problem) => return vec![problem],
    };
    if let Err(error) = desk.runtime.catalog().register(tool) {
        problems.push(Problem { line: None, what: error.to_string(), fix: "mend that".into(), is_warning: false });
        return problems;
    }
    for example in &trial.definition.examples {
        problems.extend(broken(example, (&name, &trial.presets), desk).await);
    }
    problems
}

/// Runs an example; returns what is wrong with it.
async fn broken(example: &Example, (name, presets): (&str, &Presets), desk: &Desk) -> Option<Problem> {
    let mut arguments = presets.default.clone();
    arguments.extend(example.arguments.as_object().cloned().unwrap_or_default());
    arguments.extend(presets.fixed.clone());
    let session = desk.runtime.session("check", YesToOrdinary::or_ask(Nobody::there("")));
    session.set_mode(Mode::Try);
    let call = ToolCall::new(name, RawArguments::from(Value::Object(arguments))).by(Origin::Script);
    let result = desk.runtime.call(&session, call).await;
    let shown = &example.arguments;
    let (what, fix) = match (&result.error, &example.contains) {
        (Some(error), _) => (format!("the example {shown} fails: {}", error.what), error.next.to_string()),
        (None, Some(text)) if !result.text().contains(text.as_str()) => (
            format!("the answer of the example {shown} has no {text:?} in it"),
            "mend the tool or the example".to_owned(),
        ),
        (None, _) => return None,
    };
    Some(Problem { line: None, what, fix, is_warning: false })
}
