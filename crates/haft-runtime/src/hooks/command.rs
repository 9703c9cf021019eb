//! Runs hooks that are commands: a script reads the call on its input and answers with its status and output.
//!
//! The form is the one that coding agents use for hooks, so existing scripts work here too. They run in the sandbox over
//! the workspace. haft discards their changes there and reports them: a hook judges, it does not act. Each run has its
//! own permit, so nothing it does counts as done by the call.
//!
//! Not here: where hooks are configured (`haft-config`), whether a project's hooks count (`haft_workspace::project`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::process::{CommandSpec, CommitReport, HowEnded, SettledCommand, TrustedCode};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::{Content, ToolOutput};
use regex::Regex;
use serde_json::Value;

use super::answer::HookAnswer;
pub use super::context::HookReach;
use super::event::event;
use super::printed::{HookOutput, StreamCapture};
use super::{Before, Hook, HookContext, HookedCall};

/// How long the end of a command and looking at what it changed may take, beyond its own time.
const ENDING: Duration = Duration::from_secs(15);
/// Most changed files that are named.
const MOST_NAMED: usize = 5;
/// The status by which a hook refuses.
const REFUSES: i32 = 2;

/// The point of a call at which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPoint {
    /// Before a call.
    PreToolUse,
    /// After a call that worked.
    PostToolUse,
}

impl HookPoint {
    /// Returns the name of the event.
    pub fn name(self) -> &'static str {
        match self {
            HookPoint::PreToolUse => "PreToolUse",
            HookPoint::PostToolUse => "PostToolUse",
        }
    }
}

/// A call in other names: of the tool, and its arguments.
pub type OtherCall = (&'static str, Value);

/// How scripts that were written for other agents call tools, where that differs.
#[derive(Clone, Copy)]
pub struct CommonNames {
    /// Returns the other name of a tool.
    pub name: fn(&str) -> Option<&'static str>,
    /// Says a call of a tool in other names, or why that cannot be done.
    pub outward: fn(&str, &Value, &Path) -> Result<OtherCall, String>,
    /// Turns arguments in other names back into the tool's own.
    pub inward: fn(&str, Value, &Path) -> Value,
}

/// Says whether a hook may still be run and from where, or why not.
type Holds = Arc<dyn Fn() -> Result<HookCode, String> + Send + Sync>;

/// The code of a hook that is trusted.
#[derive(Clone, Debug, Default)]
pub struct HookCode {
    /// The copy that it runs from, where it is code of a project.
    pub code: Option<TrustedCode>,
    /// What is to be said of it with each result.
    pub note: Option<String>,
}

/// A hook that is a command, run by `sh`.
pub struct CommandHook {
    when: HookPoint,
    name: String,
    command: String,
    tools: Option<Regex>,
    common: Option<CommonNames>,
    time: Duration,
    reach: HookReach,
    readable: Vec<PathBuf>,
    holds: Option<Holds>,
}

/// The end, the output and the sandbox's notes of one run of a hook.
struct HookRun {
    how: HowEnded,
    out: StreamCapture,
    err: StreamCapture,
    /// What the sandbox says of it.
    notes: Vec<String>,
}

impl CommandHook {
    /// Runs this command for every tool, for at most 60 seconds and without the network.
    pub fn new(when: HookPoint, name: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            when,
            name: name.into(),
            command: command.into(),
            tools: None,
            common: None,
            time: Duration::from_secs(60),
            reach: HookReach::Nothing,
            readable: Vec::new(),
            holds: None,
        }
    }

    /// Runs it only for tools whose native name this matches. To match whole names, anchor the expression.
    pub fn for_tools(mut self, tools: Regex) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Runs it also for tools whose other name its pattern finds, and tells it of those in the other names.
    pub fn also_in(mut self, names: CommonNames) -> Self {
        self.common = Some(names);
        self
    }

    /// Lets it run for so long.
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Lets it reach this.
    pub fn reaching(mut self, reach: HookReach) -> Self {
        self.reach = reach;
        self
    }

    /// Lets it read these files and folders outside the workspace too.
    pub fn reading(mut self, readable: Vec<PathBuf>) -> Self {
        self.readable = readable;
        self
    }

    /// Runs it only as long as this says that it is what was trusted, from the copy that this names; asked before each run.
    pub fn as_long_as(mut self, holds: impl Fn() -> Result<HookCode, String> + Send + Sync + 'static) -> Self {
        self.holds = Some(Arc::new(holds));
        self
    }

    /// Runs the command; tells what it changed. Fails with what is to be said of the hook.
    async fn run(
        &self,
        call: &HookedCall,
        output: Option<&ToolOutput>,
        cx: &HookContext<'_>,
    ) -> Result<HookRun, String> {
        let mut trusted = HookCode::default();
        if let Some(holds) = self.holds.clone() {
            // It reads files, however large.
            let holds = tokio::task::spawn_blocking(move || holds()).await;
            let holds = holds.unwrap_or_else(|_| Err("haft cannot check whether it is trusted".to_owned()));
            trusted = holds.map_err(|why| format!("is not run, because {why}"))?;
        }
        let workspace = workspace(cx)?;
        let mut command = self.command(cx, &workspace);
        command.code = trusted.code;
        if let Some(note) = &trusted.note {
            cx.warn(note);
        }
        command.input = match self.other_names(&call.tool) {
            Some(names) => {
                let (name, arguments) = (names.outward)(&call.tool, &call.arguments, &workspace)?;
                let outward = HookedCall { call: call.call.clone(), tool: name.to_owned(), arguments };
                event(&outward, output, cx, &workspace)
            }
            None => event(call, output, cx, &workspace),
        };
        let printed = HookOutput::default();
        let ran = cx.run(&command, self.reach, &|stream, piece| printed.take(stream, piece)).await;
        let SettledCommand { ended, settled, .. } =
            ran.map_err(|error: ToolError| format!("could not be run: {}", error.what))?;
        if let Some(words) = changes(&settled) {
            cx.warn(&words);
        }
        let (out, err) = printed.into_streams();
        Ok(HookRun { how: ended.how, out, err, notes: ended.notes })
    }

    fn command(&self, cx: &HookContext<'_>, workspace: &Path) -> CommandSpec {
        let shell = cx.find_program(&["sh"]).unwrap_or_else(|| "/bin/sh".into());
        let words = vec![shell.into(), "-c".into(), self.command.as_str().into()];
        let mut command = CommandSpec::new(words, self.command.as_str(), workspace.to_owned(), self.time);
        // The second one is what such scripts find themselves by.
        let variables = ["HAFT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];
        command.environment = variables.map(|name| (name.into(), workspace.into())).to_vec();
        if self.holds.is_none() {
            // A hook of the user imports nothing of the workspace, which is where it runs.
            command.environment.push(("PYTHONSAFEPATH".into(), "1".into()));
        }
        command.readable.clone_from(&self.readable);
        command
    }

    /// Returns the names that this hook is told a tool in, where they are not its own.
    fn other_names(&self, tool: &str) -> Option<CommonNames> {
        let pattern = self.tools.as_ref()?;
        let is_meant = |names: &CommonNames| (names.name)(tool).is_some_and(|name| pattern.is_match(name));
        self.common.filter(|names| !pattern.is_match(tool) && is_meant(names))
    }

    fn in_own_names(&self, answer: Before, tool: &str, workspace: &Path) -> Before {
        let Some(names) = self.other_names(tool) else { return answer };
        let inward = |arguments: Value| (names.inward)(tool, arguments, workspace);
        match answer {
            Before::Rewrite(arguments) => Before::Rewrite(inward(arguments)),
            Before::Ask { why, arguments } => Before::Ask { why, arguments: arguments.map(inward) },
            answer @ (Before::Pass | Before::Refuse(_)) => answer,
        }
    }

    async fn asked(&self, call: &HookedCall, cx: &HookContext<'_>) -> Result<Before, String> {
        let answered = self.run(call, None, cx).await?;
        match answered.how {
            HowEnded::Exited(0) => {
                let answer = HookAnswer::read(&answered.out)?;
                answer.notes().iter().for_each(|words| cx.warn(&format!("says: {words}")));
                Ok(self.in_own_names(answer.before()?, &call.tool, &workspace(cx)?))
            }
            HowEnded::Exited(REFUSES) => {
                let why = answered.err.words();
                Ok(Before::Refuse(if why.is_empty() { "it gives no reason".to_owned() } else { why }))
            }
            how => Err(answered.failed(how, self.time)),
        }
    }

    async fn told(&self, call: &HookedCall, output: ToolOutput, cx: &HookContext<'_>) -> Result<ToolOutput, String> {
        let answered = self.run(call, Some(&output), cx).await?;
        match answered.how {
            HowEnded::Exited(0) => {
                let answer = HookAnswer::read(&answered.out)?;
                if let Some(words) = answer.message() {
                    cx.warn(&format!("says: {words}"));
                }
                let after = answer.after()?;
                let mut output = match after.text {
                    // Nothing else of the tool's output stays: what a hook takes out of the text is in the data too.
                    Some(text) => ToolOutput::text(text),
                    None => output,
                };
                let said = |words: String| Content::Text(format!("[hook \"{}\": {words}]", self.name));
                output.for_model.extend(after.context.into_iter().map(said));
                Ok(output)
            }
            HowEnded::Exited(REFUSES) => {
                let mut output = output;
                output.for_model.push(Content::Text(format!("[hook \"{}\": {}]", self.name, answered.err.words())));
                Ok(output)
            }
            how => Err(answered.failed(how, self.time)),
        }
    }
}

impl HookRun {
    /// Says how a run ended that gave no answer.
    fn failed(&self, how: HowEnded, time: Duration) -> String {
        let ended = match how {
            HowEnded::Exited(status) => format!("ended with the status {status}"),
            HowEnded::Killed(signal) => format!("was ended by the signal {signal}"),
            HowEnded::TimedOut => format!("was stopped after {} s", time.as_secs_f64()),
            HowEnded::Stopped => "was stopped".to_owned(),
        };
        let words = self.err.words();
        let last = words.lines().last().map(|last| format!(": {last}")).unwrap_or_default();
        // A script that does not see a file, or has no network, is the usual cause.
        let notes = if self.notes.is_empty() { String::new() } else { format!(" ({})", self.notes.join(" ")) };
        format!("{ended}{last}{notes}")
    }
}

impl Hook for CommandHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn concerns(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.is_match(tool)) || self.other_names(tool).is_some()
    }

    fn longest(&self) -> Duration {
        self.time + ENDING
    }

    fn before<'a>(&'a self, call: &'a HookedCall, cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
        Box::pin(async move {
            match self.when {
                HookPoint::PostToolUse => Before::Pass,
                HookPoint::PreToolUse => match self.asked(call, cx).await {
                    Ok(answer) => answer,
                    Err(how) => Before::Refuse(format!("the hook {how}, so the call is not made")),
                },
            }
        })
    }

    fn after<'a>(
        &'a self,
        call: &'a HookedCall,
        output: ToolOutput,
        cx: &'a HookContext<'a>,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            match self.when {
                HookPoint::PreToolUse => output,
                HookPoint::PostToolUse => match self.told(call, output.clone(), cx).await {
                    Ok(output) => output,
                    Err(how) => {
                        cx.warn(&format!("{how}; the result of the tool is unchanged."));
                        output
                    }
                },
            }
        })
    }
}

fn workspace(cx: &HookContext<'_>) -> Result<PathBuf, String> {
    cx.workspace().ok_or_else(|| "has no workspace to run in".to_owned())
}

/// Says what a hook changed, where it changed something.
fn changes(settled: &CommitReport) -> Option<String> {
    let all = settled.changes.len();
    if all == 0 {
        return None;
    }
    let mut named: Vec<String> =
        settled.changes.iter().take(MOST_NAMED).map(|change| change.target.to_string()).collect();
    if all > MOST_NAMED {
        named.push(format!("{} more", all - MOST_NAMED));
    }
    Some(format!("changed {}, which haft discarded: hooks cannot change files.", named.join(", ")))
}
