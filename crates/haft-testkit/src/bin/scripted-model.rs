//! The scripted model as a program, for tests of programs that are not written in Rust.
//!
//! `cargo run -p haft-testkit --bin scripted-model -- SCRIPT [PORT]`; see `docs/guide/scripted-model.md`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, which says where it listens")]
#![expect(clippy::disallowed_methods, reason = "a program of its own, which takes its arguments")]

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// How it is used.
const USAGE: &str = "\
usage: scripted-model SCRIPT.yaml [PORT]

Answers on loopback as the script says, in the forms of anthropic, responses, chat and gemini, and prints the address of
each. Without PORT it takes a free one. Ctrl-C or SIGTERM ends it: with status 0 when every turn was used and every
request matched, with 1 and the reasons when not, with 2 when the script or the port is wrong.

A script:

  turns:
    - reply: [call: { name: read_file, arguments: { path: a.txt } }]
    - expect: { tool_result_contains: four words }
      faults: [status: { code: 429, retry_after: { seconds: 1 } }, slow: 20]
      reply: [text: There are four.]

All of it is in docs/guide/scripted-model.md.";

fn run() -> Result<ExitCode, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| matches!(word.as_str(), "--help" | "-h" | "help")) {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(flag) = words.iter().find(|word| word.starts_with('-')) {
        return Err(format!("there is no flag {flag}; see --help"));
    }
    let (file, port) = match &words[..] {
        [file] => (file, 0),
        [file, port] => {
            let number = port.parse::<u16>();
            (file, number.map_err(|_| format!("{port:?} is not a port; give a number up to 65535, or none"))?)
        }
        _ => return Err("name a script, then a port or nothing; see --help".into()),
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let script = ModelScript::from_yaml(&text).map_err(|error| format!("{file}: {error}"))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let model = ScriptedModel::start_at(script, address).map_err(|error| format!("port {port}: {error}"))?;

    for wire in Wire::ALL {
        println!("{:<9} {}", wire.name(), model.base_url(wire));
    }
    wait_for_the_end()?;
    Ok(judge(&model))
}

/// Waits until a terminal or a test ends this program.
fn wait_for_the_end() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.map_err(|error| format!("cannot listen for signals: {error}"))?;
    runtime.block_on(async {
        let told = |error: std::io::Error| format!("cannot listen for signals: {error}");
        let mut interrupt = signal(SignalKind::interrupt()).map_err(told)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(told)?;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    })
}

fn judge(model: &ScriptedModel) -> ExitCode {
    let (misfits, left) = (model.take_misfits(), model.turns_left());
    for misfit in &misfits {
        eprintln!("{misfit}");
    }
    if left > 0 {
        eprintln!("turns that were not used: {left}");
    }
    println!("{} requests", model.requests().len());
    if misfits.is_empty() && left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
