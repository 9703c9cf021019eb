//! Counts the turns of other agents, which name their turns in different ways.

use std::path::{Path, PathBuf};

use crate::state::own_files::own_file::{read_state_file, replace_own_file};

/// The turns of the agents in a workspace.
#[derive(Clone, Debug)]
pub struct AgentTurns {
    folder: PathBuf,
}

impl AgentTurns {
    pub(in crate::state) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the number of a turn in a session of haft; a turn with another name than the last one is the next. Without a
    /// name the last turn continues.
    pub fn number(&self, session: &str, turn: Option<&str>) -> u64 {
        let path = self.folder.join(Path::new(session).file_name().unwrap_or_default());
        let known = read_state_file(&path).unwrap_or_default();
        let (number, last) = known.split_once(' ').unwrap_or_default();
        let number = number.parse::<u64>().unwrap_or_default();
        match turn {
            None => number.max(1),
            Some(turn) if turn == last => number,
            Some(turn) => {
                // If it cannot be written, changes of two turns count as one.
                let _ = replace_own_file(&path, &format!("{} {turn}", number + 1));
                number + 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_with_another_name_is_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let turns = AgentTurns::new(folder.path().join("turns"));
        let numbers = [None, Some("a"), Some("a"), None, Some("b")].map(|turn| turns.number("s", turn));
        assert_eq!(numbers, [1, 1, 1, 1, 2]);
        assert_eq!(turns.number("other", Some("b")), 1);
    }
}
