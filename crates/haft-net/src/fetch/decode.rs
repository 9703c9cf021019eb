//! Decompresses a body as it arrives and stops at its limit, so a small answer cannot fill the memory.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::exchange::{FetchError, text_of};

/// How much is decompressed at a time.
const STEP: usize = 32 * 1024;
/// Longest head of a gzip member: its name and comment have no limit of their own.
const LONGEST_GZIP_HEAD: usize = 64 * 1024;
/// Longest name of an encoding that an error repeats.
const LONGEST_NAME: usize = 20;
/// What follows the data of a gzip member: checksum and length.
const GZIP_TAIL: usize = 8;

/// Whether more may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    /// The limit is reached.
    Full,
}

/// Decompresses the body of an answer.
pub(super) enum BodyDecoder {
    Plain,
    Gzip(Box<Gzip>),
    Deflate { state: Box<InflateState>, has_begun: bool },
    Brotli { writer: Box<DecompressorWriter<BoundedBuffer>>, has_begun: bool },
}

/// The members of a gzip stream, one after the other.
pub(super) struct Gzip {
    state: Box<InflateState>,
    phase: Phase,
    /// Bytes of a head or a tail that is not complete.
    pending: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Data,
    Tail,
    /// Behind a whole member, where another may begin.
    Between,
}

/// Takes the output of the brotli decompressor, up to a limit.
pub(super) struct BoundedBuffer {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for BoundedBuffer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.bytes.len());
        if room == 0 && !piece.is_empty() {
            return Err(io::Error::other(FULL));
        }
        let taken = piece.len().min(room);
        self.bytes.extend_from_slice(&piece[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const FULL: &str = "the limit is reached";

impl BodyDecoder {
    /// Chooses what the headers say.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, FetchError> {
        let all: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().collect();
        let encoding = text_of(headers, &CONTENT_ENCODING).unwrap_or_default().trim().to_ascii_lowercase();
        match encoding.as_str() {
            _ if all.len() > 1 => Err(not_understood("several times")),
            "" | "identity" => Ok(BodyDecoder::Plain),
            "gzip" | "x-gzip" => Ok(BodyDecoder::Gzip(Box::new(Gzip {
                state: InflateState::new_boxed(DataFormat::Raw),
                phase: Phase::Head,
                pending: Vec::new(),
            }))),
            "deflate" => {
                Ok(BodyDecoder::Deflate { state: InflateState::new_boxed(DataFormat::Zlib), has_begun: false })
            }
            "br" => {
                // The limit is set with the first piece.
                let bounded = BoundedBuffer { bytes: Vec::new(), most: 0 };
                let writer = Box::new(DecompressorWriter::new(bounded, STEP));
                Ok(BodyDecoder::Brotli { writer, has_begun: false })
            }
            other if is_name(other) => Err(not_understood(&format!("as {other:?}"))),
            _ => Err(not_understood("in a way that has no proper name")),
        }
    }

    /// Takes a piece; adds what comes of it to the body, which gets no longer than the limit.
    pub(super) fn push(&mut self, piece: &[u8], body: &mut Vec<u8>, most: usize) -> Result<Flow, FetchError> {
        match self {
            BodyDecoder::Plain => {
                let room = most.saturating_sub(body.len());
                body.extend_from_slice(&piece[..piece.len().min(room)]);
                Ok(if piece.len() > room { Flow::Full } else { Flow::More })
            }
            BodyDecoder::Gzip(gzip) => gzip.push(piece, body, most),
            BodyDecoder::Deflate { state, has_begun } => {
                if let (false, Some(first)) = (*has_begun, piece.first()) {
                    // Many servers send the bare data; with a head, the low half of its first byte is 8.
                    if first & 0x0f != 8 {
                        state.reset(DataFormat::Raw);
                    }
                    *has_begun = true;
                }
                inflated(state, piece, (body, most)).map(|(_, flow, _)| flow)
            }
            BodyDecoder::Brotli { writer, has_begun } => {
                *has_begun |= !piece.is_empty();
                writer.get_mut().most = most;
                let written = writer.write_all(piece);
                Self::after_brotli(written, writer.get_mut(), body)
            }
        }
    }

    fn after_brotli(done: io::Result<()>, bounded: &mut BoundedBuffer, body: &mut Vec<u8>) -> Result<Flow, FetchError> {
        let is_full = bounded.bytes.len() >= bounded.most;
        match done {
            Ok(()) => Ok(Flow::More),
            Err(_) if is_full => {
                *body = std::mem::take(&mut bounded.bytes);
                Ok(Flow::Full)
            }
            Err(error) => Err(damaged(&error.to_string())),
        }
    }

    /// Ends the body. One that breaks off is an error.
    pub(super) fn finish(&mut self, body: &mut Vec<u8>, most: usize) -> Result<(), FetchError> {
        match self {
            BodyDecoder::Plain => Ok(()),
            BodyDecoder::Gzip(gzip) if matches!(gzip.phase, Phase::Between) => Ok(()),
            // An answer without a body is not compressed either.
            BodyDecoder::Gzip(gzip) if gzip.phase == Phase::Head && gzip.pending.is_empty() && body.is_empty() => {
                Ok(())
            }
            BodyDecoder::Gzip(_) => Err(damaged("it breaks off")),
            BodyDecoder::Deflate { state, has_begun } => match state.last_status() {
                miniz_oxide::inflate::TINFLStatus::Done => Ok(()),
                _ if !*has_begun => Ok(()),
                _ => Err(damaged("it breaks off")),
            },
            BodyDecoder::Brotli { writer, has_begun } => {
                writer.get_mut().most = most;
                let closed = writer.close();
                let bounded = writer.get_mut();
                if closed.is_err() && bounded.bytes.len() < bounded.most && *has_begun {
                    let why = if bounded.bytes.is_empty() { "it is not brotli" } else { "it breaks off" };
                    return Err(damaged(why));
                }
                *body = std::mem::take(&mut bounded.bytes);
                Ok(())
            }
        }
    }
}

impl Gzip {
    fn push(&mut self, mut piece: &[u8], body: &mut Vec<u8>, most: usize) -> Result<Flow, FetchError> {
        while !piece.is_empty() {
            match self.phase {
                Phase::Data => {
                    let (used, flow, is_done) = inflated(&mut self.state, piece, (body, most))?;
                    if flow == Flow::Full {
                        return Ok(Flow::Full);
                    }
                    piece = &piece[used..];
                    if is_done {
                        self.phase = Phase::Tail;
                    }
                }
                Phase::Tail => {
                    let taken = piece.len().min(GZIP_TAIL - self.pending.len());
                    self.pending.extend_from_slice(&piece[..taken]);
                    piece = &piece[taken..];
                    if self.pending.len() == GZIP_TAIL {
                        self.pending.clear();
                        self.phase = Phase::Between;
                    }
                }
                // Zeros and other bytes behind the last member are padding.
                Phase::Between if piece[0] != 0x1f => return Ok(Flow::More),
                Phase::Between | Phase::Head => {
                    self.phase = Phase::Head;
                    self.pending.push(piece[0]);
                    piece = &piece[1..];
                    if is_whole_head(&self.pending)? {
                        self.pending.clear();
                        self.state.reset(DataFormat::Raw);
                        self.phase = Phase::Data;
                    }
                }
            }
        }
        Ok(Flow::More)
    }
}

/// Returns whether these bytes are the whole head of a gzip member (RFC 1952).
fn is_whole_head(head: &[u8]) -> Result<bool, FetchError> {
    let fits = |at: usize, byte: u8| head.get(at).is_none_or(|found| *found == byte);
    if !(fits(0, 0x1f) && fits(1, 0x8b) && fits(2, 8)) || head.len() > LONGEST_GZIP_HEAD {
        return Err(damaged("it is not gzip"));
    }
    let (Some(flags), true) = (head.get(3), head.len() >= 10) else { return Ok(false) };
    let mut at = 10;
    if flags & 4 != 0 {
        let Some(length) = head.get(at..at + 2) else { return Ok(false) };
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let Some(end) = head.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else {
                return Ok(false);
            };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    Ok(head.len() >= at)
}

/// Decompresses a piece; returns how much of it was used, whether there is room, and whether the data has ended.
fn inflated(
    state: &mut InflateState,
    piece: &[u8],
    (body, most): (&mut Vec<u8>, usize),
) -> Result<(usize, Flow, bool), FetchError> {
    let mut used = 0;
    let mut step = vec![0; STEP];
    loop {
        let done = inflate(state, &piece[used..], &mut step, MZFlush::None);
        used += done.bytes_consumed;
        let room = most.saturating_sub(body.len());
        body.extend_from_slice(&step[..done.bytes_written.min(room)]);
        if done.bytes_written > room {
            return Ok((used, Flow::Full, false));
        }
        match done.status {
            Ok(MZStatus::StreamEnd) => return Ok((used, Flow::More, true)),
            Ok(_) | Err(MZError::Buf)
                if done.bytes_written == 0 && (used == piece.len() || done.bytes_consumed == 0) =>
            {
                return Ok((used, Flow::More, false));
            }
            Ok(_) | Err(MZError::Buf) => {}
            Err(_) => return Err(damaged("its data is invalid")),
        }
    }
}

/// Returns whether a text is a name of an encoding, and no sentence.
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn damaged(why: &str) -> FetchError {
    FetchError::Encoding(format!("its compression is damaged: {why}"))
}

fn not_understood(how: &str) -> FetchError {
    FetchError::Encoding(format!("it is compressed {how}, which haft did not ask for and cannot read"))
}
