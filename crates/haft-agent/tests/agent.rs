//! The loop from the outside: a model that follows a script, real tools in a scratch workspace.

#[path = "agent/circles.rs"]
mod circles;
#[path = "agent/ends.rs"]
mod ends;
#[path = "agent/past.rs"]
mod past;
#[path = "agent/puppet.rs"]
mod puppet;
#[path = "agent/room.rs"]
mod room;
#[path = "agent/stops.rs"]
mod stops;
#[path = "agent/valid.rs"]
mod valid;
#[path = "agent/wires.rs"]
mod wires;
#[path = "agent/work.rs"]
mod work;
