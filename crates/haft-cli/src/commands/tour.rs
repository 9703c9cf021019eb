//! `haft tour`: the real thing in a scratch folder, in five seconds.
//!
//! Every result below a command comes from that command; there is no prepared output.

use haft_config::settings::Settings;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::process::Level;
use haft_contract::result::{Did, ToolResult};
use haft_runtime::approval::{Nobody, YesToOrdinary};
use haft_runtime::session::Session;
use haft_workspace::history::{UndoRequest, Which};
use haft_workspace::state::ScratchFolder;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, Part};
use haft_host::host::{Host, block_on};

/// Files of the scratch folder.
const FILES: [(&str, &str); 4] = [
    ("README.md", "# A scratch folder\n\nhaft removes it when the tour ends.\n"),
    ("src/main.rs", "fn main() {\n    println!(\"hello from the scratch folder\");\n    println!(\"good bye\");\n}\n"),
    ("notes.txt", "milk\nbread\napples\n"),
    (
        "tidy.sh",
        "rm notes.txt\nsed -i s/see/miss/ src/main.rs\nmkdir -p .git/hooks\necho gotcha > .git/hooks/pre-commit\n",
    ),
];

/// One stop of the tour: what it shows, the tool, and the arguments exactly as a model might send them.
const STOPS: [(&str, &str, &str); 6] = [
    ("A model reads a file.", "read_file", r#"{"path": "src/main.rs"}"#),
    (
        "It sends broken JSON with a number in quotes. There is one sensible reading, so haft repairs the call and says so.",
        "read_file",
        r"{'path': 'notes.txt', 'limit': '2',}",
    ),
    (
        "It misspells a name. The error names a similar file and the next step.",
        "read_file",
        r#"{"path": "src/mian.rs"}"#,
    ),
    (
        "It changes a file. Its text lacks the indentation. Only one place fits, so haft indents the text and says so. (The tour answers yes.)",
        "edit_file",
        r#"{"path": "src/main.rs", "edits": [{"old_text": "println!(\"hello from the scratch folder\");\nprintln!(\"good bye\");", "new_text": "println!(\"hello\");\nprintln!(\"see you\");", "count": "unique"}]}"#,
    ),
    (
        "It tries to leave the folder. A rule refuses before haft opens anything.",
        "read_file",
        r#"{"path": "../../etc/passwd"}"#,
    ),
    (
        "It hides a wipe in quotes and variables. haft reads the command as bash does, and a rule refuses.",
        "bash",
        r#"{"command": "c='r''m'; timeout 9 \"$c\" -rf ~ && echo done"}"#,
    ),
];

/// The command of the tour: a script that removes a file, changes one, and leaves something behind that git would run.
const COMMAND: (&str, &str, &str) = (
    "Then it runs a script that it has not read. The script removes one file, rewrites another, and hides something where git would run it. (The tour answers yes.)",
    "bash",
    r#"{"command": "sh tidy.sh"}"#,
);

/// Runs the command.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let mut settings = Settings::read(common.profile)?;
    let scratch = ScratchFolder::beneath(&settings.environment.temporary_folder)?;
    for (name, content) in FILES {
        scratch.put(&format!("workspace/{name}"), content)?;
    }
    // The journal of the tour goes with the tour.
    settings.environment.state_folder = scratch.path().join("state");
    let folder = scratch.path().join("workspace");
    let host = Host::open_in(&common.options(), &folder, settings)?;
    let approver = YesToOrdinary::or_ask(Nobody::there("try it outside the tour"));
    let session = host.runtime.session("tour", approver);
    session.set_mode(common.mode());
    screen::line(&[Part::Plain("Real calls in "), Part::Strong(&folder.display().to_string())])?;
    for (words, tool, arguments) in STOPS {
        let result = block_on(call(&host, &session, tool, arguments))?;
        show(&host, (words, tool, arguments), &result)?;
    }
    let before = scratch.fingerprint("workspace")?;
    let result = block_on(call(&host, &session, COMMAND.1, COMMAND.2))?;
    show(&host, COMMAND, &result)?;
    weaker_here(&host)?;
    let after = scratch.fingerprint("workspace")?;
    take_back(&host)?;
    if !matches!(result.did, Did::Nothing) {
        let back = scratch.fingerprint("workspace")?;
        prove([("before the command", &before), ("after it", &after), ("now", &back)])?;
    }
    screen::line(&[Part::Plain("")])?;
    screen::line(&[Part::Strong("Now you are the model. Type, in a folder of your own:")])?;
    for command in [
        "haft call list_dir",
        "haft call read_file path=README.md",
        "haft --try call bash command='rm -r *'",
        "haft undo",
        "haft doctor",
    ] {
        screen::line(&[Part::Plain("  "), Part::Plain(command)])?;
    }
    Ok(Exit::Ok)
}

/// Shows what was changed, and takes it back.
fn take_back(host: &Host) -> anyhow::Result<()> {
    screen::line(&[Part::Plain("")])?;
    if host.history.newest(1)?.sets.is_empty() {
        return Ok(screen::line(&[Part::Strong("Nothing was changed, so there is nothing to undo.")])?);
    }
    screen::line(&[Part::Strong("This is what it changed, and how you undo it. You do not need git.")])?;
    screen::line(&[Part::Faint("$ haft diff")])?;
    let (_, changes) = host.history.diff(None)?;
    changes.iter().try_for_each(|change| super::diff::show(change, host.runtime.redactor()))?;
    screen::line(&[Part::Faint("$ haft undo")])?;
    let request = UndoRequest::all(Which::Newest);
    super::undo::show(&host.history.request(&request)?, &request, host.runtime.redactor())
}

/// Says plainly what this system does not give.
fn weaker_here(host: &Host) -> anyhow::Result<()> {
    let confinement = host.runtime.doors().processes.confinement();
    if confinement.reached == Level::Full {
        return Ok(());
    }
    let reached = confinement.reached;
    let told = format!(
        "This system supports only the sandbox level \"{reached}\" for commands, so haft cannot undo what they change here:"
    );
    screen::line(&[Part::Bad(&told)])?;
    confinement.missing.iter().try_for_each(|missing| screen::line(&[Part::Plain("  "), Part::Plain(missing)]))?;
    Ok(())
}

/// Shows that everything is as it was: names, modes and contents of the whole folder in one number.
fn prove(fingerprints: [(&str, &str); 3]) -> anyhow::Result<()> {
    let [(_, before), _, (_, now)] = fingerprints;
    screen::line(&[Part::Plain("")])?;
    screen::line(&[Part::Strong("The fingerprint of the whole folder (names, modes and contents):")])?;
    for (when, fingerprint) in fingerprints {
        let shown = if fingerprint == before { Part::Good(fingerprint) } else { Part::Bad(fingerprint) };
        screen::line(&[Part::Plain("  "), shown, Part::Faint("  "), Part::Faint(when)])?;
    }
    if now != before {
        anyhow::bail!("undo did not restore the folder exactly; this is a defect, please report it");
    }
    Ok(())
}

async fn call(host: &Host, session: &Session, tool: &str, arguments: &str) -> ToolResult {
    session.begin_turn();
    host.runtime.call(session, ToolCall::new(tool, RawArguments::Text(arguments.to_owned()))).await
}

fn show(host: &Host, (words, tool, arguments): (&str, &str, &str), result: &ToolResult) -> anyhow::Result<()> {
    screen::line(&[Part::Plain("")])?;
    screen::line(&[Part::Strong(words)])?;
    let typed = format!("{tool} {}", quoted(arguments));
    screen::line(&[Part::Faint("$ haft call "), Part::Plain(&typed)])?;
    let status = result.status.code();
    let status = if result.error.is_none() { Part::Good(status) } else { Part::Bad(status) };
    screen::line(&[Part::Plain("  "), status])?;
    let summary = match host.runtime.catalog().find(tool) {
        Some(entry) => entry.tool().summary(result, 8),
        None => result.default_summary(8),
    };
    for line in summary {
        screen::line(&[Part::Plain("  "), Part::Plain(&line)])?;
    }
    Ok(())
}

/// Quotes arguments for a shell, so that the command can be pasted.
fn quoted(arguments: &str) -> String {
    let has_special = |special: &[char]| arguments.contains(special);
    match (has_special(&['\'']), has_special(&['"', '$', '`', '\\', '!'])) {
        (false, _) => format!("'{arguments}'"),
        (true, false) => format!("\"{arguments}\""),
        (true, true) => format!("'{}'", arguments.replace('\'', "'\\''")),
    }
}
