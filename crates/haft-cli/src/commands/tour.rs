//! `haft tour`: demonstrates haft in a scratch folder, in five seconds.
//!
//! Every result below a command comes from that command; there is no prepared output.

use haft_contract::doors::process::ConfinementLevel;
use haft_contract::outcome::result::{Did, ToolResult};
use haft_host::reports::tour::{COMMAND, STOPS, Tour, call, quoted};
use haft_workspace::history::{UndoRequest, UndoSelection};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::host::{Host, block_on};
use haft_host::texts::result_preview::result_preview;

/// Runs the command.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let Tour { scratch, folder, host, session } = Tour::begin(&common.options())?;
    screen::line(&[StyledText::Plain("Real calls in "), StyledText::Strong(&folder.display().to_string())])?;
    for (words, tool, arguments) in STOPS {
        let result = block_on(call(&host, &session, tool, arguments))?;
        head(words)?;
        show(&host, tool, arguments, &result)?;
    }
    let before = scratch.fingerprint("workspace")?;
    let (words, tool, arguments) = COMMAND;
    let result = block_on(call(&host, &session, tool, arguments))?;
    head(words)?;
    show(&host, tool, arguments, &result)?;
    weaker_here(&host)?;
    let after = scratch.fingerprint("workspace")?;
    take_back(&host)?;
    if !matches!(result.did, Did::Nothing) {
        let back = scratch.fingerprint("workspace")?;
        prove([("before the command", &before), ("after it", &after), ("now", &back)])?;
    }
    head("Now you are the model. Type, in a folder of your own:")?;
    for command in [
        "haft call list_dir",
        "haft call read_file path=README.md",
        "haft --try call bash command='rm -r *'",
        "haft undo",
        "haft doctor",
    ] {
        screen::line(&[StyledText::Plain("  "), StyledText::Plain(command)])?;
    }
    Ok(Exit::Ok)
}

/// Shows what was changed, and takes it back.
fn take_back(host: &Host) -> anyhow::Result<()> {
    if host.history.newest(1)?.sets.is_empty() {
        return head("Nothing was changed, so there is nothing to undo.");
    }
    head("This is what it changed, and how you undo it. You do not need git.")?;
    screen::line(&[StyledText::Faint("$ haft diff")])?;
    let (_, changes) = host.history.diff(None)?;
    changes.iter().try_for_each(|change| super::changes::diff::show(change, host.runtime.redactor()))?;
    screen::line(&[StyledText::Faint("$ haft undo")])?;
    let request = UndoRequest::all(UndoSelection::Newest);
    super::changes::undo::show(&host.history.request(&request)?, &request, host.runtime.redactor())
}

/// Says plainly what this system does not give.
fn weaker_here(host: &Host) -> anyhow::Result<()> {
    let confinement = host.runtime.doors().processes.confinement();
    if confinement.reached == ConfinementLevel::Full {
        return Ok(());
    }
    let reached = confinement.reached;
    let told = format!(
        "This system supports only the sandbox level \"{reached}\" for commands, so haft cannot undo what they change here:"
    );
    screen::line(&[StyledText::Bad(&told)])?;
    confinement
        .missing
        .iter()
        .try_for_each(|missing| screen::line(&[StyledText::Plain("  "), StyledText::Plain(missing)]))?;
    Ok(())
}

/// Proves that the undo restored names, modes and contents of the whole folder, with one number.
fn prove(fingerprints: [(&str, &str); 3]) -> anyhow::Result<()> {
    let [(_, before), _, (_, now)] = fingerprints;
    screen::line(&[StyledText::Plain("")])?;
    screen::line(&[StyledText::Strong("The fingerprint of the whole folder (names, modes and contents):")])?;
    for (when, fingerprint) in fingerprints {
        let shown = if fingerprint == before { StyledText::Good(fingerprint) } else { StyledText::Bad(fingerprint) };
        screen::line(&[StyledText::Plain("  "), shown, StyledText::Faint("  "), StyledText::Faint(when)])?;
    }
    if now != before {
        anyhow::bail!("undo did not restore the folder exactly; this is a defect, please report it");
    }
    Ok(())
}

fn head(words: &str) -> anyhow::Result<()> {
    screen::line(&[StyledText::Plain("")])?;
    Ok(screen::line(&[StyledText::Strong(words)])?)
}

fn show(host: &Host, tool: &str, arguments: &str, result: &ToolResult) -> anyhow::Result<()> {
    let typed = format!("{tool} {}", quoted(arguments));
    screen::line(&[StyledText::Faint("$ haft call "), StyledText::Plain(&typed)])?;
    let status = result.status.code();
    let status = if result.error.is_none() { StyledText::Good(status) } else { StyledText::Bad(status) };
    screen::line(&[StyledText::Plain("  "), status])?;
    for line in result_preview(host.runtime.catalog(), tool, result, 8) {
        screen::line(&[StyledText::Plain("  "), StyledText::Plain(&line)])?;
    }
    Ok(())
}
