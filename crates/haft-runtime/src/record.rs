//! Defines the only serialised form of results and events, versioned for programs that read it.
//!
//! Fields that do not apply are left out. A change that a reader could notice gets a new version.

use base64::prelude::{BASE64_STANDARD, Engine};
use haft_contract::doors::connection::{HostOutcome, ReachedHost};
use haft_contract::doors::door::ChangeSetId;
use haft_contract::doors::process::{ConfinementLevel, Conflict};
use haft_contract::files::change_summary::KindCounts;
use haft_contract::outcome::output::{Image, ReducedLimit};
use haft_contract::outcome::result::{Did, ToolResult};
use serde::Serialize;
use serde_json::{Value, json};

use crate::asking::approval::Verdict;
use crate::events::{CallEvent, CallEventContent};

/// The version of the records.
pub const VERSION: u32 = 1;

/// The record of a result.
#[derive(Clone, Debug, Serialize)]
pub struct ResultRecord {
    v: u32,
    id: String,
    tool: String,
    status: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<ImageRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorRecord>,
    did: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_set: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spill: Option<String>,
    /// A limit that was reduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    limited: Option<LimitedRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'static str>,
    #[serde(skip_serializing_if = "is_zero")]
    left_behind: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undeclared: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<ConflictRecord>,
    /// What to do about the conflicts of a call that worked otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    network: Vec<HostRecord>,
    /// The name of the job that the call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<String>,
    /// How many files and folders it left in the home of the session.
    #[serde(skip_serializing_if = "is_zero")]
    home: usize,
    /// How old a result is that was kept from an earlier call.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bits: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    duration_ms: u64,
}

/// A file that a command and another writer changed.
#[derive(Clone, Debug, Serialize)]
struct ConflictRecord {
    path: String,
    /// Where the command's version is.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
    /// Whose version the path has.
    theirs: String,
}

impl From<&Conflict> for ConflictRecord {
    fn from(conflict: &Conflict) -> Self {
        Self {
            path: conflict.path.to_string(),
            kept: conflict.kept.as_ref().map(ToString::to_string),
            theirs: conflict.theirs.map_or("another program".to_owned(), |set| format!("change set {set}")),
        }
    }
}

/// The connections of a call to one port of one host.
#[derive(Clone, Debug, Serialize)]
struct HostRecord {
    host: String,
    /// Not there for a name that was refused when it was looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    connections: u64,
    sent: u64,
    received: u64,
    /// What was decided: `allow`, `deny`, or `ask` where the client gave up before there was an answer.
    decision: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl From<&ReachedHost> for HostRecord {
    fn from(host: &ReachedHost) -> Self {
        let (decision, outcome, why) = match &host.outcome {
            HostOutcome::Reached => ("allow", "reached", None),
            HostOutcome::Refused(why) => ("deny", "refused", Some(why.clone())),
            HostOutcome::Failed(why) if host.gave_up > 0 => ("ask", "failed", Some(why.clone())),
            HostOutcome::Failed(why) => ("allow", "failed", Some(why.clone())),
        };
        let ReachedHost { connections, sent, received, .. } = *host;
        let port = Some(host.port).filter(|port| *port != 0);
        Self { host: host.host.clone(), port, connections, sent, received, decision, outcome, why }
    }
}

#[derive(Clone, Debug, Serialize)]
struct LimitedRecord {
    asked: u64,
    used: u64,
}

/// How many files of each kind were changed.
#[derive(Clone, Copy, Debug, Serialize)]
struct ChangesRecord {
    removed: u64,
    replaced: u64,
    changed: u64,
    created: u64,
}

impl From<KindCounts> for ChangesRecord {
    fn from(KindCounts { removed, replaced, changed, created }: KindCounts) -> Self {
        Self { removed, replaced, changed, created }
    }
}

#[derive(Clone, Debug, Serialize)]
struct ImageRecord {
    media_type: &'static str,
    /// The bytes in Base64.
    data: String,
}

#[derive(Clone, Debug, Serialize)]
struct ErrorRecord {
    kind: &'static str,
    what: String,
    next: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
    /// What the person who refused said to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recovery: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl From<&Image> for ImageRecord {
    fn from(image: &Image) -> Self {
        Self { media_type: image.media_type, data: BASE64_STANDARD.encode(&image.bytes) }
    }
}

impl From<&ToolResult> for ResultRecord {
    fn from(result: &ToolResult) -> Self {
        let (did, files, change_set) = match &result.did {
            Did::Nothing => ("nothing", Vec::new(), None),
            Did::Changed { files, change_set } => (
                "changed",
                files.iter().map(ToString::to_string).collect(),
                change_set.map(|ChangeSetId(number)| number),
            ),
            Did::Unknown(_) => ("unknown", Vec::new(), None),
        };
        let error = result.error.as_ref().map(|error| ErrorRecord {
            kind: error.kind.code(),
            what: error.what.clone(),
            next: error.next.to_string(),
            at: result.stopped_at,
            rule: error.rule.clone(),
            path: error.about.path.clone(),
            operation: error.about.operation.map(|operation| operation.code()),
            note: error.about.note.clone(),
            recovery: error.about.recovery.iter().map(ToString::to_string).collect(),
        });
        Self {
            v: VERSION,
            id: result.id.to_string(),
            tool: result.tool.clone(),
            status: result.status.code(),
            content: result.text(),
            images: result.images().map(ImageRecord::from).collect(),
            error,
            did,
            change_set,
            files,
            exit_code: result.exit_code,
            repairs: result.repairs.clone(),
            warnings: result.warnings.clone(),
            spill: result.spilled.clone(),
            limited: result.limited.map(|ReducedLimit { asked, used }| LimitedRecord { asked, used }),
            changes: result.changes.map(ChangesRecord::from),
            sandbox: result.sandbox.map(ConfinementLevel::code),
            left_behind: result.left_behind,
            undeclared: result.undeclared.clone(),
            conflicts: result.conflicts.iter().map(ConflictRecord::from).collect(),
            next: (result.error.is_none() && !result.conflicts.is_empty()).then_some(Conflict::NEXT),
            network: result.network.iter().map(HostRecord::from).collect(),
            job: result.job.clone(),
            home: result.home,
            cached_ms: result.cached.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
            bits: result.bits.clone(),
            data: result.data.clone(),
            duration_ms: u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// Returns the record of a result as a value.
pub fn of_result(result: &ToolResult) -> Value {
    // Strings, numbers and lists only: there is nothing that could fail.
    serde_json::to_value(ResultRecord::from(result)).unwrap_or_default()
}

/// Returns the record of an event.
pub fn of_event(event: &CallEvent) -> Value {
    let mut record = json!({ "v": VERSION, "event": event_name(&event.what), "call": event.call.as_str() });
    match &event.what {
        CallEventContent::Started { tool, arguments } => {
            record["tool"] = tool.as_str().into();
            record["arguments"] = arguments.clone();
        }
        CallEventContent::StageFinished { stage, took, halted } => {
            record["stage"] = stage.code().into();
            record["took_us"] = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).into();
            record["halted"] = (*halted).into();
        }
        CallEventContent::ApprovalAsked(request) => {
            record["tool"] = request.tool.as_str().into();
            record["rule"] = request.ruling.rule.as_str().into();
            record["reason"] = request.ruling.reason.as_str().into();
            let effects: Vec<&str> = request.effects.iter().map(|effect| effect.words.as_str()).collect();
            record["effects"] = effects.into();
        }
        CallEventContent::ApprovalGiven { verdict, scope } => {
            record["verdict"] = verdict_name(verdict).into();
            if let Some(scope) = scope {
                record["scope"] = scope.as_str().into();
            }
        }
        CallEventContent::OutputChunk(text) => record["text"] = text.as_str().into(),
        CallEventContent::FilesChanged(files) => {
            record["files"] = files.iter().map(ToString::to_string).collect::<Vec<_>>().into();
        }
        CallEventContent::BitSet(bit) => record["bit"] = bit.code().into(),
        CallEventContent::Finished(result) | CallEventContent::Failed(result) => record["result"] = of_result(result),
    }
    record
}

fn event_name(what: &CallEventContent) -> &'static str {
    match what {
        CallEventContent::Started { .. } => "started",
        CallEventContent::StageFinished { .. } => "stage_finished",
        CallEventContent::ApprovalAsked(_) => "approval_asked",
        CallEventContent::ApprovalGiven { .. } => "approval_given",
        CallEventContent::OutputChunk(_) => "output_chunk",
        CallEventContent::FilesChanged(_) => "files_changed",
        CallEventContent::BitSet(_) => "bit_set",
        CallEventContent::Finished(_) => "finished",
        CallEventContent::Failed(_) => "failed",
    }
}

/// Returns the name of an answer in records.
pub fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::AllowOnce => "allow_once",
        Verdict::AllowFor(_) => "allow_for",
        Verdict::Refuse { .. } => "refuse",
        Verdict::StopTurn => "stop_turn",
        Verdict::NoAnswer { .. } => "no_answer",
        Verdict::NotCovered => "not_covered",
    }
}
