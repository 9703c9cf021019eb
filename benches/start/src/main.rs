//! Measures how long the haft command takes to start, in units of a command that starts quickly.
//!
//! Milliseconds depend on the machine as much as on the program. So the benchmark runs `rg --version` in between; the
//! two take turns, and the best of each counts.

mod child;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use child::{Ended, run_to_end};

const TURNS: usize = 30;
/// The contender that is asked about one call of another agent.
const GUARD: &str = "haft guard";
const MOST_MEMORY_BYTES: u64 = 20_000_000;

fn main() -> ExitCode {
    let programs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [haft, rg] = &programs[..] else {
        eprintln!("usage: start HAFT RG, the paths of both programs");
        return ExitCode::from(2);
    };
    match measure(haft, rg) {
        Ok(best) => judge(&best),
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// A command, and how many times as long as the unit it may take.
struct Contender {
    name: &'static str,
    limit: Option<f64>,
    best: Ended,
}

fn measure(haft: &Path, rg: &Path) -> Result<[Contender; 5], String> {
    let home = std::env::temp_dir().join(format!("haft-start-{}", std::process::id()));
    std::fs::create_dir(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let outcome = take_turns(haft, rg, &home);
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&home);
    outcome
}

fn take_turns(haft: &Path, rg: &Path, home: &Path) -> Result<[Contender; 5], String> {
    let best = Ended { took: Duration::MAX, peak_bytes: 0 };
    let mut contenders = [
        Contender { name: "rg --version", limit: None, best },
        Contender { name: "haft --version", limit: Some(1.15), best },
        Contender { name: "haft tools --json", limit: Some(4.0), best },
        Contender { name: "haft rules explain ls", limit: Some(3.0), best },
        Contender { name: GUARD, limit: Some(3.0), best },
    ];
    let programs = [rg, haft, haft, haft, haft];
    let event = home.join("event.json");
    let text = format!(
        r#"{{"hook_event_name":"PreToolUse","cwd":"{}","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#,
        home.display()
    );
    std::fs::write(&event, text).map_err(|error| format!("{}: {error}", event.display()))?;
    for _ in 0..TURNS {
        for (contender, program) in contenders.iter_mut().zip(programs) {
            let words: Vec<&str> = contender.name.split(' ').skip(1).collect();
            let input = (contender.name == GUARD).then_some(event.as_path());
            let ended = run_to_end(program, &words, (home, input))?;
            contender.best.took = contender.best.took.min(ended.took);
            contender.best.peak_bytes = contender.best.peak_bytes.max(ended.peak_bytes);
        }
    }
    Ok(contenders)
}

fn judge(contenders: &[Contender; 5]) -> ExitCode {
    let [unit, _, tools, ..] = contenders;
    let mut exceeded = Vec::new();
    println!("start to end, best of {TURNS} in turns; memory is the most of all turns");
    println!("{:<22} {:>8} {:>7} {:>7} {:>8}", "", "ms", "x rg", "limit", "MB");
    for Contender { name, limit, best } in contenders {
        let ratio = best.took.as_secs_f64() / unit.best.took.as_secs_f64();
        let shown = limit.map(|limit| limit.to_string()).unwrap_or_default();
        let (ms, mb) = (best.took.as_secs_f64() * 1e3, best.peak_bytes as f64 / 1e6);
        println!("{name:<22} {ms:>8.2} {ratio:>7.2} {shown:>7} {mb:>8.1}");
        if limit.is_some_and(|limit| ratio > limit) {
            exceeded.push(format!("`{name}` takes too long"));
        }
    }
    let most_mb = MOST_MEMORY_BYTES / 1_000_000;
    if tools.best.peak_bytes > MOST_MEMORY_BYTES {
        exceeded.push(format!("`{}` needs more than {most_mb} MB", tools.name));
    }
    if exceeded.is_empty() {
        println!("ok: all start in time, and `{}` needs at most {most_mb} MB", tools.name);
        return ExitCode::SUCCESS;
    }
    println!("FAILED: {}", exceeded.join("; "));
    ExitCode::FAILURE
}
