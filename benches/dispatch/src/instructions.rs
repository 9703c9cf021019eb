//! Counts instructions per call with callgrind: a number that does not depend on the load of the machine.
//!
//! Two runs of this program differ only by a thousand calls, so the difference is the cost of a thousand calls, without
//! the start and the growth of tables. This counts only the process itself. The kernel's part of a call appears in the
//! time, not here.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde::Deserialize;

/// A session remembers 4096 calls. Beyond that its tables do not grow any more.
const FEWER_CALLS: u64 = 5_000;
const MORE_CALLS: u64 = 6_000;
const TOLERANCE: f64 = 0.10;

/// Long copies by vectors. Otherwise glibc copies with one repeated instruction, which callgrind counts
/// once per byte: a third of the count would be an artefact, and another on another processor.
const COPIES_BY_VECTORS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.x86_rep_movsb_threshold=1000000000");

/// Counts, compares with the baseline, and fails when it is exceeded.
pub fn run() -> ExitCode {
    match counted().and_then(|counted| Ok((counted, baseline()?))) {
        Ok((counted, baseline)) => judge(counted, baseline),
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

fn judge(counted: u64, baseline: u64) -> ExitCode {
    let change = counted as f64 / baseline as f64 - 1.0;
    println!("{counted} instructions per call, {:+.1} % against the baseline of {baseline}", change * 100.0);
    if change > TOLERANCE {
        println!("FAILED: more than {:.0} % above the baseline", TOLERANCE * 100.0);
        return ExitCode::FAILURE;
    }
    if change < -TOLERANCE {
        println!("lower the baseline: dispatch/baseline.toml can say {counted}");
    }
    println!("ok: within {:.0} %", TOLERANCE * 100.0);
    ExitCode::SUCCESS
}

#[derive(Deserialize)]
struct Baseline {
    instructions_per_call: u64,
}

fn baseline() -> Result<u64, String> {
    let all: toml::Table = toml::from_str(include_str!("../baseline.toml")).map_err(|error| error.to_string())?;
    let here = std::env::consts::ARCH;
    let Some(baseline) = all.get(here) else { return Err(format!("baseline.toml has no table [{here}]")) };
    let Baseline { instructions_per_call } =
        baseline.clone().try_into().map_err(|error| format!("[{here}]: {error}"))?;
    Ok(instructions_per_call)
}

fn counted() -> Result<u64, String> {
    let folder = std::env::temp_dir().join(format!("haft-dispatch-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let outcome = total(&folder, MORE_CALLS).and_then(|more| Ok(more.saturating_sub(total(&folder, FEWER_CALLS)?)));
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(outcome? / (MORE_CALLS - FEWER_CALLS))
}

/// Returns the instructions of a run with so many calls, start and end included.
fn total(folder: &Path, calls: u64) -> Result<u64, String> {
    let profile = folder.join(calls.to_string());
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .args(["calls", &calls.to_string()])
        .env(COPIES_BY_VECTORS.0, COPIES_BY_VECTORS.1)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("valgrind cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("valgrind ended with {status}"));
    }
    let text = std::fs::read_to_string(&profile).map_err(|error| error.to_string())?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    total.ok_or_else(|| "callgrind wrote no totals".to_owned())
}
