//! Tries the code behind definitions: whether it exists, accepts the arguments, and gives what the examples say.
//!
//! It runs in the sandbox, over a layer that haft discards afterwards. haft does not run code of a project that the user
//! does not trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_config::settings::Settings;
use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::description::manual::Example;
use haft_contract::outcome::result::Status;
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::{Nobody, YesToOrdinary};
use haft_tools::defined::bound::{Bindings, DefinitionOrigin, ToolOwner};
use haft_tools::defined::definition::{Binding, Definition, DefinitionProblem, Presets};
use haft_workspace::project::{Project, ProjectFile, TrustCheck, TrustStatus};
use haft_workspace::state::real_path_of;
use haft_workspace::state::trust::TrustStore;

use super::conformance::{self, DefinitionBench, ToolTrialReport};
use super::{Checking, FileProblem, Trying};
use crate::host::{Host, block_on};
use crate::options::Options;

/// A definition to be tried, in which no problem was found so far.
pub(super) struct DefinitionTrial {
    /// The file that makes it a tool.
    pub(super) file: PathBuf,
    /// The file that names the binding.
    pub(super) binding: PathBuf,
    /// The definition.
    pub(super) described: PathBuf,
    pub(super) line: Option<usize>,
    pub(super) definition: Definition,
    pub(super) presets: Presets,
}

impl Checking {
    /// Tries everything that was found, where it may be.
    pub(super) fn tries(&mut self, options: &Options, trying: Trying) -> anyhow::Result<()> {
        let trials = std::mem::take(&mut self.trials);
        if trials.is_empty() {
            return Ok(());
        }
        let mut settings = Settings::read(options.profile())?;
        settings.environment.secrets.extend(trials.iter().flat_map(|trial| trial.presets.secrets.iter().cloned()));
        // Each call is tried by itself, so no result should advise the model to change its approach.
        settings.limits.failures_in_a_row = usize::MAX;
        let folder = options.folder().to_owned();
        let store = TrustStore::new(&settings.environment.state_folder);
        let host = Host::open_in(options, &folder, settings)?;
        let is_broken =
            |file: &Path, found: &[FileProblem]| found.iter().any(|found| found.file == file && !found.is_warning);
        let mut untrusted = Vec::new();
        for (number, trial) in trials.into_iter().enumerate() {
            if is_broken(&trial.file, &self.found) {
                continue;
            }
            if trial.runs_code() && !options.trust && !is_trusted(&trial.file, &host.workspace, &store) {
                untrusted.push(trial.file.display().to_string());
                self.not_tried = true;
                continue;
            }
            if trying == Trying::Everything && trial.runs_code() && conformance::cannot_be_run(&trial, &host) {
                self.not_tried = true;
                continue;
            }
            let (problems, tried) = block_on(tried(&trial, number, &host, trying))?;
            self.tell(
                &trial.file,
                problems.into_iter().map(|problem| DefinitionProblem { line: problem.line.or(trial.line), ..problem }),
            );
            self.tried.extend(tried);
        }
        let which = match untrusted.as_slice() {
            [] => return Ok(()),
            [file] => format!("{file}, because it is"),
            files => format!("{} files, because they are", files.len()),
        };
        options.notices.note(&format!("note: haft did not run {which} not trusted: haft trust, or --trust"));
        Ok(())
    }
}

impl DefinitionTrial {
    pub(super) fn runs_code(&self) -> bool {
        !matches!(self.definition.binding, Some(Binding::Builtin(_)) | None)
    }

    /// Says whether a trial would call other machines. A check does not do that, because their changes stay.
    fn asks_others(&self) -> bool {
        matches!(self.definition.binding, Some(Binding::Http(_)))
    }

    /// Says how changes are handled during a trial. haft's own tools write directly, so they only plan.
    pub(super) fn mode(&self) -> Mode {
        if self.runs_code() { Mode::Try } else { Mode::Plan }
    }
}

/// Says whether code may be run: the user's own, or what of a project is trusted as it is.
fn is_trusted(file: &Path, workspace: &Path, store: &TrustStore) -> bool {
    let file = real_path_of(file);
    let Ok(inside) = file.strip_prefix(workspace) else { return true };
    let (Ok(project), Ok(trusted)) = (Project::look(workspace), store.of(workspace)) else { return false };
    let name = inside.components().collect::<PathBuf>();
    let brought = project.brought().iter().find(|brought| Path::new(&brought.name) == name);
    let is_trusted = |file: &ProjectFile| matches!(project.standing(file, &trusted), TrustStatus::Trusted(_));
    let Some(name) = brought.filter(|file| is_trusted(file)).map(|file| file.name.clone()) else { return false };
    // It runs from the project here, so that must be what the copy is.
    TrustCheck::new(Arc::new(project), Arc::new(trusted), &name).helpers_changed().is_none()
}

async fn tried(
    trial: &DefinitionTrial,
    number: usize,
    host: &Host,
    trying: Trying,
) -> (Vec<DefinitionProblem>, Option<ToolTrialReport>) {
    let bindings = Bindings::new(haft_tools::all());
    let [folder, beside] =
        [&trial.binding, &trial.described].map(|file| real_path_of(file).parent().unwrap_or(Path::new("/")).to_owned());
    let preset = trial.presets.default.keys().chain(trial.presets.fixed.keys()).cloned();
    // What lies in the workspace is tried only where it is trusted.
    let owner = if folder.starts_with(&host.workspace) { ToolOwner::Workspace } else { ToolOwner::User };
    let home = DefinitionOrigin::new(folder, host.workspace.clone())
        .with_definition_in(beside)
        .with_owner(owner)
        .with_presets(preset);
    let mut problems = bindings.check(&trial.definition, &home, &host.runtime).await;
    if problems.iter().any(|problem| !problem.is_warning) {
        return (problems, None);
    }
    // A unique name avoids conflicts with other tools.
    let name = format!("{}-{number}", trial.definition.name.chars().take(50).collect::<String>());
    let bench = DefinitionBench { host, bindings, home, trial };
    match trying {
        Trying::Everything => match bench.tried(&name).await {
            Ok(tried) => return (problems, Some(tried)),
            Err(problem) => problems.push(problem),
        },
        Trying::Examples => match bench.register(&name, trial.definition.clone()).await {
            Ok(()) => {
                for example in bench.examples().into_iter().filter(|_| !trial.asks_others()) {
                    problems.extend(broken(&example, &name, &bench).await);
                }
            }
            Err(problem) => problems.push(problem),
        },
    }
    (problems, None)
}

/// Runs an example; returns what is wrong with it.
async fn broken(example: &Example, name: &str, bench: &DefinitionBench<'_>) -> Option<DefinitionProblem> {
    let runtime = &bench.host.runtime;
    let session = runtime.session("check", YesToOrdinary::or_ask(Nobody::there("")));
    session.set_mode(bench.trial.mode());
    let call = ToolCall::new(name, RawArguments::from(example.arguments.clone())).by(CallOrigin::Script);
    let result = runtime.call(&session, call).await;
    let shown = &example.arguments;
    let (what, fix) = match (&result.error, &example.contains) {
        // What would change files is not tried.
        (Some(_), _) if result.status == Status::Refused && bench.trial.mode() == Mode::Plan => return None,
        (Some(error), _) => (format!("the example {shown} fails: {}", error.what), error.next.to_string()),
        (None, Some(text)) if !result.text().contains(text.as_str()) => (
            format!("the result of the example {shown} does not contain {text:?}"),
            "fix the tool or the example".to_owned(),
        ),
        (None, _) => return None,
    };
    Some(DefinitionProblem { line: None, what, fix, is_warning: false })
}
