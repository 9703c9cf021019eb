//! What haft has changed in a workspace, for the commands that show, undo and free it.

pub mod blame;
pub mod change_log;
pub mod change_records;
pub mod gc;
pub mod hunk_choice;
