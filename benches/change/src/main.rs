//! Measures the cost of changing a file through the whole pipeline with its journal, beside a plain write.
//!
//! Disk times are noisy, so the two take turns, and the benchmark compares medians.

mod many;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_runtime::asking::approval::{Nobody, YesToOrdinary};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;
use serde_json::{Value, json};

const TURNS: usize = 10;
const LARGE: usize = 10 * 1024 * 1024;

fn main() -> ExitCode {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder).join(format!("haft-change-{}", std::process::id())),
        None => {
            eprintln!("usage: change FOLDER, where there is room for some files");
            return ExitCode::from(2);
        }
    };
    let outcome = measure(&folder);
    // What is left behind in a folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    match outcome {
        Ok(all_within) if all_within => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(folder: &Path) -> Result<bool, String> {
    let text = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(folder.join("ws")).map_err(text)?;
    let bench = Bench::new(folder).map_err(text)?;
    println!("median of {TURNS} in turns, wall time");
    println!("{:<44} {:>9} {:>9} {:>6} {:>6}", "", "plain ms", "haft ms", "ratio", "limit");
    let large = bench.compare("an exact replace in a file of 10 MB", 3.0, &replace_plainly, &|bench, turn| {
        let (old, new) = (format!("needle {turn} "), format!("thread {turn} "));
        bench.call("edit_file", json!({ "path": "large.txt", "edits": [{ "old_text": old, "new_text": new }] }))
    })?;
    let small = bench.compare("a small write", 2.5, &write_plainly, &|bench, turn| {
        let content = format!("turn {turn}\n").repeat(20);
        bench.call("write_file", json!({ "path": "small.txt", "content": content, "write_mode": "overwrite" }))
    })?;
    Ok(large & small & many::measure(folder)?)
}

struct Bench {
    folder: PathBuf,
    runtime: Runtime,
    session: Session,
    ground: tokio::runtime::Runtime,
}

impl Bench {
    fn new(folder: &Path) -> std::io::Result<Self> {
        let mut content: String = (0..TURNS).map(|turn| format!("needle {turn} \n")).collect();
        while content.len() < LARGE {
            content.push_str("All work and no play makes a dull file, so this one has a number: ");
            content.push_str(&content.len().to_string());
            content.push('\n');
        }
        for name in ["ws/large.txt", "plain-large.txt"] {
            std::fs::write(folder.join(name), &content)?;
        }
        for name in ["ws/small.txt", "plain-small.txt"] {
            std::fs::write(folder.join(name), "small\n")?;
        }
        let workspace = Workspace::open(&folder.join("ws"))?;
        let state = WorkspaceState::new(&folder.join("state"), workspace.path());
        let catalog = Catalog::default();
        for tool in haft_tools::all() {
            catalog.register(tool).map_err(|error| std::io::Error::other(error.to_string()))?;
        }
        let runtime = Runtime::new(catalog, workspace.doors(&state));
        let session = runtime.session("bench", YesToOrdinary::or_ask(Nobody::there("")));
        let ground = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(Self { folder: folder.to_owned(), runtime, session, ground })
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<(), String> {
        let call = ToolCall::new(tool, RawArguments::from(arguments)).by(CallOrigin::Person);
        let result = self.ground.block_on(self.runtime.call(&self.session, call));
        if result.error.is_some() { Err(result.text()) } else { Ok(()) }
    }

    fn compare(
        &self,
        name: &str,
        limit: f64,
        plainly: &dyn Fn(&Path, usize) -> std::io::Result<()>,
        by_haft: &dyn Fn(&Self, usize) -> Result<(), String>,
    ) -> Result<bool, String> {
        let (mut plain, mut haft) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let began = Instant::now();
            plainly(&self.folder, turn).map_err(|error| error.to_string())?;
            plain.push(began.elapsed());
            let began = Instant::now();
            by_haft(self, turn)?;
            haft.push(began.elapsed());
        }
        Ok(row(name, limit, (median(plain), median(haft))))
    }
}

/// Prints one comparison; returns whether it is within its limit.
fn row(name: &str, limit: f64, (plain, haft): (Duration, Duration)) -> bool {
    let ratio = haft.as_secs_f64() / plain.as_secs_f64();
    let mark = if ratio > limit { "EXCEEDED" } else { "" };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{name:<44} {:>9.2} {:>9.2} {ratio:>6.2} {limit:>6} {mark}", ms(plain), ms(haft));
    ratio <= limit
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Reads, replaces, writes and syncs, as a script would.
fn replace_plainly(folder: &Path, turn: usize) -> std::io::Result<()> {
    let path = folder.join("plain-large.txt");
    let text = std::fs::read_to_string(&path)?;
    let text = text.replacen(&format!("needle {turn} "), &format!("thread {turn} "), 1);
    let mut file = File::create(&path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Replaces a file as one must: written beside, synced, renamed, the folder synced.
fn write_plainly(folder: &Path, turn: usize) -> std::io::Result<()> {
    let (path, beside) = (folder.join("plain-small.txt"), folder.join("plain-small.tmp"));
    let mut file = File::create(&beside)?;
    file.write_all(format!("turn {turn}\n").repeat(20).as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, &path)?;
    File::open(folder)?.sync_all()
}
