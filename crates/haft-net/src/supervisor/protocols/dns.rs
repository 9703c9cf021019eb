//! Parses a DNS question and writes its answer.
//!
//! It reads only what a resolver library asks its server: one question in a message, without compression. The answer
//! repeats the question byte by byte, because some clients vary its capitals and compare them.

use std::net::Ipv4Addr;

use crate::supervisor::host_name::host_name;

const HEADER: usize = 12;
/// Most bytes of a name in a message.
const LONGEST_NAME: usize = 255;
const INTERNET: u16 = 1;
/// How long a client may keep an answer, in seconds. The address is valid until the session ends.
const TIME_TO_LIVE: u32 = 60;

/// A question of the domain name system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) struct DnsQuestion {
    /// The name as it is compared; nothing when no host can be called so.
    pub(in crate::supervisor) name: Option<String>,
    /// The name as it was sent, printable.
    pub(in crate::supervisor) sent: String,
    /// What is asked about it.
    pub(in crate::supervisor) kind: RecordKind,
}

/// Which records are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum RecordKind {
    /// Addresses of version 4.
    A,
    /// Addresses of version 6.
    Aaaa,
    /// How to connect to a service (SVCB), or to one of HTTPS: protocols, addresses and keys that would hide the name.
    Service,
    /// The name of an address.
    Pointer,
    /// Any other, with its number; or another class than the internet.
    Other(u16),
}

/// The answer to a question of the domain name system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum DnsAnswer {
    /// The name has this address.
    Address(Ipv4Addr),
    /// The name exists and has no such records.
    Empty,
    /// There is no such name.
    NoSuchName,
    /// This resolver does not answer such questions.
    Refused,
    /// The resolver cannot answer now.
    Failed,
}

/// Answers a message; nothing where a message deserves no answer.
pub(in crate::supervisor) fn answer(message: &[u8], decide: impl FnOnce(&DnsQuestion) -> DnsAnswer) -> Option<Vec<u8>> {
    let header = Header::read(message)?;
    if header.operation != 0 {
        return Some(header.reply(&[], DnsResponseCode::NotImplemented));
    }
    let Some((question, length)) = question(&message[HEADER..]).filter(|_| header.questions == 1) else {
        return Some(header.reply(&[], DnsResponseCode::Malformed));
    };
    let asked = &message[HEADER..HEADER + length];
    Some(match decide(&question) {
        DnsAnswer::Address(address) => {
            let mut reply = header.reply(asked, DnsResponseCode::NoError);
            // One answer. Its name is at the beginning of the question.
            reply[7] = 1;
            reply.extend([0xc0, 0x0c, 0, 1, 0, 1]);
            reply.extend(TIME_TO_LIVE.to_be_bytes());
            reply.extend([0, 4]);
            reply.extend(address.octets());
            reply
        }
        DnsAnswer::Empty => header.reply(asked, DnsResponseCode::NoError),
        DnsAnswer::NoSuchName => header.reply(asked, DnsResponseCode::NoSuchName),
        DnsAnswer::Refused => header.reply(asked, DnsResponseCode::Refused),
        DnsAnswer::Failed => header.reply(asked, DnsResponseCode::Failed),
    })
}

#[derive(Clone, Copy)]
enum DnsResponseCode {
    NoError = 0,
    Malformed = 1,
    Failed = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
}

struct Header {
    id: [u8; 2],
    operation: u8,
    /// Whether the client wants the resolver to ask others; the answer repeats it.
    recursion: u8,
    questions: u16,
}

impl Header {
    /// Reads the header of a question; nothing for an answer, to which nothing is answered.
    fn read(message: &[u8]) -> Option<Self> {
        let [id0, id1, flags, _, q0, q1, ..] = *message else { return None };
        let is_question = message.len() >= HEADER && flags & 0x80 == 0;
        let (operation, recursion) = ((flags >> 3) & 0xf, flags & 1);
        is_question.then_some(Self { id: [id0, id1], operation, recursion, questions: u16::from_be_bytes([q0, q1]) })
    }

    fn reply(&self, asked: &[u8], code: DnsResponseCode) -> Vec<u8> {
        let flags = [0x80 | self.operation << 3 | self.recursion, 0x80 | code as u8];
        let mut reply = Vec::with_capacity(HEADER + asked.len() + 16);
        reply.extend(self.id);
        reply.extend(flags);
        reply.extend([0, u8::from(!asked.is_empty()), 0, 0, 0, 0, 0, 0]);
        reply.extend(asked);
        reply
    }
}

/// Reads a question and says how long it is.
fn question(bytes: &[u8]) -> Option<(DnsQuestion, usize)> {
    let (mut name, mut is_plain, mut at) = (Vec::new(), true, 0);
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // Longer ones are pointers to other parts of the message; there is nothing that a question could point to.
        let label = bytes.get(at..at + length).filter(|_| length < 0x40)?;
        // A dot within a label would read like the end of it.
        is_plain &= !label.contains(&b'.');
        if !name.is_empty() {
            name.push(b'.');
        }
        name.extend(label);
        at += length;
    }
    let [k0, k1, c0, c1] = *bytes.get(at..at + 4)? else { return None };
    if at > LONGEST_NAME {
        return None;
    }
    let kind = match (u16::from_be_bytes([c0, c1]), u16::from_be_bytes([k0, k1])) {
        (INTERNET, 1) => RecordKind::A,
        (INTERNET, 28) => RecordKind::Aaaa,
        (INTERNET, 64 | 65) => RecordKind::Service,
        (INTERNET, 12) => RecordKind::Pointer,
        (_, number) => RecordKind::Other(number),
    };
    let sent = name.escape_ascii().to_string();
    Some((DnsQuestion { name: host_name(&name).filter(|_| is_plain), sent, kind }, at + 4))
}

#[cfg(test)]
mod tests;
