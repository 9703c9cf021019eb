//! Runs snippets of Python, JavaScript and shell in interpreters that the session keeps, as in a notebook.
//!
//! An interpreter is a worker: its process stays, and each snippet has its own layer over the workspace. So the changes
//! of a snippet are a change set like those of a command, while its variables stay for the next snippet.
//!
//! A snippet can call functions that an earlier one defined. So haft judges each snippet as an unknown program, and also
//! by its own text.
//!
//! Not here: confining the process (`haft-sandbox`), what becomes of its changes (`haft-workspace`).

mod answer;
mod kernels;
mod language;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::context::WorkerFailure;
use haft_contract::doors::process::{CommandSpec, HowEnded, SettledCommand, Worker};
use haft_contract::effect::{CommandStep, StepEffect};
use haft_contract::files::path::FileLocation;
use haft_contract::prelude::*;

use super::bash::listening::Listening;
use super::bash::report::CommandReport;
use super::bash::time::Time;
use super::bash::{exposures, steps_of};
use answer::SnippetAnswer;
use kernels::{Kernel, Kernels};
use language::SnippetLanguage;

/// The longest snippet, in bytes.
const LONGEST_CODE: usize = 64 * 1024;

/// Runs snippets of code.
#[derive(Default)]
pub struct RunCode;

/// The arguments of `run_code`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The snippet. May be empty with "reset".
    code: Option<String>,
    /// Default "python".
    language: Option<SnippetLanguage>,
    /// Ends the interpreter first, so that its state is gone.
    reset: Option<bool>,
    /// Time limit in seconds. Default {command_time}, at most {command_time_most}.
    timeout: Option<f64>,
    /// What it does, in five to ten words.
    description: Option<String>,
}

/// What planning found.
pub struct Draft {
    folder: PathBuf,
    time: Time,
    line: String,
}

impl Args {
    fn language(&self) -> SnippetLanguage {
        self.language.unwrap_or(SnippetLanguage::Python)
    }

    fn code(&self) -> &str {
        self.code.as_deref().unwrap_or_default()
    }
}

impl Tool for RunCode {
    const NAME: &'static str = "run_code";
    const DOES: AtMost = AtMost::Anything;
    const DEFERRED: bool = true;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("code", &["code_block", "source", "snippet", "script"]),
        ("language", &["lang", "kernel"]),
        ("reset", &["restart"]),
        ("description", &["explanation", "justification"]),
    ];
    const OTHER_NAMES: &'static [&'static str] =
        &["run_code_tool ms", "execute_code", "code_interpreter", "python_repl", "execute_python"];
    const TIMES: &'static [(&'static str, &'static str)] = &[("timeout", "timeout_ms")];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("run_code.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        let (language, code) = (args.language(), args.code());
        check(args)?;
        let root = Target::Inside(FileLocation::new("", Extent::Tree));
        let none = || ToolError::of(ErrorKind::Unavailable, "Code cannot be run here: the workspace has no real path.");
        let folder = cx.look().real_path(&root).ok_or_else(none)?;
        let line = language.line(code);
        let unknown = CommandStep {
            command: line.as_str().into(),
            folder: "".into(),
            part: (0, line.len()),
            words: Arc::from([language.program().to_owned()]),
            does: StepEffect::Program(language.program().to_owned()),
        };
        let mut effects = vec![Effect::Run(CommandLine(line.clone())), Effect::Step(unknown)];
        effects.extend(steps_without_network(&line, &folder, cx)?);
        effects.push(Effect::Session(StateKey(format!("run_code:{}", language.name()))));
        effects.extend(exposures(cx).into_iter().map(Effect::Expose));
        let preview = Preview::Command(preview(args));
        let time = Time::chosen(args.timeout, cx.limits());
        Ok((Plan::new(effects).preview(preview), Draft { folder, time, line }))
    }

    async fn run(&self, args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let (language, mut notes) = (args.language(), Vec::new());
        let Draft { folder, time, line } = draft;
        notes.extend(time.note);
        let kept = cx.idle_workers::<Kernels>().take(cx.session(), language);
        if args.reset == Some(true) {
            let had_state = kept.is_some();
            if let Some(kernel) = kept {
                kernel.worker.end(HowEnded::Stopped).await;
            }
            let said = if had_state { "its state is gone" } else { "there was none" };
            notes.push(format!("the {} interpreter was reset: {said}", language.name()));
            if args.code().trim().is_empty() {
                return Ok(ToolOutput::text(format!("[{}]\n", notes.join("]\n["))));
            }
            return run_snippet(Snippet { args, line, folder, time: time.seconds, notes }, None, cx).await;
        }
        run_snippet(Snippet { args, line, folder, time: time.seconds, notes }, kept, cx).await
    }
}

/// Returns what the text of a snippet would do. An interpreter keeps the network that it was started with, which is none,
/// unless the settings give it to all commands. So connections are not asked about.
fn steps_without_network(line: &str, folder: &Path, cx: &PlanContext<'_>) -> Result<Vec<Effect>, ToolError> {
    let steps = steps_of(line, folder, cx);
    if cx.confinement().network {
        return Ok(steps);
    }
    let published = steps.iter().find_map(|effect| match effect {
        Effect::Step(CommandStep { does: StepEffect::Publish(what), .. }) => Some(what),
        _ => None,
    });
    if let Some(what) = published {
        let what = format!("The snippet would {what}, and \"run_code\" has no network. Nothing was run.");
        let next = Next::UseInstead { tool: "bash".into(), to: "to send something out".into() };
        return Err(ToolError::new(ErrorKind::Unavailable, what, next));
    }
    Ok(steps.into_iter().filter(|effect| !effect.gives_network()).collect())
}

/// One snippet on its way.
struct Snippet {
    args: Args,
    line: String,
    folder: PathBuf,
    time: std::time::Duration,
    notes: Vec<String>,
}

/// Runs a snippet in the interpreter that is kept, or in a new one.
async fn run_snippet(snippet: Snippet, kept: Option<Kernel>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let Snippet { args, line, folder, time, mut notes } = snippet;
    let language = args.language();
    let interpreter = language.interpreter(&folder, cx)?;
    let had_state = kept.is_some();
    let (number, idle) = kept.map_or((1, None), |kernel| (kernel.snippets + 1, Some(kernel.worker)));
    let command = CommandSpec::new(interpreter.words, line, folder, time);
    let command = CommandSpec { environment: language.environment(), readable: interpreter.parts, ..command };
    let mut serving = cx.serve(&command, idle).await?;
    let listening = Listening::new(cx);
    let order = language.order(number, args.code(), &command.folder);
    let said = tokio::select! {
        biased;
        () = cx.stopped() => Err(WorkerFailure::ToBeEnded(HowEnded::Stopped)),
        said = tokio::time::timeout(time, talk(&mut *serving.worker, (number, &order), &listening)) =>
            said.unwrap_or(Err(WorkerFailure::ToBeEnded(HowEnded::TimedOut))),
    };
    match said {
        Ok(answer) => {
            let (mut ran, worker) = cx.served(serving).await?;
            ran.ended.how = HowEnded::Exited(answer.status);
            if answer.is_first {
                let program = &command.words[0];
                notes.push(if had_state { language.renewed_words(program) } else { language.new_words(program) });
            }
            match worker {
                Some(worker) => {
                    let kernels = cx.idle_workers::<Kernels>();
                    kernels.keep(Kernel { worker, snippets: number }, (cx.session(), language));
                }
                None => notes.push(lost(language)),
            }
            Ok(answer.shown(CommandReport::new(listening.end(), notes, cx).of(&ran)))
        }
        Err(broken) => {
            let ran = cx.broken(serving, broken).await?;
            notes.push(lost(language));
            ended(&ran, CommandReport::new(listening.end(), notes, cx), time)
        }
    }
}

/// Sends an order, and waits for its answer.
async fn talk(
    worker: &mut dyn Worker,
    (number, order): (u64, &[u8]),
    listening: &Listening<'_>,
) -> Result<SnippetAnswer, WorkerFailure> {
    let heard = |stream, piece: &[u8]| listening.hear(stream, piece);
    worker.send(order, &heard).await?;
    loop {
        let line = worker.receive(&heard).await?;
        // What a snippet itself writes to the line is no answer.
        if let Some(answer) = SnippetAnswer::read(&line, number) {
            return Ok(answer);
        }
    }
}

fn lost(language: SnippetLanguage) -> String {
    format!("the {} interpreter has ended, and its state is gone; the next snippet gets a new one", language.name())
}

/// Says what became of a snippet whose interpreter ended.
fn ended(ran: &SettledCommand, report: CommandReport<'_>, time: std::time::Duration) -> Result<ToolOutput, ToolError> {
    let output = report.of(ran);
    let mut error = match ran.ended.how {
        HowEnded::Exited(_) | HowEnded::Killed(_) => return Ok(output),
        HowEnded::TimedOut => {
            let seconds = time.as_secs_f64();
            let what = format!("The snippet was stopped after {seconds} s, and the state of the interpreter is gone.");
            let next = "do less in one snippet, or give it more time with \"timeout\"";
            ToolError::new(ErrorKind::TimedOut, what, Next::FixArguments(next.into()))
        }
        HowEnded::Stopped => {
            ToolError::of(ErrorKind::Cancelled, "The snippet was stopped, and the state of the interpreter is gone.")
        }
    };
    error.so_far = Some(Box::new(output));
    Err(error)
}

fn check(args: &Args) -> Result<(), ToolError> {
    let bad = |what: &str, next: &str| {
        Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.to_owned())))
    };
    let code = args.code();
    if code.trim().is_empty() && args.reset != Some(true) {
        return bad("\"code\" is empty. Nothing was run.", "write the snippet, such as run_code(code=\"1 + 1\")");
    }
    if code.contains('\0') {
        return bad("\"code\" holds a NUL character. Nothing was run.", "write it as an escape, such as \"\\\\0\"");
    }
    if code.len() > LONGEST_CODE {
        let next = "write it to a file with \"write_file\", and import that file";
        return bad("\"code\" is longer than 64 KiB. Nothing was run.", next);
    }
    Ok(())
}

/// What a person is shown: the whole snippet, in which interpreter it runs, and what it is said to do.
fn preview(args: &Args) -> String {
    let description =
        args.description.as_deref().map(|words| format!("# {}\n", haft_contract::files::path::one_line(words)));
    let reset = if args.reset == Some(true) { ", after a reset" } else { "" };
    let language = args.language().name();
    format!("{}# {language}, in the session's interpreter{reset}\n{}", description.unwrap_or_default(), args.code())
}
