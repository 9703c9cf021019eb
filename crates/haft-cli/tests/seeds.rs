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
#[path = "seeds/meanings.rs"]
mod meanings;
#[path = "seeds/then.rs"]
mod then;

use case::Case;

/// A case that is not run yet, and what it waits for.
struct Waiting {
    id: &'static str,
    reason: &'static str,
    /// When the dialect shows this tool, the case has to be run.
    until: &'static str,
}

#[rustfmt::skip]
const WAITING: [Waiting; 2] = [
    Waiting { id: "WA-09", reason: "the dialect does not list fetching", until: "fetch" },
    // Decision 0038: the memory is one file of haft's own, and no setting names another.
    Waiting { id: "NX-23", reason: "the name of the memory file cannot be chosen", until: "memory file with a chosen name" },
];

#[test]
fn every_seed_case_holds_in_its_dialect() {
    let run = Case::all().into_iter().filter(|case| WAITING.iter().all(|waiting| waiting.id != case.id));
    let mut faults = Vec::new();
    for case in run {
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

#[test]
fn a_case_waits_only_for_what_is_not_there() {
    let cases = Case::all();
    for Waiting { id, reason, until } in WAITING {
        let case = cases.iter().find(|case| case.id == id);
        let case = case.unwrap_or_else(|| panic!("{id} waits and is no case any more; take it out of the list"));
        let is_there = by_command::tools(case.dialect()).iter().any(|tool| tool == until);
        assert!(!is_there, "{id} waits because {reason}, which has come: run it, and take it out of the list");
    }
}
