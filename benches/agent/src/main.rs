//! Measures what a session of the agent costs apart from its model and its tools.
//!
//! A scripted model drives `haft run` through 50 calls, each of which reads one line of a small file. The model answers
//! immediately and the tool takes microseconds, so the agent causes the rest. All four forms take turns.

mod child;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use child::run_to_end;
use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

const ROUNDS: usize = 10;
const CALLS: usize = 50;
const TASK: &str = "Read the lines one by one.";

/// What was measured of one session, and what is the most that it may be.
#[derive(Clone, Copy)]
struct Cost {
    /// From before the program is started until its first request has come, in milliseconds.
    first_request_ms: f64,
    /// Between a reply with a call and the next request, the median, in milliseconds.
    gap_ms: f64,
    /// Processor time of the whole session, in milliseconds.
    cpu_ms: f64,
    /// The most memory, in megabytes.
    peak_mb: f64,
    /// The size of the first request, with all tools, in kilobytes.
    first_kb: f64,
}

const LIMIT: Cost = Cost { first_request_ms: 25.0, gap_ms: 5.0, cpu_ms: 150.0, peak_mb: 40.0, first_kb: 10.0 };

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [haft, folder] = &words[..] else {
        eprintln!("usage: agent HAFT FOLDER, the path of the program and of a folder to work in");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder).join(format!("agent-{}", std::process::id()));
    let outcome = measure(Path::new(haft), &folder);
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(costs) => judge(&costs),
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Measures a session in each form; the best of all rounds counts, of the memory the most.
fn measure(haft: &Path, folder: &Path) -> Result<Vec<(Wire, Cost)>, String> {
    let workspace = folder.join("workspace");
    let told = |error: std::io::Error| format!("{}: {error}", workspace.display());
    std::fs::create_dir_all(&workspace).map_err(told)?;
    let lines: String = (1..=CALLS).map(|number| format!("line {number} of the file\n")).collect();
    std::fs::write(workspace.join("lines.txt"), lines).map_err(told)?;

    let mut costs: Vec<(Wire, Cost)> = Vec::new();
    for round in 0..ROUNDS {
        for (index, wire) in Wire::ALL.into_iter().enumerate() {
            let cost = session(haft, folder, wire)?;
            if round == 0 {
                costs.push((wire, cost));
            } else {
                costs[index].1 = costs[index].1.best(cost);
            }
        }
    }
    Ok(costs)
}

fn session(haft: &Path, folder: &Path, wire: Wire) -> Result<Cost, String> {
    let model = ScriptedModel::start(script());
    let mut command = Command::new(haft);
    command.args(["run", "--wire", wire.name(), "--base-url", &model.base_url(wire)]);
    command.args(["--model", ScriptedModel::NAME, "--max-steps", "100", TASK]);
    command.current_dir(folder.join("workspace")).env_clear().env("HOME", folder).env("HAFT_API_KEY", "none");
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(name, folder.join(name));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = run_to_end(&mut command)?;

    let misfits = model.take_misfits();
    if !misfits.is_empty() || model.turns_left() > 0 {
        return Err(format!("{}: {} turns were not told; {}", wire.name(), model.turns_left(), misfits.join("; ")));
    }
    let requests = model.requests();
    let first = requests.first().ok_or("nothing was asked")?;
    let pairs = requests.iter().zip(requests.iter().skip(1));
    let mut gaps: Vec<Duration> =
        pairs.filter_map(|(before, next)| Some(next.at.saturating_duration_since(before.answered_at?))).collect();
    gaps.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Cost {
        first_request_ms: ms(first.at.saturating_duration_since(ended.began)),
        gap_ms: gaps.get(gaps.len() / 2).copied().map_or(0.0, ms),
        cpu_ms: ms(ended.cpu),
        peak_mb: ended.peak_bytes as f64 / 1e6,
        first_kb: first.text.len() as f64 / 1e3,
    })
}

fn script() -> ModelScript {
    let reads = (1..=CALLS).map(|line| {
        let turn = ScriptedTurn::call("read_file", json!({"path": "lines.txt", "offset": line, "limit": 1}));
        let before = if line == 1 { Expect::user_says(TASK) } else { contains(line - 1) };
        turn.expect(before)
    });
    ModelScript::of(reads.chain([ScriptedTurn::text("These were all.").expect(contains(CALLS))]))
}

fn contains(line: usize) -> Expect {
    Expect::tool_result_contains(format!("line {line} of the file"))
}

impl Cost {
    fn best(self, other: Self) -> Self {
        Self {
            first_request_ms: self.first_request_ms.min(other.first_request_ms),
            gap_ms: self.gap_ms.min(other.gap_ms),
            cpu_ms: self.cpu_ms.min(other.cpu_ms),
            peak_mb: self.peak_mb.max(other.peak_mb),
            first_kb: self.first_kb.max(other.first_kb),
        }
    }

    /// Returns the numbers with their names, in the order of the table.
    fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("ms to the first request", self.first_request_ms),
            ("ms for each call", self.gap_ms),
            ("ms of processor", self.cpu_ms),
            ("MB of memory", self.peak_mb),
            ("kB in the first request", self.first_kb),
        ]
    }
}

fn judge(costs: &[(Wire, Cost)]) -> ExitCode {
    println!("a session of {CALLS} calls, best of {ROUNDS} rounds in turns; of memory the most");
    print!("{:<26}", "");
    costs.iter().for_each(|(wire, _)| print!("{:>10}", wire.name()));
    println!("{:>10}", "limit");
    let mut exceeded = Vec::new();
    for (row, (name, limit)) in LIMIT.named().into_iter().enumerate() {
        print!("{name:<26}");
        for (wire, cost) in costs {
            let (_, value) = cost.named()[row];
            print!("{value:>10.2}");
            if value > limit {
                exceeded.push(format!("{}: {value:.2} {name}", wire.name()));
            }
        }
        println!("{limit:>10}");
    }
    if exceeded.is_empty() {
        println!("ok: all within their limits");
        return ExitCode::SUCCESS;
    }
    println!("FAILED: {}", exceeded.join("; "));
    ExitCode::FAILURE
}
