//! Measures listing, finding and searching, in units of the programs that people use for them.
//!
//! The unit of each row runs in between, and the benchmark compares medians. Processor time counts, because elapsed
//! time depends more on other programs on the machine. Both sides leave out the same files.

mod child;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use child::{Cost, run_to_end};

const TURNS: usize = 10;
/// How much more memory reading the end of a large file may need than doing nothing.
const MOST_MEMORY_BYTES: u64 = 10_000_000;

const RG: [&str; 4] = ["rg", "--no-ignore-global", "--no-ignore-parent", "--no-messages"];
const FD: [&str; 3] = ["fd", "--no-ignore-parent", "--no-global-ignore-file"];

/// A call of haft, the program that does the same, and how many times as much it may cost.
struct Row {
    name: &'static str,
    call: &'static [&'static str],
    unit: &'static [&'static str],
    limit: f64,
}

const ROWS: [Row; 5] = [
    Row {
        name: "expression without a match, everything",
        call: &["grep", "pattern=zq[a-z]+x_never"],
        unit: &["rg", "zq[a-z]+x_never", "."],
        limit: 1.25,
    },
    Row {
        name: "expression with classes, no match",
        call: &["grep", r"pattern=\w+zzz\d+q"],
        unit: &["rg", "--smart-case", r"\w+zzz\d+q", "."],
        limit: 1.25,
    },
    Row {
        name: "frequent word, default limit (rg: all)",
        call: &["grep", "pattern=return"],
        unit: &["rg", "--smart-case", "return", "."],
        // It counts all of them, as far as it comes within a second.
        limit: 1.25,
    },
    Row { name: "glob **/*.c", call: &["glob", "pattern=**/*.c"], unit: &["fd", "--glob", "*.c"], limit: 1.25 },
    Row { name: "listing of the root", call: &["list_dir"], unit: &["fd", "--max-depth", "1"], limit: 2.0 },
];

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [haft, rg, fd, folder] = &paths[..] else {
        eprintln!("usage: search HAFT RG FD FOLDER: the paths of three programs, and where the tree is made and kept");
        return ExitCode::from(2);
    };
    match measured([haft, rg, fd], folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Measures everything; returns whether all limits hold.
fn measured(programs: [&PathBuf; 3], folder: &Path) -> Result<bool, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let (tree, home) = (folder.join("tree"), folder.join("home"));
    std::fs::create_dir_all(&home).map_err(told)?;
    std::fs::create_dir_all(folder.join("large")).map_err(told)?;
    tree::make(&tree).map_err(told)?;
    tree::make_large(&folder.join("large/large.txt")).map_err(told)?;

    println!("median of {TURNS} in turns; processor time of all threads, in ms");
    println!("{:<40} {:>8} {:>8} {:>6} {:>6} {:>14}", "", "haft", "unit", "x", "limit", "wall haft/unit");
    let mut holds = true;
    for row in &ROWS {
        let (ours, theirs) = in_turns(row, programs, (&tree, &home))?;
        let ratio = ours.processor.as_secs_f64() / theirs.processor.as_secs_f64();
        let verdict = if ratio > row.limit { "  EXCEEDED" } else { "" };
        let walls = format!("{:.0}/{:.0}", ms(ours.took), ms(theirs.took));
        let Row { name, limit, .. } = row;
        let (ours, theirs) = (ms(ours.processor), ms(theirs.processor));
        println!("{name:<40} {ours:>8.1} {theirs:>8.1} {ratio:>6.2} {limit:>6} {walls:>14}{verdict}");
        holds &= ratio <= row.limit;
    }
    Ok(memory_holds(programs[0], folder, &home)? && holds)
}

fn in_turns(row: &Row, [haft, rg, fd]: [&PathBuf; 3], (tree, home): (&Path, &Path)) -> Result<(Cost, Cost), String> {
    let haft = haft.to_string_lossy();
    let call: Vec<&str> = [&haft as &str, "call"].into_iter().chain(row.call.iter().copied()).collect();
    let (program, options) = if row.unit[0] == "rg" { (rg, &RG[1..]) } else { (fd, &FD[1..]) };
    let program = program.to_string_lossy();
    let rest = options.iter().chain(&row.unit[1..]).copied();
    let unit: Vec<&str> = std::iter::once(&program as &str).chain(rest).collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // The first turn only fills the cache of the file system.
    for turn in 0..=TURNS {
        let costs = (run_to_end(&call, tree, home)?, run_to_end(&unit, tree, home)?);
        if turn > 0 {
            ours.push(costs.0);
            theirs.push(costs.1);
        }
    }
    Ok((median(ours), median(theirs)))
}

/// Reads 50 lines at the end of a gigabyte: memory must not depend on the size of a file.
fn memory_holds(haft: &Path, folder: &Path, home: &Path) -> Result<bool, String> {
    let haft = haft.to_string_lossy();
    let offset = format!("offset={}", tree::large_lines() - 49);
    let large = folder.join("large");
    let read = run_to_end(&[&haft, "call", "read_file", "path=large.txt", &offset, "limit=50"], &large, home)?;
    let nothing = run_to_end(&[&haft, "--version"], &large, home)?;
    let more = read.peak_bytes.saturating_sub(nothing.peak_bytes);
    let holds = more <= MOST_MEMORY_BYTES;
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let verdict = if holds { "" } else { "  EXCEEDED" };
    println!(
        "memory: 50 lines at the end of 1 GB {:.1} MB, haft --version {:.1} MB, {:.1} MB more, limit {:.0} MB{verdict}",
        mb(read.peak_bytes),
        mb(nothing.peak_bytes),
        mb(more),
        mb(MOST_MEMORY_BYTES)
    );
    Ok(holds)
}

fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_unstable_by_key(|cost| cost.processor);
    costs[costs.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
