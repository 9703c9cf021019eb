//! Conversations as things: their list, previews, names and exports; and the commands of the person's own.

use std::path::Path;

use haft_config::sections::model::ModelSection;
use haft_host::changes::change_log::ago;
use haft_host::conversations::session_export::{SessionExport, write_new_file};
use haft_host::conversations::session_names::session_name;
use haft_host::conversations::session_preview::preview;
use haft_host::conversations::user_commands::{ExpandedPrompt, UserCommands};
use haft_workspace::state::sessions::SessionSummary;

use super::{ModelInUse, Worker};
use crate::terminal::input::slash;
use crate::terminal::protocol::{Idle, UserCommandFacts, WorkerReport};

/// Most conversations that are offered.
const MOST_SESSIONS: usize = 100;

impl Worker {
    /// Lists the conversations that can be continued.
    pub(super) fn sessions(&self) -> Vec<(String, String)> {
        // A list that cannot be read offers nothing; /sessions says why.
        let sessions = self.host.state.sessions().list().unwrap_or_default();
        let about = |session: &SessionSummary| {
            let words = session.words.as_deref().unwrap_or("(its beginning is lost)");
            let words = self.host.runtime.redactor().redact_known(words).into_owned();
            let name = session.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
            (session.id.to_string(), format!("{:<11} {name}{words}", ago(session.last_ms)))
        };
        let own = self.recorder.as_ref().map(|recorder| recorder.id());
        let others = sessions.iter().filter(|session| own.as_deref() != Some(&session.id.to_string()));
        others.take(MOST_SESSIONS).map(about).collect()
    }

    /// Looks on a separate thread what a session is about.
    pub(super) fn preview(&self, name: String) {
        let (host, reports) = (self.host.clone(), self.reports.clone());
        std::thread::spawn(move || {
            let sessions = host.state.sessions();
            let lines = match sessions.find(&name) {
                Ok(id) => preview(&sessions, &id, &host.history, host.runtime.redactor()),
                Err(_) => Vec::new(),
            };
            let _is_over = reports.send(WorkerReport::Preview(name, lines));
        });
    }

    /// Names the conversation.
    pub(super) fn name(&self, words: &str) -> Idle {
        let Some(recorder) = &self.recorder else {
            self.report(WorkerReport::Note(
                "There is no conversation yet; name it after your first message.".to_owned(),
            ));
            return Idle::Done;
        };
        match session_name(words).and_then(|name| Ok(recorder.rename(&name).map(|()| name)?)) {
            Ok(name) => {
                self.report(WorkerReport::Note(format!("This conversation is called {name}: haft resume {name}")));
            }
            Err(error) => self.warn(&error),
        }
        Idle::Done
    }

    /// Writes the conversation to a new file of the workspace: JSON where the name of the file says so.
    pub(super) fn export(&self, file: Option<String>) -> Idle {
        let Some(recorder) = &self.recorder else {
            self.report(WorkerReport::Note("There is no conversation to export yet.".to_owned()));
            return Idle::Done;
        };
        let id = recorder.id();
        let file = file.unwrap_or_else(|| format!("conversation-{id}.md"));
        let written = || {
            let kept = recorder.read_back()?;
            let (id, redactor) = (id.parse()?, self.host.runtime.redactor());
            let export = SessionExport::new(&id, &kept, redactor);
            let is_json = Path::new(&file).extension().is_some_and(|end| end == "json");
            let text = if is_json { format!("{:#}\n", export.json()) } else { export.markdown() };
            let path = self.host.workspace.join(&file);
            write_new_file(&path, &text).map(|()| path)
        };
        match written() {
            Ok(path) => self.report(WorkerReport::Note(format!("Wrote {}", path.display()))),
            Err(error) => self.warn(&error),
        }
        Idle::Done
    }

    /// Reports the commands of the user and the project, where they changed; says what is wrong with files once.
    pub(super) fn report_user_commands(&mut self) {
        let found = UserCommands::of(&self.host);
        let is_free = |name: &str| !slash::is_built_in(name);
        let taken = found.list().iter().filter(|command| !is_free(&command.name));
        let taken = taken.map(|command| {
            format!("note: haft skips {}: /{} is a command of haft; rename the file", command.file, command.name)
        });
        let notes: Vec<String> = found.notes.iter().cloned().chain(taken).collect();
        for note in notes {
            if self.told_notes.insert(note.clone()) {
                self.report(WorkerReport::Note(note));
            }
        }
        let facts = found.list().iter().filter(|command| is_free(&command.name)).map(|command| UserCommandFacts {
            name: command.name.clone(),
            about: command.description.clone(),
            takes: command.argument_hint.clone(),
        });
        self.report(WorkerReport::UserCommands(facts.collect()));
    }

    /// Sends the prompt of a command to the model, or to the model that the command names.
    pub(super) async fn user_command(&mut self, line: &str) -> Idle {
        let expanded = match UserCommands::of(&self.host).expand(line) {
            Ok(expanded) => expanded,
            Err(error) => {
                self.warn(&error);
                return Idle::Stopped;
            }
        };
        let Some(name) = expanded.model.clone() else { return self.prompt(expanded, line).await };
        let flags = ModelSection { name: Some(name), ..ModelSection::default() };
        match self.made_model(flags, ModelSection::default()).await {
            Ok(model) => self.prompt_to(model, expanded, line).await,
            Err(error) => {
                self.warn(&error.context(format!("the command {line} names another model")));
                Idle::Stopped
            }
        }
    }

    /// Uses another model for one prompt.
    async fn prompt_to(&mut self, model: (ModelInUse, String), expanded: ExpandedPrompt, line: &str) -> Idle {
        let (model, from) = model;
        self.report(WorkerReport::Note(format!("For this prompt: {} at {from}", model.endpoint.model)));
        let before = self.model.replace(model);
        let idle = self.prompt(expanded, line).await;
        self.model = before;
        idle
    }
}
