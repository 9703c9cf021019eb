//! Measures the cost of a command through the whole pipeline, beside bash alone with pipes.
//!
//! This program is its own launcher. The contenders take turns, and the benchmark compares medians.

mod floor;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use haft_contract::call::{CallId, CallOrigin, RawArguments, ToolCall};
use haft_contract::doors::door::{Provenance, OldChanges, Permit, PermitIssuer, Purpose, SessionName};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::doors::process::{Staging, ConfinementLevel, Processes, StagingMode};
use haft_runtime::asking::approval::{Nobody, YesToOrdinary};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
use haft_sandbox::{Launcher, Network, Sandbox, SandboxSettings};
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const TURNS: usize = 50;
const LONG_TURNS: usize = 5;
const CALLS: usize = 1_000;
const FILES: usize = 5_000;

fn main() -> ExitCode {
    haft_sandbox::launcher();
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder).join(format!("haft-shell-{}", std::process::id())),
        None => {
            eprintln!("usage: shell FOLDER, where there is room for some files");
            return ExitCode::from(2);
        }
    };
    let outcome = measure(&folder);
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(folder: &Path) -> Result<bool, String> {
    let bare = Bench::new(&folder.join("bare"), ConfinementLevel::None, 10)?;
    let full = Bench::new(&folder.join("full"), ConfinementLevel::Full, 10)?;
    let wide = Bench::new(&folder.join("wide"), ConfinementLevel::Full, 20_000)?;
    println!("median of {TURNS} in turns, wall time of `true`, ms");
    let floor = floor::Floor::new(&folder.join("floor"), 10)?;
    let mut times: [Vec<Duration>; 5] = Default::default();
    for _ in 0..TURNS {
        times[0].push(timed(|| bash_alone("true", folder))?);
        times[1].push(timed(|| floor.bash("true"))?);
        for (bench, times) in [&bare, &full, &wide].into_iter().zip(&mut times[2..]) {
            times.push(timed(|| bench.bash("true"))?);
        }
    }
    let [alone, floor, bare, full, wide] = times.map(median);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = bare.as_secs_f64() / alone.as_secs_f64();
    println!("{:<52} {:>8.2}", "bash alone, with pipes", ms(alone));
    println!("{:<52} {:>8.2}", "bash in new namespaces, over a layer", ms(floor));
    let mut within = told("haft without sandbox", ms(bare), ratio, 1.5, "×");
    within &= told("haft, full sandbox with a layer over 10 files", ms(full), ms(full) - ms(alone), 8.0, "ms more");
    within &= told("haft, full sandbox with a layer over 20,000 files", ms(wide), ms(wide) - ms(alone), 8.0, "ms more");
    let beside_floor = full.as_secs_f64() / floor.as_secs_f64();
    within &= told("the same beside bash in new namespaces", ms(full), beside_floor, 1.3, "×");
    within &= worker(folder, alone)?;
    Ok(many_files(folder)? && within)
}

/// Lets one worker serve many calls: each on a fresh ground, with one message to it and one back.
fn worker(folder: &Path, alone: Duration) -> Result<bool, String> {
    let shop = Workshop::new(&folder.join("worker"))?;
    let ground =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let (served, all) = ground.block_on(shop.serve(CALLS))?;
    println!("median of {CALLS}, wall time of a call that a worker serves, ms");
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{:<52} {:>8.2}", "bash alone, with pipes", ms(alone));
    println!("{:<52} {:>8.2}", "worker, with its layer made and thrown away", ms(all));
    Ok(told("worker: enter, a message each way, leave", ms(served), ms(served), 0.7, "ms"))
}

/// A workspace with a worker in it that answers each line.
struct Workshop {
    doors: haft_contract::doors::door::Doors,
    sandbox: Sandbox,
    command: haft_contract::doors::process::CommandSpec,
}

impl Workshop {
    fn new(folder: &Path) -> Result<Self, String> {
        let opened = lay_out(folder, 10)?;
        let words = ["bash", "--noprofile", "--norc", "-c", "while read -r -u 3 line; do echo $line >&3; done"];
        let words = words.map(std::ffi::OsString::from).to_vec();
        let time = Duration::from_secs(60);
        let command = haft_contract::doors::process::CommandSpec::new(words, "worker", opened.path().to_owned(), time);
        let state = WorkspaceState::new(&folder.join("state"), opened.path());
        let sandbox = Sandbox::new(Launcher::own(), settings(folder, ConfinementLevel::Full));
        Ok(Self { doors: opened.doors(&state), sandbox, command })
    }

    /// Returns the medians of what a call costs: at the worker, and with its ground.
    async fn serve(&self, calls: usize) -> Result<(Duration, Duration), String> {
        let text = |error: &dyn std::fmt::Debug| format!("{error:?}");
        let permit = self.permit();
        let ground = self.ground(&permit).await?;
        let mut worker = self.sandbox.start(&permit, &self.command, &*ground).await.map_err(|error| text(&error))?;
        worker.leave().await.map_err(|error| text(&error))?;
        let (mut served, mut all) = (Vec::new(), Vec::new());
        for number in 0..calls {
            let (permit, began) = (self.permit(), Instant::now());
            let ground = self.ground(&permit).await?;
            let entered = Instant::now();
            worker.enter(&permit, &*ground).await.map_err(|error| text(&error))?;
            let message = number.to_string().into_bytes();
            worker.send(&message, &|_, _| {}).await.map_err(|error| text(&error))?;
            let answer = worker.receive(&|_, _| {}).await.map_err(|error| text(&error))?;
            worker.leave().await.map_err(|error| text(&error))?;
            served.push(entered.elapsed());
            drop(ground);
            all.push(began.elapsed());
            if answer != message {
                return Err("the worker answered something else".into());
            }
        }
        Ok((median(served), median(all)))
    }

    fn permit(&self) -> Permit {
        let (call, session) = (CallId::new("1"), SessionName::new("bench"));
        let errand = Provenance {
            call,
            tool: "worker".into(),
            session,
            run: "r".into(),
            turn: 1,
            purpose: Purpose::default(),
            old_changes: OldChanges::Stay,
        };
        let run = Effect::Run(CommandLine(self.command.line.clone()));
        Permit::issue(&PermitIssuer::of_the_runtime(), errand, [run].into(), CancellationToken::new())
    }

    async fn ground(&self, permit: &Permit) -> Result<Box<dyn Staging>, String> {
        let ground = self.doors.files.ground(permit, StagingMode::Quick).await;
        ground.map_err(|error| error.to_string())
    }
}

/// Writes thousands of files: through the layer and the journal, and without sandbox.
fn many_files(folder: &Path) -> Result<bool, String> {
    println!("median of {LONG_TURNS} in turns, {FILES} files, ms");
    let new = format!("mkdir new; for n in {{1..{FILES}}}; do echo $n > new/$n; done");
    let over = format!("for n in {{1..{FILES}}}; do echo over > old/$n; done");
    let mut within = true;
    // Writing over a file in place costs next to nothing; in a layer it is a new file, which costs what a new file does.
    for (name, script, limit) in [("files written anew", new, 1.5), ("files written over", over, f64::INFINITY)] {
        let mut times: [Vec<Duration>; 2] = Default::default();
        for turn in 0..LONG_TURNS {
            let folder = folder.join(format!("many-{turn}"));
            let lay_out = format!("mkdir old; for n in {{1..{FILES}}}; do echo $n > old/$n; done; sync .");
            for (level, times) in [ConfinementLevel::None, ConfinementLevel::Full].into_iter().zip(&mut times) {
                let bench = Bench::new(&folder.join(level.code()), level, 1)?;
                bash_alone(&lay_out, &bench.workspace)?;
                times.push(timed(|| bench.bash(&script))?);
            }
            let _ = std::fs::remove_dir_all(&folder);
        }
        let [bare, full] = times.map(|times| median(times).as_secs_f64() * 1e3);
        println!("{:<52} {bare:>8.2}", format!("{name}, without sandbox"));
        within &= told(&format!("{name}, full sandbox, committed"), full, full / bare, limit, "×");
    }
    Ok(within)
}

fn told(name: &str, time: f64, cost: f64, limit: f64, unit: &str) -> bool {
    let mark = if cost > limit { "EXCEEDED" } else { "" };
    println!("{name:<52} {time:>8.2} {cost:>8.2} {unit}, limit {limit} {mark}");
    cost <= limit
}

struct Bench {
    workspace: PathBuf,
    runtime: Runtime,
    session: Session,
    ground: tokio::runtime::Runtime,
}

impl Bench {
    fn new(folder: &Path, level: ConfinementLevel, files: usize) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let opened = lay_out(folder, files)?;
        let workspace = opened.path().to_owned();
        let state = WorkspaceState::new(&folder.join("state"), opened.path());
        let catalog = Catalog::default();
        for tool in haft_tools::all() {
            catalog.register(tool).map_err(|error| error.to_string())?;
        }
        let sandbox = Sandbox::new(Launcher::own(), settings(folder, level)).at_most(level);
        let runtime = Runtime::new(catalog, opened.doors(&state).with_processes(sandbox));
        let session = runtime.session("bench", YesToOrdinary::or_ask(Nobody::there("")));
        let ground = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text)?;
        let bench = Self { workspace, runtime, session, ground };
        // What the system gives is tried once.
        bench.bash("true")?;
        Ok(bench)
    }

    fn bash(&self, command: &str) -> Result<(), String> {
        let arguments = json!({ "command": command });
        let call = ToolCall::new("bash", RawArguments::from(arguments)).by(CallOrigin::Person);
        let result = self.ground.block_on(self.runtime.call(&self.session, call));
        match (&result.error, result.exit_code) {
            (None, Some(0)) => Ok(()),
            _ => Err(result.text()),
        }
    }
}

/// Makes a workspace with so many files.
fn lay_out(folder: &Path, files: usize) -> Result<Workspace, String> {
    let text = |error: std::io::Error| error.to_string();
    let workspace = folder.join("ws");
    std::fs::create_dir_all(&workspace).map_err(text)?;
    for number in 0..files {
        std::fs::write(workspace.join(format!("file-{number}")), "content\n").map_err(text)?;
    }
    Workspace::open(&workspace).map_err(text)
}

fn settings(folder: &Path, level: ConfinementLevel) -> SandboxSettings {
    SandboxSettings {
        required: haft_sandbox::Requirement::Set(level),
        network: Network::Off,
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        job_environment: Vec::new(),
        readable: ["/usr", "/bin", "/lib", "/lib64", "/etc"].map(PathBuf::from).to_vec(),
        hidden: Vec::new(),
        home: folder.join("home"),
        home_files: Vec::new(),
        processes: 2048,
        caches: Vec::new(),
        cache_room: 0,
        memory: None,
        disk: None,
    }
}

fn bash_alone(command: &str, folder: &Path) -> Result<(), String> {
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", command]).current_dir(folder);
    bash.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = bash.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn timed(work: impl FnOnce() -> Result<(), String>) -> Result<Duration, String> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
