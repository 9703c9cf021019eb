//! Redirections: the sources of a command's input and the targets of its output.

use haft_contract::effect::Danger;

use crate::act::{PathEffect, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::builtins::assigning::AssignmentMode;
use crate::interpret::shell::variable::AssignmentValue;
use crate::interpret::streams::pipes;
use crate::interpret::words::arithmetic::plain;
use crate::places::PathDestination;
use crate::programs::address;
use crate::syntax::{CommandNode, CommandStage, Redirect, RedirectKind};
use crate::value::{ShellValue, ValuePiece};

/// The input and the outputs of a command after its redirections.
#[derive(Default)]
pub(crate) struct RedirectedStreams {
    /// What it reads instead of the pipe.
    pub(crate) input: Option<StreamContent>,
    /// The files it writes its output to.
    outputs: Vec<ShellValue>,
    /// Whether it writes to a descriptor that another command may read.
    pub(crate) leads_to_descriptor: bool,
    /// The host that it is connected to by `/dev/tcp`.
    host: Option<String>,
}

/// Folders of paths that are connections, as bash takes them.
const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

impl Interpreter<'_> {
    pub(crate) fn redirects(&mut self, stage: &CommandStage) -> RedirectedStreams {
        let mut redirected = RedirectedStreams::default();
        for redirect in &stage.redirects {
            if let Some(variable) = &redirect.variable {
                self.assign(variable, AssignmentValue::one(ShellValue::unknown()), AssignmentMode::Set);
            }
            match redirect.kind {
                RedirectKind::HereDocument | RedirectKind::HereString => {
                    let end = if redirect.kind == RedirectKind::HereString { "\n" } else { "" };
                    let texts = self.unsplit(&redirect.target).into_iter().map(|mut text| {
                        text.push(ValuePiece::Text(end.to_owned()));
                        StreamContent::Text(text)
                    });
                    redirected.input = texts.reduce(pipes::either).or(Some(StreamContent::Text(ShellValue::default())));
                }
                RedirectKind::Duplicate => {
                    let descriptor = self.as_one(&redirect.target).shown();
                    redirected.leads_to_descriptor |= !matches!(descriptor.as_str(), "0" | "1" | "2" | "-");
                    self.streams.closes |= !matches!(descriptor.as_str(), "0" | "1" | "2");
                    let reads = redirect.descriptor.unwrap_or(0) == 0;
                    let is_connection = self.streams.connections.contains(&descriptor) || descriptor.contains('…');
                    if reads && is_connection && !self.streams.connections.is_empty() {
                        redirected.input = Some(StreamContent::Downloaded);
                    } else if reads && redirected.input.is_some() && descriptor != "0" {
                        // The last redirection counts.
                        redirected.input = Some(StreamContent::Unknown);
                    }
                }
                _ => self.redirect_to_file(redirect, stage, &mut redirected),
            }
        }
        if let Some(host) = &redirected.host {
            self.connected(stage, host);
        }
        redirected
    }

    fn redirect_to_file(&mut self, redirect: &Redirect, stage: &CommandStage, redirected: &mut RedirectedStreams) {
        // More than one word would be a mistake, so what an open gap may add does not count.
        let targets: Vec<ShellValue> =
            self.fields(&redirect.target).into_iter().filter_map(|fields| fields.into_iter().next()).collect();
        for path in targets {
            if let Some(address) = CONNECTIONS.iter().find_map(|folder| path.strip_prefix(folder)) {
                let host = address.prefix().split('/').next().unwrap_or_default().to_owned();
                redirected.host = Some(address::normal(&host));
                if redirect.kind != RedirectKind::Read {
                    self.emit(match address::is_here(&ShellValue::text(&host)) {
                        true => RawEffect::SendHere(address::SENT_HERE.to_owned()),
                        false => RawEffect::Publish("send data to another machine".to_owned()),
                    });
                }
                self.streams
                    .connections
                    .push(redirect.descriptor.map_or_else(|| "…".to_owned(), |number| number.to_string()));
                continue;
            }
            // `>&"${COPROC[1]}"` leads to a descriptor, too.
            let is_open = path.begins_with_gap();
            redirected.leads_to_descriptor |= redirect.kind == RedirectKind::WriteBoth && is_open;
            let runs_nothing = matches!(&stage.node, CommandNode::Simple(_, words) if words.is_empty());
            match redirect.kind {
                RedirectKind::Read => {
                    self.emit(RawEffect::Path(PathEffect::Read, path.clone()));
                    redirected.input = Some(self.content_of(&path));
                }
                RedirectKind::ReadWrite | RedirectKind::Append | RedirectKind::AppendBoth => {
                    self.emit(RawEffect::Path(PathEffect::Create, path.clone()));
                    redirected.outputs.push(path);
                }
                // Nothing is written, so something is emptied.
                RedirectKind::Write | RedirectKind::WriteBoth if runs_nothing => {
                    self.emit(RawEffect::Path(PathEffect::Replace, path));
                }
                _ => {
                    self.emit(RawEffect::Path(PathEffect::Create, path.clone()));
                    redirected.outputs.push(path);
                }
            }
        }
    }

    /// Returns what is known of the content of a file.
    pub(crate) fn content_of(&self, path: &ShellValue) -> StreamContent {
        let path = self.with_home(path);
        let arrived = self.shell.folders.now.iter().find_map(|folder| match folder.place(&path) {
            PathDestination::At(place) => self.streams.content(&place).cloned(),
            PathDestination::Anywhere => None,
        });
        match path.origin() {
            Some(crate::value::ForeignOrigin::Network) => StreamContent::Downloaded,
            Some(crate::value::ForeignOrigin::Decoded) => StreamContent::Decoded,
            None => arrived.unwrap_or(StreamContent::Content),
        }
    }

    fn connected(&mut self, stage: &CommandStage, host: &str) {
        let is_shell = match &stage.node {
            CommandNode::Simple(_, words) => {
                let name = words.first().map(|word| self.as_one(word).shown()).unwrap_or_default();
                let name = name.rsplit('/').next().unwrap_or_default().to_owned();
                matches!(name.as_str(), "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "busybox")
            }
            _ => false,
        };
        self.emit(RawEffect::Connect(Some(host.to_owned()).filter(|host| !host.is_empty())));
        if is_shell {
            self.emit(RawEffect::Danger(Danger::DownloadedCode, "give a shell to another machine".to_owned()));
        }
    }

    /// Returns what a command prints, with its errors where they go the same way: then it is no number.
    pub(crate) fn with_errors(&mut self, stage: &CommandStage, printed: StreamContent) -> StreamContent {
        let merges = stage.redirects.iter().any(merges_errors);
        let is_exec = matches!(&stage.node, CommandNode::Simple(_, words) if matches!(words.as_slice(), [word] if plain(word) == Some("exec")));
        self.shell.options.merges_errors |= merges && is_exec;
        match printed {
            StreamContent::Text(text)
                if (merges || self.shell.options.merges_errors) && text.pieces().contains(&ValuePiece::Number) =>
            {
                StreamContent::Unknown
            }
            printed => printed,
        }
    }

    /// Remembers what was written into files by this command, for those that run or read them later.
    pub(crate) fn settle_output(
        &mut self,
        stage: &CommandStage,
        redirected: &RedirectedStreams,
        printed: &StreamContent,
    ) {
        if stage.redirects.is_empty() || *printed == StreamContent::Unknown {
            return;
        }
        for path in &redirected.outputs {
            self.arrive(path, printed);
        }
    }
}

/// Returns whether errors go where the output goes, or perhaps.
fn merges_errors(redirect: &Redirect) -> bool {
    let is_of_errors = redirect.descriptor == Some(2);
    let target = plain(&redirect.target);
    match redirect.kind {
        RedirectKind::Duplicate => is_of_errors && target != Some("2") && target != Some("-"),
        RedirectKind::WriteBoth | RedirectKind::AppendBoth => target != Some("/dev/null"),
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
            let is_device =
                |path: &str| path != "/dev/null" && (path.starts_with("/dev/") || path.starts_with("/proc/"));
            is_of_errors && target.is_none_or(is_device)
        }
        RedirectKind::Read | RedirectKind::HereDocument | RedirectKind::HereString => false,
    }
}
