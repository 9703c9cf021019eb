//! Speaks as TunaCode: three classes of errors, each with its own fields and wording; commands in sections.

use haft_contract::description::dialect::CallOutcome;
use haft_contract::files::path::one_line;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::{ErrorKind, Vocabulary};
use serde_json::{Map, Value, json};

use super::command::CommandTold;
use super::{Voice, lines};

/// Longest command that is repeated above its output, in characters.
const LONGEST_COMMAND: usize = 200;

pub(in crate::dialect) struct Tunacode;

impl Voice for Tunacode {
    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String> {
        let told = CommandTold::of(outcome)?;
        let command: String = one_line(told.command).chars().take(LONGEST_COMMAND).collect();
        let folder = outcome.arguments.get("cwd").and_then(Value::as_str).unwrap_or(".");
        let code = told.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let section = |text: &str, otherwise: &str| {
            let text = text.trim_end_matches('\n');
            if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
        };
        let (out, err) = (section(told.out, "(no output)"), section(told.err, "(no errors)"));
        Some(format!(
            "Command: {command}\nExit Code: {code}\nWorking Directory: {}\n\nSTDOUT:\n{out}\n\nSTDERR:\n{err}\n{}",
            one_line(folder),
            told.said
        ))
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String {
        let told = lines([Some(error.what.as_str()), happened]);
        let next = error.next.to_string();
        let fix = format!("\n\nSuggested fix: {next}");
        let recovery: String = error.about.recovery.iter().map(|command| format!("\n  • {command}")).collect();
        let recovery = if recovery.is_empty() { recovery } else { format!("\n\nRecovery commands:{recovery}") };
        match class(error) {
            "FileOperationError" => {
                let (operation, path) = (operation(error), path(error, outcome));
                format!("File {operation} failed for '{path}': {told}{fix}{recovery}")
            }
            "ToolExecutionError" => format!("Tool '{}' failed: {told}{fix}{recovery}", outcome.tool),
            _ => format!("{told}\nNext: {next}"),
        }
    }

    fn object(&self, _content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        let error = outcome.error?;
        let class = class(error);
        let mut fields = Map::from_iter([("error".to_owned(), json!(class))]);
        if class == "FileOperationError" {
            fields.insert("operation".to_owned(), operation(error).into());
            fields.insert("path".to_owned(), path(error, outcome).into());
        } else {
            fields.insert("tool_name".to_owned(), outcome.tool.into());
        }
        fields.insert("message".to_owned(), error.what.as_str().into());
        fields.insert("suggested_fix".to_owned(), error.next.to_string().into());
        if let Some(source) = std::error::Error::source(error) {
            fields.insert("original_error".to_owned(), source.to_string().into());
        }
        if !error.about.recovery.is_empty() {
            let recovery: Vec<String> = error.about.recovery.iter().map(ToString::to_string).collect();
            fields.insert("recovery_commands".to_owned(), recovery.into());
        }
        Some(Value::Object(fields))
    }
}

/// The class of an error: what a function raised says it better than that it failed.
fn class(error: &ToolError) -> &'static str {
    match (error.kind, error.about.exception.as_deref()) {
        (ErrorKind::Failed, Some("ModelRetry" | "FileNotFoundError")) => "ModelRetry",
        (ErrorKind::Failed, Some("FileOperationError" | "PermissionError" | "UnicodeDecodeError" | "OSError")) => {
            "FileOperationError"
        }
        (ErrorKind::Failed, Some("IsADirectoryError" | "NotADirectoryError" | "FileExistsError")) => {
            "FileOperationError"
        }
        (kind, _) => kind.name_in(Vocabulary::Tunacode),
    }
}

/// What the original names the operation: the kind of an error says it better than what was being done.
fn operation(error: &ToolError) -> &'static str {
    let raised = error.about.exception.as_deref();
    match (error.kind, error.about.operation) {
        _ if raised == Some("UnicodeDecodeError") => "decode",
        (ErrorKind::Permission, _) => "access",
        (ErrorKind::Binary | ErrorKind::BadEncoding, _) => "decode",
        (_, Some(operation)) => operation.code(),
        (_, None) => "access",
    }
}

fn path(error: &ToolError, outcome: &CallOutcome<'_>) -> String {
    let sent = outcome.arguments.get("filepath").or_else(|| outcome.arguments.get("directory"));
    let sent = sent.and_then(Value::as_str).map(str::to_owned);
    error.about.path.clone().or(sent).unwrap_or_else(|| ".".to_owned())
}
