//! The form of OpenAI's Responses, without anything kept at the provider.
//!
//! A reply is a list of items, and that list is what stands for it later: what a model thought comes encrypted, and
//! belongs to the items that follow it.

mod reading;
mod request;

use crate::form::{Form, Reading};
use crate::provider::Request;

/// OpenAI's Responses.
pub(crate) struct Responses;

impl Form for Responses {
    fn path(&self, _model: &str) -> String {
        "/responses".to_owned()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn request(&self, model: &str, request: &Request<'_>) -> Vec<u8> {
        request::written(model, request)
    }

    fn reading(&self, model: &str, request: &Request<'_>) -> Box<dyn Reading> {
        Box::new(reading::ItemsReading::new(model, request))
    }
}
