//! The calls of `haft tour`, and the scratch folder in which they are made.

use std::path::PathBuf;

use haft_config::settings::Settings;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::outcome::result::ToolResult;
use haft_runtime::asking::approval::{Nobody, YesToOrdinary};
use haft_runtime::state::session::Session;
use haft_workspace::state::ScratchFolder;

use crate::host::Host;
use crate::options::Options;

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
pub const STOPS: [(&str, &str, &str); 6] = [
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
pub const COMMAND: (&str, &str, &str) = (
    "Then it runs a script that it has not read. The script removes one file, rewrites another, and hides something where git would run it. (The tour answers yes.)",
    "bash",
    r#"{"command": "sh tidy.sh"}"#,
);

/// A scratch workspace for the tour; it goes when this is dropped.
pub struct Tour {
    /// The folder that has the workspace and haft's own files about it.
    pub scratch: ScratchFolder,
    /// The workspace.
    pub folder: PathBuf,
    /// The workspace, ready for calls.
    pub host: Host,
    /// The session of the tour, which answers yes.
    pub session: Session,
}

impl Tour {
    /// Makes the workspace, and opens it.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be made, or the settings have a mistake.
    pub fn begin(options: &Options) -> anyhow::Result<Self> {
        let mut settings = Settings::read(options.profile)?;
        let scratch = ScratchFolder::beneath(&settings.environment.temporary_folder)?;
        for (name, content) in FILES {
            scratch.put(&format!("workspace/{name}"), content)?;
        }
        // The journal of the tour goes with the tour.
        settings.environment.state_folder = scratch.path().join("state");
        let folder = scratch.path().join("workspace");
        let host = Host::open_in(options, &folder, settings)?;
        let approver = YesToOrdinary::or_ask(Nobody::there("try it outside the tour"));
        let session = host.runtime.session("tour", approver);
        session.set_mode(options.mode);
        Ok(Self { scratch, folder, host, session })
    }
}

/// Makes a call, in a turn of its own.
pub async fn call(host: &Host, session: &Session, tool: &str, arguments: &str) -> ToolResult {
    session.begin_turn();
    host.runtime.call(session, ToolCall::new(tool, RawArguments::Text(arguments.to_owned()))).await
}

/// Quotes arguments for a shell, so that the command can be pasted.
#[must_use]
pub fn quoted(arguments: &str) -> String {
    let has_special = |special: &[char]| arguments.contains(special);
    match (has_special(&['\'']), has_special(&['"', '$', '`', '\\', '!'])) {
        (false, _) => format!("'{arguments}'"),
        (true, false) => format!("\"{arguments}\""),
        (true, true) => format!("'{}'", arguments.replace('\'', "'\\''")),
    }
}
