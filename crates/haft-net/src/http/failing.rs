//! Explains why a request got no answer. The words leave out the address, which may hold a secret.

use std::error::Error;
use std::time::Duration;

use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

use crate::names::LeadsNowhere;

/// Says what went wrong on the way to a host.
pub(crate) fn told(error: reqwest::Error, host: &str, time: Duration) -> ToolError {
    let error = error.without_url();
    if error.is_timeout() {
        return too_late(host, time);
    }
    match leads_nowhere(&error) {
        Some(LeadsNowhere::OnlyPrivate) => {
            let what = format!("{host} was not contacted: {}.", LeadsNowhere::OnlyPrivate);
            let next = "tell the user; to reach that machine, write its address into the definition";
            return ToolError::new(ErrorKind::Denied, what, Next::AskUser(next.into())).by_rule("net:private");
        }
        Some(LeadsNowhere::Unknown) => {
            let what = format!("{host} cannot be reached: {}.", LeadsNowhere::Unknown);
            return ToolError::failed(what, Next::AskUser("tell the user; the network may be down".into()));
        }
        None => {}
    }
    let why = last_cause(&error);
    let what = match error.is_connect() {
        true => format!("{host} cannot be reached: {why}."),
        false => format!("{host} sent an invalid answer: {why}."),
    };
    ToolError::failed(what, Next::RetryAfter(Duration::from_secs(5), "try again once, then tell the user".into()))
}

/// Says that the time was up.
pub(crate) fn too_late(host: &str, time: Duration) -> ToolError {
    let what = format!("{host} did not answer within {} s.", time.as_secs_f64());
    ToolError::new(ErrorKind::TimedOut, what, Next::FixArguments("ask for less in one call, or tell the user".into()))
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (*error).source())
}

fn leads_nowhere(error: &reqwest::Error) -> Option<&LeadsNowhere> {
    causes(error).find_map(|cause| cause.downcast_ref::<LeadsNowhere>())
}

fn last_cause(error: &reqwest::Error) -> String {
    causes(error).last().map(|cause| cause.to_string().trim_end_matches('.').to_owned()).unwrap_or_default()
}
