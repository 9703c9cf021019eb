//! Runs commands: confined by the kernel, watched until the last process is gone.
//!
//! haft starts itself again as a *launcher*, which stands by. A copy of it, for each command, gets its
//! orders through a socket, enters namespaces of its own, builds the file system that the command
//! sees, and then watches over the command. The socket is also the lifeline: when haft is gone, however
//! it died, the launcher ends, and with it everything that the command has started.
//!
//! This is the only crate that starts processes. It opens what it mounts, nothing else.
//!
//! Not here: deciding whether a command may run, preparing and reading its layer (`haft-workspace`).

mod attend;
mod child;
mod covered;
mod environment;
mod exact;
mod examination;
mod explain;
mod ignored;
mod input;
mod launcher;
mod orders;
pub mod own_code;
mod private;
mod programs;
mod reached;
mod refusal;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
mod require;
mod running;
pub mod sandbox;
mod source;
mod standby;
mod started;
mod strays;
mod wake;
mod wire;
mod worker;

pub use examination::examine;
pub use ignored::{ignore_file_size_signal, ignores_hang_up};
pub use launcher::{Launcher, launcher};
pub use orders::Trial;
pub use sandbox::{Network, Sandbox, Settings};
