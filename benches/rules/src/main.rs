//! Measures how fast haft reads and judges commands: ordinary ones per second, and the longest possible ones.
//!
//! The command itself, `haft rules explain`, is measured by `start`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use haft_policy::examples::{ruling, steps_in_scene};
use haft_policy::policy::Policy;

const ROUNDS: usize = 10;
const FEWEST_PER_SECOND: f64 = 5_000.0;
/// The longest command that is read, in bytes.
const LONGEST: usize = 64 * 1024;
const MOST_TIME: Duration = Duration::from_millis(250);
/// Commands as people have them: those of the everyday sessions of the testkit.
const EVERYDAY: &str = include_str!("../../../crates/haft-testkit/src/corpora/everyday.txt");

fn main() -> ExitCode {
    let in_time = [ordinary(), worst()];
    if in_time.into_iter().all(|in_time| in_time) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ordinary() -> bool {
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("== ");
    let commands: Vec<String> = EVERYDAY.lines().filter(is_command).map(|line| line.replace('⏎', "\n")).collect();
    let policy = Policy::default();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for command in &commands {
            std::hint::black_box(ruling(&policy, command));
        }
        best = best.min(begun.elapsed());
    }
    let per_second = commands.len() as f64 / best.as_secs_f64();
    println!("{} everyday commands, best of {ROUNDS}: {per_second:.0} a second (at least {FEWEST_PER_SECOND})", commands.len());
    told(per_second >= FEWEST_PER_SECOND, "ordinary commands are judged too slowly")
}

fn worst() -> bool {
    let filled = |piece: &str| piece.repeat(LONGEST / piece.len());
    let commands = [
        filled("true; "),
        filled("$(echo "),
        filled("("),
        filled("a b c "),
        filled("x=$x$x; "),
        filled("{a,b}"),
        filled("cat <<E\nE\n"),
        filled("f() { f; }; "),
        filled("bash -c 'ls'; "),
        filled("cd ..; ls; "),
        filled("ls | "),
        format!("x=a; true && x=b; echo {}", "$x ".repeat(LONGEST / 4)),
        format!("rm {}", "../a/b ".repeat(LONGEST / 8)),
    ];
    let mut in_time = true;
    println!("64 KiB of, ms (at most {})", MOST_TIME.as_millis());
    for command in commands {
        let begun = Instant::now();
        std::hint::black_box(steps_in_scene(&command));
        let took = begun.elapsed();
        let shown: String = command.chars().take(24).collect();
        println!("{:<30} {:>8.1}", shown.replace('\n', "↵"), took.as_secs_f64() * 1e3);
        in_time &= took <= MOST_TIME;
    }
    told(in_time, "the longest commands take too long")
}

fn told(within: bool, problem: &str) -> bool {
    println!("{}", if within { "ok".to_owned() } else { format!("FAILED: {problem}") });
    within
}
