//! The loop from the outside: a model that follows a script, real tools in a scratch workspace.

#![expect(clippy::disallowed_methods, reason = "some scenes look whether a file is there, past every door")]

#[path = "agent/answers.rs"]
mod answers;
#[path = "agent/circles.rs"]
mod circles;
#[path = "agent/ends.rs"]
mod ends;
#[path = "agent/finishing.rs"]
mod finishing;
#[path = "agent/first_request.rs"]
mod first_request;
#[path = "agent/images.rs"]
mod images;
#[path = "agent/past.rs"]
mod past;
#[path = "agent/puppet.rs"]
mod puppet;
#[path = "agent/room.rs"]
mod room;
#[path = "agent/seen.rs"]
mod seen;
#[path = "agent/silences.rs"]
mod silences;
#[path = "agent/steering.rs"]
mod steering;
#[path = "agent/stops.rs"]
mod stops;
#[path = "agent/valid.rs"]
mod valid;
#[path = "agent/wire_faults.rs"]
mod wire_faults;
#[path = "agent/wires.rs"]
mod wires;
#[path = "agent/work.rs"]
mod work;
