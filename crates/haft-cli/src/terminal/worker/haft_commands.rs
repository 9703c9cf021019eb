//! Runs subcommands of haft inside the terminal: their output becomes finished lines.

use clap::Parser;

use super::Worker;
use crate::arguments::{CliArguments, Common};
use crate::exit::Exit;
use crate::screen::captured;
use crate::terminal::protocol::{Idle, Reply, ScreenQuestionSubject, WorkerReport};
use haft_host::conversations::user_commands::ExpandedPrompt;
use haft_runtime::asking::approval::Verdict;

impl Worker {
    /// Runs a subcommand and shows what it prints.
    pub(super) async fn show(&mut self, words: Vec<String>) -> Idle {
        self.run_haft(words).await;
        Idle::Done
    }

    /// Shows the plan of a subcommand, asks, and does it after a yes.
    pub(super) async fn confirm(&mut self, words: Vec<String>) -> Idle {
        let mut plan = words.clone();
        plan.insert(1, "--plan".to_owned());
        if self.run_haft(plan).await != Exit::Ok {
            return Idle::Done;
        }
        let does = format!("{} it", words.first().map_or("do", String::as_str));
        let reply = self.ask_in_between(ScreenQuestionSubject::Plan { does }).await;
        if reply == Some(Reply::Verdict(Verdict::AllowOnce)) {
            self.run_haft(words).await;
        }
        Idle::Done
    }

    /// Shows a prompt of a server, which is text of strangers, and sends it to the model after a yes.
    pub(super) async fn server_prompt(&mut self, words: Vec<String>) -> Idle {
        // Images are shown to the model only if the person names them, not the server.
        let line = format!("/{}", words.get(1..).unwrap_or_default().join(" "));
        let (exit, text) = self.printed(words).await;
        if exit != Exit::Ok || text.is_empty() {
            return Idle::Done;
        }
        let does = "send it to the model".to_owned();
        match self.ask_in_between(ScreenQuestionSubject::Plan { does }).await {
            Some(Reply::Verdict(Verdict::AllowOnce)) => {
                self.prompt(ExpandedPrompt { text, ..ExpandedPrompt::default() }, &line).await
            }
            _ => Idle::Done,
        }
    }

    /// Asks the person while nothing else runs.
    pub(super) async fn ask_in_between(&mut self, about: ScreenQuestionSubject) -> Option<Reply> {
        let asker = self.asker.clone();
        let stop = tokio_util::sync::CancellationToken::new();
        let asking = async {
            tokio::select! {
                () = stop.cancelled() => None,
                reply = asker.ask_about(about) => reply,
            }
        };
        self.desk.attend(asking, &stop, None).await
    }

    pub(super) async fn run_haft(&mut self, words: Vec<String>) -> Exit {
        self.printed(words).await.0
    }

    /// Runs a subcommand and shows what it prints; returns that too.
    async fn printed(&mut self, words: Vec<String>) -> (Exit, String) {
        let (common, columns) = (self.common.clone(), self.columns());
        let running = tokio::task::spawn_blocking(move || captured(columns, || run(&common, &words)));
        let stop = tokio_util::sync::CancellationToken::new();
        // Such a command is not stopped in the middle; the terminal stays usable.
        let Ok((done, printed)) = self.desk.attend(running, &stop, None).await else {
            return (Exit::Failed, String::new());
        };
        let printed = printed.trim_end();
        if !printed.is_empty() {
            self.report(WorkerReport::Lines(printed.lines().map(str::to_owned).collect()));
        }
        let exit = done.unwrap_or_else(|error| {
            self.warn(&error);
            Exit::Failed
        });
        (exit, printed.to_owned())
    }
}

/// Runs a subcommand for the workspace of the terminal.
fn run(common: &Common, words: &[String]) -> anyhow::Result<Exit> {
    let line = std::iter::once("haft").chain(words.iter().map(String::as_str));
    let parsed = CliArguments::try_parse_from(line);
    let mut arguments = match parsed {
        Ok(arguments) => arguments,
        Err(told) => {
            crate::screen::talk(told.render().to_string().trim_end());
            return Ok(Exit::Usage);
        }
    };
    let is_plan = arguments.common.plan;
    arguments.common = common.clone();
    (arguments.common.plan, arguments.common.json) = (is_plan, false);
    crate::run(&arguments)
}
