//! Lists of commands: what runs after `;`, `&&`, `||` and `&`, and in which folder.
//!
//! A `cd` may fail; the shell then stays in its folder. After `&&` it has worked; after `||` it has failed.

use haft_contract::effect::Danger;

use crate::act::{RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::shell::add_folders;
use crate::interpret::streams::pipes;
use crate::places::Folder;
use crate::syntax::{
    CommandList, CommandNode, CommandPipeline, CommandStage, Link, Redirect, RedirectKind, Word, WordPart,
};
use crate::value::ShellValue;

/// The first descriptor that may lie beyond the limit of a process.
const FIRST_DOUBTFUL: u32 = 64;

/// How a command of a list may have ended: the folders of the shell where it worked, and where it failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListEnd {
    pub(crate) worked: Vec<Folder>,
    pub(crate) failed: Vec<Folder>,
}

impl ListEnd {
    /// The shell is in these folders, however it ended.
    fn either(folders: &[Folder]) -> Self {
        Self { worked: folders.to_vec(), failed: folders.to_vec() }
    }
}

impl Interpreter<'_> {
    /// Walks through a list; returns what it prints.
    pub(crate) fn script(&mut self, script: &CommandList, input: Option<&StreamContent>) -> StreamContent {
        let mut printed: Option<StreamContent> = None;
        let mut items = script.items.as_slice();
        while let Some(first) = items.first() {
            let is_linked =
                |item: &&CommandPipeline| first.in_background && item.in_background && item.link != Link::Always;
            let (chain, rest) = items.split_at(1 + items[1..].iter().take_while(is_linked).count());
            let flow = if first.in_background { self.background(chain, input) } else { self.item(first, input) };
            printed = Some(printed_behind(printed, first.link, flow));
            items = rest;
            let is_end = items.first().is_none_or(|next| next.link == Link::Always);
            // `a && b` may fail in its first part, which ends nothing.
            if is_end && first.link == Link::Always && !first.in_background && !first.is_negated {
                self.stop_on_failure();
            }
        }
        printed.unwrap_or_else(|| StreamContent::Text(ShellValue::default()))
    }

    /// Walks through the commands that one `&` puts into the background: `cd a && b &` is one shell.
    fn background(&mut self, chain: &[CommandPipeline], input: Option<&StreamContent>) -> StreamContent {
        let interpreters = self.findings.interpreters;
        let printed = self.apart(|interpreter| {
            let mut printed = None;
            for item in chain {
                let flow = interpreter.item(item, input);
                printed = Some(printed_behind(printed, item.link, flow));
            }
            printed.unwrap_or_default()
        });
        self.streams.listens |= self.findings.interpreters > interpreters;
        printed
    }

    fn item(&mut self, item: &CommandPipeline, input: Option<&StreamContent>) -> StreamContent {
        let before = self.control.ended.take();
        if item.link == Link::Always {
            let flow = self.pipe(item, input);
            self.control.ended = Some(self.end_of(item));
            return flow;
        }
        let earlier = before.unwrap_or_else(|| ListEnd::either(&self.shell.folders.now));
        let (runs_in, kept) = match item.link {
            Link::And => (&earlier.worked, &earlier.failed),
            _ => (&earlier.failed, &earlier.worked),
        };
        let whole = self.shell.clone();
        if !runs_in.is_empty() {
            self.shell.folders.now.clone_from(runs_in);
        }
        let flow = self.pipe(item, input);
        let mut ended = self.end_of(item);
        self.or(whole);
        add_folders(if item.link == Link::And { &mut ended.failed } else { &mut ended.worked }, kept.clone());
        let mut folders = ended.worked.clone();
        add_folders(&mut folders, ended.failed.clone());
        if !folders.is_empty() {
            self.shell.folders.now = folders;
        }
        self.control.ended = Some(ended);
        flow
    }

    /// Returns how a command of a list may have ended.
    fn end_of(&mut self, item: &CommandPipeline) -> ListEnd {
        let moved = self.control.moved.take();
        let ended = match item.stages.as_slice() {
            [stage] if self.leaves(stage) => ListEnd::default(),
            [stage] if self.is_move(stage) => {
                let mut ended = moved.unwrap_or_else(|| ListEnd::either(&self.shell.folders.now));
                if self.may_fail(stage) {
                    add_folders(&mut ended.failed, self.shell.folders.now.clone());
                }
                ended
            }
            _ => ListEnd::either(&self.shell.folders.now),
        };
        if item.is_negated { ListEnd { worked: ended.failed, failed: ended.worked } } else { ended }
    }

    /// Returns whether a command moves the shell and does nothing else.
    fn is_move(&self, stage: &CommandStage) -> bool {
        let CommandNode::Simple(assignments, words) = &stage.node else { return false };
        let mut names = words.iter().map_while(Word::plain);
        let mut first = names.next();
        while matches!(first.as_deref(), Some("command" | "builtin")) {
            first = names.next();
        }
        let is_move = matches!(first.as_deref(), Some("cd" | "pushd" | "popd"));
        is_move && assignments.is_empty() && first.is_some_and(|name| self.shell.function(&name).is_none())
    }

    /// Returns whether nothing runs behind a command, because it surely ends the shell, the function or the round.
    fn leaves(&self, stage: &CommandStage) -> bool {
        if self.may_fail(stage) || stage.redirects.iter().any(|redirect| redirect.kind != RedirectKind::Duplicate) {
            return false;
        }
        match &stage.node {
            CommandNode::Group(script) => {
                let leaves = |item: &CommandPipeline| match item.stages.as_slice() {
                    [stage] => item.link == Link::Always && !item.in_background && self.leaves(stage),
                    _ => false,
                };
                script.items.iter().any(leaves)
            }
            CommandNode::Simple(assignments, words) if assignments.is_empty() && words.len() <= 2 => {
                let mut words = words.iter().map(Word::plain);
                let Some(Some(name)) = words.next() else { return false };
                let is_plain = words.all(|word| word.is_some_and(|word| !word.contains(['*', '?', '[', '-'])));
                let leaves = match name.as_str() {
                    "exit" => true,
                    // Elsewhere these say that they mean nothing, and the next command runs.
                    "return" => self.shell.is_in_function(),
                    "break" | "continue" => self.control.is_in_loop(),
                    _ => false,
                };
                leaves && is_plain && self.shell.function(&name).is_none()
            }
            _ => false,
        }
    }

    /// Returns whether a redirection of a command may fail, so that the command does not run.
    pub(crate) fn may_fail(&self, stage: &CommandStage) -> bool {
        let may_fail = |redirect: &Redirect| match redirect.kind {
            _ if redirect.descriptor.is_some_and(|number| number >= FIRST_DOUBTFUL) => true,
            RedirectKind::HereDocument | RedirectKind::HereString => false,
            RedirectKind::Duplicate => match redirect.target.plain().as_deref() {
                Some("-") => redirect.variable.is_some(),
                Some("0" | "1" | "2" | "0-" | "1-" | "2-") => self.streams.closes,
                _ => true,
            },
            RedirectKind::Read => match redirect.target.plain() {
                Some(path) if path == "/dev/null" => false,
                Some(path) => !self.is_there(&ShellValue::text(path)),
                // What another command prints is there.
                None => !matches!(redirect.target.parts.as_slice(), [WordPart::Process(..)]),
            },
            _ => redirect.target.plain().is_none_or(|path| path != "/dev/null"),
        };
        stage.redirects.iter().any(may_fail)
    }

    fn pipe(&mut self, item: &CommandPipeline, input: Option<&StreamContent>) -> StreamContent {
        let mut flow = input.cloned();
        let interpreters = self.findings.interpreters;
        for (at, stage) in item.stages.iter().enumerate() {
            let (ran, connected) = (self.findings.interpreters > interpreters, self.findings.connects);
            let printed = match item.stages.len() {
                1 => self.stage(stage, flow.as_ref()),
                // With `lastpipe`, and in zsh and ksh, the last part runs in this shell. Which shell it is and how it
                // is set is not known: other agents run commands in the shell of the user.
                parts if parts == at + 1 => self.perhaps(|interpreter| interpreter.stage(stage, flow.as_ref())),
                _ => self.apart(|interpreter| interpreter.stage(stage, flow.as_ref())),
            };
            if ran && self.findings.connects > connected {
                self.emit(RawEffect::Danger(Danger::DownloadedCode, "give a shell to another machine".to_owned()));
            }
            flow = Some(printed);
        }
        flow.unwrap_or_default()
    }

    /// With `set -e` the shell ends where the last command of a list failed.
    fn stop_on_failure(&mut self) {
        let Some(ended) = &self.control.ended else { return };
        // In a function or a condition it may go on.
        if self.budget.is_outermost() && self.shell.options.stops_on_failure && !ended.worked.is_empty() {
            self.shell.folders.now.clone_from(&ended.worked);
        }
    }
}

/// Returns what is printed where a command comes behind others.
fn printed_behind(before: Option<StreamContent>, link: Link, flow: StreamContent) -> StreamContent {
    match (before, link) {
        (None, _) => flow,
        (Some(before), Link::Always) => pipes::joined(before, flow),
        (Some(before), Link::And | Link::Or) => pipes::either(before.clone(), pipes::joined(before, flow)),
    }
}
