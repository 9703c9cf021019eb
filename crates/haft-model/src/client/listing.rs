//! Asks a provider for the list of its models.
//!
//! It does not retry: a user who wants a list is looking around, and the next request is cheap.

use bytes::BytesMut;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::again::ReplyFailure;
use super::answer::{self, Bounds};
use super::{ModelConnection, address};
use crate::provider::{ModelError, ModelErrorKind};
use crate::wire::Wire;

/// Longest list, in bytes.
const LONGEST_LIST: usize = 16 * 1024 * 1024;

impl ModelConnection {
    /// Asks which models there are; returns their names, in the provider's order.
    pub async fn models(&self, stop: &CancellationToken) -> Result<Vec<String>, ModelError> {
        let bounds = Bounds::new(&self.endpoint.times, stop);
        let listed = self.list(&bounds).await.map_err(|failure| failure.without(self.key()).error);
        listed.map_err(|error| if bounds.left().is_zero() { self.too_late() } else { error })
    }

    fn too_late(&self) -> ModelError {
        ModelError {
            kind: ModelErrorKind::TimedOut,
            what: format!("No list of models arrived within {} s.", self.endpoint.times.total.as_secs_f64()),
            next: "check whether the server there is working, or name the model".to_owned(),
        }
    }

    async fn list(&self, bounds: &Bounds<'_>) -> Result<Vec<String>, ReplyFailure> {
        let path = match self.endpoint.wire {
            Wire::Anthropic => "/v1/models?limit=1000",
            Wire::Responses | Wire::Chat => "/models",
            Wire::Gemini => "/v1beta/models?pageSize=1000",
        };
        let address = address::joined(&self.endpoint.base_url, path)?;
        let sending = self.transport.get(address, self.form.headers(self.key()));
        let mut response = bounds.hold(sending).await?.map_err(|error| self.unanswered(error))?;
        if !response.is_success() {
            return Err(answer::refused(response, bounds).await);
        }
        if let Some(packing) = answer::packing_of(&response.headers()) {
            return Err(answer::packed(&packing));
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = bounds.hold(response.chunk()).await?.map_err(|error| self.unanswered(error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_LIST {
                return Err(no_list());
            }
        }
        names(&body).ok_or_else(no_list)
    }
}

fn no_list() -> ReplyFailure {
    ReplyFailure::because(ModelErrorKind::Broken, "The answer is not a list of models.")
        .final_with("check the base URL: another program may answer there")
}

fn names(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    // Some servers of the Chat form answer `{"object": "list", "data": null}` when they have none.
    let models = match (list.get("data"), list.get("models")) {
        (Some(Value::Null), _) => return Some(Vec::new()),
        (Some(models), _) | (None, Some(models)) => models.as_array()?,
        (None, None) => return None,
    };
    Some(models.iter().filter(|model| speaks(model)).filter_map(name).collect())
}

/// Says whether a model makes text: one provider lists others too, and says which do.
fn speaks(model: &Value) -> bool {
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

fn name(model: &Value) -> Option<String> {
    let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
    Some(name.strip_prefix("models/").unwrap_or(name).to_owned()).filter(|name| !name.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::names;

    fn check(body: &str, expected: Option<&[&str]>) {
        let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names(body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn lists_of_all_providers_are_read() {
        check(r#"{"object":"list","data":[{"id":"a"},{"id":"b/c","object":"model"}]}"#, Some(&["a", "b/c"]));
        check(
            r#"{"models":[{"name":"models/g","supportedGenerationMethods":["generateContent"]},
                {"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#,
            Some(&["g"]),
        );
        check(r#"{"object":"list","data":null}"#, Some(&[]));
        check(r#"{"data":[{"id":""},{"id":"a"},{"id":7},null]}"#, Some(&["a"]));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for body in ["", "<html>", "[]", "{}", r#"{"data":"x"}"#] {
            check(body, None);
        }
    }
}
