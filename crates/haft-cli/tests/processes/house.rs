//! A folder to run commands in, and who is alive in it.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_contract::call::CallId;
use haft_contract::doors::door::{ConsentKind, Permit, PermitIssuer, Provenance, Receipt, SessionName};
use haft_contract::doors::process::{
    CommandEnd, CommandSpec, CommitReport, ConfinementLevel, Disposition, GroundRoot, Home, HowEnded, NotRun,
    Processes, Staging, Stream,
};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::files::path::Target;
use haft_contract::outcome::error::ToolError;
use haft_sandbox::{Launcher, Network, Sandbox, SandboxSettings};
use haft_testkit::require::Need;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Most bytes of output that are kept to look at.
const KEPT: usize = 1024 * 1024;
/// The variable that all processes of a house have.
const MARK: &str = "HAFT_TEST_HOUSE";

/// How many houses there are.
static HOUSES: AtomicUsize = AtomicUsize::new(0);
/// Most launchers of one house that stand by.
const STANDBYS: usize = 5;

/// Counts a house.
struct Counted;

impl Counted {
    fn new() -> Self {
        HOUSES.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        HOUSES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The variable that names a copy of the command, for users who may not get to where it was built.
pub const COPY: &str = "HAFT_TEST_COPY";

fn launcher() -> Launcher {
    match std::env::var_os(COPY) {
        Some(copy) => Launcher::at(Path::new(&copy)),
        None => Launcher::at(Path::new(env!("CARGO_BIN_EXE_haft"))),
    }
}

/// A workspace with a sandbox of one level.
pub struct House {
    folder: PathBuf,
    /// Removes it in the end, where this house made it.
    _made: Option<TempDir>,
    _counted: Counted,
    pub sandbox: Sandbox,
}

/// What became of one command.
pub struct Outcome {
    pub result: Result<CommandEnd, NotRun>,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    /// How many bytes were printed in all.
    pub printed: usize,
    pub took: Duration,
    pub receipts: Vec<Receipt>,
}

/// Returns the levels that this system gives, each with a house.
#[track_caller]
pub fn houses() -> Vec<(ConfinementLevel, House)> {
    let mut houses = Vec::new();
    for level in [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full] {
        let house = House::at(level);
        if house.reaches(level) {
            houses.push((level, house));
        }
    }
    houses
}

impl House {
    /// Returns whether this system confines commands so strongly.
    #[track_caller]
    pub fn reaches(&self, level: ConfinementLevel) -> bool {
        let is_reached = self.sandbox.confinement().reached == level;
        match level {
            ConfinementLevel::None => is_reached,
            ConfinementLevel::Partial => Need::Partial.met(is_reached),
            ConfinementLevel::Full => Need::Full.met(is_reached),
        }
    }

    /// Makes a house whose commands are confined at most so strongly.
    pub fn at(level: ConfinementLevel) -> Self {
        Self::with(launcher(), level)
    }

    pub fn with(launcher: Launcher, level: ConfinementLevel) -> Self {
        let made = tempfile::Builder::new().prefix("haft-house-").tempdir().expect("it can be made");
        let folder = made.path().canonicalize().expect("it is there");
        let sandbox = Sandbox::new(launcher, settings(&folder, ConfinementLevel::None)).at_most(level);
        Self { folder, sandbox, _made: Some(made), _counted: Counted::new() }
    }

    /// Makes a house that requires a level and does not reach it.
    pub fn requiring(required: ConfinementLevel, reached: ConfinementLevel) -> Self {
        let house = Self::at(reached);
        let launcher = launcher();
        Self { sandbox: Sandbox::new(launcher, settings(&house.folder, required)).at_most(reached), ..house }
    }

    /// Makes a house with other settings.
    pub fn bounded(level: ConfinementLevel, bound: impl FnOnce(SandboxSettings) -> SandboxSettings) -> Self {
        let house = Self::at(level);
        let settings = bound(settings(&house.folder, ConfinementLevel::None));
        Self { sandbox: Sandbox::new(launcher(), settings).at_most(level), ..house }
    }

    /// Makes a house in which these are hidden from commands.
    pub fn hiding(level: ConfinementLevel, hidden: &[PathBuf]) -> Self {
        let house = Self::at(level);
        let launcher = launcher();
        let settings = SandboxSettings { hidden: hidden.to_vec(), ..settings(&house.folder, ConfinementLevel::None) };
        Self { sandbox: Sandbox::new(launcher, settings).at_most(level), ..house }
    }

    /// Enters an existing house, and hides these.
    pub fn in_folder_hiding(folder: &Path, hidden: &[PathBuf]) -> Self {
        let launcher = launcher();
        let settings = SandboxSettings { hidden: hidden.to_vec(), ..settings(folder, ConfinementLevel::None) };
        Self {
            folder: folder.to_owned(),
            sandbox: Sandbox::new(launcher, settings),
            _made: None,
            _counted: Counted::new(),
        }
    }

    /// Enters an existing house.
    pub fn in_folder(level: ConfinementLevel, folder: &Path) -> Self {
        let launcher = launcher();
        let sandbox = Sandbox::new(launcher, settings(folder, ConfinementLevel::None)).at_most(level);
        Self { folder: folder.to_owned(), sandbox, _made: None, _counted: Counted::new() }
    }

    /// Makes another sandbox like that of this house.
    pub fn another_sandbox(&self, level: ConfinementLevel) -> Sandbox {
        let launcher = launcher();
        Sandbox::new(launcher, settings(&self.folder, ConfinementLevel::None)).at_most(level)
    }

    pub fn path(&self) -> PathBuf {
        self.folder.clone()
    }

    fn mark(&self) -> String {
        format!("{MARK}={}", self.folder.display())
    }

    /// Returns a command of a clean shell.
    pub fn script(&self, script: &str, seconds: f64) -> CommandSpec {
        let words = ["/bin/bash", "--noprofile", "--norc", "-c", script].map(OsString::from).to_vec();
        let command = CommandSpec::new(words, script, self.path(), Duration::from_secs_f64(seconds));
        CommandSpec { home: Home::Session, ..command }
    }

    /// Runs a script and checks that it ends in time and leaves no process.
    pub fn run(&self, script: &str, seconds: f64) -> Outcome {
        let command = self.script(script, seconds);
        let run = || {
            let outcome = self.run_command(&command, &CancellationToken::new());
            self.assert_empty(script);
            outcome
        };
        let is_late = |outcome: &Outcome| outcome.took >= Duration::from_secs_f64(seconds + 1.0);
        // The machine may have more to do than this test; twice in a row it is not the machine.
        let outcome = Some(run()).filter(|outcome| !is_late(outcome)).unwrap_or_else(run);
        assert!(!is_late(&outcome), "{script:?} took {:?} of {seconds} s", outcome.took);
        outcome
    }

    /// Runs a command until it ends or is stopped.
    pub fn run_command(&self, command: &CommandSpec, stop: &CancellationToken) -> Outcome {
        block_on(self.start(command, stop))
    }

    /// Starts a command.
    pub async fn start(&self, command: &CommandSpec, stop: &CancellationToken) -> Outcome {
        let permit = permit(command, stop);
        let ground = OpenGround::at(&self.path());
        let heard: Mutex<(Vec<u8>, Vec<u8>, usize)> = Mutex::default();
        let listen = |stream: Stream, piece: &[u8]| {
            let mut heard = heard.lock().expect("nobody panics");
            heard.2 += piece.len();
            let kept = match stream {
                Stream::Out => &mut heard.0,
                Stream::Err => &mut heard.1,
            };
            kept.extend(piece.iter().take(KEPT.saturating_sub(kept.len())));
        };
        let began = Instant::now();
        let result = self.sandbox.run(&permit, command, &ground, &listen).await;
        let took = began.elapsed();
        let (out, err, printed) = heard.into_inner().expect("nobody panics");
        Outcome { result, out, err, printed, took, receipts: permit.receipts().so_far() }
    }

    /// Returns every process that was started in this house.
    pub fn alive(&self) -> Vec<Pid> {
        let mark = self.mark();
        let has_mark = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|setting| setting == mark.as_bytes())
        };
        let all = std::fs::read_dir("/proc").expect("it is there").flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(has_mark).filter_map(Pid::from_raw).collect()
    }

    /// Waits until so many are alive. A process that becomes another program shows no mark for a moment.
    pub fn wait_until_alive(&self, count: usize) {
        let began = Instant::now();
        while self.alive().len() < count {
            assert!(began.elapsed() < Duration::from_secs(20), "only {:?} are alive", self.alive());
            std::thread::yield_now();
        }
    }

    /// Waits until no process is alive, at most this long.
    pub fn wait_until_empty(&self, most: Duration) -> Duration {
        let began = Instant::now();
        loop {
            let alive = self.alive();
            let Some(first) = alive.first() else { return began.elapsed() };
            assert!(began.elapsed() < most, "{} processes are alive after {most:?}", alive.len());
            if let Ok(process) = pidfd_open(*first, PidfdFlags::empty()) {
                let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
                let left = Timespec::try_from(most.saturating_sub(began.elapsed())).expect("it is short");
                poll(&mut polled, Some(&left)).expect("it can be waited for");
            }
        }
    }

    pub fn assert_empty(&self, script: &str) {
        let alive = self.alive();
        assert!(alive.is_empty(), "{script:?} left {alive:?}: {:?}", alive.iter().map(words).collect::<Vec<_>>());
        let (standbys, others): (Vec<String>, Vec<String>) =
            children().into_iter().partition(|words| words.starts_with("haft-launcher"));
        assert!(others.is_empty(), "{script:?} left children of ours: {others:?}");
        // Every house may have one launcher that stands by, and others that do so in the roots they keep.
        let most = HOUSES.load(Ordering::SeqCst) * STANDBYS;
        assert!(standbys.len() <= most, "{script:?} left launchers: {standbys:?}");
    }
}

impl Outcome {
    pub fn ended(&self) -> &CommandEnd {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error:?}"))
    }

    pub fn how(&self) -> HowEnded {
        self.ended().how
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    pub fn error(&self) -> &ToolError {
        match &self.result {
            Err(NotRun::Failed(error)) => error,
            other => panic!("{other:?}"),
        }
    }
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it can be built").block_on(future)
}

pub fn permit(command: &CommandSpec, stop: &CancellationToken) -> Permit {
    let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand(), [run(command)].into(), stop.clone());
    permit.standing_on(ConsentKind::Consent)
}

/// Permits the command and these effects.
pub fn permit_with(command: &CommandSpec, effects: &[Effect]) -> Permit {
    let effects = effects.iter().cloned().chain([run(command)]).collect();
    let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand(), effects, CancellationToken::new());
    permit.standing_on(ConsentKind::Consent)
}

fn run(command: &CommandSpec) -> Effect {
    Effect::Run(CommandLine(command.line.clone()))
}

fn errand() -> Provenance {
    let (call, session) = (CallId::new("1"), SessionName::new("s"));
    Provenance {
        call,
        tool: "bash".into(),
        session,
        run: "r".into(),
        turn: 1,
        purpose: haft_contract::doors::door::Purpose::default(),
        old_changes: haft_contract::doors::door::OldChanges::Stay,
    }
}

fn settings(folder: &Path, required: ConfinementLevel) -> SandboxSettings {
    let readable = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"];
    SandboxSettings {
        required: haft_sandbox::Requirement::Set(required),
        network: Network::Off,
        job_environment: Vec::new(),
        environment: vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("HOME".into(), "/nowhere".into()),
            (MARK.into(), folder.into()),
        ],
        readable: readable.iter().map(PathBuf::from).collect(),
        home: "/nowhere".into(),
        hidden: Vec::new(),
        home_files: Vec::new(),
        processes: 2000,
        caches: Vec::new(),
        cache_room: 0,
        memory: None,
        disk: None,
    }
}

fn words(pid: &Pid) -> String {
    let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Keeps the tests of one process apart: each of them looks at all children of the process.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the command lines of the children of this process; those that have ended have their state instead.
pub fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").expect("it is there").flatten();
    let pids = all.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let child = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        let is_ours = stat.rsplit(") ").next()?.split(' ').nth(1) == Some(&own);
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        let place = if numbers.split_whitespace().count() > 1 { "in a namespace: " } else { "" };
        is_ours.then(|| format!("{place}{}", Some(words(&pid)).filter(|words| !words.is_empty()).unwrap_or(stat)))
    };
    pids.filter_map(child).collect()
}

/// The real folder, without a layer.
pub struct OpenGround {
    roots: Vec<GroundRoot>,
}

impl OpenGround {
    pub fn at(path: &Path) -> Self {
        let folder = std::fs::File::open(path).expect("it is there").into();
        let path = path.to_owned();
        Self {
            roots: vec![GroundRoot {
                path,
                folder,
                layer: None,
                images: None,
                own: Vec::new(),
                read_only: Vec::new(),
                shown: None,
            }],
        }
    }
}

impl Staging for OpenGround {
    fn roots(&self) -> &[GroundRoot] {
        &self.roots
    }

    fn hidden(&self) -> &[PathBuf] {
        &[]
    }

    fn uncovered(&self) -> Option<&str> {
        Some("this is a test")
    }

    fn keep_only(&mut self, _targets: Arc<[Target]>) {}

    fn settle<'a>(
        self: Box<Self>,
        _permit: &'a Permit,
        _how: Disposition,
    ) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        Box::pin(async { Ok(CommitReport::default()) })
    }
}
