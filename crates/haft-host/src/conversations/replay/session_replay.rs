//! Replays a recorded session in a copy of the workspace and reports differences.
//!
//! No model is asked. The workspace, its journal and the session are only read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use haft_agent::agent::AgentLoop;
use haft_agent::instructions::Instructions;
use haft_agent::memory::history::Past;
use haft_agent::memory::record::NoRecord;
use haft_agent::models::recorded::RecordedModel;
use haft_agent::settings::AgentSettings;
use haft_agent::work::told::RunEvent;
use haft_config::keys::ApiKeys;
use haft_config::profile::Profile;
use haft_config::settings::Settings;
use haft_contract::BoxFuture;
use haft_contract::files::path::one_line;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::{Message, ModelToolCall, Reply, ReplyPart as Piece};
use haft_policy::policy::Mode;
use haft_runtime::events::Events;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::files::Workspace;
use haft_workspace::history::WorkspaceHistory;
use haft_workspace::replica::{Back, CopyLimits, Original, Replica, ReplicaError, SessionBeginning};
use haft_workspace::state::WorkspaceState;
use haft_workspace::state::sessions::{SessionId, StoredSession};
use tokio_util::sync::CancellationToken;

use super::adapted::ReplayMapping;
use super::answered::AsThen;
use super::compared::{CallComparison, Means, Now, compare};
use super::recorded::{RecordedRun, RecordedSession, WhyNot};
use crate::conversations::session_names::newest_session;
use crate::conversations::session_records::{RunOptions, instructions};
use crate::host::Host;
use crate::notices::Notices;
use crate::opening::loaded_workspace::{LoadedWorkspace, own_folders};
use crate::opening::project_files::OnUntrusted;
use crate::options::Options;

/// Most files that are named of many.
const MOST_NAMED: usize = 8;

/// Receives what a replay finds.
pub trait ReplayOutput: Send + Sync {
    /// Reports the copy in which the session is replayed.
    ///
    /// # Errors
    ///
    /// Fails when no one reads the output any more.
    fn began(&self, beginning: &ReplayCopy<'_>) -> io::Result<()>;

    /// Hides what this redactor hides, from now on.
    fn hide_like(&self, redactor: &Redactor);

    /// Reports how a call compares.
    fn compared(&self, call: &ModelToolCall, compared: &CallComparison);

    /// Shows what running calls print, until the future is dropped.
    fn watch<'a>(&'a self, events: &'a Events) -> BoxFuture<'a, ()>;
}

/// The copy in which a session is replayed.
pub struct ReplayCopy<'a> {
    /// The session.
    pub session: String,
    /// The workspace that was copied.
    pub workspace: &'a Path,
    /// The folder that was copied instead, where one is named.
    pub from: Option<&'a Path>,
    /// How many files and folders the copy has.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
    /// The change sets that were taken back in the copy.
    pub took_back: Option<&'a [u64]>,
    /// How far the copy is what there was when the session began.
    pub notes: Vec<String>,
}

/// How a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayEnd {
    /// It went to the end of the session, or was stopped between two calls.
    Done,
    /// It was stopped before the workspace was copied.
    NotCopied,
}

/// A session that is to be done again, and where it was.
pub struct SessionReplay {
    id: SessionId,
    began_ms: u64,
    recorded: Arc<RecordedSession>,
    settings: Settings,
    workspace: PathBuf,
    state: WorkspaceState,
    /// What was changed in the workspace itself.
    history: WorkspaceHistory,
    from: Option<PathBuf>,
    /// The keys to models, which must stay hidden here too.
    keys: Vec<String>,
}

/// The copy in which a session is done again, and who hears of it.
struct ReplayScene<'a> {
    options: &'a Options,
    replica: Arc<Replica>,
    output: &'a dyn ReplayOutput,
    stop: &'a CancellationToken,
}

impl SessionReplay {
    /// Finds the session with this name, or the one used last, to replay it in a copy of the workspace or of another
    /// folder.
    ///
    /// # Errors
    ///
    /// Fails when there is no such session, or it has no reply of a model.
    pub fn of(options: &Options, session: Option<&str>, from: Option<&Path>) -> anyhow::Result<Self> {
        if !options.added.is_empty() {
            bail!(
                "a replay works in a copy of the workspace, and --add-dir names a folder that is not in it; leave it out"
            );
        }
        // A mistake in the rules is reported before anything is copied.
        let LoadedWorkspace { settings, workspace: opened, .. } = LoadedWorkspace::open(options, OnUntrusted::Ignore)?;
        let keys = ApiKeys::read(&settings.environment.config_folder)?.secrets();
        let workspace = opened.path().to_owned();
        let state = WorkspaceState::new(&settings.environment.state_folder, &workspace);
        let sessions = state.sessions();
        let id = match session {
            Some(name) => sessions.find(name)?,
            None => newest_session(&sessions)?,
        };
        let kept = sessions.read(&id)?;
        let recorded = RecordedSession::of(&kept);
        report_damage(&kept, recorded.unread, &*options.notices);
        if recorded.replies() == 0 {
            bail!(
                "session {id} has no reply of a model, so there is nothing to replay; \"haft sessions\" lists other sessions"
            );
        }
        let from = from.map(real_folder).transpose()?;
        let (began_ms, history) = (kept.began_ms.unwrap_or(0), opened.history(&state));
        Ok(Self { id, began_ms, recorded: Arc::new(recorded), settings, workspace, state, history, from, keys })
    }

    /// Replays the session.
    ///
    /// # Errors
    ///
    /// Fails when the workspace cannot be copied or opened, or the output cannot be written.
    pub async fn run(
        &self,
        options: &Options,
        output: &dyn ReplayOutput,
        stop: &CancellationToken,
    ) -> anyhow::Result<ReplayEnd> {
        let Some((replica, back)) = self.copy(stop).await? else { return Ok(ReplayEnd::NotCopied) };
        output.began(&ReplayCopy {
            session: self.id.to_string(),
            workspace: &self.workspace,
            from: self.from.as_deref(),
            entries: replica.entries,
            bytes: replica.bytes,
            took_back: back.as_ref().map(|back| back.sets.as_slice()),
            notes: self.notes(&replica, back.as_ref()),
        })?;
        let scene = ReplayScene { options, replica: Arc::new(replica), output, stop };
        let mut past = Vec::new();
        for run in &self.recorded.runs {
            if stop.is_cancelled() {
                break;
            }
            past = self.again(&scene, run, past).await?;
        }
        Ok(ReplayEnd::Done)
    }

    /// Returns the name of the session.
    #[must_use]
    pub fn session(&self) -> String {
        self.id.to_string()
    }

    /// Copies the workspace and takes back what was done since; nothing when it was stopped.
    async fn copy(&self, stop: &CancellationToken) -> anyhow::Result<Option<(Replica, Option<Back>)>> {
        let environment = &self.settings.environment;
        let original = Original {
            folder: self.from.clone().unwrap_or_else(|| self.workspace.clone()),
            left_out: own_folders(&self.settings),
            limits: CopyLimits::default(),
        };
        let (parent, stop) = (environment.temporary_folder.clone(), stop.clone());
        let moment = SessionBeginning { at_ms: self.began_ms, session: self.id.to_string() };
        let (workspace, state, is_now) = (self.workspace.clone(), self.state.clone(), self.from.is_none());
        let work = move || -> anyhow::Result<_> {
            let replica = match Replica::of(&original, &parent, &|| stop.is_cancelled()) {
                Err(ReplicaError::Stopped) => return Ok(None),
                replica => replica?,
            };
            let back = is_now.then(|| replica.back_to(&moment, &workspace, &state)).transpose();
            Ok(Some((replica, back.context("the changes since the session began cannot be read")?)))
        };
        tokio::task::spawn_blocking(work).await?
    }

    /// Does one run again; returns everything that was said by then.
    async fn again(
        &self,
        scene: &ReplayScene<'_>,
        run: &RecordedRun,
        past: Vec<Message>,
    ) -> anyhow::Result<Vec<Message>> {
        let ReplayScene { replica, output, stop, .. } = scene;
        let options = as_then(scene.options, run);
        let host = self.host(&options, replica).await?;
        host.runtime.also_hide(self.keys.iter().cloned());
        host.runtime.learn_secrets();
        output.hide_like(host.runtime.redactor());
        let approver = AsThen::new(self.recorded.clone(), &options);
        let session = host.session(&self.id.to_string(), Box::new(approver.clone()));
        let path = |path: &Path| path.display().to_string();
        let adapted = ReplayMapping::new(path(&self.workspace), path(&host.workspace), path(replica.path()));
        // Later names first: an earlier one may be the beginning of them.
        self.recorded.renamed.iter().rev().for_each(|(id, name)| adapted.note_name(id, name));
        let model = RecordedModel::new(&run.model, run.wire, run.replies.iter().cloned());
        let model = model.adapted(Box::new(|reply| self.adapted_reply(reply, &adapted, *output)));
        let told = |told: RunEvent<'_>| {
            let (call, result, answer) = match told {
                RunEvent::CallEnded { call, result, answer } => (call, Some(result), answer),
                RunEvent::NotRun { call, answer } => (call, None, answer),
                _ => return,
            };
            let then = self.recorded.then(&call.id);
            let spills = (then.and_then(|then| then.field("spill")), result.and_then(|now| now.spilled.as_deref()));
            if let (Some(then), Some(now)) = spills {
                adapted.note_name(then, now);
            }
            let reaches_beyond = approver.reaches_beyond(&call.id);
            let is_unaltered = run.replies.iter().flat_map(Reply::calls).any(|recorded| recorded == call);
            let now = Now { answer, result, reaches_beyond, is_unaltered };
            let means = Means { then: &self.history, now: &host.history, redactor: host.runtime.redactor() };
            if !stop.is_cancelled() {
                output.compared(call, &compare(then, &now, &adapted, &means));
            }
        };
        let settings = settings(&run.said, instructions(&host)?);
        let agent = AgentLoop::new(&host.runtime, &session, &model, &NoRecord);
        let mut agent = agent.with_settings(settings).going_on(Past { messages: past, ..Past::default() });
        let mut watching = output.watch(host.runtime.events());
        let mut prompt = run.prompt.clone().unwrap_or_default();
        while model.left() > 0 && !stop.is_cancelled() {
            let mut working = Box::pin(agent.run(std::mem::take(&mut prompt), &told, stop));
            loop {
                tokio::select! {
                    biased;
                    _ = &mut working => break,
                    () = &mut watching => {}
                }
            }
        }
        Ok(agent.messages().to_vec())
    }

    /// Gets everything ready in the copy, as a process of its own would.
    async fn host(&self, options: &Options, replica: &Arc<Replica>) -> anyhow::Result<Host> {
        let (options, replica, workspace) = (options.clone(), replica.clone(), self.workspace.clone());
        // Tools may be asked what they are, and that is waited for.
        tokio::task::spawn_blocking(move || Host::open_copy(&options, &replica, &workspace)).await?
    }

    /// Makes a reply mean the copy, and leaves out the calls that are not run again.
    fn adapted_reply(&self, reply: Reply, adapted: &ReplayMapping, output: &dyn ReplayOutput) -> Reply {
        let part = |part: Piece| match part {
            Piece::Call(call) => match self.why_not(&call) {
                Some(why) => {
                    output.compared(&call, &CallComparison::Not(why.words().to_owned()));
                    None
                }
                None => Some(Piece::Call(adapted.call(&call))),
            },
            other => Some(other),
        };
        Reply { parts: reply.parts.into_iter().filter_map(part).collect(), ..reply }
    }

    fn why_not(&self, call: &ModelToolCall) -> Option<WhyNot> {
        if call.is_cut {
            return None;
        }
        self.recorded.then(&call.id).map_or(Some(WhyNot::Unknown), |then| then.why_not())
    }

    /// Says how far the copy is what there was when the session began.
    fn notes(&self, replica: &Replica, back: Option<&Back>) -> Vec<String> {
        let mut notes = Vec::new();
        if replica.abandoned > 0 {
            let copies = GroupedNumber(replica.abandoned as u64).of("earlier replay");
            notes.push(format!("removed what {copies} left behind when killed"));
        }
        let why = |(path, why): &(PathBuf, String)| format!("{} ({why})", path.display());
        if !replica.not_copied.is_empty() {
            notes.push(format!("not copied: {}", some_of(replica.not_copied.iter().map(why))));
        }
        let reaching = self.settings.hooks.iter().filter(|hook| hook.network);
        let hooks: Vec<String> = reaching.map(|hook| one_line(&hook.name).into_owned()).collect();
        if !hooks.is_empty() {
            notes.push(format!("hooks do not reach the network from a copy: {}", some_of(hooks.into_iter())));
        }
        let Some(back) = back else { return notes };
        if !back.of_others.is_empty() {
            let sets = crate::changes::change_log::numbers(&back.of_others);
            notes.push(format!("undone in the copy, although the session did not make them: change sets {sets}"));
        }
        if !back.not_back.is_empty() {
            notes.push(format!(
                "not restored to the beginning of the session: {}",
                some_of(back.not_back.iter().map(why))
            ));
        }
        if !back.changed_otherwise.is_empty() {
            let names = some_of(back.changed_otherwise.iter().map(|path| path.display().to_string()));
            notes.push(format!(
                "changed since the session began, but not by haft, so the copy has their current state: {names}"
            ));
        }
        notes.extend(back.notes.iter().cloned());
        notes
    }
}

/// Keeps to what was said then, where nothing is said now.
fn as_then(options: &Options, run: &RecordedRun) -> Options {
    let said = &run.said;
    Options {
        dialect: options.dialect.clone().or_else(|| said.dialect.clone()),
        profile: options.profile.or_else(|| Profile::named(said.profile.as_deref()?)),
        mode: match options.mode {
            Mode::Normal if said.plan => Mode::Plan,
            Mode::Normal if said.tries => Mode::Try,
            mode => mode,
        },
        ..options.clone()
    }
}

/// How far it went then is how far it goes now, and what the model could not see any more it cannot see now.
fn settings(said: &RunOptions, instructions: Instructions) -> AgentSettings {
    let usual = AgentSettings::default();
    AgentSettings {
        max_steps: u32::MAX,
        window: said.window.unwrap_or(usual.window),
        most_tokens: said.reply_tokens,
        instructions,
        ..usual
    }
}

fn real_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    let opened = Workspace::open(folder);
    let opened = opened.with_context(|| format!("{} cannot be opened; name a folder with --from", folder.display()))?;
    Ok(opened.path().to_owned())
}

fn some_of(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let mut named: Vec<String> = names.take(MOST_NAMED).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

fn report_damage(kept: &StoredSession, unread: usize, notices: &dyn Notices) {
    let damage = &kept.damage;
    let places = damage.places + unread + usize::from(damage.torn > 0);
    if places > 0 {
        let places = GroupedNumber(places as u64).of("place");
        notices
            .note(&format!("warning: {places} of the session cannot be read; haft does not replay what it had there"));
    }
}
