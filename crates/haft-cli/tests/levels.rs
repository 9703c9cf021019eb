//! haft where the system gives less: kernels without a facility, containers, other file systems.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out the folders that the command finds"
)]

#[path = "levels/file_systems.rs"]
mod file_systems;
#[path = "levels/matrix.rs"]
mod matrix;
#[path = "levels/proxy.rs"]
mod proxy;
#[path = "levels/shared_home.rs"]
mod shared_home;
#[path = "levels/workplace.rs"]
mod workplace;
