//! Measures the cost of one small call, from the raw text of its arguments to its result.
//!
//! The tool adds two whole numbers, so nearly all of the cost is haft's own. The benchmark makes the same call without
//! haft (the floor) and through rmcp in the same process, for comparison.
//!
//! Not here: the cost of starting the command (`start`), tools that touch files.

mod allocations;
mod calls;
mod floor;
mod instructions;
mod mcp;
mod pipeline;
mod wall;

use std::process::ExitCode;

const USAGE: &str = "usage: dispatch wall          time and allocations per call; fails above the limit
       dispatch instructions  instructions per call by callgrind; fails above the baseline
       dispatch calls N       makes N calls and says nothing, for a profiler";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["wall"] => wall::run(),
        ["instructions"] => instructions::run(),
        ["calls", count] if count.parse::<u64>().is_ok() => {
            pipeline::make_calls(count.parse().expect("it was parsed before"));
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
