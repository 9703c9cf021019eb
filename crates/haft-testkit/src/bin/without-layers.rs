//! Runs a program as a container would: without layers of the sandbox.
//!
//! `without-layers LAYER,… PROGRAM ARGUMENTS…`; `namespaces` alone is what a container's default profile refuses.
#![expect(clippy::print_stderr, reason = "a program of its own, which says what is wrong")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a program of its own, which starts another")]

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use haft_testkit::container::{Missing, take_away};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let layers = words.next().and_then(|word| word.into_string().ok()).unwrap_or_default();
    let missing: Option<Vec<Missing>> = layers.split(',').map(Missing::of_name).collect();
    let (Some(missing), Some(program)) = (missing, words.next()) else {
        let all = Missing::ALL.map(Missing::name).join(",");
        eprintln!("usage: without-layers LAYER,… PROGRAM ARGUMENTS… (layers: {all})");
        return ExitCode::from(2);
    };
    let error = match take_away(&missing) {
        Ok(()) => Command::new(program).args(words).exec(),
        Err(error) => error,
    };
    eprintln!("without-layers: {error}");
    ExitCode::from(2)
}
