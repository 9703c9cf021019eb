//! Talks with the caller of a command through streams: it writes a question and reads the answer.

use std::io::{self, Read, Write};

use haft_net::exec::ToClient;

use super::Dialogue;

/// What is typed at the terminal of the caller.
pub struct Typed<'a> {
    dialogue: &'a Dialogue,
    line: Vec<u8>,
}

impl<'a> Typed<'a> {
    /// Reads over these channels.
    pub fn over(dialogue: &'a Dialogue) -> Self {
        Self { dialogue, line: Vec::new() }
    }
}

impl Read for Typed<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            let is_asked = self.dialogue.say.send(ToClient::Read).is_ok();
            // A caller that has gone cannot answer.
            let line = if is_asked { self.dialogue.typed.recv().ok().flatten() } else { None };
            let Some(line) = line else { return Ok(0) };
            self.line = line.into_bytes();
            self.line.push(b'\n');
        }
        let taken = self.line.len().min(room.len());
        room[..taken].copy_from_slice(&self.line[..taken]);
        self.line.drain(..taken);
        Ok(taken)
    }
}

/// Writes to the terminal of the caller, from flush to flush.
pub struct DialogueWriter<'a> {
    dialogue: &'a Dialogue,
    text: Vec<u8>,
}

impl<'a> DialogueWriter<'a> {
    /// Shows over these channels.
    pub fn over(dialogue: &'a Dialogue) -> Self {
        Self { dialogue, text: Vec::new() }
    }
}

impl Write for DialogueWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let said = ToClient::Say(String::from_utf8_lossy(&text).into_owned());
            self.dialogue.say.send(said).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}
