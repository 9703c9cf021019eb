//! Prints the tools of the test table in a provider's form, for the check against official SDKs.
//!
//! `cargo run -q -p haft-model --example shapes -- --for gemini`

#![expect(clippy::disallowed_methods, reason = "a program of its own, with arguments and output")]

use std::io::Write;
use std::process::ExitCode;

use haft_model::lower::{Offered, Provider, lower_all};

#[allow(dead_code, reason = "the tests also use the samples")]
#[path = "../tests/lower/table.rs"]
mod table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let provider = match arguments.as_slice() {
        [flag, name] if flag == "--for" => name.parse::<Provider>().ok(),
        _ => None,
    };
    let Some(provider) = provider else {
        let _ = writeln!(std::io::stderr(), "usage: shapes --for PROVIDER");
        return ExitCode::from(2);
    };
    let shapes = table::shapes();
    let tools: Vec<Offered<'_>> = shapes
        .iter()
        .map(|shape| Offered {
            name: &shape.name,
            title: None,
            description: &shape.about,
            input_schema: &shape.schema,
            read_only: None,
        })
        .collect();
    let list = lower_all(&tools, provider);
    match writeln!(std::io::stdout(), "{:#}", list.request_value()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
