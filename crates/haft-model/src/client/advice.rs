//! What a refusal says about asking again, in its body.

use std::time::Duration;

use crate::raw_json::{Object, list};

/// What providers say when no credit is left, in small letters: waiting does not help.
const NO_CREDIT: [&str; 6] = [
    "insufficient_quota",
    "insufficient balance",
    "insufficient credits",
    "billing_error",
    "billing_hard_limit_reached",
    "credit balance is too low",
];

/// What a refusal says about asking again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Advice {
    /// How long the provider wants to be left alone.
    pub(super) wait: Option<Duration>,
    /// Whether it is of no use to ask again.
    pub(super) is_final: bool,
}

impl Advice {
    /// Reads the body of a refusal.
    pub(super) fn read(body: &str) -> Advice {
        let lower = body.to_lowercase();
        Advice { wait: wait(body), is_final: NO_CREDIT.iter().any(|words| lower.contains(words)) }
    }
}

/// Reads the span that Google's services put among the details of an error.
fn wait(body: &str) -> Option<Duration> {
    let first = list(body).and_then(|list| Object::read(list.first()?.get()));
    let error = first.or_else(|| Object::read(body))?.object("error")?;
    let delay = error.objects("details").iter().find_map(|detail| detail.text("retryDelay"))?;
    super::moment::span(&delay)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Advice;

    #[test]
    fn who_has_no_credit_need_not_wait() {
        let body = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#;
        assert!(Advice::read(body).is_final);
        let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
        assert_eq!(Advice::read(body), Advice::default());
    }

    #[test]
    fn the_span_among_the_details_is_found() {
        let error =
            r#"{"error":{"code":429,"message":"m","details":[{"@type":"h"},{"@type":"r","retryDelay":"34.5s"}]}}"#;
        let wait = Some(Duration::from_millis(34_500));
        assert_eq!(Advice::read(error).wait, wait);
        assert_eq!(Advice::read(&format!("[{error}]")).wait, wait);
        assert_eq!(Advice::read("<html>").wait, None);
    }
}
