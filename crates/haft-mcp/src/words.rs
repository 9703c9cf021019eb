//! What a model is told about the tools as a whole, once.

use haft_host::toolbox::Toolbox;
use haft_runtime::runtime::Runtime;

/// Tells how the tools are used well; without a toolbox the workspace is not known yet.
pub(crate) fn instructions(toolbox: Option<&Toolbox>) -> String {
    let place = match toolbox {
        Some(toolbox) => format!("The workspace is {}.", toolbox.host().workspace.display()),
        None => "The workspace is the root that your client names.".to_owned(),
    };
    let mut lines = vec![format!("{place} Paths are relative to it; what lies outside is refused or asked about.")];
    let named =
        |native: &str| toolbox.map_or_else(|| Some(native.to_owned()), |at| shown_name(&at.host().runtime, native));
    if let Some(edit) = named("edit_file") {
        lines.push(format!(
            "Change files with \"{edit}\" and not with sed or a script: it finds the place or says what came near."
        ));
    }
    if let Some(read) = named("read_file") {
        lines.push(format!("Read a file with \"{read}\" before you overwrite it; one that changed since is refused."));
        lines.push(format!(
            "A long output is cut in the middle. The whole of it is at \"spill:ID\" of the result: page through it with \"{read}\"."
        ));
    }
    if let (Some(grep), Some(glob)) = (named("grep"), named("glob")) {
        lines.push(format!("Search contents with \"{grep}\" and names with \"{glob}\" before you read whole files."));
    }
    if let Some(bash) = named("bash") {
        lines.push(format!(
            "Commands of \"{bash}\" run in a sandbox without network unless it is allowed; a non-zero exit code is output, not an error."
        ));
    }
    lines.push(
        "Every change, also of a command, can be taken back: the user says \"haft undo\", \"haft log\" lists them."
            .into(),
    );
    lines.push("A failed call says what happened, whether anything was changed, and what to do next: do that.".into());
    lines.push(
        "A refusal is a decision of a rule or of the user. Do not look for a way around it; say what you need and why."
            .into(),
    );
    lines.push("Independent calls may be sent together. The resource haft://log says what was changed here.".into());
    lines.join("\n")
}

fn shown_name(runtime: &Runtime, native: &str) -> Option<String> {
    let list = runtime.catalog().list();
    list.iter().find(|entry| entry.native_name() == native).map(|entry| entry.shown().name.clone())
}
