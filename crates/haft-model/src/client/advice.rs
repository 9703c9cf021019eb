//! Reads from the body of a refusal how long a provider wants haft to wait.

use std::time::Duration;

use super::moment::span;
use crate::reading::raw_json::{Object, list};

/// Reads the span that Google's services put among the details of an error.
pub(super) fn asked_in_body(body: &str) -> Option<Duration> {
    let first = list(body).and_then(|list| Object::read(list.first()?.get()));
    let error = first.or_else(|| Object::read(body))?.object("error")?;
    let delay = error.objects("details").iter().find_map(|detail| detail.text("retryDelay"))?;
    span(&delay)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::asked_in_body;

    #[test]
    fn the_span_among_the_details_is_found() {
        let error =
            r#"{"error":{"code":429,"message":"m","details":[{"@type":"h"},{"@type":"r","retryDelay":"34.5s"}]}}"#;
        let wait = Some(Duration::from_millis(34_500));
        assert_eq!(asked_in_body(error), wait);
        assert_eq!(asked_in_body(&format!("[{error}]")), wait);
        assert_eq!(asked_in_body("<html>"), None);
    }
}
