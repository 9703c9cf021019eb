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

pub(crate) mod connections;
mod environment;
mod ignored;
mod inquiry;
mod launcher;
pub mod own_code;
mod programs;
pub(crate) mod reporting;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
mod require;
pub(crate) mod running;
pub mod sandbox;
pub(crate) mod session;
mod settings;
mod unconfined;

pub use ignored::{ignore_file_size_signal, ignores_hang_up};
pub use inquiry::{Inquirer, InquirySettings};
pub use launcher::{Launcher, launcher};
pub use reporting::examination::examine;
pub use reporting::layer_cost::SandboxLayer;
pub use reporting::platform::{Platform, how_to_get};
pub use running::detached::{SessionOwner, report_to_starter, start_detached};
pub use running::orders::LayerTrial;
pub use sandbox::Sandbox;
pub use session::ahead::launcher_ahead;
pub use session::caches::ToolCache;
pub use settings::{Network, Requirement, SandboxSettings, usual_memory};
pub use unconfined::{RunningPager, run_in_place, try_hook};
