//! Hides secrets in every text of a result, as the last step before it leaves.
//!
//! haft's own lines name files, hosts and reasons, and those may hold a secret as well as any output. The code takes the
//! result apart field by field, without `..`: the author of a new field must decide here what it may say.

use haft_contract::doors::connection::{HostOutcome, ReachedHost};
use haft_contract::doors::process::Conflict;
use haft_contract::outcome::error::{ErrorContext, Recovery, ToolError};
use haft_contract::outcome::output::Content;
use haft_contract::outcome::result::{Did, ToolResult};

use crate::redaction::redact::Redactor;

/// Hides secrets in a result.
pub(super) fn seal(redactor: &Redactor, result: &mut ToolResult) {
    let ToolResult {
        tool,
        content,
        display,
        error,
        data,
        did,
        repairs,
        warnings,
        undeclared,
        conflicts,
        network,
        job,
        // Numbers, and words of haft's own that name nothing.
        id: _,
        status: _,
        stopped_at: _,
        spilled: _,
        limited: _,
        changes: _,
        exit_code: _,
        sandbox: _,
        left_behind: _,
        home: _,
        cached: _,
        bits: _,
        took: _,
    } = result;
    redactor.redact_in_place(tool);
    for piece in content {
        if let Content::Text(text) = piece {
            redactor.redact_in_place(text);
        }
    }
    error.iter_mut().for_each(|error| seal_error(redactor, error));
    data.iter_mut().for_each(|data| redactor.redact_value(data));
    seal_did(redactor, did);
    let lines = repairs.iter_mut().chain(warnings).chain(undeclared).chain(display).chain(job);
    lines.for_each(|line| redactor.redact_in_place(line));
    for Conflict { path, kept, theirs: _ } in conflicts {
        redactor.redact_target(path);
        kept.iter_mut().for_each(|kept| redactor.redact_target(kept));
    }
    for ReachedHost { host, outcome, .. } in network {
        redactor.redact_in_place(host);
        if let HostOutcome::Refused(why) | HostOutcome::Failed(why) = outcome {
            redactor.redact_in_place(why);
        }
    }
}

fn seal_did(redactor: &Redactor, did: &mut Did) {
    match did {
        Did::Changed { files, change_set: _ } => files.iter_mut().for_each(|file| redactor.redact_target(file)),
        // No effects of it are shown but in the text.
        Did::Nothing | Did::Unknown(_) => {}
    }
}

fn seal_error(redactor: &Redactor, error: &mut ToolError) {
    let hide = |text: &mut String| redactor.redact_in_place(text);
    hide(&mut error.what);
    if matches!(redactor.redact(&error.next.to_string()), std::borrow::Cow::Owned(_)) {
        error.next.reword(|words| redactor.redact(words).into_owned());
    }
    error.rule.iter_mut().for_each(hide);
    error.detail.iter_mut().for_each(hide);
    let ErrorContext { path, argument, note, own_type, exception, recovery, operation: _, allowed_by: _, is_defect: _ } =
        &mut error.about;
    path.iter_mut().chain(argument).chain(note).chain(own_type).chain(exception).for_each(hide);
    for recovery in recovery {
        match recovery {
            Recovery::Call { tool, arguments } => {
                hide(tool);
                arguments.values_mut().for_each(|value| redactor.redact_value(value));
            }
            Recovery::Text(text) => hide(text),
        }
    }
}
