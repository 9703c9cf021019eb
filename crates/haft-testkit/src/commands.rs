//! Fake commands: a test defines what they print, how they end and what they change.
//!
//! They serve tests of what haft reports about commands. The tests of `haft-cli` use real commands to show that a
//! sandbox holds and that haft reads a layer correctly.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::connection;
use haft_contract::doors::connection::{Decision, HostOutcome, ReachedHost, Speaks};
use haft_contract::doors::door::{
    ChangeSetId, Doors, FileOp, FileOpResult, Files, OpeningFile, Page, PageRequest, Permit, Receipt,
};
use haft_contract::doors::process::{
    CommandEnd, CommandSpec, CommitReport, Confinement, ConfinementLevel, Disposition, GroundRoot, HowEnded, Keeps,
    NotRun, OutputListener, Processes, Settlement, Staging, StagingMode, Stream,
};
use haft_contract::effect::{Change, CommandLine, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::search::{
    FindRequest, FindResult, FolderListing, ListRequest, SearchRequest, SearchResult, SearchedSoFar,
};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::Image;

/// What every command does.
#[derive(Clone, Debug)]
pub struct ScriptedCommand {
    pieces: Vec<(Stream, Vec<u8>)>,
    ended: CommandEnd,
    settled: CommitReport,
    uncovered: Option<String>,
    is_known_uncovered: bool,
    confinement: Confinement,
    connects: Vec<(String, u16)>,
    run: Arc<Mutex<Vec<CommandSpec>>>,
}

impl Default for ScriptedCommand {
    fn default() -> Self {
        let took = Duration::from_millis(12);
        let how = HowEnded::Exited(0);
        Self {
            pieces: Vec::new(),
            ended: CommandEnd {
                how,
                took,
                level: ConfinementLevel::Full,
                left_behind: 0,
                notes: Vec::new(),
                refused_hosts: Vec::new(),
            },
            settled: CommitReport::default(),
            uncovered: None,
            is_known_uncovered: false,
            confinement: Confinement {
                required: ConfinementLevel::Full,
                is_set: false,
                reached: ConfinementLevel::Full,
                layerless: None,
                missing: Vec::new(),
                untried: None,
                network: false,
                is_off: false,
                watches: false,
                supervised: false,
            },
            connects: Vec::new(),
            run: Arc::default(),
        }
    }
}

impl ScriptedCommand {
    /// Prints this on its output.
    pub fn prints(self, piece: impl AsRef<[u8]>) -> Self {
        self.on(Stream::Out, piece.as_ref())
    }

    /// Prints this on its errors.
    pub fn complains(self, piece: impl AsRef<[u8]>) -> Self {
        self.on(Stream::Err, piece.as_ref())
    }

    /// Ends like this.
    pub fn ends(mut self, how: HowEnded) -> Self {
        self.ended.how = how;
        self
    }

    /// Leaves so many processes behind.
    pub fn leaves_behind(mut self, processes: usize) -> Self {
        self.ended.left_behind = processes;
        self
    }

    /// Changes a file.
    pub fn changes(mut self, path: &str, change: Change) -> Self {
        let target = Target::Inside(FileLocation::new(path, Extent::Entry));
        self.settled.changes.push(Settlement {
            target,
            change,
            is_folder: false,
            is_replaced: false,
            diff: None,
            inside: None,
            from: None,
        });
        self
    }

    /// Is told of like this when it was looked at.
    pub fn noted(mut self, note: &str) -> Self {
        self.settled.notes.push(note.to_owned());
        self
    }

    /// Changes something that the tool had not declared.
    pub fn undeclared(mut self, path: &str) -> Self {
        self.settled.undeclared.push(Target::Inside(FileLocation::new(path, Extent::Entry)));
        self
    }

    /// Works on the real folder, for this reason.
    pub fn uncovered(mut self, reason: &str) -> Self {
        self.uncovered = Some(reason.to_owned());
        self.is_known_uncovered = true;
        self
    }

    /// Works on the real folder, for this reason, which is found out only when it shall run.
    pub fn found_uncovered(self, reason: &str) -> Self {
        Self { is_known_uncovered: false, ..self.uncovered(reason) }
    }

    /// Has the network, as every command has by the settings.
    pub fn with_network(mut self) -> Self {
        self.confinement.network = true;
        self
    }

    /// Reaches hosts by name, and connects to this one while it runs.
    pub fn connects_to(mut self, host: &str, port: u16) -> Self {
        self.confinement.supervised = true;
        self.connects.push((host.to_owned(), port));
        self
    }

    /// Connects to its hosts, as far as the call lets it.
    async fn connect(&self, permit: &Permit) {
        for (host, port) in &self.connects {
            let wanted = connection::ConnectionRequest { host: host.clone(), port: *port, speaks: Speaks::Tls };
            let Some(desk) = permit.desk() else { continue };
            let (outcome, bytes) = match desk.decide(wanted, None).await {
                Some(Decision::Allow { .. }) => (HostOutcome::Reached, 7),
                Some(Decision::Refuse { why }) => (HostOutcome::Refused(why), 0),
                None => continue,
            };
            let (connections, gave_up) = (1, 0);
            let (host, port) = (host.clone(), *port);
            let reached = ReachedHost { host, port, connections, sent: bytes, received: bytes, gave_up, outcome };
            permit.receipts().note_reached(&[reached]);
        }
    }

    /// Runs where the system gives only this level.
    pub fn where_reached(mut self, level: ConfinementLevel) -> Self {
        self.confinement.reached = level;
        self.ended.level = level;
        self
    }

    /// Returns what was run so far.
    pub fn run_so_far(&self) -> Vec<CommandSpec> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts this in the place of the doors that commands go through.
    pub fn behind(&self, doors: Doors) -> Doors {
        let files = ScriptedFiles { files: doors.files.clone(), command: self.clone() };
        Doors { files: Arc::new(files), ..doors }.with_processes(self.clone())
    }

    fn on(mut self, stream: Stream, piece: &[u8]) -> Self {
        self.pieces.push((stream, piece.to_vec()));
        self
    }
}

impl Processes for ScriptedCommand {
    fn confinement(&self) -> Confinement {
        self.confinement.clone()
    }

    fn run<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a CommandSpec,
        ground: &'a dyn Staging,
        heard: OutputListener<'a>,
    ) -> BoxFuture<'a, Result<CommandEnd, NotRun>> {
        Box::pin(async move {
            permit.admit(&Effect::Run(CommandLine(command.line.clone())))?;
            let uncovered = ground.uncovered().map(str::to_owned);
            permit.receipts().note(Receipt::Ran { level: self.ended.level, uncovered });
            self.run.lock().unwrap_or_else(PoisonError::into_inner).push(command.clone());
            self.pieces.iter().for_each(|(stream, piece)| heard(*stream, piece));
            self.connect(permit).await;
            if let Some(status) = self.ended.how.exit_code() {
                permit.receipts().note(Receipt::Exited(status));
            }
            Ok(self.ended.clone())
        })
    }
}

struct ScriptedGround {
    command: ScriptedCommand,
}

impl Staging for ScriptedGround {
    fn roots(&self) -> &[GroundRoot] {
        &[]
    }

    fn hidden(&self) -> &[std::path::PathBuf] {
        &[]
    }

    fn uncovered(&self) -> Option<&str> {
        self.command.uncovered.as_deref()
    }

    fn keep_only(&mut self, targets: Arc<[Target]>) {
        let keeps = Keeps::Only(targets);
        self.command.settled.changes.retain(|change| keeps.holds(&change.target));
    }

    fn settle<'a>(
        self: Box<Self>,
        permit: &'a Permit,
        how: Disposition,
    ) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        Box::pin(async move {
            // Each run is a set of its own; the first is the seventh.
            let number = ChangeSetId(6 + self.command.run_so_far().len() as u64);
            let settled = self.command.settled;
            for change in settled.changes.iter().filter(|_| how == Disposition::Commit) {
                permit.receipts().note(Receipt::Changed(change.target.clone(), change.change));
                permit.receipts().note_change_set(number);
            }
            Ok(settled)
        })
    }
}

/// The files of a scene, where commands work on a ground that is written down.
struct ScriptedFiles {
    files: Arc<dyn Files>,
    command: ScriptedCommand,
}

impl Files for ScriptedFiles {
    fn uncovered(&self) -> Option<String> {
        self.command.uncovered.clone().filter(|_| self.command.is_known_uncovered)
    }

    fn page<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>> {
        self.files.page(permit, target, request)
    }

    fn image<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        most: u64,
    ) -> BoxFuture<'a, Result<Option<Image>, ToolError>> {
        self.files.image(permit, target, most)
    }

    fn open<'a>(&'a self, permit: &'a Permit, target: &'a Target) -> OpeningFile<'a> {
        self.files.open(permit, target)
    }

    fn list<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: ListRequest,
    ) -> BoxFuture<'a, Result<FolderListing, ToolError>> {
        self.files.list(permit, target, request)
    }

    fn find<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: FindRequest,
    ) -> BoxFuture<'a, Result<FindResult, ToolError>> {
        self.files.find(permit, target, request)
    }

    fn search<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        request: SearchRequest,
        told: &'a (dyn Fn(SearchedSoFar) + Send + Sync),
    ) -> BoxFuture<'a, Result<SearchResult, ToolError>> {
        self.files.search(permit, target, request, told)
    }

    fn change<'a>(
        &'a self,
        permit: &'a Permit,
        ops: &'a [FileOp],
    ) -> BoxFuture<'a, Result<Vec<FileOpResult>, ToolError>> {
        self.files.change(permit, ops)
    }

    fn ground<'a>(
        &'a self,
        permit: &'a Permit,
        _wanted: StagingMode,
    ) -> BoxFuture<'a, Result<Box<dyn Staging>, ToolError>> {
        Box::pin(async move {
            permit.go_on()?;
            Ok(Box::new(ScriptedGround { command: self.command.clone() }) as Box<dyn Staging>)
        })
    }
}
