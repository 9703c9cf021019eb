//! Input and output of commands: pipes, redirections, and the files that a command fills.

mod arrivals;
mod in_place;
pub(crate) mod outputs;
pub(crate) mod pipes;
pub(crate) mod redirects;
pub(crate) mod written;

use std::collections::HashMap;
use std::sync::Arc;

use crate::act::StreamContent;

/// The first number that a descriptor of `>(…)` gets.
const FIRST_DESCRIPTOR: usize = 64;

/// What is known of the files and descriptors that the commands share.
#[derive(Debug)]
pub(crate) struct CommandStreams {
    /// What the files and descriptors hold that this command has filled.
    pub(crate) arrived: Arc<HashMap<String, StreamContent>>,
    /// What the stage reads, for `>(…)`.
    pub(crate) input: Option<StreamContent>,
    /// What comes in to the commands in its words, which run before its own redirections: `x | echo "$(cat)"`.
    pub(crate) input_of_words: Option<StreamContent>,
    /// Whether a shell was started that reads what is written to some descriptor.
    pub(crate) listens: bool,
    /// Descriptors that are connections.
    pub(crate) connections: Vec<String>,
    /// Whether a descriptor may have been closed so far.
    pub(crate) closes: bool,
    descriptors: usize,
}

impl Default for CommandStreams {
    fn default() -> Self {
        Self {
            arrived: Arc::default(),
            input: None,
            input_of_words: None,
            listens: false,
            connections: Vec::new(),
            closes: false,
            descriptors: FIRST_DESCRIPTOR,
        }
    }
}

impl CommandStreams {
    /// Opens a descriptor for a process, and returns its path.
    pub(crate) fn open(&mut self) -> String {
        self.descriptors += 1;
        format!("/dev/fd/{}", self.descriptors)
    }

    /// Adds to what a file or a descriptor holds.
    pub(crate) fn fill(&mut self, place: &str, flow: &StreamContent) {
        let arrived = Arc::make_mut(&mut self.arrived);
        let flow = match arrived.remove(place) {
            Some(before) => pipes::joined(before, flow.clone()),
            None => flow.clone(),
        };
        arrived.insert(place.to_owned(), flow);
    }

    /// Returns what a file or a descriptor holds, if this command has filled it.
    pub(crate) fn content(&self, place: &str) -> Option<&StreamContent> {
        self.arrived.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ShellValue;

    #[test]
    fn what_is_written_to_a_file_comes_behind_what_it_holds() {
        let mut streams = CommandStreams::default();
        streams.fill("/ws/a", &StreamContent::Text(ShellValue::text("a")));
        streams.fill("/ws/a", &StreamContent::Text(ShellValue::text("b")));

        assert_eq!(streams.content("/ws/a"), Some(&StreamContent::Text(ShellValue::text("ab"))));
        assert_eq!(streams.content("/ws/b"), None);
    }

    #[test]
    fn every_process_has_a_descriptor_of_its_own() {
        let mut streams = CommandStreams::default();
        assert_ne!(streams.open(), streams.open());
    }
}
