//! Describes the languages of snippets: which program runs them, and how haft sends a snippet to it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use haft_contract::prelude::*;
use serde_json::json;

use crate::defined::bound::python::Interpreter;

const PYTHON: &str = include_str!("kernel.py");
const JAVASCRIPT: &str = include_str!("kernel.js");
const SHELL: &str = include_str!("kernel.sh");

/// The language of a snippet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SnippetLanguage {
    Python,
    JavaScript,
    Shell,
}

/// The program that runs snippets.
pub(super) struct InterpreterProgram {
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// What it consists of outside the workspace and the system, by real paths.
    pub(super) parts: Vec<PathBuf>,
}

impl SnippetLanguage {
    pub(super) fn name(self) -> &'static str {
        match self {
            SnippetLanguage::Python => "Python",
            SnippetLanguage::JavaScript => "JavaScript",
            SnippetLanguage::Shell => "shell",
        }
    }

    /// Returns the program by which rules know snippets of this language.
    pub(super) fn program(self) -> &'static str {
        match self {
            SnippetLanguage::Python => "python3",
            SnippetLanguage::JavaScript => "node",
            SnippetLanguage::Shell => "bash",
        }
    }

    /// Returns the command that would run the snippet alone. It is what is judged, shown and admitted.
    pub(super) fn line(self, code: &str) -> String {
        let option = match self {
            SnippetLanguage::Python => "-c",
            SnippetLanguage::JavaScript => "-e",
            SnippetLanguage::Shell => return code.to_owned(),
        };
        format!("{} {option} '{}'", self.program(), code.replace('\'', r"'\''"))
    }

    /// Finds the interpreter: for Python that of the project's virtual environment first.
    pub(super) fn interpreter(self, folder: &Path, cx: &RunContext<'_>) -> Result<InterpreterProgram, ToolError> {
        let found = match self {
            SnippetLanguage::Python => Interpreter::of_workspace(folder, cx).map(|found| (found.program, found.parts)),
            SnippetLanguage::JavaScript => cx.find_program(&["node", "nodejs"]).map(|program| (program, Vec::new())),
            SnippetLanguage::Shell => cx.find_program(&["bash"]).map(|program| (program, Vec::new())),
        };
        let Some((program, parts)) = found else {
            let what = format!("There is no {} interpreter here. Nothing was run.", self.name());
            let next = format!("use another language, or ask the user to install {}", self.program());
            return Err(ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next)));
        };
        let options: &[&str] = match self {
            SnippetLanguage::Python => &["-I", "-B", "-X", "utf8", "-c", PYTHON],
            SnippetLanguage::JavaScript => &["-e", JAVASCRIPT],
            SnippetLanguage::Shell => &["--noprofile", "--norc", "-c", SHELL],
        };
        let words = std::iter::once(program.into_os_string()).chain(options.iter().map(OsString::from)).collect();
        Ok(InterpreterProgram { words, parts })
    }

    pub(super) fn environment(self) -> Vec<(OsString, OsString)> {
        match self {
            // Figures are drawn without a screen.
            SnippetLanguage::Python => vec![("MPLBACKEND".into(), "Agg".into())],
            SnippetLanguage::JavaScript | SnippetLanguage::Shell => Vec::new(),
        }
    }

    /// Returns the line that orders a snippet.
    pub(super) fn order(self, number: u64, code: &str, folder: &Path) -> Vec<u8> {
        let folder = folder.to_string_lossy();
        match self {
            SnippetLanguage::Python | SnippetLanguage::JavaScript => {
                json!({ "call": number, "code": code, "folder": folder }).to_string().into_bytes()
            }
            SnippetLanguage::Shell => format!("{number} {} {}", one_word(&folder), one_word(code)).into_bytes(),
        }
    }

    /// Says that the interpreter is the first one.
    pub(super) fn new_words(self, program: &OsStr) -> String {
        format!("new {} interpreter: {}", self.name(), Path::new(program).display())
    }

    /// Says that the interpreter is a new one, in the place of one with state.
    pub(super) fn renewed_words(self, program: &OsStr) -> String {
        let (name, program) = (self.name(), Path::new(program).display());
        format!("the {name} interpreter could not go on; this is a new one ({program}), without state")
    }
}

/// Writes a text as one word on one line, as bash reads it.
fn one_word(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n");
    format!("$'{escaped}'")
}
