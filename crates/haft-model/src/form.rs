//! The interface of a format of requests and replies. Pure: texts in, texts out.
//!
//! Not here: sending, retries, time limits (`client`).

use std::time::Duration;

use crate::conversation::Reply;
use crate::provider::{ModelError, ModelRequest, ReplyListener};

/// A provider's format of requests and replies.
pub(crate) trait WireFormat: Send + Sync {
    /// Returns what is put behind the address of the provider.
    fn path(&self, model: &str) -> String;

    /// Returns the headers that carry the key and say the version, in small letters.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Writes a request, to be answered as a stream.
    fn request(&self, model: &str, request: &ModelRequest<'_>) -> Vec<u8>;

    /// Says whether a refusal is about something that requests can do without. They are written without it from now on.
    fn learns_from(&self, _refusal: &ModelError) -> bool {
        false
    }

    /// Begins to read a reply.
    fn reading(&self, model: &str, request: &ModelRequest<'_>) -> Box<dyn ReplyReader>;
}

/// Reads the stream of one reply.
pub(crate) trait ReplyReader: Send {
    /// Reads one event of the stream: its name where it has one, and its data. Returns whether it was the last.
    ///
    /// An event that cannot be read is told and left out where the reply is whole without it; else it is the error.
    fn event(&mut self, name: &str, data: &str, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError>;

    /// Returns how long to wait for more where it is known why the reply ended: what may still come is its cost, or a
    /// farewell that some servers leave out. Nothing where it goes on.
    fn farewell(&self) -> Option<Duration>;

    /// Returns the reply as far as it came. `None` where nothing came that could stand for it.
    fn end(self: Box<Self>) -> Option<Reply>;
}

/// How long the last events of a reply are waited for whose end is known. They come together with it.
pub(crate) const FAREWELL: Duration = Duration::from_secs(2);

/// Says whether a reply is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyProgress {
    /// There is more.
    More,
    /// That was all.
    Whole,
}
