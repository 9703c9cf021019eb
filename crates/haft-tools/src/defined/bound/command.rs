//! Runs programs: arguments as JSON on the input, the answer on the output, the log on the error stream.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::doors::door::{Doors, Look};
use haft_contract::doors::process::{CommandSpec, ReadScope, Stream};
use haft_contract::prelude::*;
use serde_json::{Map, Value};

use super::answer::{self, Promise};
use super::claims::Draft;
use super::log::BoundToolLog;
use super::planned::Works;
use super::{DefinitionOrigin, ToolOwner, error};
use crate::defined::definition::{Definition, DefinitionProblem};
use crate::run::bash::listening::Listening;
use crate::run::bash::report;
use crate::run::bash::shown::ShownStreams;

/// Longest output that is looked at as JSON; a longer one is text.
const MOST_JSON: usize = 16 * 1024 * 1024;
/// The folders of a workspace that hold what others have written and its code imports.
const DEPENDENCIES: [&str; 3] = [".venv", "venv", "node_modules"];

/// A program that does the work of a tool.
pub(super) struct ToolProgram {
    spec: Spec,
    definition: Definition,
    words: Vec<String>,
    home: DefinitionOrigin,
    promise: Promise,
}

impl ToolProgram {
    pub(super) fn new(
        definition: Definition,
        words: Vec<String>,
        home: DefinitionOrigin,
    ) -> Result<Self, DefinitionProblem> {
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(error("the command names no program", "write command: [PROGRAM, ARGUMENT]"));
        }
        let fix = "fix \"output_schema\"";
        let promise = Promise::of(&definition).map_err(|why| error(format!("output_schema: {why}"), fix))?;
        Ok(Self { spec: definition.spec(), definition, words, home, promise })
    }

    fn command(
        &self,
        arguments: &Map<String, Value>,
        draft: Draft,
        cx: &RunContext<'_>,
    ) -> Result<CommandSpec, ToolError> {
        let mut words = found(&self.words, &self.home, cx.look())?;
        // What is nowhere in the folder is found as commands find it, or refused by the sandbox.
        if let Some(program) =
            words[0].to_str().filter(|word| !word.contains('/')).and_then(|name| cx.find_program(&[name]))
        {
            words[0] = program.into();
        }
        let Draft { line, folder, time, keeps, outside, inside, .. } = draft;
        let input = serde_json::to_vec(arguments).unwrap_or_default().into();
        let readable = self.home.readable(outside);
        let reads = self.home.reads(inside, &words);
        let (code, environment) = (self.home.code.clone(), self.home.environment());
        Ok(CommandSpec {
            input,
            environment,
            keeps,
            readable,
            reads,
            code,
            ..CommandSpec::new(words, line, folder, time)
        })
    }
}

impl DefinitionOrigin {
    /// Returns the variables of a tool. One of the user imports nothing of the workspace, which is where it runs.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        match self.owner {
            ToolOwner::User => vec![("PYTHONSAFEPATH".into(), "1".into())],
            ToolOwner::Workspace => Vec::new(),
        }
    }

    /// Returns what a tool may read beside the workspace: the folders that it comes from, and this.
    pub(super) fn readable(&self, outside: Vec<PathBuf>) -> Vec<PathBuf> {
        let own = self.folders().filter(|folder| !folder.starts_with(&self.workspace)).cloned();
        own.chain(outside).collect()
    }

    /// Returns which files of the workspace a tool can read: what it declares, its own code, and what that is made of.
    ///
    /// A tool that declares nothing is judged as an unknown program, and reads everything.
    pub(super) fn reads(&self, declared: Option<Vec<PathBuf>>, words: &[OsString]) -> ReadScope {
        let Some(mut paths) = declared else { return ReadScope::All };
        paths.extend(words.iter().map(|word| self.workspace.join(word)));
        match (self.owner, &self.code) {
            (ToolOwner::User, _) => {}
            (ToolOwner::Workspace, Some(code)) => {
                paths.extend(DEPENDENCIES.iter().map(|folder| self.workspace.join(folder)));
                paths.extend(code.places.iter().map(|place| code.workspace.join(place)));
            }
            // It is unknown which files of the workspace are its code.
            (ToolOwner::Workspace, None) => return ReadScope::All,
        }
        ReadScope::Only(paths.into())
    }
}

/// Gives the words that name files in the folder of the definition by their full paths. The program of a project's own tool
/// may also lie where its command runs.
fn found(words: &[String], home: &DefinitionOrigin, look: &dyn Look) -> Result<Vec<OsString>, ToolError> {
    let below = |folder: &Path, word: &str| {
        let path = folder.join(word.strip_prefix("./").unwrap_or(word));
        (!word.is_empty() && look.is_file(&path)).then_some(path)
    };
    let in_folder = |word: &str| {
        let is_program = word == words[0] && word.contains('/') && home.owner == ToolOwner::Workspace;
        home.folders()
            .find_map(|folder| below(folder, word))
            .or_else(|| is_program.then(|| below(&home.workspace, word)).flatten())
    };
    let program = &words[0];
    if program.contains('/') && !program.starts_with('/') && in_folder(program).is_none() {
        let what = format!("The program \"{program}\" of this tool is not in {}.", home.folder.display());
        return Err(ToolError::new(
            ErrorKind::Unavailable,
            what,
            Next::AskUser("tell the user that it is missing".into()),
        ));
    }
    Ok(words.iter().map(|word| in_folder(word).map_or_else(|| word.into(), PathBuf::into_os_string)).collect())
}

/// Says what is missing of a program before it is called.
pub(super) fn missing(words: &[String], home: &DefinitionOrigin, doors: &Doors) -> Option<DefinitionProblem> {
    let program = match found(words, home, &*doors.look) {
        Ok(words) => words[0].to_string_lossy().into_owned(),
        Err(why) => return Some(error(why.what.clone(), "create it, or fix the path")),
    };
    if doors.processes.find_program(&[&program]).is_some() {
        return None;
    }
    let path = Path::new(&program);
    Some(match doors.look.is_file(path) {
        true => error(format!("\"{program}\" cannot be executed"), format!("run: chmod +x {program}")),
        false => {
            error(format!("there is no program \"{program}\" that tools find"), "install it, or name its full path")
        }
    })
}

impl Works for ToolProgram {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn work<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        draft: Draft,
        cx: &'a RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let command = self.command(arguments, draft, cx)?;
            carry_out(&command, (&self.spec.name, &self.promise), cx).await
        })
    }
}

/// Runs a program and returns what it answers, or why it failed.
pub(super) async fn carry_out(
    command: &CommandSpec,
    (tool, promise): (&str, &Promise),
    cx: &RunContext<'_>,
) -> Result<ToolOutput, ToolError> {
    let hearing = Hearing::new(cx);
    let ran = cx.run(command, &|stream, piece| hearing.hear(stream, piece)).await;
    let (output, answer, log) = hearing.end(cx);
    let ran = ran.map_err(|mut error| {
        error.detail = error.detail.take().or_else(|| super::log::last_of(&log).0);
        error
    })?;
    let failed = match answer.as_ref().and_then(|answer| answer::advised_error_in(tool, answer)) {
        Some(said_itself) => Some(said_itself),
        None => answer::ending(tool, &ran, command.time, &log).map(|error| error.with_so_far(output.clone())),
    };
    if let Some(mut error) = failed {
        let so_far = error.so_far.take().map_or_else(ToolOutput::default, |so_far| *so_far);
        error.so_far = Some(Box::new(answer::with_notes(so_far, &ran, cx)));
        error.detail = super::log::last_of(&log).0;
        return Err(error);
    }
    let promised = answer.clone().unwrap_or_else(|| Value::String(text_of(&output)));
    promise.check(tool, &promised)?;
    Ok(answer::with_notes(ToolOutput { data: answer, ..said(output) }, &ran, cx))
}

fn text_of(output: &ToolOutput) -> String {
    output.for_model.iter().filter_map(haft_contract::outcome::output::Content::text).collect()
}

/// Says that there is nothing, where there is nothing.
fn said(output: ToolOutput) -> ToolOutput {
    if text_of(&output).is_empty() { ToolOutput::text("(no output)") } else { output }
}

/// Hears a program: its output as text and, while it is short enough, as bytes; its errors as a log.
struct Hearing<'a> {
    text: Listening<'a>,
    log: BoundToolLog<'a>,
    /// The output from its beginning; nothing once it is too long to be looked at as JSON.
    bytes: Mutex<Option<Vec<u8>>>,
}

impl<'a> Hearing<'a> {
    fn new(cx: &'a RunContext<'a>) -> Self {
        Self { text: Listening::new(cx), log: BoundToolLog::new(cx), bytes: Mutex::new(Some(Vec::new())) }
    }

    fn hear(&self, stream: Stream, piece: &[u8]) {
        match stream {
            Stream::Err => self.log.hear(stream, piece),
            Stream::Out => {
                let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(heard) = bytes.take_if(|heard| heard.len() + piece.len() > MOST_JSON) {
                    drop(heard);
                }
                if let Some(heard) = &mut *bytes {
                    heard.extend_from_slice(piece);
                }
                drop(bytes);
                self.text.hear(stream, piece);
            }
        }
    }

    /// Returns the output as text, as the one JSON value that it may be, and the log.
    fn end(self, cx: &RunContext<'_>) -> (ToolOutput, Option<Value>, String) {
        let bytes = self.bytes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let shown = ShownStreams::of(self.text.end(), report::ROOM_FOR_NOTES, cx);
        let text = shown.text().trim_end().to_owned();
        let for_model = if text.is_empty() { Vec::new() } else { ToolOutput::text(text).for_model };
        (ToolOutput { for_model, spilled: shown.spilled, ..ToolOutput::default() }, value, self.log.end())
    }
}
