//! `haft run`, `resume`, `replay`, `sessions` and `models` with a scripted model behind a real socket.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out folders, starts processes and kills them"
)]

#[path = "agent/answering.rs"]
mod answering;
#[path = "agent/choosing.rs"]
mod choosing;
#[path = "agent/echoes.rs"]
mod echoes;
#[path = "agent/images.rs"]
mod images;
#[path = "agent/kept_by_git.rs"]
mod kept_by_git;
#[path = "agent/kills.rs"]
mod kills;
#[path = "agent/moved_secrets.rs"]
mod moved_secrets;
#[path = "agent/place.rs"]
mod place;
#[path = "agent/replaying.rs"]
mod replaying;
#[path = "agent/resuming.rs"]
mod resuming;
#[path = "agent/running.rs"]
mod running;
#[path = "agent/secrets.rs"]
mod secrets;
#[path = "agent/session_tools.rs"]
mod session_tools;
#[path = "agent/terminal.rs"]
mod terminal;
#[path = "agent/tuning.rs"]
mod tuning;
