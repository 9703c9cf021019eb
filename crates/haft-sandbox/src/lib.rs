//! Runs commands that the kernel confines, and watches them until the last process is gone.
//!
//! haft starts itself again as a *launcher*, which stands by. For each command a copy of the launcher gets its orders
//! through a socket, enters separate namespaces, builds the file system that the command sees, and then watches over the
//! command. The socket is also the lifeline: when haft ends in any way, the launcher ends, and with it everything that
//! the command has started.
//!
//! This is the only crate that starts processes. It opens only what it mounts.
//!
//! Not here: deciding whether a command may run, preparing and reading its layer (`haft-workspace`).

mod ahead;
mod attend;
mod caches;
mod child;
mod covered;
mod detached;
mod disk;
mod environment;
mod exact;
mod examination;
mod explain;
mod glance;
mod home;
mod ignored;
mod input;
mod inquiry;
mod kept;
mod launcher;
mod layer_cost;
mod network_jobs;
mod orders;
pub mod own_code;
mod platform;
mod ports;
mod private;
mod programs;
mod reached;
mod reached_hosts;
mod refusal;
mod remembered;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
mod require;
mod running;
pub mod sandbox;
mod settings;
mod sights;
mod source;
mod standby;
mod started;
mod strays;
mod unconfined;
mod wake;
mod whose_home;
mod wire;
mod worker;

pub use ahead::launcher_ahead;
pub use caches::ToolCache;
pub use detached::{SessionOwner, report_to_starter, start_detached};
pub use examination::examine;
pub use ignored::{ignore_file_size_signal, ignores_hang_up};
pub use inquiry::{Inquirer, InquirySettings};
pub use launcher::{Launcher, launcher};
pub use layer_cost::SandboxLayer;
pub use orders::LayerTrial;
pub use platform::{Platform, how_to_get};
pub use sandbox::Sandbox;
pub use settings::{Network, Requirement, SandboxSettings, usual_memory};
pub use unconfined::{run_in_place, try_hook};
