//! A workspace with its state, and a worker in it that does what a line of shell says.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use haft_contract::context::RunContext;
use haft_contract::doors::door::{Doors, Permit, SessionName};
use haft_contract::doors::process::{
    CommandEnd, CommandSpec, CommitReport, ConfinementLevel, Disposition, Keeps, SettledCommand, Staging, StagingMode,
    Worker,
};
use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_contract::limits::Limits;
use haft_contract::outcome::error::ToolError;
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::house::House;

/// How the worker is called in plans.
pub const LINE: &str = "worker";
/// A user other than root.
pub const ORDINARY: u32 = 65534;

/// Does what each line says: in a shell of its own, or by itself behind a "!". The answer is one line, too.
const SCRIPT: &str = r#"
while IFS= read -r -u 3 line; do
  cd "$WORKSPACE" || exit 9
  case $line in
    '!'*) eval "${line#!}"; out=done ;;
    *) out=$(eval "$line" 2>&1) ;;
  esac
  cd /
  printf '%s\n' "${out//$'\n'/|}" >&3
done
"#;

/// Who runs haft, and whose the workspace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user who runs this.
    Own,
    /// An ordinary user, while root runs haft.
    Ordinary,
}

pub struct Workshop {
    pub house: House,
    doors: Doors,
    level: ConfinementLevel,
    pub owner: Owner,
    _state: TempDir,
}

impl Workshop {
    pub fn new(level: ConfinementLevel, owner: Owner) -> Self {
        let house = House::at(level);
        if owner == Owner::Ordinary {
            chown(house.path(), Some(ORDINARY), Some(ORDINARY)).expect("root may do so");
        }
        Self { owner, ..Self::of(house, level) }
    }

    /// Enters an existing workspace.
    pub fn in_folder(level: ConfinementLevel, folder: &Path) -> Self {
        Self::of(House::in_folder(level, folder), level)
    }

    /// Takes a house with its sandbox.
    pub fn of(house: House, level: ConfinementLevel) -> Self {
        let state = tempfile::Builder::new().prefix("haft-state-").tempdir().expect("it can be made");
        let opened = Workspace::open(&house.path()).expect("it is there");
        let place = WorkspaceState::new(state.path(), opened.path());
        let doors = opened.doors(&place);
        Self { house, doors, level, owner: Owner::Own, _state: state }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.house.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at(name), text).expect("it can be written");
        self.give(name);
    }

    pub fn folder(&self, name: &str) {
        std::fs::create_dir(self.at(name)).expect("it is new");
        self.give(name);
    }

    /// Lets something belong to whom the workspace belongs.
    fn give(&self, name: &str) {
        let owner = std::fs::metadata(self.house.path()).expect("it is there");
        chown(self.at(name), Some(owner.uid()), Some(owner.gid())).expect("it is ours");
    }

    /// Writes a file beside and moves it into its place, as editors do.
    pub fn replace(&self, name: &str, text: &str) {
        self.write(".beside", text);
        std::fs::rename(self.at(".beside"), self.at(name)).expect("it can be moved");
    }

    pub fn command(&self) -> CommandSpec {
        self.command_of(SCRIPT)
    }

    pub fn command_of(&self, script: &str) -> CommandSpec {
        let words = ["/bin/bash", "--noprofile", "--norc", "-c", script].map(OsString::from).to_vec();
        let command = CommandSpec::new(words, LINE, self.house.path(), Duration::from_secs(60));
        CommandSpec { environment: vec![("WORKSPACE".into(), self.house.path().into())], ..command }
    }

    pub async fn ground(&self, permit: &Permit) -> Box<dyn Staging> {
        let wanted = match self.level {
            ConfinementLevel::Full => StagingMode::Layered,
            ConfinementLevel::Partial | ConfinementLevel::None => StagingMode::Open("this level has none".into()),
        };
        self.doors.files.ground(permit, wanted).await.expect("it can be prepared")
    }

    /// Runs a script through the whole of what tools have.
    pub async fn run(&self, script: &str, keeps: Keeps) -> Result<SettledCommand, ToolError> {
        let doors = self.doors.clone().with_processes(self.house.another_sandbox(self.level));
        let command = CommandSpec { keeps, ..self.command_of(script) };
        let (session, limits, permit) = (SessionName::new("s"), Limits::default(), permit());
        let cx = RunContext::new(&permit, &doors, &session, &limits);
        cx.run(&command, &|_, _| {}).await
    }

    pub async fn hire(&self) -> Hired<'_> {
        self.hire_for(&self.command(), &permit()).await
    }

    pub async fn hire_for(&self, command: &CommandSpec, permit: &Permit) -> Hired<'_> {
        use haft_contract::doors::process::Processes;
        let ground = self.ground(permit).await;
        let worker = self.house.sandbox.start(permit, command, &*ground).await.expect("it starts");
        Hired { workshop: self, worker, ground: Some(ground), heard: Mutex::default() }
    }
}

/// A worker, and the ground that it is on.
pub struct Hired<'a> {
    workshop: &'a Workshop,
    pub worker: Box<dyn Worker>,
    pub ground: Option<Box<dyn Staging>>,
    pub heard: Mutex<String>,
}

/// What came of one call.
#[derive(Debug)]
pub struct Call {
    pub answer: String,
    pub left_behind: usize,
    pub settled: CommitReport,
}

impl Hired<'_> {
    /// Lets it serve one call, and keeps what that changed.
    pub async fn call(&mut self, line: &str) -> Call {
        self.try_call(line).await.unwrap_or_else(|ended| panic!("{line:?}: {ended:?}"))
    }

    pub async fn try_call(&mut self, line: &str) -> Result<Call, CommandEnd> {
        let permit = permit();
        self.enter(&permit).await;
        let answer = self.talk(line).await?;
        let left_behind = self.worker.leave().await?;
        let ground = self.ground.take().expect("it is on one");
        let settled = ground.settle(&permit, Disposition::Commit).await.expect("it can be settled");
        Ok(Call { answer, left_behind, settled })
    }

    /// Lets it serve one call, and throws away what that changed.
    pub async fn thrown_away(&mut self, line: &str) -> String {
        self.enter(&permit()).await;
        let answer = self.talk(line).await.unwrap_or_else(|ended| panic!("{line:?}: {ended:?}"));
        assert_eq!(self.worker.leave().await.expect("it leaves"), 0, "{line:?}");
        self.ground = None;
        answer
    }

    /// Puts it on a fresh ground, unless it is on one.
    pub async fn enter(&mut self, permit: &Permit) {
        if self.ground.is_none() {
            let ground = self.workshop.ground(permit).await;
            self.worker.enter(permit, &*ground).await.expect("it enters");
            self.ground = Some(ground);
        }
    }

    pub async fn talk(&mut self, line: &str) -> Result<String, CommandEnd> {
        let heard =
            |_, piece: &[u8]| self.heard.lock().expect("nobody panics").push_str(&String::from_utf8_lossy(piece));
        self.worker.send(line.as_bytes(), &heard).await?;
        let answer = self.worker.receive(&heard).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

pub fn permit() -> Permit {
    crate::house::permit(&plain(), &CancellationToken::new())
}

/// Permits the worker with the network.
pub fn permit_with_network() -> Permit {
    let (command, words) = (LINE.into(), [LINE.to_owned()].into());
    let step =
        CommandStep { command, folder: "".into(), part: (0, LINE.len()), words, does: StepEffect::Connect(None) };
    crate::house::permit_with(&plain(), &[Effect::Step(step)])
}

fn plain() -> CommandSpec {
    CommandSpec::new(Vec::new(), LINE, PathBuf::new(), Duration::ZERO)
}
