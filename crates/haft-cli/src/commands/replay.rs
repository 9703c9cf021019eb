//! `haft replay`: does a recorded session once more, in a copy of the workspace, and says where it comes to something else.
//!
//! No model is asked. The workspace, its journal and the session are only read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use haft_agent::agent::Agent;
use haft_agent::history::Past;
use haft_agent::instructions::Instructions;
use haft_agent::record::Unrecorded;
use haft_agent::recorded::RecordedModel;
use haft_agent::settings::Settings as AgentSettings;
use haft_agent::told::Told;
use haft_config::keys::Keys;
use haft_config::profile::Profile;
use haft_config::settings::Settings;
use haft_contract::grouped::Grouped;
use haft_contract::path::one_line;
use haft_model::conversation::{Call, Message, Part as Piece, Reply};
use haft_runtime::record::VERSION;
use haft_workspace::files::Workspace;
use haft_workspace::history::History;
use haft_workspace::replica::{Back, CopyLimits, Moment, Original, Replica, ReplicaError};
use haft_workspace::state::WorkspaceState;
use haft_workspace::state::sessions::{Kept, SessionId};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::resume::newest;
use crate::agent::asked_to_stop::{Asked, AskedToStop};
use crate::agent::kept::Said;
use crate::agent::work::instructions;
use crate::arguments::Common;
use crate::brought::Manner;
use crate::desk::{Desk, block_on};
use crate::exit::Exit;
use crate::ground::{Ground, own_folders};
use crate::live::Live;
use crate::replay::adapted::Adapted;
use crate::replay::answered::AsThen;
use crate::replay::compared::{Compared, Means, Now, compare};
use crate::replay::recorded::{Recorded, RecordedRun, WhyNot};
use crate::replay::told::{Tally, Telling};
use crate::screen::{self, Part};

/// Most files that are named of many.
const MOST_NAMED: usize = 8;

/// How long a copy may take to go when somebody wants the end at once.
const TO_CLEAN_UP: Duration = Duration::from_secs(3);

/// Arguments of `haft replay`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft replay
  haft replay k3f9-q2bx --json
  haft replay k3f9-q2bx --from ../checkout-of-that-day

The replies that the model gave then are given again, and each call runs with the tools and rules of now. Where it all
began is found by taking back, in the copy, what haft has changed here since; what cannot be taken back is named.
What the user allowed then is allowed again as far as it stays in the copy. Exit codes: 0 nothing differs, 1 something
does, 2 usage or configuration, 130 stopped.")]
pub(crate) struct Replay {
    /// The session, as "haft sessions" names it; the one used last in this workspace if left out
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Begin with a copy of this folder, as it is
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
}

/// A session that is to be done again, and where it was.
struct Plan {
    id: SessionId,
    began_ms: u64,
    recorded: Arc<Recorded>,
    settings: Settings,
    workspace: PathBuf,
    state: WorkspaceState,
    /// What was changed in the workspace itself.
    history: History,
    from: Option<PathBuf>,
    /// The keys to models, which nobody is to see here either.
    keys: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Replay) -> anyhow::Result<Exit> {
    if !common.added.is_empty() {
        bail!(
            "a replay works in a copy of the workspace, and --add-dir names a folder that is not in it; leave it out"
        );
    }
    let plan = Plan::of(common, arguments)?;
    block_on(async {
        let stop = CancellationToken::new();
        let telling = Telling::new(common.json, &stop);
        let mut asked = AskedToStop::listen()?;
        let replaying = plan.replay(common, &telling, &stop);
        tokio::pin!(replaying);
        loop {
            tokio::select! {
                biased;
                wish = asked.next(&stop) => match wish {
                    Asked::ToEnd => {
                        // A copy that is under way is removed by whoever makes it, which was told to stop before.
                        let _ = tokio::time::timeout(TO_CLEAN_UP, &mut replaying).await;
                        return Ok(Exit::Interrupted);
                    }
                    Asked::ToStop => stop.cancel(),
                },
                ended = &mut replaying => return ended,
            }
        }
    })?
}

impl Plan {
    fn of(common: &Common, arguments: &Replay) -> anyhow::Result<Self> {
        // A mistake in the rules is told before anything is copied.
        let Ground { settings, workspace: opened, .. } = Ground::open(common, Manner::Silent)?;
        let keys = Keys::read(&settings.environment.config_folder)?.secrets();
        let workspace = opened.path().to_owned();
        let state = WorkspaceState::new(&settings.environment.state_folder, &workspace);
        let sessions = state.sessions();
        let id = match &arguments.session {
            Some(name) => sessions.find(name)?,
            None => newest(&sessions)?,
        };
        let kept = sessions.read(&id)?;
        let recorded = Recorded::of(&kept);
        tell_damage(&kept, recorded.unread);
        if recorded.replies() == 0 {
            bail!(
                "no reply of a model is in session {id}, so there is nothing to do again; \"haft sessions\" lists others"
            );
        }
        let from = arguments.from.as_deref().map(real_folder).transpose()?;
        let (began_ms, history) = (kept.began_ms.unwrap_or(0), opened.history(&state));
        Ok(Self { id, began_ms, recorded: Arc::new(recorded), settings, workspace, state, history, from, keys })
    }

    async fn replay(&self, common: &Common, telling: &Telling<'_>, stop: &CancellationToken) -> anyhow::Result<Exit> {
        let Some((replica, back)) = self.copy(stop).await? else {
            screen::talk("Stopped before the workspace was copied.");
            return Ok(Exit::Interrupted);
        };
        self.tell_beginning(common, telling, (&replica, &back))?;
        let replica = Arc::new(replica);
        let mut past = Vec::new();
        for run in &self.recorded.runs {
            if stop.is_cancelled() {
                break;
            }
            past = self.again(common, (run, past), &replica, (telling, stop)).await?;
        }
        let tally = telling.tally();
        let exit = exit_of(tally, stop.is_cancelled());
        if common.json {
            telling.print(&json!({
                "v": VERSION, "event": "ended", "session": self.id.to_string(), "same": tally.same,
                "differs": tally.differs, "not_comparable": tally.not_comparable, "exit_code": exit.code()
            }))?;
        } else {
            let stopped = if exit == Exit::Interrupted { "Stopped. " } else { "" };
            screen::line(&[Part::Strong(&format!("{stopped}{}", tally.words()))])?;
        }
        Ok(exit)
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
        let moment = Moment { at_ms: self.began_ms, session: self.id.to_string() };
        let (workspace, state, is_now) = (self.workspace.clone(), self.state.clone(), self.from.is_none());
        let work = move || -> anyhow::Result<_> {
            let replica = match Replica::of(&original, &parent, &|| stop.is_cancelled()) {
                Err(ReplicaError::Stopped) => return Ok(None),
                replica => replica?,
            };
            let back = is_now.then(|| replica.back_to(&moment, &workspace, &state)).transpose();
            Ok(Some((replica, back.context("what was changed since the session began cannot be looked at")?)))
        };
        tokio::task::spawn_blocking(work).await?
    }

    /// Does one run again; returns everything that was said by then.
    async fn again(
        &self,
        common: &Common,
        (run, past): (&RecordedRun, Vec<Message>),
        replica: &Arc<Replica>,
        (telling, stop): (&Telling<'_>, &CancellationToken),
    ) -> anyhow::Result<Vec<Message>> {
        let common = as_then(common, run);
        let desk = self.desk(&common, replica).await?;
        desk.runtime.also_hide(self.keys.iter().cloned());
        desk.runtime.learn_secrets();
        telling.hide_like(desk.runtime.redactor());
        let approver = AsThen::new(self.recorded.clone(), common.yes);
        let session = desk.session_answered_by(&self.id.to_string(), &common, Box::new(approver.clone()));
        let path = |path: &Path| path.display().to_string();
        let adapted = Adapted::new(path(&self.workspace), path(&desk.workspace), path(replica.path()));
        // Later names first: an earlier one may be the beginning of them.
        self.recorded.renamed.iter().rev().for_each(|(id, name)| adapted.note_name(id, name));
        let model = RecordedModel::new(&run.model, run.wire, run.replies.iter().cloned());
        let model = model.adapted(Box::new(|reply| self.adapted_reply(reply, &adapted, telling)));
        let told = |told: Told<'_>| {
            let (call, result, answer) = match told {
                Told::CallEnded { call, result, answer } => (call, Some(result), answer),
                Told::NotRun { call, answer } => (call, None, answer),
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
            let means = Means { then: &self.history, now: &desk.history, redactor: desk.runtime.redactor() };
            if !stop.is_cancelled() {
                telling.compared(call, &compare(then, &now, &adapted, &means));
            }
        };
        let settings = settings(&run.said, instructions(&desk, &common)?);
        let agent = Agent::new(&desk.runtime, &session, &model, &Unrecorded);
        let mut agent = agent.with_settings(settings).going_on(Past { messages: past, ..Past::default() });
        let mut live = Live::new(desk.runtime.events()).on(telling.line.clone());
        let mut prompt = run.prompt.clone().unwrap_or_default();
        while model.left() > 0 && !stop.is_cancelled() {
            let mut working = Box::pin(agent.run(std::mem::take(&mut prompt), &told, stop));
            loop {
                tokio::select! {
                    biased;
                    _ = &mut working => break,
                    () = live.step() => {}
                }
            }
        }
        Ok(agent.messages().to_vec())
    }

    /// Gets everything ready in the copy, as a process of its own would.
    async fn desk(&self, common: &Common, replica: &Arc<Replica>) -> anyhow::Result<Desk> {
        let (common, replica, workspace) = (common.clone(), replica.clone(), self.workspace.clone());
        // Tools may be asked what they are, and that is waited for.
        tokio::task::spawn_blocking(move || Desk::open_copy(&common, &replica, &workspace)).await?
    }

    /// Makes a reply mean the copy, and leaves out the calls that are not run again.
    fn adapted_reply(&self, reply: Reply, adapted: &Adapted, telling: &Telling<'_>) -> Reply {
        let part = |part: Piece| match part {
            Piece::Call(call) => match self.why_not(&call) {
                Some(why) => {
                    telling.compared(&call, &Compared::Not(why.words().to_owned()));
                    None
                }
                None => Some(Piece::Call(adapted.call(&call))),
            },
            other => Some(other),
        };
        Reply { parts: reply.parts.into_iter().filter_map(part).collect(), ..reply }
    }

    fn why_not(&self, call: &Call) -> Option<WhyNot> {
        if call.is_cut {
            return None;
        }
        self.recorded.then(&call.id).map_or(Some(WhyNot::Unknown), |then| then.why_not())
    }

    fn tell_beginning(
        &self,
        common: &Common,
        telling: &Telling<'_>,
        (replica, back): (&Replica, &Option<Back>),
    ) -> anyhow::Result<()> {
        let notes = self.notes(replica, back.as_ref());
        if common.json {
            let sets = back.as_ref().map(|back| &back.sets);
            telling.print(&json!({
                "v": VERSION, "event": "replay", "session": self.id.to_string(), "workspace": self.workspace,
                "from": self.from, "entries": replica.entries, "bytes": replica.bytes, "took_back": sets, "notes": notes
            }))?;
            return Ok(());
        }
        let size = match replica.bytes {
            bytes @ ..1_048_576 => Grouped(bytes).of("byte"),
            bytes => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        };
        let things = match replica.entries {
            1 => "one file".to_owned(),
            entries => format!("{} files and folders", Grouped(entries)),
        };
        screen::talk_part(&Part::Faint(&format!("session {} again, in a copy of {things}, {size}", self.id)));
        notes.iter().for_each(|note| screen::talk(&format!("note: {note}")));
        Ok(())
    }

    /// Says how far the copy is what there was when the session began.
    fn notes(&self, replica: &Replica, back: Option<&Back>) -> Vec<String> {
        let mut notes = Vec::new();
        if replica.abandoned > 0 {
            let copies = Grouped(replica.abandoned as u64).of("earlier replay");
            notes.push(format!("removed what {copies} had left behind when killed"));
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
            let sets = super::undo::numbers(&back.of_others);
            notes.push(format!(
                "taken back in the copy, although others than the session made them: change sets {sets}"
            ));
        }
        if !back.not_back.is_empty() {
            notes.push(format!("not as when the session began: {}", some_of(back.not_back.iter().map(why))));
        }
        if !back.changed_otherwise.is_empty() {
            let names = some_of(back.changed_otherwise.iter().map(|path| path.display().to_string()));
            notes.push(format!("changed since the session began, not by haft, so they are as they are now: {names}"));
        }
        notes.extend(back.notes.iter().cloned());
        notes
    }
}

/// Keeps to what was said then, where nothing is said now.
fn as_then(common: &Common, run: &RecordedRun) -> Common {
    let said = &run.said;
    Common {
        dialect: common.dialect.clone().or_else(|| said.dialect.clone()),
        profile: common.profile.or_else(|| Profile::named(said.profile.as_deref()?)),
        plan: common.plan || said.plan,
        tries: common.tries || said.tries,
        ..common.clone()
    }
}

/// How far it went then is how far it goes now, and what the model could not see any more it cannot see now.
fn settings(said: &Said, instructions: Instructions) -> AgentSettings {
    let usual = AgentSettings::default();
    AgentSettings {
        max_steps: u32::MAX,
        window: said.window.unwrap_or(usual.window),
        most_tokens: said.reply_tokens,
        instructions,
        ..usual
    }
}

fn exit_of(tally: Tally, is_stopped: bool) -> Exit {
    match tally {
        _ if is_stopped => Exit::Interrupted,
        Tally { differs: 1.., .. } => Exit::Failed,
        Tally { .. } => Exit::Ok,
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

fn tell_damage(kept: &Kept, unread: usize) {
    let damage = &kept.damage;
    let places = damage.places + unread + usize::from(damage.torn > 0);
    if places > 0 {
        let places = Grouped(places as u64).of("place");
        screen::talk(&format!(
            "warning: {places} of the session cannot be read; what was said or done there is not done again"
        ));
    }
}
