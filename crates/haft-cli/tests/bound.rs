//! Tools of definitions, called for real: programs and Python functions in the real sandbox, with the real `haft` as
//! launcher. Without python3 its tests say so in a line and pass.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test lays out folders, makes virtual environments, and tells how long calls took"
)]

#[path = "bound/built_in.rs"]
mod built_in;
#[path = "bound/declared_reads.rs"]
mod declared_reads;
#[path = "bound/environments.rs"]
mod environments;
#[path = "bound/failures.rs"]
mod failures;
#[path = "bound/functions.rs"]
mod functions;
#[path = "bound/injection.rs"]
mod injection;
#[path = "bound/many.rs"]
mod many;
#[path = "bound/module_path.rs"]
mod module_path;
#[path = "bound/programs.rs"]
mod programs;
#[path = "bound/signatures.rs"]
mod signatures;
#[path = "bound/workshop.rs"]
mod workshop;
