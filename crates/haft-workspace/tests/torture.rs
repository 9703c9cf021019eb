//! The file door, the journal and undo under everything that goes wrong: damage, races, stops, a full room.
//!
//! Not here: killed processes and full disks, which need processes of their own (`haft-cli`, `survival`).

#[path = "torture/damage.rs"]
mod damage;
#[path = "torture/dice.rs"]
mod dice;
#[path = "torture/ground.rs"]
mod ground;
#[path = "torture/link_race.rs"]
mod link_race;
#[path = "torture/lost_updates.rs"]
mod lost_updates;
#[path = "torture/room.rs"]
mod room;
#[path = "torture/scripts.rs"]
mod scripts;
#[path = "torture/stops.rs"]
mod stops;
