//! The format of Anthropic's Messages.
//!
//! A reply is a list of blocks, and later requests contain that list. A signature covers thinking together with the
//! blocks that follow, so the blocks go back unchanged.

mod reading;
mod request;
mod thinking;

use crate::form::{ReplyReader, WireFormat};
use crate::provider::ModelRequest;

/// The version of the form. The oldest that has all that is used here, because gateways and other servers that speak
/// this form know it; what it promises is kept by later ones.
const VERSION: &str = "2023-06-01";

/// Anthropic's Messages.
pub(crate) struct Anthropic;

impl WireFormat for Anthropic {
    fn path(&self, _model: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = vec![("anthropic-version", VERSION.to_owned())];
        headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
        headers
    }

    fn request(&self, model: &str, request: &ModelRequest<'_>) -> Vec<u8> {
        request::written(model, request)
    }

    fn reading(&self, model: &str, request: &ModelRequest<'_>) -> Box<dyn ReplyReader> {
        Box::new(reading::MessageReading::new(model, request))
    }
}
