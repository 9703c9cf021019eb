//! Turns the answer of a server into a result: JSON is data, text is text, an error status is an error with advice.

use std::time::Duration;

use haft_contract::doors::net::Response;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::Value;

use super::super::answer::{self, Promise};

/// Most characters of an answer that an error quotes.
const LONGEST_QUOTE: usize = 500;
/// How long to wait if the server gives no time.
const A_WHILE: u64 = 5;
/// The longest time that anybody is told to wait, in seconds.
const LONGEST_WAIT: u64 = 3_600;

pub(super) fn result(tool: &str, host: &str, response: Response, promise: &Promise) -> Result<ToolOutput, ToolError> {
    let (output, value) = body(&response);
    if (300..400).contains(&response.status) && response.status != 304 {
        return Err(redirected(host, &response));
    }
    if response.status >= 400 {
        return Err(refused(host, &response, &output).with_so_far(output));
    }
    if let Some(said_itself) = value.as_ref().and_then(|value| answer::error_in(tool, value)) {
        return Err(said_itself);
    }
    let text = output.for_model.iter().filter_map(haft_contract::outcome::output::Content::text).collect::<String>();
    promise.check(tool, &value.clone().unwrap_or(Value::String(text)))?;
    Ok(ToolOutput { data: value, ..output })
}

/// Reads a body: as text, and as the JSON value that it may be.
fn body(response: &Response) -> (ToolOutput, Option<Value>) {
    let said = response.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    let value = match response.is_cut {
        true => None,
        false => serde_json::from_slice::<Value>(&response.body).ok().filter(|_| !said.starts_with("text/plain")),
    };
    if response.body.is_empty() {
        return (ToolOutput::text(format!("(status {}, nothing in it)", response.status)), None);
    }
    if response.body.contains(&0) {
        let size = GroupedNumber(response.body.len() as u64);
        let kind = if said.is_empty() { "binary data".to_owned() } else { said };
        return (ToolOutput::text(format!("({kind}, {size} bytes, which are not text)")), None);
    }
    let mut text = String::from_utf8_lossy(&response.body).into_owned();
    if response.is_cut {
        text.push_str("\n[the answer was longer; the rest was not read]");
    }
    (ToolOutput::text(text), value)
}

fn refused(host: &str, response: &Response, output: &ToolOutput) -> ToolError {
    let status = response.status;
    let said: String = output.for_model.iter().filter_map(haft_contract::outcome::output::Content::text).collect();
    let said = said.trim();
    let cut = said.char_indices().nth(LONGEST_QUOTE).map_or(said.len(), |(end, _)| end);
    let quoted = if response.body.is_empty() { String::new() } else { format!(": {}", answer::sentence(&said[..cut])) };
    let end = if quoted.is_empty() { "." } else { "" };
    let what = format!("{host} answered with status {status}{}{quoted}{end}", words(status));
    let next = match status {
        401 | 403 | 407 => {
            Next::AskUser("tell the user that the key is missing, wrong, or not allowed to do this".into())
        }
        404 | 410 => Next::FixArguments("check the names in the call; the server has nothing there".into()),
        408 | 425 | 429 | 500 | 502..=504 => {
            let wait = response.retry_after.unwrap_or(A_WHILE).min(LONGEST_WAIT);
            Next::RetryAfter(Duration::from_secs(wait), "try again once, later".into())
        }
        400..=499 => Next::FixArguments("read what it says and change the call".into()),
        _ => Next::DoNotRetry("tell the user".into()),
    };
    ToolError::failed(what, next)
}

fn redirected(host: &str, response: &Response) -> ToolError {
    let status = response.status;
    // Only the host: what stands behind it may be anything.
    let place = response.location.as_deref().and_then(|to| to.split_once("://")).map(|(_, rest)| rest);
    let place = place
        .and_then(|rest| rest.split(['/', '?', '#']).next())
        .map(|place| place.chars().take(100).collect::<String>());
    let place = place.unwrap_or_else(|| "another place".to_owned());
    let what = format!("{host} answered with status {status} and redirects to {place}, which haft does not follow.");
    ToolError::failed(what, Next::AskUser("tell the user: the definition names another host".into()))
}

fn words(status: u16) -> &'static str {
    match status {
        400 => " (bad request)",
        401 => " (not authenticated)",
        403 => " (forbidden)",
        404 => " (not found)",
        405 => " (method not allowed)",
        409 => " (conflict)",
        410 => " (gone)",
        413 => " (too large)",
        422 => " (cannot be processed)",
        429 => " (too many requests)",
        500 => " (server error)",
        502..=504 => " (not available now)",
        _ => "",
    }
}
