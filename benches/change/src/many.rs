//! Measures the cost of committing thousands of files that a command left, and of undoing that, beside `cp -r`.
//!
//! The benchmark puts the files into the layer directly, so it does not measure the command itself.

use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_contract::call::CallId;
use haft_contract::doors::door::{Doors, Provenance, OldChanges, Permit, PermitIssuer, Purpose, SessionName};
use haft_contract::effect::{CommandLine, Effect};
use haft_contract::doors::process::{Disposition, StagingMode};
use haft_workspace::files::Workspace;
use haft_workspace::history::UndoSelection;
use haft_workspace::state::WorkspaceState;
use tokio_util::sync::CancellationToken;

const FILES: usize = 5_000;
const TURNS: usize = 5;

/// Measures new and replaced files; returns whether all is within the limits.
pub(crate) fn measure(folder: &Path) -> Result<bool, String> {
    println!("{FILES} files of 4 KB in 100 folders, median of {TURNS} in turns, wall time");
    let mut all_within = true;
    for what in ["new", "replaced"] {
        let mut times: [Vec<Duration>; 3] = Default::default();
        for turn in 0..TURNS {
            let folder = folder.join(format!("many-{what}-{turn}"));
            let took = one(&folder, what).map_err(|error| error.to_string())?;
            times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
            // What is left behind in a folder for temporary files does no harm.
            let _ = std::fs::remove_dir_all(&folder);
        }
        let [plain, commit, undo] = times.map(super::median);
        all_within &= super::row(&format!("{what}: brought in, against cp -r"), 2.5, (plain, commit));
        all_within &= super::row(&format!("{what}: taken back, against cp -r"), 6.0, (plain, undo));
    }
    Ok(all_within)
}

/// Returns how long `cp -r`, bringing in and taking back take.
fn one(folder: &Path, what: &str) -> io::Result<[Duration; 3]> {
    let (ws, source) = (folder.join("ws"), folder.join("source"));
    std::fs::create_dir_all(&ws)?;
    fill(&source, "new")?;
    if what == "replaced" {
        fill(&ws, "old")?;
    }
    let plainly = timed(|| copy(&source, &folder.join("copy")))?;

    let workspace = Workspace::open(&ws)?;
    let state = WorkspaceState::new(&folder.join("state"), workspace.path());
    let history = workspace.history(&state);
    let brought = bring(&workspace.doors(&state), &source)?;
    let undone = timed(|| history.undo(UndoSelection::Newest, None).map(drop).map_err(io::Error::other))?;
    Ok([plainly, brought, undone])
}

fn bring(doors: &Doors, source: &Path) -> io::Result<Duration> {
    let (call, session) = (CallId::new("1"), SessionName::new("bench"));
    let errand = Provenance {
        call,
        tool: "bash".into(),
        session,
        run: "r".into(),
        turn: 1,
        purpose: Purpose::default(),
        old_changes: OldChanges::Stay,
    };
    let effects: Arc<[Effect]> = Arc::new([Effect::Run(CommandLine("true".into()))]);
    let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects, CancellationToken::new());
    let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let told = |error: haft_contract::outcome::error::ToolError| io::Error::other(error.to_string());
    let ground = waiting.block_on(doors.files.ground(&permit, StagingMode::Layered)).map_err(told)?;
    let layer = ground.roots().first().and_then(|root| root.layer.as_ref());
    let layer = layer.ok_or_else(|| io::Error::other("there is no layer here"))?;
    let upper = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), layer.upper.as_raw_fd()));
    copy(&source.join("."), &upper)?;
    timed(|| {
        let settled = waiting.block_on(ground.settle(&permit, Disposition::Commit)).map_err(told)?;
        let count = settled.changes.len();
        if count == FILES { Ok(()) } else { Err(io::Error::other(format!("{count} files came in"))) }
    })
}

fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn fill(folder: &Path, word: &str) -> io::Result<()> {
    for number in 0..FILES {
        let path = folder.join(format!("folder-{}/file-{number}.txt", number % 100));
        if number < 100 {
            std::fs::create_dir_all(folder.join(format!("folder-{number}")))?;
        }
        std::fs::write(path, format!("{word} {number}\n").repeat(400))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp").arg("-r").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("cp failed")) }
}
