//! The cases of the documents that haft grew out of, each in the dialect and profile of its system.
//!
//! `tests/cases/seed_cases.json` says what is given, what is done and what comes of it, partly in words. Words have a
//! table of meanings (`meanings`), written for their class; what has none fails. Calls are made by the command; what only
//! the library can do (`by_library`) is done there. All of it is compared in one place (`then`).
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out the folders that the command finds"
)]

#[path = "seeds/by_agent.rs"]
mod by_agent;
#[path = "seeds/by_command.rs"]
mod by_command;
#[path = "seeds/by_library.rs"]
mod by_library;
#[path = "seeds/case.rs"]
mod case;
#[path = "seeds/custom.rs"]
mod custom;
#[path = "seeds/definitions.rs"]
mod definitions;
#[path = "seeds/documents.rs"]
mod documents;
#[path = "seeds/examples.rs"]
mod examples;
#[path = "seeds/meanings.rs"]
mod meanings;
#[path = "seeds/server.rs"]
mod server;
#[path = "seeds/then.rs"]
mod then;

use case::Case;

#[test]
fn every_seed_case_holds_in_its_dialect() {
    let mut faults = Vec::new();
    for case in Case::all() {
        let ran = match &case {
            case if by_agent::is_meant(case) => Some(by_agent::run(case)),
            case if by_library::is_meant(case) => by_library::run(case),
            case => by_command::run(case),
        };
        // What needs another user than this one says so itself.
        let Some(ran) = ran else { continue };
        faults.extend(then::faults(&case, &ran).into_iter().map(|fault| format!("{}: {fault}", case.id)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
