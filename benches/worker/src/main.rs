//! Measures a call of a Python tool through a warm worker, without the time of the function itself.
//!
//! It measures the whole path as a driver of `haft call -` sees it: a line in, a line out. The function reports its own
//! time, and the benchmark subtracts it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const CALLS: usize = 1_000;
const LIMIT: Duration = Duration::from_millis(1);

/// Says how long it took itself.
const FUNCTION: &str = r#"
import time

def count(text: str) -> dict:
    begin = time.perf_counter_ns()
    words = len(text.split())
    return {"words": words, "took_ns": time.perf_counter_ns() - begin}
"#;

/// The two ways in which tools are declared: what it touches, and nothing of that.
const TOOLS: [(&str, &str); 2] = [("declared", "effects: []"), ("undeclared", "")];

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let (Some(haft), Some(folder), None) = (words.next(), words.next(), words.next()) else {
        eprintln!("usage: worker HAFT FOLDER, the path of the program and of a folder to work in");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder).join(format!("worker-{}", std::process::id()));
    let outcome = measure(Path::new(&haft), &folder);
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

fn measure(haft: &Path, folder: &Path) -> Result<bool, String> {
    let tools = folder.join("workspace/.haft/tools");
    std::fs::create_dir_all(&tools).map_err(|error| format!("{}: {error}", tools.display()))?;
    let write = |name: &str, text: &str| std::fs::write(tools.join(name), text).map_err(|error| error.to_string());
    write("counting.py", FUNCTION)?;
    for (name, effects) in TOOLS {
        let schema =
            "input_schema: {type: object, properties: {text: {type: string, description: Text.}}, required: [text]}";
        write(
            &format!("{name}.yaml"),
            &format!("name: {name}\ndescription: Counts words.\nbinding: counting:count\n{effects}\n{schema}\n"),
        )?;
    }
    let trusted = in_workspace(haft, folder, &["trust"]).stdout(Stdio::null()).status();
    trusted.map_err(|error| format!("{}: {error}", haft.display()))?;

    println!("median of {CALLS} calls through a warm worker, beyond the function's own time, ms");
    let mut within = true;
    for (name, _) in TOOLS {
        let mut times = Driver::start(haft, folder)?.times(name)?;
        times.sort();
        let (median, late) = (times[CALLS / 2], times[CALLS * 9 / 10]);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("{name:<22} {:>6.2}   (one in ten takes more than {:.2})   limit {}", ms(median), ms(late), ms(LIMIT));
        within &= median <= LIMIT;
    }
    println!("{}", if within { "ok" } else { "FAILED: a call takes too long" });
    Ok(within)
}

fn in_workspace(haft: &Path, folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(haft);
    command.args(words).current_dir(folder.join("workspace"));
    for (variable, place) in [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")] {
        command.env(variable, folder.join(place));
    }
    command
}

/// Makes one call after the other.
struct Driver {
    haft: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Driver {
    fn start(haft: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = in_workspace(haft, folder, &["--yes", "call", "-"]);
        let mut haft =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let lines = BufReader::new(haft.stdout.take().ok_or("it has no output")?);
        Ok(Self { haft, lines })
    }

    fn times(mut self, tool: &str) -> Result<Vec<Duration>, String> {
        // The first call starts the worker.
        self.call(tool, 0)?;
        let times = (1..=CALLS).map(|number| self.call(tool, number)).collect();
        drop(self.haft.stdin.take());
        self.haft.wait().map_err(|error| error.to_string())?;
        times
    }

    /// Makes a call in a turn of its own; returns how long it took without the function.
    fn call(&mut self, tool: &str, number: usize) -> Result<Duration, String> {
        let call = json!({"name": tool, "arguments": {"text": format!("call number {number}")}});
        let begin = Instant::now();
        let input = self.haft.stdin.as_mut().ok_or("it has no input")?;
        input.write_all(format!("{call}\n\n").as_bytes()).map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(|error| error.to_string())?;
        let took = begin.elapsed();
        let result: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        let own = result["data"]["took_ns"].as_u64().ok_or_else(|| format!("it failed: {line}"))?;
        Ok(took.saturating_sub(Duration::from_nanos(own)))
    }
}
