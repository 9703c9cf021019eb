//! Reads the name of the host (SNI) from the first message of a TLS client.
//!
//! The reader is strict: if two servers could read different names from the same bytes, it returns no name. A message may
//! be spread over records, and a record over segments. An encrypted second name (ECH) does not matter here: the name
//! that everyone can read must be the right one.

use crate::supervisor::host_name::as_compared;

/// Most bytes of the message, without the headers of its records.
const LONGEST: usize = 16 * 1024;
/// Most bytes of a record, beyond its header.
const LONGEST_RECORD: usize = 16 * 1024 + 256;
const HANDSHAKE_RECORD: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// What the first bytes of a TLS client say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum ClientHello {
    /// More bytes are needed.
    Incomplete,
    /// It wants this host.
    Host(String),
    /// It does not say which host it wants.
    Nameless,
    /// It is not the first message of a TLS client.
    Malformed,
}

/// Reads the first bytes of a client.
pub(in crate::supervisor) fn read(bytes: &[u8]) -> ClientHello {
    let message = match message(bytes) {
        Ok(Some(message)) => message,
        Ok(None) => return ClientHello::Incomplete,
        Err(MalformedHello) => return ClientHello::Malformed,
    };
    match host(&message) {
        Ok(Some(host)) => ClientHello::Host(as_compared(host)),
        Ok(None) => ClientHello::Nameless,
        Err(MalformedHello) => ClientHello::Malformed,
    }
}

/// The error that the bytes do not fit their lengths, or say something twice.
#[derive(Debug)]
struct MalformedHello;

/// Collects the body of the first message from its records; nothing while bytes are missing.
fn message(bytes: &[u8]) -> Result<Option<Vec<u8>>, MalformedHello> {
    let mut message = Vec::new();
    let mut rest = bytes;
    loop {
        if let [kind, l0, l1, l2, body @ ..] = message.as_slice() {
            let length = u32::from_be_bytes([0, *l0, *l1, *l2]) as usize;
            if *kind != CLIENT_HELLO || length > LONGEST {
                return Err(MalformedHello);
            }
            if body.len() >= length {
                return Ok(Some(body[..length].to_vec()));
            }
        }
        let head = &rest[..rest.len().min(5)];
        // What is there of a header must be right, so that other protocols are known by their first bytes.
        let is_possible = head.iter().zip([HANDSHAKE_RECORD, 3]).all(|(byte, wanted)| *byte == wanted);
        if !is_possible {
            return Err(MalformedHello);
        }
        let [_, _, _, l0, l1] = *head else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([l0, l1]));
        if length == 0 || length > LONGEST_RECORD {
            return Err(MalformedHello);
        }
        let end = rest.len().min(5 + length);
        message.extend(&rest[5..end]);
        rest = &rest[end..];
    }
}

/// Finds the name of the host among the extensions.
fn host(message: &[u8]) -> Result<Option<&[u8]>, MalformedHello> {
    let mut message = HelloReader(message);
    // The version and the random bytes; then the session, the ciphers and the compressions.
    message.take(2 + 32)?;
    message.block(1)?;
    message.block(2)?;
    message.block(1)?;
    if message.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = HelloReader(message.block(2)?);
    message.end()?;
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let content = extensions.block(2)?;
        if kind == usize::from(SERVER_NAME) && found.replace(content).is_some() {
            return Err(MalformedHello);
        }
    }
    found.map(only_host).transpose()
}

/// Returns the one name of a list of names.
fn only_host(content: &[u8]) -> Result<&[u8], MalformedHello> {
    let mut content = HelloReader(content);
    let mut names = HelloReader(content.block(2)?);
    content.end()?;
    if names.number(1)? != usize::from(HOST_NAME) {
        return Err(MalformedHello);
    }
    let name = names.block(2)?;
    names.end()?;
    if name.is_empty() { Err(MalformedHello) } else { Ok(name) }
}

/// Reads bytes from the front.
struct HelloReader<'b>(&'b [u8]);

impl<'b> HelloReader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], MalformedHello> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(MalformedHello)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, width: usize) -> Result<usize, MalformedHello> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Takes as many bytes as the number in front of them says.
    fn block(&mut self, width: usize) -> Result<&'b [u8], MalformedHello> {
        let length = self.number(width)?;
        self.take(length)
    }

    fn end(&self) -> Result<(), MalformedHello> {
        if self.0.is_empty() { Ok(()) } else { Err(MalformedHello) }
    }
}

#[cfg(test)]
pub(in crate::supervisor) mod tests;
